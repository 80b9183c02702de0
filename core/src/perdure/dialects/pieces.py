"""How far a wire copy is settled, so that a request costs what is new.

A wire copy is made in two pieces. What stands before the newest assistant turn cannot change any
more and is kept with the transcript, validator included; only the rest is made again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from operator import is_
from typing import TYPE_CHECKING, Any

from perdure.messages import is_result, tool_calls_of

if TYPE_CHECKING:
    from perdure.dialects.problem import Notes, Problem, Validator
    from perdure.transcript import Entry, Replacement, Transcript, View


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """The wire copy of the first entries of a transcript.

    Attributes:
        entries: The transcript entries that were read; as many as the copy covers.
        replacements: Those of the view.
        messages: Messages in the provider's shape.
        system: What stands beside the messages.
        validator: In the state after the last message; None for the empty copy.
        problems: What the validator has found.
        notes: What was repaired.
    """

    entries: list[Entry] = field(default_factory=list)
    replacements: tuple[Replacement, ...] = ()
    messages: list[dict[str, Any]] = field(default_factory=list)
    system: Any | None = None
    validator: Validator | None = None
    problems: tuple[Problem, ...] = ()
    notes: Notes = field(default_factory=Counter)

    def __len__(self) -> int:
        """Return how many transcript entries are covered."""
        return len(self.entries)

    def judged(self) -> list[Problem]:
        """Return what is wrong, also if the list ends here."""
        return [*self.problems, *(self.validator.finish() if self.validator else ())]

    def fits(self, view: View) -> bool:
        """Return whether the view starts with what the copy was made of.

        Looks at every entry, since a host that moves its cache marks puts a new one in its place.
        """
        if self.replacements != view.replacements or len(self) > len(view.transcript):
            return False
        return all(map(is_, self.entries, view.transcript.entries(0, len(self))))


def settled(view: View, start: int) -> int:
    """Return the position up to which the wire copy of a view cannot change any more.

    That is where the newest assistant turn starts that follows a user or the last result of its
    unit, behind all replacements; `start` when there is none after it.
    """
    transcript = view.transcript
    fixed = view.replacements[-1].last + 1 if view.replacements else 0
    for position in range(len(transcript) - 1, max(start, fixed), -1):
        if transcript[position].get("role") == "assistant" and _is_complete(transcript, position):
            return position
    return start


def _is_complete(transcript: Transcript, position: int) -> bool:
    """Return whether what stands before a position is a user or a whole unit of calls."""
    first = position - 1
    while first > 0 and is_result(transcript[first]):
        first -= 1
    results = position - 1 - first
    if not results:
        return transcript[first].get("role") == "user"
    return len(tool_calls_of(transcript[first])) == results
