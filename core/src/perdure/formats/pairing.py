"""Call ids that another provider accepts, with calls and results still in pairs.

Real logs reuse ids, join two with a bar, or leave them out. Anthropic accepts letters, digits,
`_` and `-` and each id once; OpenAI accepts 40 characters. Calls and results are paired by
position within their unit, then both sides get the same new id.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perdure.messages import group, pair, tool_calls_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.messages import Message

_FORBIDDEN = re.compile(r"[^A-Za-z0-9_-]")
_LONGEST = 40


@dataclass(slots=True)
class Pairs:
    """The ids to write, by message index.

    Attributes:
        call_ids: For each assistant message with calls, one id per call.
        results: For each result that has a call, its id and the call.
        changed: Indexes of results that need another id than they have.
    """

    call_ids: dict[int, list[str]] = field(default_factory=dict)
    results: dict[int, tuple[str, dict[str, Any]]] = field(default_factory=dict)
    changed: set[int] = field(default_factory=set)


def pairs_of(messages: Sequence[Message], kept: Sequence[bool]) -> Pairs:
    """Return the ids under which calls and results go out.

    Args:
        messages: The messages to write.
        kept: For each message, whether its raw form is sent and its call ids must stay.
    """
    made = Pairs()
    ids = _Ids()
    for unit in group(messages):
        if unit.kind != "calls":
            continue
        first = unit.first
        calls = tool_calls_of(messages[first])
        new = [ids.take(call.get("id"), as_is=kept[first]) for call in calls]
        made.call_ids[first] = new
        found = [result for _, result in pair(messages, unit)]
        for call, call_id, result in zip(calls, new, found, strict=True):
            if result is None:
                continue
            new_id = call_id
            given = messages[result].get("tool_call_id")
            if kept[first] and (kept[result] or given is not None):
                new_id = str(given)  # the call goes out as it came, and so does its result
            elif given != new_id:
                made.changed.add(result)
            made.results[result] = (new_id, call)
    return made


class _Ids:
    """Hands out ids, each once."""

    def __init__(self) -> None:
        self._used: set[str] = set()
        self._times: dict[str, int] = {}

    def take(self, wanted: Any, *, as_is: bool) -> str:  # noqa: ANN401 - malformed ids occur
        if as_is:
            self._used.add(str(wanted))
            return str(wanted)
        base = _acceptable(wanted)
        made = base
        while made in self._used:
            self._times[base] = self._times.get(base, 1) + 1
            suffix = f"_{self._times[base]}"
            made = base[: _LONGEST - len(suffix)] + suffix
        self._used.add(made)
        return made


def _acceptable(wanted: Any) -> str:  # noqa: ANN401 - malformed ids occur
    text = "" if wanted is None else str(wanted)
    if not text:
        return "call"
    if len(text) > _LONGEST:
        mark = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).hexdigest()
        text = f"{text[:31]}_{mark}"
    return _FORBIDDEN.sub("_", text)
