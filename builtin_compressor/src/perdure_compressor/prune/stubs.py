"""Second pass: a long old result becomes one informative line."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.messages import (
    Message,
    call_name,
    content_text,
    copy_message,
    parsed_arguments,
)
from perdure.stock.one_line import one_liner, user_words
from perdure_compressor.prune.marks import (
    Edit,
    is_pruned,
    is_worth_it,
    split_placeholders,
    stub,
)
from perdure_compressor.prune.media import placeholder_of
from perdure_compressor.prune.repeats import calls_with_results

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Mapping, Sequence

    from perdure.stock.kinds import Kinds

MIN_CHARS = 200


def stubs(
    messages: Sequence[Message],
    prunable: Container[int],
    *,
    kinds: Kinds,
    ref_of: Callable[[int], str],
    names_tools: bool,
) -> list[Edit]:
    """Return an edit for each long result; the user's answers to questions stay whole."""
    edits: list[Edit] = []
    for call, index in calls_with_results(messages):
        if index not in prunable or not _is_readable(messages[index]):
            continue
        text, kept = split_placeholders(content_text(messages[index].get("content")))
        if len(text) < MIN_CHARS or is_pruned(text) or _kind(kinds, call) == "question":
            continue
        line = f"{one_liner(call, {'content': text}, kinds)} {user_words(text)}".rstrip()
        if is_worth_it(text, line):
            ref = ref_of(index)
            kept += _placeholders(messages[index], ref)
            changed = copy_message(messages[index])
            changed["content"] = " ".join([*kept, stub(line, ref, names_tools=names_tools)])
            edits.append(Edit(index, changed, "result"))
    return edits


def _is_readable(message: Mapping[str, Any]) -> bool:
    """Return whether text and media are all that a result holds."""
    content = message.get("content")
    if not isinstance(content, list):
        return isinstance(content, str)
    return all(
        isinstance(part, str)
        or (isinstance(part, dict) and (_is_text(part) or placeholder_of(part, "") is not None))
        for part in content
    )


def _is_text(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("text"), str) and part.get("type") in ("text", "input_text", None)


def _placeholders(message: Mapping[str, Any], ref: str) -> list[str]:
    content = message.get("content")
    parts = content if isinstance(content, list) else []
    made = [placeholder_of(part, ref) for part in parts if isinstance(part, dict)]
    return [text for text in made if text is not None]


def _kind(kinds: Kinds, call: Mapping[str, Any]) -> str:
    return kinds.kind_of(call_name(call), parsed_arguments(call))
