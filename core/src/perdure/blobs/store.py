"""The content-addressed store of a session's originals."""

from __future__ import annotations

import hashlib
import json
import threading
import zlib
from typing import TYPE_CHECKING, Any

from perdure.blobs.search import SearchIndex
from perdure.errors import StoreError
from perdure.messages import call_arguments, call_name, text_of, tool_calls_of
from perdure.sqlite import Database

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from perdure.messages import Message
    from perdure.protocols import SearchHit

FILE_NAME = "blobs.sqlite3"
PREFIX = "ref:"
HANDLE_CHARS = 12
SMALL_BYTES = 512
"""Smaller contents are stored as they are: compressing them gains nothing."""
_MESSAGE, _RANGE = 0, 1
_SCHEMA = """
CREATE TABLE blob(
    digest BLOB PRIMARY KEY, kind INTEGER NOT NULL, packed INTEGER NOT NULL, bytes BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE link(
    seq INTEGER PRIMARY KEY, session TEXT NOT NULL, handle TEXT NOT NULL, digest BLOB NOT NULL,
    UNIQUE(session, handle)
);
CREATE INDEX link_digest ON link(session, digest);
"""


class Blobs:
    """Originals of one session: stored once, found by handle, searched in natural words.

    One file serves all sessions of a state directory, but a session sees only what it has put in.
    """

    def __init__(
        self, directory: Path | None, session_id: str | None, *, max_mb: int | None = None
    ) -> None:
        """Open the store.

        Args:
            directory: State directory; None keeps everything in memory.
            session_id: Session to store for; None reads from all of them.
            max_mb: Bound on the file; a full store refuses new content.

        Raises:
            StoreError: The file cannot be used.
        """
        path = None if directory is None else directory / FILE_NAME
        self._database = Database(path, _SCHEMA, 1)
        self._session = session_id
        self._max_bytes = None if max_mb is None else max_mb * 1_000_000
        self._handles: dict[bytes, str] = {}
        self._remembered: dict[int, tuple[Mapping[str, Any], str]] = {}
        self._index: SearchIndex | None = None
        self._indexed = 0
        self._index_lock = threading.Lock()

    # -- storing -------------------------------------------------------------------------

    def put_message(self, message: Mapping[str, Any], digest: bytes | None = None) -> str:
        """Store a message and return its handle; storing it again returns the same one."""
        del digest  # identity here is the exact text, marks included
        return self.put_messages([message])[0]

    def put_messages(self, messages: Sequence[Mapping[str, Any]]) -> list[str]:
        """Store many messages in one transaction and return their handles in order.

        Raises:
            StoreError: Nothing was stored.
        """
        new = [message for message in messages if not self._is_remembered(message)]
        for message, handle in zip(
            new, self._put([(_MESSAGE, _json(message)) for message in new]), strict=True
        ):
            self._remembered[id(message)] = (message, handle)
        return [self._remembered[id(message)][1] for message in messages]

    def _is_remembered(self, message: Mapping[str, Any]) -> bool:
        """Return whether this very object was stored; messages are not changed once they are here.

        The object is held beside its handle, so that its identity cannot pass to another one.
        """
        known = self._remembered.get(id(message))
        return known is not None and known[0] is message

    def put_range(self, refs: Iterable[str]) -> str:
        """Store an ordered list of handles and return the handle that stands for all of them."""
        return self._put([(_RANGE, _json(list(refs)))])[0]

    def _put(self, contents: list[tuple[int, bytes]]) -> list[str]:
        digests = [
            hashlib.blake2b(data, digest_size=16, person=bytes([kind])).digest()
            for kind, data in contents
        ]
        new = {
            digest: content
            for digest, content in zip(digests, contents, strict=True)
            if digest not in self._handles
        }
        if new:
            rows = [(digest, kind, *_packed(data)) for digest, (kind, data) in new.items()]
            with self._database.writing("storing originals") as connection:
                self._check_room(connection, sum(len(row[3]) for row in rows))
                connection.executemany("INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)", rows)
                found = {digest: self._linked(connection, digest) for digest in new}
            self._handles.update(found)
        return [self._handles[digest] for digest in digests]

    def _linked(self, connection: Any, digest: bytes) -> str:  # noqa: ANN401 - sqlite3.Connection
        """Return the session's handle of a content, making one when it has none."""
        row = connection.execute(
            "SELECT handle FROM link WHERE session = ? AND digest = ?", (self._session, digest)
        ).fetchone()
        if row:
            return str(row[0])
        text = digest.hex()
        for length in range(HANDLE_CHARS, len(text) + 1):
            handle = PREFIX + text[:length]
            done = connection.execute(
                "INSERT OR IGNORE INTO link(session, handle, digest) VALUES (?, ?, ?)",
                (self._session, handle, digest),
            )
            if done.rowcount:
                return handle
        return PREFIX + text

    def _check_room(self, connection: Any, added: int) -> None:  # noqa: ANN401
        if self._max_bytes is None:
            return
        pages, size = (
            connection.execute(f"PRAGMA {name}").fetchone()[0]
            for name in ("page_count", "page_size")
        )
        if pages * size + added > self._max_bytes:
            text = (
                f"{self._database.path} would grow over blobs_max_mb "
                f"({self._max_bytes // 1_000_000} MB); raise it, or erase old sessions. Nothing is "
                "compressed rather than an original lost"
            )
            raise StoreError(
                text,
                path=self._database.path,
                operation="storing originals",
                safe="the messages are unchanged",
            )

    # -- reading -------------------------------------------------------------------------

    def message(self, ref: str) -> Message:
        """Return the message behind a handle; raises `StoreError` when there is none."""
        kind, data = self._get(ref)
        if kind != _MESSAGE:
            raise self._missing(ref, "stands for several messages; ask for its members")
        return json.loads(data)  # type: ignore[no-any-return]

    def members(self, ref: str) -> list[str]:
        """Return the message handles behind a handle, in order, ranges opened up."""
        found: list[str] = []
        waiting = [ref]
        while waiting:
            current = waiting.pop()
            kind, data = self._get(current)
            if kind == _RANGE:
                waiting += reversed(json.loads(data))
            else:
                found.append(current)
        return found

    def text(self, ref: str) -> str:
        """Return the readable text behind a handle, a range as a transcript."""
        kind, data = self._get(ref)
        if kind == _MESSAGE:
            return readable(json.loads(data))
        parts = []
        for member in self.members(ref):
            message = self.message(member)
            parts.append(f"--- {message.get('role')} [{member}]\n{readable(message)}")
        return "\n".join(parts)

    def _get(self, ref: str) -> tuple[int, bytes]:
        handle = ref if ref.startswith(PREFIX) else PREFIX + ref
        with self._database.reading("reading an original") as connection:
            row = connection.execute(
                "SELECT kind, packed, bytes FROM link JOIN blob USING (digest) "
                "WHERE handle = ? AND (session = ? OR ? IS NULL)",
                (handle, self._session, self._session),
            ).fetchone()
        if row is None:
            raise self._missing(ref, "is not known in this session")
        return int(row[0]), zlib.decompress(row[2]) if row[1] else bytes(row[2])

    def _missing(self, ref: str, what: str) -> StoreError:
        text = f"handle {ref!r} {what}; handles look like {PREFIX}3f9ac2d41b07"
        return StoreError(text, path=self._database.path, operation="reading an original")

    # -- searching -----------------------------------------------------------------------

    def search(self, query: str, limit: int = 10, offset: int = 0) -> list[SearchHit]:
        """Return the places that fit a query in natural words, best first.

        What was stored since the last search is indexed first, so storing itself stays cheap.
        """
        with self._index_lock:
            index = self._index = self._index or SearchIndex()
            for seq, handle, data in self._unindexed():
                message = json.loads(data)
                index.add(handle, str(message.get("role", "")), readable(message))
                self._indexed = seq
            return index.search(query, limit=limit, offset=offset)

    def _unindexed(self) -> list[tuple[int, str, bytes]]:
        with self._database.reading("searching originals") as connection:
            rows = connection.execute(
                "SELECT seq, handle, packed, bytes FROM link JOIN blob USING (digest) "
                "WHERE session = ? AND seq > ? AND kind = ? ORDER BY seq",
                (self._session, self._indexed, _MESSAGE),
            ).fetchall()
        return [
            (seq, handle, zlib.decompress(data) if packed else data)
            for seq, handle, packed, data in rows
        ]

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def readable(message: Mapping[str, Any]) -> str:
    """Return a message as text: content, then calls."""
    lines = [text_of(message)]
    lines += [f"{call_name(call)} {call_arguments(call)}" for call in tool_calls_of(message)]
    return "\n".join(line for line in lines if line)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"), default=str).encode("ascii")


def _packed(data: bytes) -> tuple[int, bytes]:
    if len(data) <= SMALL_BYTES:
        return 0, data
    return 1, zlib.compress(data, 1)
