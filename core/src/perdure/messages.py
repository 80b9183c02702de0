"""Messages in the shape of OpenAI chat completions, and what can be said of them without an engine.

A `Message` is a plain dict: `role` (system, developer, user, assistant, tool), `content` (text, a
list of parts, or None beside tool calls), `tool_calls` and `tool_call_id`. Unknown keys are legal
and kept. Keys that start with an underscore are private: they are no part of a message's identity
and never reach a provider.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter, deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypedDict

from perdure.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

PRIVATE_KEY = "_perdure"
SYSTEM_ROLES = frozenset({"system", "developer"})
MAX_DEPTH = 100
"""Levels of nesting that content may have; more breaks the recursion that JSON libraries share."""
ROLES = frozenset({"system", "developer", "user", "assistant", "tool", "function"})


class Message(TypedDict, total=False):
    """One message; only `role` is required, unknown keys are legal."""

    role: str
    content: str | list[dict[str, Any]] | None
    name: str
    tool_calls: list[dict[str, Any]]
    tool_call_id: str
    reasoning_content: str


@dataclass(frozen=True, slots=True)
class Unit:
    """The smallest thing a boundary may not split; `first` and `last` are inclusive indexes.

    Attributes:
        kind: `calls` (an assistant message with its results), `orphan` (a result without a call)
            or `message`.
        pending: Calls of the unit that have no result (yet).
    """

    first: int
    last: int
    kind: str
    pending: int = 0

    def __len__(self) -> int:
        """Return the number of messages in the unit."""
        return self.last - self.first + 1


# ------------------------------------------------------------------------------- reading


def text_of(message: Mapping[str, Any]) -> str:
    """Return the readable text of the content, without images and without tool calls."""
    return content_text(message.get("content"))


def content_text(content: Any) -> str:  # noqa: ANN401 - content comes from outside in any shape
    """Return the readable text of a `content` value: a string, a list of parts, or None."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text = part.get("text") or part.get("refusal")
            if isinstance(text, str):
                texts.append(text)
            elif "content" in part:
                texts.append(content_text(part["content"]))
    return "\n".join(text for text in texts if text)


def tool_calls_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the tool calls of an assistant message; empty for anything else or malformed."""
    calls = message.get("tool_calls")
    if message.get("role") != "assistant" or not isinstance(calls, list):
        return []
    return [call for call in calls if isinstance(call, dict)]


def call_name(call: Mapping[str, Any]) -> str:
    """Return the tool name of a call, or an empty string."""
    function = call.get("function")
    if not isinstance(function, dict):
        function = call.get("custom")
    name = function.get("name") if isinstance(function, dict) else call.get("name")
    return name if isinstance(name, str) else ""


def call_arguments(call: Mapping[str, Any]) -> str:
    """Return the argument string of a call as it was sent (JSON, or whatever the model wrote)."""
    function = call.get("function")
    arguments = function.get("arguments") if isinstance(function, dict) else None
    if arguments is None and isinstance(call.get("custom"), dict):
        arguments = call["custom"].get("input")
    if isinstance(arguments, str):
        return arguments
    return "" if arguments is None else json.dumps(arguments, ensure_ascii=False, default=str)


def parsed_arguments(call: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call as a dict; empty when they are not a JSON object."""
    try:
        value = json.loads(call_arguments(call))
    except (TypeError, ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def is_system(message: Mapping[str, Any]) -> bool:
    """Return whether the message speaks for the host (system or developer role)."""
    return message.get("role") in SYSTEM_ROLES


def images_in(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the image parts of a message, also those nested in tool results."""
    return list(_walk_images(message.get("content")))


def _walk_images(content: Any) -> Iterator[dict[str, Any]]:  # noqa: ANN401 - any shape
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        if part.get("type") in ("image", "image_url", "input_image"):
            yield part
        elif isinstance(part.get("content"), list):
            yield from _walk_images(part["content"])


# ------------------------------------------------------------------------------- identity


def canonical(message: Mapping[str, Any]) -> str:
    """Return the JSON text that decides whether two messages are the same.

    `cache_control` marks and private keys are left out, since hosts move and drop them between
    requests. Pure ASCII, so that lone surrogates survive.
    """
    text = json.dumps(message, sort_keys=True, separators=(",", ":"), default=str)
    if '"cache_control"' in text or '"_' in text:
        text = json.dumps(
            _without_marks(message), sort_keys=True, separators=(",", ":"), default=str
        )
    return text


def _without_marks(message: Mapping[str, Any]) -> dict[str, Any]:
    kept = {
        key: value
        for key, value in message.items()
        if key != "cache_control" and not key.startswith("_")
    }
    if isinstance(kept.get("content"), list):
        kept["content"] = [
            _without_marks(part) if isinstance(part, dict) else part for part in kept["content"]
        ]
    return kept


def digest(message: Mapping[str, Any]) -> bytes:
    """Return 16 bytes that identify the message by its canonical form."""
    return hashlib.blake2b(canonical(message).encode("ascii"), digest_size=16).digest()


def copy_message(message: Mapping[str, Any]) -> Message:
    """Return a deep copy of JSON-like data, safe to change."""
    return _copied(message)  # type: ignore[no-any-return]


def _copied(value: Any) -> Any:  # noqa: ANN401 - JSON-like data
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value


# ------------------------------------------------------------------------------- structure


def group(messages: Sequence[Mapping[str, Any]], start: int = 0) -> list[Unit]:
    """Split `messages[start:]` into units, by position.

    Results belong to the nearest assistant message before them, whatever their ids say: real logs
    reuse one id for many calls.
    """
    units: list[Unit] = []
    index, end = start, len(messages)
    while index < end:
        message = messages[index]
        calls = len(tool_calls_of(message))
        last = index
        if calls:
            while last + 1 < end and last - index < calls and is_result(messages[last + 1]):
                last += 1
            units.append(Unit(index, last, "calls", calls - (last - index)))
        else:
            units.append(Unit(index, index, "orphan" if is_result(message) else "message"))
        index = last + 1
    return units


def is_result(message: Mapping[str, Any]) -> bool:
    """Return whether the message is the result of a tool call."""
    return message.get("role") in ("tool", "function")


def pair(
    messages: Sequence[Mapping[str, Any]], unit: Unit
) -> list[tuple[dict[str, Any], int | None]]:
    """Pair each call of a unit with the index of its result, or None while it is pending.

    Ids decide where they are unambiguous inside the unit; what is left is paired in order.
    """
    calls = tool_calls_of(messages[unit.first])
    ids = [str(call.get("id")) for call in calls]
    times = Counter(ids)
    position_of = {call_id: position for position, call_id in enumerate(ids)}
    found: dict[int, int] = {}
    left: deque[int] = deque()
    for result in range(unit.first + 1, unit.last + 1):
        result_id = str(messages[result].get("tool_call_id"))
        if times[result_id] == 1 and position_of[result_id] not in found:
            found[position_of[result_id]] = result
        else:
            left.append(result)
    for position in range(len(calls)):
        if position not in found and left:
            found[position] = left.popleft()
    return [(call, found.get(position)) for position, call in enumerate(calls)]


_INJECTED_OPEN = re.compile(
    r"\s*<(system-reminder|local-command-stdout|local-command-caveat|command-name|command-message|"
    r"command-args|task-notification|environment_context|user_instructions|permissions)\b[^<>]*>"
)
_CONTINUATION = re.compile(
    r"\s*(?:\[?(?:request interrupted by user[^\]\n]*|continue|please continue|go on)\]?[.!]?"
    r"|this session is being continued from a previous conversation\b.*)\s*",
    re.IGNORECASE | re.DOTALL,
)
# The longest text that may be judged by the patterns above; a longer message is somebody's words.
_SHORT = 200


def is_typed(message: Mapping[str, Any]) -> bool:
    """Return whether a person typed this user message.

    Not typed are: our own handoff (private metadata), blank text without images, text that a
    client injected (reminders, command output), and bare continuation markers.
    """
    if message.get("role") != "user" or PRIVATE_KEY in message:
        return False
    text = text_of(message)
    if not text.strip():
        return bool(images_in(message))
    if not strip_injected(text):
        return False
    return not (len(text) < _SHORT and _CONTINUATION.fullmatch(text))


def strip_injected(text: str) -> str:
    """Return the text without the blocks that a client put in front of or around what was typed."""
    position = 0
    while opening := _INJECTED_OPEN.match(text, position):
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        if end < 0:
            break
        position = end + len(closing)
    return text[position:].strip() if position else text


def latest_typed(messages: Sequence[Mapping[str, Any]]) -> int | None:
    """Return the index of the latest message that a person typed, or None."""
    for index in range(len(messages) - 1, -1, -1):
        if is_typed(messages[index]):
            return index
    return None


# ------------------------------------------------------------------------------- checking


def validate(message: object, index: int, source: str | None = None) -> None:
    """Raise `InputError` unless `message` has a known role and content of a legal type."""
    if not isinstance(message, dict):
        found = type(message).__name__
        text = f"message {index} is a {found}, not an object; each message needs a role and content"
        raise InputError(text, source=source, index=index)
    role = message.get("role")
    if role is None:
        text = f"message {index} has no role; expected one of {', '.join(sorted(ROLES))}"
        raise InputError(text, source=source, index=index)
    if not isinstance(role, str) or role not in ROLES:
        text = f"message {index} has role {role!r}; expected one of {', '.join(sorted(ROLES))}"
        raise InputError(text, source=source, index=index)
    content = message.get("content")
    if content is not None and not isinstance(content, (str, list)):
        found = type(content).__name__
        text = f"message {index} has content of type {found}; expected text, parts or null"
        raise InputError(text, source=source, index=index)
    if isinstance(content, list) and not _is_shallow(content):
        text = f"message {index} is nested too deeply, over {MAX_DEPTH} levels; flatten it"
        raise InputError(text, source=source, index=index)
    calls = message.get("tool_calls")
    if calls is not None and not isinstance(calls, list):
        found = type(calls).__name__
        text = f"message {index} has tool_calls of type {found}; expected a list of calls"
        raise InputError(text, source=source, index=index)


def _is_shallow(content: list[Any]) -> bool:
    """Return whether nesting ends within the bound; looked at level by level, without recursion."""
    level: list[Any] = [content]
    for _ in range(MAX_DEPTH):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, (dict, list))
        ]
        if not level:
            return True
    return False
