"""What the models know of their keys: sections, paths, and the numbers that each takes.

The models are ours, or the options of anybody's engine: these may be pydantic dataclasses, hold
themselves, or have fields that JSON has no words for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter
from pydantic.errors import PydanticUserError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from pydantic.fields import FieldInfo

DEEPEST = 5


def fields_of(model: object) -> Mapping[str, FieldInfo]:
    """Return the fields of a pydantic model or dataclass by name; nothing for other classes."""
    return getattr(model, "model_fields", None) or getattr(model, "__pydantic_fields__", {})


def section_at(model: type, path: Sequence[str]) -> type | None:
    """Return the model of a section by the path of its key, or None when there is none."""
    for part in path:
        field = fields_of(model).get(part)
        annotation = field.annotation if field else None
        candidates = (annotation, *getattr(annotation, "__args__", ()))
        found = [c for c in candidates if isinstance(c, type) and fields_of(c)]
        if not found:
            return None
        model = found[0]
    return model


def paths_of(model: type, prefix: str = "") -> Iterator[str]:
    """Yield the path of every key and section."""
    for name in fields_of(model):
        yield f"{prefix}{name}"
        section = section_at(model, (name,))
        if section is not None and prefix.count(".") < DEEPEST:
            yield from paths_of(section, f"{prefix}{name}.")


_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}


def allowed_at(model: type, path: Sequence[str]) -> str:
    """Return the range of numbers that a key takes, in words; nothing for other keys."""
    try:
        schema = TypeAdapter(model).json_schema()
    except PydanticUserError:
        return ""
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
