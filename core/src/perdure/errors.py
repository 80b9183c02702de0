"""One exception tree: every error says what happened, to which named thing, and what to do next.

Each class carries the facts of its message as attributes, so that programs need not parse text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


class PerdureError(Exception):
    """Base of everything that Perdure raises on purpose."""


class ConfigError(PerdureError):
    """A configuration value is missing, unknown or out of range.

    Attributes:
        source: File (with line, when known) or environment variable that held the value.
        key: Dotted path of the key, such as `context.compression.threshold`.
        nearest: Closest known key when the key is unknown.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        key: str | None = None,
        nearest: str | None = None,
    ) -> None:
        super().__init__(message)
        self.source = source
        self.key = key
        self.nearest = nearest


class InputError(PerdureError):
    """Messages given to us cannot be read.

    Attributes:
        source: File name, `stdin`, or None for a list handed over in memory.
        line: 1-based line in the source, when known.
        index: 0-based message index, when known.
    """

    def __init__(
        self,
        message: str,
        *,
        source: str | None = None,
        line: int | None = None,
        index: int | None = None,
    ) -> None:
        super().__init__(message)
        self.source = source
        self.line = line
        self.index = index


class EngineNotFoundError(PerdureError):
    """No installed distribution offers the requested engine.

    Attributes:
        requested: The name from the configuration.
        available: Names that are installed, sorted.
        nearest: Closest installed or published names.
        pip_line: Install command, only for engines that this project publishes.
    """

    def __init__(
        self,
        message: str,
        *,
        requested: str,
        available: Sequence[str] = (),
        nearest: Sequence[str] = (),
        pip_line: str | None = None,
    ) -> None:
        super().__init__(message)
        self.requested = requested
        self.available = tuple(available)
        self.nearest = tuple(nearest)
        self.pip_line = pip_line


class EngineConflictError(PerdureError):
    """Two distributions offer one engine name, or a reserved name is offered by a stranger.

    Attributes:
        engine: The contested name.
        distributions: `name version` of every distribution that offers it, sorted.
    """

    def __init__(self, message: str, *, engine: str, distributions: Sequence[str]) -> None:
        super().__init__(message)
        self.engine = engine
        self.distributions = tuple(distributions)


class EngineLoadError(PerdureError):
    """An engine's package could not be imported, or its factory failed.

    Attributes:
        engine: Entry-point name.
        distribution: `name version` of the distribution, when known.
    """

    def __init__(self, message: str, *, engine: str, distribution: str | None = None) -> None:
        super().__init__(message)
        self.engine = engine
        self.distribution = distribution


class EngineContractError(PerdureError):
    """An engine does not fit the hookspec.

    Attributes:
        engine: Entry-point name.
        hook: Hook (or method) concerned.
        declared: What the engine declares.
        expected: What the hookspec has.
    """

    def __init__(
        self, message: str, *, engine: str, hook: str, declared: str = "", expected: str = ""
    ) -> None:
        super().__init__(message)
        self.engine = engine
        self.hook = hook
        self.declared = declared
        self.expected = expected


class EngineCallError(PerdureError):
    """A hook of the engine raised.

    Attributes:
        engine: Entry-point name.
        hook: Hook that raised.
        trigger: Trigger of the compaction, when the hook was `compress`.
    """

    def __init__(self, message: str, *, engine: str, hook: str, trigger: str | None = None) -> None:
        super().__init__(message)
        self.engine = engine
        self.hook = hook
        self.trigger = trigger


class InvariantError(PerdureError):
    """A message list breaks a rule that every list leaving us must keep.

    Attributes:
        rule: Name of the rule, such as `tool_pairs`.
        found: What was found instead.
        index: 0-based index of the message concerned, when there is one.
    """

    def __init__(
        self, message: str, *, rule: str, found: str = "", index: int | None = None
    ) -> None:
        super().__init__(message)
        self.rule = rule
        self.found = found
        self.index = index


class SummarizerError(PerdureError):
    """The summary model could not be used or gave an answer that cannot be used.

    Attributes:
        failure: One of auth, quota, network, timeout, overflow, empty, truncated, refused,
            malformed.
        provider: Provider or model named by the caller, when known.
        retry_after_s: Seconds to wait before another try, when known.
    """

    def __init__(
        self,
        message: str,
        *,
        failure: str,
        provider: str | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        super().__init__(message)
        self.failure = failure
        self.provider = provider
        self.retry_after_s = retry_after_s


class ContextOverflowError(PerdureError):
    """The request cannot be made small enough for the window.

    Attributes:
        tokens: Tokens of the smallest request that was reached.
        window: Tokens that the model accepts as input.
        attempts: Compactions that were tried.
        largest: (message index, role, tokens) of the largest messages, largest first.
    """

    def __init__(
        self,
        message: str,
        *,
        tokens: int,
        window: int,
        attempts: int = 0,
        largest: Sequence[tuple[int, str, int]] = (),
    ) -> None:
        super().__init__(message)
        self.tokens = tokens
        self.window = window
        self.attempts = attempts
        self.largest = tuple(largest)


class StoreError(PerdureError):
    """A durable store could not be read or written.

    Attributes:
        path: File of the store.
        operation: What was being done.
        safe: What is certainly not lost.
        is_transient: True when waiting and trying again may help (locked, busy).
    """

    def __init__(
        self,
        message: str,
        *,
        path: str,
        operation: str,
        safe: str = "",
        is_transient: bool = False,
    ) -> None:
        super().__init__(message)
        self.path = path
        self.operation = operation
        self.safe = safe
        self.is_transient = is_transient


class PerdureWarning(UserWarning):
    """Category of every warning that Perdure issues."""
