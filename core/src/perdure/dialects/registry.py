"""Dialects by name."""

from __future__ import annotations

from difflib import get_close_matches

from perdure.dialects.dialect import (
    AnthropicDialect,
    Dialect,
    OpenAIDialect,
    ResponsesDialect,
    StrictDialect,
)
from perdure.errors import ConfigError

_DIALECTS: dict[str, Dialect] = {
    made.name: made
    for made in (OpenAIDialect(), StrictDialect(), AnthropicDialect(), ResponsesDialect())
}

NAMES: tuple[str, ...] = tuple(_DIALECTS)
"""Names of all dialects."""


def get(name: str) -> Dialect:
    """Return the dialect of a name; raises `ConfigError` with the nearest name otherwise."""
    found = _DIALECTS.get(name) if isinstance(name, str) else None
    if found is not None:
        return found
    near = get_close_matches(str(name), NAMES, n=1, cutoff=0.4)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    text = f"dialect {name!r} is unknown; use one of {', '.join(map(repr, NAMES))}{hint}"
    raise ConfigError(text, key="dialect", nearest=near[0] if near else None)
