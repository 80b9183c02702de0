"""Pictures are priced by their size, which is read from the header of the data URL."""

from __future__ import annotations

import base64
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tokens.media import (
    BASE_TOKENS,
    MIN_FILE_TOKENS,
    TILE_TOKENS,
    UNKNOWN_IMAGE_TOKENS,
    data_url,
    image_size,
    image_tokens,
    payload_tokens,
)


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height) + b"\x08\x02"


def gif(width: int, height: int) -> bytes:
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\x00\x00\x00"


def jpeg(width: int, height: int) -> bytes:
    thumbnail = b"\xff\xe1" + struct.pack(">H", 5_000) + bytes(4_998)
    table = b"\xff\xc4" + struct.pack(">H", 20) + bytes(18)
    frame = b"\xff\xc2" + struct.pack(">HBHH", 17, 8, height, width) + bytes(10)
    return b"\xff\xd8" + thumbnail + table + frame


def webp_lossy(width: int, height: int) -> bytes:
    frame = b"\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", width, height)
    return b"RIFF\x00\x00\x00\x00WEBPVP8 \x00\x00\x00\x00" + frame


def webp_lossless(width: int, height: int) -> bytes:
    bits = (width - 1) | (height - 1) << 14
    return b"RIFF\x00\x00\x00\x00WEBPVP8L\x00\x00\x00\x00\x2f" + struct.pack("<I", bits)


def webp_extended(width: int, height: int) -> bytes:
    sides = (width - 1).to_bytes(3, "little") + (height - 1).to_bytes(3, "little")
    return b"RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x10\x00\x00\x00" + sides


FORMATS = [png, gif, jpeg, webp_lossy, webp_lossless, webp_extended]


@pytest.mark.parametrize("made", FORMATS)
def test_size_is_read_from_the_header(made):
    assert image_size(made(1280, 720)) == (1280, 720)


@pytest.mark.parametrize("made", FORMATS)
def test_a_cut_header_has_no_size_and_does_not_raise(made):
    whole = made(1280, 720)

    for length in range(len(whole)):
        assert image_size(whole[:length]) in (None, (1280, 720))


@given(st.binary(max_size=60), st.sampled_from([b"", b"\xff\xd8", b"GIF89a", b"RIFFxxxxWEBPVP8 "]))
def test_any_bytes_have_a_size_or_none(data, start):
    image_size(start + data)


def url(data: bytes, kind: str = "png") -> str:
    return f"data:image/{kind};base64," + base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("size", "tiles"),
    [((10, 10), 1), ((512, 512), 1), ((1024, 1024), 4), ((2048, 4096), 6), ((8000, 100), 4)],
)
def test_tokens_follow_the_tiles_of_the_scaled_picture(size, tiles):
    part = {"type": "image_url", "image_url": {"url": url(png(*size))}}

    assert image_tokens(part) == BASE_TOKENS + tiles * TILE_TOKENS


def test_low_detail_has_the_base_price_wherever_it_is_said():
    for part in (
        {"type": "image_url", "image_url": {"url": url(png(4000, 4000)), "detail": "low"}},
        {"type": "input_image", "image_url": url(png(4000, 4000)), "detail": "low"},
    ):
        assert image_tokens(part) == BASE_TOKENS


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": url(png(512, 512))},
        {"type": "input_image", "image_url": url(png(512, 512)), "detail": "auto"},
        {"type": "image", "source": {"data": base64.b64encode(png(512, 512)).decode()}},
        {
            "type": "image",
            "data": base64.b64encode(png(512, 512)).decode(),
            "mimeType": "image/png",
        },
        {"type": "image", "image": url(png(512, 512))},
        {"type": "image", "source": {"data": base64.encodebytes(png(512, 512) * 9).decode()}},
    ],
)
def test_the_same_picture_has_one_price_in_every_shape(part):
    assert image_tokens(part) == BASE_TOKENS + TILE_TOKENS


@pytest.mark.parametrize(
    "part",
    [
        {},
        {"image_url": None},
        {"image_url": 7, "detail": ["low"]},
        {"image_url": {"url": "https://example.org/a.png"}},
        {"image_url": {"url": "data:image/png;base64,%%%"}},
        {"image_url": {"url": "data:image/svg+xml,<svg/>"}},
        {"source": {"type": "url", "url": "https://example.org/a.png"}},
        {"source": {"type": "file", "file_id": "file_1"}},
        {"source": {"data": b"bytes"}},
        {"source": {"data": "\ud800" * 40}},
    ],
)
def test_a_picture_of_unknown_size_has_a_flat_price(part):
    assert image_tokens(part) == UNKNOWN_IMAGE_TOKENS


@given(st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
def test_no_size_in_a_header_makes_a_price_absurd(width, height):
    part = {"image_url": {"url": url(png(width, height))}}

    assert BASE_TOKENS < image_tokens(part) <= BASE_TOKENS + 8 * TILE_TOKENS


def test_media_type_decides_what_a_byte_costs():
    assert payload_tokens(4_000_000, "audio/wav") < payload_tokens(4_000_000, "application/pdf")
    assert payload_tokens(4_000_000, "text/plain") == 750_000
    assert payload_tokens(10) == MIN_FILE_TOKENS


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("data:text/plain;base64,QUJD", ("text/plain", 4)),
        ("data:text/plain;charset=utf-8;base64,QUJD", ("text/plain", 4)),
        ("data:,plain", None),
        ("https://example.org", None),
        ("data:", None),
    ],
)
def test_data_urls_are_told_from_other_texts(value, found):
    assert data_url(value) == found
