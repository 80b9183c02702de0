"""Stand-ins for what a host brings along: a summary model that follows a script."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

from perdure.errors import SummarizerError
from perdure.messages import text_of
from perdure.protocols import CompletionRequest, CompletionResult

Answer = Callable[[CompletionRequest], Any]


class ScriptedModel:
    """A summary model that answers by script and records what it was asked.

    Attributes:
        requests: Every request, in order.
        context_length: Window that the model states, or None.
    """

    def __init__(self, answer: Answer, *, context_length: int | None = None) -> None:
        self.answer = answer
        self.context_length = context_length
        self.requests: list[CompletionRequest] = []
        self._let_go = threading.Event()

    def __call__(self, request: CompletionRequest) -> Any:
        self.requests.append(request)
        return self.answer(request)

    @property
    def inputs(self) -> list[str]:
        """Text of every request, instructions and data together."""
        return ["\n".join(map(text_of, request.messages)) for request in self.requests]


def says(text: str, *, finish_reason: str = "stop", delay_s: float = 0.0) -> Answer:
    """Return an answer that is always the same text."""

    def answer(_: CompletionRequest) -> CompletionResult:
        time.sleep(delay_s)
        return CompletionResult(text=text, finish_reason=finish_reason)

    return answer


def repeats(max_chars: int) -> Answer:
    """Return an answer that repeats the start of the data it is shown."""
    return lambda request: CompletionResult(text=text_of(request.messages[-1])[:max_chars])


def refuses(error: Exception) -> Answer:
    """Return an answer that raises."""

    def answer(_: CompletionRequest) -> CompletionResult:
        raise error

    return answer


def hangs(at_most_s: float = 20.0) -> Answer:
    """Return an answer that does not come in time."""

    def answer(_: CompletionRequest) -> CompletionResult:
        time.sleep(at_most_s)
        return CompletionResult(text="too late")

    return answer


def overflows_above(max_tokens: int, count: Callable[[str], int], then: Answer) -> Answer:
    """Return an answer that refuses inputs larger than a window."""

    def answer(request: CompletionRequest) -> Any:
        if sum(count(text_of(message)) for message in request.messages) > max_tokens:
            text = f"maximum context length is {max_tokens} tokens"
            raise SummarizerError(text, failure="overflow")
        return then(request)

    return answer


def remembers(max_chars_per_token: int = 2) -> Answer:
    """Return an answer of a model that keeps the lines with numbers it was shown, within limits."""

    def answer(request: CompletionRequest) -> CompletionResult:
        room = request.max_output_tokens * max_chars_per_token
        kept: list[str] = []
        for line in text_of(request.messages[-1]).splitlines():
            if "<<<" in line or not re.search(r"\d", line):
                continue
            short = line[:160]
            room -= len(short) + 3
            if room < 0:
                break
            kept.append(f"- {short}")
        return CompletionResult(text="## Current state\n" + "\n".join(kept))

    return answer


def from_case(stub: Mapping[str, Any] | None, count: Callable[[str], int]) -> Answer:
    """Return the answer that a case file describes."""
    stub = stub or {"mode": "text", "text": "## Done\nNothing worth telling."}
    mode = stub["mode"]
    if mode == "text":
        return says(stub["text"], delay_s=stub.get("delay_s", 0.0))
    if mode == "echo":
        return repeats(stub.get("max_chars", 6000))
    if mode == "error":
        return refuses(RuntimeError(f"status {stub['status']}: {stub['body']}"))
    if mode == "hang":
        return hangs()
    if mode == "sequence":
        answers = iter(stub["answers"])
        return lambda _: CompletionResult(text=next(answers))
    if mode == "overflow_until":
        return overflows_above(stub["max_input_tokens"], count, says(stub["text"]))
    raise AssertionError(mode)
