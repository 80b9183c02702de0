"""Writes docs/reference from the code: hooks, configuration keys, command line, errors.

    python docs/generate.py [--check]

With --check nothing is written; the exit code is 1 when a page is out of date.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from pydantic import BaseModel

from perdure import contract, errors
from perdure.cli.main import EXIT_CODES, cli
from perdure.config.models import Config
from perdure.hookspec import EngineSpec, ObserverSpec

REFERENCE = Path(__file__).resolve().parent / "reference"
MADE = "<!-- made by docs/generate.py; change the code instead -->\n\n"


def hooks() -> str:
    """Return the page of hooks."""
    parts = ["# Hooks\n\nThe manual is `core/src/perdure/hookspec.py`; this page is made of it.\n"]
    for title, spec in (("Engines", EngineSpec), ("Observers", ObserverSpec)):
        parts.append(f"## {title}\n\n{inspect.cleandoc(spec.__doc__ or '')}\n")
        for name, function in vars(spec).items():
            if not inspect.isfunction(function):
                continue
            arguments = ", ".join(contract.hooks_of(spec)[name])
            text = inspect.cleandoc(function.__doc__ or "")
            parts.append(f"### `{name}({arguments})`\n\n```text\n{text}\n```\n")
    return "\n".join(parts)


def keys() -> str:
    """Return the page of configuration keys."""
    rows = ["| key | type | default | meaning |", "| --- | --- | --- | --- |"]
    for path, kind, default, meaning in _fields(Config, ""):
        shown = kind.replace("|", "\\|")
        rows.append(f"| `{path}` | {shown} | `{default}` | {meaning} |")
    text = (
        "# Configuration keys\n\nEvery key can also be set in the environment: `PERDURE_` and the "
        "path in capitals with double underscores, as in `PERDURE_CONTEXT__ENGINE`.\n\n"
    )
    return text + "\n".join(rows) + "\n"


def _fields(model: type[BaseModel], prefix: str) -> Iterator[tuple[str, str, object, str]]:
    properties = model.model_json_schema()["properties"]
    for name, field in model.model_fields.items():
        path = f"{prefix}{name}"
        kind = field.annotation
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            yield from _fields(kind, f"{path}.")
            continue
        default = field.get_default(call_default_factory=True)
        yield path, _kind(properties[name]), default, field.description or ""


def _kind(schema: dict[str, object]) -> str:
    """Return the type of a key in words."""
    if "enum" in schema:
        return " or ".join(map(str, schema["enum"]))
    options = schema.get("anyOf")
    if isinstance(options, list):
        return " or ".join(_kind(option) for option in options)
    if "$ref" in schema:
        return "the keys of provider"
    names = {"string": "text", "object": "mapping", "array": "list", "boolean": "true or false"}
    kind = str(schema.get("type"))
    return names.get(kind, kind)


def commands() -> str:
    """Return the page of the command line."""
    parts = ["# Command line\n"]
    for path, command in _walk("perdure", cli):
        context = click.Context(command, info_name=path)
        parts.append(f"## {path}\n\n```text\n{command.get_help(context)}\n```\n")
    return "\n".join(parts)


def _walk(path: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        for name in sorted(command.commands):
            yield from _walk(f"{path} {name}", command.commands[name])


def exceptions() -> str:
    """Return the page of errors."""
    parts = ["# Errors\n\nAll inherit from `PerdureError`.\n"]
    for name, kind in vars(errors).items():
        if inspect.isclass(kind) and issubclass(kind, errors.PerdureError):
            code = EXIT_CODES.get(kind)
            shown = f"Exit code of the command line: {code}.\n" if code else ""
            text = inspect.cleandoc(kind.__doc__ or "")
            parts.append(f"## {name}\n\n```text\n{text}\n```\n\n{shown}")
    return "\n".join(parts)


PAGES = {
    "hooks.md": hooks,
    "configuration.md": keys,
    "command-line.md": commands,
    "errors.md": exceptions,
}


def main() -> None:
    """Write the pages, or check them."""
    stale = []
    for name, make in PAGES.items():
        path, text = REFERENCE / name, MADE + make().rstrip() + "\n"
        if path.exists() and path.read_text(encoding="utf-8") == text:
            continue
        stale.append(name)
        if "--check" not in sys.argv:
            path.write_text(text, encoding="utf-8")
    if stale and "--check" in sys.argv:
        sys.exit(f"out of date: {', '.join(stale)}; run python docs/generate.py")


if __name__ == "__main__":
    main()
