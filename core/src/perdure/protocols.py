"""What the kernel needs from the world, as protocols; `perdure.session` injects the real ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from perdure.types import Usage

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

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
        self, messages: object, hint: str = "openai"
    ) -> tuple[list[Entry], str, list[Mapping[str, Any]]]:
        """Return entries, name of the format, and tool definitions found in a request body.

        `hint` names the format where the messages leave it open.
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

    def save(self, snapshot: Snapshot) -> bool:
        """Store the snapshot; False when another holder has moved the session on."""
