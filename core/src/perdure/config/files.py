"""Configuration files: YAML or TOML to a mapping, with the line of every key where it is known."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from perdure.errors import ConfigError

if TYPE_CHECKING:
    from pathlib import Path


def read(path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    """Return the mapping of a file and the line of each key path.

    Raises:
        ConfigError: The file cannot be read, is no mapping, or names a key twice.
    """
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as cause:
        message = f"there is no configuration file {str(path)!r}"
        raise ConfigError(message, source=str(path)) from cause
    except (OSError, UnicodeDecodeError) as cause:
        message = f"configuration file {str(path)!r} cannot be read: {cause}"
        raise ConfigError(message, source=str(path)) from cause
    if path.suffix.lower() == ".toml":
        return _toml(text, path), {}
    return _yaml(text, path)


def _toml(text: str, path: Path) -> dict[str, Any]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return dict(tomllib.loads(text))
    except tomllib.TOMLDecodeError as cause:
        message = f"{path}: not valid TOML: {cause}"
        raise ConfigError(message, source=str(path)) from cause


def _yaml(text: str, path: Path) -> tuple[dict[str, Any], dict[str, int]]:
    import yaml

    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        value = yaml.safe_load(text)
    except yaml.YAMLError as cause:
        mark = getattr(cause, "problem_mark", None)
        line = f":{mark.line + 1}" if mark else ""
        problem = getattr(cause, "problem", None) or cause
        message = f"{path}{line}: not valid YAML: {problem}"
        raise ConfigError(message, source=f"{path}{line}") from cause
    if node is None:
        return {}, {}
    if not isinstance(value, dict):
        found = type(value).__name__
        message = f"{path}: the file holds a {found}; give sections such as 'context:'"
        raise ConfigError(message, source=str(path))
    lines: dict[str, int] = {}
    _walk(node, "", lines, path)
    return value, lines


def _walk(node: Any, prefix: str, lines: dict[str, int], path: Path) -> None:  # noqa: ANN401
    """Note the line of each key, and refuse keys that stand twice in one mapping."""
    for key_node, value_node in getattr(node, "value", ()) if _is_mapping(node) else ():
        key = f"{prefix}{key_node.value}"
        line = key_node.start_mark.line + 1
        if key in lines:
            message = f"{path}:{line}: key {key!r} stands twice, first in line {lines[key]}"
            raise ConfigError(message, source=f"{path}:{line}", key=key)
        lines[key] = line
        _walk(value_node, f"{key}.", lines, path)


def _is_mapping(node: Any) -> bool:  # noqa: ANN401 - a node of the YAML library
    return str(getattr(node, "tag", "")).endswith(":map")
