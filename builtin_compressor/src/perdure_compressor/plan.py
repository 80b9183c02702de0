"""Where the head ends, where the tail starts, and what between them stays word for word. Pure.

A plan speaks in indexes of the view it was made for. Cuts fall between units only, and what an
earlier handoff stands for is never split.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.handoff import is_handoff
from perdure.messages import group, is_result, is_system, latest_typed, text_of, tool_calls_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.messages import Unit
    from perdure.transcript import View

MIN_TAIL_MESSAGES = 3
# The minimum gives way where it would cost more than twice the tail's budget.
MAX_FOR_MINIMUM = 2
# A result that fills more than this share of the tail budget is going to be shortened in place, so
# it must not push other messages out of the tail.
MAX_RESULT_SHARE = 4


@dataclass(frozen=True, slots=True)
class Plan:
    """A cut of a view into head, middle and tail.

    Attributes:
        system_end: Number of leading system messages.
        head_end: View index behind the last message of the head; the middle starts here.
        tail_start: View index of the first message of the tail; the middle ends before it.
        anchors: View indexes inside the middle that stay word for word behind the handoff.
    """

    system_end: int
    head_end: int
    tail_start: int
    anchors: tuple[int, ...] = ()

    @property
    def middle(self) -> range:
        """View indexes that the handoff stands for."""
        return range(self.head_end, self.tail_start)


def make_plan(
    view: View, counts: Sequence[int], *, protect_first_n: int, tail_tokens: int
) -> Plan | None:
    """Return where to cut, or None when head and tail meet or nothing new lies between.

    Args:
        view: What is sent now.
        counts: Tokens of each message of the view.
        protect_first_n: Messages behind the system messages that stay, until the first compaction.
        tail_tokens: Budget of the tail; the head counts against it.
    """
    units = group(view)
    system_end = leading_system(view)
    last_handoff = latest_handoff(view)
    head_end = system_end
    if last_handoff is None:
        head_end = _head_end(units, counts, system_end, protect_first_n, tail_tokens // 2)
    tail_tokens -= sum(counts[system_end:head_end])
    floor = head_end if last_handoff is None else last_handoff + 1
    tail_start = _tail_start(view, units, counts, floor, tail_tokens)
    if tail_start <= floor:
        return None
    anchors = _anchors(view, counts, head_end, tail_start, tail_tokens)
    if not set(range(floor, tail_start)) - set(anchors):
        return None
    return Plan(system_end, head_end, tail_start, anchors)


def leading_system(view: Sequence[object]) -> int:
    """Return the number of system messages at the start."""
    for index, message in enumerate(view):
        if not is_system(message):  # type: ignore[arg-type]
            return index
    return len(view)


def latest_handoff(view: View) -> int | None:
    """Return the view index of the last message that belongs to a handoff, or None.

    A handoff's replacement may hold messages that were kept word for word behind the summary; they
    belong together.
    """
    for index in range(len(view) - 1, -1, -1):
        if is_handoff(view[index]):
            end = index
            while end + 1 < len(view) and view.source(end + 1) == view.source(index):
                if view.replacement_at(index) is None:
                    break
                end += 1
            return end
    return None


def _head_end(
    units: Sequence[Unit],
    counts: Sequence[int],
    system_end: int,
    protect_first_n: int,
    limit_tokens: int,
) -> int:
    """Return the end of the head: whole units within the count, and within half of the tail."""
    end, spent = system_end, 0
    for unit in units:
        if unit.first < end:
            continue
        spent += sum(counts[unit.first : unit.last + 1])
        if unit.last + 1 - system_end > protect_first_n or spent > limit_tokens:
            break
        end = unit.last + 1
    return end


def _tail_start(
    view: View, units: Sequence[Unit], counts: Sequence[int], floor: int, tail_tokens: int
) -> int:
    """Walk back by units until the budget is spent; at least three messages where that can be."""
    cap = max(1, tail_tokens // MAX_RESULT_SHARE)
    start, spent = len(view), 0
    for unit in reversed(units):
        if unit.first < floor:
            break
        cost = sum(
            min(counts[i], cap) if is_result(view[i]) else counts[i]
            for i in range(unit.first, unit.last + 1)
        )
        held = len(view) - start
        allowed = tail_tokens if held >= MIN_TAIL_MESSAGES else MAX_FOR_MINIMUM * tail_tokens
        if held and spent + cost > allowed:
            break
        start, spent = unit.first, spent + cost
    return start


def _anchors(
    view: View, counts: Sequence[int], head_end: int, tail_start: int, tail_tokens: int
) -> tuple[int, ...]:
    """Return what has to survive word for word although the tail does not reach back to it.

    The latest typed user message always; the latest visible reply of the assistant if it is not so
    large that it would crowd out the rest.
    """
    found = set()
    typed = latest_typed(view)
    if typed is not None and head_end <= typed < tail_start:
        found.add(typed)
    reply = _latest_reply(view)
    if (
        reply is not None
        and head_end <= reply < tail_start
        and counts[reply] <= tail_tokens // MAX_RESULT_SHARE
    ):
        found.add(reply)
    return tuple(sorted(found))


def _latest_reply(view: View) -> int | None:
    for index in range(len(view) - 1, -1, -1):
        message = view[index]
        is_reply = message.get("role") == "assistant" and not tool_calls_of(message)
        if is_reply and not is_handoff(message) and text_of(message).strip():
            return index
    return None
