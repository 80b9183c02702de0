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
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_FORM_CHARS = 60
_ALNUM = re.compile(r"[^\W_]+")
_WORD = re.compile(r"[^\W\d_]{3,}")
_SPARED = 3.0
"""Lines keep their whole worth until their rarest word, or their form, stands in about four."""


class Look(NamedTuple):
    """The form of a line, and its words, each once."""

    form: str
    words: tuple[str, ...]


def form_of(text: str) -> str:
    """Return the form of a line: the start of its punctuation, with every word alike."""
    return _ALNUM.sub("a", text[:_FORM_CHARS])


def earlier_alike(forms: Iterable[str]) -> list[int]:
    """Return for each line how many lines of the same form stand before it."""
    seen: Counter[str] = Counter()
    found = []
    for form in forms:
        found.append(seen[form])
        seen[form] += 1
    return found


def look_of(text: str) -> Look:
    """Return how a line looks; forms and words are shared between lines."""
    words = dict.fromkeys(_WORD.findall(text.lower()))
    return Look(sys.intern(form_of(text)), tuple(map(sys.intern, words)))


def rarity(looks: Sequence[Look]) -> list[float]:
    """Return for each line how far it stands out from all: 1 for its own words or form, towards 0.

    Lines are compared by their rarest word and by their form; the rarer of both counts.
    """
    spread = Counter(chain.from_iterable(look.words for look in looks))
    alike = Counter(look.form for look in looks)
    return [
        _rare(min(alike[form], min(map(spread.__getitem__, words), default=1)))
        for form, words in looks
    ]


@lru_cache(maxsize=1024)
def _rare(uses: int) -> float:
    return min(1.0, _SPARED / (1 + math.log2(uses)))
