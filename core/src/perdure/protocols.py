"""What the kernel needs from the world, as protocols; `perdure.session` injects the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from perdure.types import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager

    from perdure.messages import Message
    from perdure.transcript import Entry, Replacement, View
    from perdure.types import ToolSchema


class Clock(Protocol):
    """Seconds since the epoch."""

    def __call__(self) -> float:
        """Return the current time."""


@runtime_checkable
class TokenCounter(Protocol):
    """Counts tokens. Counting the same message again costs a look-up."""

    @property
    def name(self) -> str:
        """Encoding or estimate in use, such as `o200k_base` or `estimate`."""

    @property
    def is_exact(self) -> bool:
        """Whether the count is that of the model's own tokeniser."""

    def count_text(self, text: str) -> int:
        """Return the tokens of a text; text that looks like a special token is just text."""

    def count_message(self, message: Mapping[str, Any], digest: bytes | None = None) -> int:
        """Return the tokens of one message with its framing.

        Args:
            message: The message.
            digest: `messages.digest(message)` when the caller has it already.
        """

    def count_tools(self, tools: Sequence[ToolSchema | Mapping[str, Any]]) -> int:
        """Return the tokens of tool definitions, in any provider's shape."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletionRequest:
    """One question to the summary model.

    Attributes:
        messages: System message first, then one user message; never with tools.
        max_output_tokens: Limit for the answer.
        timeout_s: Deadline of the call, retries included.
        purpose: What it is for, such as `summary`; for accounting.
    """

    messages: tuple[Message, ...]
    max_output_tokens: int
    timeout_s: float
    purpose: str = "summary"


@dataclass(frozen=True, kw_only=True, slots=True)
class CompletionResult:
    """The model's answer.

    Attributes:
        finish_reason: As providers say it: `stop`, `length`, `tool_calls`, `content_filter`.
    """

    text: str
    finish_reason: str = "stop"
    usage: Usage = field(default_factory=Usage)
    model: str = ""


class Completer(Protocol):
    """Asks the summary model; raises `SummarizerError` and nothing else when it fails."""

    @property
    def context_length(self) -> int | None:
        """Tokens of input that the summary model accepts; None when unknown."""

    def __call__(self, request: CompletionRequest) -> CompletionResult:
        """Return the answer."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchHit:
    """One place in the originals that answers a search.

    Attributes:
        ref: Handle of the original.
        offset: Character offset of the excerpt in the original's text.
        excerpt: The lines found.
        score: Larger is better; comparable within one answer only.
        user_ref: Handle of the message of the user that came before, where it is known.
        user_text: How that message starts.
        next_ref: Handle of the message that came right after, where it is known.
        next_text: How that message starts.
    """

    ref: str
    offset: int
    excerpt: str
    score: float
    role: str = ""
    user_ref: str = ""
    user_text: str = ""
    next_ref: str = ""
    next_text: str = ""


class BlobStore(Protocol):
    """The session's content-addressed store of originals."""

    def put_message(self, message: Mapping[str, Any], digest: bytes | None = None) -> str:
        """Store a message and return its `ref:` handle; storing it again returns the same one."""

    def put_messages(
        self,
        messages: Sequence[Message],
        *,
        first: int | None = None,
        raws: Sequence[object] = (),
    ) -> list[str]:
        """Store many messages in one transaction and return their handles in order.

        `first` is the transcript position of the first one, if they stand there in a row; `raws`
        are the provider's own items, None where a message has none.
        """

    def put_range(self, refs: Iterable[str]) -> str:
        """Store an ordered list of handles and return the handle that stands for all of them."""

    def message(self, ref: str) -> Message:
        """Return the message behind a handle; raises `StoreError` when there is none."""

    def members(self, ref: str) -> list[str]:
        """Return the message handles behind a handle, in order, ranges opened up."""

    def text(self, ref: str) -> str:
        """Return the readable text behind a handle, a range as a transcript."""

    def search(self, query: str, limit: int = 10) -> list[SearchHit]:
        """Return the places that fit a query in natural words, best first."""


class WireCopy(Protocol):
    """A request in a provider's shape."""

    @property
    def messages(self) -> Sequence[Mapping[str, Any]]:
        """The messages (or items) to send."""

    @property
    def warnings(self) -> Sequence[str]:
        """What a person should know about the request."""


class Codec(Protocol):
    """Reads and writes the formats of providers."""

    def parse(
        self, messages: object, hint: str = "openai", *, is_more: bool = False
    ) -> tuple[list[Entry], str, list[Mapping[str, Any]]]:
        """Return entries, name of the format, and tool definitions found in a request body.

        `hint` names the format where the messages leave it open; `is_more` tells that these follow
        what was parsed before.
        """

    def behind_known(self, messages: object) -> tuple[object, list[Mapping[str, Any]]] | None:
        """Return what follows in a history behind the known part of it, and a body's tools.

        None when the history parts from what is known.
        """

    def wire(self, view: View, format_or_dialect: str) -> WireCopy:
        """Return what would be sent; raises `InvariantError` when it cannot be made valid."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What a session has to remember to go on exactly where it stopped.

    Attributes:
        replacements: Those of the view.
        length: Transcript messages that had been seen.
        chain: Chain hash of the transcript at `length`.
        handoffs: Fingerprints of every handoff that this session has made.
        engine: Name of the engine that wrote `engine_state`.
        engine_state: The engine's own JSON-able state.
    """

    replacements: tuple[Replacement, ...] = ()
    length: int = 0
    chain: str = ""
    compaction_count: int = 0
    handoffs: tuple[str, ...] = ()
    engine: str = ""
    engine_state: Any = None


class SessionStore(Protocol):
    """Keeps one session's snapshot; the only commit point."""

    def load(self) -> Snapshot | None:
        """Return the stored snapshot, or None for a new session."""

    def newer(self) -> Snapshot | None:
        """Return what another holder has committed since the last load or save, or None."""

    def save(self, snapshot: Snapshot) -> bool:
        """Store the snapshot; False when another holder has moved the session on."""

    def hold(self, *, waits: bool = False) -> AbstractContextManager[bool]:
        """Keep others from compacting meanwhile; False when one does, after waiting for it."""


class SessionHistory(Protocol):
    """The view of a session; its only writer."""

    view: View
    format: str
    snapshot: Snapshot

    def append(self, messages: object) -> int:
        """Add new messages; returns the transcript position of the first of them."""

    def load(self, messages: object) -> tuple[int, list[Mapping[str, Any]]]:
        """Take a whole history; returns the first new position and tools of a request body."""

    def catch_up(self) -> bool:
        """Take over what another holder has committed; False when that changes nothing."""

    def commit(self, made: Iterable[Replacement], *, engine: str, state: Any = None) -> bool:  # noqa: ANN401
        """Store originals, then the view with `made` in place; False when another was faster."""
