"""The configuration: found, read, checked, and each value traced to where it came from.

Looked for at the given path, `PERDURE_CONFIG`, `./config.yaml`, the user's configuration folder;
else the built-in defaults hold. Every key can be set in the environment: `PERDURE_` and the path
with double underscores, as in `PERDURE_CONTEXT__COMPRESSION__THRESHOLD=0.4`.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from perdure.config import environment, files, hermes
from perdure.config.environment import Setting
from perdure.config.models import CompressionConfig, Config, ContextConfig, Provider, StateConfig
from perdure.config.problems import SECRETS, explained, secret_in_place
from perdure.errors import ConfigError
from perdure.spelling import nearest

__all__ = [
    "CompressionConfig",
    "Config",
    "ContextConfig",
    "LoadedConfig",
    "Provider",
    "StateConfig",
    "Value",
    "effective",
    "explained",
    "from_mapping",
    "load",
]

PATH_VARIABLE = "PERDURE_CONFIG"
DEFAULTS = "built-in defaults"
FILE_NAMES = ("config.yaml", "config.toml")


@dataclass(frozen=True, kw_only=True)
class LoadedConfig:
    """A configuration with its origin.

    Attributes:
        origin: File that was read, or `built-in defaults`.
        sources: Where each value that is no default came from, by key path.
        notes: What was translated or left out.
    """

    config: Config
    origin: str
    sources: Mapping[str, str]
    notes: tuple[str, ...] = ()

    def place(self, key: str) -> str:
        """Return where the value of a key came from, or the first one of its section."""
        if key in self.sources:
            return self.sources[key]
        below = (self.sources[one] for one in self.sources if one.startswith(f"{key}."))
        return next(below, self.origin)


class Value(NamedTuple):
    """One effective value."""

    key: str
    value: Any
    source: str


def load(
    path: str | Path | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    cwd: Path | None = None,
    overrides: Mapping[str, Any] | None = None,
) -> LoadedConfig:
    """Find, read and check the configuration.

    Args:
        path: File to read; None looks in the usual places.
        environ: Environment; by default that of the process.
        cwd: Directory that `./config.yaml` is looked for in.
        overrides: Values that come before all others, such as those of a command line.

    Raises:
        ConfigError: It names the file with line, or the variable, and the key.
    """
    environ = os.environ if environ is None else environ
    named = path or environ.get(PATH_VARIABLE)
    origin, document, notes = _named(named) if named else _found(cwd or Path.cwd())
    settings = [
        *environment.settings(environ),
        *(Setting("command line", (key,), value) for key, value in (overrides or {}).items()),
    ]
    return _checked(document, origin, settings, notes)


def from_mapping(mapping: Mapping[str, Any], *, source: str = "the given mapping") -> LoadedConfig:
    """Check a mapping; the environment is not looked at.

    Raises:
        ConfigError: It names the key.
    """
    return _checked(files.Document(dict(mapping), {}), source, (), ())


def effective(loaded: LoadedConfig) -> list[Value]:
    """Return every key with its effective value and where that came from."""
    return [
        Value(key, value, loaded.sources.get(key, "default"))
        for key, value in _leaves(_fields(loaded.config))
    ]


# ------------------------------------------------------------------------------ finding


_Found = tuple[str, files.Document, tuple[str, ...]]


def _named(path: str | Path) -> _Found:
    try:
        file = Path(path).expanduser()
    except RuntimeError as cause:  # there is no such user
        message = f"configuration file {str(path)!r} cannot be found: {cause}"
        raise ConfigError(message, source=str(path)) from cause
    return str(file), files.read(file), ()


def _found(cwd: Path) -> _Found:
    """Return the file of the working directory if it is ours, else that of the user."""
    notes = []
    for file in _files_in(cwd):
        try:
            document = files.read(file)
        except ConfigError as error:
            text = f"{error}; or name another file with --config or {PATH_VARIABLE}"
            raise ConfigError(text, source=error.source, key=error.key) from error
        if _is_ours(document.data):
            return str(file), document, ()
        sections = ", ".join(Config.model_fields)
        notes.append(f"{file} is left out: it has none of the sections {sections}")
    from platformdirs import user_config_path

    for file in _files_in(user_config_path("perdure")):
        return str(file), files.read(file), tuple(notes)
    return DEFAULTS, files.Document({}, {}), tuple(notes)


def _files_in(folder: Path) -> Iterator[Path]:
    return (folder / name for name in FILE_NAMES if (folder / name).is_file())


def _is_ours(data: Mapping[str, Any]) -> bool:
    """Return whether a `config.yaml` is ours: many programs call theirs so.

    A misspelt section is one of ours too, for it must be named and not passed over.
    """
    sections = (*Config.model_fields, "compression")
    return not data or any(nearest(str(key), sections, cutoff=0.85) for key in data)


# ------------------------------------------------------------------------------ checking


def _checked(
    document: files.Document,
    origin: str,
    settings: Iterable[Setting],
    notes: tuple[str, ...],
) -> LoadedConfig:
    data, lines = document
    if hermes.is_hermes(data):
        translation = hermes.translated(data, frozenset(Config.model_fields))
        data, notes = translation.data, (*notes, *translation.notes)
        old = translation.renamed
        lines = {**lines, **{new: lines[old[new]] for new in old if old[new] in lines}}
    data = _plain(data)
    places = {key: f"{origin}:{line}" for key, line in lines.items()}
    sources = {key: places.get(key, origin) for key, _ in _leaves(data)}
    for setting in settings:
        _apply(setting, data, sources, places)

    def place(key: str) -> str:
        """Return where the value of a key came from, or the section that it stands in."""
        while key and key not in places:
            key = key.rpartition(".")[0]
        return places.get(key, origin)

    for key, _ in _leaves(data):
        if not SECRETS.isdisjoint(key.lower().replace("-", "_").split(".")):
            raise secret_in_place(key, place(key))
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        raise explained(error, place=place) from error
    kept = {key: sources[key] for key, _ in _leaves(_fields(config)) if key in sources}
    return LoadedConfig(config=config, origin=origin, sources=kept, notes=notes)


def _apply(
    setting: Setting, data: dict[str, Any], sources: dict[str, str], places: dict[str, str]
) -> None:
    """Put a setting into the data, and note it as the place of the value and of its sections."""
    for path in _merge(data, setting.path, setting.value):
        sources[path] = places[path] = setting.source
        while path := path.rpartition(".")[0]:
            # A section in place of a value is of the same making as what is in it.
            if path in sources or path not in places:
                places[path] = setting.source


def _fields(model: BaseModel) -> dict[str, Any]:
    """Return the values of a section by key, sections within it likewise."""
    values = {name: getattr(model, name) for name in type(model).model_fields}
    return {
        name: _fields(value) if isinstance(value, BaseModel) else value
        for name, value in values.items()
    }


def _leaves(data: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield each value by its dotted path; an empty section is a value."""
    for key, value in data.items():
        path = f"{prefix}{key}"
        if isinstance(value, Mapping) and value:
            yield from _leaves(value, f"{path}.")
        else:
            yield path, value


def _plain(data: Mapping[Any, Any]) -> dict[Any, Any]:
    """Return a copy whose sections are dicts of their own."""
    return {
        key: _plain(value) if isinstance(value, Mapping) else value for key, value in data.items()
    }


def _merge(data: dict[str, Any], path: tuple[str, ...], value: Any) -> list[str]:  # noqa: ANN401
    """Put a value in its place, sections into sections; return the paths of what was set."""
    *parents, last = path
    for part in parents:
        if not isinstance(data.get(part), dict):
            data[part] = {}
        data = data[part]
    here = ".".join(path)
    if not isinstance(value, Mapping):
        data[last] = value
        return [here]
    if not isinstance(data.get(last), dict):
        data[last] = {}
    changed = [_merge(data[last], (str(key),), inner) for key, inner in value.items()]
    return [f"{here}.{name}" for names in changed for name in names]
