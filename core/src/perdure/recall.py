"""The two tools that core offers to the agent in every session: look up, and search, originals.

Answers are data in plain JSON, bounded, and say whether there is more. A bad argument is answered
with its name and what is allowed, never raised.
"""

from __future__ import annotations

import re
import reprlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perdure.errors import StoreError
from perdure.types import ToolSchema

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.blobs import Blobs
    from perdure.protocols import SearchHit

DEFAULT_CHARS = 4_000
MAX_CHARS = 40_000
DEFAULT_HITS = 8
MAX_HITS = 50
MAX_OFFSET = 10**9
_WHOLE = re.compile(r"\s*-?[0-9]{1,10}\s*")

TOOLS = (
    ToolSchema(
        name="context_recall",
        description="Shows an original message of this session that was shortened, pruned or "
        "summarised, by its ref: handle.",
        parameters={
            "type": "object",
            "properties": {
                "ref": {"type": "string", "description": "A handle such as ref:3f9ac2d41b07."},
                "offset": {"type": "integer", "minimum": 0, "description": "First character."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_CHARS},
            },
            "required": ["ref"],
        },
    ),
    ToolSchema(
        name="context_search",
        description="Searches the original messages of this session that are no longer shown, in "
        "natural words.",
        parameters={
            "type": "object",
            "properties": {
                "query": {"type": "string", "description": "Words or a question."},
                "limit": {"type": "integer", "minimum": 1, "maximum": MAX_HITS},
                "offset": {"type": "integer", "minimum": 0, "description": "Hits to pass over."},
            },
            "required": ["query"],
        },
    ),
)


class _Bad(Exception):  # noqa: N818 - never leaves this module
    """An argument that cannot be used; its text is the answer."""


def call(name: str, arguments: Mapping[str, Any], blobs: Blobs) -> dict[str, Any]:
    """Answer a call of one of `TOOLS`; what cannot be answered is an `error`, never raised."""
    answers = {"context_recall": _recall, "context_search": _search}
    if name not in answers:
        return {"error": f"there is no tool {_shown(name)}; there are {', '.join(answers)}"}
    if not isinstance(arguments, Mapping):
        return {"error": f"the arguments are {_shown(arguments)}; give a JSON object"}
    try:
        return answers[name](arguments, blobs)
    except _Bad as problem:
        return {"error": str(problem)}
    except StoreError as error:
        return {"error": str(error)}


def _recall(arguments: Mapping[str, Any], blobs: Blobs) -> dict[str, Any]:
    ref = _text(arguments, "ref", "a handle such as ref:3f9ac2d41b07")
    offset = _number(arguments, "offset", 0, 0, MAX_OFFSET)
    limit = _number(arguments, "limit", DEFAULT_CHARS, 1, MAX_CHARS)
    text = blobs.text(ref)
    shown = text[offset : offset + limit]
    following = offset + len(shown)
    is_complete = following >= len(text)
    return {
        "ref": ref,
        "text": shown,
        "offset": offset,
        "total_characters": len(text),
        "complete": is_complete,
        "next_offset": None if is_complete else following,
        "note": "a record of this session, as data",
    }


def _search(arguments: Mapping[str, Any], blobs: Blobs) -> dict[str, Any]:
    query = _text(arguments, "query", "words or a question")
    limit = _number(arguments, "limit", DEFAULT_HITS, 1, MAX_HITS)
    offset = _number(arguments, "offset", 0, 0, MAX_OFFSET)
    found = blobs.search(query, limit + 1, offset)
    is_complete = len(found) <= limit
    return {
        "note": "records of this session, as data; context_recall shows the whole of one",
        "results": _results(found[:limit]),
        "complete": is_complete,
        "next_offset": None if is_complete else offset + limit,
    }


def _results(found: Sequence[SearchHit]) -> list[dict[str, Any]]:
    """Return hits for the agent; the text of a user message before several is given once."""
    results: list[dict[str, Any]] = []
    told: set[str] = {hit.ref for hit in found}
    for hit in found:
        result = {"ref": hit.ref, "role": hit.role, "offset": hit.offset, "excerpt": hit.excerpt}
        for key, ref, text in (
            ("user_before", hit.user_ref, hit.user_text),
            ("next", hit.next_ref, hit.next_text),
        ):
            if ref and ref not in told:
                result[key] = {"ref": ref, "starts": text}
                told.add(ref)
        results.append(result)
    return results


def _text(arguments: Mapping[str, Any], name: str, allowed: str) -> str:
    value = arguments.get(name)
    if not isinstance(value, str) or not value.strip():
        text = f"argument {name!r} is {_shown(value)}; give {allowed}"
        raise _Bad(text)
    return value.strip()


def _number(
    arguments: Mapping[str, Any], name: str, default: int, lowest: int, highest: int
) -> int:
    value = arguments.get(name)
    if value is None:
        return default
    number = int(value) if isinstance(value, str) and _WHOLE.fullmatch(value) else value
    is_whole = isinstance(number, int) and not isinstance(number, bool)
    if not is_whole or not lowest <= number <= highest:
        text = f"argument {name!r} is {_shown(value)}; give a whole number, {lowest} to {highest}"
        raise _Bad(text)
    return int(number)


def _shown(value: object) -> str:
    """Return a value as an error message shows it, however large it is."""
    return reprlib.Repr().repr(value)
