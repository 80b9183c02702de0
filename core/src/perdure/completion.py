"""Asks the summary model on behalf of an engine: deadline, typed failures, cost. No transport.

A host gives any callable that takes a `CompletionRequest` and returns text or a `CompletionResult`.
`GuardedCompleter` makes of it a `Completer` that always ends in time and fails with
`SummarizerError` only.
"""

from __future__ import annotations

import re
import threading
from typing import TYPE_CHECKING

from perdure.errors import SummarizerError
from perdure.protocols import CompletionRequest, CompletionResult
from perdure.stock.redact import redact
from perdure.types import Cost

if TYPE_CHECKING:
    from collections.abc import Callable

    from perdure.types import Usage

    Host = Callable[[CompletionRequest], CompletionResult | str]

_OVERFLOW = re.compile(
    r"context[ _](?:length|window|size)|maximum context|prompt is too long|too many tokens|"
    r"input (?:is )?too long|exceeds? the (?:maximum|limit)|reduce the length",
    re.IGNORECASE,
)


class GuardedCompleter:
    """A host's callable with a deadline, typed failures and a record of what it cost.

    Attributes:
        cost: Sum over all calls so far.
    """

    def __init__(self, call: Host, *, context_length: int | None = None) -> None:
        """Wrap a callable.

        Args:
            call: Asks the model; any exception it raises becomes a `SummarizerError`.
            context_length: Window of the summary model; by default the callable's own attribute
                of that name, else unknown.
        """
        self._call = call
        self._context_length = context_length or getattr(call, "context_length", None)
        self.cost = Cost()

    @property
    def context_length(self) -> int | None:
        """Tokens of input that the summary model accepts; None when unknown."""
        return self._context_length

    def __call__(self, request: CompletionRequest) -> CompletionResult:
        """Return the answer; raises `SummarizerError` when there is none in time."""
        answer: list[CompletionResult | str] = []
        failure: list[BaseException] = []

        def ask() -> None:
            try:
                answer.append(self._call(request))
            except BaseException as error:  # noqa: BLE001 - handed over to the caller's thread
                failure.append(error)

        # A thread of its own, since a hanging client can be left behind but not stopped.
        worker = threading.Thread(target=ask, name="perdure-summary", daemon=True)
        worker.start()
        worker.join(request.timeout_s)
        self.cost += Cost(calls=1)
        if failure:
            raise _typed(failure[0]) from failure[0]
        if not answer:
            text = (
                f"the summary model did not answer within {request.timeout_s:g} s; raise "
                "summary_timeout_s or use a faster model"
            )
            raise SummarizerError(text, failure="timeout")
        return self._accounted(answer[0])

    def _accounted(self, answer: CompletionResult | str) -> CompletionResult:
        if isinstance(answer, str):
            return CompletionResult(text=answer)
        if not isinstance(answer, CompletionResult) or not isinstance(answer.text, str):
            found = type(answer).__name__
            text = f"complete() returned {found}; return text or a CompletionResult"
            raise SummarizerError(text, failure="malformed")
        self.cost += _cost_of(answer.usage)
        return answer


def _cost_of(usage: Usage) -> Cost:
    return Cost(
        prompt_tokens=usage.prompt_tokens or 0, completion_tokens=usage.completion_tokens or 0
    )


def _typed(error: BaseException) -> BaseException:
    if isinstance(error, SummarizerError) or not isinstance(error, Exception):
        return error
    what = f"{type(error).__name__}: {redact(str(error))}"  # SDKs quote the key they were given
    failure = "overflow" if _OVERFLOW.search(str(error)) else "network"
    return SummarizerError(f"the summary model could not be asked: {what}", failure=failure)
