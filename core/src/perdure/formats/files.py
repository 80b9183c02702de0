"""Files of messages: a JSON list, a request body, JSON lines, or a Claude Code session."""

from __future__ import annotations

import codecs
import json
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from perdure.errors import InputError
from perdure.formats.convert import parse, render

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.formats.records import Parsed
    from perdure.transcript import Entry

MAX_BYTES = 100_000_000
"""Largest input that is read unless the caller allows more; reading takes several times as much."""

_SHAPES = "a JSON list of messages, a request body with 'messages' or 'input', or JSON lines"
_UTF16_HINT = "it looks like UTF-16 without a byte order mark; save the file as UTF-8"
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),  # before UTF-16, whose mark it starts with
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SURROGATE = re.compile("[\ud800-\udfff]")


def read(
    path_or_stream: str | os.PathLike[str] | BinaryIO,
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    max_bytes: int = MAX_BYTES,
) -> Parsed:
    """Return the messages of a file.

    UTF-8 is read with and without a byte order mark, UTF-16 and UTF-32 with one.

    Args:
        path_or_stream: A path, `-` for standard input, or an open binary stream.
        format: `openai`, `responses`, `anthropic` or `claude-code`; None finds out.
        max_bytes: Larger inputs are refused before they are read.

    Raises:
        InputError: The input cannot be read as messages; the error names file, line or message.
    """
    data, source = _bytes_of(path_or_stream, max_bytes)
    text = _decoded(data, source)
    del data
    if not text.strip():
        message = f"{source} is empty; give {_SHAPES}"
        raise InputError(message, source=source)
    value, lines = _loaded(text, source)
    del text
    try:
        parsed = parse(value, format=format, source=source)
    except InputError as error:
        line = lines[error.index] if lines and error.index is not None else None
        where = source if line is None else f"{source}, line {line}"
        message = f"{where}: {error}"
        raise InputError(message, source=source, line=line, index=error.index) from error
    if lines and parsed.file_format == "json":
        return replace(parsed, file_format="jsonl")
    return parsed


def dump(parsed: Parsed, entries: Sequence[Entry]) -> str:
    """Return entries as the text of a file in the format and shape that was read.

    A Claude Code session cannot be written again, since its events say more than its messages: it
    becomes an object with Anthropic messages. So does a list that now has a system text beside it.
    Lone surrogates are written as JSON escapes.
    """
    request = render(entries, parsed.format)
    if parsed.file_format in ("json", "jsonl") and request.system is None:
        if parsed.file_format == "json":
            return _text(request.messages, indent=2) + "\n"
        return "".join(f"{_text(message)}\n" for message in request.messages)
    return _text({**parsed.body, **request.body()}, indent=2) + "\n"


def _text(value: Any, indent: int | None = None) -> str:  # noqa: ANN401 - JSON data
    try:
        text = json.dumps(value, ensure_ascii=False, indent=indent, default=str)
    except RecursionError:  # the indenting encoder cannot go as deep as the decoder did
        text = json.dumps(value, ensure_ascii=False, default=str)
    return _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


# ------------------------------------------------------------------------------- bytes


def _bytes_of(given: str | os.PathLike[str] | BinaryIO, max_bytes: int) -> tuple[bytes, str]:
    if isinstance(given, (str, os.PathLike)):
        if given == "-":
            if sys.stdin is None:
                text = "standard input is closed; name a file"
                raise InputError(text, source="stdin")
            return _stream_bytes(sys.stdin.buffer, "stdin", max_bytes), "stdin"
        return _file_bytes(Path(given), max_bytes), str(given)
    source = str(getattr(given, "name", "stream"))
    return _stream_bytes(given, source, max_bytes), source


def _file_bytes(path: Path, max_bytes: int) -> bytes:
    source = str(path)
    try:
        if path.is_dir():
            text = f"{source} is a directory; name a file in it"
            raise InputError(text, source=source)
        _check_size(path.stat().st_size, max_bytes, source)
        with path.open("rb") as stream:
            return _stream_bytes(stream, source, max_bytes)
    except FileNotFoundError as cause:
        text = f"there is no file {source}; check the path (working directory: {Path.cwd()})"
        raise InputError(text, source=source) from cause
    except (OSError, ValueError) as cause:  # ValueError: a NUL in the path
        text = f"{source!r} cannot be read: {cause}"
        raise InputError(text, source=source) from cause


def _stream_bytes(stream: BinaryIO, source: str, max_bytes: int) -> bytes:
    data = stream.read(max_bytes + 1)
    if isinstance(data, str):
        text = f"{source} is a text stream; open it in binary mode"
        raise InputError(text, source=source)
    _check_size(len(data), max_bytes, source)
    return data


def _check_size(size: int, max_bytes: int, source: str) -> None:
    if size > max_bytes:
        text = (
            f"{source} holds {size:,} bytes or more, the limit is {max_bytes:,}; "
            "split the file, or allow more with max_bytes"
        )
        raise InputError(text, source=source)


def _decoded(data: bytes, source: str) -> str:
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), "utf-8")
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as cause:
        line = data.count(b"\n", 0, cause.start) + 1
        hint = "save the file as UTF-8"
        if data.startswith(b"\x1f\x8b"):
            hint = "it is compressed; unpack it first"
        elif b"\x00" in data[:64]:
            hint = _UTF16_HINT
        text = f"{source}, line {line}: byte {cause.start} is not {encoding.upper()}; {hint}"
        raise InputError(text, source=source, line=line) from cause


# ------------------------------------------------------------------------------- JSON


def _loaded(text: str, source: str) -> tuple[Any, list[int]]:
    """Return the JSON value of a text, and for JSON lines the line number of each message."""
    try:
        value = json.loads(text, strict=False)
    except json.JSONDecodeError as cause:
        numbered = [
            (number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()
        ]
        if len(numbered) > 1 and _is_json(numbered[0][1]):
            return _lines_loaded(numbered, source), [number for number, _ in numbered]
        raise _not_json(cause, text, source) from cause
    except (ValueError, RecursionError) as cause:
        raise _not_plain(cause, source) from cause
    if isinstance(value, dict) and not {"messages", "input"} & set(value):
        if "role" in value or "type" in value:  # JSON lines of which there is only one
            return [value], [1]
        return value, []
    if not isinstance(value, (dict, list)):
        message = f"{source} holds a single JSON {type(value).__name__}; give {_SHAPES}"
        raise InputError(message, source=source)
    return value, []


def _is_json(line: str) -> bool:
    try:
        json.loads(line, strict=False)
    except (ValueError, RecursionError):
        return False
    return True


def _lines_loaded(numbered: list[tuple[int, str]], source: str) -> list[Any]:
    values = []
    for number, line in numbered:
        try:
            value = json.loads(line, strict=False)
        except json.JSONDecodeError as cause:
            message = (
                f"{source}, line {number}: not JSON ({cause.msg} at column {cause.colno}); "
                "mend or remove the line"
            )
            raise InputError(message, source=source, line=number) from cause
        except (ValueError, RecursionError) as cause:
            raise _not_plain(cause, source, number) from cause
        if isinstance(value, dict) and isinstance(value.get("messages"), list):
            message = (
                f"{source}, line {number} is a whole conversation; give one conversation a file"
            )
            raise InputError(message, source=source, line=number)
        values.append(value)
    return values


def _not_json(cause: json.JSONDecodeError, text: str, source: str) -> InputError:
    hint = _UTF16_HINT if "\x00" in text[:64] else f"give {_SHAPES}"
    message = f"{source}, line {cause.lineno}: not JSON ({cause.msg}, column {cause.colno}); {hint}"
    return InputError(message, source=source, line=cause.lineno)


def _not_plain(cause: Exception, source: str, line: int | None = None) -> InputError:
    where = source if line is None else f"{source}, line {line}"
    if isinstance(cause, RecursionError):
        return InputError(f"{where}: nested too deeply to be read", source=source, line=line)
    message = f"{where}: cannot be read ({cause}); write very long numbers as text"
    return InputError(message, source=source, line=line)
