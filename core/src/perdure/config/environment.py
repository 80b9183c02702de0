"""Settings in the environment: `PERDURE_` and the path of a key, double underscores between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.config import files
from perdure.config.keys import fields_of, section_at
from perdure.config.models import Config

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PREFIX = "PERDURE_"
SEPARATOR = "__"


class Setting(NamedTuple):
    """One value that comes before those of the file."""

    source: str
    path: tuple[str, ...]
    value: Any


def settings(environ: Mapping[str, str]) -> Iterator[Setting]:
    """Yield what the environment sets, the shorter paths first.

    Values are read as YAML, which JSON is part of, but for keys that take text: these have theirs
    as it stands. An empty variable counts as not set. Variables without a double underscore that
    name no section are left to others.
    """
    for name in sorted(environ):
        if not name.startswith(PREFIX) or not environ[name].strip():
            continue
        path = tuple(name.removeprefix(PREFIX).lower().split(SEPARATOR))
        if len(path) > 1 or path[0] in Config.model_fields:
            yield Setting(name, path, _value(name, path, environ[name]))


def _value(name: str, path: tuple[str, ...], text: str) -> Any:  # noqa: ANN401 - a YAML value
    if _takes_text(path):
        return None if text.strip() in ("null", "~") else text
    value, _ = files.yaml_value(text, name)
    return value


def _takes_text(path: tuple[str, ...]) -> bool:
    field = fields_of(section_at(Config, path[:-1])).get(path[-1])
    return field is not None and field.annotation in (str, str | None)
