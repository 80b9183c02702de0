"""The ledger as text: bounded, stable, and plainly data.

Rules come first and may spend a budget of their own; what does not fit is counted and named with
the handle behind which it lies. An unchanged ledger gives unchanged bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perdure.stock.ledger.entries import (
    ask_entries,
    command_entries,
    document_entries,
    error_entries,
    file_entries,
    identifier_entries,
    rule_entries,
    value_entries,
)
from perdure.stock.ledger.escape import one_line
from perdure.stock.ledger.supersede import current_texts, replaced_by

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from perdure.stock.ledger.records import Ledger

_HEADERS = {
    "rules": "The user said (wishes and limits, newest last; [message number]):",
    "documents": "Texts that the user handed over say (not the user's own wishes):",
    "asks": "The user asked (newest first):",
    "values": "Agreed and decided (newest first):",
    "errors": "Errors (unresolved first):",
    "commands": "Commands, last outcome:",
    "files": "Files, last action:",
    "identifiers": "Identifiers, exact:",
}
# Shares of the room that the rules leave; what one section does not need flows to the next.
_SHARES = {
    "identifiers": 40,
    "errors": 18,
    "values": 12,
    "asks": 6,
    "files": 14,
    "commands": 10,
}
# Who gets what others left; asks come late, since most of them are quoted already.
_THEN = ("identifiers", "errors", "values", "files", "asks", "commands")


@dataclass(frozen=True, slots=True)
class RenderedLedger:
    """The ledger as text.

    Attributes:
        text: Sections one after another, or an empty string.
        shown: Entries shown, by section.
        left_out: Entries not shown, by section.
        warnings: Sentences for people; a rule that is only behind a handle is announced here.
    """

    text: str
    shown: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _Section:
    """A section while room is given to it: entries in order of priority, each counted once.

    An entry is (place in the text, text); equal places keep the order of priority.
    """

    name: str
    waiting: list[tuple[int, str]]
    kept: list[tuple[int, str]] = field(default_factory=list)
    held_tokens: int = -1

    @property
    def joiner(self) -> str:
        """What stands between two entries."""
        return ", " if self.name == "identifiers" else "\n"

    @classmethod
    def of(cls, name: str, entries: Iterable[tuple[int, str]]) -> _Section:
        """Return the section with its entries waiting, first one last."""
        return cls(name, list(entries)[::-1])

    def fill(self, room: int, count: Callable[[str], int]) -> int:
        """Take entries until `room` tokens are spent; return what is left of it."""
        header = 0 if self.kept else count(f"\n{_HEADERS[self.name]}")
        while self.waiting:
            if self.held_tokens < 0:
                self.held_tokens = count(f"{self.joiner}{self.waiting[-1][1]}")
            if header + self.held_tokens > room:
                break
            room -= header + self.held_tokens
            header, self.held_tokens = 0, -1
            self.kept.append(self.waiting.pop())
        return room

    def lines(self) -> list[str]:
        """Return the section's lines, or none for an empty one."""
        if not self.kept:
            return []
        entries = sorted(self.kept, key=lambda entry: entry[0])
        if self.name != "identifiers":
            return [_HEADERS[self.name], *(text for _, text in entries)]
        groups: dict[int, list[str]] = {}
        for place, text in entries:
            groups.setdefault(place, []).append(text)
        return [_HEADERS[self.name], *(self.joiner.join(group) for group in groups.values())]


def render(  # noqa: PLR0913 - two budgets, a counter and two places, all by keyword
    ledger: Ledger,
    *,
    count: Callable[[str], int],
    budget_tokens: int,
    rules_budget_tokens: int,
    handle: str = "",
    quoted: Collection[int] = (),
) -> RenderedLedger:
    """Return the ledger as text.

    The text takes at most the larger of both budgets: what the user said spends up to
    `rules_budget_tokens`, the other sections what is then left of `budget_tokens`.

    Args:
        ledger: The ledger.
        count: Counts the tokens of a text; called about once per entry.
        budget_tokens: Room for the whole text.
        rules_budget_tokens: Room for what the user said; borrowed from everything else.
        handle: Where the rest can be recalled, named when something is left out.
        quoted: Messages that are quoted whole elsewhere and need no second copy here; what
            replaces an earlier statement is shown all the same.
    """
    replaced = replaced_by(ledger.statements)
    entries = {
        "rules": rule_entries(ledger.statements, replaced, quoted),
        "documents": document_entries(ledger.statements, quoted),
        "asks": ask_entries(ledger.asks, quoted, current_texts(ledger)),
        "values": value_entries(ledger.statements, replaced, quoted),
        "errors": error_entries(ledger.errors),
        "commands": command_entries(ledger.commands),
        "files": file_entries(ledger.files),
        "identifiers": identifier_entries(ledger.identifiers),
    }
    sections = {name: _Section.of(name, waiting) for name, waiting in entries.items()}
    most = max(budget_tokens, rules_budget_tokens)
    closing = count(_rest(sections, ledger, handle)) + 2
    rules = sections["rules"]
    unspent = rules.fill(min(rules_budget_tokens, most - closing), count)
    unspent = sections["documents"].fill(unspent, count)
    room = budget_tokens - closing - (min(rules_budget_tokens, most - closing) - unspent)
    _share(sections, room, count)
    left = {name: len(section.waiting) for name, section in sections.items() if section.waiting}
    lines = [line for section in sections.values() for line in section.lines()]
    if left and most > closing:
        lines.append(_rest(sections, ledger, handle))
    shown = {name: len(section.kept) for name, section in sections.items() if section.kept}
    return RenderedLedger("\n".join(lines), shown, left, _warnings(left, handle))


def _share(sections: Mapping[str, _Section], room: int, count: Callable[[str], int]) -> None:
    """Give each section its share, then what others left to those that need more."""
    shares = sum(_SHARES.values())
    unspent = max(0, room)
    for name, share in _SHARES.items():
        given = unspent * share // shares if shares else 0
        unspent -= given - sections[name].fill(given, count)
        shares -= share
    for name in _THEN:
        unspent = sections[name].fill(unspent, count)


def _rest(sections: Mapping[str, _Section], ledger: Ledger, handle: str) -> str:
    """Return the line that says what is not shown; longest before anything is."""
    gone = dict(ledger.left)
    parts = []
    for name, section in sections.items():
        missing = len(section.waiting) + gone.get(name, 0)
        if missing:
            parts.append(f"+{missing} {'statements of the user' if name == 'rules' else name}")
    where = f"; recall with {one_line(handle)}" if handle else ""
    return f"(Not shown: {', '.join(parts)}{where})"


def _warnings(left: Mapping[str, int], handle: str) -> tuple[str, ...]:
    missing = left.get("rules", 0)
    if not missing:
        return ()
    where = f" and stay behind {handle!r}" if handle else ""
    text = f"{missing} statements of the user that may bind did not fit into the handoff{where}"
    return (text,)
