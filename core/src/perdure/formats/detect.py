"""Tells provider formats apart by what the messages hold."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perdure.formats.records import Format

_CALL_BLOCKS = frozenset({"tool_use", "tool_result", "server_tool_use", "redacted_thinking"})
_PART_FORMATS: dict[str, Format] = {
    "input_text": "responses",
    "output_text": "responses",
    "input_image": "responses",
    "input_file": "responses",
    "thinking": "anthropic",
    "image": "anthropic",
    "document": "anthropic",
    "search_result": "anthropic",
}


def detect(data: object) -> Format:
    """Return the provider format of a request body or a list of messages.

    Chat is the answer when nothing speaks against it: plain text messages look the same everywhere.

    Args:
        data: A body (`messages` or `input` with what stands beside it) or a list of messages.
    """
    if isinstance(data, Mapping):
        return _of_body(data)
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return _of_items(data) or "openai"
    return "openai"


def _of_body(body: Mapping[str, Any]) -> Format:
    messages = body.get("messages")
    if messages is None:
        return "responses" if "input" in body else "openai"
    found = _of_items(messages) if isinstance(messages, list) else None
    if found == "openai":
        return found
    if found == "anthropic" or "system" in body or "anthropic_version" in body:
        return "anthropic"
    tools = body.get("tools")
    first = tools[0] if isinstance(tools, list) and tools else None
    return "anthropic" if isinstance(first, Mapping) and "input_schema" in first else "openai"


def _of_items(items: Sequence[Any]) -> Format | None:
    """Return the format that the strongest sign points to, or None without any sign.

    Keys and roles of the message itself are stronger than the parts inside it.
    """
    weak: Format | None = None
    for item in items:
        if not isinstance(item, Mapping):
            continue
        strong = _of_message(item)
        if strong is not None:
            return strong
        weak = weak or next(_of_parts(item.get("content")), None)
    return weak


def _of_message(item: Mapping[str, Any]) -> Format | None:
    kind, role = item.get("type"), item.get("role")
    if role is None:
        return "responses" if isinstance(kind, str) and _is_item_type(kind) else None
    if role in ("tool", "function") or item.get("tool_calls"):
        return "openai"
    content = item.get("content")
    parts = content if isinstance(content, list) else []
    kinds = {part.get("type") for part in parts if isinstance(part, Mapping) and _has_kind(part)}
    if kinds & _CALL_BLOCKS:
        return "anthropic"
    # A whole Anthropic response that a host appended is also a `message`, but of `text` blocks.
    return "responses" if kind == "message" and "text" not in kinds else None


def _is_item_type(kind: str) -> bool:
    return kind in ("reasoning", "item_reference", "compaction") or kind.endswith(
        ("_call", "_output")
    )


def _has_kind(part: Mapping[str, Any]) -> bool:
    return isinstance(part.get("type"), str)


def _of_parts(content: object) -> Iterator[Format]:
    for part in content if isinstance(content, list) else ():
        kind = part.get("type") if isinstance(part, Mapping) else None
        if isinstance(kind, str) and kind in _PART_FORMATS:
            yield _PART_FORMATS[kind]
        elif kind in ("image_url", "input_audio", "file"):
            yield "openai"
