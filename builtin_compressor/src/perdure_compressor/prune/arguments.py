"""Third pass: long strings inside call arguments are cut; what is around them stays valid JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from perdure.messages import Message, call_arguments, copy_message, tool_calls_of

from perdure_compressor.prune.marks import Edit, cut_mark, is_cut

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

MIN_ARGUMENT_CHARS = 500
MIN_STRING_CHARS = 200
_HEAD, _TAIL = 100, 40


def arguments(messages: Sequence[Message], prunable: Container[int]) -> list[Edit]:
    """Return an edit for each message whose call arguments could be cut."""
    edits: list[Edit] = []
    for index, message in enumerate(messages):
        if index not in prunable:
            continue
        cuts = [shortened(call_arguments(call)) for call in tool_calls_of(message)]
        if not any(cuts):
            continue
        changed = copy_message(message)
        for call, cut in zip(tool_calls_of(changed), cuts, strict=True):
            if cut and isinstance(call.get("function"), dict):
                call["function"]["arguments"] = cut
        if changed != message:
            edits.append(Edit(index, changed, "arguments"))
    return edits


def shortened(text: str) -> str | None:
    """Return arguments with long strings cut, or None when nothing is gained."""
    if len(text) <= MIN_ARGUMENT_CHARS or is_cut(text):
        return None
    try:
        value = json.loads(text)
        cut = json.dumps(_cut(value), ensure_ascii=False)
    except (ValueError, RecursionError):
        return None
    return cut if len(cut) < len(text) else None


def _cut(value: Any) -> Any:  # noqa: ANN401 - JSON data
    if isinstance(value, str) and len(value) > MIN_STRING_CHARS:
        left_out = len(value) - _HEAD - _TAIL
        return value[:_HEAD] + cut_mark(left_out) + value[-_TAIL:]
    if isinstance(value, dict):
        return {key: _cut(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_cut(item) for item in value]
    return value
