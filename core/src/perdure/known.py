"""What was worked out once and may be wanted again: a bounded store by digest."""

from __future__ import annotations

from typing import Generic, TypeVar

V = TypeVar("V")


class Known(Generic[V]):
    """A bounded store: two generations, of which the older is dropped as a whole.

    Single dict operations are atomic, so that threads may share it; at worst something is worked
    out twice.
    """

    def __init__(self, entries: int) -> None:
        """Take how many entries a generation holds."""
        self._entries = entries
        self._young: dict[bytes, V] = {}
        self._old: dict[bytes, V] = {}

    def get(self, key: bytes) -> V | None:
        """Return what is held, or None; what is used stays."""
        found = self._young.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self.put(key, found)
        return found

    def put(self, key: bytes, value: V) -> None:
        """Keep a value."""
        if len(self._young) >= self._entries:
            self._old, self._young = self._young, {}
        self._young[key] = value

    def __len__(self) -> int:
        """Return the number of values held."""
        return len(self._young) + len(self._old)
