"""Sentences of typed text: whole, word for word, in linear time."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_BULLET = re.compile(r"\s*(?:[-*+•·‣▪●○–—]|\(?\d{1,3}[.)、]|\(?[a-zA-Z][.)])\s+")
_END = re.compile(r"[.!?]{1,6}[)\"'”’»\]*_`]{0,4}\s+|[。！？][」』”’）)]{0,4}\s{0,8}")
# A full stop after these ends no sentence.
_SHORT_FORM = re.compile(
    r"(?:^|[\s(])(?:e\.?g|i\.?e|etc|vs|cf|approx|ca|no|nr|mr|mrs|ms|dr|st|z\.? ?b|bzw|d\.? ?h"
    r"|usw|in[ck]l|ex[ck]l|zzgl|ggf|bspw|min|max|aprox|p\.? ?ex|p\.? ?ej|sr|"
    r"sra|ex|т\. ?[ед]|г|руб|тыс|[a-z]|\d{1,2})\.\s+$",
    re.IGNORECASE,
)
_WRAPPED = 50
_CLOSED = (".", "!", "?", "。", "！", "？", ":", "：", ";", "；")


def sentences_of(text: str) -> Iterator[str]:
    """Yield the sentences of a text in order; a bullet is a sentence, a wrapped line is joined."""
    for line in _joined(text):
        yield from _split(line)


def without_bullet(sentence: str) -> str:
    """Return the sentence without a leading bullet or number."""
    found = _BULLET.match(sentence)
    return sentence[found.end() :] if found else sentence


def _joined(text: str) -> Iterator[str]:
    """Yield lines, with lines that were wrapped at a width put together again."""
    held: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if held and _goes_on(held[-1], stripped):
            held.append(stripped)
            continue
        if held:
            yield " ".join(held)
        held = [stripped] if stripped else []
    if held:
        yield " ".join(held)


def _goes_on(previous: str, line: str) -> bool:
    if len(previous) < _WRAPPED or not line or previous.endswith(_CLOSED):
        return False
    return line[0].islower() and not _BULLET.match(line)


def _split(line: str) -> Iterator[str]:
    start = 0
    bullet = _BULLET.match(line)
    for end in _END.finditer(line, bullet.end() if bullet else 0):
        if _SHORT_FORM.search(line[max(start, end.end() - 12) : end.end()]):
            continue
        sentence = line[start : end.end()].strip()
        if sentence:
            yield sentence
        start = end.end()
    rest = line[start:].strip()
    if rest:
        yield rest
