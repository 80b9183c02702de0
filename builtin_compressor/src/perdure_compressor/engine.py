"""The engine: wires pruning, planning, record, summary and assembly together."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from perdure import handoff
from perdure.errors import ContextOverflowError
from perdure.messages import latest_typed
from perdure.stock.kinds import KINDS
from perdure.types import Budget, Compression, EngineContext, Trigger
from perdure_compressor import assemble, record
from perdure_compressor import plan as plans
from perdure_compressor.draft import Draft, make_draft
from perdure_compressor.entry import shrunk_messages
from perdure_compressor.options import Options
from perdure_compressor.prune import prune, relieve
from perdure_compressor.record import Carried
from perdure_compressor.summary import Summary, Wishes, make_summary
from perdure_compressor.working import Working, ref_maker

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.messages import Message
    from perdure.transcript import Transcript, View

MIN_GAIN_SHARE = 0.02
"""A compaction that frees less than this share of the room is not worth a new prefix."""

READ_AHEAD_MESSAGES = 64
"""Messages of a running session come a few at a time and are read at once, so that a compaction
has little to do; a long history that comes as a whole is read when it is compacted, if ever."""

COUNTING = (Trigger.PREFLIGHT, Trigger.GATEWAY)
"""Triggers that rest on our own count: a list that is at its target has nothing to gain."""


class Compressor:
    """Protected head, one handoff, verbatim tail."""

    Options = Options

    def __init__(self, context: EngineContext) -> None:
        """Take the session's context."""
        self._context = context
        self._options: Options = context.options
        self._kinds = KINDS.extended(self._options.tool_kinds)

    def on_messages(
        self, messages: Sequence[Message], history: Transcript
    ) -> Sequence[Message] | None:
        """Shorten large results before they are first sent, and read what a handoff will need."""
        made = self._shrunk(messages, history) if self._options.shrink_on_entry else None
        if len(messages) <= READ_AHEAD_MESSAGES:
            record.read_ahead(made or messages)
        return made

    def compress(
        self,
        messages: View,
        budget: Budget,
        trigger: Trigger,
        focus_topic: str | None,
        memory_context: str | None,
    ) -> Compression | None:
        """Prune; if that is not enough, put a handoff in place of the middle."""
        context = self._context
        work = Working.of(messages, context.counter)
        refuse_the_impossible(work, budget)
        carried = self._carried(messages)
        is_settled = bool(messages.replacements) and carried.length == len(messages.transcript)
        if trigger in COUNTING:
            is_settled = is_settled or work.request_tokens(budget) <= budget.target_tokens
        if trigger is Trigger.OVERFLOW:
            budget = harder(budget, work)
        elif is_settled:
            return None
        if trigger is not Trigger.MANUAL:
            pruned = self._pruned(work, budget)
            if pruned is not None:
                return pruned
        is_beside_model = context.complete is not None and self._options.summary == "auto"
        room = record.room_for(
            budget, self._options.handoff_tokens, is_beside_model=is_beside_model
        )
        draft = make_draft(
            work,
            carried,
            budget=budget,
            room=room,
            counter=context.counter,
            handle_of=lambda middle: self._range_handle(messages, middle),
            ref_of=ref_maker(messages, context.blobs),
            kinds=self._kinds,
        )
        if draft is None:
            return self._relieved(work, budget)
        summary, draft = make_summary(
            draft,
            carried,
            room=room,
            budget=budget,
            options=self._options,
            complete=context.complete,
            counter=context.counter,
            wishes=Wishes(focus_topic=focus_topic, memory_context=memory_context),
        )
        return self._assembled(draft, summary, budget)

    def _shrunk(self, messages: Sequence[Message], history: Transcript) -> Sequence[Message] | None:
        return shrunk_messages(
            messages,
            history,
            kinds=self._kinds,
            limits=self._options.entry_limit_tokens,
            counter=self._context.counter,
            store=self._context.blobs.put_message,
            names_tools=self._context.dispatches_tools,
        )

    # -- what was carried ----------------------------------------------------------------

    def _carried(self, view: View) -> Carried:
        """Return what belongs to the view's handoff; nothing after a rewind to before it."""
        carried = Carried.from_json(self._context.load())
        at = next((m for m in view if handoff.is_handoff(m)), None)
        found = handoff.fingerprint(str(at.get("content"))) if at is not None else ""
        return carried if found == carried.handoff else Carried()

    def _range_handle(self, view: View, middle: range) -> str:
        first, last = view.source(middle[0])[0], view.source(middle[-1])[1]
        entries = view.transcript.entries(first, last + 1)
        refs = self._context.blobs.put_messages([entry.message for entry in entries])
        return self._context.blobs.put_range(refs)

    # -- smaller without a handoff -------------------------------------------------------

    def _pruned(self, work: Working, budget: Budget) -> Compression | None:
        """Return the pruned view if that alone reaches the target."""
        view = work.view
        plan = plans.make_plan(
            view,
            work.counts,
            protect_first_n=budget.protect_first_n,
            tail_tokens=budget.tail_tokens,
        )
        if plan is None:
            return None
        floor = plans.latest_handoff(view)
        edits = prune(
            view,
            range(plan.head_end if floor is None else floor + 1, plan.tail_start),
            kinds=self._kinds,
            ref_of=ref_maker(view, self._context.blobs),
            names_tools=self._context.dispatches_tools,
        )
        after = work.edited(edits, self._context.counter)
        if not edits or after.request_tokens(budget) > budget.target_tokens:
            return None
        return self._only_edits(after, "old tool results were shortened; no summary was needed")

    def _relieved(self, work: Working, budget: Budget) -> Compression | None:
        """Return the view with giant results shortened when nothing can be summarised."""
        excess = work.request_tokens(budget) - budget.target_tokens
        if excess <= 0:
            return None
        start = plans.leading_system(work.view)
        edits = relieve(
            work.view,
            list(range(start, len(work.view))),
            excess_tokens=excess,
            counter=self._context.counter,
            ref_of=ref_maker(work.view, self._context.blobs),
            kinds=self._kinds,
        )
        if not edits:
            return None
        return self._only_edits(
            work.edited(edits, self._context.counter), "results in the protected part were cut"
        )

    def _only_edits(self, after: Working, detail: str) -> Compression:
        made = after.replacements(range(0), ref_maker(after.view, self._context.blobs))
        carried = self._carried(after.view)
        self._context.save(replace(carried, length=len(after.view.transcript)).to_json())
        return Compression(
            replacements=tuple(made),
            pruned=tuple((one.first, one.last) for one in made),
            detail=detail,
        )

    # -- the handoff ---------------------------------------------------------------------

    def _assembled(self, draft: Draft, summary: Summary, budget: Budget) -> Compression | None:
        """Put the handoff in place of the middle, if that frees enough."""
        view, plan = draft.work.view, draft.plan
        text = assemble.handoff_text(
            [draft.record.quotations, draft.record.ledger_text, summary.text],
            first=draft.first,
            last=draft.last,
            ref=draft.handle,
            names_tools=self._context.dispatches_tools,
        )
        message = handoff.make(text, assemble.handoff_role(view, plan), ref=draft.handle)
        made = view.replace(
            plan.middle[0],
            plan.middle[-1],
            kind="handoff",
            messages=[message, *(view[index] for index in plan.anchors)],
            refs=[draft.handle],
        )
        edits = draft.work.replacements(
            range(plan.middle.start, plan.middle.stop), ref_maker(view, self._context.blobs)
        )
        gain = draft.work.tokens(plan.middle) - draft.work.tokens(plan.anchors)
        gain -= self._context.counter.count_message(message)
        if edits and gain <= 0:
            return self._only_edits(draft.work, "results were shortened; a summary gains nothing")
        if not edits and gain < MIN_GAIN_SHARE * budget.room_tokens:
            return None
        after = Carried(
            ledger=draft.ledger,
            lines=summary.lines,
            summary=summary.carried,
            handoff=handoff.fingerprint(text),
            length=len(view.transcript),
            last=draft.last,
        )
        self._context.save(after.to_json())
        tokens = draft.kept_tokens(budget) + self._context.counter.count_message(message)
        return Compression(
            replacements=(made, *edits),
            summarised=((made.first, made.last),),
            pruned=tuple((edit.first, edit.last) for edit in edits),
            detail=f"the handoff stands for messages {draft.first} to {draft.last}",
            ledger=draft.record.sections,
            fallback_used=summary.is_fallback,
            warnings=(
                *draft.record.warnings,
                *summary.warnings,
                *over_target(tokens, budget),
            ),
            cost=summary.cost,
        )


def refuse_the_impossible(work: Working, budget: Budget) -> None:
    """Raise `ContextOverflowError` when a message that may not be touched is over the window."""
    index = latest_typed(work.view)
    if index is None or work.counts[index] <= budget.input_tokens:
        return
    tokens = work.counts[index]
    text = (
        f"the latest user message (index {index}) alone has {tokens:,} tokens, more than the "
        f"{budget.input_tokens:,} that the model accepts as input; split it, or put the text into "
        "a file that the agent reads in parts"
    )
    raise ContextOverflowError(
        text, tokens=tokens, window=budget.input_tokens, largest=[(index, "user", tokens)]
    )


def harder(budget: Budget, work: Working) -> Budget:
    """Return a tighter budget when the provider refused a request that should have fitted."""
    free = work.request_tokens(budget) - budget.fixed_tokens
    target = min(budget.target_tokens, budget.fixed_tokens + free // 2)
    return replace(
        budget,
        target_tokens=target,
        tail_tokens=max(1, min(budget.tail_tokens, int(0.3 * free))),
        trigger_tokens=max(1, min(budget.trigger_tokens, budget.fixed_tokens + free)),
    )


def over_target(tokens: int, budget: Budget) -> tuple[str, ...]:
    """Return a warning when what may not be cut keeps the request above its target."""
    if tokens <= budget.target_tokens:
        return ()
    text = (
        f"the request still has {tokens:,} tokens, above its target of {budget.target_tokens:,}: "
        "what may not be cut (system messages, the latest user message, the user's rules) is "
        "larger than its share"
    )
    return (text,)
