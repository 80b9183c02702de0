"""Many fragments of regular expressions as one that fails fast.

An alternation of a thousand fragments is tried one after another at every word. Put together by
their first letters, nearly all of them fail at one comparison.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LITERAL = re.compile(r"[^\W_](?![?*+{])|[ -](?![?*+{])")
_PART = re.compile(r"\\.|\[(?:\\.|[^\]\\])+\]|.")
_QUANTIFIERS = tuple("?*+{")
_DEPTH = 6


def combined(fragments: Iterable[str]) -> str:
    """Return one alternation that matches wherever one of the fragments does.

    Which of several fitting fragments matches is not kept, so they may hold no groups that capture.
    """
    opened = {part for fragment in fragments for part in _opened(fragment)}
    return _by_first(sorted(opened), _DEPTH)


def _by_first(fragments: list[str], depth: int) -> str:
    groups: dict[str, list[str]] = defaultdict(list)
    for fragment in fragments:
        found = _LITERAL.match(fragment) if depth else None
        first = found[0] if found else ""
        groups[first].append(fragment[len(first) :])
    parts = groups.pop("", [])
    for first, tails in groups.items():
        only = len(tails) == 1
        parts.append(first + (tails[0] if only else f"(?:{_by_first(tails, depth - 1)})"))
    return "|".join(parts)


def _opened(fragment: str) -> Iterator[str]:
    """Yield the alternatives of a fragment, those of a leading group included."""
    alternatives = list(_alternatives(fragment))
    if len(alternatives) > 1:
        for alternative in alternatives:
            yield from _opened(alternative)
        return
    end = _group_end(fragment) if fragment.startswith("(?:") else 0
    if not end or fragment.startswith(_QUANTIFIERS, end):
        yield fragment
        return
    for alternative in _alternatives(fragment[3 : end - 1]):
        yield from _opened(alternative + fragment[end:])


def _alternatives(fragment: str) -> Iterator[str]:
    depth = start = 0
    for part in _PART.finditer(fragment):
        depth += (part[0] == "(") - (part[0] == ")")
        if part[0] == "|" and not depth:
            yield fragment[start : part.start()]
            start = part.end()
    yield fragment[start:]


def _group_end(fragment: str) -> int:
    depth = 0
    for part in _PART.finditer(fragment):
        depth += (part[0] == "(") - (part[0] == ")")
        if not depth:
            return part.end()
    return 0
