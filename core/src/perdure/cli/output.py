"""Where results go: the whole text or nothing, and never over what was not meant."""

from __future__ import annotations

import errno
import os
import re
import sys
from pathlib import Path
from typing import BinaryIO

import click

STDOUT = "-"
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class OutputError(click.ClickException):
    """A result cannot be written."""

    exit_code = 7

    def __init__(self, where: str, cause: OSError) -> None:
        """Take the place and what the system said."""
        reason = cause.strerror or str(cause)
        super().__init__(f"{where} cannot be written: {reason}; name another place with --out")


def target_of(out: str | None, *, source: str, force: bool = False) -> str | Path | None:
    """Return where to write, after making sure that it is not the input.

    Raises:
        click.UsageError: It is the input and `force` is not given, or no place for a file.
    """
    if out is None or out == STDOUT:
        return out
    path = Path(out)
    try:
        is_source = source != STDOUT and path.exists() and path.samefile(source)
        is_folder, has_parent = path.is_dir(), path.parent.is_dir()
    except (OSError, ValueError) as cause:
        text = f"output {out!r} is no place for a file: {cause}"
        raise click.UsageError(text) from cause
    if is_source and not force:
        text = f"output {out!r} is the input file; name another one, or add --force to replace it"
        raise click.UsageError(text)
    if is_folder or not has_parent:
        text = f"output {out!r}: {'a directory' if is_folder else 'no such directory'}"
        raise click.UsageError(text)
    return path


def write(target: str | Path, text: str) -> None:
    """Write the whole text or nothing; a session is readable by its owner only.

    A file that is there keeps its mode and its links; devices and pipes are written into.

    Raises:
        OutputError: It cannot be written.
    """
    data = text.encode("utf-8", "surrogatepass")
    try:
        if isinstance(target, str):
            _stdout().write(data)
            _stdout().flush()
        elif target.exists() and not target.is_file():
            with target.open("wb") as stream:
                stream.write(data)
        else:
            _replace(Path(os.path.realpath(target)), data)
    except OSError as cause:
        if cause.errno == errno.EPIPE:
            raise
        where = "standard output" if isinstance(target, str) else f"output {str(target)!r}"
        raise OutputError(where, cause) from cause


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    draft = path.with_name(f".perdure-{os.getpid()}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
            file.write(data)
        draft.chmod(mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)


def _stdout() -> BinaryIO:
    if sys.stdout is None:
        raise OSError(errno.EBADF, "it is closed")
    return sys.stdout.buffer


def printable(text: str) -> str:
    """Return text without what could steer a terminal; line ends and tabs stay."""
    return _CONTROL.sub("\N{REPLACEMENT CHARACTER}", text)
