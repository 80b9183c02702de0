"""Typed text as quotations: which words are kept of a long message, and how room is shared.

What people typed is a hundredth of a long coding session and holds a third of all its facts, so it
is spent first and word for word. When it does not fit, long messages give way before short ones:
each keeps its head, the sentences that bind, and its tail.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from perdure.stock.ledger.escape import quoted_block
from perdure.stock.ledger.records import Quotation
from perdure.stock.ledger.rules import kind_of, scripts_of
from perdure.stock.ledger.supersede import current_texts
from perdure.stock.ledger.typed import without_notes
from perdure.stock.ledger.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.stock.ledger.records import Ledger

WHOLE_CHARS = 3_000
"""Messages up to this length are kept whole."""

_CUT = " […] "
_HEADER = "The user's own words ([message number], `>` goes on):"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_TELLING = re.compile(r"\d|[`\"'“«「/_@#]|[A-Z][a-z]+[A-Z]")
_SENTENCE_END = re.compile(r"(?<=[.!?。！？\n])")
_LEAST_TOKENS = 40
_BARE_CHARS = 60


@dataclass(frozen=True, slots=True)
class RenderedQuotations:
    """Quotations as text.

    Attributes:
        text: The section, or an empty string.
        shown: Message indexes that are quoted.
        whole: Those of them whose typed text stands there whole.
        left_out: Messages of which nothing is quoted.
    """

    text: str
    shown: tuple[int, ...] = ()
    whole: tuple[int, ...] = ()
    left_out: int = 0


def quotation_of(text: str, binding: Sequence[str]) -> Quotation:
    """Return what is kept of a typed text.

    Args:
        text: The typed text.
        binding: Its binding sentences, kept when the middle goes.
    """
    if len(text) <= WHOLE_CHARS:
        return Quotation(-1, text, is_bare=is_bare(text))
    return Quotation(-1, shortened(text, WHOLE_CHARS, binding), is_whole=False)


def shortened(text: str, most: int, binding: Sequence[str] = ()) -> str:
    """Return head, binding sentences and tail of a text in at most about `most` characters."""
    if len(text) <= most:
        return text
    head, tail = _head(text, most * 45 // 100), _tail(text, most * 20 // 100)
    room = most - len(head) - len(tail)
    middle: list[str] = []
    for sentence in binding:
        if len(sentence) <= room and sentence not in head and sentence not in tail:
            middle.append(sentence)
            room -= len(sentence) + len(_CUT)
    return _CUT.join([head, *middle, tail])


def is_bare(text: str) -> bool:
    """Return whether a text only acknowledges, and says nothing that could be needed later."""
    text = without_notes(text)
    if len(text) > _BARE_CHARS or _TELLING.search(text):
        return False
    found = [word.lower() for word in _WORD.findall(text)]
    return all(word in words().acknowledged for word in found)


def render_quotations(
    ledger: Ledger, *, count: Callable[[str], int], budget_tokens: int, handle: str = ""
) -> RenderedQuotations:
    """Return what the user wrote as quoted text of at most `budget_tokens`.

    Args:
        ledger: The ledger.
        count: Counts tokens of a text; called about twice per quotation at most.
        budget_tokens: Room for the section, its header included.
        handle: Where the rest can be recalled, named when something is left out.
    """
    latest = {quotation.text: quotation for quotation in ledger.quotations if not quotation.is_bare}
    current = current_texts(ledger)
    quotations = [
        replace(quotation, text=text)
        for quotation in sorted(latest.values(), key=lambda quotation: quotation.index)
        if (text := current(quotation.index, quotation.text))
    ]
    room = budget_tokens - count(_HEADER) - count(_rest(len(quotations), handle)) - 2
    if not quotations or room < _LEAST_TOKENS:
        return RenderedQuotations("", left_out=len(quotations))
    costs = [count(_entry(quotation)) + 1 for quotation in quotations]
    order = _ranked(quotations, costs, _binding(ledger))
    blocks = _blocks(quotations, costs, order, room, count)
    whole = [
        quotations[at].index
        for at, text in sorted(blocks.items())
        if quotations[at].is_whole and text == _entry(quotations[at])
    ]
    left = len(quotations) - len(blocks)
    texts = [blocks[at] for at in sorted(blocks)]
    lines = [_HEADER, *texts, *([_rest(left, handle)] if left else [])]
    shown = tuple(quotations[at].index for at in sorted(blocks))
    return RenderedQuotations("\n".join(lines), shown, tuple(whole), left)


def _binding(ledger: Ledger) -> set[int]:
    return {fact.index for fact in ledger.statements if fact.kind == "rule"}


def _ranked(quotations: Sequence[Quotation], costs: Sequence[int], binding: set[int]) -> list[int]:
    """Return the positions, the most telling first, and the cheaper of two alike."""
    last = len(quotations) - 1

    def rank(position: int) -> tuple[int, int, int]:
        quotation = quotations[position]
        is_edge = position == 0 or position >= last - 1
        telling = bool(_TELLING.search(quotation.text))
        weight = 4 * is_edge + 2 * (quotation.index in binding) + telling + _wishes(quotation.text)
        return (-weight, min(costs[position], _LEAST_TOKENS), -position)

    return sorted(range(len(quotations)), key=rank)


def _blocks(
    quotations: Sequence[Quotation],
    costs: Sequence[int],
    order: Sequence[int],
    room: int,
    count: Callable[[str], int],
) -> dict[int, str]:
    """Return the text of every quotation that gets room: cut to one level, then what still fits."""
    chosen: list[int] = []
    spent = 0
    for position in order:
        least = min(costs[position], _LEAST_TOKENS)
        if spent + least <= room:
            chosen.append(position)
            spent += least
    level = _level([costs[position] for position in chosen], room)
    blocks: dict[int, str] = {}
    for position in chosen:
        text, tokens = _entry(quotations[position]), costs[position]
        if tokens > level:
            text, tokens = _cut(quotations[position], tokens, level, count)
        blocks[position] = text
        room -= tokens
    for position in order:
        if position not in blocks and costs[position] <= room:
            blocks[position] = _entry(quotations[position])
            room -= costs[position]
    return blocks


def _wishes(text: str) -> bool:
    script = "spaced" if scripts_of(text) == ("spaced",) else "joined"
    return bool(words().wishes[script].search(text.lower()))


def _level(costs: Sequence[int], room: int) -> int:
    """Return the largest level at which all costs, cut at the level, fit into the room."""
    for done, cost in enumerate(sorted(costs)):
        share = room // (len(costs) - done)
        if cost > share:
            return share
        room -= cost
    return max(costs, default=0)


def _cut(
    quotation: Quotation, cost: int, level: int, count: Callable[[str], int]
) -> tuple[str, int]:
    """Return the quotation cut to at most `level` tokens, and its tokens."""
    binding = [part for part in _SENTENCE_END.split(quotation.text) if _binds(part)]
    characters = max(8, len(quotation.text) * (level - 6) // cost)
    for _ in range(6):
        text = shortened(quotation.text, characters, [part.strip() for part in binding])
        entry = _entry(Quotation(quotation.index, text, is_whole=False))
        tokens = count(entry) + 1
        if tokens <= level:
            return entry, tokens
        characters = characters * 9 // 10 if characters > level else characters * 2 // 3
    return _entry(Quotation(quotation.index, "[…]", is_whole=False)), level


def _binds(part: str) -> bool:
    return bool(scripts_of(part)) and kind_of(part.strip()) == "rule"


def _entry(quotation: Quotation) -> str:
    return f"[{quotation.index}] {quoted_block(quotation.text)}"


def _rest(count: int, handle: str) -> str:
    return (
        f"(+{count} messages of the user not quoted{f'; recall with {handle}' if handle else ''})"
    )


def _head(text: str, most: int) -> str:
    """Return the start of the text, ended at a line or a word when one is near."""
    cut = text[:most]
    for mark in ("\n", "。", ". ", " "):
        place = cut.rfind(mark, most * 3 // 4)
        if place > 0:
            return cut[: place + (mark != " ")].rstrip()
    return cut


def _tail(text: str, most: int) -> str:
    cut = text[-most:] if most else ""
    for mark in ("\n", "。", ". ", " "):
        place = cut.find(mark, 0, most // 4)
        if place >= 0:
            return cut[place + 1 :].lstrip()
    return cut
