"""Anthropic Messages: items to messages, and messages to items.

A user turn becomes one tool message per result, then a user message for the rest; an assistant turn
becomes one message. Each carries the item it came from, so that an untouched item goes back as the
object that it was, thinking and signatures included.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from perdure.errors import InputError
from perdure.formats.pairing import Pairs, pairs_of
from perdure.formats.parts import (
    from_anthropic,
    is_blank,
    kind_of,
    public,
    public_parts,
    simplest,
    texts,
    to_anthropic,
)
from perdure.formats.records import UNREADABLE, Request, make_entry, unreadable
from perdure.messages import (
    PRIVATE_KEY,
    call_arguments,
    call_name,
    is_system,
    text_of,
    tool_calls_of,
    validate,
)
from perdure.transcript import RawPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from perdure.messages import Message
    from perdure.transcript import Entry

Item = dict[str, Any]

THINKING_TYPES = frozenset({"thinking", "redacted_thinking"})
_ROLES = frozenset({"user", "assistant", "system"})
_EMPTY = {"type": "text", "text": "[no text]"}

# ------------------------------------------------------------------------------- reading


def entries_of(
    items: Sequence[Any],
    system: Any = None,  # noqa: ANN401 - text or blocks, as it came
    source: str | None = None,
) -> list[Entry]:
    """Return the entries of a list of Anthropic messages, the system text first.

    Raises:
        InputError: An item has no role, a role of another format, or content of a wrong type.
    """
    entries = [system_entry(system, source)] if system else []
    for index, item in enumerate(items):
        _check(item, index, source)
        entries += item_entries(item, index, source)
    return entries


def system_entry(system: Any, source: str | None = None) -> Entry:  # noqa: ANN401 - as it came
    """Return the entry of the text that stands beside the messages."""
    if not isinstance(system, (str, list)):
        found = type(system).__name__
        text = f"the system prompt is of type {found}; give text or a list of text blocks"
        raise InputError(text, source=source)
    message: Message = {"role": "system", "content": simplest(texts(system))}
    blocks = tuple(texts(system))
    return make_entry(message, RawPart(system, blocks=blocks, format="anthropic"), 0, source)


def item_entries(
    item: Item, index: int, source: str | None = None, typed: Sequence[Sequence[Any]] | None = None
) -> list[Entry]:
    """Return the entries of one item.

    Args:
        item: An Anthropic message.
        index: Its place in the input, for errors.
        source: File that it came from, for errors.
        typed: How the blocks of a user turn that are no results are shared among user messages;
            None puts all into one.
    """
    content = item.get("content")
    try:
        if not isinstance(content, list):
            made: list[tuple[Message, Sequence[Any]]] = [(cast("Message", item), ())]
        elif item["role"] == "assistant":
            made = [(_assistant_message(content), content)]
        elif item["role"] == "system":
            made = [({"role": "system", "content": simplest(content)}, content)]
        else:
            made = list(_user_messages(content, typed))
    except UNREADABLE as cause:
        raise unreadable(index, source, cause) from cause
    return [
        make_entry(
            message,
            RawPart(item, place, len(made), tuple(blocks), format="anthropic"),
            index,
            source,
        )
        for place, (message, blocks) in enumerate(made)
    ]


def is_tool_result(block: Any) -> bool:  # noqa: ANN401 - a block of any shape
    """Return whether a block is a result that answers a call."""
    return kind_of(block) == "tool_result"


def _check(item: Any, index: int, source: str | None) -> None:  # noqa: ANN401 - checked here
    validate(item, index, source)
    if item["role"] not in _ROLES:
        text = (
            f"message {index} has role {item['role']!r}, which Anthropic messages do not have; "
            "expected user or assistant, or name the format 'openai'"
        )
        raise InputError(text, source=source, index=index)


def _user_messages(
    content: list[Any], typed: Sequence[Sequence[Any]] | None
) -> Iterator[tuple[Message, Sequence[Any]]]:
    rest = []
    for block in content:
        if is_tool_result(block):
            yield _tool_message(block), (block,)
        else:
            rest.append(block)
    if typed is None:
        typed = [rest] if rest or not content else []
    for blocks in typed:
        parts = [from_anthropic(block) for block in blocks]
        yield {"role": "user", "content": simplest(parts)}, blocks


def _tool_message(block: Item) -> Message:
    parts = [from_anthropic(part) for part in texts(block.get("content"))]
    message: dict[str, Any] = {
        "role": "tool",
        "tool_call_id": block.get("tool_use_id"),
        "content": simplest(parts) if parts else "",
    }
    if block.get("is_error"):
        message["is_error"] = True
    return cast("Message", message)


def _assistant_message(content: list[Any]) -> Message:
    parts, calls, thoughts = [], [], []
    for block in content:
        kind = kind_of(block)
        if kind == "tool_use":
            calls.append(_call(block))
        elif kind in THINKING_TYPES:
            thoughts.append(block.get("thinking"))
        else:
            parts.append(from_anthropic(block))
    message: Message = {"role": "assistant", "content": simplest(parts) if parts else ""}
    if calls:
        message["tool_calls"] = calls
        if not parts:
            message["content"] = None
    thinking = "\n\n".join(text for text in thoughts if isinstance(text, str) and text)
    if thinking:
        message["reasoning_content"] = thinking
    return message


def _call(block: Item) -> dict[str, Any]:
    given = block.get("input")
    arguments = json.dumps({} if given is None else given, ensure_ascii=False)
    function = {"name": block.get("name"), "arguments": arguments}
    return {"id": block.get("id"), "type": "function", "function": function}


# ------------------------------------------------------------------------------- writing


@dataclass(slots=True)
class _Turn:
    """One item in the making.

    Attributes:
        item: Set while the turn is an untouched original.
        is_text: Whether everything in it came from plain text and may be written as such.
    """

    role: str
    results: list[Any] = field(default_factory=list)
    rest: list[Any] = field(default_factory=list)
    item: Item | None = None
    is_text: bool = False

    def finished(self) -> Item:
        if self.item is not None:
            return public(self.item)
        blocks = [*self.results, *self.rest] or [dict(_EMPTY)]
        if self.is_text and len(blocks) == 1 and kind_of(blocks[0]) == "text":
            return {"role": self.role, "content": blocks[0]["text"]}
        return public({"role": self.role, "content": blocks})


def request_of(entries: Sequence[Entry]) -> Request:
    """Return entries of any format as an Anthropic request.

    Untouched items go back as they came. Where something was replaced, neighbours of one role are
    merged, results come first in a user turn, and calls and results get ids that Anthropic accepts.
    Thinking that has no signature of its own is left out.
    """
    start = _leading_system(entries)
    body = entries[start:]
    messages = [entry.message for entry in body]
    pairs = pairs_of(messages, [_is_native(entry) for entry in body])
    turns: list[_Turn] = []
    index = 0
    while index < len(body):
        raw, length = body[index].raw, _whole_item(body, index, pairs)
        if raw is not None and length:
            _add(turns, _Turn(str(raw.item["role"]), item=raw.item))
        else:
            _add(turns, _rebuilt(body[index], index, pairs))
        index += length or 1
    return Request(
        format="anthropic",
        messages=[turn.finished() for turn in turns],
        system=_system(entries[:start]),
    )


def _is_native(entry: Entry) -> bool:
    raw = entry.raw
    return raw is not None and raw.format == "anthropic" and isinstance(raw.item, dict)


def _leading_system(entries: Sequence[Entry]) -> int:
    """Return how many entries belong into `system`: what the host put first, nothing of ours."""
    count = 0
    for entry in entries:
        if not is_system(entry.message) or _is_native(entry) or PRIVATE_KEY in entry.message:
            break
        count += 1
    return count


def _system(entries: Sequence[Entry]) -> Any:  # noqa: ANN401 - text or blocks, as it came
    if not entries:
        return None
    raw = entries[0].raw
    if len(entries) == 1 and raw is not None and raw.format == "anthropic":
        return public_parts(raw.item) if isinstance(raw.item, list) else raw.item
    blocks: list[Any] = []
    for entry in entries:
        if entry.raw is not None and entry.raw.format == "anthropic":
            blocks += entry.raw.blocks
        else:
            made = [to_anthropic(part) for part in texts(entry.message.get("content"))]
            blocks += [block for block in made if block["type"] == "text" and not is_blank(block)]
    is_plain = bool(blocks) and set(blocks[0]) == {"type", "text"}
    return simplest(blocks) if is_plain else public_parts(blocks) or None


def _whole_item(entries: Sequence[Entry], index: int, pairs: Pairs) -> int:
    """Return how many entries from `index` on are one untouched item, or 0."""
    raw = entries[index].raw
    if raw is None or not _is_native(entries[index]) or raw.index != 0:
        return 0
    if index + raw.count > len(entries):
        return 0
    for place in range(raw.count):
        other = entries[index + place].raw
        if other is None or other.item is not raw.item or other.index != place:
            return 0
        if index + place in pairs.changed:
            return 0
    return raw.count


def _rebuilt(entry: Entry, index: int, pairs: Pairs) -> _Turn:
    message, raw = entry.message, entry.raw
    role = message.get("role")
    is_text = isinstance(message.get("content"), str)
    if role == "assistant":
        if raw is not None and _is_native(entry):
            return _Turn("assistant", rest=list(raw.blocks or texts(message.get("content"))))
        blocks = _assistant_blocks(message, pairs.call_ids.get(index, []))
        return _Turn("assistant", rest=blocks, is_text=is_text)
    if role == "tool":
        is_new = index in pairs.changed or (index in pairs.results and not _is_native(entry))
        new_id = pairs.results[index][0] if is_new else None
        return _Turn("user", results=[_result_block(entry, new_id)])
    if role == "user":
        if raw is not None and _is_native(entry) and raw.blocks:
            return _Turn("user", rest=list(raw.blocks))
        return _Turn("user", rest=_blocks(message.get("content")), is_text=is_text)
    label = f"Result of {message.get('name')}" if role == "function" else "System note"
    told = {"type": "text", "text": f"[{label}]\n{text_of(message)}"}
    return _Turn("user", rest=[told], is_text=True)


def _blocks(content: Any) -> list[Any]:  # noqa: ANN401 - content of any shape
    made = [to_anthropic(part) for part in texts(content)]
    return [block for block in made if not is_blank(block)]


def _result_block(entry: Entry, new_id: str | None) -> Item:
    message, raw = entry.message, entry.raw
    if raw is not None and _is_native(entry):
        block: Item = raw.blocks[0]
        return block if new_id is None else {**block, "tool_use_id": new_id}
    content = message.get("content")
    block = {
        "type": "tool_result",
        "tool_use_id": message.get("tool_call_id") if new_id is None else new_id,
        "content": _blocks(content) if isinstance(content, list) else str(content or ""),
    }
    return {**block, "is_error": True} if message.get("is_error") else block


def _assistant_blocks(message: Message, call_ids: list[str]) -> list[Any]:
    # An assistant turn holds text and calls only; an image that a copy brought along is told.
    blocks = [_only_text(block) for block in _blocks(message.get("content"))]
    for call, call_id in zip(tool_calls_of(message), call_ids, strict=True):
        blocks.append(
            {"type": "tool_use", "id": call_id, "name": call_name(call), "input": _input(call)}
        )
    old_call = message.get("function_call")
    if isinstance(old_call, dict):
        told = f"[Call of {old_call.get('name')}] {old_call.get('arguments')}"
        blocks.append({"type": "text", "text": told})
    return blocks


def _only_text(block: Item) -> Item:
    if block["type"] == "text":
        return block
    return {"type": "text", "text": f"[{block['type']}: not part of an assistant turn]"}


def _input(call: dict[str, Any]) -> dict[str, Any]:
    """Return arguments as the object that Anthropic wants; what is none is kept as text in one."""
    text = call_arguments(call)
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"raw_arguments": text} if text.strip() else {}
    return value if isinstance(value, dict) else {"raw_arguments": text}


def _add(turns: list[_Turn], new: _Turn) -> None:
    last = turns[-1] if turns else None
    untouched = last is not None and last.item is not None and new.item is not None
    if last is None or last.role != new.role or new.role == "system" or untouched:
        turns.append(new)
        return
    for turn in (last, new):
        if turn.item is not None:
            content = turn.item.get("content")
            blocks = content if isinstance(content, list) else _blocks(content)
            turn.results = [block for block in blocks if is_tool_result(block)]
            turn.rest = [block for block in blocks if not is_tool_result(block)]
            turn.item = None
    last.is_text = last.is_text and new.is_text
    last.results += new.results
    last.rest += new.rest
