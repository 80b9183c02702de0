"""OpenAI Chat Completions: its messages are ours, so reading keeps the objects themselves.

Writing converts only lists that came from another format.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from perdure.formats.pairing import Pairs, pairs_of
from perdure.formats.parts import (
    IMAGE_TYPES,
    joined_text,
    kind_of,
    public,
    simplest,
    texts,
    to_openai,
)
from perdure.formats.records import Request, make_entry
from perdure.messages import call_arguments, call_name, is_result, tool_calls_of, validate

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.messages import Message
    from perdure.transcript import Entry

Item = dict[str, Any]

# Keys that mean something in this format, by role. The reasoning keys are extensions which
# compatible servers want back while a tool loop is open.
_KEYS = {
    "user": ("role", "name", "content"),
    "assistant": (
        "role",
        "name",
        "content",
        "reasoning_content",
        "reasoning_details",
        "refusal",
        "audio",
        "function_call",
        "tool_calls",
    ),
    "tool": ("role", "tool_call_id", "content"),
}
_ERROR_MARK = "[error] "


def entries_of(items: Sequence[Any], source: str | None = None) -> list[Entry]:
    """Return the entries of a list of chat messages; each entry holds the object given.

    Raises:
        InputError: A message has no known role, or content or calls of a wrong type.
    """
    entries = []
    for index, item in enumerate(items):
        validate(item, index, source)
        entries.append(make_entry(item, None, index, source))
    return entries


def request_of(entries: Sequence[Entry]) -> Request:
    """Return entries of any format as a chat request.

    Messages of a list that was chat from the start are the same objects, without private keys.
    In a list from another format, what chat does not know becomes text: cache marks are left out,
    a failed result is marked in its text, and images in results move to the user message after
    them, since a tool message holds text only.
    """
    if all(entry.raw is None for entry in entries):
        messages = [public(cast("Item", entry.message)) for entry in entries]
        return Request(format="openai", messages=messages)
    given = [entry.message for entry in entries]
    pairs = pairs_of(given, [False] * len(given))
    made: list[Item] = []
    images: list[Item] = []
    for index, message in enumerate(given):
        new = _converted(message, index, pairs)
        if images and not is_result(message):
            if new["role"] == "user":
                new["content"] = [*_shown(images), *texts(new["content"])]
            else:
                made.append({"role": "user", "content": _shown(images)})
            images = []
        if message.get("role") == "tool":
            images += [to_openai(part) for part in texts(message.get("content")) if _is_image(part)]
        made.append(new)
    if images:
        made.append({"role": "user", "content": _shown(images)})
    return Request(format="openai", messages=[public(message) for message in made])


def _converted(message: Message, index: int, pairs: Pairs) -> Item:
    role = message["role"]
    content = message.get("content")
    held = cast("Item", message)
    made = {key: held[key] for key in _KEYS.get(role, _KEYS["user"]) if key in held}
    if role == "tool":
        made["content"] = _result_text(message)
        if index in pairs.results:
            made["tool_call_id"] = pairs.results[index][0]
    elif role == "user":
        parts = [to_openai(part) for part in texts(content)]
        made["content"] = simplest(parts) if parts else ""
    elif isinstance(content, list):
        made["content"] = joined_text(content)
    if index in pairs.call_ids:
        made["content"] = made.get("content") or None
        made["tool_calls"] = [
            _call(call, call_id)
            for call, call_id in zip(tool_calls_of(message), pairs.call_ids[index], strict=True)
        ]
    return made


def _call(call: Item, call_id: str) -> Item:
    if isinstance(call.get("custom"), dict):
        return {"id": call_id, "type": "custom", "custom": call["custom"]}
    function = {"name": call_name(call), "arguments": call_arguments(call)}
    return {"id": call_id, "type": "function", "function": function}


def _result_text(message: Message) -> str:
    parts = texts(message.get("content"))
    text = joined_text(part for part in parts if not _is_image(part))
    if any(_is_image(part) for part in parts):
        text = f"{text}\n[image: shown in the next user message]".lstrip("\n")
    return f"{_ERROR_MARK}{text}" if message.get("is_error") else text


def _is_image(part: object) -> bool:
    return kind_of(part) in IMAGE_TYPES


def _shown(images: list[Item]) -> list[Item]:
    return [{"type": "text", "text": "[images of the tool results above]"}, *images]
