"""How far a wire copy is settled, so that a request costs what is new.

A wire copy is made in two pieces. What stands before the newest assistant turn cannot change any
more and is kept with the transcript, validator included; only the rest is made again.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from perdure.messages import is_result, tool_calls_of

if TYPE_CHECKING:
    from perdure.dialects.problem import Notes, Problem, Validator
    from perdure.transcript import Replacement, Transcript, View


@dataclass(frozen=True, kw_only=True, slots=True)
class Made:
    """The wire copy of the first entries of a transcript.

    Attributes:
        length: Transcript entries that the copy covers.
        swaps: `Transcript.swaps` when they were read.
        replacements: Those of the view.
        messages: Messages in the provider's shape.
        system: What stands beside the messages.
        validator: In the state after the last message; None for the empty copy.
        problems: What the validator has found.
        notes: What was repaired.
    """

    length: int = 0
    swaps: int = 0
    replacements: tuple[Replacement, ...] = ()
    messages: list[dict[str, Any]] = field(default_factory=list)
    system: Any | None = None
    validator: Validator | None = None
    problems: tuple[Problem, ...] = ()
    notes: Notes = field(default_factory=Counter)

    def __len__(self) -> int:
        """Return how many transcript entries are covered."""
        return self.length

    def judged(self) -> list[Problem]:
        """Return what is wrong, also if the list ends here."""
        return [*self.problems, *(self.validator.finish() if self.validator else ())]

    def fits(self, view: View) -> bool:
        """Return whether the view starts with what the copy was made of.

        A host that moves its cache marks puts a new entry in the place of one that was read.
        """
        if self.replacements is not view.replacements and self.replacements != view.replacements:
            return False
        return len(self) <= len(view.transcript) and self.swaps == view.transcript.swaps


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
