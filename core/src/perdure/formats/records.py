"""What is read from a provider's format and what is written to one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from perdure.errors import InputError
from perdure.messages import digest
from perdure.transcript import Entry

if TYPE_CHECKING:
    from perdure.messages import Message
    from perdure.transcript import RawPart

Format = Literal["openai", "responses", "anthropic"]
"""A provider's request format: Chat Completions, Responses or Anthropic Messages."""

FORMATS: tuple[str, ...] = ("openai", "responses", "anthropic")
INPUT_FORMATS: tuple[str, ...] = (*FORMATS, "claude-code")


UNREADABLE = (RecursionError, TypeError, ValueError, AttributeError)
"""What walking through data raises that is nested too deeply or is no JSON (keys, cycles)."""
_DEEPEST = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Parsed:
    """What was read.

    Attributes:
        entries: The messages in order, each with the provider's raw form beside it.
        format: The provider format that the messages were written in.
        tools: Tool definitions of the request, as they came.
        file_format: `json` (a list), `object` (a request body), `jsonl` or `claude-code`.
        body: Every top-level key of a request body except the messages themselves, as it came,
            so that `{**parsed.body, **request.body()}` is a request again.
    """

    entries: list[Entry]
    format: Format
    tools: list[dict[str, Any]] = field(default_factory=list)
    file_format: str = "json"
    body: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """Messages in a provider's shape, ready to send.

    Attributes:
        messages: Chat messages, Anthropic messages, or Responses input items.
        system: What stands beside the messages: Anthropic `system` or Responses `instructions`,
            the object that was read when it is untouched; None for OpenAI chat and for none.
    """

    format: Format
    messages: list[dict[str, Any]]
    system: Any | None = None

    def body(self) -> dict[str, Any]:
        """Return the part of the request body that holds the conversation."""
        if self.format == "responses":
            beside, key = "instructions", "input"
        else:
            beside, key = "system", "messages"
        return {**({} if self.system is None else {beside: self.system}), key: self.messages}


def make_entry(
    message: Message, raw: RawPart | None, index: int, source: str | None = None
) -> Entry:
    """Return an entry; raises `InputError` when the message holds what JSON cannot say."""
    try:
        _check_depth(message.get("content"))
        return Entry(message, digest(message), raw)
    except UNREADABLE as cause:
        raise unreadable(index, source, cause) from cause


def _check_depth(content: object) -> None:
    """Raise `RecursionError` when content holds content in more levels than any format has."""
    level: list[object] = content if isinstance(content, list) else []
    for _ in range(_DEEPEST):
        below: list[object] = []
        for part in level:
            held = part.get("content") if isinstance(part, dict) else None
            below += held if isinstance(held, list) else ()
        if not below:
            return
        level = below
    raise RecursionError


def unreadable(index: int, source: str | None, cause: Exception) -> InputError:
    """Return the error for a message that is nested too deeply or is no JSON."""
    if isinstance(cause, RecursionError):
        found = "is nested too deeply to be read; flatten its content"
    else:
        found = f"cannot be written as JSON ({cause}); give plain dicts, lists, text and numbers"
    return InputError(f"message {index} {found}", source=source, index=index)
