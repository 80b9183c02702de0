"""First pass: of identical results and of repeated reads of one file, the newest stays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.messages import (
    Message,
    call_name,
    content_text,
    copy_message,
    group,
    pair,
    parsed_arguments,
)
from perdure.stock.kinds import Kinds, path_of

from perdure_compressor.prune.marks import Edit, is_pruned, stub

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

MIN_CHARS = 200
_RANGE_KEYS = ("offset", "limit", "start_line", "end_line", "view_range", "line_start", "line_end")

Call = tuple[dict[str, Any], int]


def calls_with_results(messages: Sequence[Message]) -> Iterator[Call]:
    """Yield each call that has a result, with the index of the result."""
    for unit in group(messages):
        if unit.kind == "calls":
            for call, result in pair(messages, unit):
                if result is not None:
                    yield call, result


def repeats(
    messages: Sequence[Message],
    prunable: Container[int],
    *,
    kinds: Kinds,
    ref_of: Callable[[int], str],
    names_tools: bool,
) -> list[Edit]:
    """Return an edit for each result that a later one repeats or makes stale."""
    seen: dict[object, str] = {}
    edits: list[Edit] = []
    for call, index in reversed(list(calls_with_results(messages))):
        message = messages[index]
        text = content_text(message.get("content"))
        arguments = parsed_arguments(call)
        kind = kinds.kind_of(call_name(call), arguments)
        keys = _keys(kind, arguments, text)
        later = next((seen[key] for key in keys if key in seen), None)
        can_go = isinstance(message.get("content"), str) and index in prunable
        if later and can_go and len(text) >= MIN_CHARS and not is_pruned(text):
            target = path_of(arguments)
            line = f"{call_name(call)}{f' {target}' if target else ''}: {later}"
            changed = copy_message(message)
            changed["content"] = stub(line, ref_of(index), names_tools=names_tools)
            edits.append(Edit(index, changed, "repeat"))
        for key in keys:
            seen.setdefault(key, "the same content is shown by a later call")
        if kind in ("write", "edit") and path_of(arguments):
            seen.setdefault(("stale", path_of(arguments)), "the file was changed by a later call")
    return edits[::-1]


def _keys(kind: str, arguments: Mapping[str, Any], text: str) -> list[object]:
    """Return what makes a result the same as, or older than, another one."""
    keys: list[object] = [("text", text)] if len(text) >= MIN_CHARS else []
    path = path_of(arguments)
    if kind == "read" and path:
        span = tuple(str(arguments.get(key)) for key in _RANGE_KEYS)
        keys += [("read", path, span), ("stale", path)]
    return keys
