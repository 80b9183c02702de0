"""What images and files cost: by rule and size, never by the length of their base64 text."""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Mapping
from typing import Any

TILE_PIXELS = 512
TILE_TOKENS = 170
BASE_TOKENS = 85
UNKNOWN_IMAGE_TOKENS = BASE_TOKENS + 4 * TILE_TOKENS
"""An image whose size cannot be known: four tiles, as for a picture of 1024 x 1024."""
MAX_SIDE = 2048
SHORT_SIDE = 768
FILE_BYTES_PER_TOKEN = 12
MIN_FILE_TOKENS = 250
MAX_FILE_TOKENS = 50_000
_HEADER_CHARS = 65_536


def image_tokens(part: Mapping[str, Any]) -> int:
    """Return the tokens of an image part of any provider, by OpenAI's tile rule.

    Other providers price by area within the same order of magnitude.
    """
    source = _source(part)
    if str(_detail(part)) == "low":
        return BASE_TOKENS
    size = _size(_header(source)) if source else None
    if size is None:
        return UNKNOWN_IMAGE_TOKENS
    width, height = size
    scale = min(1.0, MAX_SIDE / max(width, height, 1))
    width, height = width * scale, height * scale
    scale = min(1.0, SHORT_SIDE / max(1.0, min(width, height)))
    tiles = math.ceil(width * scale / TILE_PIXELS) * math.ceil(height * scale / TILE_PIXELS)
    return BASE_TOKENS + TILE_TOKENS * max(1, tiles)


def file_tokens(base64_chars: int) -> int:
    """Return a price for a file or sound of which only the base64 length is known."""
    estimate = base64_chars * 3 // 4 // FILE_BYTES_PER_TOKEN
    return min(MAX_FILE_TOKENS, max(MIN_FILE_TOKENS, estimate))


def _detail(part: Mapping[str, Any]) -> object:
    inner = part.get("image_url")
    return inner.get("detail") if isinstance(inner, Mapping) else part.get("detail")


def _source(part: Mapping[str, Any]) -> str:
    """Return the start of the base64 data, or nothing for a remote image."""
    inner = part.get("image_url")
    url = inner.get("url") if isinstance(inner, Mapping) else inner
    if isinstance(url, str) and url.startswith("data:"):
        return url.partition(",")[2][:_HEADER_CHARS]
    source = part.get("source")
    data = source.get("data") if isinstance(source, Mapping) else part.get("data")
    return data[:_HEADER_CHARS] if isinstance(data, str) else ""


def _header(text: str) -> bytes:
    try:
        return base64.b64decode(text[: len(text) // 4 * 4].encode("ascii", "ignore"))
    except (binascii.Error, ValueError):
        return b""


def _size(data: bytes) -> tuple[float, float] | None:
    """Return width and height from the header of a PNG, GIF, WebP or JPEG."""
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n":
            return struct.unpack(">II", data[16:24])
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return struct.unpack("<HH", data[6:10])
        if data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8X":
            return (
                1 + int.from_bytes(data[24:27], "little"),
                1 + int.from_bytes(data[27:30], "little"),
            )
        if data[:4] == b"RIFF" and data[8:16] == b"WEBPVP8 ":
            width, height = struct.unpack("<HH", data[26:30])
            return width & 0x3FFF, height & 0x3FFF
        return _jpeg_size(data) if data[:2] == b"\xff\xd8" else None
    except struct.error:
        return None


def _jpeg_size(data: bytes) -> tuple[float, float] | None:
    position = 2
    while position + 9 < len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        # Frame headers hold the size; 0xC4, 0xC8 and 0xCC in their range are something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            return width, height
        position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return None
