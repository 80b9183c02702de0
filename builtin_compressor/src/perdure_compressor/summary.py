"""The summary of a handoff: the model's if there is one and it can be used, else lines by rule."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from perdure.errors import SummarizerError
from perdure.messages import call_name, tool_calls_of
from perdure.types import Cost
from perdure_compressor import record
from perdure_compressor.prompt import written
from perdure_compressor.summarise import SummaryTask, summarise

if TYPE_CHECKING:
    from perdure.protocols import Completer, TokenCounter
    from perdure.stock.digest import DigestLine
    from perdure.types import Budget
    from perdure_compressor.draft import Draft
    from perdure_compressor.options import Options
    from perdure_compressor.record import Carried, Room

MIN_TOKENS = 1_000
MAX_TOKENS = 10_000
MIDDLE_SHARE = 0.20
WINDOW_SHARE = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """The last part of a handoff.

    Attributes:
        text: What stands in the handoff.
        lines: Lines to carry on, when it was made by rule.
        carried: The model's text to carry on.
        is_fallback: True when a model was asked and could not be used.
    """

    text: str
    lines: tuple[DigestLine, ...] = ()
    carried: str = ""
    is_fallback: bool = False
    warnings: tuple[str, ...] = ()
    cost: Cost = field(default_factory=Cost)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wishes:
    """What the caller of a compaction asked for, besides compacting."""

    focus_topic: str | None = None
    memory_context: str | None = None


def make_summary(  # noqa: PLR0913 - one argument per thing that decides
    draft: Draft,
    carried: Carried,
    *,
    room: Room,
    budget: Budget,
    options: Options,
    complete: Completer | None,
    counter: TokenCounter,
    wishes: Wishes,
) -> tuple[Summary, Draft]:
    """Return the summary, and the draft that it belongs to.

    Raises:
        SummarizerError: The model failed and `on_summary_failure` is `abort`.
    """
    if complete is None or options.summary == "extractive":
        return _by_rule(draft, carried, counter), draft
    before = getattr(complete, "cost", Cost())
    try:
        done = summarise(
            SummaryTask(
                lines=_lines(draft),
                previous=carried.summary,
                max_tokens=_limit(draft, budget, options),
                timeout_s=options.summary_timeout_s,
                focus_topic=wishes.focus_topic,
                memory_context=wishes.memory_context,
            ),
            complete,
            counter,
        )
    except SummarizerError as error:
        if options.on_summary_failure == "abort":
            raise
        text = (
            f"no summary by the model ({error.failure}): {error}. An extractive one stands in; "
            "originals can be recalled"
        )
        draft = draft.without_model(room, counter)
        stand_in = _by_rule(draft, carried, counter, warnings=(text,), is_fallback=True)
        return _with_cost(stand_in, before, complete), draft
    made = Summary(text=done.text, carried=done.text, warnings=done.problems)
    return _with_cost(made, before, complete), draft


def _with_cost(made: Summary, before: Cost, complete: Completer) -> Summary:
    after = getattr(complete, "cost", Cost())
    spent = Cost(
        calls=after.calls - before.calls,
        prompt_tokens=after.prompt_tokens - before.prompt_tokens,
        completion_tokens=after.completion_tokens - before.completion_tokens,
    )
    return replace(made, cost=spent)


def _by_rule(
    draft: Draft,
    carried: Carried,
    counter: TokenCounter,
    *,
    warnings: tuple[str, ...] = (),
    is_fallback: bool = False,
) -> Summary:
    """Return lines of the work; a model's earlier summary stays in front of them."""
    room = draft.record.left_tokens - counter.count_text(carried.summary)
    text, lines = record.extracted(
        carried,
        draft.items,
        budget_tokens=max(room, draft.record.left_tokens // 3),
        count=counter.count_text,
        shown=f"{draft.record.quotations}\n{draft.record.ledger_text}",
    )
    return Summary(
        text="\n\n".join(filter(None, [carried.summary, text])),
        lines=lines,
        carried=carried.summary,
        is_fallback=is_fallback,
        warnings=warnings,
    )


def _limit(draft: Draft, budget: Budget, options: Options) -> int:
    """Return the token limit of the model's summary; it fits what the draft left for it."""
    middle = draft.work.tokens(draft.plan.middle)
    wanted = max(MIN_TOKENS, int(MIDDLE_SHARE * middle))
    wanted = min(wanted, int(WINDOW_SHARE * budget.context_length), MAX_TOKENS)
    wanted = min(wanted, draft.record.left_tokens, options.summary_max_tokens or wanted)
    return max(100, wanted)


def _lines(draft: Draft) -> list[str]:
    """Return the messages as lines of the transcript for the model."""
    names = {
        str(call.get("id")): call_name(call)
        for _, entry in draft.items
        for call in tool_calls_of(entry.message)
    }
    return [written(number, entry.message, names) for number, entry in draft.items]
