"""Who speaks when: neighbours joined, short notes put between, for lists that we changed.

Every decision looks back only, so that a list that grows keeps what was sent: at most its last
message is joined with what comes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.slots import Slot
from perdure.dialects.text import is_blank
from perdure.messages import SYSTEM_ROLES, tool_calls_of
from perdure.transcript import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perdure.dialects.problem import Notes

USER_NOTE = "[The conversation goes on.]"
ASSISTANT_NOTE = "[Noted.]"
_NOTES = {"user": USER_NOTE, "assistant": ASSISTANT_NOTE}
_OTHER = {"user": "assistant", "assistant": "user"}


# ------------------------------------------------------------------------------- joining


def as_parts(content: Any) -> list[Any]:  # noqa: ANN401 - content of any shape
    """Return content as a list of parts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


def joined_content(contents: Sequence[Any]) -> Any:  # noqa: ANN401 - content of any shape
    """Return contents as one: texts with a blank line between, else one list of parts."""
    full = [content for content in contents if content and not is_blank(content)]
    if len(full) <= 1:
        return full[0] if full else contents[-1]
    if all(isinstance(content, str) for content in full):
        return "\n\n".join(full)
    return [part for content in full for part in as_parts(content)]


def joined(messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return messages of one role as one; of other keys the last value wins."""
    message = {key: value for one in messages for key, value in one.items()}
    message["content"] = joined_content([one.get("content") for one in messages])
    calls = [call for one in messages for call in tool_calls_of(one)]
    if calls:
        message["tool_calls"] = calls
    return message


def _one_slot(run: Sequence[Slot]) -> Slot:
    if len(run) == 1:
        return run[0]
    message = joined([slot.message for slot in run])
    return run[0].changed({**message, "role": run[0].role})


def note(role: str, position: int) -> Slot:
    """Return a short message that only keeps the turns in order."""
    message = {"role": role, "content": _NOTES[role]}
    return Slot(Entry.of(message), position, ours=True, seam=True)


# ------------------------------------------------------------------------------- plain


def alternated(slots: Sequence[Slot], notes: Notes) -> list[Slot]:
    """Return the slots with no two speakers of one role in a row where we made it so.

    System messages between two speakers count as nothing: there a note is put between, since a
    message that moved across them would change what was sent.
    """
    runs: list[list[Slot]] = []
    before: list[Slot] = []
    for slot in _opened(slots, notes):
        if slot.role in SYSTEM_ROLES:
            runs.append([slot])
            continue
        if before and _clashes(before, slot):
            if runs[-1] is before:
                notes[f"joined two {slot.role} messages"] += 1
                before.append(slot)
                continue
            notes[f"put a note between two {slot.role} messages"] += 1
            runs.append([note(_OTHER[slot.role], slot.position)])
        before = [slot]
        runs.append(before)
    return [_one_slot(run) for run in runs]


def _clashes(before: Sequence[Slot], slot: Slot) -> bool:
    same = before[0].role == slot.role and slot.role in _NOTES
    # A run of several was joined because of us, which makes it ours as a whole.
    return same and (len(before) > 1 or before[0].ours or slot.ours or slot.seam)


def _opened(slots: Sequence[Slot], notes: Notes) -> list[Slot]:
    """Put a user note before a list that no longer opens with a user because of us."""
    at = first_turn(slots)
    is_changed = any(slot.seam for slot in slots[: at + 1])
    if is_changed and at < len(slots) and slots[at].role != "user":
        notes["opened the list with a user note"] += 1
        return [*slots[:at], note("user", slots[at].position), *slots[at:]]
    return list(slots)


def first_turn(slots: Sequence[Slot]) -> int:
    """Return the index of the first slot that is no system message."""
    for at, slot in enumerate(slots):
        if slot.role not in SYSTEM_ROLES:
            return at
    return len(slots)


# ------------------------------------------------------------------------------- strict


def strict(slots: Sequence[Slot], notes: Notes, *, is_start: bool) -> list[Slot]:
    """Return the slots in the order that a strict chat template accepts.

    One system message at the start, then a user; a user never right behind a tool result; user
    and assistant in turn when tool traffic is left out.
    """
    at = first_turn(slots) if is_start else 0
    runs: list[list[Slot]] = []
    if is_start and (at == len(slots) or slots[at].role != "user"):
        notes["opened the list with a user note"] += 1
        runs.append([note("user", slots[at - 1].position if at else 0)])
    for original in slots[at:]:
        slot = _as_user(original, notes)
        before = runs[-1][-1].role if runs else ""
        if before == slot.role and slot.role in _NOTES:
            notes[f"joined two {slot.role} messages"] += 1
            runs[-1].append(slot)
            continue
        if slot.role == "user" and before in ("tool", "function"):
            notes["put an assistant note behind a tool result"] += 1
            runs.append([note("assistant", slot.position)])
        runs.append([slot])
    if at > 1:
        notes["joined leading system messages"] += 1
    head = [list(slots[:at])] if at else []
    return [_one_slot(run) for run in (*head, *runs)]


def _as_user(slot: Slot, notes: Notes) -> Slot:
    if slot.role not in SYSTEM_ROLES:
        return slot
    notes["turned a later system message into user text"] += 1
    return slot.changed({**slot.message, "role": "user"})
