"""Which results are shortened, and by which of the ways. Pure."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from perdure.messages import call_name, content_text, copy_message, images_in, parsed_arguments
from perdure.stock.commands import purpose_of
from perdure.stock.entry import structured, texts

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from perdure.messages import Message
    from perdure.protocols import TokenCounter
    from perdure.stock.kinds import Kinds

Limits = dict[str, int]
"""Tokens that a result may have, by kind of tool; 0 means never shortened."""

DEFAULT_LIMITS: Limits = {
    "read": 8_000,
    "question": 0,
    "todo": 0,
    "memory": 0,
    "other": 1_000,
}
CHARS_PER_TOKEN = 3.2
MIN_SAVED_SHARE = 0.2
MARK_PLACE = 0.6
ROUNDS = 5
_DIFF = re.compile(r"^(?:diff --git |@@ -\d|--- a/|\+\+\+ b/)", re.MULTILINE)
_FOUND = re.compile(r"^[^\s:][^:\n]{0,200}:\d+[:-]", re.MULTILINE)
_LOG = re.compile(
    r"^\s*(?:\[?\d{4}-\d\d-\d\d|\d\d:\d\d:\d\d|\[?(?:DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b)",
    re.MULTILINE,
)
_SNIFF_CHARS = 4_000


def limit_for(kind: str, limits: Mapping[str, int]) -> int:
    """Return the limit of a kind in tokens; 0 means that it is never shortened."""
    return limits.get(kind, limits.get("other", DEFAULT_LIMITS["other"]))


def shrunk(  # noqa: PLR0913 - one argument per thing that decides
    call: Mapping[str, Any] | None,
    result: Message,
    *,
    kinds: Kinds,
    limits: Mapping[str, int],
    counter: TokenCounter,
    ref_of: Callable[[], str],
    names_tools: bool,
) -> Message | None:
    """Return a shortened copy of a tool result, or None to leave it as it is.

    Args:
        call: The call that it answers, when that is known.
        result: The result; never changed.
        kinds: What tools do.
        limits: Tokens by kind (see `DEFAULT_LIMITS`).
        counter: Counts tokens.
        ref_of: Stores the original and returns its handle; called only if something is gained.
        names_tools: Whether the text may name the tool that shows the original.
    """
    text = content_text(result.get("content"))
    kind = _kind_of(call, text, kinds) if call else "other"
    limit = limit_for(kind, limits)
    # Two characters to a token is denser than any text; below that nothing has to be counted.
    if limit <= 0 or len(text) <= limit or counter.count_text(text) <= limit:
        return None
    short = fitted(text, way_for(kind, text), limit, counter)
    if short is None or len(short) > (1 - MIN_SAVED_SHARE) * len(text):
        return None
    hint = " context_recall shows all of it" if names_tools else ""
    mark = f"⟦{len(text) - len(short):,} characters left out, {ref_of()}⟧{hint}"
    changed = copy_message(result)
    changed["content"] = _with_text(result, _marked(short, mark))
    return changed


def _kind_of(call: Mapping[str, Any], text: str, kinds: Kinds) -> str:
    """Return what the call did; in a shell, what its command did."""
    arguments = parsed_arguments(call)
    kind = kinds.kind_of(call_name(call), arguments)
    if kind != "terminal":
        return kind
    purpose = purpose_of(arguments)
    return kind if purpose == "read" and _is_log(text) else purpose


def _is_log(text: str) -> bool:
    return len(_LOG.findall(text[:_SNIFF_CHARS])) >= 3


def _marked(short: str, mark: str) -> str:
    """Return the text with its mark between two lines, so that a later cut keeps both ends."""
    at = short.rfind("\n", 0, int(len(short) * MARK_PLACE))
    if at < 0:
        return f"{short}\n{mark}"
    return f"{short[:at]}\n{mark}{short[at:]}"


def _with_text(result: Message, text: str) -> Any:  # noqa: ANN401 - text or parts
    pictures = images_in(result)
    return [{"type": "text", "text": text}, *pictures] if pictures else text


def fitted(
    text: str, way: Callable[[str, int], str], limit: int, counter: TokenCounter
) -> str | None:
    """Return the text shortened by a way so that it has at most `limit` tokens."""
    chars = int(limit * CHARS_PER_TOKEN)
    for _ in range(ROUNDS):
        short = way(text, chars)
        tokens = counter.count_text(short)
        if tokens <= limit:
            return short
        chars = int(chars * max(0.3, min(0.9, limit / tokens * 0.95)))
    return None


def way_for(kind: str, text: str) -> Callable[[str, int], str]:
    """Return how a text is shortened: by what it is, then by what its tool does."""
    head = text[:_SNIFF_CHARS]
    if head.lstrip()[:1] in "{[" and _is_json(text):
        return structured.shorten_json
    if _DIFF.search(head):
        return texts.shorten_diff
    if kind == "list":
        return texts.shorten_listing
    if kind == "search" and len(_FOUND.findall(head)) >= 3:
        return texts.shorten_search
    if kind in ("terminal", "code") or _is_log(text):
        return texts.shorten_log
    return texts.shorten_text


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True
