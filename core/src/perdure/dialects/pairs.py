"""Calls and their results after a change: what lost its partner goes, ids are made equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.text import is_blank
from perdure.messages import Unit, group, pair

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perdure.dialects.problem import Notes
    from perdure.dialects.slots import Slot

CALLS_GONE = "[tool calls left out]"


def paired(slots: Sequence[Slot], length: int, notes: Notes) -> list[Slot]:
    """Return the slots with every call answered and every result asked for, where we cut.

    Args:
        slots: The messages.
        length: Number of messages in the transcript; calls at its very end are still running.
        notes: Receives what was repaired.
    """
    messages = [slot.message for slot in slots]
    kept: list[Slot] = []
    cut_before = False
    for unit in group(messages):
        if unit.kind == "orphan":
            cut_before = cut_before or slots[unit.first].seam
            if cut_before:
                notes["dropped a result whose call is gone"] += 1
            else:
                kept.append(slots[unit.first])
        elif unit.kind == "calls":
            cut_before = _is_cut(slots, unit)
            kept += _unit(slots, messages, unit, length, notes)
        else:
            cut_before = False
            kept.append(slots[unit.first])
    return kept


def _is_cut(slots: Sequence[Slot], unit: Unit) -> bool:
    behind = slots[unit.last + 1 : unit.last + 2]
    inside = slots[unit.first + 1 : unit.last + 1]
    return slots[unit.first].ours or any(slot.seam for slot in (*inside, *behind))


def _unit(
    slots: Sequence[Slot],
    messages: Sequence[Mapping[str, Any]],
    unit: Unit,
    length: int,
    notes: Notes,
) -> list[Slot]:
    pairs = pair(messages, unit)
    caller = slots[unit.first]
    last = slots[unit.last]
    runs_on = unit.last == len(slots) - 1 and last.position == length - 1
    if unit.pending and _is_cut(slots, unit) and not runs_on:
        caller = _without_calls(caller, [call for call, result in pairs if result is None])
        notes["took calls without results from a message"] += 1
    return [caller, *slots[unit.first + 1 : unit.last + 1]]


def _without_calls(slot: Slot, gone: list[dict[str, Any]]) -> Slot:
    dropped = {id(call) for call in gone}
    kept = [call for call in slot.message["tool_calls"] if id(call) not in dropped]
    message = {key: value for key, value in slot.message.items() if key != "tool_calls"}
    if kept:
        message["tool_calls"] = kept
    elif not message.get("content") or is_blank(message.get("content")):
        message["content"] = CALLS_GONE
    return slot.changed(message)


def with_equal_ids(slots: Sequence[Slot], notes: Notes) -> list[Slot]:
    """Return the slots with each result under the very id of its call.

    Some gateways join two ids with a bar or put blanks around one; within a unit it is plain which
    result belongs to which call.
    """
    made = list(slots)
    messages = [slot.message for slot in slots]
    for unit in group(messages):
        for call, at in pair(messages, unit) if unit.kind == "calls" else ():
            wanted = call.get("id")
            if at is None or not isinstance(wanted, str):
                continue
            if messages[at].get("tool_call_id") != wanted and messages[at].get("role") == "tool":
                made[at] = made[at].recopied({**messages[at], "tool_call_id": wanted})
                notes["gave a result the id of its call"] += 1
    return made
