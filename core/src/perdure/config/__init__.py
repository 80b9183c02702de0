"""The configuration: found, read, checked, and each value traced to where it came from.

Looked for at the given path, `PERDURE_CONFIG`, `./config.yaml`, the user's configuration folder;
else the built-in defaults hold. Every key can be set in the environment: `PERDURE_` and the path
with double underscores, as in `PERDURE_CONTEXT__COMPRESSION__THRESHOLD=0.4`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ValidationError

from perdure.config import files, hermes
from perdure.config.models import CompressionConfig, Config, ContextConfig, Provider, StateConfig
from perdure.config.problems import explained
from perdure.errors import ConfigError

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
PREFIX = "PERDURE_"
DEFAULTS = "built-in defaults"


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
    found = _find(path, environ, cwd or Path.cwd())
    data: dict[str, Any] = {}
    lines: dict[str, int] = {}
    if found is not None:
        data, lines = files.read(found)
    return _checked(data, str(found) if found else DEFAULTS, lines, environ, overrides or {})


def from_mapping(mapping: Mapping[str, Any], *, source: str = "the given mapping") -> LoadedConfig:
    """Check a mapping; the environment is not looked at."""
    return _checked(dict(mapping), source, {}, {}, {})


def effective(loaded: LoadedConfig) -> list[Value]:
    """Return every key with its effective value and where that came from."""
    return [
        Value(key, value, loaded.sources.get(key, "default"))
        for key, value in _leaves(loaded.config, "")
    ]


def _leaves(model: BaseModel, prefix: str) -> Iterator[tuple[str, Any]]:
    for name in type(model).model_fields:
        value = getattr(model, name)
        if isinstance(value, BaseModel):
            yield from _leaves(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _find(path: str | Path | None, environ: Mapping[str, str], cwd: Path) -> Path | None:
    named = path or environ.get(PATH_VARIABLE)
    if named:
        return Path(named).expanduser()
    from platformdirs import user_config_path

    folders = (cwd, user_config_path("perdure"))
    for folder in folders:
        for name in ("config.yaml", "config.toml"):
            # A config.yaml in the working directory may belong to somebody else.
            if (folder / name).is_file() and (folder != cwd or _is_ours(folder / name)):
                return folder / name
    return None


def _is_ours(path: Path) -> bool:
    """Return whether a file has one of our sections; unreadable files are left to `read`."""
    try:
        data, _ = files.read(path)
    except ConfigError:
        return True
    return bool(set(data) & {*Config.model_fields, "compression"})


def _checked(
    data: dict[str, Any],
    origin: str,
    lines: Mapping[str, int],
    environ: Mapping[str, str],
    overrides: Mapping[str, Any],
) -> LoadedConfig:
    notes: tuple[str, ...] = ()
    if hermes.is_hermes(data):
        data, notes = hermes.translated(data)
    sources = {key: _place(origin, lines.get(key)) for key in _paths(data)}
    variables = dict(_from_environment(environ))
    for key, (name, value) in variables.items():
        _put(data, key, value)
        sources[key] = name
    for key, value in _paths(overrides).items():
        _put(data, key, value)
        sources[key] = "command line"
    try:
        config = Config.model_validate(data)
    except ValidationError as error:
        key = ".".join(str(part) for part in error.errors()[0]["loc"])
        name = variables[key][0] if key in variables else origin
        raise explained(error, source=name, lines=lines if name == origin else None) from error
    return LoadedConfig(config=config, origin=origin, sources=sources, notes=notes)


def _place(origin: str, line: int | None) -> str:
    return f"{origin}:{line}" if line else origin


def _paths(data: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Return values by dotted path; mappings whose keys are free stay whole."""
    found: dict[str, Any] = {}
    for key, value in data.items():
        path = f"{prefix}{key}"
        is_free = path in ("context.engines", "context.compression.model_thresholds")
        if isinstance(value, Mapping) and not is_free:
            found.update(_paths(value, f"{path}."))
        else:
            found[path] = value
    return found


def _put(data: dict[str, Any], key: str, value: Any) -> None:  # noqa: ANN401 - a value of the file
    *parents, last = key.split(".")
    for part in parents:
        inner = data.get(part)
        data[part] = dict(inner) if isinstance(inner, Mapping) else {}
        data = data[part]
    data[last] = value


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, tuple[str, Any]]]:
    """Return (key path, (variable, value)) for each variable that names a key."""
    for name, text in sorted(environ.items()):
        path = name.removeprefix(PREFIX).lower().split("__")
        if not name.startswith(PREFIX) or len(path) < 2 or path[0] not in Config.model_fields:
            continue
        yield ".".join(path), (name, _parsed(name, text))


def _parsed(name: str, text: str) -> Any:  # noqa: ANN401 - a YAML value
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as cause:
        message = f"{name}={text!r} is not a value: {cause}"
        raise ConfigError(message, source=name) from cause
