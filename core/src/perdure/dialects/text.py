"""Strings on the wire: what UTF-8 can carry, and what counts as empty."""

from __future__ import annotations

import re
from typing import Any

_SURROGATE = re.compile("[\ud800-\udfff]")


def is_encodable(value: Any) -> bool:  # noqa: ANN401 - JSON-like data
    """Return whether every string in JSON-like data can be written as UTF-8."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, str):
            if not item.isascii() and _SURROGATE.search(item):
                return False
        elif isinstance(item, dict):
            waiting += item.keys()
            waiting += item.values()
        elif isinstance(item, (list, tuple)):
            waiting += item
    return True


def encodable(value: Any) -> Any:  # noqa: ANN401 - JSON-like data
    """Return JSON-like data that UTF-8 can carry; the same object where it already can.

    Two surrogates that make a pair become the character they stand for (a text that was cut into
    UTF-16 units and joined again); a lone one becomes U+FFFD.
    """
    return value if is_encodable(value) else _encodable(value)


def _encodable(value: Any) -> Any:  # noqa: ANN401 - JSON-like data
    if isinstance(value, str):
        return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    if isinstance(value, dict):
        return {_encodable(key): _encodable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_encodable(item) for item in value]
    return value


def is_blank(text: object) -> bool:
    """Return whether a text is missing, empty or made of white space alone."""
    return text is None or (isinstance(text, str) and not text.strip())


def is_blank_part(part: object) -> bool:
    """Return whether a content part is a text part without text."""
    if isinstance(part, str):
        return is_blank(part)
    return (
        isinstance(part, dict)
        and part.get("type") in ("text", "input_text", "output_text")
        and is_blank(part.get("text"))
    )
