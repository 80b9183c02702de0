"""Which signed thinking may stay after a summary that the caller wrote.

A signature covers everything before it. What the model thought before it saw the summary no longer
fits and goes as a whole; what it thinks afterwards stays. The one exception is a tool loop that was
running when the summary was made: the provider wants its thinking back until the loop ends. The
decision depends on when the summary was made and not on how the list goes on, so that what was
sent stays as it was.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perdure.dialects.anthropic import THINKING, blocks_of
from perdure.messages import is_result, is_typed, latest_typed, text_of, tool_calls_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from perdure.dialects.problem import Notes
    from perdure.dialects.slots import Slot
    from perdure.transcript import Replacement, View

SUMMARIES = frozenset({"handoff", "node", "external"})
THINKING_GONE = "[thinking left out]"


def without_stale_thinking(slots: Sequence[Slot], view: View, notes: Notes) -> list[Slot]:
    """Return the slots of an Anthropic view without the thinking that a summary made invalid."""
    summaries = [made for made in view.replacements if made.kind in SUMMARIES]
    if not summaries:
        return list(slots)
    length = len(view.transcript)
    made_at = max(_made_at(made, length) for made in summaries)
    loop = running_loop(view, summaries[-1].last + 1, made_at)
    kept: list[Slot] = []
    items: dict[int, dict[str, Any]] = {}
    latest, waiting = 0, iter([*summaries, None])
    coming = next(waiting)
    for slot in slots:
        while coming is not None and coming.last < slot.position:
            latest = max(latest, _made_at(coming, length))
            coming = next(waiting)
        is_stale = slot.position < latest and slot.position not in loop
        kept.append(_without_thinking(slot, items) if is_stale and not slot.ours else slot)
    notes["left out the thinking of a turn that a summary made invalid"] += len(items)
    return kept


def _made_at(made: Replacement, length: int) -> int:
    return length if made.made_at is None else min(made.made_at, length)


def running_loop(view: View, start: int, end: int) -> range:
    """Return the positions of a tool loop that runs at `end`, not reaching back before `start`.

    Empty when no call runs there, or when what the person asked for in the loop is no longer sent
    as it was typed.
    """
    transcript = view.transcript
    first, has_calls = end, False
    while first > start:
        message = transcript[first - 1]
        calls = bool(tool_calls_of(message))
        if not (calls or is_result(message) or _is_injected(message)):
            break
        has_calls = has_calls or calls
        first -= 1
    if not has_calls:
        return range(0)
    asked = latest_typed(transcript.until(end))
    return range(first, end) if asked is not None and _is_sent(view, asked) else range(0)


def _is_sent(view: View, position: int) -> bool:
    """Return whether the text of a message is sent word for word, in place or in a replacement."""
    for made in view.replacements:
        if made.first <= position <= made.last:
            text = text_of(view.transcript[position])
            return any(text in text_of(message) for message in made.messages)
    return True


def _is_injected(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "user" and not is_typed(message)


def _without_thinking(slot: Slot, items: dict[int, dict[str, Any]]) -> Slot:
    """Return the slot with a raw item that has no thinking; messages of one item share the copy."""
    raw = slot.entry.raw
    if raw is None or not isinstance(raw.item, dict) or not _has_thinking(blocks_of(raw.item)):
        return slot
    if id(raw.item) not in items:
        content = _unthinking(raw.item["content"]) or [{"type": "text", "text": THINKING_GONE}]
        items[id(raw.item)] = {**raw.item, "content": content}
    new = replace(raw, item=items[id(raw.item)], blocks=tuple(_unthinking(raw.blocks)))
    return replace(slot, entry=replace(slot.entry, raw=new))


def _has_thinking(blocks: Iterable[Mapping[str, Any]]) -> bool:
    return any(block["type"] in THINKING for block in blocks)


def _unthinking(blocks: Iterable[Any]) -> list[Any]:
    return [
        block for block in blocks if not (isinstance(block, dict) and block.get("type") in THINKING)
    ]
