"""What images, sounds and files cost: by rule and size, never as the text of their base64."""

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
BYTES_PER_TOKEN = {"audio": 500, "video": 500, "text": 4}
"""Sounds cost by their length: 10 to 30 tokens a second, at some 5 to 15 kB a second."""
OTHER_BYTES_PER_TOKEN = 12
MIN_FILE_TOKENS = 250
"""Also the price of a file that is only named, by an id or an address."""
MAX_FILE_TOKENS = 50_000
_HEADER_CHARS = 65_536

Size = tuple[float, float]


def image_tokens(part: Mapping[str, Any]) -> int:
    """Return the tokens of an image part of any provider, by OpenAI's tile rule.

    Other providers price by area, within the same order of magnitude.
    """
    if _detail(part) == "low":
        return BASE_TOKENS
    source = _base64_start(part)
    size = image_size(_decoded(source)) if source else None
    return UNKNOWN_IMAGE_TOKENS if size is None else _tile_tokens(size)


def _tile_tokens(size: Size) -> int:
    width, height = size
    scale = min(1.0, MAX_SIDE / max(width, height, 1))
    width, height = width * scale, height * scale
    scale = min(1.0, SHORT_SIDE / max(1.0, min(width, height)))
    tiles = math.ceil(width * scale / TILE_PIXELS) * math.ceil(height * scale / TILE_PIXELS)
    return BASE_TOKENS + TILE_TOKENS * max(1, tiles)


def payload_tokens(base64_chars: int, media_type: str = "") -> int:
    """Return a price for data of which the length and perhaps the media type are known."""
    kind = media_type.partition("/")[0]
    per_token = BYTES_PER_TOKEN.get(kind, OTHER_BYTES_PER_TOKEN)
    estimate = base64_chars * 3 // 4 // per_token
    # Text is read as it is, so its price has no upper bound.
    return max(MIN_FILE_TOKENS, estimate if kind == "text" else min(MAX_FILE_TOKENS, estimate))


# ------------------------------------------------------------------------------- where it stands


def data_url(value: str) -> tuple[str, int] | None:
    """Return media type and base64 length of a data URL, or None for any other text."""
    if not value.startswith("data:"):
        return None
    head, comma, _ = value[:256].partition(",")
    if not comma or not head.endswith(";base64"):
        return None
    return head[5:].partition(";")[0], len(value) - len(head) - 1


def _detail(part: Mapping[str, Any]) -> object:
    inner = part.get("image_url")
    return inner.get("detail") if isinstance(inner, Mapping) else part.get("detail")


def _base64_start(part: Mapping[str, Any]) -> str:
    """Return the start of the base64 data, or nothing for a remote image."""
    for key in ("image_url", "image", "source", "url", "data"):
        value = part.get(key)
        if isinstance(value, Mapping):
            value = value.get("url") or value.get("data")
        if isinstance(value, str):
            if data_url(value):
                return value[: _HEADER_CHARS + 256].partition(",")[2]
            # Bare base64 stands under these two keys only.
            return value[:_HEADER_CHARS] if key in ("source", "data") else ""
    return ""


def _decoded(text: str) -> bytes:
    clean = "".join(text.split()).rstrip("=")
    try:
        return base64.b64decode(clean[: len(clean) // 4 * 4].encode("ascii", "ignore"))
    except (binascii.Error, ValueError):
        return b""


# ------------------------------------------------------------------------------- headers


def image_size(data: bytes) -> Size | None:
    """Return width and height from the header of a PNG, GIF, WebP or JPEG, or None."""
    try:
        if data[:8] == b"\x89PNG\r\n\x1a\n":
            return struct.unpack(">II", data[16:24])
        if data[:6] in (b"GIF87a", b"GIF89a"):
            return struct.unpack("<HH", data[6:10])
        if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
            return _webp_size(data)
        return _jpeg_size(data) if data[:2] == b"\xff\xd8" else None
    except struct.error:
        return None


def _webp_size(data: bytes) -> Size | None:
    kind = data[12:16]
    if kind == b"VP8X" and len(data) >= 30:
        width, height = data[24:27], data[27:30]
        return 1 + int.from_bytes(width, "little"), 1 + int.from_bytes(height, "little")
    if kind == b"VP8L":
        (bits,) = struct.unpack("<I", data[21:25])
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    if kind == b"VP8 ":
        width, height = struct.unpack("<HH", data[26:30])
        return width & 0x3FFF, height & 0x3FFF
    return None


def _jpeg_size(data: bytes) -> Size | None:
    position = 2
    while position + 9 < len(data) and data[position] == 0xFF:
        marker = data[position + 1]
        # Frame headers hold the size; 0xC4, 0xC8 and 0xCC in their range are something else.
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            height, width = struct.unpack(">HH", data[position + 5 : position + 9])
            return width, height
        position += 2 + int.from_bytes(data[position + 2 : position + 4], "big")
    return None
