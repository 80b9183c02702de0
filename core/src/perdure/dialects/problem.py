"""What a dialect says about a message list: problems, the validator protocol, the wire copy."""

from __future__ import annotations

import copy
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perdure.formats import Format, Request

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

SHOWN_CHARS = 80
Notes = Counter[str]
"""What was repaired, as short sentences with how often."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Problem:
    """One broken rule of a provider.

    Attributes:
        rule: Name of the rule, such as `result_missing`.
        index: 0-based index of the message in the provider's list.
        found: What was found.
        text: A full sentence: rule, index, what was found, what the provider would say.
    """

    rule: str
    index: int
    found: str
    text: str

    @classmethod
    def at(cls, index: int, rule: str, found: str, answer: str) -> Problem:
        """Return a problem whose sentence is made of its parts; `answer` is the provider's."""
        text = f"message {index} breaks {rule!r}: found {found}; {answer}"
        return cls(rule=rule, index=index, found=found, text=text)


class Validator:
    """Judges a list message by message; a step costs what that message costs.

    Subclasses say what is wrong in `judge` and, for what only matters at the end, in `judge_end`.
    """

    def __init__(self) -> None:
        self.index = 0

    def feed(self, message: Mapping[str, Any]) -> list[Problem]:
        """Return what the next message breaks; problems may name an earlier message."""
        problems = list(self.judge(message))
        self.index += 1
        return problems

    def finish(self) -> list[Problem]:
        """Return what would be wrong if the list ended here; feeding may go on afterwards."""
        return list(self.judge_end())

    def copy(self) -> Validator:
        """Return an independent validator in the same state."""
        return copy.deepcopy(self)

    def judge(self, message: Mapping[str, Any]) -> Iterator[Problem]:
        """Yield what the message at `self.index` breaks."""
        raise NotImplementedError

    def judge_end(self) -> Iterable[Problem]:
        """Yield what is broken when no message follows."""
        return ()

    def problem(self, rule: str, found: str, answer: str, *, back: int = 0) -> Problem:
        """Return a problem at the present message, or `back` messages before it."""
        return Problem.at(self.index - back, rule, found, answer)


@dataclass(frozen=True, kw_only=True, slots=True)
class Wire:
    """What goes to the provider.

    Attributes:
        messages: Messages (Responses: input items) in the provider's shape.
        system: System prompt beside the messages, for formats that have one, else None.
        problems: What the provider may reject although it is sent; the caller's own list has it.
        warnings: The same as sentences for a log or a user.
        repaired: What was done to make a changed list valid, each kind with how often.
        format: `openai`, `responses` or `anthropic`.
    """

    messages: list[dict[str, Any]]
    system: Any | None
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    repaired: tuple[str, ...] = ()
    format: Format

    def body(self) -> dict[str, Any]:
        """Return the part of the request body that carries the conversation."""
        return Request(format=self.format, messages=self.messages, system=self.system).body()


def shown(value: object) -> str:
    """Return a short, printable form of a value from outside for a sentence."""
    text = ascii(value) if isinstance(value, str) else f"{type(value).__name__}"
    return text if len(text) <= SHOWN_CHARS else text[: SHOWN_CHARS - 3] + "..."
