"""How ordinary a line is among the lines beside it: rows of a listing, code, passed tests.

A template is known by its form, the punctuation with every word alike, as in log parsing (He, Zhu,
Zheng and Lyu, "Drain", 2017), and by its words, each of which stands in many other lines.
"""

from __future__ import annotations

import math
import re
import sys
from collections import Counter
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_FORM_CHARS = 60
_ALNUM = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_CACHED_LINES = 50_000
_SPARED = 3.0
"""Lines keep their whole worth until their rarest word, or their form, stands in about four."""


def form_of(text: str) -> str:
    """Return the form of a line: the start of its punctuation, with every word alike."""
    return _ALNUM.sub("a", text[:_FORM_CHARS])


def earlier_alike(texts: Sequence[str]) -> list[int]:
    """Return for each line how many lines of the same form stand before it."""
    seen: Counter[str] = Counter()
    found = []
    for form in map(form_of, texts):
        found.append(seen[form])
        seen[form] += 1
    return found


def rarity(texts: Sequence[str]) -> list[float]:
    """Return for each line how far it stands out from all: 1 for its own words or form, towards 0.

    Lines are compared by their rarest word and by their form; the rarer of both counts.
    """
    looks = [_look_of(text) for text in texts]
    spread = Counter(word for _, words in looks for word in words)
    alike = Counter(form for form, _ in looks)
    return [
        _rare(min(alike[form], min(map(spread.__getitem__, words), default=1)))
        for form, words in looks
    ]


@lru_cache(maxsize=_CACHED_LINES)
def _look_of(text: str) -> tuple[str, tuple[str, ...]]:
    """Return the form and the words of a line, each once; the words are shared between lines."""
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return sys.intern(form_of(text)), tuple(map(sys.intern, words))


@lru_cache(maxsize=1024)
def _rare(uses: int) -> float:
    return min(1.0, _SPARED / (1 + math.log2(uses)))
