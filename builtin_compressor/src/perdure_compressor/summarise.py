"""Asks the model for the summary: slices that fit its window, checks on every answer.

The only part of the compressor that is not pure. Whatever goes wrong ends as a `SummarizerError`;
the engine decides what stands in.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perdure.errors import SummarizerError
from perdure.protocols import CompletionRequest
from perdure.stock.checks import check_summary
from perdure.stock.redact import redact
from perdure_compressor.prompt import Ask, summary_ask

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.protocols import Completer, TokenCounter

# Tokenisers differ; a slice stays this far below the window that the model states.
WINDOW_SHARE = 0.85
MIN_SLICE_TOKENS = 200
# The answer, and the record that it becomes, leave most of a small window to the transcript.
ANSWER_SHARE = 0.15
MIN_ANSWER_TOKENS = 100
MAX_RESLICES = 3
UNKNOWN_WINDOW_TOKENS = 128_000


@dataclass(frozen=True, kw_only=True, slots=True)
class SummaryTask:
    """What is to be summarised.

    Attributes:
        lines: The transcript, one text per message (see `prompt.written`).
        previous: The record to update, or nothing.
        max_tokens: Limit of the answer.
        timeout_s: Deadline for all calls together.
    """

    lines: Sequence[str]
    previous: str = ""
    max_tokens: int
    timeout_s: float
    focus_topic: str | None = None
    memory_context: str | None = None


@dataclass(frozen=True, slots=True)
class ModelSummary:
    """A checked answer.

    Attributes:
        struck: Names that the model had invented and that were taken out.
        problems: Sentences about what else had to be mended.
    """

    text: str
    struck: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def summarise(task: SummaryTask, complete: Completer, counter: TokenCounter) -> ModelSummary:
    """Return a checked summary.

    Raises:
        SummarizerError: No usable answer in time.
    """
    window = complete.context_length or UNKNOWN_WINDOW_TOKENS
    call = _Caller(complete, counter, time.monotonic() + task.timeout_s)
    for attempt in range(MAX_RESLICES + 1):
        try:
            return _within(task, call, window)
        except SummarizerError as error:  # noqa: PERF203 - three rounds at most
            if error.failure != "overflow" or attempt == MAX_RESLICES:
                raise
            # The window that was stated or assumed may be far above what was sent and refused.
            window = min(window, call.refused_tokens) // 2
    raise AssertionError  # the loop returns or raises


def _within(task: SummaryTask, call: _Caller, window: int) -> ModelSummary:
    """Summarise with no request larger than the window: at once, or slice by slice."""
    limit = max(MIN_ANSWER_TOKENS, int(ANSWER_SHARE * window))
    task = replace(task, max_tokens=min(task.max_tokens, limit))
    ask = summary_ask(
        "",
        nonce=call.nonce,
        max_tokens=task.max_tokens,
        focus_topic=task.focus_topic,
        memory_context=task.memory_context,
    )
    # The record so far stands in every request but the first, at its full size.
    record = max(task.max_tokens, call.counter.count_text(task.previous))
    frame = call.count(ask) + record
    room = int(window * WINDOW_SHARE) - task.max_tokens - frame
    if room < MIN_SLICE_TOKENS:
        text = (
            f"the summary model's window of {window:,} tokens leaves no room for the transcript "
            f"({frame:,} tokens of instructions, {task.max_tokens:,} for the answer)"
        )
        raise SummarizerError(text, failure="malformed")
    slices = sliced(task.lines, room, call.counter.count_text)
    if len(slices) == 1:
        return call.ask(task, slices[0], task.previous, task.max_tokens)
    # The record is carried from slice to slice: each call updates what the calls before it wrote,
    # so nothing is left out and no call needs more than the window.
    done = ModelSummary(task.previous)
    struck: list[str] = []
    problems: list[str] = []
    for part in slices:
        done = call.ask(task, part, done.text, task.max_tokens)
        struck += done.struck
        problems += done.problems
    return ModelSummary(done.text, tuple(struck), tuple(problems))


class _Caller:
    """One summary's worth of calls under a common deadline."""

    def __init__(self, complete: Completer, counter: TokenCounter, deadline: float) -> None:
        self.complete = complete
        self.counter = counter
        self.deadline = deadline
        self.nonce = secrets.token_hex(8)
        self.last = Ask("", "")

    @property
    def refused_tokens(self) -> int:
        """Tokens of the last question."""
        return self.count(self.last)

    def count(self, ask: Ask) -> int:
        return sum(self.counter.count_message(message) for message in ask.messages)

    def ask(
        self, task: SummaryTask, transcript: str, previous: str, max_tokens: int
    ) -> ModelSummary:
        """Ask once, and once more if the answer cannot be used."""
        question = summary_ask(
            transcript,
            nonce=self.nonce,
            max_tokens=max_tokens,
            previous=previous,
            focus_topic=task.focus_topic,
            memory_context=task.memory_context,
        )
        try:
            return self._asked(question, transcript, previous, max_tokens)
        except SummarizerError as error:
            if error.failure not in ("empty", "refused", "truncated", "malformed"):
                raise
            return self._asked(question, transcript, previous, max_tokens)

    def _asked(
        self, question: Ask, transcript: str, previous: str, max_tokens: int
    ) -> ModelSummary:
        left_s = self.deadline - time.monotonic()
        if left_s <= 0:
            text = "the deadline for the summary has passed; raise summary_timeout_s"
            raise SummarizerError(text, failure="timeout")
        self.last = question
        answer = self.complete(
            CompletionRequest(
                messages=question.messages, max_output_tokens=max_tokens, timeout_s=left_s
            )
        )
        checked = check_summary(
            redact(answer.text),
            source_texts=[transcript],
            previous=previous,
            finish_reason=answer.finish_reason,
            count=self.counter.count_text,
            max_tokens=max_tokens,
        )
        return ModelSummary(checked.text, checked.struck, checked.problems)


def sliced(lines: Sequence[str], room_tokens: int, count: Callable[[str], int]) -> list[str]:
    """Join lines into as few texts as fit `room_tokens` each; a longer line is cut into several."""
    slices: list[str] = []
    held: list[str] = []
    spent = 0
    for line in lines:
        for piece in _pieces(line, room_tokens, count):
            tokens = count(piece) + 1
            if held and spent + tokens > room_tokens:
                slices.append("\n".join(held))
                held, spent = [], 0
            held.append(piece)
            spent += tokens
    if held:
        slices.append("\n".join(held))
    return slices or [""]


def _pieces(line: str, room_tokens: int, count: Callable[[str], int]) -> list[str]:
    tokens = count(line)
    if tokens < room_tokens:
        return [line]
    parts = tokens // room_tokens + 1
    # Dense places hold more tokens per character than the average; halve until every piece fits.
    while True:
        size = max(1, -(-len(line) // parts))
        pieces = [line[i : i + size] for i in range(0, len(line), size)]
        if size == 1 or all(count(piece) < room_tokens for piece in pieces):
            return pieces
        parts *= 2
