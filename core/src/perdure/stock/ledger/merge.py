"""Putting facts of messages into the ledger: each message once, in whatever order they leave."""

from __future__ import annotations

import re
import sys
from bisect import bisect_right
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from perdure.stock.ledger.facts import said_in
from perdure.stock.ledger.records import (
    Ask,
    Call,
    CommandFact,
    ErrorFact,
    FileFact,
    Identifier,
    Ledger,
    MessageFacts,
    Quotation,
)
from perdure.stock.ledger.typed import line_key

if TYPE_CHECKING:
    from collections.abc import Iterable

    from perdure.stock.ledger.records import Result, Statement

_Fact = TypeVar("_Fact")

_TEMPLATE_AFTER = 2
_ASK_CHARS = 240
# What somebody wrote or passed to a tool weighs more than what a tool printed.
_SPOKEN = 3
_MOST = {"files": 2_000, "commands": 1_000, "errors": 1_000, "asks": 2_000, "lines": 5_000}
_MOST_PER_KIND = 300
_MOST_DECISIONS = 1_500
_MOST_QUOTED_CHARS = 1_000_000
# Commands that only look; how they ended is of no use later.
_LOOKING = re.compile(
    r"(?:ls|cat|cd|pwd|echo|grep|rg|find|head|tail|wc|which|tree|sed -n|stat|file|date|whoami"
    r"|sleep|git (?:status|log|diff|"
    r"show|branch|blame))\b"
)
_ANSWERED = re.compile(r"^User has answered your questions?: |\. You can now continue.{0,100}$")


def build(previous: Ledger | None, items: Iterable[tuple[int, MessageFacts]]) -> Ledger:
    """Return the ledger with the facts of further messages in it.

    Costs what is new, and one pass over what is kept. Messages that are in already change nothing,
    so ranges may overlap and head messages may follow later ones.

    Args:
        previous: The ledger so far, or None.
        items: (message index, facts) in any order.
    """
    ledger = previous or Ledger()
    new = sorted(
        ((index, facts) for index, facts in dict(items).items() if not _is_in(ledger, index)),
        key=lambda item: item[0],
    )
    if not new:
        return ledger
    merging = _Merging(ledger)
    for index, facts in new:
        merging.add(index, facts)
    return merging.ledger([index for index, _ in new])


def _is_in(ledger: Ledger, index: int) -> bool:
    at = bisect_right(ledger.merged, (index, sys.maxsize)) - 1
    return at >= 0 and ledger.merged[at][1] >= index


class _Merging:
    """The ledger while it grows; dicts keep the least recently used entry first."""

    def __init__(self, ledger: Ledger) -> None:
        self.start = ledger
        self.quotations = list(ledger.quotations)
        self.statements = {fact.text: fact for fact in ledger.statements}
        self.asks = list(ledger.asks)
        self.newest_ask = self.asks[-1].index if self.asks else -1
        self.files = {fact.path: fact for fact in ledger.files}
        self.commands = {fact.command: fact for fact in ledger.commands}
        self.errors = {error.text: error for error in ledger.errors}
        self.unresolved: dict[str, list[str]] = {}
        for error in ledger.errors:
            if error.cause and error.resolved < 0:
                self.unresolved.setdefault(error.cause, []).append(error.text)
        # Plain pairs of (uses, last message): most identifiers of a long session never last.
        self.identifiers = {
            (fact.kind, fact.text): (fact.count, fact.index) for fact in ledger.identifiers
        }
        self.calls = list(ledger.calls)
        self.lines = dict(ledger.lines)
        self.left = dict(ledger.left)

    def add(self, index: int, facts: MessageFacts) -> None:
        """Take in the facts of one message."""
        call = None
        if facts.role == "user":
            self._user(index, facts)
        elif facts.role == "assistant":
            self._assistant(facts)
        elif facts.result is not None:
            call = self._called(facts.result)
            self._result(index, facts.result, call)
        for statement in facts.statements:
            self._statement(index, statement)
        self._errors(index, facts, call)
        uses = 1 if facts.role == "tool" else _SPOKEN
        known = self.identifiers
        for kind, text, _ in facts.identifiers:
            key = (kind, text)
            count, last = known.pop(key, (0, index))
            known[key] = (count + uses, max(index, last))

    def _user(self, index: int, facts: MessageFacts) -> None:
        if facts.drops and self.asks:
            self.asks[-1] = replace(self.asks[-1], outcome="dropped")
        if facts.quotation is None or (facts.is_observation and self.quotations):
            return
        quotation = self._without_template(facts)
        for key in facts.lines:
            self.lines[key] = self.lines.get(key, 0) + 1
        if not quotation.text:
            return
        self.quotations.append(replace(quotation, index=index))
        if not quotation.is_bare and not facts.drops:
            text = " ".join(quotation.text[: 2 * _ASK_CHARS].split())
            text = text if len(text) <= _ASK_CHARS else f"{text[:_ASK_CHARS]} …"
            self.asks.append(Ask(index, text, "done" if index < self.newest_ask else "open"))
            self.newest_ask = max(self.newest_ask, index)

    def _without_template(self, facts: MessageFacts) -> Quotation:
        """Return the quotation without lines that stood in two earlier messages already."""
        quotation = facts.quotation or Quotation(-1, "")
        known = {key for key in facts.lines if self.lines.get(key, 0) >= _TEMPLATE_AFTER}
        if not known:
            return quotation
        lines = [line for line in quotation.text.splitlines() if line_key(line) not in known]
        return replace(quotation, text="\n".join(lines).strip())

    def _assistant(self, facts: MessageFacts) -> None:
        if facts.calls:
            self.calls = list(facts.calls)
        for position in range(len(self.asks) - 1, -1, -1) if facts.concludes else ():
            if self.asks[position].outcome != "open":
                break
            self.asks[position] = replace(self.asks[position], outcome="done")

    def _called(self, result: Result) -> Call | None:
        """Return the call that the result answers: by id where one fits, else in order."""
        for position, call in enumerate(self.calls):
            if call.call_id and call.call_id == result.call_id:
                return self.calls.pop(position)
        return self.calls.pop(0) if self.calls else None

    def _result(self, index: int, result: Result, call: Call | None) -> None:
        if call is None:
            return
        if call.kind == "question" and result.answer:
            self._answer(index, result.answer)
        if call.key and not _LOOKING.match(call.key):
            known = self.commands.pop(call.key, None)
            runs = known.runs + 1 if known else 1
            self.commands[call.key] = CommandFact(
                call.key, result.failed, result.outcome, index, runs
            )
        if not result.failed:
            for path, action in call.paths:
                self._file(index, path, action)
            self._resolve(index, _cause(call))

    def _answer(self, index: int, text: str) -> None:
        """Keep what the user answered to a question tool as the user's own words."""
        answer = _ANSWERED.sub("", text).strip()
        self.quotations.append(Quotation(index, answer))
        for statement in said_in(answer, "answer"):
            self._statement(index, statement)

    def _file(self, index: int, path: str, action: str) -> None:
        known = self.files.pop(path, None) or FileFact(path, action, index, uses=0)
        read = index if action == "read" else known.read
        changed = known.changed if action == "read" else index
        self.files[path] = FileFact(path, action, index, read, changed, known.uses + 1)

    def _resolve(self, index: int, cause: str) -> None:
        for text in self.unresolved.pop(cause, ()):
            error = self.errors[text]
            if error.cause == cause and error.resolved < 0:
                self.errors[text] = replace(error, resolved=index)

    def _errors(self, index: int, facts: MessageFacts, call: Call | None) -> None:
        failed = facts.result is not None and facts.result.failed
        ran = call is not None and call.kind == "run" and not _LOOKING.match(call.key)
        if facts.role != "user" and not failed and not ran:
            return  # a source file that speaks of errors has met none
        cause = _cause(call) if call and failed else ""
        for text in facts.errors:
            known = self.errors.pop(text, None)
            count = known.count + 1 if known else 1
            self.errors[text] = ErrorFact(text, index, cause, count)
            if cause:
                self.unresolved.setdefault(cause, []).append(text)

    def _statement(self, index: int, statement: Statement) -> None:
        known = self.statements.pop(statement.text, None)
        if known and known.index > index:
            self.statements[statement.text] = known
            return
        if known and known.source in ("user", "answer") and statement.source == "assistant":
            statement = known  # the assistant repeats the user's words
        self.statements[statement.text] = replace(statement, index=index)

    def ledger(self, indexes: list[int]) -> Ledger:
        """Return the frozen ledger; full sections let their oldest entries go and count them."""
        return Ledger(
            merged=_with(self.start.merged, indexes),
            quotations=self._quotations(),
            statements=self._statements(),
            asks=self._newest("asks", sorted(self.asks, key=lambda fact: fact.index)),
            files=self._newest("files", list(self.files.values())),
            commands=self._newest("commands", list(self.commands.values())),
            errors=self._newest("errors", list(self.errors.values())),
            identifiers=self._identifiers(),
            calls=tuple(self.calls),
            lines=tuple(list(self.lines.items())[-_MOST["lines"] :]),
            left=tuple(sorted(self.left.items())),
        )

    def _newest(self, section: str, facts: list[_Fact]) -> tuple[_Fact, ...]:
        over = len(facts) - _MOST[section]
        if over > 0:
            self.left[section] = self.left.get(section, 0) + over
        return tuple(facts[max(0, over) :])

    def _quotations(self) -> tuple[Quotation, ...]:
        quotations = sorted(self.quotations, key=lambda fact: fact.index)
        over = sum(len(fact.text) for fact in quotations) - _MOST_QUOTED_CHARS
        first = 0
        while over > 0:
            over -= len(quotations[first].text)
            first += 1
        if first:
            self.left["quotations"] = self.left.get("quotations", 0) + first
        return tuple(quotations[first:])

    def _statements(self) -> tuple[Statement, ...]:
        """Return the statements in time order; only what no user said may leave."""
        facts = sorted(self.statements.values(), key=lambda fact: fact.index)
        weak = [fact for fact in facts if fact.source == "assistant"]
        over = len(weak) - _MOST_DECISIONS
        if over <= 0:
            return tuple(facts)
        self.left["decisions"] = self.left.get("decisions", 0) + over
        gone = {id(fact) for fact in weak[:over]}
        return tuple(fact for fact in facts if id(fact) not in gone)

    def _identifiers(self) -> tuple[Identifier, ...]:
        """Return the most used and latest of each kind, in the order of their last use."""
        by_kind: dict[str, list[tuple[str, str]]] = {}
        for key in self.identifiers:
            by_kind.setdefault(key[0], []).append(key)
        kept: set[tuple[str, str]] = set()
        for keys in by_kind.values():
            keys.sort(key=self.identifiers.__getitem__, reverse=True)
            kept.update(keys[:_MOST_PER_KIND])
        if over := len(self.identifiers) - len(kept):
            self.left["identifiers"] = self.left.get("identifiers", 0) + over
        return tuple(
            Identifier(kind, text, count, last)
            for (kind, text), (count, last) in self.identifiers.items()
            if (kind, text) in kept
        )


def _cause(call: Call) -> str:
    return call.key or (call.paths[0][0] if call.paths else "")


def _with(merged: tuple[tuple[int, int], ...], indexes: list[int]) -> tuple[tuple[int, int], ...]:
    """Return the ranges with further indexes in them, joined where they touch."""
    ranges: list[tuple[int, int]] = []
    for first, last in sorted([*merged, *((index, index) for index in indexes)]):
        if ranges and first <= ranges[-1][1] + 1:
            ranges[-1] = (ranges[-1][0], max(last, ranges[-1][1]))
        else:
            ranges.append((first, last))
    return tuple(ranges)
