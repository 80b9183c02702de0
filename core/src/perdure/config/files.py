"""Configuration files: YAML or TOML to a mapping, with the line of every key where it is known."""

from __future__ import annotations

import re
import sys
from collections import deque
from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.errors import ConfigError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

MOST_NODES = 20_000
DEEPEST = 50
"""Bounds that no configuration reaches; a file of a few lines can unfold to billions of nodes, or
contain itself, by references."""


class Document(NamedTuple):
    """What a file says; `lines` has the line of each key by its dotted path."""

    data: dict[str, Any]
    lines: Mapping[str, int]


def read(path: Path) -> Document:
    """Return the mapping of a file and the line of each key.

    Raises:
        ConfigError: The file cannot be read, is empty, is no mapping, or names a key twice.
    """
    text = _text(path)
    value, lines = _toml(text, str(path)) if _is_toml(path) else yaml_value(text, str(path))
    if value is None:
        # All lines are comments: a file that somebody has yet to fill in.
        return Document({}, {})
    if not isinstance(value, dict):
        message = (
            f"{path}:1: the file holds a {type(value).__name__}; give sections such as 'context:'"
        )
        raise ConfigError(message, source=f"{path}:1")
    return Document(value, lines)


def _is_toml(path: Path) -> bool:
    return path.suffix.lower() == ".toml"


def _text(path: Path) -> str:
    try:
        raw = path.read_bytes()
    except FileNotFoundError as cause:
        message = f"there is no configuration file {str(path)!r}"
        raise ConfigError(message, source=str(path)) from cause
    except (OSError, ValueError) as cause:
        message = f"configuration file {str(path)!r} cannot be read: {cause}"
        raise ConfigError(message, source=str(path)) from cause
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as cause:
        line = raw.count(b"\n", 0, cause.start) + 1
        place = f"{path}:{line}"
        message = f"{place}: not UTF-8: byte 0x{raw[cause.start]:02x}; save the file as UTF-8"
        raise ConfigError(message, source=place) from cause
    if not text.strip():
        message = f"{path}:1: the file is empty; give sections such as 'context:', or remove it"
        raise ConfigError(message, source=f"{path}:1")
    return text


def _toml(text: str, source: str) -> tuple[Any, dict[str, int]]:
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib
    try:
        return tomllib.loads(text), {}
    except (ValueError, RecursionError) as cause:
        found = re.search(r"at line (\d+)", str(cause))
        place = f"{source}:{found.group(1)}" if found else source
        message = f"{place}: not valid TOML: {cause}"
        raise ConfigError(message, source=place) from cause


def yaml_value(text: str, source: str) -> tuple[Any, dict[str, int]]:
    """Return what a YAML text says and the line of each key.

    Args:
        text: One YAML document.
        source: File or variable that it comes from.

    Raises:
        ConfigError: The text is no YAML, names a key twice, or unfolds without end.
    """
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        node = loader.get_single_node()
        # Before anything is built: what is built may be endless.
        lines = _lines(node, source)
        return (None if node is None else loader.construct_document(node)), lines
    except yaml.YAMLError as cause:
        place = f"{source}:{_line(cause, text)}"
        problem = getattr(cause, "problem", None) or getattr(cause, "reason", None) or cause
        message = f"{place}: not valid YAML: {problem}"
        raise ConfigError(message, source=place) from cause
    except RecursionError as cause:
        raise _endless(source) from cause
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as cause:
        # The library lets through what int(), float() and date() raise.
        message = f"{source}: a value cannot be read: {cause}"
        raise ConfigError(message, source=source) from cause


def _line(error: Exception, text: str) -> int:
    mark = getattr(error, "problem_mark", None)
    if mark is not None:
        return int(mark.line) + 1
    return text.count("\n", 0, getattr(error, "position", 0)) + 1


def _endless(source: str) -> ConfigError:
    message = f"{source}: nested too deeply, or a reference leads back to itself"
    return ConfigError(message, source=source)


def _lines(root: Any, source: str) -> dict[str, int]:  # noqa: ANN401 - a node of the YAML library
    """Return the line of each key; refuse keys that stand twice, and references without end."""
    lines: dict[str, int] = {}
    waiting = deque([(root, "", 0)] if root is not None else [])
    for _ in range(MOST_NODES):
        if not waiting:
            return lines
        node, prefix, depth = waiting.popleft()
        if depth > DEEPEST:
            break
        for key, line, inner in _children(node, prefix, source):
            lines.setdefault(key, line)
            waiting.append((inner, f"{key}.", depth + 1))
    raise _endless(source)


def _children(node: Any, prefix: str, source: str) -> Iterator[tuple[str, int, Any]]:  # noqa: ANN401
    """Yield (key path, line, node) for each entry of a mapping or list."""
    if node.id == "sequence":
        for position, inner in enumerate(node.value):
            yield f"{prefix}{position}", inner.start_mark.line + 1, inner
    if node.id != "mapping":
        return
    first: dict[str, int] = {}
    for name, inner in node.value:
        key, line = f"{prefix}{name.value}", name.start_mark.line + 1
        if name.id == "scalar" and name.value in first:
            message = (
                f"{source}:{line}: key {key!r} stands twice, first in line {first[name.value]}"
            )
            raise ConfigError(message, source=f"{source}:{line}", key=key)
        if name.id == "scalar":
            first[name.value] = line
        yield key, line, inner
