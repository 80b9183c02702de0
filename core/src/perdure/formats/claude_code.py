"""Session files of Claude Code: lines to Anthropic messages.

A line is an event. Only `user` and `assistant` events are conversation; the pieces of one answer
stand on several lines that share `message.id`, and results of parallel calls may stand between
them. Lines of sub-agents (`isSidechain`) belong to another conversation and are left out, unless
the file holds nothing else.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perdure.errors import InputError
from perdure.formats.anthropic import is_tool_result, item_entries
from perdure.formats.parts import kind_of, texts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.transcript import Entry

Line = dict[str, Any]

_log = logging.getLogger(__name__)
_TURNS = frozenset({"user", "assistant"})


@dataclass(slots=True)
class _Turn:
    """One message in the making.

    Attributes:
        typed: User turns only: the blocks of each line that are no results.
    """

    role: str
    first: int
    message_id: object = None
    results: list[Any] = field(default_factory=list)
    rest: list[Any] = field(default_factory=list)
    typed: list[list[Any]] = field(default_factory=list)

    def item(self) -> dict[str, Any]:
        return {"role": self.role, "content": [*self.results, *self.rest]}


def is_session(lines: Sequence[Any]) -> bool:
    """Return whether the lines look like a Claude Code session."""
    return any(kind_of(line) in _TURNS and isinstance(line.get("message"), dict) for line in lines)


def entries_of(lines: Sequence[Any], source: str | None = None) -> list[Entry]:
    """Return the conversation of a session as entries in Anthropic form.

    Raises:
        InputError: A conversation line has no usable message, or there is no such line at all.
    """
    entries: list[Entry] = []
    for turn in _turns(_conversation(lines), source):
        typed = turn.typed if turn.role == "user" else None
        entries += item_entries(turn.item(), turn.first, source, typed)
    if not entries:
        text = "the session holds no user or assistant line; is it the right file?"
        raise InputError(text, source=source)
    return entries


def _conversation(lines: Sequence[Any]) -> list[tuple[int, Line]]:
    found = [(index, line) for index, line in enumerate(lines) if kind_of(line) in _TURNS]
    main = [(index, line) for index, line in found if not line.get("isSidechain")]
    kept, seen = [], set()
    for index, line in main or found:
        uuid = line.get("uuid")
        if isinstance(uuid, str):
            if uuid in seen:  # a resumed session repeats the lines that it continues
                continue
            seen.add(uuid)
        kept.append((index, line))
    _log.info("session: %d of %d lines are conversation", len(kept), len(lines))
    return kept


def _turns(lines: list[tuple[int, Line]], source: str | None) -> list[_Turn]:
    turns: list[_Turn] = []
    answer: _Turn | None = None
    for index, line in lines:
        role, content, message_id = _read(line, index, source)
        if role == "assistant":
            if answer is None or message_id is None or answer.message_id != message_id:
                answer = _opened(turns, role, index)
                answer.message_id = message_id
            answer.rest += content
            continue
        turn = _opened(turns, role, index)
        turn.results += [block for block in content if is_tool_result(block)]
        typed = [block for block in content if not is_tool_result(block)]
        if typed:
            turn.rest += typed
            turn.typed.append(typed)
    return turns


def _opened(turns: list[_Turn], role: str, index: int) -> _Turn:
    """Return the last turn when it has the role, else a new one."""
    if not turns or turns[-1].role != role:
        turns.append(_Turn(role, index))
    return turns[-1]


def _read(line: Line, index: int, source: str | None) -> tuple[str, list[Any], object]:
    role, message = line["type"], line.get("message")
    content = message.get("content") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(content, (str, list)):
        text = f"message {index} is a line of type {role!r} without a message that holds content"
        raise InputError(text, source=source, index=index)
    return role, texts(content), message.get("id")
