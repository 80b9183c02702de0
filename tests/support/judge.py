"""Judges message lists by the properties that bug reports asked for. Knows nothing of the product."""

from __future__ import annotations

import json
import re

OPENAI_KEYS = {
    "system": {"role", "content", "name"},
    "developer": {"role", "content", "name"},
    "user": {"role", "content", "name"},
    "assistant": {
        "role", "content", "name", "tool_calls", "refusal", "audio", "function_call",
        "reasoning_content", "reasoning_details",
    },
    "tool": {"role", "content", "tool_call_id", "name"},
}  # fmt: skip


def text_of(content) -> str:
    if isinstance(content, str):
        return content
    parts = []
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            parts.append(part)
        elif part.get("type") == "tool_use":
            parts.append(json.dumps(part.get("input"), ensure_ascii=False))
        else:
            for key in ("text", "thinking"):
                parts.append(part.get(key) or "")
            parts.append(text_of(part.get("content")))
    return "\n".join(filter(None, parts))


def full_text(messages) -> str:
    parts = []
    for message in messages:
        parts.append(text_of(message.get("content")))
        parts.append(message.get("reasoning_content") or "")
        for call in message.get("tool_calls") or ():
            parts += [call["function"]["name"], call["function"]["arguments"] or ""]
    return "\n".join(parts)


def blocks(message, kind) -> list[dict]:
    content = message.get("content")
    found = content if isinstance(content, list) else []
    return [part for part in found if isinstance(part, dict) and part.get("type") == kind]


def last_typed(messages):
    for message in reversed(messages):
        results = blocks(message, "tool_result")
        if message.get("role") == "user" and not (
            results and len(results) == len(message["content"])
        ):
            return message
    return None


# ------------------------------------------------------------------------------- validity


def tool_pairs_valid(messages, fmt):
    if fmt == "anthropic":
        yield from _anthropic_pairs(messages)
        return
    index = 0
    while index < len(messages):
        message = messages[index]
        ids = [call["id"] for call in message.get("tool_calls") or ()]
        end = index + 1
        while end < len(messages) and messages[end]["role"] == "tool":
            end += 1
        answered = [m["tool_call_id"] for m in messages[index + 1 : end]]
        if message["role"] == "tool":
            yield f"{index}: a result without a call"
        elif answered and not ids:
            yield f"{index + 1}: results without a call"
        elif sorted(ids) != sorted(answered):
            is_running = end == len(messages) and set(answered) <= set(ids)
            if not is_running:
                yield f"{index}: calls {ids} are answered by {answered}"
        index = end


def _anthropic_pairs(messages):
    for index, message in enumerate(messages):
        asked = sorted(part["id"] for part in blocks(message, "tool_use"))
        behind = messages[index + 1] if index + 1 < len(messages) else None
        if asked and behind is not None:
            answered = sorted(part["tool_use_id"] for part in blocks(behind, "tool_result"))
            if asked != answered:
                yield f"{index}: {asked} are answered by {answered}"
        if blocks(message, "tool_result"):
            before = messages[index - 1] if index else {}
            if not blocks(before, "tool_use"):
                yield f"{index}: results without calls"
            kinds = [part["type"] == "tool_result" for part in message["content"]]
            if kinds != sorted(kinds, reverse=True):
                yield f"{index}: results are not first"


def roles_alternate_ok(messages, fmt):
    before = None
    for index, message in enumerate(messages):
        if message["role"] in ("system", "developer"):
            continue
        if message["role"] == before and before in ("user", "assistant"):
            yield f"{index}: two {before} messages in a row"
        before = message["role"]


def roles_strict_template(messages, fmt):
    wanted = "user"
    for index, message in enumerate(messages):
        if index == 0 and message["role"] in ("system", "developer"):
            continue
        if message["role"] == "tool" or message.get("tool_calls"):
            continue
        if message["role"] != wanted:
            yield f"{index}: the template wants {wanted}, found {message['role']}"
        wanted = "assistant" if message["role"] == "user" else "user"


def no_empty_content(messages, fmt):
    for index, message in enumerate(messages):
        content = message.get("content")
        texts = [part.get("text") or "" for part in blocks(message, "text")]
        is_call = message["role"] == "assistant" and message.get("tool_calls")
        if (content is None and not is_call) or content == []:
            yield f"{index}: nothing"
        elif isinstance(content, str) and not content.strip():
            yield f"{index}: blank"
        elif not all(text.strip() for text in texts):
            yield f"{index}: a blank part"


def json_args_valid(messages, fmt):
    for index, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            if not isinstance(json.loads(call["function"]["arguments"]), dict):
                yield f"{index}: arguments are no object"


def wire_keys_clean(messages, fmt):
    for index, message in enumerate(messages):
        allowed = {"role", "content"} if fmt == "anthropic" else OPENAI_KEYS[message["role"]]
        if set(message) - allowed:
            yield f"{index}: keys {sorted(set(message) - allowed)}"


def wire_utf8_encodable(messages, fmt):
    try:
        json.dumps(messages, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        yield str(error)


RULES = {
    rule.__name__: rule
    for rule in (
        tool_pairs_valid, roles_alternate_ok, roles_strict_template, no_empty_content,
        json_args_valid, wire_keys_clean, wire_utf8_encodable,
    )
}  # fmt: skip

# ------------------------------------------------------------------------------- what is kept


def judge(name, argument, before, after, *, fmt="openai", tokens=(0, 0), summary=""):
    """Return problems, or None when the property is not one of messages alone."""
    if name in RULES:
        return list(RULES[name](after, fmt))
    check = CHECKS.get(name)
    if check is None:
        return None
    verdict = check(argument, before, after, fmt, tokens, summary)
    return [] if verdict else [f"{name}:{argument}"]


def _latest_user(argument, before, after, fmt, tokens, summary):
    wanted = last_typed(before)
    if wanted is None:
        return True
    text = text_of(wanted["content"])
    users = [m for m in after if m["role"] == "user" and not blocks(m, "tool_result")]
    return bool(users) and text in text_of(users[-1]["content"])


def _thinking_kept(argument, before, after, fmt, tokens, summary):
    known = [json.dumps(part) for m in before for part in blocks(m, "thinking")]
    return all(json.dumps(part) in known for m in after for part in blocks(m, "thinking"))


def _marked(argument, before, after, fmt, tokens, summary):
    probe = summary.strip()[:60]
    for message in after:
        text = text_of(message["content"])
        if probe and probe in text:
            outside = text.replace(summary.strip(), "")
            return bool(
                re.search(r"summar|earlier|record|reference|background", outside, re.IGNORECASE)
            )
    return False


def _last(messages, role):
    return next(m for m in reversed(messages) if m["role"] == role)


CHECKS = {
    "latest_user_verbatim": _latest_user,
    "contains": lambda a, b, after, *_: a in full_text(after),
    "not_contains": lambda a, b, after, *_: a not in full_text(after),
    "contains_any": lambda a, b, after, *_: any(x in full_text(after) for x in a.split("|")),
    "count": lambda a, b, after, *_: (
        full_text(after).count(a.rpartition(":")[0]) == int(a.rpartition(":")[2])
    ),
    "tokens_at_most": lambda a, b, c, d, tokens, *_: tokens[1] <= int(a),
    "tokens_decrease": lambda a, b, c, d, tokens, *_: tokens[1] < tokens[0],
    "no_change": lambda a, before, after, *_: before == after,
    "system_first": lambda a, before, after, *_: (
        after[0] == before[0]
        and sum(m["role"] == "system" for m in after) <= sum(m["role"] == "system" for m in before)
    ),
    "last_is_user": lambda a, b, after, *_: after[-1]["role"] == "user",
    "pending_call_kept": lambda a, b, after, *_: (
        a in [call["id"] for call in after[-1].get("tool_calls") or ()]
    ),
    "no_result_for": lambda a, b, after, *_: a not in [m.get("tool_call_id") for m in after],
    "order": lambda a, b, after, *_: (
        0 <= full_text(after).rfind(a.split("|")[0]) < full_text(after).rfind(a.split("|")[1])
    ),
    "thinking_intact_or_absent": _thinking_kept,
    "thinking_latest_unchanged": lambda a, before, after, *_: (
        _last(after, "assistant") == _last(before, "assistant")
    ),
    "summary_marked": _marked,
}
