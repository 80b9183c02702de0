"""Calls and their results after a change: what lost its partner goes, ids are made equal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.text import is_blank
from perdure.messages import Unit, group, pair

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.dialects.problem import Notes
    from perdure.dialects.slots import Slot

CALLS_GONE = "[tool calls left out]"
PAIRING = frozenset({"result_missing", "result_orphan", "call_id"})
"""Rules about calls and their results."""


def paired(
    slots: Sequence[Slot], length: int, notes: Notes, *, everywhere: bool = False
) -> list[Slot]:
    """Return the slots with every call answered and every result asked for, where we cut.

    Args:
        slots: The messages.
        length: Number of messages in the transcript; calls at its very end are still running.
        notes: Receives what was repaired.
        everywhere: Look at all of the list; a result that stands too late moves to its call.
    """
    if everywhere:
        slots = _gathered(slots, notes)
    messages = [slot.message for slot in slots]
    kept: list[Slot] = []
    is_cut = everywhere
    for unit in group(messages):
        if unit.kind == "calls":
            is_cut = everywhere or _is_cut(slots, unit)
            kept += _answered(slots, unit, length, notes) if is_cut else _of(slots, unit)
        elif unit.kind == "message":
            is_cut = everywhere
            kept += _of(slots, unit)
        else:
            is_cut = is_cut or slots[unit.first].seam
            notes["dropped a result whose call is gone"] += is_cut
            kept += [] if is_cut else _of(slots, unit)
    return kept


def _gathered(slots: Sequence[Slot], notes: Notes) -> list[Slot]:
    """Return the slots with a result that came late behind the call that waits for it.

    In Responses a message may stand between the two; elsewhere hosts write one there by mistake.
    """
    messages = [slot.message for slot in slots]
    runs: list[list[Slot]] = []
    waiting: dict[str, list[Slot]] = {}
    for unit in group(messages):
        run = _of(slots, unit)
        home = None
        if unit.kind == "orphan":
            home = waiting.pop(str(messages[unit.first].get("tool_call_id")), None)
        if home is not None:
            notes["moved a late result to its call"] += 1
            home += run
            continue
        if unit.pending:
            pairs = pair(messages, unit)
            waiting |= {str(call.get("id")): run for call, result in pairs if result is None}
        runs.append(run)
    return [slot for run in runs for slot in run]


def _of(slots: Sequence[Slot], unit: Unit) -> list[Slot]:
    return list(slots[unit.first : unit.last + 1])


def _is_cut(slots: Sequence[Slot], unit: Unit) -> bool:
    behind = slots[unit.last + 1 : unit.last + 2]
    inside = slots[unit.first + 1 : unit.last + 1]
    return slots[unit.first].ours or any(slot.seam for slot in (*inside, *behind))


def _answered(slots: Sequence[Slot], unit: Unit, length: int, notes: Notes) -> list[Slot]:
    """Return the slots of a unit without its pending calls, unless they are still running."""
    caller, *results = _of(slots, unit)
    runs_on = unit.last == len(slots) - 1 and slots[unit.last].position == length - 1
    if not unit.pending or runs_on:
        return [caller, *results]
    own = [slot.message for slot in (caller, *results)]
    pairs = pair(own, Unit(0, len(results), unit.kind))
    notes["took calls without results from a message"] += 1
    return [_without_calls(caller, [call for call, result in pairs if result is None]), *results]


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
