"""The nearest known name for one that is not known, for messages."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def nearest(
    word: str, choices: Iterable[str], *, count: int = 1, cutoff: float = 0.6
) -> tuple[str, ...]:
    """Return the choices closest to a word, best first; capitals and hyphens do not count.

    Args:
        word: What somebody wrote.
        choices: What they may have meant.
        count: How many to return at most.
        cutoff: Likeness between 0 and 1 below which nothing is suggested.
    """
    folded: dict[str, str] = {}
    for choice in sorted(choices):
        folded.setdefault(_folded(choice), choice)
    # The comparison is quadratic, and no name is this long.
    close = difflib.get_close_matches(_folded(word[:200]), folded, n=count, cutoff=cutoff)
    return tuple(folded[name] for name in close)


def _folded(name: str) -> str:
    return name.lower().replace("-", "_")
