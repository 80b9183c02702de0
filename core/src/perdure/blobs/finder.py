"""Answers searches in a session's originals: what was found, and what stood around it."""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING

from perdure.blobs.content import MESSAGE, readable, role_of, value_of
from perdure.blobs.excerpts import shortened, window
from perdure.blobs.search import SearchIndex
from perdure.protocols import SearchHit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from perdure.blobs.search import Found
    from perdure.messages import Message
    from perdure.sqlite import Database

logger = logging.getLogger(__name__)

EXCERPT_BYTES = (800, 600, 400)
"""Length of the excerpts of an answer, in UTF-8; the last one holds for all that follow."""
BESIDE_BYTES = 200
"""The same for the start of a message beside a hit."""
_AT_ONCE = 500
_OPERATION = "searching originals"
_NEW = """
SELECT seq, handle, digest, kind, packed, bytes FROM link JOIN blob USING (digest)
WHERE session = ? AND seq > ? ORDER BY seq LIMIT ?
"""
_BESIDE = """
SELECT (SELECT handle FROM link WHERE session = ?1 AND role = 'user' AND position < ?2
        ORDER BY position DESC LIMIT 1),
       (SELECT handle FROM link WHERE session = ?1 AND position = ?2 + 1 LIMIT 1)
"""


class Finder:
    """Searches what a session has stored."""

    def __init__(self, database: Database, session: str | None, text: Callable[[str], str]) -> None:
        """Take the store's file, the session, and what gives the text behind a handle."""
        self._database, self._session, self._text = database, session, text
        self._index = SearchIndex()
        self._indexed = 0
        self._lock = threading.Lock()

    def search(self, query: str, limit: int, offset: int) -> list[SearchHit]:
        """Return the places that fit a query in natural words, best first.

        What was stored since the last search is indexed first, so storing itself stays cheap.
        """
        offset = max(0, offset)
        with self._lock:
            for handle, message in self._unindexed():
                self._index.add(handle, role_of(message), readable(message))
            found = self._index.search(query, limit, offset)
        return [self._hit(rank, one) for rank, one in enumerate(found, start=offset)]

    def _unindexed(self) -> Iterator[tuple[str, Message]]:
        """Yield what was stored since the last search; what is damaged is passed over."""
        while True:
            with self._database.reading(_OPERATION) as connection:
                given = (self._session, self._indexed, _AT_ONCE)
                rows = connection.execute(_NEW, given).fetchall()
            if not rows:
                return
            for seq, handle, *row in rows:
                self._indexed = seq
                try:
                    if row[1] == MESSAGE:
                        yield handle, value_of(*row)
                except ValueError as error:
                    logger.warning("%s is damaged and cannot be searched: %s", handle, error)

    def _hit(self, rank: int, found: Found) -> SearchHit:
        text = self._text(found.handle)
        budget = EXCERPT_BYTES[min(rank, len(EXCERPT_BYTES) - 1)]
        start, end = window(text, found.places[0] if found.places else (0, 0), budget)
        user_ref, next_ref = self._beside(found.handle)
        return SearchHit(
            ref=found.handle,
            role=found.role,
            offset=start,
            excerpt=text[start:end],
            score=found.score,
            user_ref="" if found.role == "user" else user_ref,
            user_text=self._start(user_ref) if found.role != "user" else "",
            next_ref=next_ref,
            next_text=self._start(next_ref),
        )

    def _start(self, handle: str) -> str:
        return shortened(self._text(handle).strip(), BESIDE_BYTES) if handle else ""

    def _beside(self, handle: str) -> tuple[str, str]:
        """Return handles of the user message before a message and of the next one, if known."""
        with self._database.reading(_OPERATION) as connection:
            place = connection.execute(
                "SELECT position FROM link WHERE session = ? AND handle = ?",
                (self._session, handle),
            ).fetchone()
            if place is None or place[0] is None:
                return "", ""
            row = connection.execute(_BESIDE, (self._session, place[0])).fetchone()
        return row[0] or "", row[1] or ""

    def close(self) -> None:
        """Let go of the index."""
        self._index.close()
