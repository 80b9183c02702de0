"""Rules of OpenAI Responses: a list of items, paired by `call_id`.

A reasoning item and the item it led to live or die together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.dialects.openai_chat import arguments_fault
from perdure.dialects.problem import Problem, Validator, shown
from perdure.dialects.text import is_blank_part, is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

# Pairs of call and output types; other items (searches, images, compaction) stand alone.
OUTPUT_OF = {
    "function_call": "function_call_output",
    "custom_tool_call": "custom_tool_call_output",
    "computer_call": "computer_call_output",
    "local_shell_call": "local_shell_call_output",
    "shell_call": "shell_call_output",
    "apply_patch_call": "apply_patch_call_output",
}
OUTPUTS = frozenset(OUTPUT_OF.values())
_ROLES = ("user", "assistant", "system", "developer")
_TEXT_TYPES = {"assistant": frozenset({"output_text", "refusal"})}
_WRONG_FOR_OTHERS = frozenset({"output_text", "refusal"})


class ResponsesValidator(Validator):
    """Rules of OpenAI Responses."""

    def __init__(self) -> None:
        super().__init__()
        self._open: dict[str, int] = {}
        self._turn_at = -1
        self._reasoning = False

    def judge(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what the item breaks."""
        if not isinstance(message, dict) or not item_type(message):
            answer = "the provider expects an item with a type or a role"
            yield self.problem("shape", shown(message), answer)
            return
        kind = item_type(message)
        yield from self._follower(kind, message)
        if kind == "message":
            yield from self._message(message)
        elif kind in OUTPUT_OF:
            yield from self._call(kind, message)
        elif kind in OUTPUTS:
            yield from self._output(message)
        yield from self._keys(message)
        if not is_encodable(message):
            yield self.problem("utf8", "half of a surrogate pair", "no UTF-8 body can carry it")

    def judge_end(self) -> Iterable[Problem]:
        """Yield calls without output and a reasoning item that leads nowhere."""
        for call, index in self._open.items():
            rule = "calls_pending" if index > self._turn_at else "result_missing"
            answer = "the provider answers 400 until the call has its output item"
            yield Problem.at(index, rule, f"no output for {shown(call)}", answer)
        if self._reasoning:
            yield self._alone(back=1)

    def _alone(self, back: int) -> Problem:
        answer = "the provider answers 400: the item it led to is required"
        return self.problem("reasoning_alone", "reasoning without what follows", answer, back=back)

    def _follower(self, kind: str, item: Mapping[str, Any]) -> Iterator[Problem]:
        if self._reasoning and not is_model_item(kind, item):
            yield self._alone(back=1)
        self._reasoning = kind == "reasoning"

    # -- items ---------------------------------------------------------------------------

    def _message(self, item: Mapping[str, Any]) -> Iterator[Problem]:
        role, content = item.get("role"), item.get("content")
        if role not in _ROLES:
            answer = f"the provider knows only {', '.join(_ROLES)}"
            yield self.problem("role", f"role {shown(role)}", answer)
        if role == "user":
            self._turn_at = self.index
        if isinstance(content, list):
            yield from self._parts(role, content)
        elif not isinstance(content, str):
            found = f"content of type {type(content).__name__}"
            yield self.problem("shape", found, "the provider expects text or parts")
        if not content or (isinstance(content, list) and any(map(is_blank_part, content))):
            yield self.problem("content_empty", "blank text or no content", "servers answer 400")

    def _parts(self, role: object, parts: list[Any]) -> Iterator[Problem]:
        kinds = [part.get("type") if isinstance(part, dict) else None for part in parts]
        allowed = _TEXT_TYPES.get(str(role))
        wrong = [
            kind
            for kind in kinds
            if not isinstance(kind, str)
            or (kind not in allowed if allowed else kind in _WRONG_FOR_OTHERS)
        ]
        if wrong:
            found = f"part type {shown(wrong[0])} in role {shown(role)}"
            yield self.problem("part_type", found, "the provider answers 400")

    def _call(self, kind: str, item: Mapping[str, Any]) -> Iterator[Problem]:
        call = item.get("call_id")
        if not isinstance(call, str) or not call:
            found = f"a call with call_id {shown(call)}"
            yield self.problem("call_id", found, "the provider requires a text")
        if str(call) in self._open:
            found = f"call_id {shown(call)} on two running calls"
            yield self.problem("call_id", found, "the provider cannot tell their outputs apart")
        self._open[str(call)] = self.index
        fault = arguments_fault(item.get("arguments")) if kind == "function_call" else ""
        if fault:
            answer = "the provider expects a JSON object in a string"
            yield self.problem("arguments", f"arguments that are {fault}", answer)

    def _output(self, item: Mapping[str, Any]) -> Iterator[Problem]:
        call = item.get("call_id")
        if self._open.pop(str(call), None) is None:
            answer = "the provider answers 400: no call with that id stands before it"
            yield self.problem("result_orphan", f"an output for {shown(call)}", answer)
        if not isinstance(item.get("output"), (str, list, dict)):
            found = f"output of type {type(item.get('output')).__name__}"
            yield self.problem("shape", found, "the provider expects text or parts")

    def _keys(self, item: Mapping[str, Any]) -> Iterator[Problem]:
        private = sorted(str(key) for key in item if str(key).startswith("_"))
        if private:
            found = f"private keys {', '.join(map(shown, private))}"
            yield self.problem("keys", found, "the provider answers 400 to any extra key")


def item_type(item: Mapping[str, Any]) -> str:
    """Return the type of an item; a bare role means a message."""
    kind = item.get("type")
    if isinstance(kind, str):
        return kind
    return "message" if "role" in item else ""


def is_model_item(kind: str, item: Mapping[str, Any]) -> bool:
    """Return whether the model made the item (and not the caller)."""
    return kind not in OUTPUTS and (kind != "message" or item.get("role") == "assistant")
