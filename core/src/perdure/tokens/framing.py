"""What a message or a tool definition costs, as charges: texts to be counted and fixed prices.

A charge is a `str`, which the tokeniser counts, or an `int`, which is a number of tokens. The
framing is the same for every tokeniser. OpenAI documents about three tokens a message and three a
request; other providers do not say, and lie close.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from perdure.tokens.media import (
    MIN_FILE_TOKENS,
    UNKNOWN_IMAGE_TOKENS,
    data_url,
    image_tokens,
    payload_tokens,
)
from perdure.types import ToolSchema

REQUEST_TOKENS = 3
MESSAGE_TOKENS = 3
ROLE_TOKENS = 1
CALL_TOKENS = 6
"""Framing of one tool call, its id included."""
TOOL_TOKENS = 8
ENCRYPTED_CHARS_PER_TOKEN = 6
"""Reasoning that comes back encrypted is billed as the text that it holds."""
MAX_DEPTH = 50
MIN_PAYLOAD_CHARS = 1_000

Charge = str | int

_IMAGES = frozenset({"image", "image_url", "input_image", "computer_screenshot"})
_DOCUMENTS = frozenset({"file", "input_file", "document", "container_upload", "media", "resource"})
_RECORDINGS = frozenset({"audio", "input_audio", "video", "video_url", "input_video"})
_TOOL_USES = frozenset({"tool_use", "server_tool_use", "mcp_tool_use"})
_CALL_ITEMS = frozenset({"function_call", "custom_tool_call", "mcp_call"})
_REASONING_KEYS = ("reasoning_content", "reasoning")
_IDS = frozenset({"id", "call_id", "tool_use_id", "tool_call_id", "signature", "index"})
_UNSEEN = _IDS | {"type", "status", "role", "cache_control"}
"""Keys that a model does not read."""


def message_charges(message: object) -> Iterator[Charge]:
    """Yield the charges of one message, of any provider; malformed parts cost what they hold."""
    yield MESSAGE_TOKENS + ROLE_TOKENS
    if not isinstance(message, Mapping):
        yield from _content_charges(message, 0)
        return
    if "role" not in message and isinstance(message.get("type"), str):
        yield from _part_charges(message, 0)
        return
    yield from _content_charges(message.get("content"), 0)
    for key in ("name", "refusal"):
        if isinstance(message.get(key), str):
            yield message[key]
    yield from _reasoning_charges(message)
    calls = message.get("tool_calls")
    for call in calls if isinstance(calls, list) else ():
        yield from _call_charges(call)
    if isinstance(message.get("function_call"), Mapping):
        yield from _call_charges(message["function_call"])


def tool_charges(tool: ToolSchema | Mapping[str, Any]) -> Iterator[Charge]:
    """Yield the charges of a tool definition; the provider's shape makes no difference."""
    yield TOOL_TOKENS
    if isinstance(tool, ToolSchema):
        yield _as_json(_definition(tool.name, tool.description, tool.parameters))
        return
    if not isinstance(tool, Mapping):
        return
    inner = tool.get("function")
    given = inner if isinstance(inner, Mapping) else tool
    schema = given.get("parameters", given.get("input_schema"))
    if schema is None:
        yield _as_json({key: value for key, value in given.items() if key != "cache_control"})
    else:
        yield _as_json(_definition(given.get("name"), given.get("description"), schema))


def _definition(name: object, description: object, schema: object) -> dict[str, object]:
    given = schema if not isinstance(schema, Mapping) else dict(schema)
    return {"name": name, "description": description or "", "parameters": given}


# ------------------------------------------------------------------------------- messages


def _reasoning_charges(message: Mapping[str, Any]) -> Iterator[Charge]:
    """Charge reasoning once: gateways send the same text under several keys."""
    for key in _REASONING_KEYS:
        if isinstance(message.get(key), str) and message[key]:
            yield message[key]
            return
    for key in ("thinking_blocks", "reasoning_details"):
        if isinstance(message.get(key), list):
            yield from _content_charges(message[key], 0)
            return


def _call_charges(call: object) -> Iterator[Charge]:
    if not isinstance(call, Mapping):
        return
    inner = call.get("function", call.get("custom"))
    given = inner if isinstance(inner, Mapping) else call
    yield CALL_TOKENS
    if isinstance(given.get("name"), str):
        yield given["name"]
    arguments = given.get("arguments", given.get("input"))
    if arguments is not None:
        yield arguments if isinstance(arguments, str) else _as_json(arguments)


def _content_charges(content: object, depth: int) -> Iterator[Charge]:
    if isinstance(content, str):
        yield content
    elif depth > MAX_DEPTH:
        yield _scattered(content)
    elif isinstance(content, (list, tuple)):
        for part in content:
            yield from _content_charges(part, depth + 1)
    elif isinstance(content, Mapping):
        yield from _part_charges(content, depth)
    elif content is not None:
        yield str(content)


def _part_charges(part: Mapping[str, Any], depth: int) -> Iterator[Charge]:
    """Charge a content part by its type; texts are texts, whatever they look like."""
    kind = part.get("type")
    kind = kind if isinstance(kind, str) else ""
    if kind in _IMAGES:
        yield image_tokens(part)
    elif kind in _DOCUMENTS or kind in _RECORDINGS:
        yield from _file_charges(part, depth)
    elif kind in _TOOL_USES or kind in _CALL_ITEMS:
        yield from _call_charges(part)
    else:
        for key, value in part.items():
            if key in _UNSEEN:
                continue
            if key in ("data", "encrypted_content") and isinstance(value, str):
                yield len(value) // ENCRYPTED_CHARS_PER_TOKEN
            elif key in ("content", "output", "summary", "text"):
                yield from _content_charges(value, depth + 1)
            else:
                yield from _data_charges(value)


# ------------------------------------------------------------------------------- files and data


def _file_charges(part: Mapping[str, Any], depth: int) -> Iterator[Charge]:
    """Charge a file by what it brings along; one that is only named has a flat price."""
    source = part.get("source")
    if isinstance(source, Mapping) and source.get("type") in ("text", "content"):
        yield from _content_charges(source.get("data", source.get("content")), depth + 1)
        for key in ("title", "context"):
            yield from _content_charges(part.get(key), depth + 1)
        return
    sizes: list[int] = []
    data = {key: value for key, value in part.items() if key not in _UNSEEN}
    text = _as_json(_without_payloads(data, _media_type(part), sizes, 0))
    yield text
    yield sum(sizes) or MIN_FILE_TOKENS


def _media_type(part: Mapping[str, Any]) -> str:
    """Return what is said of the media type, such as `application/pdf` or only `audio`."""
    kind = str(part.get("type"))
    for value in (part, part.get("source"), part.get("resource")):
        if isinstance(value, Mapping):
            for key in ("media_type", "mime_type", "mimeType"):
                if isinstance(value.get(key), str):
                    return str(value[key])
    return next((name for name in ("audio", "video") if name in kind), "")


def _data_charges(value: object) -> Iterator[Charge]:
    """Charge a value of unknown meaning as JSON, its payloads by size."""
    sizes: list[int] = []
    clean = _without_payloads(value, "", sizes, 0)
    yield clean if isinstance(clean, str) else _as_json(clean)
    yield from sizes


def _without_payloads(value: object, media_type: str, sizes: list[int], depth: int) -> object:
    """Return the value without encoded data; the prices of what was left out go to `sizes`."""
    if depth > MAX_DEPTH:
        return _scattered(value)
    if isinstance(value, str):
        price = _payload_price(value, media_type)
        if price is None:
            return value
        sizes.append(price)
        return ""
    if isinstance(value, Mapping):
        return {
            key: _without_payloads(item, media_type, sizes, depth + 1)
            for key, item in value.items()
        }
    if isinstance(value, list):
        return [_without_payloads(item, media_type, sizes, depth + 1) for item in value]
    return value


def _payload_price(value: str, media_type: str) -> int | None:
    url = data_url(value)
    if url is not None:
        is_image = url[0].startswith("image/")
        return UNKNOWN_IMAGE_TOKENS if is_image else payload_tokens(url[1], url[0])
    return payload_tokens(len(value), media_type) if _is_base64(value) else None


def _is_base64(value: str) -> bool:
    """Return whether a long text is encoded data, judged by its first part."""
    if len(value) < MIN_PAYLOAD_CHARS:
        return False
    head = "".join(value[:MIN_PAYLOAD_CHARS].split())
    letters = head.translate({ord(sign): None for sign in "+/=-_"})
    # Words have blanks between them; base64 has line ends at most every 60 characters.
    return len(head) > 0.97 * MIN_PAYLOAD_CHARS and letters.isascii() and letters.isalnum()


def _as_json(value: object) -> str:
    try:
        return json.dumps(
            value, ensure_ascii=False, separators=(",", ":"), skipkeys=True, default=str
        )
    except (TypeError, ValueError, RecursionError):
        return _scattered(value)


def _scattered(value: object) -> str:
    """Return the plain values inside data that JSON cannot hold: circular, or nested too deep."""
    texts: list[str] = []
    seen: set[int] = set()
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, (Mapping, list, tuple)):
            if id(item) not in seen:
                seen.add(id(item))
                left += [*item.keys(), *item.values()] if isinstance(item, Mapping) else item
        else:
            texts.append(str(item))
    return " ".join(texts)
