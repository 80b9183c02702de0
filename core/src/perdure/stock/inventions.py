"""Tells names that occur in a source from names that a model made up.

A source is cut into its names once; looking one up is a hash. Only what is not found that way is
searched for as text, a bounded number of times, so that the whole stays linear.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

STRUCK = "[?]"
MAX_SEARCHED = 100
"""Names of one answer that are searched for as text; an answer with more of them is invention."""
_MAX_PLACES = 50

# Names end where ASCII ends, so that Chinese or Japanese text may touch them on both sides.
_NAME = re.compile(
    r"(?P<url>https?://[^\s<>()\[\]{}\"'`,;\\|\u3000-\u303f\uff00-\uffef\u4e00-\u9fff]{3,300})"
    r"|(?P<windows>(?<![A-Za-z0-9])[A-Za-z]:\\(?:[\w.-]{1,80}\\){0,20}[\w.-]{1,80})"
    r"|(?P<uuid>(?<![\w-])[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}(?![\w-]))"
    r"|(?P<path>(?<![\w./~-])[~.]{0,2}/?(?:[\w.@-]{1,80}/){1,20}[\w.@-]{1,80}"
    r"|(?<![\w./-])/[\w.@-]{2,80}(?![\w/])"
    r"|(?<![\w./-])[\w-]{1,80}\.(?:[a-z]{1,3}|json|yaml|toml|html|java|lock|conf|scss|jsonl)(?![\w.]))"
    r"|(?P<hash>(?<![\w-])(?=[0-9a-f]{0,63}[0-9])(?=[0-9a-f]{0,63}[a-f])[0-9a-f]{7,64}(?![\w-]))"
    r"|(?P<ticket>(?<!\w)(?:[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}|#[0-9]{1,7})(?!\w))"
    r"|(?P<number>(?<![\w.])[0-9](?:[0-9,._]{0,20}[0-9])?(?![\w])"
    r"|(?<![\w.])[0-9](?:[0-9,._]{0,20}[0-9])?(?=(?:ms|[kKMGT]i?B|px)(?!\w)))",
    re.ASCII,
)
_UNIT = re.compile(r"\s?(?:%|ms\b|[kKMGT]i?B\b|px\b|[€$£¥])")
_PARTS = re.compile(r"[/\\]")
_ENDS = ".,:;-_"
# Two words with a slash between are prose (`and/or`, `read/write`), not a path.
_PROSE = re.compile(r"[A-Za-z-]+/[A-Za-z-]+")
# More of them may be either; they are judged word by word.
_WORDS = re.compile(r"[A-Za-z-]+(?:/[A-Za-z-]+)+")


class SourceIndex:
    """The names of one or more texts."""

    def __init__(self, texts: Iterable[str]) -> None:
        """Keep the texts and cut them into names.

        Args:
            texts: What a model was given.
        """
        self.texts = tuple(texts)
        self.names: set[str] = set()
        for text in self.texts:
            for found in _NAME.finditer(text):
                self.names.update(_forms(str(found.lastgroup), found[0].rstrip(_ENDS)))

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self.names)

    def has(self, kind: str, name: str) -> bool:
        """Return whether a name of a kind occurs, as it is or as part of a longer one."""
        if kind == "number":
            return _plain_number(name) in self.names
        if name in self.names:
            return True
        if kind in ("hash", "url"):
            at = bisect_left(self._sorted, name)
            return at < len(self._sorted) and self._sorted[at].startswith(name)
        if kind in ("path", "windows"):
            return self._has_path([part for part in _PARTS.split(name) if part.strip(".~")])
        return False

    def _has_path(self, parts: list[str]) -> bool:
        """Return whether the end of a path occurs, and every folder in front of it."""
        end = "/".join(parts[-2:])
        return end in self.names and all(part in self.names for part in parts[:-2])

    def finds(self, name: str) -> bool:
        """Return whether a name stands somewhere in the texts, not inside a longer word."""
        return any(_stands_in(text, name) for text in self.texts)


def without_inventions(text: str, sources: Iterable[SourceIndex]) -> tuple[str, tuple[str, ...]]:
    """Return the text with names struck out that occur in no source, and those names.

    Urls, paths, hashes, tickets, and numbers of three digits, with a decimal or with a unit count
    as names; what people count with in passing does not.
    """
    held = tuple(sources)
    judged: dict[str, bool] = {}
    struck: list[str] = []
    searched = 0

    def replaced(found: re.Match[str]) -> str:
        nonlocal searched
        kind, name = str(found.lastgroup), found[0].rstrip(_ENDS)
        if name not in judged:
            judged[name] = _is_harmless(kind, name, found) or any(s.has(kind, name) for s in held)
            if not judged[name] and kind != "number" and searched < MAX_SEARCHED:
                searched += 1
                words = name.split("/") if _WORDS.fullmatch(name) else [name]
                judged[name] = any(all(map(source.finds, words)) for source in held)
        if judged[name]:
            return found[0]
        struck.append(name)
        return STRUCK + found[0][len(name) :]

    return _NAME.sub(replaced, text), tuple(dict.fromkeys(struck))


def _is_harmless(kind: str, name: str, found: re.Match[str]) -> bool:
    """Return whether a name says too little to be an invention."""
    if kind == "number":
        is_short = name.isdigit() and len(name) <= 2
        return is_short and not _UNIT.match(found.string, found.end())
    return kind == "path" and _PROSE.fullmatch(name) is not None


def _forms(kind: str, name: str) -> Iterable[str]:
    """Yield what else a name of a source may be called by."""
    if kind == "number":
        # 1.2.3 is also version 1.2, and 12 % of a list that says 12.
        parts = name.split(".")
        return [_plain_number(".".join(parts[:end])) for end in range(1, len(parts) + 1)]
    if kind not in ("path", "windows", "url"):
        return [name]
    parts = [part for part in _PARTS.split(name) if part]
    return [name, *parts, *("/".join(parts[at : at + 2]) for at in range(len(parts) - 1))]


def _plain_number(name: str) -> str:
    """Return a number without what groups its digits and without zeros that say nothing."""
    plain = name.replace(",", "").replace("_", "")
    return plain.rstrip("0").rstrip(".") if plain.count(".") == 1 else plain


def _stands_in(text: str, name: str) -> bool:
    at = text.find(name)
    for _ in range(_MAX_PLACES):
        if at < 0:
            return False
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        is_start = not _is_word(before) or text[max(0, at - 2) : at] in ("\\n", "\\r", "\\t")
        if is_start and not _is_word(after):
            return True
        at = text.find(name, at + 1)
    return False


def _is_word(character: str) -> bool:
    return character.isascii() and (character.isalnum() or character == "_")
