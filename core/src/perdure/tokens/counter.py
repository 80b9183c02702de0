"""Counts messages and tool definitions; what was counted once is looked up afterwards."""

from __future__ import annotations

from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from perdure.known import Known
from perdure.messages import digest as digest_of
from perdure.tokens.encodings import encoding
from perdure.tokens.estimate import estimate_tokens
from perdure.tokens.framing import REQUEST_TOKENS, Charge, message_charges, tool_charges
from perdure.transcript import Entry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from tiktoken import Encoding

    from perdure.protocols import TokenCounter
    from perdure.types import ToolSchema

PIECE_CHARS = 20_000
"""Texts are encoded in pieces: tokenisers are quadratic in, or give up on, very long runs."""
GENERATION_ENTRIES = 100_000


class Counter:
    """Counts with one function for texts; see `ExactCounter` and `EstimatingCounter`."""

    def __init__(self, text_tokens: Callable[[str], int]) -> None:
        """Take the function that counts a text."""
        self._text_tokens = text_tokens
        self._known: Known[int] = Known(GENERATION_ENTRIES)

    @property
    def name(self) -> str:
        """What counts."""
        return "estimate"

    @property
    def is_exact(self) -> bool:
        """Whether the count is that of the model's own tokeniser."""
        return False

    def count_text(self, text: str) -> int:
        """Return the tokens of a text; what looks like a special token is just text."""
        return self._text_tokens(text)

    def count_message(self, message: Mapping[str, Any], digest: bytes | None = None) -> int:
        """Return the tokens of one message with its framing.

        Args:
            message: The message.
            digest: `messages.digest(message)` when the caller has it already.
        """
        key = digest or _digest(message)
        known = self._known.get(key) if key else None
        if known is None:
            known = self._sum(message_charges(message))
            if key:
                self._known.put(key, known)
        return known

    def count_messages(self, messages: Iterable[Entry | Mapping[str, Any]]) -> int:
        """Return the tokens of a list of messages; see the function of this name."""
        return count_messages(self, messages)

    def count_tools(self, tools: Sequence[ToolSchema | Mapping[str, Any]]) -> int:
        """Return the tokens of tool definitions, in any provider's shape."""
        return sum(self._sum(map(self._remembered, tool_charges(tool))) for tool in tools)

    def _remembered(self, charge: Charge) -> int:
        """Price a charge that will come again with every request."""
        if isinstance(charge, int):
            return charge
        key = blake2b(charge.encode("utf-8", "surrogatepass"), digest_size=20).digest()
        known = self._known.get(key)
        if known is None:
            known = self.count_text(charge)
            self._known.put(key, known)
        return known

    def _sum(self, charges: Iterable[Charge]) -> int:
        return sum(x if isinstance(x, int) else self._text_tokens(x) for x in charges)


class ExactCounter(Counter):
    """Counts as OpenAI's tokenisers do; estimates when the vocabulary is not on this machine."""

    def __init__(self, encoding_name: str) -> None:
        """Take the name of the encoding; it is loaded when something is first counted."""
        super().__init__(self._exact)
        self._encoding_name = encoding_name
        self._encoding: Encoding | None = None
        self._is_loaded = False

    @property
    def name(self) -> str:
        """The encoding, or `estimate` when it cannot be had."""
        return self._encoding_name if self._loaded() else super().name

    @property
    def is_exact(self) -> bool:
        """Whether the vocabulary is on this machine."""
        return self._loaded() is not None

    def _loaded(self) -> Encoding | None:
        if not self._is_loaded:
            self._encoding = encoding(self._encoding_name)
            self._is_loaded = True
        return self._encoding

    def _exact(self, text: str) -> int:
        chosen = self._loaded()
        if chosen is None:
            return estimate_tokens(text)
        return sum(_encoded(chosen, piece) for piece in pieces(text))


class EstimatingCounter(Counter):
    """Counts for models whose tokeniser is not public."""

    def __init__(self) -> None:
        """Need nothing."""
        super().__init__(estimate_tokens)


def count_messages(counter: TokenCounter, messages: Iterable[Entry | Mapping[str, Any]]) -> int:
    """Return the tokens of a list of messages, with the framing of the request.

    Entries bring their digest along, which makes counting a grown list a matter of look-ups.
    """
    return REQUEST_TOKENS + sum(
        counter.count_message(item.message, item.digest)
        if isinstance(item, Entry)
        else counter.count_message(item)
        for item in messages
    )


def pieces(text: str) -> Sequence[str]:
    """Return the text in pieces of at most 20,000 characters.

    They are cut after a line end or else before a blank, where tokens end anyway, so that the sum
    over the pieces is the count of the whole but for texts without either.
    """
    if len(text) <= PIECE_CHARS:
        return (text,)
    cut: list[str] = []
    start = 0
    while start < len(text):
        end = _cut(text, start)
        cut.append(text[start:end])
        start = end
    return cut


def _cut(text: str, start: int) -> int:
    end = start + PIECE_CHARS
    if end >= len(text):
        return len(text)
    middle = start + PIECE_CHARS // 2
    line = text.rfind("\n", middle, end)
    if line > 0:
        return line + 1
    blank = text.rfind(" ", middle, end)
    return blank if blank > 0 else end


def _encoded(chosen: Encoding, piece: str) -> int:
    """Count a piece; never raises, whatever the tokeniser does with it."""
    try:
        return len(chosen.encode_ordinary(piece))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException:  # noqa: BLE001 - a Rust panic is no Exception
        return estimate_tokens(piece)


def _digest(message: Mapping[str, Any]) -> bytes | None:
    """Return what identifies a message, or None when it is no JSON data."""
    try:
        return digest_of(message)
    except (AttributeError, TypeError, ValueError, RecursionError):
        return None
