"""What the models know of their keys: sections, paths, and the numbers that each takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


def section_at(model: type[BaseModel], path: Sequence[str]) -> type[BaseModel] | None:
    """Return the model of a section by the path of its key, or None when there is none."""
    for part in path:
        field = model.model_fields.get(part)
        annotation = field.annotation if field else None
        found = [
            candidate
            for candidate in (annotation, *getattr(annotation, "__args__", ()))
            if isinstance(candidate, type) and issubclass(candidate, BaseModel)
        ]
        if not found:
            return None
        model = found[0]
    return model


def paths_of(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """Yield the path of every key and section."""
    for name in model.model_fields:
        yield f"{prefix}{name}"
        section = section_at(model, (name,))
        if section is not None:
            yield from paths_of(section, f"{prefix}{name}.")


_BOUNDS = {
    "exclusiveMinimum": "above",
    "minimum": "at least",
    "exclusiveMaximum": "below",
    "maximum": "at most",
}


def allowed_at(model: type[BaseModel], path: Sequence[str]) -> str:
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
