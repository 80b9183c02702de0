"""OpenAI chat messages as messages of pydantic-ai, and back."""

from __future__ import annotations

import json
from itertools import groupby

from protocol import plain
from pydantic_ai import messages as pai


def to_model(messages: list[dict]) -> list[pai.ModelMessage]:
    """Return messages of pydantic-ai; neighbours on the same side are one message."""
    names: dict[str, str] = {}
    made: list[pai.ModelMessage] = []
    for is_response, group in groupby(messages, key=lambda m: m["role"] == "assistant"):
        if is_response:
            made += [response(message, names) for message in group]
        else:
            made.append(pai.ModelRequest(parts=[request_part(m, names) for m in group]))
    return made


def response(message: dict, names: dict[str, str]) -> pai.ModelResponse:
    parts: list = [pai.TextPart(plain(message))] if plain(message) else []
    for call in message.get("tool_calls") or ():
        names[call["id"]] = call["function"]["name"]
        parts.append(
            pai.ToolCallPart(
                call["function"]["name"], call["function"]["arguments"], tool_call_id=call["id"]
            )
        )
    return pai.ModelResponse(parts=parts)


def request_part(message: dict, names: dict[str, str]) -> pai.ModelRequestPart:
    text = plain(message)
    if message["role"] == "system":
        return pai.SystemPromptPart(text)
    if message["role"] == "tool":
        called = message["tool_call_id"]
        return pai.ToolReturnPart(names.get(called, "tool"), text, tool_call_id=called)
    return pai.UserPromptPart(text)


def from_model(messages: list[pai.ModelMessage]) -> list[dict]:
    """Return OpenAI chat messages."""
    made = []
    for message in messages:
        if isinstance(message, pai.ModelResponse):
            made.append(assistant(message))
        else:
            made += [requested(part) for part in message.parts]
    return made


def assistant(message: pai.ModelResponse) -> dict:
    texts = [part.content for part in message.parts if isinstance(part, pai.TextPart)]
    calls = [
        {
            "id": part.tool_call_id,
            "type": "function",
            "function": {"name": part.tool_name, "arguments": part.args_as_json_str()},
        }
        for part in message.parts
        if isinstance(part, pai.ToolCallPart)
    ]
    found = {"role": "assistant", "content": "\n".join(texts) or None}
    return {**found, "tool_calls": calls} if calls else found


def requested(part: pai.ModelRequestPart) -> dict:
    content = part.content
    if not isinstance(content, str):
        texts = [x if isinstance(x, str) else getattr(x, "content", x) for x in content]
        content = "\n".join(x if isinstance(x, str) else json.dumps(x, default=str) for x in texts)
    if isinstance(part, pai.ToolReturnPart):
        return {"role": "tool", "tool_call_id": part.tool_call_id, "content": content}
    role = "system" if isinstance(part, pai.SystemPromptPart) else "user"
    return {"role": role, "content": content}
