"""What a blob holds: exact JSON under its digest, packed when that pays."""

from __future__ import annotations

import hashlib
import json
import zlib
from typing import TYPE_CHECKING, Any

from perdure.errors import StoreError
from perdure.messages import call_arguments, call_name, text_of, tool_calls_of
from perdure.sqlite import storable

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

PREFIX = "ref:"
DIGEST_BYTES = 16
SMALL_BYTES = 1_024
"""Smaller contents are stored as they are: compressing them gains little and costs most."""
MESSAGE, RANGE, RAW = 0, 1, 2
_JSON = json.JSONEncoder(ensure_ascii=True, separators=(",", ":"), default=str)
"""One encoder for all: `json.dumps` makes a new one for every value that it writes so."""


class Content:
    """A value on its way into the store.

    Attributes:
        kind: `MESSAGE`, `RANGE` (a list of handles) or `RAW` (a provider's item).
        data: The value as JSON in ASCII, so that lone surrogates survive.
        role: Role of a message.
        position: Its place in the transcript, when known.
        raw: The provider's own item that the message was read from.
    """

    __slots__ = ("data", "digest", "kind", "position", "raw", "role")

    def __init__(
        self,
        kind: int,
        value: object,
        role: str = "",
        position: int | None = None,
        raw: object = None,
    ) -> None:
        """Take a value; raises `StoreError` when it is no JSON."""
        self.kind, self.role, self.position, self.raw = kind, role, position, raw
        try:
            text = _JSON.encode(value)
        except (TypeError, ValueError, RecursionError) as error:
            text = f"this cannot be stored, since it is no JSON: {error}"
            raise StoreError(
                text, path="", operation="storing originals", safe="nothing was changed"
            ) from error
        self.data = text.encode("ascii")
        self.digest = digest_of(kind, self.data)

    def is_more_than(self, known: Container[bytes]) -> bool:
        """Return whether storing it would change a store that knows these digests."""
        return self.digest not in known or self.position is not None or self.raw is not None

    def row(self) -> tuple[bytes, int, int, bytes]:
        """Return digest, kind, whether the bytes are packed, and the bytes."""
        if len(self.data) <= SMALL_BYTES:
            return self.digest, self.kind, 0, self.data
        return self.digest, self.kind, 1, zlib.compress(self.data, 1)


def digest_of(kind: int, data: bytes) -> bytes:
    """Return what identifies a content."""
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES, person=bytes([kind])).digest()


def value_of(digest: bytes, kind: int, is_packed: int, data: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return the value of a stored row; raises `ValueError` when the row is damaged."""
    try:
        content = zlib.decompress(data) if is_packed else data
    except (zlib.error, TypeError) as error:
        raise ValueError(str(error)) from error
    if digest_of(kind, content) != digest:
        text = "its digest differs"
        raise ValueError(text)
    return json.loads(content)


def readable(message: Mapping[str, Any]) -> str:
    """Return what a person reads of a message: its text and its calls."""
    lines = [text_of(message)]
    lines += [f"{call_name(call)} {call_arguments(call)}" for call in tool_calls_of(message)]
    return "\n".join(line for line in lines if line)


def role_of(message: Mapping[str, Any]) -> str:
    """Return the role as a text that SQLite takes."""
    return storable(str(message.get("role", "")))


def handle_of(ref: str) -> str:
    """Return a handle in full, also when it was given without its prefix."""
    return storable(ref if ref.startswith(PREFIX) else PREFIX + ref)
