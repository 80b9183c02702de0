"""Tokens of a text for models whose tokeniser is not public: by script and by kind of text.

The text is first split as byte-pair tokenisers split it (words with one sign or blank before them,
groups of three digits, runs of signs, runs of blanks), which alone settles numbers, hashes and
layout. What a piece of letters costs beyond its first token depends on how usual its pairs of
letters are; scripts without such a table have a rate per character. Everything was fitted to the
larger of the counts of o200k_base and cl100k_base, since a count that is too low is the dangerous
one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from perdure.tokens.digrams import COMMON_HAN, CYRILLIC, LATIN, SIGNS

if TYPE_CHECKING:
    from collections.abc import Iterator

SLICE_CHARS = 100_000
"""Long texts are split slice by slice, to bound memory."""
_CACHED_CHARS = 48

_PIECE = re.compile(
    r"'(?:[sdmtSDMT]|ll|ve|re|LL|VE|RE)(?![^\W\d_])"
    r"|(?:[^\r\n\w]|_)?[^\W\d_]+"
    r"|\d{1,3}"
    r"| ?(?:[^\s\w]|_)+[\r\n]*"
    r"|\s*[\r\n]+"
    r"|\s+(?!\S)"
    r"|\s"
)
_RUN = re.compile(
    r"(?P<latin>[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+)"
    r"|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<sign>[!-/:-@\[-`{-~]+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_REPEATED = re.compile(r"([!-~\u2500-\u257f])\1{3,}")
_TURN = re.compile(r"(.)(?!\1)", re.DOTALL)
_HUMP = re.compile(r"[a-z](?=[A-Z])")

_RARE = 1.1
"""Languages with few texts in the fit need somewhat more than it says."""
_JOINED = {"_": 0.1, ".": 0.15, "/": 0.2, "-": 0.2, "(": 0.3}
_FREE = 0.5
"""Pairs up to this sum cost nothing: words that are usual as a whole."""
_HUMP_TOKENS = 0.5
_REPEATED_LETTER, _REPEATED_SIGN = 0.125, 0.017
_BLANKS_PER_TOKEN, _LINES_PER_TOKEN = 128, 12
_TURN_TOKENS = 0.45

# (first code point after the block, tokens a character)
_BLOCKS = (
    (0x80, 1.0),  # control characters
    (0xC0, 1.2),
    (0x370, 2.0),
    (0x400, 1.0),  # Greek
    (0x530, 0.7),
    (0x590, 2.0),  # Armenian
    (0x600, 1.1),  # Hebrew
    (0x680, 0.84),  # Arabic
    (0x700, 1.5),
    (0x900, 2.0),
    (0x980, 1.12),  # Devanagari
    (0xA00, 1.35),  # Bengali
    (0xB80, 1.9),
    (0xC00, 1.5),  # Tamil
    (0xE00, 1.85),
    (0xE80, 0.95),  # Thai
    (0x1100, 1.95),
    (0x1200, 2.0),
    (0x1780, 2.8),
    (0x1800, 1.75),  # Khmer
    (0x1E00, 2.8),
    (0x2000, 2.2),
    (0x2070, 1.1),  # dashes and quotation marks
    (0x2190, 2.0),
    (0x2200, 2.2),  # arrows
    (0x2500, 2.0),
    (0x2580, 1.7),  # box drawing
    (0x2800, 2.0),
    (0x3000, 2.7),
    (0x3040, 1.05),  # punctuation of Chinese and Japanese
    (0x30A0, 1.05),  # Hiragana
    (0x3100, 1.2),  # Katakana
    (0x4E00, 2.9),
    (0xA000, 2.2),  # Han; the usual ones cost one token
    (0xAC00, 3.0),
    (0xD7B0, 1.3),  # Hangul
    (0xE000, 1.0),  # lone surrogates
    (0xFB00, 2.9),
    (0xFE00, 2.0),
    (0xFE10, 1.0),  # variation selectors
    (0xFF00, 2.0),
    (0xFF10, 1.05),  # full-width punctuation
    (0xFFF0, 1.8),
    (0x10000, 1.0),
    (0x1F000, 3.7),
    (0x20000, 2.85),  # emoji
    (0x110000, 3.7),
)
_ENDS = [end for end, _ in _BLOCKS]


def estimate_tokens(text: str) -> int:
    """Return about as many tokens as a model's own tokeniser would; rather more than fewer."""
    total = 0.0
    for start in range(0, len(text), SLICE_CHARS):
        for piece in _PIECE.findall(text[start : start + SLICE_CHARS]):
            total += _known_price(piece) if len(piece) <= _CACHED_CHARS else _price(piece)
    return int(total) + 1 if text else 0


def _price(piece: str) -> float:
    """Price one piece; no piece is less than a token."""
    if piece.isdecimal() and piece.isascii():
        return 1.0
    if piece.isspace():
        return _blanks(piece)
    body = piece.strip(" \r\n\t") if len(piece) > 1 else piece
    squeezed = _REPEATED.sub(r"\1\1\1", body)
    rate = _REPEATED_LETTER if body[-1:].isalpha() else _REPEATED_SIGN
    repeats = rate * (len(body) - len(squeezed)) + (len(piece) - len(body)) // _LINES_PER_TOKEN
    return max(1.0, repeats + sum(_run_prices(squeezed)))


def _blanks(piece: str) -> float:
    """Price white space: long indents are one token, mixed white space is not."""
    turns = sum(1 for _ in _TURN.finditer(piece))
    per_token = _BLANKS_PER_TOKEN if turns == 1 and piece[0] == " " else 16
    return 1 + len(piece) // per_token + max(0, turns - 2) * _TURN_TOKENS


def _run_prices(piece: str) -> Iterator[float]:
    for run in _RUN.finditer(piece):
        text = run[0]
        if run.lastgroup == "latin":
            humps = sum(1 for _ in _HUMP.finditer(text)) * _HUMP_TOKENS
            yield 1 + max(0.0, _RARE * _pairs(_LATIN, _folded(text)) + humps - _FREE)
        elif run.lastgroup == "cyrillic":
            yield 1 + max(0.0, _pairs(_CYRILLIC, _slavic(text)))
        elif run.lastgroup == "sign":
            # A sign before letters belongs to the word as often as not.
            is_joined = len(text) == 1 < len(piece)
            yield _JOINED.get(text, 0.5) if is_joined else 1 + max(0.0, _pairs(_SIGNS, text))
        else:
            yield _rate(text)


def _pairs(table: dict[str, float], text: str) -> float:
    return sum(table[a + b] for a, b in pairwise(text))


def _folded(text: str) -> str:
    if text.isascii():
        return text.lower()
    return "".join(
        letter if letter.isascii() else "{" if letter < "\u0100" else "|" for letter in text.lower()
    )


def _slavic(text: str) -> str:
    return "".join(x if "\u0430" <= x <= "\u044f" else "\u0450" for x in text.lower())


@lru_cache(maxsize=4096)
def _rate(character: str) -> float:
    if character in COMMON_HAN:
        return 1.0
    return _BLOCKS[bisect_right(_ENDS, ord(character))][1]


def _table(rows: tuple[str, ...], alphabet: str) -> dict[str, float]:
    return {
        first + second: (int(cell, 36) - 3) / 10
        for first, row in zip(alphabet, rows, strict=True)
        for second, cell in zip(alphabet, row, strict=True)
    }


_LATIN = _table(LATIN, "abcdefghijklmnopqrstuvwxyz{|")
_CYRILLIC = _table(CYRILLIC, "".join(map(chr, range(0x430, 0x451))))
_SIGNS = _table(SIGNS, "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_known_price = lru_cache(maxsize=65_536)(_price)
