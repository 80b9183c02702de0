"""Frozen, keyword-only records that cross the boundary between core, engines and hosts.

Token quantities end in `_tokens`, times in `_s`. `None` always means unknown, never zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import logging
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from perdure.messages import Message
    from perdure.protocols import BlobStore, Clock, Completer, TokenCounter
    from perdure.transcript import Replacement, View

Range = tuple[int, int]
"""An inclusive (first, last) pair of message indexes."""


class Trigger(str, Enum):
    """Why a compaction is asked for."""

    PREFLIGHT = "preflight"
    AFTER_RESPONSE = "after_response"
    OVERFLOW = "overflow"
    GATEWAY = "gateway"
    MANUAL = "manual"

    @property
    def forced(self) -> bool:
        """Whether the caller needs the compaction even if no threshold asks for it."""
        return self in (Trigger.OVERFLOW, Trigger.MANUAL)


class Reason(str, Enum):
    """What became of a request to compress."""

    DONE = "done"
    NOOP = "noop"
    BUSY = "busy"
    BLOCKED = "blocked"
    FAILED = "failed"


class TurnOutcome(str, Enum):
    """How a turn of the agent ended."""

    COMPLETED = "completed"
    INTERRUPTED = "interrupted"
    FAILED = "failed"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionRef:
    """Names a session; `is_resumed` is true when it existed before this opening."""

    session_id: str
    is_resumed: bool = False
    parent_id: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelInfo:
    """The model that receives the requests. Never carries credentials.

    Attributes:
        context_length: Tokens of input and output together that the model accepts.
        max_tokens: Tokens reserved for the answer; None when the host sets no limit.
    """

    name: str = ""
    context_length: int
    max_tokens: int | None = None
    provider: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What a provider said about one request, in one dialect for all providers.

    Attributes:
        prompt_tokens: The whole prompt, cached or not.
    """

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Budget:
    """The numbers that decide when to compress and how far.

    Attributes:
        context_length: The model's window.
        max_tokens: Reserve for the answer, or None.
        input_tokens: E, what the input may take.
        trigger_tokens: A request at or above this is compressed.
        hygiene_tokens: The outer line; nothing but a failure lets a request pass it.
        fixed_tokens: System messages and tool schemas, which no engine can shrink.
        target_tokens: What a compaction has to get to or below.
        tail_tokens: Budget of the verbatim tail.
        protect_first_n: Messages after the system message that stay until the first compaction.
    """

    context_length: int
    max_tokens: int | None
    input_tokens: int
    trigger_tokens: int
    hygiene_tokens: int
    fixed_tokens: int
    target_tokens: int
    tail_tokens: int
    protect_first_n: int = 3

    @property
    def room_tokens(self) -> int:
        """R: what the trigger leaves beside the fixed part, at least 1."""
        return max(1, self.trigger_tokens - self.fixed_tokens)


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """A yes or no with its reason and the numbers used; truthy like the bool it carries."""

    should: bool
    reason: str = ""
    numbers: Mapping[str, int] = field(default_factory=dict)

    def __bool__(self) -> bool:
        """Return the decision."""
        return self.should


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """What model calls on behalf of the context have cost."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def __add__(self, other: Cost) -> Cost:
        """Return the sum of both."""
        return Cost(
            calls=self.calls + other.calls,
            prompt_tokens=self.prompt_tokens + other.prompt_tokens,
            completion_tokens=self.completion_tokens + other.completion_tokens,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Compression:
    """The outcome of a request to compress.

    An engine returns one with `replacements` (see `View.replace`), or with `messages` alone when it
    only drops messages: core then finds out what was dropped. The façade fills in the rest.

    Attributes:
        messages: From an engine: the new list. From the façade: what to send now, in the format
            of the messages that were handed in.
        replacements: What stands in place of what, in transcript positions.
        reason: What became of the request.
        detail: One sentence for people: why nothing was done, or what was.
        tokens_before: Tokens of the messages before, without tool schemas.
        tokens_after: Tokens of the messages after.
        summarised: Ranges of the input that a summary stands for.
        pruned: Ranges of the input whose messages were shortened.
        dropped: Ranges of the input that left without a stand-in.
        ledger: Facts carried word for word, by section.
        fallback_used: True when something stood in for what was asked for, such as the
            extractive digest for a model, or the built-in for the selected engine.
        warnings: Sentences for people about what went wrong or was given up.
        cost: Model calls made for this compaction.
        view: The session's view after the request (façade only).
        engine: Name of the engine that answered (façade only).
        duration_s: Wall time of the request (façade only).
    """

    messages: Sequence[Message] = ()
    replacements: tuple[Replacement, ...] = ()
    reason: Reason = Reason.DONE
    detail: str = ""
    tokens_before: int | None = None
    tokens_after: int | None = None
    summarised: tuple[Range, ...] = ()
    pruned: tuple[Range, ...] = ()
    dropped: tuple[Range, ...] = ()
    ledger: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    fallback_used: bool = False
    warnings: tuple[str, ...] = ()
    cost: Cost = field(default_factory=Cost)
    view: View | None = None
    engine: str = ""
    duration_s: float = 0.0

    def __bool__(self) -> bool:
        """Return whether the message list changed."""
        return self.reason is Reason.DONE


@dataclass(frozen=True, kw_only=True, slots=True)
class ToolSchema:
    """A tool offered to the agent.

    Attributes:
        parameters: JSON Schema of the arguments object.
    """

    name: str
    description: str
    parameters: Mapping[str, Any]


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineStatus:
    """What the user sees about a session's engine.

    Attributes:
        last_prompt_tokens: Last real prompt; None = never known, -1 = just compacted and awaiting.
        details: What the engine wants to add; plain JSON-able values.
    """

    engine: str = ""
    requested_engine: str = ""
    last_prompt_tokens: int | None = None
    trigger_tokens: int | None = None
    hygiene_tokens: int | None = None
    context_length: int | None = None
    compaction_count: int = 0
    quarantined: str | None = None
    failures: tuple[str, ...] = ()
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class EngineContext:
    """Everything an engine's factory gets; made by core, one per session.

    Attributes:
        options: The engine's own options from `context.engines.<name>`: an instance of the
            factory's `Options` model when it has one, else a plain mapping.
        model: The model that receives the requests.
        counter: Counts tokens as the model does, or as close as can be known.
        complete: Asks the summary model, or None when none is configured. Credentials, timeout
            and cost accounting are inside; nothing of them is visible here.
        background: Runs a function while the provider answers; order is kept per session.
        cancelled: True once the session is ending; long work should look at it.
        blobs: The session's store of originals.
        data_dir: Directory for this engine alone (0700), or None in a session without one.
        clock: Wall clock in seconds since the epoch.
        dispatches_tools: Whether the host offers the engine's tools to the agent; text may name
            a tool only then.
        load: Reads the engine's own durable state, or None.
        save: Stores the engine's own durable state (JSON-able) with the next commit.
    """

    session: SessionRef
    model: ModelInfo
    options: Any
    counter: TokenCounter
    blobs: BlobStore
    logger: logging.Logger
    complete: Completer | None = None
    background: Callable[[Callable[[], None]], None]
    cancelled: Callable[[], bool]
    data_dir: Path | None = None
    clock: Clock
    dispatches_tools: bool = False
    load: Callable[[], Any]
    save: Callable[[Any], None]
