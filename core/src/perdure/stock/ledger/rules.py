"""Sentences of a person that bind: standing wishes and agreed values, found by rule.

The words order what is kept; they do not judge. Two in three sentences found here are no rule in a
strict sense, which costs a few hundred tokens, so they are shown as what the user said.
"""

from __future__ import annotations

import re

from perdure.stock.ledger.records import Statement
from perdure.stock.ledger.sentences import sentences_of, without_bullet
from perdure.stock.ledger.values import subject_and_value, taken_back
from perdure.stock.ledger.words import words

_HANGUL = re.compile(r"[가-힯]")
_KANA = re.compile(r"[぀-ヿ]")
_HAN = re.compile(r"[㐀-鿿]")
_HAS_VALUE = re.compile(r"\d|[`\"“«「『]|\butc\b|\bgmt\b|day\b")
_QUESTION = ("?", "？", "吗", "呢", "か。", "까")
_ASKED_FOR = re.compile(
    r"(?:can|could|would|will) you|please|make sure|from now on|pod[rí]{1,2}as|puedes|por favor"
    r"|kannst du|könnte?st du|würdest du|bitte|peux-tu|tu peux|pourr(?:ais|iez)|s'il (?:te|vous)"
    r"|poderia|você pode|pode sempre|мож(?:ешь|ете)|мог(?:ла|ли)? бы|пожалуйста"
    r"|请|請|麻烦|ください|もらえ|くれ(?:ます|る|ませ)|해 ?줄|주세요|주시겠|주실"
)
_NOTE = re.compile(r"\[pasted [^\]\n]{1,80}\]$")
# Who may replace an earlier value. Long documents list alternatives as often as they decide.
_REPLACING = ("user", "answer", "system")
_LONGEST = 2_000
_AROUND = 600
_SHORTEST = 4
# Sentences that one text gives; nobody states more, and what is pasted must not crowd the rest out.
_MOST = 400


def statements_of(text: str, source: str) -> tuple[Statement, ...]:
    """Return the binding sentences of a text, each once, in order.

    Args:
        text: What was typed.
        source: Who speaks, see `Statement.source`.
    """
    found: dict[str, Statement] = {}
    judged: set[str] = set()
    labelled = False
    for sentence in sentences_of(text):
        bare = without_bullet(sentence).strip("*_ \t")
        is_bullet = bare != sentence.strip("*_ \t")
        label = words().label.match(bare.lower())
        if label and label.end() >= len(bare.rstrip("*_ ")):
            labelled = True
            continue
        labelled = labelled and is_bullet
        if bare in judged or len(bare) < _SHORTEST or _NOTE.match(bare):
            continue
        if len(found) >= _MOST:
            break
        judged.add(bare)
        kind = "rule" if label or labelled else kind_of(bare) or _fixes(bare, source)
        if kind:
            kept = _cut(bare)
            found[kept] = _statement(kind, kept, source)
    return tuple(found.values())


def kind_of(sentence: str) -> str:
    """Return `rule`, `value` or an empty string for one sentence."""
    lowered = sentence.lower()
    if lowered.rstrip("\"'”）) ").endswith(_QUESTION) and not _ASKED_FOR.search(lowered):
        return ""
    scripts = scripts_of(sentence)
    kind = "spaced" if scripts == ("spaced",) else "joined"
    if _binds(lowered, scripts, words().not_rules[kind]):
        return "rule"
    slots = words().slots[kind]
    return "value" if slots.search(lowered) and _HAS_VALUE.search(lowered) else ""


def emphasis(sentence: str) -> int:
    """Return how many different binding words a sentence holds."""
    lowered = sentence.lower()
    rules = (words().rules[script] for script in scripts_of(sentence))
    return len({found[0] for pattern in rules for found in pattern.finditer(lowered)})


def scripts_of(sentence: str) -> tuple[str, ...]:
    """Return which word lists fit the letters of a sentence."""
    if _HANGUL.search(sentence):
        return ("hangul",)
    if _KANA.search(sentence):
        return ("kana",)
    return ("han", "spaced") if _HAN.search(sentence) else ("spaced",)


def _binds(lowered: str, scripts: tuple[str, ...], other: re.Pattern[str]) -> bool:
    """Return whether a sentence binds, forms in which the words for it do not put aside."""
    rules = [words().rules[script] for script in scripts]
    if not any(pattern.search(lowered) for pattern in rules):
        return False
    rest = other.sub(" ", lowered)
    return rest == lowered or any(pattern.search(rest) for pattern in rules)


def _fixes(sentence: str, source: str) -> str:
    """Return `value` for a sentence that names a setting, or says what no longer holds."""
    if source not in _REPLACING:
        return ""
    return "value" if subject_and_value(sentence)[0] or taken_back(sentence) else ""


def _statement(kind: str, text: str, source: str) -> Statement:
    if source not in _REPLACING:
        return Statement(kind, text, source)
    old = taken_back(text)
    subject, value = subject_and_value(text, tuple(value for value, _ in old))
    return Statement(kind, text, source, subject, value, old)


def _cut(sentence: str) -> str:
    """Return the sentence whole; of an endless one, what is around its first binding word."""
    if len(sentence) <= _LONGEST:
        return sentence
    places = (words().rules[script].search(sentence.lower()) for script in scripts_of(sentence))
    at = next((place.start() for place in places if place), 0)
    start = max(0, at - _AROUND)
    return f"… {sentence[start : at + _AROUND]} …"
