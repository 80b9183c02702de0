"""`perdure compress`: one session file in, a valid shorter one out, and what happened between."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from perdure.cli.output import STDOUT, target_of, write

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
@click.option(
    "--dry-run",
    is_flag=True,
    help="Show what would happen; nothing is kept, --out is not written.",
)
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
    target = target_of(options["out"], source=file, force=options["force"])
    page_file = target_of(options["page_file"], source=file)
    if page_file is not None and page_file == target:
        text = f"--out and --report both name {options['out']!r}; give each a file of its own"
        raise click.UsageError(text)
    loaded = _configured(options)
    over: tuple[str, ...] = ()
    from perdure.types import Reason

    # Whoever compresses the same file in the same folder at the same time gets his own session.
    for session_id in _session_ids(parsed, loaded, options):
        with _opened(session_id, loaded, options) as session:
            result = session.compress(
                {**parsed.body, **formats.render(parsed.entries, parsed.format).body()},
                focus_topic=options["focus"],
                tools=parsed.tools,
            )
            if result.reason is Reason.BUSY:
                continue
            over = _over_window(session, parsed)
            result = replace(result, warnings=(*result.warnings, *over))
            _tell(session, parsed, result, target, page_file, options)
            break
    if result.reason in (Reason.FAILED, Reason.BUSY) or over:
        raise SystemExit(6)


def _over_window(session: EngineSession, parsed: Parsed) -> tuple[str, ...]:
    """Return a warning when the request cannot be made to fit the window."""
    tokens, allowed = (
        session.count_tokens(tools=parsed.tools),
        session.budget(parsed.tools).input_tokens,
    )
    if tokens <= allowed:
        return ()
    entries = session.current.sent.entries()
    counts = [session.count_message(entry) for entry in entries]
    largest = sorted(range(len(counts)), key=counts.__getitem__, reverse=True)[:3]
    named = ", ".join(
        f"{index} ({entries[index].message.get('role')}, {counts[index]:,} tokens)"
        for index in largest
    )
    text = (
        f"the request has {tokens:,} tokens, more than the {allowed:,} that the model accepts; "
        f"the largest messages are {named}"
    )
    return (text,)


def _tell(  # noqa: PLR0913, PLR0917 - what was done, and the two places for it
    session: EngineSession,
    parsed: Parsed,
    result: Compression,
    target: str | Path | None,
    page_file: str | Path | None,
    options: dict[str, Any],
) -> None:
    """Write what was asked for, nothing of it when the compaction failed; then report."""
    from perdure.cli.report import as_object, show
    from perdure.types import Reason

    report = as_object(session, parsed, result)
    is_kept = not options["dry_run"] and result.reason is not Reason.FAILED
    if target is not None and is_kept:
        write(target, _dumped(parsed, result))
    if page_file is not None:
        from perdure.cli.page import page

        shown = page(session, session.current, report, is_dry_run=options["dry_run"])
        write(page_file, shown)
    if options["as_json"]:
        click.echo(json.dumps(report, ensure_ascii=True), err=target == STDOUT)
    else:
        show(report, is_dry_run=options["dry_run"], to_stderr=target == STDOUT)


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


def _session_ids(parsed: Parsed, loaded: LoadedConfig, options: dict[str, Any]) -> tuple[str, str]:
    """Return the names of the session to take: that of a handoff in the file, or a new one.

    A new session is named after the file, so that the same file gives the same answer each time.
    """
    from perdure.session import forget_session, session_of

    state_dir = options["state_dir"]
    known = session_of((entry.message for entry in parsed.entries), loaded, state_dir)
    if known is not None:
        return known, f"{known}-{os.getpid()}"
    head = parsed.entries[-1].digest.hex() if parsed.entries else "empty"
    session_id = f"compress-{len(parsed.entries)}-{head[:12]}"
    if not options["dry_run"]:
        forget_session(session_id, config=loaded, state_dir=state_dir)
    return session_id, f"{session_id}-{os.getpid()}"


def _opened(session_id: str, loaded: LoadedConfig, options: dict[str, Any]) -> EngineSession:
    from perdure.session import open_session

    state_dir = ":memory:" if options["dry_run"] else options["state_dir"]
    return open_session(loaded, session_id=session_id, state_dir=state_dir, dispatches_tools=True)


def _dumped(parsed: Parsed, result: Compression) -> str:
    from perdure import dialects, formats

    wire = dialects.get(parsed.format).wire(result.view)  # type: ignore[arg-type]
    sent = formats.parse({**parsed.body, **wire.body()}, format=parsed.format)
    return formats.dump(parsed, sent.entries)
