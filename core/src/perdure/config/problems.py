"""Turns what pydantic found into one error that names each key, its value and what is allowed."""

from __future__ import annotations

import reprlib
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from perdure.config.keys import allowed_at, fields_of, paths_of, section_at
from perdure.config.models import SECRET, Config
from perdure.errors import ConfigError
from perdure.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pydantic import ValidationError

MOST_SHOWN = 10
SECRETS = frozenset({"api_key", "apikey", "api_token", "access_token", "secret_key", "password"})


class _Problem(NamedTuple):
    key: str
    source: str
    text: str
    nearest: str | None = None


def explained(
    error: ValidationError,
    *,
    prefix: str = "",
    model: type = Config,
    place: Callable[[str], str] | None = None,
) -> ConfigError:
    """Return a `ConfigError` with a line for each thing that is wrong; it has the first one's key.

    Args:
        error: What pydantic raised.
        prefix: Path of the section that was validated.
        model: The model that was validated; knows the names of the keys.
        place: Tells where the value of a key path came from.
    """
    found = error.errors()
    problems = [
        _problem(one, prefix, model, place or (lambda _: "configuration"))
        for one in found[:MOST_SHOWN]
    ]
    lines = [problem.text for problem in problems]
    if len(found) > MOST_SHOWN:
        lines.append(f"and {len(found) - MOST_SHOWN} more")
    first = problems[0]
    return ConfigError(
        "\n".join(lines), source=first.source, key=first.key or None, nearest=first.nearest
    )


def secret_in_place(key: str, source: str) -> ConfigError:
    """Return the error for a key that holds a credential."""
    text = (
        f"{source}: {key}: credentials do not belong in the configuration; did you mean "
        "'api_key_env', the name of the environment variable that holds the key?"
    )
    return ConfigError(text, source=source, key=key, nearest="api_key_env")


def _problem(
    found: Mapping[str, Any], prefix: str, model: type, place: Callable[[str], str]
) -> _Problem:
    facts = found.get("ctx") or {}
    parts = [str(part) for part in found["loc"] if part != "[key]"]
    parts += str(facts["key"]).split(".") if "key" in facts else []
    key = ".".join([prefix, *parts] if prefix else parts)
    source = place(key)
    if found["type"] == "extra_forbidden":
        meant, text = _unknown(model, parts, key)
        return _Problem(key, source, f"{source}: {text}", meant)
    shown = _shown(key, facts.get("found", found["input"]))
    reason = _reason(found, facts)
    text = f"{source}: {key}{shown}: {reason}" if key else f"{source}: {reason}"
    allowed = facts.get("allowed") or allowed_at(model, parts)
    return _Problem(key, source, f"{text}; allowed: {allowed}" if allowed else text)


def _shown(key: str, value: Any) -> str:  # noqa: ANN401 - whatever was given
    # What stands where the name of a key's variable belongs may be the key itself.
    if isinstance(value, (dict, BaseModel)) or key.endswith(("api_key_env", "base_url")):
        return ""
    if isinstance(value, str) and SECRET.fullmatch(value):
        return " (a credential)"
    if isinstance(value, int) and value.bit_length() > 200:
        return " (a number of many digits)"
    return f" {reprlib.repr(value)}"


def _reason(found: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    if {"gt", "ge", "lt", "le"} & set(facts):
        return "is out of range"
    if found["type"] == "literal_error":
        return f"is not one of {facts.get('expected')}"
    text = str(found["msg"]).removeprefix("Value error, ").partition(" or instance of ")[0]
    return text[:1].lower() + text[1:]


def _unknown(model: type, path: list[str], key: str) -> tuple[str | None, str]:
    """Return what was meant by a key that does not exist, and the message."""
    section = section_at(model, tuple(path[:-1]))
    here = sorted(fields_of(section))
    meant = _meant(path[-1], here, model)
    if meant == key:
        return meant, f"unknown key {key!r}; write its parts as sections within each other"
    hint = f"did you mean {meant!r}?" if meant else f"known: {', '.join(here)}"
    return meant, f"unknown key {key!r}; {hint}"


def _meant(word: str, here: list[str], model: type) -> str | None:
    """Return a key of the same section, or the path of one that stands elsewhere."""
    elsewhere: dict[str, str] = {}
    for path in sorted(paths_of(model), key=lambda path: (path.count("."), path)):
        elsewhere.setdefault(path.rpartition(".")[2], path)
        elsewhere.setdefault(path, path)
    if word in elsewhere:
        return elsewhere[word]
    return next(iter(nearest(word, here)), None) or next(
        (elsewhere[name] for name in nearest(word, elsewhere, cutoff=0.75)), None
    )
