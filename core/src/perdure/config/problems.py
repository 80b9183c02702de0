"""Turns what pydantic found into one error that names the key, the value and what is allowed."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from perdure.config.models import Config
from perdure.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import ValidationError

# Words that people know from other tools, for the hint only.
_ALSO_KNOWN = {"compression": "context.compression", "engine": "context.engine"}


def explained(
    error: ValidationError,
    *,
    prefix: str = "",
    source: str | None = None,
    lines: Mapping[str, int] | None = None,
    model: type[BaseModel] = Config,
) -> ConfigError:
    """Return a `ConfigError` for the first thing that is wrong.

    Args:
        error: What pydantic raised.
        prefix: Path of the section that was validated.
        source: File or variable that held the values.
        lines: Line by key path, where known.
        model: The model that was validated; knows the names of the keys.
    """
    first = error.errors()[0]
    parts = [str(part) for part in first["loc"]]
    key = ".".join(filter(None, [prefix, *parts]))
    line = (lines or {}).get(key)
    where = f"{source}:{line}" if source and line else source or "configuration"
    nearest = None
    if first["type"] == "extra_forbidden":
        known = _keys_at(model, parts[:-1])
        nearest = _nearest(parts[-1], known)
        message = f"{where}: unknown key {key!r}"
        message += f"; did you mean {nearest!r}?" if nearest else f"; known: {', '.join(known)}"
    else:
        # What stands where the name of a key's variable belongs may be the key itself.
        is_hidden = isinstance(first["input"], (dict, BaseModel)) or key.endswith("api_key_env")
        found = "" if is_hidden else f" {first['input']!r}"
        reason = _reason(first)
        message = f"{where}: {key}{found}: {reason}" if key else f"{where}: {reason}"
        allowed = _allowed(model, parts)
        if allowed:
            message += f"; allowed: {allowed}"
    return ConfigError(message, source=where, key=key or None, nearest=nearest)


def _reason(first: Mapping[str, Any]) -> str:
    context = first.get("ctx") or {}
    if {"gt", "ge", "lt", "le"} & set(context):
        return "is out of range"
    if first["type"] == "literal_error":
        return f"is not one of {context.get('expected')}"
    text = str(first["msg"]).removeprefix("Value error, ")
    return text[:1].lower() + text[1:]


_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}


def _allowed(model: type[BaseModel], path: list[str]) -> str:
    """Return the range of numbers that a key takes, in words; nothing for other keys."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    for part in path:
        for option in _options(schema, definitions):
            found = option.get("properties", {}).get(part, option.get("additionalProperties"))
            if isinstance(found, dict):
                schema = found
                break
        else:
            return ""
    for option in _options(schema, definitions):
        if option.get("type") in ("integer", "number"):
            bounds = [f"{word} {option[name]}" for name, word in _BOUNDS.items() if name in option]
            kind = "a whole number" if option["type"] == "integer" else "a number"
            return " ".join([kind, " and ".join(bounds)]).strip()
    return ""


def _options(schema: dict[str, Any], definitions: dict[str, Any]) -> list[dict[str, Any]]:
    """Return a schema with its alternatives, references looked up."""
    listed = [schema, *schema.get("anyOf", []), *schema.get("allOf", [])]
    return [
        definitions.get(option["$ref"].rpartition("/")[2], {}) if "$ref" in option else option
        for option in listed
    ]


def _keys_at(model: type[BaseModel], path: list[str]) -> list[str]:
    """Return the keys that the model has at a path."""
    for part in path:
        field = model.model_fields.get(part)
        annotation = field.annotation if field else None
        candidates = [annotation, *getattr(annotation, "__args__", ())]
        found = [c for c in candidates if isinstance(c, type) and issubclass(c, BaseModel)]
        if not found:
            return []
        model = found[0]
    return sorted(model.model_fields)


def _nearest(word: str, known: list[str]) -> str | None:
    if word.lower() in {"api_key", "apikey", "key", "token", "secret"}:
        return "api_key_env"
    close = difflib.get_close_matches(word.lower(), [*known, *_ALSO_KNOWN], n=1, cutoff=0.6)
    if not close:
        return None
    return close[0] if close[0] in known else _ALSO_KNOWN[close[0]]
