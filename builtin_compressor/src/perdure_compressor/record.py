"""What the handoff says: the user's words, the ledger, and the summary, in the room there is. Pure.

The user's own words come first and spend most; the ledger is rendered by rule, so that no model is
trusted with it; the summary gets what is left.
"""

from __future__ import annotations

from dataclasses import astuple, dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from perdure.errors import InputError
from perdure.messages import digest
from perdure.stock.digest import DigestLine, candidates_of, make_digest
from perdure.stock.ledger import Ledger, build, facts_of, render, render_quotations
from perdure.stock.redact import redact

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from perdure.messages import Message
    from perdure.transcript import Entry
    from perdure.types import Budget

LEDGER_SHARE = 0.07
SUMMARY_SHARE = 0.07
BORROWED_SHARE = 0.25
"""What the user's words and rules may take of the room, out of every other part."""
QUOTED_SHARE = 0.65
MERGED_AT_ONCE = 5_000
LEAST_QUOTED_TOKENS = 4_000
QUOTED_OF_LARGE = 0.25
"""The user's words may take 4,000 tokens of a handoff that is large enough, or this share of it."""
MIN_SUMMARY_SHARE = 0.15
SUMMARY_OF_REST = 0.6
"""What the summary gets of the room that the user's words leave; the ledger has the rest."""
FRAME_TOKENS = 220

Numbered = tuple[int, "Entry"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Carried:
    """What is carried from one compaction to the next, besides the transcript.

    Attributes:
        ledger: Facts word for word.
        lines: Lines of the extractive digest.
        summary: The model's last summary.
        handoff: Fingerprint of the handoff that it belongs to; empty before the first one.
        length: Transcript messages at that compaction.
        last: Number of the last message that the handoff stands for.
    """

    ledger: Ledger = field(default_factory=Ledger)
    lines: tuple[DigestLine, ...] = ()
    summary: str = ""
    handoff: str = ""
    length: int = 0
    last: int = -1

    def has(self, number: int) -> bool:
        """Return whether a message is in the ledger already."""
        return any(first <= number <= last for first, last in self.ledger.merged)

    def to_json(self) -> dict[str, Any]:
        """Return plain JSON values."""
        return {
            "ledger": self.ledger.to_json(),
            "lines": [list(astuple(line)) for line in self.lines],
            "summary": self.summary,
            "handoff": self.handoff,
            "length": self.length,
            "last": self.last,
        }

    @classmethod
    def from_json(cls, plain: object) -> Carried:
        """Return what `to_json` wrote; anything else is as good as nothing."""
        if not isinstance(plain, dict):
            return cls()
        try:
            return cls(
                ledger=Ledger.from_json(plain["ledger"]),
                lines=tuple(DigestLine(*line) for line in plain["lines"]),
                summary=str(plain["summary"]),
                handoff=str(plain["handoff"]),
                length=int(plain["length"]),
                last=int(plain["last"]),
            )
        except (InputError, KeyError, TypeError, ValueError):
            return cls()


@dataclass(frozen=True, kw_only=True, slots=True)
class Room:
    """How many tokens the parts of a handoff may take.

    Attributes:
        handoff_tokens: All parts together, unless the user's words and rules borrow.
        borrowed_tokens: What the user's words and rules may take at most.
        is_beside_model: Whether a model writes the summary. It then tells of files, commands and
            errors; what the user said, agreed values and identifiers are never left to it.
    """

    handoff_tokens: int
    borrowed_tokens: int
    is_beside_model: bool = False

    @property
    def summary_tokens(self) -> int:
        """What is kept free for the summary in any case."""
        return max(100, int(MIN_SUMMARY_SHARE * self.handoff_tokens))


def room_for(budget: Budget, handoff_tokens: int | None, *, is_beside_model: bool = False) -> Room:
    """Return the room that the budget gives to a handoff.

    A size that was asked for is the size of everything: the user's words may fill it, not exceed
    it.
    """
    total = handoff_tokens or int((LEDGER_SHARE + SUMMARY_SHARE) * budget.room_tokens)
    parts = max(200, total - FRAME_TOKENS)
    borrowed = parts if handoff_tokens else int(BORROWED_SHARE * budget.room_tokens)
    return Room(
        handoff_tokens=parts,
        borrowed_tokens=max(borrowed, total // 2),
        is_beside_model=is_beside_model,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Record:
    """The parts of a handoff that are made by rule.

    Attributes:
        quotations: The user's words.
        ledger_text: The ledger.
        left_tokens: Room that is left for the summary.
        total_tokens: All parts together, the summary's room included.
        sections: What the ledger holds, by section, for people.
    """

    quotations: str
    ledger_text: str
    left_tokens: int
    total_tokens: int
    sections: Mapping[str, tuple[str, ...]]
    warnings: tuple[str, ...] = ()


def carried_on(previous: Carried, items: Sequence[Numbered]) -> Ledger:
    """Return the ledger after more messages; facts are held of some messages at a time only."""
    ledger = previous.ledger
    for start in range(0, len(items), MERGED_AT_ONCE):
        part = items[start : start + MERGED_AT_ONCE]
        facts = [(index, facts_of(entry.message, digest=entry.digest)) for index, entry in part]
        ledger = build(ledger, facts)
    return ledger


def read_ahead(messages: Sequence[Message]) -> None:
    """Read messages for the ledger and the digest; what is found is remembered by digest."""
    for message in messages:
        key = digest(message)
        facts_of(message, digest=key)
        candidates_of(message, digest=key)


def make_record(
    ledger: Ledger,
    *,
    room: Room,
    count: Callable[[str], int],
    handle: str,
    shown: Collection[int] = (),
) -> Record:
    """Return the user's words and the ledger as text, and what they leave for the summary.

    Args:
        ledger: Everything carried.
        room: Tokens that the parts may take.
        count: Tokens of a text.
        handle: Where the originals are.
        shown: Messages that stay word for word beside the handoff and need no quotation.
    """
    quoted_room = int(QUOTED_SHARE * room.handoff_tokens)
    quoted_room = min(
        quoted_room, max(LEAST_QUOTED_TOKENS, int(QUOTED_OF_LARGE * room.handoff_tokens))
    )
    visible = _without(ledger, shown)
    quotations = render_quotations(visible, count=count, budget_tokens=quoted_room, handle=handle)
    spent = count(quotations.text)
    left = room.handoff_tokens - spent
    told = _beside_model(ledger) if room.is_beside_model else ledger
    plain_room = max(0, left - max(room.summary_tokens, int(left * SUMMARY_OF_REST)))
    said = sum(count(fact.text) + 8 for fact in ledger.statements if fact.source == "user")
    rendered = render(
        told,
        count=count,
        budget_tokens=plain_room,
        # Only what was typed may borrow; sentences of pasted documents share the plain room.
        rules_budget_tokens=min(max(0, room.borrowed_tokens - spent), max(plain_room // 2, said)),
        handle=handle,
        quoted={*quotations.whole, *shown},
    )
    spent += count(rendered.text)
    left = max(room.summary_tokens, room.handoff_tokens - spent)
    return Record(
        quotations=redact(quotations.text),
        ledger_text=redact(rendered.text),
        left_tokens=left,
        total_tokens=spent + left,
        sections=_sections(ledger),
        warnings=rendered.warnings,
    )


def extracted(
    previous: Carried,
    items: Sequence[Numbered],
    *,
    budget_tokens: int,
    count: Callable[[str], int],
    shown: str,
) -> tuple[str, tuple[DigestLine, ...]]:
    """Return the summary without a model, and the lines to carry on."""
    made = make_digest(
        [(index, entry.message, entry.digest) for index, entry in items],
        budget_tokens=max(0, budget_tokens - 20),
        count=count,
        previous=previous.lines,
        shown=shown,
    )
    if not made.text:
        return "", made.lines
    return f"From the work, word for word, [message number]:\n{made.text}", made.lines


def _beside_model(ledger: Ledger) -> Ledger:
    """Return what no model is trusted with; an identifier that was seen once is no reference."""
    used = tuple(identifier for identifier in ledger.identifiers if identifier.count > 1)
    return replace(ledger, files=(), commands=(), errors=(), identifiers=used)


def _without(ledger: Ledger, shown: Collection[int]) -> Ledger:
    kept = tuple(q for q in ledger.quotations if q.index not in shown)
    return replace(ledger, quotations=kept)


def _sections(ledger: Ledger) -> dict[str, tuple[str, ...]]:
    """Return the ledger for people, by section, latest last."""
    found = {
        "user rules": tuple(s.text for s in ledger.statements if s.kind == "rule"),
        "agreed values and decisions": tuple(s.text for s in ledger.statements if s.kind != "rule"),
        "asks": tuple(f"{ask.text} ({ask.outcome})" for ask in ledger.asks),
        "files": tuple(f"{file.path} ({file.action})" for file in ledger.files),
        "commands": tuple(f"{command.command}: {command.outcome}" for command in ledger.commands),
        "errors": tuple(error.text for error in ledger.errors),
        "identifiers": tuple(identifier.text for identifier in ledger.identifiers),
    }
    return {name: tuple(map(_redacted, entries)) for name, entries in found.items() if entries}


@lru_cache(maxsize=8_192)
def _redacted(entry: str) -> str:
    """Redact an entry once; most of them stand in every ledger of a session."""
    return redact(entry)
