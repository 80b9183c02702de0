"""The Anthropic wire copy of a changed list, after the format has written it.

Works on turns in the provider's shape; a turn that needs nothing stays the same object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.anthropic import KEYS, MAX_MARKS, THINKING, blocks_of, marks_in
from perdure.dialects.clean import EMPTY_MESSAGE, EMPTY_RESULT
from perdure.dialects.text import encodable, is_blank, is_blank_part
from perdure.dialects.turns import USER_NOTE, as_parts, note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.dialects.problem import Notes
    from perdure.dialects.slots import Slot

Turn = dict[str, Any]


def kept_apart(slots: Sequence[Slot], notes: Notes) -> list[Slot]:
    """Put a user note where a turn with signed thinking would be joined with one before it.

    Thinking must open its turn, and the turn must stay as the model wrote it.
    """
    kept: list[Slot] = []
    for slot in slots:
        before = kept[-1] if kept else None
        if before is not None and before.role == slot.role == "assistant" and _thinks(slot):
            notes["put a user note before a turn with thinking"] += 1
            kept.append(note("user", slot.position))
        kept.append(slot)
    return kept


def _thinks(slot: Slot) -> bool:
    raw = slot.entry.raw
    item = raw.item if raw is not None else None
    return isinstance(item, dict) and any(block["type"] in THINKING for block in blocks_of(item))


def tidied(turns: Sequence[Turn], notes: Notes, *, is_start: bool) -> list[Turn]:
    """Return turns that the provider takes.

    Args:
        turns: Turns as the format wrote them.
        notes: Receives what was repaired.
        is_start: Whether the list starts here, so that a user has to speak first.
    """
    made = [encodable(_filled(turn)) for turn in turns]
    if is_start and made and made[0].get("role") == "assistant":
        notes["opened the list with a user note"] += 1
        made.insert(0, {"role": "user", "content": USER_NOTE})
    return _merged(made, notes)


# ------------------------------------------------------------------------------- content


def _filled(turn: Turn) -> Turn:
    """Return the turn without blank text and unknown keys."""
    if not all(key in KEYS for key in turn):
        turn = {key: value for key, value in turn.items() if key in KEYS}
    content = turn.get("content")
    if isinstance(content, list):
        kept = [_filled_result(block) for block in content if not is_blank_part(block)]
        if not kept:
            return {**turn, "content": EMPTY_MESSAGE}
        same = len(kept) == len(content) and all(map(_is_same, kept, content))
        return turn if same else {**turn, "content": kept}
    return {**turn, "content": EMPTY_MESSAGE} if is_blank(content) else turn


def _filled_result(block: Any) -> Any:  # noqa: ANN401 - a block of any shape
    if not isinstance(block, dict) or block.get("type") != "tool_result":
        return block
    parts = block.get("content")
    if isinstance(parts, str):
        return {**block, "content": EMPTY_RESULT} if is_blank(parts) else block
    if not isinstance(parts, list) or not any(map(is_blank_part, parts)):
        return block
    kept = [part for part in parts if not is_blank_part(part)]
    return {**block, "content": kept or EMPTY_RESULT}


def _is_same(first: object, second: object) -> bool:
    return first is second


# ------------------------------------------------------------------------------- turns


def _merged(turns: Sequence[Turn], notes: Notes) -> list[Turn]:
    runs: list[list[Turn]] = []
    for turn in turns:
        role = turn.get("role")
        if runs and role in ("user", "assistant") and runs[-1][0].get("role") == role:
            notes[f"joined two {role} turns"] += 1
            runs[-1].append(turn)
        else:
            runs.append([turn])
    return [_one_turn(run) for run in runs]


def _one_turn(run: list[Turn]) -> Turn:
    if len(run) == 1:
        return run[0]
    blocks = [block for turn in run for block in as_parts(turn.get("content"))]
    blocks.sort(key=lambda block: _kind(block) != "tool_result")
    return {"role": run[0]["role"], "content": blocks}


def _kind(block: object) -> object:
    return block.get("type") if isinstance(block, dict) else None


# ------------------------------------------------------------------------------- cache marks


def with_fewer_marks(turns: Sequence[Turn], marks: int) -> list[Turn]:
    """Return the turns with at most four marks in the whole request; the newest ones stay.

    Args:
        turns: All turns of the request.
        marks: Cache marks in the system prompt and the tools.
    """
    made = list(turns)
    surplus = marks + sum(marks_in(turn.get("content")) for turn in turns) - MAX_MARKS
    for at, turn in enumerate(turns):
        if surplus <= 0:
            break
        if marks_in(turn.get("content")):
            content, surplus = _unmarked(turn["content"], surplus)
            made[at] = {**turn, "content": content}
    return made


def _unmarked(blocks: list[Any], surplus: int) -> tuple[list[Any], int]:
    made = []
    for block in blocks:
        new = block
        if isinstance(block, dict):
            if surplus > 0 and isinstance(block.get("content"), list):
                content, surplus = _unmarked(block["content"], surplus)
                new = {**new, "content": content}
            if surplus > 0 and block.get("cache_control"):
                new = {key: value for key, value in new.items() if key != "cache_control"}
                surplus -= 1
        made.append(new)
    return made, surplus
