"""OpenAI Chat Completions and compatible servers, plain and with a strict chat template.

The plain rules are those of OpenAI and of servers that check what they are given. The strict rules
are those of chat templates (llama.cpp, vLLM, the Mistral family): only a system message at the
start, then user and assistant in turn, where tool traffic is not counted.
"""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

from perdure.dialects.problem import Problem, Validator, shown
from perdure.dialects.text import is_blank, is_blank_part, is_encodable
from perdure.messages import ROLES, SYSTEM_ROLES, tool_calls_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_BASIC = frozenset({"role", "content", "name"})
KEYS: dict[str, frozenset[str]] = {
    "system": _BASIC,
    "developer": _BASIC,
    "user": _BASIC,
    "function": _BASIC,
    "tool": _BASIC | {"tool_call_id"},
    # The reasoning keys are extensions that several providers want back while a tool loop is open.
    "assistant": _BASIC
    | {"tool_calls", "refusal", "audio", "function_call", "reasoning_content", "reasoning_details"},
}
# `extra_content` carries the thought signatures of Gemini behind an OpenAI-compatible address.
CALL_KEYS = frozenset({"id", "type", "function", "custom", "extra_content"})
_INSTEAD_OF_CONTENT = ("tool_calls", "refusal", "audio", "function_call")


class OpenAIValidator(Validator):
    """Rules of OpenAI Chat Completions."""

    def __init__(self) -> None:
        super().__init__()
        self._open: Counter[str] = Counter()
        self._calls_at = 0
        self._function_open = False
        self._system_role: str | None = None

    def judge(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what the message breaks."""
        shape = self._shape(message)
        if shape is not None:
            yield shape
            return
        yield from self._pairing(message)
        yield from self._calls(message)
        yield from self._content(message)
        yield from self._system(message)
        yield from self._keys(message)
        if not is_encodable(message):
            yield self.problem("utf8", "half of a surrogate pair", "no UTF-8 body can carry it")

    def judge_end(self) -> Iterator[Problem]:
        """Yield calls that are still running."""
        if self._open:
            yield Problem.at(
                self._calls_at,
                "calls_pending",
                f"{self._open.total()} calls without a result at the end",
                "the provider answers 400 until each has its tool message",
            )

    # -- shape ---------------------------------------------------------------------------

    def _shape(self, message: object) -> Problem | None:
        if not isinstance(message, dict):
            return self.problem("shape", shown(message), "the provider expects an object")
        role = message.get("role")
        if not isinstance(role, str) or role not in ROLES:
            known = ", ".join(sorted(ROLES))
            return self.problem("role", f"role {shown(role)}", f"the provider knows only {known}")
        content = message.get("content")
        if content is not None and not isinstance(content, (str, list)):
            found = f"content of type {type(content).__name__}"
            return self.problem("shape", found, "the provider expects text, parts or null")
        return None

    def _keys(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        unknown = sorted(str(key) for key in message if key not in KEYS[message["role"]])
        if unknown:
            found = f"unknown keys {', '.join(map(shown, unknown))}"
            yield self.problem("keys", found, "strict servers answer 400 to any extra key")

    # -- calls and results ---------------------------------------------------------------

    def _pairing(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        role = message["role"]
        if role == "tool":
            yield from self._result(message)
            return
        if role == "function" and not self._function_open:
            found = "a function result without a function_call before it"
            yield self.problem("result_orphan", found, "the provider answers 400")
        self._function_open = role == "assistant" and bool(message.get("function_call"))
        if self._open:
            missing = ", ".join(map(shown, self._open))
            yield Problem.at(
                self._calls_at,
                "result_missing",
                f"no result for {missing} before message {self.index}",
                "the provider answers 400: each call needs its tool message right after it",
            )
            self._open.clear()

    def _result(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        call = str(message.get("tool_call_id"))
        if self._open[call] > 0:
            self._open[call] -= 1
        else:
            answer = "the provider answers 400: a tool message must answer a call just before it"
            yield self.problem("result_orphan", f"a result for {shown(call)}", answer)
        if self._open[call] <= 0:
            del self._open[call]

    def _calls(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        given = message.get("tool_calls")
        if message["role"] != "assistant" or given is None:
            return
        calls = tool_calls_of(message)
        if not isinstance(given, list) or len(calls) != len(given) or not given:
            found = f"tool_calls of type {shown(given)} with {len(calls)} calls"
            yield self.problem("shape", found, "the provider expects a list of calls, or no key")
        self._open = Counter(str(call.get("id")) for call in calls)
        self._calls_at = self.index
        for call in calls:
            yield from self._call(call)
        repeated = [call for call, times in self._open.items() if times > 1]
        if repeated:
            found = f"id {shown(repeated[0])} on several calls"
            yield self.problem("call_id", found, "the provider cannot tell their results apart")

    def _call(self, call: Mapping[str, Any]) -> Iterator[Problem]:
        if not isinstance(call.get("id"), str) or not call["id"]:
            found = f"a call with id {shown(call.get('id'))}"
            yield self.problem("call_id", found, "the provider requires a text")
        if isinstance(call.get("custom"), dict):  # its input is free text
            return
        function = call.get("function")
        arguments = function.get("arguments") if isinstance(function, dict) else None
        fault = arguments_fault(arguments)
        if fault:
            answer = "the provider, or its chat template, fails on anything but a JSON object"
            yield self.problem("arguments", f"arguments that are {fault}", answer)

    # -- content -------------------------------------------------------------------------

    def _content(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        content = message.get("content")
        if content is None:
            if message["role"] != "assistant" or not any(map(message.get, _INSTEAD_OF_CONTENT)):
                answer = "the provider allows null only beside tool calls or a refusal"
                yield self.problem("content_null", "null content", answer)
        elif isinstance(content, str):
            if is_blank(content):
                yield self.problem("content_empty", "blank text", "several servers answer 400")
        elif not content or any(map(is_blank_part, content)):
            found = "a blank text part" if content else "an empty list of parts"
            yield self.problem("content_empty", found, "several servers answer 400")
        if isinstance(content, list) and not all(isinstance(part, dict) for part in content):
            yield self.problem("shape", "a part that is no object", "the provider answers 400")

    def _system(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        role = message["role"]
        if role not in SYSTEM_ROLES:
            return
        if self._system_role not in (None, role):
            found = f"role {role!r} after {self._system_role!r}"
            yield self.problem("system_role", found, "the provider takes one of the two")
        self._system_role = self._system_role or role


class StrictValidator(OpenAIValidator):
    """Rules of strict chat templates, on top of those of OpenAI."""

    def __init__(self) -> None:
        super().__init__()
        self._wanted = "user"
        self._behind_result = False
        self._opened = False
        self._has_user = False

    def judge(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what the message breaks."""
        yield from super().judge(message)
        role = message.get("role") if isinstance(message, dict) else None
        if isinstance(role, str) and role in SYSTEM_ROLES:
            if self.index:
                answer = "the template takes a system message only as the first"
                yield self.problem("system_position", f"role {role!r} at {self.index}", answer)
            return
        yield from self._opening(role)
        yield from self._turn(message, role)
        self._behind_result = role == "tool"
        self._has_user = self._has_user or role == "user"

    def judge_end(self) -> Iterator[Problem]:
        """Yield calls that are still running and a missing user query."""
        yield from super().judge_end()
        if not self._has_user:
            answer = "the template stops with an error: it needs a user query"
            yield Problem.at(max(self.index - 1, 0), "user_missing", "no user message", answer)

    def _opening(self, role: object) -> Iterator[Problem]:
        if not self._opened and role != "user":
            answer = "the template wants a user message first"
            yield self.problem("opens_with_user", f"role {shown(role)}", answer)
        self._opened = True

    def _turn(self, message: Mapping[str, Any], role: object) -> Iterator[Problem]:
        if role == "user" and self._behind_result:
            answer = "the template wants the assistant to speak after a tool result"
            yield self.problem("user_behind_result", "a user message", answer)
        if role not in ("user", "assistant") or (role == "assistant" and message.get("tool_calls")):
            return
        if role != self._wanted:
            answer = f"the template expects {self._wanted!r} there, tool traffic not counted"
            yield self.problem("alternation", f"role {role!r}", answer)
        self._wanted = "assistant" if role == "user" else "user"


def arguments_fault(arguments: object) -> str:
    """Return what keeps arguments from being a JSON object in a string; empty when nothing does."""
    if not isinstance(arguments, str):
        return f"of type {type(arguments).__name__}"
    try:
        value = json.loads(arguments)
    except (ValueError, RecursionError):
        return "not JSON"
    return "" if isinstance(value, dict) else "no object"
