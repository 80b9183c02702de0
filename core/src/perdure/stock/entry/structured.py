"""JSON shortened: its shape stays, of every list the leading rows, of every long text the start."""

from __future__ import annotations

import json
from typing import Any

_STEPS = ((12, 400), (6, 240), (3, 160), (2, 80), (1, 40), (0, 24))
MAX_DEPTH = 12


def shorten_json(text: str, chars: int) -> str:
    """Return valid-looking JSON of about `chars` characters, with counts of what is left out."""
    value = json.loads(text)
    short = ""
    for rows, string_chars in _STEPS:
        short = json.dumps(_cut(value, rows, string_chars, 0), ensure_ascii=False)
        if len(short) <= chars:
            return short
    return short[:chars]


def _cut(value: Any, rows: int, string_chars: int, depth: int) -> Any:  # noqa: ANN401 - JSON data
    if isinstance(value, str) and len(value) > string_chars:
        return f"{value[:string_chars]}… ({len(value):,} characters)"
    if isinstance(value, dict):
        if depth >= MAX_DEPTH:
            return f"({len(value)} keys)"
        return {key: _cut(item, rows, string_chars, depth + 1) for key, item in value.items()}
    if isinstance(value, list):
        if depth >= MAX_DEPTH:
            return f"({len(value)} entries)"
        kept = [_cut(item, rows, string_chars, depth + 1) for item in value[: max(rows, 1)]]
        left = len(value) - len(kept)
        return [*kept, f"… {left:,} more of {len(value):,}"] if left > 0 else kept
    return value
