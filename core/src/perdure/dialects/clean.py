"""The OpenAI wire copy of single messages: keys of the API only, no blank content, UTF-8."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.openai_chat import CALL_KEYS, KEYS
from perdure.dialects.text import encodable, is_blank, is_blank_part

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perdure.dialects.problem import Notes
    from perdure.dialects.slots import Slot

EMPTY_RESULT = "[empty result]"
EMPTY_MESSAGE = "[empty message]"
_STANDS_ALONE = ("refusal", "audio", "function_call")


def cleaned(slots: list[Slot], notes: Notes) -> list[Slot]:
    """Return the slots with their messages cleaned; untouched ones are the same objects."""
    kept = []
    for slot in slots:
        message = clean(slot.message)
        kept.append(slot if message is slot.message else slot.recopied(message))
    changed = sum(1 for old, new in zip(slots, kept, strict=True) if old is not new)
    notes["cleaned keys, blank content or characters of a message"] += changed
    return kept


def clean(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a message as any OpenAI-compatible server takes it; the same object when it is."""
    return encodable(_with_known_keys(_with_content(message)))  # type: ignore[no-any-return]


def _with_known_keys(message: Mapping[str, Any]) -> Mapping[str, Any]:
    known = KEYS.get(str(message.get("role")))
    if known is None:
        return message
    calls = message.get("tool_calls")
    clean_calls = [_clean_call(call) for call in calls] if isinstance(calls, list) else calls
    same_calls = not isinstance(calls, list) or all(map(_is_same, calls, clean_calls or ()))
    if same_calls and all(key in known for key in message):
        return message
    kept = {key: value for key, value in message.items() if key in known}
    if "tool_calls" in kept:
        kept["tool_calls"] = clean_calls
    return kept


def _is_same(first: object, second: object) -> bool:
    return first is second


def _clean_call(call: Any) -> Any:  # noqa: ANN401 - malformed calls are left as they are
    if not isinstance(call, dict) or all(key in CALL_KEYS for key in call):
        return call
    return {key: value for key, value in call.items() if key in CALL_KEYS}


def _with_content(message: Mapping[str, Any]) -> Mapping[str, Any]:
    content = message.get("content")
    if isinstance(content, list):
        kept = [part for part in content if not is_blank_part(part)]
        if kept and len(kept) == len(content):
            return message
        return {**message, "content": kept or _instead(message)}
    if not is_blank(content):
        return message
    instead = _instead(message)
    return message if instead == content else {**message, "content": instead}


def _instead(message: Mapping[str, Any]) -> str | None:
    """Return what stands for empty content: null where the API allows it, else a short note."""
    role = message.get("role")
    if role == "assistant" and message.get("tool_calls"):
        return None
    if role == "assistant" and any(map(message.get, _STANDS_ALONE)):
        return None
    return EMPTY_RESULT if role in ("tool", "function") else EMPTY_MESSAGE
