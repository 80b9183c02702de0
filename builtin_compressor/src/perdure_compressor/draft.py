"""A compaction worked out up to the summary: the cut, what it carries, and that it will fit. Pure.

The tail gets its share first. If what the user said needs more than its share, the tail gives way
until everything fits the target.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perdure import handoff
from perdure_compressor import record
from perdure_compressor.plan import Plan, latest_handoff, make_plan
from perdure_compressor.prune import relieve

if TYPE_CHECKING:
    from collections.abc import Callable

    from perdure.protocols import TokenCounter
    from perdure.stock.kinds import Kinds
    from perdure.stock.ledger import Ledger
    from perdure.transcript import View
    from perdure.types import Budget
    from perdure_compressor.record import Carried, Numbered, Record, Room
    from perdure_compressor.working import Working

SOFT_CEILING = 1.2
MIN_TAIL_TOKENS = 64
MIN_RECORD_TOKENS = 300
ROUNDS = 4


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """Everything but the summary.

    Attributes:
        work: The view with the edits that the tail needed.
        plan: The cut.
        items: Messages that enter the ledger with this compaction, with their numbers.
        ledger: What is carried after it.
        record: The parts of the handoff that are made by rule.
        first: Number of the first message that the handoff stands for.
        last: Number of the last one.
        handle: Where the originals are.
        shown: Numbers of the messages that stay word for word beside the handoff.
    """

    work: Working
    plan: Plan
    items: tuple[Numbered, ...]
    ledger: Ledger
    record: Record
    first: int
    last: int
    handle: str
    shown: tuple[int, ...]

    def without_model(self, room: Room, counter: TokenCounter) -> Draft:
        """Return the draft with a record that tells everything, for when no model does."""
        whole = replace(room, is_beside_model=False)
        made = record.make_record(
            self.ledger,
            room=whole,
            count=counter.count_text,
            handle=self.handle,
            shown=self.shown,
        )
        return replace(self, record=made)

    def kept_tokens(self, budget: Budget) -> int:
        """Return the tokens of the request without the handoff."""
        kept = [*range(self.plan.system_end, self.plan.head_end), *self.plan.anchors]
        tail = range(self.plan.tail_start, len(self.work.view))
        return budget.fixed_tokens + self.work.tokens(kept) + self.work.tokens(tail)


def make_draft(  # noqa: PLR0913 - one argument per thing that decides
    work: Working,
    carried: Carried,
    *,
    budget: Budget,
    room: Room,
    counter: TokenCounter,
    handle_of: Callable[[range], str],
    ref_of: Callable[[int], str],
    kinds: Kinds,
) -> Draft | None:
    """Return a draft that fits the target, or None when nothing new lies between head and tail."""
    tail_tokens = budget.tail_tokens
    draft, over = None, 0
    for _ in range(ROUNDS):
        plan = make_plan(
            work.view,
            work.counts,
            protect_first_n=budget.protect_first_n,
            tail_tokens=tail_tokens,
        )
        if plan is None:
            break
        draft = _drafted(work, plan, carried, room, counter, handle_of)
        allowed = _tail_allowance(draft, budget)
        draft = _relieved(
            draft, min(allowed, int(SOFT_CEILING * tail_tokens)), counter, ref_of, kinds
        )
        over = draft.work.tokens(range(plan.tail_start, len(work.view))) - allowed
        if over <= 0:
            return draft
        if tail_tokens <= MIN_TAIL_TOKENS:
            break
        tail_tokens = max(MIN_TAIL_TOKENS, tail_tokens - over)
    if draft is None:
        return None
    # The tail cannot give way any further, so the record does.
    smaller = replace(
        room,
        handoff_tokens=max(MIN_RECORD_TOKENS, room.handoff_tokens - over),
        borrowed_tokens=max(MIN_RECORD_TOKENS, room.borrowed_tokens - over),
    )
    made = _drafted(work, draft.plan, carried, smaller, counter, handle_of)
    return replace(made, work=draft.work)


def _drafted(  # noqa: PLR0913, PLR0917 - as for make_draft
    work: Working,
    plan: Plan,
    carried: Carried,
    room: Room,
    counter: TokenCounter,
    handle_of: Callable[[range], str],
) -> Draft:
    numbering = numbers(work.view, carried)
    covered = [
        (numbering(position), position)
        for position in _positions(work.view, plan.middle)
        if not handoff.is_handoff(work.view.transcript[position])
    ]
    items = tuple(
        (number, work.view.transcript.entry(position))
        for number, position in covered
        if not carried.has(number)
    )
    ledger = record.carried_on(carried, items)
    handle = handle_of(plan.middle)
    shown = [numbering(work.view.source(index)[0]) for index in plan.anchors]
    made = record.make_record(
        ledger, room=room, count=counter.count_text, handle=handle, shown=shown
    )
    known = [number for number, _ in covered] or [0]
    return Draft(
        work=work,
        plan=plan,
        items=items,
        ledger=ledger,
        record=made,
        first=min([*known, *(first for first, _ in carried.ledger.merged)]),
        last=max([*known, carried.last]),
        handle=handle,
        shown=tuple(shown),
    )


def numbers(view: View, carried: Carried) -> Callable[[int], int]:
    """Return the function from transcript positions to message numbers.

    They are the same, unless a host came back after a restart with a compacted list as its own:
    then what follows the handoff goes on counting where the handoff ended.
    """
    at = latest_handoff(view)
    if at is None or view.replacement_at(at) is not None:
        return lambda position: position
    start = view.source(at)[0]
    return lambda position: position if position < start else position - start + carried.last


def _positions(view: View, middle: range) -> range:
    return range(view.source(middle[0])[0], view.source(middle[-1])[1] + 1)


def _tail_allowance(draft: Draft, budget: Budget) -> int:
    """Return what the target leaves for the tail beside everything else."""
    work, plan = draft.work, draft.plan
    parts = record.FRAME_TOKENS + draft.record.total_tokens
    kept = work.tokens(range(plan.system_end, plan.head_end)) + work.tokens(plan.anchors)
    return budget.target_tokens - budget.fixed_tokens - kept - parts


def _relieved(
    draft: Draft,
    ceiling: int,
    counter: TokenCounter,
    ref_of: Callable[[int], str],
    kinds: Kinds,
) -> Draft:
    """Return the draft with giant results of the tail shortened, if it is over its ceiling."""
    tail = range(draft.plan.tail_start, len(draft.work.view))
    excess = draft.work.tokens(tail) - max(ceiling, MIN_TAIL_TOKENS)
    if excess <= 0:
        return draft
    edits = relieve(
        draft.work.messages(),
        list(tail),
        excess_tokens=excess,
        counter=counter,
        ref_of=ref_of,
        kinds=kinds,
    )
    return replace(draft, work=draft.work.edited(edits, counter))
