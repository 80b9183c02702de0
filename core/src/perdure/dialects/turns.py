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

USER_NOTE = "[The conversation goes on.]"
ASSISTANT_NOTE = "[Noted.]"
_NOTES = {"user": USER_NOTE, "assistant": ASSISTANT_NOTE}


# ------------------------------------------------------------------------------- joining


def joined_content(first: Any, second: Any) -> Any:  # noqa: ANN401 - content of any shape
    """Return two contents as one: texts with a blank line between, else one list of parts."""
    if not first or is_blank(first):
        return second
    if not second or is_blank(second):
        return first
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*as_parts(first), *as_parts(second)]


def as_parts(content: Any) -> list[Any]:  # noqa: ANN401 - content of any shape
    """Return content as a list of parts."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content) if isinstance(content, list) else []


def joined(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Return two messages of one role as one; keys of the second win."""
    message = {**first, **second}
    message["content"] = joined_content(first.get("content"), second.get("content"))
    calls = [*tool_calls_of(first), *tool_calls_of(second)]
    if calls:
        message["tool_calls"] = calls
    return message


def _join_last(slots: list[Slot], slot: Slot) -> None:
    slots[-1] = slots[-1].changed(joined(slots[-1].message, slot.message))


def note(role: str, position: int) -> Slot:
    """Return a short message that only keeps the turns in order."""
    message = {"role": role, "content": _NOTES[role]}
    return Slot(Entry.of(message), position, ours=True, seam=True)


# ------------------------------------------------------------------------------- plain


def alternated(slots: Sequence[Slot], notes: list[str]) -> list[Slot]:
    """Return the slots with no two speakers of one role in a row where we made it so.

    System messages between two speakers count as nothing: there a note is put between, since a
    message that moved across them would change what was sent.
    """
    kept: list[Slot] = []
    before: Slot | None = None
    for slot in _opened(slots, notes):
        role = slot.role
        if role in SYSTEM_ROLES:
            kept.append(slot)
            continue
        if before is not None and _clashes(before, slot):
            if kept[-1] is before:
                notes.append(f"joined two {role} messages at {len(kept) - 1}")
                _join_last(kept, slot)
                before = kept[-1]
                continue
            notes.append(f"put a note between two {role} messages at {len(kept)}")
            kept.append(note("assistant" if role == "user" else "user", slot.position))
        kept.append(slot)
        before = slot
    return kept


def _clashes(before: Slot, slot: Slot) -> bool:
    same = before.role == slot.role and slot.role in _NOTES
    return same and (before.ours or slot.ours or slot.seam)


def _opened(slots: Sequence[Slot], notes: list[str]) -> list[Slot]:
    """Put a user note before a list that no longer opens with a user because of us."""
    at = first_turn(slots)
    if at < len(slots) and slots[at].role != "user" and _is_changed_start(slots, at):
        notes.append("opened the list with a user note")
        return [*slots[:at], note("user", slots[at].position), *slots[at:]]
    return list(slots)


def _is_changed_start(slots: Sequence[Slot], at: int) -> bool:
    return any(slot.seam for slot in slots[: at + 1])


def first_turn(slots: Sequence[Slot]) -> int:
    """Return the index of the first slot that is no system message."""
    for at, slot in enumerate(slots):
        if slot.role not in SYSTEM_ROLES:
            return at
    return len(slots)


# ------------------------------------------------------------------------------- strict


def strict(slots: Sequence[Slot], notes: list[str]) -> list[Slot]:
    """Return the slots in the order that a strict chat template accepts.

    One system message at the start, then a user; a user never right behind a tool result; user
    and assistant in turn when tool traffic is left out.
    """
    at = first_turn(slots)
    kept = _one_system(slots[:at], notes)
    heads = len(kept)
    if at == len(slots) or _as_user(slots[at]).role != "user":
        notes.append("opened the list with a user note")
        kept.append(note("user", slots[at - 1].position if at else 0))
    for original in slots[at:]:
        slot = _as_user(original)
        if slot is not original:
            notes.append(f"turned a later system message at {len(kept)} into user text")
        before = kept[-1] if len(kept) > heads else None
        if before is not None and before.role == slot.role and slot.role in _NOTES:
            notes.append(f"joined two {slot.role} messages at {len(kept) - 1}")
            _join_last(kept, slot)
            continue
        if before is not None and slot.role == "user" and before.role in ("tool", "function"):
            notes.append(f"put an assistant note behind a tool result at {len(kept)}")
            kept.append(note("assistant", slot.position))
        kept.append(slot)
    return kept


def _one_system(slots: Sequence[Slot], notes: list[str]) -> list[Slot]:
    kept = list(slots[:1])
    for slot in slots[1:]:
        notes.append("joined two system messages")
        message = joined(kept[-1].message, slot.message)
        kept[-1] = kept[-1].changed({**message, "role": kept[-1].role})
    return kept


def _as_user(slot: Slot) -> Slot:
    if slot.role not in SYSTEM_ROLES:
        return slot
    return slot.changed({**slot.message, "role": "user"})
