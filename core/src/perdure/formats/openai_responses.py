"""OpenAI Responses: input items to messages, and messages to items.

The items of one model turn (reasoning, calls, text, and what the provider ran itself) become one
assistant message, so that a reasoning item and what it led to can only stay or go together.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, cast

from perdure.errors import InputError
from perdure.formats.pairing import Pairs, pairs_of
from perdure.formats.parts import (
    from_responses,
    joined_text,
    kind_of,
    public,
    simplest,
    texts,
    to_responses,
)
from perdure.formats.records import UNREADABLE, Request, make_entry, unreadable
from perdure.messages import (
    PRIVATE_KEY,
    call_arguments,
    call_name,
    group,
    is_system,
    tool_calls_of,
    validate,
)
from perdure.transcript import RawPart

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from perdure.messages import Message
    from perdure.transcript import Entry

Item = dict[str, Any]

_ROLES = frozenset({"user", "assistant", "system", "developer"})
# Calls and results that can be written again from a message; the others are structured.
_PLAIN_CALLS = frozenset({"function_call", "custom_tool_call"})
_PLAIN_RESULTS = frozenset({"function_call_output", "custom_tool_call_output"})
_ERROR_MARK = "[error] "

# ------------------------------------------------------------------------------- reading


def entries_of(
    items: Sequence[Any],
    instructions: Any = None,  # noqa: ANN401 - text or items, as it came
    source: str | None = None,
) -> list[Entry]:
    """Return the entries of a list of input items, the instructions first.

    Raises:
        InputError: An item has neither a type nor a role, or content of a wrong type.
    """
    entries = [_instructions_entry(instructions, source)] if instructions else []
    turn: list[Item] = []
    for index, item in enumerate(items):
        kind = _kind(item, index, source)
        if kind == "model":
            turn.append(item)
            continue
        entries += _flushed(turn, index - 1, source)
        turn = []
        message = _result_message(item) if kind == "result" else _plain_message(item)
        entries.append(make_entry(message, _raw(item), index, source))
    return [*entries, *_flushed(turn, len(items) - 1, source)]


def _instructions_entry(instructions: Any, source: str | None) -> Entry:  # noqa: ANN401
    if not isinstance(instructions, (str, list)):
        found = type(instructions).__name__
        text = f"the instructions are of type {found}; give text"
        raise InputError(text, source=source)
    held = instructions if isinstance(instructions, str) else joined_text(instructions)
    return make_entry({"role": "system", "content": held}, _raw(instructions), 0, source)


def _raw(*items: Any) -> RawPart:  # noqa: ANN401 - items as they came
    several = items if len(items) > 1 else ()
    return RawPart(items[0], blocks=items, items=several, format="responses")


def _kind(item: Any, index: int, source: str | None) -> str:  # noqa: ANN401 - checked here
    """Return `message`, `result` or `model` (everything that belongs to the model's turn)."""
    kind = kind_of(item)
    if kind not in ("", "message"):
        return "result" if kind.endswith("_output") and _call_id(item) else "model"
    validate(item, index, source)
    if item["role"] not in _ROLES:
        text = (
            f"item {index} has role {item['role']!r}, which Responses items do not have; expected "
            "user, assistant, system or developer, or name the format 'openai'"
        )
        raise InputError(text, source=source, index=index)
    return "model" if item["role"] == "assistant" else "message"


def _call_id(item: Item) -> str | None:
    found = item.get("call_id") or (item.get("id") if "output" in item else None)
    return found if isinstance(found, str) else None


def _plain_message(item: Item) -> Message:
    content = item.get("content")
    if not isinstance(content, list):
        return cast("Message", item)
    parts = [from_responses(part) for part in content]
    return {"role": item["role"], "content": simplest(parts)}


def _result_message(item: Item) -> Message:
    output = item.get("output", item.get("content"))
    content: Any = output
    if isinstance(output, dict):
        output = [output]
    if isinstance(output, list):
        parts = [from_responses(part) for part in output]
        known = all(isinstance(part, dict) and "type" in part for part in parts)
        content = simplest(parts) if known else json.dumps(output, ensure_ascii=False, default=str)
    elif not isinstance(output, str):
        content = "" if output is None else json.dumps(output, default=str)
    return {"role": "tool", "tool_call_id": str(_call_id(item)), "content": content}


def _flushed(turn: list[Item], last: int, source: str | None) -> Iterator[Entry]:
    if not turn:
        return
    try:
        message = _turn_message(turn)
    except UNREADABLE as cause:
        raise unreadable(last, source, cause) from cause
    yield make_entry(message, _raw(*turn), last, source)


def _turn_message(turn: list[Item]) -> Message:
    if (
        len(turn) == 1
        and set(turn[0]) <= {"role", "content"}
        and not isinstance(turn[0].get("content"), list)
    ):
        return cast("Message", turn[0])
    parts: list[Any] = []
    calls: list[Item] = []
    thoughts: list[str] = []
    phase = None
    for item in turn:
        kind = kind_of(item) or "message"
        if kind == "message":
            parts += [from_responses(part) for part in texts(item.get("content"))]
            phase = item.get("phase", phase)
        elif kind == "reasoning":
            thoughts += _thoughts(item)
        elif kind.endswith("_call") and isinstance(item.get("call_id"), str):
            calls.append(_call(item))
        else:
            parts.append(item)
    message: Item = {"role": "assistant", "content": simplest(parts) if parts else ""}
    if calls:
        message.update(tool_calls=calls, content=message["content"] or None)
    if thoughts:
        message["reasoning_content"] = "\n\n".join(thoughts)
    if phase is not None:
        message["phase"] = phase
    return cast("Message", message)


def _thoughts(item: Item) -> list[str]:
    parts = [*texts(item.get("summary")), *texts(item.get("content"))]
    found = [part.get("text") for part in parts if isinstance(part, dict)]
    return [text for text in found if isinstance(text, str) and text]


def _call(item: Item) -> Item:
    if item["type"] == "custom_tool_call":
        custom = {"name": item.get("name"), "input": item.get("input")}
        return {"id": item["call_id"], "type": "custom", "custom": custom}
    if item["type"] == "function_call":
        name, arguments = item.get("name"), item.get("arguments")
    else:
        name = item["type"].removesuffix("_call")
        own = {"type", "id", "call_id", "status"}
        arguments = {key: value for key, value in item.items() if key not in own}
    if not isinstance(arguments, str):
        arguments = json.dumps(arguments, ensure_ascii=False)
    function = {"name": name, "arguments": arguments}
    return {"id": item["call_id"], "type": "function", "function": function}


# ------------------------------------------------------------------------------- writing


def request_of(entries: Sequence[Entry]) -> Request:
    """Return entries of any format as a Responses request.

    Untouched turns go back as their items. A turn of which something was replaced is written anew
    without its reasoning; a call that needs a structured result becomes a plain function call when
    its result was replaced.
    """
    start = _leading_system(entries)
    body = entries[start:]
    messages = [entry.message for entry in body]
    kept = _kept(body, messages)
    pairs = pairs_of(messages, kept)
    items: list[Item] = []
    for index, entry in enumerate(body):
        if kept[index] and index not in pairs.changed:
            items += [public(item) for item in _items(entry)]
        else:
            items += [public(item) for item in _written(entry.message, index, pairs)]
    return Request(format="responses", messages=items, system=_instructions(entries[:start]))


def _items(entry: Entry) -> tuple[Item, ...]:
    raw = entry.raw
    if raw is None or raw.format != "responses" or not isinstance(raw.item, dict):
        return ()
    return raw.items or (raw.item,)


def _leading_system(entries: Sequence[Entry]) -> int:
    count = 0
    for entry in entries:
        if not is_system(entry.message) or _items(entry) or PRIVATE_KEY in entry.message:
            break
        count += 1
    return count


def _instructions(entries: Sequence[Entry]) -> Any:  # noqa: ANN401 - text or items, as it came
    if not entries:
        return None
    raw = entries[0].raw
    if len(entries) == 1 and raw is not None and raw.format == "responses":
        return raw.item
    held = (joined_text(texts(entry.message.get("content"))) for entry in entries)
    return "\n\n".join(text for text in held if text) or None


def _kept(entries: Sequence[Entry], messages: Sequence[Message]) -> list[bool]:
    """Return which entries go back as their items."""
    kept = [bool(_items(entry)) for entry in entries]
    for unit in group(messages):
        span = range(unit.first, unit.last + 1)
        if unit.kind == "calls" and not all(kept[index] for index in span):
            held = [item for index in span for item in _items(entries[index])]
            if any(_is_structured(item) for item in held):
                for index in span:
                    kept[index] = False
    return kept


def _is_structured(item: Item) -> bool:
    kind = kind_of(item)
    if not kind or kind in _PLAIN_CALLS or kind in _PLAIN_RESULTS:
        return False
    is_call = kind.endswith("_call") and isinstance(item.get("call_id"), str)
    return is_call or kind.endswith("_output")


def _written(message: Message, index: int, pairs: Pairs) -> Iterator[Item]:
    role = message["role"]
    if role == "assistant":
        yield from _assistant_items(message, pairs.call_ids.get(index, []))
    elif role in ("tool", "function"):
        yield _result_item(message, index, pairs)
    else:
        content = message.get("content")
        if isinstance(content, list):
            content = [to_responses(part) for part in content]
        yield {"role": role, "content": "" if content is None else content}


def _assistant_items(message: Message, call_ids: list[str]) -> Iterator[Item]:
    content = message.get("content")
    if content:
        if isinstance(content, list):
            content = [to_responses(part, of_model=True) for part in content]
        phase = cast("Item", message).get("phase")
        yield {"role": "assistant", "content": content, **({"phase": phase} if phase else {})}
    for call, call_id in zip(tool_calls_of(message), call_ids, strict=True):
        if isinstance(call.get("custom"), dict):
            custom = {"name": call_name(call), "input": call_arguments(call)}
            yield {"type": "custom_tool_call", "call_id": call_id, **custom}
        else:
            function = {"name": call_name(call), "arguments": call_arguments(call)}
            yield {"type": "function_call", "call_id": call_id, **function}


def _result_item(message: Message, index: int, pairs: Pairs) -> Item:
    call_id, call = pairs.results.get(index, (message.get("tool_call_id"), {}))
    kind = "custom_tool_call_output" if "custom" in call else "function_call_output"
    content: Any = message.get("content")
    if isinstance(content, list):
        content = [to_responses(part) for part in content]
    if message.get("is_error"):
        mark = {"type": "input_text", "text": _ERROR_MARK.strip()}
        content = [mark, *content] if isinstance(content, list) else f"{_ERROR_MARK}{content or ''}"
    return {"type": kind, "call_id": call_id, "output": content or ""}
