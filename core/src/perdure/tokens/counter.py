"""Counts messages and tool definitions; what was counted once is looked up afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure.messages import call_arguments, call_name, tool_calls_of
from perdure.messages import digest as digest_of
from perdure.tokens import media
from perdure.tokens.encodings import encoding
from perdure.tokens.estimate import estimate_tokens
from perdure.types import ToolSchema

if TYPE_CHECKING:
    from tiktoken import Encoding

MESSAGE_TOKENS = 3
"""Framing of one message; the role is counted with it."""
ROLE_TOKENS = 1
CALL_TOKENS = 6
TOOL_TOKENS = 8
PIECE_CHARS = 20_000
"""Texts are encoded in pieces: tokenisers are quadratic in, or give up on, very long runs."""
CACHE_ENTRIES = 200_000
_IMAGES = frozenset({"image", "image_url", "input_image"})
_MAX_DEPTH = 50


class Counter:
    """Counts with one function for texts; see `ExactCounter` and `EstimatingCounter`."""

    name = ""
    is_exact = False

    def __init__(self, text_tokens: Callable[[str], int]) -> None:
        """Take the function that counts a text."""
        self._text_tokens = text_tokens
        self._messages: dict[bytes, int] = {}

    def count_text(self, text: str) -> int:
        """Return the tokens of a text; what looks like a special token is just text."""
        return self._text_tokens(text)

    def count_message(self, message: Mapping[str, Any], digest: bytes | None = None) -> int:
        """Return the tokens of one message with its framing.

        Args:
            message: The message.
            digest: `messages.digest(message)` when the caller has it already.
        """
        key = digest or digest_of(message)
        known = self._messages.get(key)
        if known is None:
            if len(self._messages) >= CACHE_ENTRIES:
                self._messages.clear()
            known = self._messages[key] = self._message_tokens(message)
        return known

    def count_messages(self, messages: Sequence[Mapping[str, Any]]) -> int:
        """Return the tokens of a list of messages, with the framing of the request."""
        return MESSAGE_TOKENS + sum(self.count_message(message) for message in messages)

    def count_tools(self, tools: Sequence[ToolSchema | Mapping[str, Any]]) -> int:
        """Return the tokens of tool definitions, in any provider's shape."""
        return sum(TOOL_TOKENS + self.count_text(_tool_text(tool)) for tool in tools)

    def _message_tokens(self, message: Mapping[str, Any]) -> int:
        total = MESSAGE_TOKENS + ROLE_TOKENS + self._content_tokens(message.get("content"), 0)
        for key in ("name", "reasoning_content", "refusal"):
            if isinstance(message.get(key), str):
                total += self.count_text(message[key])
        for call in tool_calls_of(message):
            total += CALL_TOKENS + self.count_text(call_name(call))
            total += self.count_text(call_arguments(call))
        return total

    def _content_tokens(self, content: object, depth: int) -> int:
        if isinstance(content, str):
            return self.count_text(content)
        if not isinstance(content, list) or depth > _MAX_DEPTH:
            return 0
        return sum(
            self.count_text(part) if isinstance(part, str) else self._part_tokens(part, depth)
            for part in content
        )

    def _part_tokens(self, part: object, depth: int) -> int:
        if not isinstance(part, Mapping):
            return 0
        if part.get("type") in _IMAGES:
            return media.image_tokens(part)
        total = 0
        for key, value in part.items():
            if key in ("type", "cache_control", "id"):
                continue
            if isinstance(value, str):
                total += self._value_tokens(value)
            elif key == "content":
                total += self._content_tokens(value, depth + 1)
            elif isinstance(value, (dict, list)):
                total += self._data_tokens(value)
        return total

    def _value_tokens(self, value: str) -> int:
        return media.file_tokens(len(value)) if _is_base64(value) else self.count_text(value)

    def _data_tokens(self, value: object) -> int:
        """Count nested data as JSON, its base64 payloads by size."""
        payloads: list[int] = []
        text = json.dumps(_without_payloads(value, payloads, 0), ensure_ascii=False, default=str)
        return self.count_text(text) + sum(map(media.file_tokens, payloads))


class ExactCounter(Counter):
    """Counts as OpenAI's tokenisers do; estimates when the vocabulary is not on this machine."""

    def __init__(self, name: str) -> None:
        """Take the name of the encoding; it is loaded when something is first counted."""
        super().__init__(self._exact)
        self._encoding_name = name
        self._encoding: Encoding | None = None
        self._is_loaded = False

    @property
    def name(self) -> str:  # type: ignore[override]
        """The encoding, or `estimate` when it cannot be had."""
        return self._encoding_name if self._loaded() else EstimatingCounter.name

    @property
    def is_exact(self) -> bool:  # type: ignore[override]
        """Whether the vocabulary is on this machine."""
        return self._loaded() is not None

    def _loaded(self) -> Encoding | None:
        if not self._is_loaded:
            self._encoding, self._is_loaded = encoding(self._encoding_name), True
        return self._encoding

    def _exact(self, text: str) -> int:
        chosen = self._loaded()
        if chosen is None:
            return estimate_tokens(text)
        return sum(_encoded(chosen, piece) for piece in pieces(text))


class EstimatingCounter(Counter):
    """Counts for models whose tokeniser is not public."""

    name = "estimate"

    def __init__(self) -> None:
        """Need nothing."""
        super().__init__(estimate_tokens)


def pieces(text: str) -> Sequence[str]:
    """Return the text in pieces of about 20,000 characters, cut at line ends or blanks."""
    if len(text) <= PIECE_CHARS:
        return (text,)
    cut: list[str] = []
    start = 0
    while start < len(text):
        end = start + PIECE_CHARS
        if end < len(text):
            at = max(text.rfind("\n", start + PIECE_CHARS // 2, end), 0)
            at = at or max(text.rfind(" ", start + PIECE_CHARS // 2, end), 0)
            end = at or end
        cut.append(text[start:end])
        start = end
    return cut


def _encoded(chosen: Encoding, piece: str) -> int:
    """Count a piece; never raises, whatever the tokeniser does with it."""
    try:
        return len(chosen.encode_ordinary(piece))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a Rust panic is no Exception
        return estimate_tokens(piece)


def _is_base64(value: str) -> bool:
    """Return whether a long text is encoded data: no blank or line end in its first part."""
    if len(value) < 1_000:
        return False
    if value.startswith("data:") and ";base64," in value[:200]:
        return True
    head = value[:1_000]
    return head.isascii() and head.replace("+", "").replace("/", "").replace("=", "").isalnum()


def _without_payloads(value: object, payloads: list[int], depth: int) -> object:
    if depth > _MAX_DEPTH:
        return "..."
    if isinstance(value, str) and _is_base64(value):
        payloads.append(len(value))
        return ""
    if isinstance(value, Mapping):
        return {k: _without_payloads(v, payloads, depth + 1) for k, v in value.items()}
    if isinstance(value, list):
        return [_without_payloads(item, payloads, depth + 1) for item in value]
    return value


def _tool_text(tool: ToolSchema | Mapping[str, Any]) -> str:
    if isinstance(tool, ToolSchema):
        tool = {
            "name": tool.name,
            "description": tool.description,
            "parameters": dict(tool.parameters),
        }
    inner = tool.get("function")
    described = inner if isinstance(inner, Mapping) else tool
    return json.dumps(described, ensure_ascii=False, separators=(",", ":"), default=str)
