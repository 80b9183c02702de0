"""Which statements a later one replaces.

Two ways only, both certain: a later sentence fixes another value for the very same subject, or it
names the old value as old. Looser matching would hide rules that still hold.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from perdure.stock.ledger.records import Statement
from perdure.stock.ledger.sentences import sentences_of, without_bullet
from perdure.stock.ledger.values import compact, stem
from perdure.stock.ledger.words import words

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from perdure.stock.ledger.records import Ledger

_WORD = re.compile(r"[^\W_][\w'’.-]*[^\W_]|[^\W_]")
_CJK = re.compile(r"[぀-ヿ㐀-鿿가-힯]")
_RUN = re.compile(r"[぀-ヿ㐀-鿿가-힯]+|[^\W_぀-ヿ㐀-鿿가-힯](?:[\w.-]*[a-z0-9])?", re.ASCII)
# A string that names one thing: an address, a host, a name with a number or an underscore.
_NAME = re.compile(r"[a-z]{3,} \d+$|[a-z][\w.-]*[@_][a-z]|[a-z]\w*[-_]\w+|[a-z]\w*\.[a-z]{2}")
_CYRILLIC = re.compile(r"[а-яё]")
# How many earlier sentences with the same old value are looked at.
_MOST_LOOKED_AT = 50
# A sentence that is no statement of the ledger; only what names its value as old can replace it.
_SAID = "said"
_LONGEST = 240


def replaced_by(statements: Sequence[Statement]) -> dict[int, tuple[int, bool]]:
    """Return for each replaced position its successor, and whether that names the old value.

    Args:
        statements: In time order. Those of the assistant are neither replaced nor do they replace;
            those of long documents carry no values at all.
    """
    found: dict[int, tuple[int, bool]] = {}
    latest: dict[str, int] = {}
    by_word: dict[str, list[int]] = {}
    for position, statement in enumerate(statements):
        if statement.source in ("assistant", "document"):
            continue
        for old, new in statement.taken_back:
            for earlier in _holding(old, by_word, statements):
                if earlier not in found and _is_meant(statements[earlier], statement, old, new):
                    found[earlier] = (position, True)
        _note_subject(position, statements, latest, found)
        for word in set(_stems(statement.text)):
            by_word.setdefault(word, []).append(position)
    return found


def current_texts(ledger: Ledger) -> Callable[[int, str], str]:
    """Return what gives a message's text with its replaced sentences marked as such.

    It takes the message's number and text, and returns an empty text for a message that says
    nothing else: the ledger shows it behind what replaced it.
    """
    statements = _with_said(ledger)
    replaced: dict[int, list[tuple[str, int]]] = {}
    unmarked = set()
    for position, (successor, _) in replaced_by(statements).items():
        fact = statements[position]
        replaced.setdefault(fact.index, []).append((fact.text, statements[successor].index))
        if fact.kind == _SAID:
            unmarked.add(fact.index)

    def current(index: int, text: str) -> str:
        rest = text
        for sentence, at in replaced.get(index, ()):
            mark = f" [replaced in {at}]"
            text = text.replace(sentence, sentence + mark, 1) if sentence in text else text + mark
            rest = rest.replace(sentence, "", 1)
        is_all = index in replaced and index not in unmarked
        return "" if is_all and not _WORD.search(rest) else text

    return current


def _with_said(ledger: Ledger) -> Sequence[Statement]:
    """Return the statements, and what else people said when something of it may be taken back."""
    if not any(fact.taken_back for fact in ledger.statements):
        return ledger.statements
    known = {(fact.index, fact.text) for fact in ledger.statements}
    said = [
        Statement(_SAID, text, index=quotation.index)
        for quotation in ledger.quotations
        for text in map(without_bullet, sentences_of(quotation.text))
        if len(text) <= _LONGEST and (quotation.index, text) not in known
    ]
    return sorted([*ledger.statements, *said], key=lambda fact: fact.index)


def _note_subject(
    position: int,
    statements: Sequence[Statement],
    latest: dict[str, int],
    found: dict[int, tuple[int, bool]],
) -> None:
    statement = statements[position]
    if not statement.subject:
        return
    earlier = latest.get(statement.subject)
    if earlier is not None and statements[earlier].value != statement.value:
        found.setdefault(earlier, (position, False))
    latest[statement.subject] = position


def _holding(old: str, by_word: dict[str, list[int]], statements: Sequence[Statement]) -> list[int]:
    """Return the latest earlier positions whose text holds the old value."""
    parts = _stems(old)
    if not parts:
        return []
    rarest = min((by_word.get(part, []) for part in parts), key=len)
    return [
        position
        for position in rarest[-_MOST_LOOKED_AT:]
        if statements[position].value == old
        or old in compact(statements[position].text.lower())
        or (_CYRILLIC.search(old) and set(parts) <= set(_stems(statements[position].text)))
    ]


def _is_meant(earlier: Statement, later: Statement, old: str, new: str) -> bool:
    """Return whether `later` takes back `earlier` and not something else with the same value.

    A sentence that holds the new value too, or names the old one as old itself, speaks of the
    change (or of a journey from one to the other), not for the old value.
    """
    holds_new = bool(new) and new in compact(earlier.text.lower())
    if holds_new or any(named == old for named, _ in earlier.taken_back):
        return False
    if earlier.subject and later.subject:
        is_same = earlier.subject == later.subject
        return is_same or (_is_value(earlier.value, old) and _is_part(earlier, later))
    names_old = set(_stems(old))
    about_earlier = _about(earlier.text) - names_old
    about_later = _about(later.text) - names_old
    if _is_value(earlier.value, old) and (earlier.subject or not about_earlier):
        is_named = earlier.subject in compact(later.text.lower())
        is_said = set(earlier.subject.split()) <= about_later
        return is_said or is_named or _CJK.search(old) is not None
    return _is_about_the_same(about_earlier, about_later, is_name=bool(_NAME.search(old)))


def _is_about_the_same(earlier: set[str], later: set[str], *, is_name: bool) -> bool:
    """Return whether what two sentences say beside the old value is enough in common.

    Args:
        earlier: What the earlier sentence is about; nothing for `Use tabs.`
        later: What the later one is about; nothing for `Not room 204, room 310.`
        is_name: Whether the old value is a string that names one thing.
    """
    shared = len(earlier & later)
    if is_name and (shared or len(later) <= 1):
        return True
    if not earlier:
        return len(later) <= 1
    return shared >= 2 or (shared == 1 and len(earlier) == 1)


def _is_part(earlier: Statement, later: Statement) -> bool:
    """Return whether one subject is a part of the other."""
    some, other = sorted((earlier.subject, later.subject), key=len)
    return set(some.split()) <= set(other.split()) or (
        _CJK.match(some) is not None and other.startswith(some)
    )


def _is_value(value: str, old: str) -> bool:
    """Return whether a value is the old one, or the old one with its unit."""
    return value.startswith(old) and not re.match(r"[\d.,]", value[len(old) :])


def _about(text: str) -> set[str]:
    known = words().fillers
    return {stem(word) for word in _words(text) if word not in known and not word.isdigit()}


def _stems(text: str) -> list[str]:
    """Return the words of a text without the endings that Russian puts on them."""
    return [stem(word) for word in _words(text)]


def _words(text: str) -> list[str]:
    """Return the words of a text, lower case; for scripts without spaces, pairs of characters."""
    lowered = compact(text.lower())
    if not _CJK.search(lowered):
        return _WORD.findall(lowered)
    found: list[str] = []
    for word in _RUN.findall(words().fillers_joined.sub(" ", lowered)):
        is_joined = _CJK.match(word)
        found += [word[at : at + 2] for at in range(max(1, len(word) - 1))] if is_joined else [word]
    return found
