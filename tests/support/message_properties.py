"""What can be said of a message list before and after a compaction, judged from the lists alone.

Every property is a function of a `Judged` that yields a sentence for each way it is broken. Its
name may carry an argument behind a colon, as in `contains:some text`.
"""

from __future__ import annotations

import itertools
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Messages = Sequence[Mapping[str, Any]]
CHAT_KEYS = {
    "system": "role content name",
    "developer": "role content name",
    "user": "role content name",
    "assistant": "role content name tool_calls refusal audio function_call reasoning_content "
    "reasoning_details",
    "tool": "role content tool_call_id name",
}


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A list before and after.

    Attributes:
        summary: Text that the summary model gave.
    """

    before: Messages
    after: Messages
    tokens_before: int = 0
    tokens_after: int = 0
    format: str = "openai"
    summary: str = ""
    system: Any = None
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_anthropic(self) -> bool:
        return self.format == "anthropic"


# ------------------------------------------------------------------------------- reading


def parts(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []


def kinds(message: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in parts(message) if part.get("type") == kind]


def text(content: Any) -> str:
    """Return what can be read in a content value, arguments of calls included."""
    if isinstance(content, str):
        return content
    found = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            found.append(part)
            continue
        kind = part.get("type")
        if kind == "tool_result":
            found.append(text(part.get("content")))
        elif kind == "tool_use":
            found.append(json.dumps(part.get("input"), ensure_ascii=False))
        else:
            found.append(part.get("text") or part.get("thinking") or "")
    return "\n".join(found)


def all_text(messages: Messages) -> str:
    found = []
    for message in messages:
        found.append(text(message.get("content")))
        found.append(message.get("reasoning_content") or "")
        for call in message.get("tool_calls") or ():
            found += [call["function"]["name"], call["function"]["arguments"] or ""]
    return "\n".join(found)


def images(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    found = []
    for part in parts(message):
        if part.get("type") in ("image", "image_url", "input_image"):
            found.append(part)
        elif part.get("type") == "tool_result":
            found += images(part)
    return found


def is_typed(message: Mapping[str, Any]) -> bool:
    """Return whether a person wrote it: role user, and more than tool results in it."""
    if message.get("role") != "user":
        return False
    content = parts(message)
    return not content or any(part.get("type") != "tool_result" for part in content)


def latest_typed(messages: Messages) -> Mapping[str, Any] | None:
    return next((message for message in reversed(messages) if is_typed(message)), None)


# ------------------------------------------------------------------------------- pairs and roles


def tool_pairs_valid(on: Judged, _: str) -> Iterator[str]:
    """Every call is answered right behind it; only the last ones may still be open."""
    return _block_pairs(on.after) if on.is_anthropic else _chat_pairs(on.after)


def _chat_pairs(messages: Messages) -> Iterator[str]:
    expected: Counter[str] = Counter()
    for index, message in enumerate(messages):
        if message.get("role") == "tool":
            name = str(message.get("tool_call_id"))
            if not expected[name]:
                yield f"message {index} answers {name!r}, which is not open"
            expected[name] -= 1
            continue
        if +expected:
            yield f"message {index} comes while {sorted(+expected)} wait for an answer"
        ids = [str(call.get("id")) for call in message.get("tool_calls") or ()]
        if len(set(ids)) < len(ids):
            yield f"message {index} has an id twice"
        expected = Counter(ids)


def _block_pairs(messages: Messages) -> Iterator[str]:
    is_open: list[str] = []
    for index, message in enumerate(messages):
        given = [part["tool_use_id"] for part in kinds(message, "tool_result")]
        if sorted(given) != sorted(is_open):
            yield f"message {index} answers {given}, open are {is_open}"
        order = [part.get("type") == "tool_result" for part in parts(message)]
        if order != sorted(order, reverse=True):
            yield f"message {index} has something in front of a result"
        is_open = [part["id"] for part in kinds(message, "tool_use")]
        if is_open and message.get("role") != "assistant":
            yield f"message {index} is a call by {message.get('role')}"


def roles_alternate_ok(on: Judged, _: str) -> Iterator[str]:
    roles = [m.get("role") for m in on.after if m.get("role") not in ("system", "developer")]
    for index, (one, next_) in enumerate(itertools.pairwise(roles)):
        if one == next_ and one in ("user", "assistant"):
            yield f"two {one} messages in a row at {index}"


def roles_strict_template(on: Judged, _: str) -> Iterator[str]:
    seen = [
        message.get("role")
        for index, message in enumerate(on.after)
        if not (index == 0 and message.get("role") in ("system", "developer"))
        and message.get("role") != "tool"
        and not message.get("tool_calls")
    ]
    wanted = ["user", "assistant"] * len(seen)
    if seen != wanted[: len(seen)]:
        yield f"a strict template sees {seen}"


# ------------------------------------------------------------------------------- the wire


def no_empty_content(on: Judged, _: str) -> Iterator[str]:
    for index, message in enumerate(on.after):
        content = message.get("content")
        if content is None and message.get("tool_calls"):
            continue
        is_blank = not content or (isinstance(content, str) and not content.strip())
        if is_blank or any(not part.get("text", "").strip() for part in kinds(message, "text")):
            yield f"message {index} ({message.get('role')}) is empty or has an empty part"


def json_args_valid(on: Judged, _: str) -> Iterator[str]:
    for index, message in enumerate(on.after):
        for call in message.get("tool_calls") or ():
            if not isinstance(_parsed(call["function"]["arguments"]), dict):
                yield f"message {index} has arguments that are no JSON object"
        for part in kinds(message, "tool_use"):
            if not isinstance(part.get("input"), dict):
                yield f"message {index} has input that is no object"


def _parsed(arguments: Any) -> Any:
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return None


def wire_keys_clean(on: Judged, _: str) -> Iterator[str]:
    for index, message in enumerate(on.after):
        known = "role content" if on.is_anthropic else CHAT_KEYS.get(str(message.get("role")), "")
        extra = set(message) - set(known.split())
        if extra:
            yield f"message {index} has the keys {sorted(extra)}"


def wire_utf8_encodable(on: Judged, _: str) -> Iterator[str]:
    try:
        json.dumps(list(on.after), ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        yield str(error)


def payload_bytes_at_most(on: Judged, limit: str) -> Iterator[str]:
    size = len(json.dumps(list(on.after)))
    if size > int(limit):
        yield f"{size} bytes"


def cache_control_at_most(on: Judged, limit: str) -> Iterator[str]:
    marks = json.dumps([list(on.after), on.system]).count('"cache_control"')
    if marks > int(limit):
        yield f"{marks} marks"


# ------------------------------------------------------------------------------- what is kept


def system_first(on: Judged, _: str) -> Iterator[str]:
    systems = [
        [m for m in messages if m.get("role") in ("system", "developer")]
        for messages in (on.before, on.after)
    ]
    if not on.after or text(on.after[0].get("content")) != text(on.before[0].get("content")):
        yield "the system message is not first, or not what it was"
    if len(systems[1]) > len(systems[0]):
        yield "there are more system messages than before"


def latest_user_verbatim(on: Judged, _: str) -> Iterator[str]:
    asked = latest_typed(on.before)
    wanted = text(asked["content"]) if asked else ""
    typed = [message for message in on.after if is_typed(message)]
    if not typed or wanted not in text(typed[-1]["content"]):
        yield "the latest user message is not the latest any more, or not word for word"


def at_least_one_user(on: Judged, _: str) -> Iterator[str]:
    if not any(message.get("role") == "user" for message in on.after):
        yield "no user message"


def last_is_user(on: Judged, _: str) -> Iterator[str]:
    if not on.after or on.after[-1].get("role") != "user":
        yield "the last message is not the user's"


def last_message_verbatim(on: Judged, _: str) -> Iterator[str]:
    if not on.after or on.after[-1] != on.before[-1]:
        yield "the last message changed"


def pending_call_kept(on: Judged, name: str) -> Iterator[str]:
    calls = on.after[-1].get("tool_calls") if on.after else None
    if name not in [call["id"] for call in calls or ()]:
        yield "the open call is not in the last message"


def no_result_for(on: Judged, name: str) -> Iterator[str]:
    if any(message.get("tool_call_id") == name for message in on.after):
        yield "there is an answer that nobody gave"


def tool_result_verbatim(on: Judged, names: str) -> Iterator[str]:
    for name in names.split(","):
        given, kept = (
            [text(m["content"]) for m in messages if m.get("tool_call_id") == name]
            for messages in (on.before, on.after)
        )
        if not given or given[-1] not in kept:
            yield f"the result of {name!r} changed or is gone"


def no_change(on: Judged, _: str) -> Iterator[str]:
    if list(on.after) != list(on.before):
        yield "the messages changed"


def unicode_preserved(on: Judged, _: str) -> Iterator[str]:
    before, after = all_text(on.before), all_text(on.after)
    lone = re.compile("[\ud800-\udfff]")
    if lone.search(after) and not lone.search(before):
        yield "half a character appeared"
    if after.count("\ufffd") > before.count("\ufffd"):
        yield "replacement characters appeared"


# ------------------------------------------------------------------------------- text


def contains(on: Judged, wanted: str) -> Iterator[str]:
    if wanted not in all_text(on.after):
        yield "not found"


def contains_any(on: Judged, wanted: str) -> Iterator[str]:
    if not any(one in all_text(on.after) for one in wanted.split("|")):
        yield "none found"


def not_contains(on: Judged, unwanted: str) -> Iterator[str]:
    if unwanted in all_text(on.after):
        yield "found"


def count(on: Judged, argument: str) -> Iterator[str]:
    wanted, _, times = argument.rpartition(":")
    found = all_text(on.after).count(wanted)
    if found != int(times):
        yield f"found {found} times"


def count_at_most(on: Judged, argument: str) -> Iterator[str]:
    wanted, _, times = argument.rpartition(":")
    found = all_text(on.after).count(wanted)
    if found > int(times):
        yield f"found {found} times"


def order(on: Judged, argument: str) -> Iterator[str]:
    first, _, second = argument.partition("|")
    whole = all_text(on.after)
    if not 0 <= whole.rfind(first) <= whole.rfind(second):
        yield "missing, or in another order"


def not_in_role(on: Judged, argument: str) -> Iterator[str]:
    role, _, unwanted = argument.partition(":")
    if any(m.get("role") == role and unwanted in text(m.get("content")) for m in on.after):
        yield f"found in a {role} message"


def summary_marked(on: Judged, _: str) -> Iterator[str]:
    """Outside the summary, the message that carries it says that it is about the past."""
    probe = on.summary.strip()[:40]
    for message in on.after:
        whole = text(message.get("content"))
        if probe and probe in whole:
            frame = whole.replace(on.summary.strip(), "").lower()
            if not re.search(r"earlier|reference|background|record|summar", frame):
                yield "the summary stands there like an order"


# ------------------------------------------------------------------------------- sizes and images


def tokens_at_most(on: Judged, limit: str) -> Iterator[str]:
    if on.tokens_after > int(limit):
        yield f"{on.tokens_after} tokens"


def tokens_decrease(on: Judged, _: str) -> Iterator[str]:
    if on.tokens_after >= on.tokens_before:
        yield f"{on.tokens_before} -> {on.tokens_after}"


def tokens_not_increase(on: Judged, _: str) -> Iterator[str]:
    if on.tokens_after > on.tokens_before:
        yield f"{on.tokens_before} -> {on.tokens_after}"


def images_at_most(on: Judged, limit: str) -> Iterator[str]:
    found = sum(len(images(message)) for message in on.after)
    if found > int(limit):
        yield f"{found} images"


def image_stripped(on: Judged, _: str) -> Iterator[str]:
    asked = latest_typed(on.before)
    yield from images_at_most(on, str(len(images(asked)) if asked else 0))


def image_kept_in_latest_user(on: Judged, _: str) -> Iterator[str]:
    one, other = latest_typed(on.before), latest_typed(on.after)
    if one and (other is None or images(one) != images(other)):
        yield "the picture of the latest user message is not what it was"


# ------------------------------------------------------------------------------- thinking


def _thoughts(messages: Messages) -> list[str]:
    return [
        json.dumps(part, sort_keys=True)
        for message in messages
        for part in parts(message)
        if part.get("type") in ("thinking", "redacted_thinking")
    ]


def thinking_intact_or_absent(on: Judged, _: str) -> Iterator[str]:
    if set(_thoughts(on.after)) - set(_thoughts(on.before)):
        yield "a thinking block changed"


def thinking_latest_unchanged(on: Judged, _: str) -> Iterator[str]:
    one, other = (
        [message for message in messages if message.get("role") == "assistant"][-1:]
        for messages in (on.before, on.after)
    )
    if one != other:
        yield "the latest message of the assistant changed"


def reasoning_kept_on_tool_calls(on: Judged, _: str) -> Iterator[str]:
    given = {
        call["id"]: message.get("reasoning_content")
        for message in on.before
        for call in message.get("tool_calls") or ()
    }
    for message in on.after:
        for call in message.get("tool_calls") or ():
            if message.get("reasoning_content") != given.get(call["id"]):
                yield f"the reasoning beside {call['id']} is lost"


def args_not_worsened(on: Judged, _: str) -> Iterator[str]:
    given = {call["function"]["arguments"] for m in on.before for call in m.get("tool_calls") or ()}
    for message in on.after:
        for call in message.get("tool_calls") or ():
            arguments = call["function"]["arguments"]
            if arguments not in given and _parsed(arguments) is None:
                yield f"the arguments of {call['id']} were rewritten into no JSON"


PROPERTIES: dict[str, Callable[[Judged, str], Iterator[str]]] = {
    function.__name__: function
    for function in (
        tool_pairs_valid,
        roles_alternate_ok,
        roles_strict_template,
        no_empty_content,
        json_args_valid,
        wire_keys_clean,
        wire_utf8_encodable,
        payload_bytes_at_most,
        cache_control_at_most,
        system_first,
        latest_user_verbatim,
        at_least_one_user,
        last_is_user,
        last_message_verbatim,
        pending_call_kept,
        no_result_for,
        tool_result_verbatim,
        no_change,
        unicode_preserved,
        contains,
        contains_any,
        not_contains,
        count,
        count_at_most,
        order,
        not_in_role,
        summary_marked,
        tokens_at_most,
        tokens_decrease,
        tokens_not_increase,
        images_at_most,
        image_stripped,
        image_kept_in_latest_user,
        thinking_intact_or_absent,
        thinking_latest_unchanged,
        reasoning_kept_on_tool_calls,
        args_not_worsened,
    )
}


def problems(on: Judged, property_: str) -> list[str]:
    """Return how a property is broken; raises `KeyError` for one that is not known here."""
    name, _, argument = property_.partition(":")
    return [f"{property_}: {problem}" for problem in PROPERTIES[name](on, argument)]
