"""Pressure pass: when what is protected is too large by itself, its bodies are cut in the middle.

Oldest results first, the newest last, then what the assistant wrote. What users and the system
wrote is never cut, nor what a user answered to a question tool.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from perdure.messages import (
    Message,
    call_name,
    content_text,
    copy_message,
    is_result,
    parsed_arguments,
)
from perdure.stock.kinds import KINDS, Kinds
from perdure.stock.one_line import user_words
from perdure_compressor.prune.arguments import arguments
from perdure_compressor.prune.marks import Edit, middle_mark, split_middle
from perdure_compressor.prune.repeats import calls_with_results

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.protocols import TokenCounter

FLOOR_TOKENS = 300
MIN_SAVED_CHARS = 200
HEAD_SHARE = 0.6
_ROUNDS = 6


def relieve(  # noqa: PLR0913 - one argument per thing that decides
    messages: Sequence[Message],
    indexes: Sequence[int],
    *,
    excess_tokens: int,
    counter: TokenCounter,
    ref_of: Callable[[int], str],
    floor_tokens: int = FLOOR_TOKENS,
    kinds: Kinds = KINDS,
) -> list[Edit]:
    """Return edits that save `excess_tokens`, or as much as can be saved.

    Args:
        messages: The list.
        indexes: Messages that may be cut.
        excess_tokens: What has to be saved.
        counter: Counts tokens.
        ref_of: Handle of the original at an index.
        floor_tokens: What stays of each message at least.
        kinds: What tools do; the results of question tools are a user's words.
    """
    if excess_tokens <= 0:
        return []
    answers = {
        index
        for call, index in calls_with_results(messages)
        if kinds.kind_of(call_name(call), parsed_arguments(call)) == "question"
    }
    results = [i for i in sorted(indexes) if is_result(messages[i]) and i not in answers]
    spoken = [i for i in sorted(indexes) if messages[i].get("role") == "assistant"]
    edits: list[Edit] = []
    for index in (*results, *spoken):
        if excess_tokens <= 0:
            break
        tokens = counter.count_message(messages[index])
        if tokens <= floor_tokens:
            continue
        allowed = max(floor_tokens, tokens - excess_tokens)
        changed = _shorter(messages[index], allowed, counter, partial(ref_of, index))
        if changed is not None:
            excess_tokens -= tokens - counter.count_message(changed)
            edits.append(Edit(index, changed, "pressure"))
    return edits


def _shorter(
    message: Message, tokens: int, counter: TokenCounter, ref: Callable[[], str]
) -> Message | None:
    """Return a smaller copy: call arguments first, then the text, which tells more."""
    cut = next(iter(arguments([message], range(1))), None)
    if cut is None:
        return cut_to(message, tokens, counter, ref)
    if counter.count_message(cut.message) <= tokens:
        return cut.message
    return cut_to(cut.message, tokens, counter, ref) or cut.message


def cut_to(
    message: Message, tokens: int, counter: TokenCounter, ref: Callable[[], str]
) -> Message | None:
    """Return a copy of at most about `tokens` tokens, or None when nothing can be cut."""
    content = message.get("content")
    text = content if isinstance(content, str) else content_text(content)
    if len(text) < 2 * MIN_SAVED_CHARS or _is_nested(content):
        return None
    whole = counter.count_message(message)
    share = tokens / max(1, whole)
    handle = ref()
    for _ in range(_ROUNDS):
        kept = int(len(text) * share * 0.95)
        if len(text) - kept < MIN_SAVED_CHARS:
            return None
        changed = copy_message(message)
        changed["content"] = _with_text(content, middle_out(text, kept, handle))
        found = counter.count_message(changed)
        if found <= tokens:
            return changed
        share *= max(0.3, min(0.9, tokens / found))
    return changed if found < whole else None


def middle_out(text: str, kept_chars: int, ref: str) -> str:
    """Return head and tail of a text, whole lines where lines are short, with a mark between.

    A text that was cut before keeps one mark, which then counts both cuts. What a user wrote at
    its end stays whole, even if that is more than `kept_chars`.
    """
    before, left_out, after = split_middle(text)
    words = len(user_words(after or before))
    if not after:
        middle = min(int(len(before) * HEAD_SHARE), len(before) - words)
        before, after = before[:middle], before[middle:]
    head = max(0, min(int(kept_chars * HEAD_SHARE), kept_chars - words))
    start, end = _first_lines(before, head), _last_lines(after, kept_chars - head)
    if len(end) < words:
        end = after[len(after) - words :]
    gone = len(before) + len(after) - len(start) - len(end)
    return f"{start}\n{middle_mark(left_out + gone, ref)}\n{end}"


def _first_lines(text: str, chars: int) -> str:
    if chars >= len(text):
        return text
    return text[: text.rfind("\n", chars // 2, chars) + 1 or chars]


def _last_lines(text: str, chars: int) -> str:
    start = len(text) - chars
    if start <= 0:
        return text
    line = text.find("\n", start, start + chars // 2)
    return text[line + 1 if line >= 0 else start :]


def _is_nested(content: Any) -> bool:  # noqa: ANN401 - content of any shape
    return isinstance(content, list) and any(
        isinstance(part, dict) and "content" in part for part in content
    )


def _with_text(content: Any, text: str) -> Any:  # noqa: ANN401 - content of any shape
    """Return content with one text where its first one stood; all that is no text stays."""
    if not isinstance(content, list):
        return text
    parts: list[Any] = []
    is_placed = False
    for part in content:
        if not content_text([part]):
            parts.append(part)
        elif not is_placed:
            parts.append({"type": "text", "text": text})
            is_placed = True
    return parts
