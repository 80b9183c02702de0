"""The records of the ledger: what one message says, and what is carried across compactions."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, TypeVar

from perdure.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

VERSION = 1
"""Version of the extraction; a change of what is extracted makes caches of older ones worthless."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Statement:
    """A sentence that binds, word for word.

    Attributes:
        kind: `rule` (standing wish), `value` (something agreed) or `decision` (of the assistant).
        text: The sentence as it was written.
        source: `user`, `document` (inside a long structured text of the user), `answer` (to a
            question tool), `system` or `assistant`.
        subject: What the sentence fixes a value for, normalised; empty when that is not certain.
        value: The value it fixes; empty when that is not certain.
        taken_back: (old, new) for values that the sentence itself names as old.
        index: Message index; -1 until it is merged.
    """

    kind: str
    text: str
    source: str = "user"
    subject: str = ""
    value: str = ""
    taken_back: tuple[tuple[str, str], ...] = ()
    index: int = -1


@dataclass(frozen=True, slots=True)
class Quotation:
    """What a person typed in one message, pasted blocks left out.

    Attributes:
        index: Message index; -1 until it is merged.
        text: The words; a longer message as head, rule sentences and tail.
        is_whole: False when typed words were left out for length.
        is_bare: True for an acknowledgement that says nothing by itself.
    """

    index: int
    text: str
    is_whole: bool = True
    is_bare: bool = False


@dataclass(frozen=True, slots=True)
class Ask:
    """Something the user asked for; `outcome` is `open`, `done` or `dropped`."""

    index: int
    text: str
    outcome: str = "open"


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the ledger sees it.

    Attributes:
        call_id: Id that its result names; may be reused, so order decides when it is ambiguous.
        kind: `run`, `question` or `other`.
        key: The command that was run, in one line; empty for other kinds.
        paths: (path, action) for every file the call touches.
    """

    call_id: str
    kind: str
    key: str = ""
    paths: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Result:
    """A tool result as the ledger sees it.

    Attributes:
        call_id: Id of the call it answers.
        failed: Whether it says that the call failed.
        outcome: Its most telling line.
        answer: Its text when it is short enough to be the answer to a question.
    """

    call_id: str
    failed: bool
    outcome: str
    answer: str = ""


@dataclass(frozen=True, slots=True)
class FileFact:
    """A path, its last action, and which messages last read and changed it (-1: never)."""

    path: str
    action: str
    index: int
    read: int = -1
    changed: int = -1
    uses: int = 1


@dataclass(frozen=True, slots=True)
class CommandFact:
    """A command with the outcome of its last run."""

    command: str
    failed: bool
    outcome: str
    index: int
    runs: int = 1


@dataclass(frozen=True, slots=True)
class ErrorFact:
    """An error line, the command or path that met it, and where that passed later (-1: no)."""

    text: str
    index: int
    cause: str = ""
    count: int = 1
    resolved: int = -1


@dataclass(frozen=True, slots=True)
class Identifier:
    """A string that must not be retyped from memory, with its class, use and last message."""

    kind: str
    text: str
    count: int
    index: int = -1


@dataclass(frozen=True, slots=True)
class MessageFacts:
    """What one message contributes; a pure function of the message.

    Attributes:
        role: Role of the message; empty when it has nothing to say to the ledger.
        quotation: What a person typed in it, or None.
        is_observation: True when a text protocol let the user role carry tool output.
        drops: True when it takes the previous request back.
        lines: Keys of the lines of a message of several lines, see `typed.line_keys`.
        statements: Rules, agreed values and decisions.
        calls: Tool calls.
        result: Tool result, or None.
        concludes: True for an answer of the assistant that calls no tool.
        errors: Error lines.
        identifiers: (class, text, uses).
    """

    role: str = ""
    quotation: Quotation | None = None
    is_observation: bool = False
    drops: bool = False
    lines: tuple[int, ...] = ()
    statements: tuple[Statement, ...] = ()
    calls: tuple[Call, ...] = ()
    result: Result | None = None
    concludes: bool = False
    errors: tuple[str, ...] = ()
    identifiers: tuple[tuple[str, str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Ledger:
    """Facts carried word for word across compactions; plain data, durable in session state.

    Attributes:
        merged: Inclusive ranges of the message indexes that are in.
        quotations: What people typed, in time order.
        statements: Rules, agreed values and decisions, in time order.
        asks: Requests, in time order.
        files: By path, least recently used first.
        commands: Least recently run first.
        errors: Least recently seen first.
        identifiers: Least recently used first.
        calls: Calls whose results have not been merged yet.
        lines: (key, messages) of the lines of user messages, to know templates.
        left: (section, entries) that left because a section was full.
    """

    merged: tuple[tuple[int, int], ...] = ()
    quotations: tuple[Quotation, ...] = ()
    statements: tuple[Statement, ...] = ()
    asks: tuple[Ask, ...] = ()
    files: tuple[FileFact, ...] = ()
    commands: tuple[CommandFact, ...] = ()
    errors: tuple[ErrorFact, ...] = ()
    identifiers: tuple[Identifier, ...] = ()
    calls: tuple[Call, ...] = ()
    lines: tuple[tuple[int, int], ...] = ()
    left: tuple[tuple[str, int], ...] = ()

    def to_json(self) -> dict[str, object]:
        """Return the ledger as plain JSON values."""
        plain: dict[str, object] = {"version": VERSION}
        for field in fields(self):
            plain[field.name] = [list(_values(entry)) for entry in getattr(self, field.name)]
        return plain

    @classmethod
    def from_json(cls, plain: Mapping[str, object]) -> Ledger:
        """Return the ledger that `to_json` wrote.

        Raises:
            InputError: `plain` is not what `to_json` of this version wrote.
        """
        found = plain.get("version") if isinstance(plain, dict) else type(plain).__name__
        if found != VERSION:
            text = f"stored ledger has version {found!r}, expected {VERSION}; build it again"
            raise InputError(text)
        try:
            return cls(**{name: _entries(plain[name], kind) for name, kind in _KINDS.items()})
        except (KeyError, TypeError, ValueError) as error:
            text = f"stored ledger is damaged ({error}); build it again from the messages"
            raise InputError(text) from error


_KINDS: dict[str, type] = {
    "merged": tuple,
    "quotations": Quotation,
    "statements": Statement,
    "asks": Ask,
    "files": FileFact,
    "commands": CommandFact,
    "errors": ErrorFact,
    "identifiers": Identifier,
    "calls": Call,
    "lines": tuple,
    "left": tuple,
}


def _values(entry: object) -> tuple[object, ...]:
    if isinstance(entry, tuple):
        return entry
    return tuple(getattr(entry, field.name) for field in fields(entry))  # type: ignore[arg-type]


def _entries(stored: object, kind: type[T]) -> tuple[T, ...]:
    if not isinstance(stored, list):
        text = f"a list was expected, found {type(stored).__name__}"
        raise TypeError(text)
    if kind is tuple:
        return tuple(tuple(entry) for entry in stored)  # type: ignore[misc]  # pairs of plain values
    return tuple(kind(*(_frozen(value) for value in entry)) for entry in stored)


def _frozen(value: object) -> object:
    return tuple(_frozen(item) for item in value) if isinstance(value, list) else value
