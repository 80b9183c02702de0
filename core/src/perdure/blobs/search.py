"""Search in originals: words of a question find the place, in any script.

Words are joined by OR and ranked by BM25, over whole messages and over pieces of them; both
rankings are merged by reciprocal rank (Cormack, Clarke, Buettcher 2009). Han, kana and hangul are
indexed as pairs of characters, since those scripts do not separate words. A query is data: nothing
in it is syntax.
"""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict

from perdure.protocols import SearchHit

PIECE_CHARS = 400
EXCERPT_CHARS = 400
CANDIDATES = 200
_RANK_SMOOTHING = 20
_DENSE = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_DENSE}]+|[^\W_{_DENSE}]+", re.UNICODE)
_COMPOUND = re.compile(rf"[^\W{_DENSE}]+(?:[-./:@#][^\W{_DENSE}]+)+", re.UNICODE)


class SearchIndex:
    """An index in memory, filled as messages come."""

    def __init__(self) -> None:
        """Make an empty index; raises `sqlite3.OperationalError` where SQLite lacks FTS5."""
        self._connection = sqlite3.connect(":memory:", check_same_thread=False)
        self._connection.execute(
            "CREATE VIRTUAL TABLE whole USING fts5(words, content='', tokenize='unicode61')"
        )
        self._connection.execute(
            "CREATE VIRTUAL TABLE piece USING fts5(words, content='', tokenize='unicode61')"
        )
        self._documents: list[tuple[str, str, str]] = []
        self._pieces: list[tuple[int, int, int]] = []

    def add(self, ref: str, role: str, text: str) -> None:
        """Add one message."""
        number = len(self._documents)
        self._documents.append((ref, role, text))
        self._connection.execute(
            "INSERT INTO whole(rowid, words) VALUES (?, ?)", (number, words(text))
        )
        for start, end in pieces(text):
            self._connection.execute(
                "INSERT INTO piece(rowid, words) VALUES (?, ?)",
                (len(self._pieces), words(text[start:end])),
            )
            self._pieces.append((number, start, end))

    def search(self, query: str, *, limit: int, offset: int = 0) -> list[SearchHit]:
        """Return hits, best first."""
        expression = match_expression(query)
        if not expression or limit <= 0:
            return []
        scores: dict[int, float] = defaultdict(float)
        best: dict[int, tuple[int, int]] = {}
        for rank, (number,) in enumerate(self._ranked("whole", expression)):
            scores[number] += 1 / (_RANK_SMOOTHING + rank)
        for rank, (row,) in enumerate(self._ranked("piece", expression)):
            number, start, end = self._pieces[row]
            if number not in best:
                best[number] = (start, end)
                scores[number] += 1.5 / (_RANK_SMOOTHING + rank)
        ordered = sorted(scores, key=lambda number: (-scores[number], number))
        return [
            self._hit(number, scores[number], best.get(number))
            for number in ordered[offset : offset + limit]
        ]

    def _ranked(self, table: str, expression: str) -> list[tuple[int]]:
        return self._connection.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH ? "  # noqa: S608 - one of two names
            "ORDER BY rank LIMIT ?",
            (expression, CANDIDATES),
        ).fetchall()

    def _hit(self, number: int, score: float, place: tuple[int, int] | None) -> SearchHit:
        ref, role, text = self._documents[number]
        start, end = place or (0, min(len(text), EXCERPT_CHARS))
        return SearchHit(ref=ref, role=role, offset=start, excerpt=text[start:end], score=score)


def words(text: str) -> str:
    """Return the text as words for the index, dense scripts as pairs of characters."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        if "\u3040" <= token[0] <= "\uffff":
            found += _pairs(token)
        else:
            found.append(token)
    return " ".join(found).encode("utf-8", "replace").decode()


def match_expression(query: str) -> str:
    """Return an FTS expression that holds the words of a query as data.

    A hyphenated or dotted token is a phrase besides its words, so that exact names rank first.
    """
    terms = dict.fromkeys(words(query).split())
    for compound in _COMPOUND.findall(query.lower()):
        terms[words(compound)] = None
    return " OR ".join(f'"{term}"' for term in terms if term)


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


def _pairs(run: str) -> list[str]:
    """Return overlapping pairs of a run of dense script, and a single character as it is."""
    return [run[i : i + 2] for i in range(max(1, len(run) - 1))]
