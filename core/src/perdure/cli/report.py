"""What happened in a compaction, as one object for programs and as tables for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.cli.output import printable

if TYPE_CHECKING:
    from perdure.formats import Parsed
    from perdure.manager import EngineSession
    from perdure.transcript import View
    from perdure.types import Compression

FATES = {
    "kept": "sent word for word",
    "shortened": "shortened before it was first sent",
    "pruned": "old result or arguments cut to a line",
    "handoff": "summarised in the handoff",
    "node": "summarised in a node",
    "external": "left out",
}


def as_object(session: EngineSession, parsed: Parsed, result: Compression) -> dict[str, Any]:
    """Return the result as plain JSON values."""
    from perdure import dialects

    view = result.view
    assert view is not None  # noqa: S101 - for the type checker; the façade fills it in
    status = session.status()
    repaired = dialects.get(parsed.format).wire(view).repaired if view.replacements else ()
    return {
        "engine": result.engine,
        "requested_engine": status.requested_engine,
        "reason": result.reason.value,
        "detail": result.detail,
        "format": parsed.format,
        "messages_in": len(view.transcript),
        "messages_out": len(result.messages),
        "tokens_in": result.tokens_before,
        "tokens_out": result.tokens_after,
        "target_tokens": session.budget(parsed.tools).target_tokens,
        "trigger_tokens": status.trigger_tokens,
        "context_length": status.context_length,
        "fates": fates(session, view),
        "cache": cache_loss(session, view, result.tokens_after or 0),
        "ranges": [
            {"first": made.first, "last": made.last, "kind": made.kind, "refs": list(made.refs)}
            for made in view.replacements
        ],
        "handles": list(dict.fromkeys(ref for made in view.replacements for ref in made.refs)),
        "ledger": {section: list(entries) for section, entries in result.ledger.items()},
        "fallback_used": result.fallback_used,
        "warnings": [*session.warnings, *result.warnings],
        "cost": {
            "calls": result.cost.calls,
            "prompt_tokens": result.cost.prompt_tokens,
            "completion_tokens": result.cost.completion_tokens,
        },
        "duration_s": round(result.duration_s, 4),
        "repaired": list(repaired),
        "valid": validity(view),
    }


def cache_loss(session: EngineSession, view: View, tokens_after: int) -> dict[str, int]:
    """Return what a provider's prompt cache keeps, and what it has to read anew once."""
    first = min((made.first for made in view.replacements), default=None)
    if first is None:
        return {"kept_tokens": tokens_after, "lost_tokens": 0}
    kept = _tokens(session, view.transcript, 0, first)
    return {"kept_tokens": kept, "lost_tokens": max(0, tokens_after - kept)}


def fates(session: EngineSession, view: View) -> list[dict[str, Any]]:
    """Return for each fate how many messages met it, with their tokens before and after."""
    rows: dict[str, list[int]] = {}

    def add(fate: str, messages: int, before: int, after: int) -> None:
        row = rows.setdefault(fate, [0, 0, 0])
        row[0] += messages
        row[1] += before
        row[2] += after

    position = 0
    for made in view.replacements:
        span = view.transcript
        kept = _tokens(session, span, position, made.first)
        add("kept", made.first - position, kept, kept)
        before = _tokens(session, span, made.first, made.last + 1)
        after = session.count_tokens(type(view).of(made.messages))
        add(made.kind, made.last + 1 - made.first, before, after)
        position = made.last + 1
    kept = _tokens(session, view.transcript, position, len(view.transcript))
    add("kept", len(view.transcript) - position, kept, kept)
    return [
        {
            "fate": fate,
            "meaning": meaning,
            "messages": rows[fate][0],
            "tokens_in": rows[fate][1],
            "tokens_out": rows[fate][2],
        }
        for fate, meaning in FATES.items()
        if fate in rows and rows[fate][0]
    ]


def _tokens(session: EngineSession, transcript: Any, first: int, stop: int) -> int:  # noqa: ANN401
    from perdure.transcript import View

    return session.count_tokens(View.of(transcript.entries(first, stop)))


def validity(view: View) -> dict[str, Any]:
    """Return for each dialect whether the request would be accepted, or why not."""
    from perdure import dialects
    from perdure.errors import InvariantError

    found: dict[str, Any] = {}
    for name in dialects.NAMES:
        try:
            problems = dialects.get(name).wire(view).problems
        except InvariantError as error:  # noqa: PERF203 - four dialects
            found[name] = [str(error)]
        else:
            found[name] = [problem.text for problem in problems] or True
    return found


def show(report: dict[str, Any], *, is_dry_run: bool, to_stderr: bool) -> None:
    """Print what happened for people."""
    from rich.console import Console
    from rich.markup import escape

    console = Console(stderr=to_stderr, highlight=False)
    before, after = report["tokens_in"], report["tokens_out"]
    share = f" ({after / before:.0%})" if before else ""
    verb = "would be" if is_dry_run else "are"
    console.print(
        f"[bold]{report['engine']}[/bold]: {report['messages_in']:,} messages {verb} "
        f"{report['messages_out']:,}, {before:,} tokens {verb} {after:,}{share}"
    )
    console.print(
        f"target {report['target_tokens']:,} of a window of {report['context_length']:,} tokens; "
        f"took {report['duration_s']:.2f} s"
    )
    if report["detail"]:
        console.print(escape(report["detail"]))
    console.print(_fate_table(report))
    if report["ledger"]:
        console.print(_ledger_table(report))
    cache, calls = report["cache"], report["cost"]["calls"]
    console.print(
        f"prompt cache: the first {cache['kept_tokens']:,} tokens stay, "
        f"{cache['lost_tokens']:,} {'would be' if is_dry_run else 'are'} read anew once; "
        f"summary model: {f'{calls} calls' if calls else 'not asked'}"
    )
    valid = ", ".join(
        f"{name} {'yes' if verdict is True else 'NO'}" for name, verdict in report["valid"].items()
    )
    console.print(f"valid: {valid}")
    if report["repaired"]:
        console.print(f"to make it valid: {escape('; '.join(report['repaired']))}")
    if report["handles"]:
        shown = " ".join(report["handles"][:3])
        more = len(report["handles"]) - 3
        console.print(
            f"originals: {shown}{f' and {more:,} more' if more > 0 else ''}"
            + ("" if is_dry_run else f"   (perdure recall {report['handles'][0]})")
        )
    for warning in report["warnings"]:
        console.print(f"[yellow]warning:[/yellow] {escape(printable(warning))}")


def _fate_table(report: dict[str, Any]) -> Any:  # noqa: ANN401 - rich is imported lazily
    from rich.table import Table

    table = Table(box=None, pad_edge=False, title_justify="left")
    table.add_column("fate", no_wrap=True)
    for name in ("messages", "tokens", "now"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("")
    for row in report["fates"]:
        table.add_row(
            row["fate"],
            f"{row['messages']:,}",
            f"{row['tokens_in']:,}",
            f"{row['tokens_out']:,}",
            row["meaning"],
        )
    return table


def _ledger_table(report: dict[str, Any]) -> Any:  # noqa: ANN401 - rich is imported lazily
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None, pad_edge=False, expand=True)
    table.add_column("ledger", no_wrap=True, min_width=12)
    table.add_column("entries", justify="right", no_wrap=True, min_width=7)
    table.add_column("latest", no_wrap=True, overflow="ellipsis", ratio=1)
    for section, entries in report["ledger"].items():
        latest = " ".join(entries[-1].split()) if entries else ""
        table.add_row(section, f"{len(entries):,}", escape(printable(latest[:200])))
    return table
