"""The report as one HTML page: the transcript as a strip, every original one click away.

The page is self-contained and needs no network. What it shows is data: it is put in as JSON and
written into the page by script as text, never as markup.
"""

from __future__ import annotations

import json
from importlib import resources
from typing import TYPE_CHECKING, Any

from perdure.blobs import readable
from perdure.handoff import is_handoff
from perdure.messages import images_in
from perdure.stock.redact import redact

if TYPE_CHECKING:
    from perdure.manager import EngineSession
    from perdure.transcript import View

PLACE = "/*DATA*/null"
MAX_TEXT_CHARS = 400_000
"""Longer originals are shown up to here, with a word on what is missing."""


def page(
    session: EngineSession, view: View, report: dict[str, Any], *, is_dry_run: bool = False
) -> str:
    """Return the page for a view and the report made of it."""
    messages = [_message(session, view, position) for position in range(len(view.transcript))]
    for position, fate, refs in _fates(view):
        messages[position] |= {"fate": fate, "refs": refs}
    data = {
        "dry_run": is_dry_run,
        "report": {key: value for key, value in report.items() if key != "handles"},
        "messages": messages,
        "sent": [_sent(session, view, index) for index in range(len(view))],
    }
    template = resources.files("perdure.cli").joinpath("page.html").read_text(encoding="utf-8")
    # A `<` in a text could close the script element; written as an escape it cannot.
    text = json.dumps(data, ensure_ascii=True).replace("<", "\\u003c")
    return template.replace(PLACE, text)


def _fates(view: View) -> list[tuple[int, str, list[str]]]:
    return [
        (position, made.kind, list(made.refs))
        for made in view.replacements
        for position in range(made.first, made.last + 1)
    ]


def _message(session: EngineSession, view: View, position: int) -> dict[str, Any]:
    entry = view.transcript.entry(position)
    return {
        "role": str(entry.message.get("role")),
        "tokens": session.count_message(entry),
        "text": _shown(entry.message),
        "fate": "kept",
        "refs": [],
    }


def _sent(session: EngineSession, view: View, index: int) -> dict[str, Any]:
    made = view.replacement_at(index)
    first, last = view.source(index)
    entry = view.entry(index)
    return {
        "role": str(entry.message.get("role")),
        "tokens": session.count_message(entry),
        "text": _shown(entry.message),
        "fate": made.kind if made else "kept",
        "is_handoff": is_handoff(entry.message),
        "first": first,
        "last": last,
    }


def _shown(message: Any) -> str:  # noqa: ANN401 - a message of any shape
    text = redact(readable(message))
    images = len(images_in(message))
    if images:
        text += f"\n[{images} image{'s' if images > 1 else ''}]"
    if len(text) > MAX_TEXT_CHARS:
        left = len(text) - MAX_TEXT_CHARS
        text = f"{text[:MAX_TEXT_CHARS]}\n[{left:,} characters more are not shown here]"
    return text
