"""One exception tree: every error says what happened, to which named thing, and what to do next.

Each class carries the facts of its message as attributes, so that programs need not parse text.
"""

from __future__ import annotations


class PerdureError(Exception):
    """Base of everything that Perdure raises on purpose.

    Facts are given by keyword; a class names those it takes as attributes, with their defaults.
    """

    def __init__(self, message: str, **facts: object) -> None:
        """Take the message and its facts; lists become tuples."""
        super().__init__(message)
        unknown = set(facts) - set(self.facts())
        if unknown:
            text = (
                f"{type(self).__name__} takes no fact {sorted(unknown)}, only {list(self.facts())}"
            )
            raise TypeError(text)
        for name, value in facts.items():
            setattr(self, name, tuple(value) if isinstance(value, list) else value)

    def facts(self) -> dict[str, object]:
        """Return what the message was made of, by name."""
        return {name: getattr(self, name) for name in type(self).__annotations__}


class ConfigError(PerdureError):
    """A configuration value is missing, unknown or out of range.

    Attributes:
        source: File (with line, when known) or environment variable that held the value.
        key: Dotted path of the key, such as `context.compression.threshold`.
        nearest: Closest known key when the key is unknown.
    """

    source: str | None = None
    key: str | None = None
    nearest: str | None = None


class InputError(PerdureError):
    """Messages given to us cannot be read.

    Attributes:
        source: File name, `stdin`, or None for a list handed over in memory.
        line: 1-based line in the source, when known.
        index: 0-based message index, when known.
    """

    source: str | None = None
    line: int | None = None
    index: int | None = None


class EngineNotFoundError(PerdureError):
    """No installed distribution offers the requested engine.

    Attributes:
        requested: The name from the configuration.
        available: Names that are installed, sorted.
        nearest: Closest installed or published names.
        pip_line: Install command, only for engines that this project publishes.
    """

    requested: str = ""
    available: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    pip_line: str | None = None


class EngineConflictError(PerdureError):
    """Two distributions offer one engine name, or a reserved name is offered by a stranger.

    Attributes:
        engine: The contested name.
        distributions: `name version` of every distribution that offers it, sorted.
    """

    engine: str = ""
    distributions: tuple[str, ...] = ()


class EngineLoadError(PerdureError):
    """An engine's package could not be imported, or its factory failed.

    Attributes:
        engine: Entry-point name.
        distribution: `name version` of the distribution, when known.
    """

    engine: str = ""
    distribution: str | None = None


class EngineContractError(PerdureError):
    """An engine does not fit the hookspec.

    Attributes:
        engine: Entry-point name.
        hook: Hook (or method) concerned.
        declared: What the engine declares.
        expected: What the hookspec has.
    """

    engine: str = ""
    hook: str = ""
    declared: str = ""
    expected: str = ""


class EngineCallError(PerdureError):
    """A hook of the engine raised.

    Attributes:
        engine: Entry-point name.
        hook: Hook that raised.
        trigger: Trigger of the compaction, when the hook was `compress`.
    """

    engine: str = ""
    hook: str = ""
    trigger: str | None = None


class InvariantError(PerdureError):
    """A message list breaks a rule that every list leaving us must keep.

    Attributes:
        rule: Name of the rule, such as `tool_pairs`.
        found: What was found instead.
        index: 0-based index of the message concerned, when there is one.
    """

    rule: str = ""
    found: str = ""
    index: int | None = None


class SummarizerError(PerdureError):
    """The summary model could not be used or gave an answer that cannot be used.

    Attributes:
        failure: One of auth, quota, network, timeout, overflow, empty, truncated, refused,
            malformed.
        provider: Provider or model named by the caller, when known.
        retry_after_s: Seconds to wait before another try, when known.
    """

    failure: str = ""
    provider: str | None = None
    retry_after_s: float | None = None


class ContextOverflowError(PerdureError):
    """The request cannot be made small enough for the window.

    Attributes:
        tokens: Tokens of the smallest request that was reached.
        window: Tokens that the model accepts as input.
        attempts: Compactions that were tried.
        largest: (message index, role, tokens) of the largest messages, largest first.
    """

    tokens: int = 0
    window: int = 0
    attempts: int = 0
    largest: tuple[tuple[int, str, int], ...] = ()


class StoreError(PerdureError):
    """A durable store could not be read or written.

    Attributes:
        path: File of the store.
        operation: What was being done.
        safe: What is certainly not lost.
        is_transient: True when waiting and trying again may help (locked, busy).
    """

    path: str = ""
    operation: str = ""
    safe: str = ""
    is_transient: bool = False


class PerdureWarning(UserWarning):
    """Category of every warning that Perdure issues."""
