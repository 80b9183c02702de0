"""Ranks originals by the words of a question.

Words are joined by OR and ranked by BM25, over whole messages and over pieces of about 400
characters. The rankings are merged by reciprocal rank (Cormack, Clarke, Buettcher 2009), in all and
for each role apart: what a user said in ten words would drown among long tool results.
"""

from __future__ import annotations

import math
import re
import sqlite3
from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from perdure.blobs.words import spaced, split, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

PIECE_CHARS = 400
CANDIDATES = 400
"""Texts of each ranking that are looked at."""
_SMOOTHING = 10
_NAMED_ROLE = 1.5
"""Weight of the ranking of a role that the question names, against 1 for the others."""
_ROLE_WORDS = {
    "user": re.compile(
        r"user|customer|client|human|usuari|utilisateur|nutzer|kunde|пользовател|клиент"
        r"|用户|用戶|客户|ユーザ|사용자"
    ),
    "assistant": re.compile(r"assistant|\bagent|asistente|ассистент|агент|助手|アシスタント"),
    "tool": re.compile(r"\btool|output|printed|herramienta|werkzeug|инструмент|工具|ツール|도구"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A message that fits a query.

    Attributes:
        score: Larger is better; comparable within one answer only.
        places: (start, end) of its pieces that fit, best first.
    """

    handle: str
    role: str
    score: float
    places: tuple[tuple[int, int], ...]


class Table(Protocol):
    """Texts by number."""

    def add(self, number: int, text: str) -> None:
        """Add a text."""

    def ranked(self, wanted: Sequence[str]) -> Iterable[int]:
        """Return numbers of texts that hold any of the terms, best first."""


class FullTextTable:
    """Texts in SQLite's full-text index."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        """Make the table; raises `sqlite3.OperationalError` where SQLite lacks FTS5."""
        connection.execute(
            f"CREATE VIRTUAL TABLE {name} USING fts5(words, content='', "
            "tokenize=\"unicode61 categories 'L* N* Co Mn Mc'\")"
        )
        self._connection = connection
        self._insert = f"INSERT INTO {name}(rowid, words) VALUES (?, ?)"  # noqa: S608 - our name
        self._select = (
            f"SELECT rowid FROM {name} WHERE {name} MATCH ? "  # noqa: S608 - our name
            "ORDER BY rank LIMIT ?"
        )

    def add(self, number: int, text: str) -> None:
        """Add a text."""
        self._connection.execute(self._insert, (number, spaced(text)))

    def ranked(self, wanted: Sequence[str]) -> list[int]:
        """Return numbers of texts that hold any of the terms, best first."""
        expression = " OR ".join(
            f'"{term[:-1]}"*' if term.endswith("*") else f'"{term}"' for term in wanted
        )
        return [row[0] for row in self._connection.execute(self._select, (expression, CANDIDATES))]


class ScannedTable:
    """Texts that are all read for every query, where SQLite has no full-text index."""

    def __init__(self) -> None:
        """Make an empty table."""
        self._texts: list[tuple[int, str]] = []

    def add(self, number: int, text: str) -> None:
        """Add a text."""
        self._texts.append((number, f" {' '.join(split(text))} "))

    def ranked(self, wanted: Sequence[str]) -> list[int]:
        """Return numbers of texts that hold any of the terms, best first."""
        scores: dict[int, float] = defaultdict(float)
        for term in wanted:
            looked_for = f" {term[:-1]}" if term.endswith("*") else f" {term} "
            held = [(number, text) for number, text in self._texts if looked_for in text]
            weight = math.log(1 + len(self._texts) / (1 + len(held)))
            for number, text in held:
                times = text.count(looked_for)
                scores[number] += weight * times / (times + 1 + len(text) / PIECE_CHARS)
        return sorted(scores, key=lambda number: (-scores[number], number))[:CANDIDATES]


class SearchIndex:
    """An index in memory, filled as messages come; one session's texts and no others."""

    def __init__(self) -> None:
        """Make an empty index."""
        self._documents: list[tuple[str, str]] = []
        self._pieces: list[tuple[int, int, int]] = []
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._whole, self._piece = _tables(self._connection)

    def add(self, handle: str, role: str, text: str) -> None:
        """Add one message."""
        number = len(self._documents)
        self._documents.append((handle, role))
        self._whole.add(number, text)
        for start, end in pieces(text):
            self._piece.add(len(self._pieces), text[start:end])
            self._pieces.append((number, start, end))

    def close(self) -> None:
        """Let go of the memory."""
        self._connection.close()

    def search(self, query: str, limit: int, offset: int = 0) -> list[Found]:
        """Return the messages that fit a query, best first."""
        wanted = terms(query)
        if not wanted or limit <= 0:
            return []
        places: dict[int, list[tuple[int, int]]] = defaultdict(list)
        for row in self._piece.ranked(wanted):
            number, start, end = self._pieces[row]
            places[number].append((start, end))
        scores = self._merged(_roles_named(query), self._whole.ranked(wanted), places)
        ordered = sorted(scores, key=lambda number: (-scores[number], number))
        return [
            Found(*self._documents[number], scores[number], tuple(places[number]))
            for number in ordered[max(0, offset) : max(0, offset) + limit]
        ]

    def _merged(self, named: set[str], *rankings: Iterable[int]) -> dict[int, float]:
        """Return scores from rankings, each taken as a whole and for each role apart."""
        scores: dict[int, float] = defaultdict(float)
        for ranking in rankings:
            ranks: dict[str, int] = defaultdict(int)
            for rank, number in enumerate(ranking):
                role = self._documents[number][1]
                weight = _NAMED_ROLE if role in named else 1.0
                scores[number] += 1 / (_SMOOTHING + rank)
                scores[number] += weight / (_SMOOTHING + ranks[role])
                ranks[role] += 1
        return scores


def _tables(connection: sqlite3.Connection) -> tuple[Table, Table]:
    try:
        return FullTextTable(connection, "whole"), FullTextTable(connection, "piece")
    except sqlite3.OperationalError:
        return ScannedTable(), ScannedTable()


def _roles_named(query: str) -> set[str]:
    folded = query.lower()
    return {role for role, words in _ROLE_WORDS.items() if words.search(folded)}


def pieces(text: str) -> list[tuple[int, int]]:
    """Return (start, end) of parts of about 400 characters, cut at line ends where there are."""
    cut: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = min(len(text), start + PIECE_CHARS)
        if end < len(text):
            line = text.rfind("\n", start + PIECE_CHARS // 2, end)
            end = line + 1 if line > 0 else end
        cut.append((start, end))
        start = end
    return cut
