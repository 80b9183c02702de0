"""Third pass: long strings inside call arguments are cut; all around them stays as it was written.

Only the string literals change in the text, so numbers keep their digits, keys their order, and
what was valid JSON stays valid.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from perdure.messages import Message, call_arguments, copy_message, tool_calls_of
from perdure_compressor.prune.marks import Edit, cut_mark, is_cut

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

MIN_ARGUMENT_CHARS = 500
MIN_STRING_CHARS = 200
_HEAD, _TAIL = 100, 40
# In valid JSON a quotation mark opens a literal, so one match after the other is one literal.
_LITERAL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"(?P<key>\s*:)?', re.DOTALL)


def arguments(messages: Sequence[Message], prunable: Container[int]) -> list[Edit]:
    """Return an edit for each message whose call arguments could be cut."""
    edits: list[Edit] = []
    for index, message in enumerate(messages):
        if index not in prunable:
            continue
        cuts = [shortened(_written(call)) for call in tool_calls_of(message)]
        if not any(cuts):
            continue
        changed = copy_message(message)
        for call, cut in zip(tool_calls_of(changed), cuts, strict=True):
            function = call.get("function")
            if cut and isinstance(function, dict):
                # Some servers hand arguments over as an object; it stays one.
                is_text = isinstance(function.get("arguments"), str)
                function["arguments"] = cut if is_text else json.loads(cut)
        if changed != message:
            edits.append(Edit(index, changed, "arguments"))
    return edits


def _written(call: Mapping[str, Any]) -> str:
    """Return the arguments of a call; nothing when they are an object that JSON cannot tell."""
    try:
        return call_arguments(call)
    except (TypeError, ValueError, RecursionError):
        return ""


def shortened(text: str) -> str | None:
    """Return arguments with long strings cut, or None when nothing is gained."""
    if len(text) <= MIN_ARGUMENT_CHARS or is_cut(text):
        return None
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    cut = _LITERAL.sub(_cut, text)
    return cut if len(cut) < len(text) else None


def _refuse(constant: str) -> None:
    """Refuse `NaN` and `Infinity`, which are no JSON."""
    raise ValueError(constant)


def _cut(literal: re.Match[str]) -> str:
    written = literal[0]
    if literal["key"] or len(written) <= MIN_STRING_CHARS:
        return written
    value = json.loads(written)
    left_out = len(value) - _HEAD - _TAIL
    if len(value) <= MIN_STRING_CHARS:
        return written
    made = value[:_HEAD] + cut_mark(left_out) + value[-_TAIL:]
    # Half a surrogate pair can be sent only as an escape.
    is_sendable = not any("\ud800" <= sign <= "\udfff" for sign in made)
    return json.dumps(made, ensure_ascii=not is_sendable)
