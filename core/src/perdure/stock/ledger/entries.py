"""What stands in each section of the rendered ledger, most important entry first.

An entry is (place in the text, text): the order of priority decides what is shown, the place where.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from perdure.stock.ledger.escape import one_line
from perdure.stock.ledger.identifiers import KINDS
from perdure.stock.ledger.rules import emphasis

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from perdure.stock.ledger.records import (
        Ask,
        CommandFact,
        ErrorFact,
        FileFact,
        Identifier,
        Statement,
    )

Entry = tuple[int, str]
Replaced = dict[int, tuple[int, bool]]
"""Position of a replaced statement -> (position of its successor, whether that names it as old)."""

_SOURCES = {"system": ", system", "document": ", in a long text", "answer": ", as an answer"}
_WEAK = ("document", "system")
_OUTCOME_CHARS = 160
_MOST_REPLACED = 3
# How many of a class come before the next class gets its turn again.
_TURNS: Mapping[str, int] = {
    "code": 6,
    "ticket": 6,
    "uuid": 3,
    "hash": 4,
    "constant": 4,
    "setting": 3,
    "number": 3,
    "email": 2,
    "url": 2,
    "host": 2,
    "version": 1,
}


def rule_entries(
    statements: Sequence[Statement], replaced: Replaced, quoted: Collection[int]
) -> Iterator[Entry]:
    """Yield what the user said that may bind, then what a system message did, newest first."""
    strong, weak = _said("rule", statements, replaced, quoted)
    yield from strong
    yield from sorted(weak, key=lambda entry: -emphasis(entry[1]))


def document_entries(statements: Sequence[Statement], quoted: Collection[int]) -> Iterator[Entry]:
    """Yield what texts ask for that the user handed over, the most emphatic and newest first."""
    found = [
        (position, f"- [{fact.index}] {one_line(fact.text)}")
        for position, fact in enumerate(statements)
        if fact.kind == "rule" and fact.source == "document" and fact.index not in quoted
    ]
    # In long texts nearly every sentence asks for something.
    yield from sorted(found, key=lambda entry: (-emphasis(entry[1]), -entry[0]))


def value_entries(
    statements: Sequence[Statement], replaced: Replaced, quoted: Collection[int]
) -> Iterator[Entry]:
    """Yield agreed values of the user, then decisions of the assistant, newest first."""
    strong, weak = _said("value", statements, replaced, quoted)
    decisions = [
        (0, f"- [{fact.index}] {one_line(fact.text)}")
        for fact in reversed(statements)
        if fact.kind == "decision"
    ]
    for _, text in [*strong, *weak]:
        yield 0, text
    yield from decisions


def _said(
    kind: str, statements: Sequence[Statement], replaced: Replaced, quoted: Collection[int]
) -> tuple[list[Entry], list[Entry]]:
    """Return typed and weaker statements of a kind, each with what it replaced behind it."""
    before: dict[int, list[int]] = defaultdict(list)
    for old, (new, is_named) in replaced.items():
        if not is_named:
            before[new].append(old)
    strong: list[Entry] = []
    weak: list[Entry] = []
    for position in range(len(statements) - 1, -1, -1):
        fact = statements[position]
        is_handed_over = kind == "rule" and fact.source == "document"
        if fact.kind != kind or position in replaced or is_handed_over:
            continue
        older = _chain(position, before)
        if fact.index in quoted and not older:
            continue
        text = f"- [{fact.index}{_SOURCES.get(fact.source, '')}] {one_line(fact.text)}"
        if older:
            olds = "; ".join(
                f"[{statements[at].index}] {one_line(statements[at].text)}" for at in older
            )
            text = f"{text} (replaces: {olds})"
        (weak if fact.source in _WEAK else strong).append((position, text))
    return strong, weak


def _chain(position: int, before: Mapping[int, list[int]]) -> list[int]:
    """Return the latest statements that this one replaced, directly or in turn."""
    found: list[int] = []
    open_ = list(before.get(position, ()))
    while open_ and len(found) < _MOST_REPLACED:
        old = max(open_)
        open_.remove(old)
        found.append(old)
        open_ += before.get(old, ())
    return found


def ask_entries(
    asks: Sequence[Ask], quoted: Collection[int], current: Callable[[int, str], str]
) -> Iterator[Entry]:
    """Yield requests, open ones first, then the newest; quoted ones only while they are open.

    `current` marks what was replaced since, see `supersede.current_texts`.
    """
    for is_open in (True, False):
        for ask in reversed(asks):
            if (ask.outcome == "open") is not is_open or (not is_open and ask.index in quoted):
                continue
            if text := current(ask.index, ask.text):
                yield -ask.index, f"- [{ask.index}, {ask.outcome}] {one_line(text)}"


def error_entries(errors: Sequence[ErrorFact]) -> Iterator[Entry]:
    """Yield error lines: unresolved ones first, then the newest."""
    for is_resolved in (False, True):
        for error in reversed(errors):
            if (error.resolved >= 0) is is_resolved:
                notes = [f"{error.count}x"] if error.count > 1 else []
                notes += [f"passed later [{error.resolved}]"] if is_resolved else []
                note = f" ({', '.join(notes)})" if notes else ""
                yield 0, f"- [{error.index}] {one_line(error.text)}{note}"


def command_entries(commands: Sequence[CommandFact]) -> Iterator[Entry]:
    """Yield commands with their last outcome: failing ones first, then the newest."""
    for failed in (True, False):
        for fact in reversed(commands):
            if fact.failed is failed:
                outcome = one_line(fact.outcome)[:_OUTCOME_CHARS]
                runs = f", {fact.runs} runs" if fact.runs > 1 else ""
                verdict = "failed" if failed else "ok"
                yield 0, f"- [{fact.index}] {one_line(fact.command)} -> {verdict}{runs}: {outcome}"


def file_entries(files: Sequence[FileFact]) -> Iterator[Entry]:
    """Yield files: changed ones first, then the newest."""
    for is_changed in (True, False):
        for fact in reversed(files):
            if (fact.changed >= 0) is is_changed:
                yield 0, f"- {one_line(fact.path)}: {fact.action} [{fact.index}]{_validity(fact)}"


def _validity(fact: FileFact) -> str:
    if fact.action == "read" or fact.read < 0 or fact.changed <= fact.read:
        return ""
    return f", read [{fact.read}] is superseded"


def identifier_entries(identifiers: Sequence[Identifier]) -> Iterator[Entry]:
    """Yield identifiers in turns of classes, in each the most used first, then the newest."""
    ranked: list[tuple[int, int, int, str]] = []
    for place, kind in enumerate(KINDS):
        facts = [fact for fact in identifiers if fact.kind == kind]
        facts.sort(key=lambda fact: (-fact.count, -fact.index, fact.text))
        turns = _TURNS[kind]
        ranked += [(rank // turns, place, rank, fact.text) for rank, fact in enumerate(facts)]
    for _, place, _, text in sorted(ranked):
        yield place, one_line(text)
