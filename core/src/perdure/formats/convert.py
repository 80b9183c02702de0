"""From data in memory to entries, and from entries to a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from perdure.errors import InputError
from perdure.formats import anthropic, claude_code, openai_chat, openai_responses
from perdure.formats.detect import detect
from perdure.formats.records import FORMATS, INPUT_FORMATS, Format, Parsed, Request

if TYPE_CHECKING:
    from perdure.transcript import Entry

_KEYS = {
    "openai": ("messages", None),
    "anthropic": ("messages", "system"),
    "responses": ("input", "instructions"),
}


def parse(
    data: Sequence[Any] | Mapping[str, Any],
    *,
    format: str | None = None,  # noqa: A002 - the word that users know
    source: str | None = None,
) -> Parsed:
    """Return the messages of a list or a request body; the dicts given are kept, not copied.

    Args:
        data: A list of messages (or items, or lines of a Claude Code session), or a request body.
        format: `openai`, `responses`, `anthropic` or `claude-code`; None finds out.
        source: Name of the input for errors.

    Raises:
        InputError: The data is none of that; the error names the message and what to do.
    """
    if format is not None and format not in INPUT_FORMATS:
        text = f"format {format!r} is unknown; use one of {', '.join(INPUT_FORMATS)}"
        raise InputError(text, source=source)
    if isinstance(data, Mapping):
        return _of_body(data, format, source)
    if not isinstance(data, Sequence) or isinstance(data, (str, bytes)):
        found = type(data).__name__
        text = f"the input is of type {found}; give a list of messages or a request body"
        raise InputError(text, source=source)
    if format == "claude-code" or (format is None and claude_code.is_session(data)):
        entries = claude_code.entries_of(data, source)
        return Parsed(entries=entries, format="anthropic", file_format="claude-code")
    found_format = cast("Format", format or detect(data))
    return Parsed(entries=_entries(found_format, data, None, source), format=found_format)


def render(
    entries: Sequence[Entry],
    format: Format,  # noqa: A002 - the word that users know
) -> Request:
    """Return entries as a request of a provider, whatever format they came from.

    What is untouched and was read from the same format goes back as the object that it was. A
    message that was changed is written from its content; the thinking of a changed turn is left
    out as a whole. Keys that start with an underscore never leave.

    Raises:
        InputError: The format is unknown.
    """
    if format == "openai":
        return openai_chat.request_of(entries)
    if format == "anthropic":
        return anthropic.request_of(entries)
    if format == "responses":
        return openai_responses.request_of(entries)
    text = f"format {format!r} is unknown; use one of {', '.join(FORMATS)}"
    raise InputError(text)


def _of_body(body: Mapping[str, Any], format: str | None, source: str | None) -> Parsed:  # noqa: A002
    if format == "claude-code":
        text = "a Claude Code session is a file of lines, this is one object; leave the format out"
        raise InputError(text, source=source)
    found = cast("Format", format or detect(body))
    key, beside = _KEYS[found]
    items = body.get(key)
    if found == "responses" and isinstance(items, str):
        items = [{"role": "user", "content": items}]
    if not isinstance(items, list):
        raise InputError(_no_messages(body, key), source=source)
    return Parsed(
        entries=_entries(found, items, body.get(beside) if beside else None, source),
        format=found,
        tools=_tools(body, source),
        file_format="object",
        body={name: value for name, value in body.items() if name != key},
    )


def _no_messages(body: Mapping[str, Any], key: str) -> str:
    if key in body:
        return f"{key!r} is of type {type(body[key]).__name__}; expected a list of messages"
    held = ", ".join(repr(name) for name in list(body)[:8]) or "nothing"
    return f"the object has no {key!r} (it holds {held}); give a request body or a list of messages"


def _tools(body: Mapping[str, Any], source: str | None) -> list[dict[str, Any]]:
    tools = body.get("tools")
    if tools is None:
        return []
    if not isinstance(tools, list) or not all(isinstance(tool, dict) for tool in tools):
        text = "'tools' is not a list of tool definitions; give a list of objects or leave it out"
        raise InputError(text, source=source)
    return tools


def _entries(
    format: Format,  # noqa: A002
    items: Sequence[Any],
    beside: Any,  # noqa: ANN401 - system or instructions, as it came
    source: str | None,
) -> list[Entry]:
    if format == "anthropic":
        return anthropic.entries_of(items, beside, source)
    if format == "responses":
        return openai_responses.entries_of(items, beside, source)
    return openai_chat.entries_of(items, source)
