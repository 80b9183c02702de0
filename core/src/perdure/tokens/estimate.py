"""Tokens of a text for models whose tokeniser is not public: by script and by kind of text.

Rates were measured against o200k_base and cl100k_base and lie near the higher of the two, since a
count that is too low is the dangerous one. Numbers, hashes and base64 are told from words, because
they take two to four times the tokens of prose of the same length.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

# One alternative per kind of run; the name of the group says how it is priced. A blank before a
# digit is a token of its own, before anything else it belongs to what follows; a sign before a
# letter mostly belongs to the word.
_RUN = re.compile(
    r"(?P<gap>[ \t](?=[0-9]))"
    r"|(?P<space>[ \t]+)"
    r"|(?P<line>[\r\n]+)"
    r"|(?P<blob>(?=[A-Za-z+/_=-]{0,24}\d)[A-Za-z0-9+/_=-]{20,})"
    r"|(?P<long>[A-Za-z]{13,})"
    r"|(?P<word>[A-Za-z]+)"
    r"|(?P<number>[0-9]+)"
    r"|(?P<joined>[!-/:-@\[-`{-~]+(?=[A-Za-z]))"
    r"|(?P<sign>[!-/:-@\[-`{-~]+)"
    r"|(?P<latin>[\u00c0-\u00ff\u1e00-\u1eff]+)"
    r"|(?P<slavic>[\u0100-\u024f]+)"
    r"|(?P<greek>[\u0370-\u03ff\u1f00-\u1fff]+)"
    r"|(?P<cyrillic>[\u0400-\u052f]+)"
    r"|(?P<kana>[\u3040-\u30ff\uff66-\uff9f]+)"
    r"|(?P<han>[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+)"
    r"|(?P<hangul>[\u1100-\u11ff\uac00-\ud7af]+)"
    r"|(?P<wide>[\u3000-\u303f\uff00-\uff65\u2000-\u206f]+)"
    r"|(?P<hebrew>[\u0530-\u05ff]+)"
    r"|(?P<arabic>[\u0600-\u07ff]+)"
    r"|(?P<indic>[\u0900-\u0aff]+)"
    r"|(?P<southern>[\u0b00-\u0dff]+)"
    r"|(?P<asian>[\u0e00-\u109f\u1200-\u137f\u1780-\u17ff]+)"
    r"|(?P<symbol>[\u2070-\u2bff])(?P=symbol)*"
    r"|(?P<other>.)",
    re.DOTALL,
)
# A blob is told from a long path or a dashed name by how often its characters change kind.
_CHANGE = re.compile(r"[0-9](?=[A-Za-z])|[A-Za-z](?=[0-9])|[a-z](?=[A-Z])")
_BLOB_CHANGES_PER_CHAR = 0.16
_PIECE = re.compile(r"[A-Z]?[a-z]+|[A-Z]+|[0-9]+|[^A-Za-z0-9]+")

TOKENS_PER_CHAR = {
    "blob": 0.70,
    "latin": 0.95,
    "slavic": 2.00,
    "greek": 1.05,
    "cyrillic": 0.46,
    "kana": 0.95,
    "han": 1.15,
    "hangul": 1.05,
    "wide": 0.95,
    "hebrew": 1.10,
    "arabic": 0.76,
    "indic": 1.12,
    "southern": 1.50,
    "asian": 1.05,
    "other": 2.80,
}
_WORD = [0.0, *(1.02 + max(0, n - 6) * 0.11 + max(0, n - 9) * 0.12 for n in range(1, 13))]


def estimate_tokens(text: str) -> int:
    """Return about as many tokens as a model's own tokeniser would; rather more than fewer."""
    total = 0.0
    for run in _RUN.finditer(text):
        kind = run.lastgroup
        length = run.end() - run.start()
        if kind == "word":
            total += _WORD[length]
        elif kind == "space":
            total += 0.0 if length == 1 else 0.9 + length / 80
        elif kind == "joined":
            total += 0.05 + 0.5 * length
        elif kind == "sign":
            total += _signs(length)
        elif kind in _PRICED:
            total += _PRICED[kind](run[0])
        else:
            total += TOKENS_PER_CHAR[str(kind)] * length
    return int(total) + 1 if text else 0


def _signs(length: int) -> float:
    """Price a run of ASCII punctuation; long rulers cost little."""
    return 0.45 + 0.5 * length if length <= 8 else 4.0 + length / 12


def _pieces(text: str) -> float:
    """Price a long run by the words, numbers and signs that it is made of."""
    total = 0.0
    for piece in _PIECE.finditer(text):
        length = piece.end() - piece.start()
        first = piece[0][0]
        if first.isdigit():
            total += -(-length // 3)
        elif first.isalpha():
            total += _WORD[length] if length <= 12 else _WORD[12] + (length - 12) * 0.2
        else:
            total += 0.5 + 0.3 * length
    return total


def _blob(text: str) -> float:
    """Price a long run of letters, digits and signs: random data, or a name made of words."""
    changes = sum(1 for _ in _CHANGE.finditer(text))
    if changes >= len(text) * _BLOB_CHANGES_PER_CHAR:
        return TOKENS_PER_CHAR["blob"] * len(text)
    return _pieces(text)


_PRICED: dict[str | None, Callable[[str], float]] = {
    "gap": lambda _: 1.0,
    "number": lambda text: float(-(-len(text) // 3)),
    "line": lambda text: 0.8 + len(text) / 40,
    "long": _blob,
    "blob": _blob,
    "symbol": lambda text: 1.0 + min(len(text), 4) * 0.3 + len(text) / 8,
}
