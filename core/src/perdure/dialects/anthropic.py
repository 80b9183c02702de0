"""Rules of Anthropic Messages.

A turn of the user carries the results of the assistant turn before it, all of them, before
anything else. Thinking blocks are signed. At most four cache marks may stand in a request.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from perdure.dialects.problem import Problem, Validator, shown
from perdure.dialects.text import is_blank, is_blank_part, is_encodable

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEYS = frozenset({"role", "content"})
THINKING = frozenset({"thinking", "redacted_thinking"})
MAX_MARKS = 4
_RESULTS = "the provider answers 400: all results come first in the user turn right after the calls"


class AnthropicValidator(Validator):
    """Rules of Anthropic Messages.

    Args:
        marks: Cache marks that already stand in the system prompt and the tools.
    """

    def __init__(self, marks: int = 0) -> None:
        super().__init__()
        self._marks = marks
        self._role = ""
        self._open: Counter[str] = Counter()

    def judge(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what the message breaks."""
        shape = self._shape(message)
        if shape is not None:
            self._role = "?"
            yield shape
            return
        blocks = blocks_of(message)
        yield from self._turn(message["role"])
        yield from self._results(message["role"], blocks)
        yield from self._uses(message["role"], blocks)
        yield from self._content(message["content"])
        yield from self._thinking(message["role"], blocks)
        yield from self._cache(blocks)
        yield from self._keys(message)
        if not is_encodable(message):
            yield self.problem("utf8", "half of a surrogate pair", "no UTF-8 body can carry it")

    def judge_end(self) -> Iterator[Problem]:
        """Yield calls that are still running."""
        if self._open:
            found = f"{self._open.total()} tool_use blocks without a result at the end"
            answer = "the provider answers 400 until each has its tool_result"
            yield self.problem("calls_pending", found, answer, back=1)

    # -- shape ---------------------------------------------------------------------------

    def _shape(self, message: object) -> Problem | None:
        if not isinstance(message, dict):
            return self.problem("shape", shown(message), "the provider expects an object")
        if message.get("role") not in ("user", "assistant"):
            found = f"role {shown(message.get('role'))}"
            return self.problem("role", found, "the provider knows only user and assistant here")
        content = message.get("content")
        if isinstance(content, str):
            return None
        if not isinstance(content, list) or not all(map(_is_block, content)):
            found = f"content of type {type(content).__name__}"
            return self.problem("shape", found, "the provider expects text or a list of blocks")
        return None

    def _keys(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        unknown = sorted(str(key) for key in message if key not in KEYS)
        if unknown:
            found = f"unknown keys {', '.join(map(shown, unknown))}"
            yield self.problem("keys", found, "the provider answers 400 to any extra key")

    # -- turns ---------------------------------------------------------------------------

    def _turn(self, role: str) -> Iterator[Problem]:
        if not self._role and role != "user":
            answer = "the provider wants the first message to be a user turn"
            yield self.problem("opens_with_user", f"role {role!r}", answer)
        if role == self._role:
            answer = "the provider joins the two; Bedrock and other servers answer 400"
            yield self.problem("alternation", f"two {role!r} turns in a row", answer)
        self._role = role

    def _results(self, role: str, blocks: list[dict[str, Any]]) -> Iterator[Problem]:
        places = [at for at, block in enumerate(blocks) if block["type"] == "tool_result"]
        given = Counter(str(blocks[at].get("tool_use_id")) for at in places)
        wanted, self._open = self._open, Counter()
        if wanted - given:
            found = f"no result for {', '.join(map(shown, wanted - given))}"
            yield self.problem("result_missing", found, _RESULTS)
        if given - wanted:
            found = f"a result for {', '.join(map(shown, given - wanted))} without its call"
            yield self.problem("result_orphan", found, _RESULTS)
        if role != "user" and places:
            found = f"tool_result in role {role!r}"
            yield self.problem("block_role", found, "the provider answers 400")
        if places != list(range(len(places))):
            yield self.problem("results_first", "other content before a tool_result", _RESULTS)

    def _uses(self, role: str, blocks: list[dict[str, Any]]) -> Iterator[Problem]:
        uses = [block for block in blocks if block["type"] == "tool_use"]
        if uses and role != "assistant":
            found = f"tool_use in role {role!r}"
            yield self.problem("block_role", found, "the provider answers 400")
        self._open = Counter(str(block.get("id")) for block in uses)
        for block in uses:
            if not isinstance(block.get("input"), dict):
                found = f"input of type {type(block.get('input')).__name__}"
                yield self.problem("arguments", found, "the provider expects an object")
            if not isinstance(block.get("id"), str) or not block["id"]:
                found = f"a call with id {shown(block.get('id'))}"
                yield self.problem("call_id", found, "the provider requires a text")
        if any(times > 1 for times in self._open.values()):
            answer = "the provider answers 400: ids must be unique"
            yield self.problem("call_id", "one id on several calls", answer)

    # -- content -------------------------------------------------------------------------

    def _content(self, content: object) -> Iterator[Problem]:
        if isinstance(content, list) and content:
            blank = any(map(is_blank_part, content))
        else:
            blank = not content or is_blank(content)
        if blank:
            answer = "the provider answers 400: text must not be empty"
            yield self.problem("content_empty", "blank text or no content", answer)

    def _thinking(self, role: str, blocks: list[dict[str, Any]]) -> Iterator[Problem]:
        for block in blocks:
            if block["type"] not in THINKING:
                continue
            seal = block.get("signature" if block["type"] == "thinking" else "data")
            if not isinstance(seal, str) or not seal:
                answer = "the provider takes thinking back only as it came"
                yield self.problem("thinking_signature", "thinking without signature", answer)
            if role != "assistant":
                found = f"thinking in role {role!r}"
                yield self.problem("block_role", found, "the provider answers 400")

    def _cache(self, blocks: list[dict[str, Any]]) -> Iterator[Problem]:
        before, self._marks = self._marks, self._marks + marks_in(blocks)
        if before <= MAX_MARKS < self._marks:
            found = f"{self._marks} cache_control marks, those in system and tools included"
            answer = f"the provider answers 400 to more than {MAX_MARKS}"
            yield self.problem("cache_marks", found, answer)


def blocks_of(message: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the content blocks of a message; empty for plain text and malformed content."""
    content = message.get("content")
    return [block for block in content if _is_block(block)] if isinstance(content, list) else []


def marks_in(value: Any) -> int:  # noqa: ANN401 - a system prompt, tools or content of any shape
    """Return the number of cache marks on blocks and on blocks nested in results."""
    if not isinstance(value, list):
        return 0
    blocks = [block for block in value if isinstance(block, dict)]
    here = sum(1 for block in blocks if block.get("cache_control"))
    nested = (block["content"] for block in blocks if isinstance(block.get("content"), list))
    return here + sum(
        1
        for parts in nested
        for part in parts
        if isinstance(part, dict) and part.get("cache_control")
    )


def _is_block(block: object) -> bool:
    return isinstance(block, dict) and isinstance(block.get("type"), str)
