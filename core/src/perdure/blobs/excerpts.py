"""Cuts the lines around a place out of a text."""

from __future__ import annotations

LEAD_BYTES = 160
"""Most that is shown before a place; what follows tells more."""


def shortened(text: str, budget_bytes: int) -> str:
    """Return the start of a text."""
    return text[: _chars(text, budget_bytes)]


def window(text: str, place: tuple[int, int], budget_bytes: int) -> tuple[int, int]:
    """Return (start, end) around a place, whole lines where they fit, within about `budget_bytes`.

    Bytes of UTF-8 stand for tokens: a token holds about four of them in any script.
    """
    start, end = place
    left = budget_bytes - _size(text[start:end])
    if left <= 0:
        return start, min(end, start + _chars(text[start:end], budget_bytes))
    lead = min(LEAD_BYTES, left // 2)
    before = text[max(0, start - lead) : start]
    kept = before[len(before) - _chars(before[::-1], lead) :]
    if len(kept) < start:
        kept = kept[kept.find("\n") + 1 :] if "\n" in kept else ""
    left -= _size(kept)
    after = text[end : end + left]
    after = after[: _chars(after, left)]
    if end + len(after) < len(text) and "\n" in after:
        after = after[: after.rfind("\n")]
    return start - len(kept), end + len(after)


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _chars(text: str, budget_bytes: int) -> int:
    """Return how many characters of a text fit into a number of bytes."""
    return len(text.encode("utf-8", "replace")[: max(0, budget_bytes)].decode("utf-8", "ignore"))
