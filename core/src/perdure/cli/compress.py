"""`perdure compress`: one session file in, a valid shorter one out, and what happened between."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from pathlib import Path

    from perdure.config import LoadedConfig
    from perdure.formats import Parsed
    from perdure.manager import EngineSession
    from perdure.types import Compression


@click.command()
@click.argument("file")
@click.option("--engine", help="Engine to use instead of the configured one.")
@click.option("--config", "config_file", help="Configuration file.")
@click.option("--model", help="Model that the messages are for; decides how tokens are counted.")
@click.option("--context-length", type=click.IntRange(min=1), help="The model's window in tokens.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Tokens reserved for the answer.")
@click.option("--format", "format_", help="openai, responses, anthropic or claude-code.")
@click.option("--focus", help="Topic to keep best.")
@click.option("--out", help="Where the shorter session is written; - for standard output.")
@click.option("--report", "page_file", help="Write an HTML page that shows what happened.")
@click.option("--force", is_flag=True, help="Let --out replace the input file.")
@click.option("--dry-run", is_flag=True, help="Show what would happen; nothing is written or kept.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@click.option("--state-dir", help="Where originals are kept for `perdure recall`.")
@click.option(
    "--max-bytes", type=click.IntRange(min=1), help="Read files up to this size (default 100 MB)."
)
@click.pass_context
def compress(ctx: click.Context, /, file: str, **options: Any) -> None:  # noqa: ANN401 - click's way
    """Compress a session FILE and show what became of each message.

    FILE is a JSON list of messages, a request body, JSON lines, or a Claude Code session; - reads
    standard input. Without --out nothing is written but the originals that stubs and the summary
    refer to.
    """
    ctx.ensure_object(dict)["json"] = options["as_json"]
    from perdure import formats

    limits = {"max_bytes": options["max_bytes"]} if options["max_bytes"] else {}
    parsed = formats.read(file, format=options["format_"], **limits)
    target = None if options["dry_run"] else _target(file, options["out"], force=options["force"])
    page_file = _target(file, options["page_file"], force=False)
    loaded = _configured(options)
    with _opened(parsed, loaded, options) as session:
        result = session.compress(
            {**parsed.body, **formats.render(parsed.entries, parsed.format).body()},
            focus_topic=options["focus"],
            tools=parsed.tools,
        )
        from perdure.cli.report import as_object, show

        report = as_object(session, parsed, result)
        if target is not None:
            _write(target, _dumped(parsed, result))
        if page_file is not None:
            from perdure.cli.page import page

            _write(page_file, page(session, session.current, report))
        if options["as_json"]:
            click.echo(json.dumps(report, ensure_ascii=True), err=target == "-")
        else:
            show(report, is_dry_run=options["dry_run"], to_stderr=target == "-")
    _raise_for(result)


def _configured(options: dict[str, Any]) -> LoadedConfig:
    """Return the configuration with what the command line says on top."""
    from perdure import config

    overrides: dict[str, Any] = {"context": {}, "provider": {}}
    if options["engine"]:
        overrides["context"]["engine"] = options["engine"]
    for key, value in (
        ("model", options["model"]),
        ("context_length", options["context_length"]),
        ("max_tokens", options["max_tokens"]),
    ):
        if value is not None:
            overrides["provider"][key] = value
    return config.load(options["config_file"], overrides=overrides)


def _opened(parsed: Parsed, loaded: LoadedConfig, options: dict[str, Any]) -> EngineSession:
    """Return a session of its own for this file: the same file gives the same answer each time."""
    from perdure.session import forget_session, open_session

    head = parsed.entries[-1].digest.hex() if parsed.entries else "empty"
    session_id = f"compress-{len(parsed.entries)}-{head[:12]}"
    state_dir = ":memory:" if options["dry_run"] else options["state_dir"]
    forget_session(session_id, config=loaded, state_dir=state_dir)
    return open_session(loaded, session_id=session_id, state_dir=state_dir, dispatches_tools=True)


def _target(file: str, out: str | None, *, force: bool) -> str | Path | None:
    """Return where to write, after making sure that it is not the input."""
    if out is None or out == "-":
        return out
    from pathlib import Path

    path = Path(out)
    if not force and file != "-" and path.exists() and path.samefile(file):
        text = f"output {out!r} is the input file; name another one, or add --force to replace it"
        raise click.UsageError(text)
    if path.is_dir() or not path.parent.is_dir():
        text = f"output {out!r}: {'a directory' if path.is_dir() else 'no such directory'}"
        raise click.UsageError(text)
    return path


def _dumped(parsed: Parsed, result: Compression) -> str:
    from perdure import dialects, formats

    wire = dialects.get(parsed.format).wire(result.view)  # type: ignore[arg-type]
    sent = formats.parse({**parsed.body, **wire.body()}, format=parsed.format)
    return formats.dump(parsed, sent.entries)


def _write(target: str | Path, text: str) -> None:
    """Write the whole text or nothing."""
    data = text.encode("utf-8", "surrogatepass")
    if isinstance(target, str):
        sys.stdout.buffer.write(data)
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        draft.write_bytes(data)
        draft.replace(target)
    finally:
        draft.unlink(missing_ok=True)


def _raise_for(result: Compression) -> None:
    from perdure.types import Reason

    if result.reason in (Reason.FAILED, Reason.BUSY):
        raise SystemExit(6)
