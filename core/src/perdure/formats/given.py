"""Recognises a history that a host hands in again and again, at the cost of what is new.

Most hosts keep one list and give it with every request. Its known part is compared by `list`'s own
equality, which takes the same object for equal at once. A host may have changed an object in place,
though: the newest messages, where that happens, are looked at every time, older ones in turn.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import blake2b
from typing import Any

SHORT = 512
NEWEST = 16
IN_TURN = 32
_LISTS = ("messages", "input")


class Given:
    """What a host has handed in so far, as the objects that it gave."""

    def __init__(self) -> None:
        """Nothing has been given yet."""
        self._items: list[Any] = []
        self._marks: list[bytes] = []
        self._beside: dict[str, Any] = {}
        self._turn = 0

    def take(self, messages: object, *, is_more: bool) -> None:
        """Remember what was handed in, as a whole history or as what follows the known one."""
        items, beside = parts_of(messages)
        if not is_more:
            self._items, self._marks, self._beside = [], [], beside
        self._items += items
        self._marks += map(_mark, items)

    def behind(self, messages: object) -> list[Any] | None:
        """Return the items behind the known ones; None when the known ones are not all there."""
        items, beside = parts_of(messages)
        known = len(self._items)
        if not known or len(items) < known or beside != self._beside:
            return None
        if items[:known] != self._items or not self._is_unchanged(items):
            return None
        return items[known:]

    def _is_unchanged(self, items: list[Any]) -> bool:
        """Return whether the newest objects, and some older ones, still say what they said."""
        known = len(self._items)
        start = self._turn if self._turn < known else 0
        self._turn = start + IN_TURN
        if known <= SHORT:
            return list(map(_mark, items[:known])) == self._marks
        looked_at = {*range(known - NEWEST, known), *range(start, min(known, self._turn))}
        return all(self._marks[index] == _mark(items[index]) for index in looked_at)


def parts_of(messages: object) -> tuple[list[Any], dict[str, Any]]:
    """Return the items of a list or body, and what else of a body belongs to the history."""
    if isinstance(messages, Mapping):
        name = next((name for name in _LISTS if isinstance(messages.get(name), list)), None)
        beside = {key: messages[key] for key in ("system", "instructions") if key in messages}
        return (messages[name], {"in": name, **beside}) if name else ([], {})
    if isinstance(messages, list):
        return messages, {}
    return [], {}


def _mark(item: object) -> bytes:
    """Return a digest of all that an item holds, cache marks included."""
    text = json.dumps(item, default=str)
    return blake2b(text.encode("ascii"), digest_size=8).digest()
