"""The Responses wire copy of a changed list, after the format has written it.

Works on items; an item that needs nothing stays the same object.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.clean import EMPTY_MESSAGE, EMPTY_RESULT
from perdure.dialects.responses import OUTPUT_OF, OUTPUTS, is_model_item, item_type
from perdure.dialects.text import encodable, is_blank, is_blank_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.dialects.problem import Notes

Item = dict[str, Any]


def tidied(items: Sequence[Item], notes: Notes, *, everywhere: bool = False) -> list[Item]:
    """Return items that the provider takes; with `everywhere`, calls and outputs matched in all."""
    if everywhere:
        items = _matched(items, notes)
    return [encodable(_filled(item)) for item in _followed(items, notes)]


def _matched(items: Sequence[Item], notes: Notes) -> list[Item]:
    """Return the items with one output for every call, but for those that are still running.

    Here an output may stand far behind its call, beyond messages, so that only the whole list
    tells what has lost its partner.
    """
    running: dict[str, int] = {}
    gone: set[int] = set()
    turn_at = -1
    for index, item in enumerate(items):
        kind, call = item_type(item), str(item.get("call_id"))
        if kind in OUTPUT_OF:
            gone |= {running[call]} if call in running else set()
            running[call] = index
        elif kind in OUTPUTS and running.pop(call, None) is None:
            gone.add(index)
        elif kind == "message" and item.get("role") == "user":
            turn_at = index
    gone |= {index for index in running.values() if index < turn_at}
    notes["dropped a call or an output whose partner is gone"] += len(gone)
    return [item for index, item in enumerate(items) if index not in gone]


def _followed(items: Sequence[Item], notes: Notes) -> list[Item]:
    """Return the items without reasoning whose next item is no longer the model's."""
    kept: list[Item] = []
    for item in items:
        if not is_model_item(item_type(item), item):
            while kept and item_type(kept[-1]) == "reasoning":
                kept.pop()
                notes["left out reasoning whose next item is gone"] += 1
        kept.append(item)
    return kept


def _filled(item: Item) -> Item:
    """Return the item without private keys and without blank content."""
    if any(str(key).startswith("_") for key in item):
        item = {key: value for key, value in item.items() if not str(key).startswith("_")}
    kind = item_type(item)
    key = "output" if kind in OUTPUTS else "content"
    if kind != "message" and key != "output":
        return item
    value = item.get(key)
    instead = EMPTY_RESULT if key == "output" else EMPTY_MESSAGE
    if isinstance(value, list):
        kept = [part for part in value if not is_blank_part(part)]
        same = kept and len(kept) == len(value)
        return item if same else {**item, key: kept or instead}
    return {**item, key: instead} if is_blank(value) else item
