"""The content-addressed store of a session's originals."""

from __future__ import annotations

from contextlib import ExitStack, contextmanager
from itertools import chain, count, islice, repeat
from typing import TYPE_CHECKING, Any

from perdure.blobs.content import (
    DIGEST_BYTES,
    MESSAGE,
    PREFIX,
    RANGE,
    RAW,
    Content,
    handle_of,
    readable,
    role_of,
    value_of,
)
from perdure.blobs.finder import Finder
from perdure.errors import StoreError
from perdure.sqlite import Database, storable

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from perdure.messages import Message
    from perdure.protocols import SearchHit

FILE_NAME = "blobs.sqlite3"
HANDLE_CHARS = 12
_AT_ONCE = 500
_STORING, _READING = "storing originals", "reading an original"
_SCHEMA = (
    """
CREATE TABLE blob(
    digest BLOB PRIMARY KEY, kind INTEGER NOT NULL, packed INTEGER NOT NULL, bytes BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE link(
    seq INTEGER PRIMARY KEY, session TEXT NOT NULL, handle TEXT NOT NULL, digest BLOB NOT NULL,
    UNIQUE(session, handle)
);
CREATE INDEX link_digest ON link(session, digest);
""",
    """
ALTER TABLE link ADD COLUMN role TEXT;
ALTER TABLE link ADD COLUMN position INTEGER;
ALTER TABLE link ADD COLUMN raw BLOB;
DROP INDEX link_digest;
CREATE UNIQUE INDEX link_digest ON link(session, digest);
CREATE INDEX link_handle ON link(handle);
CREATE INDEX link_position ON link(session, position);
CREATE INDEX link_user ON link(session, position) WHERE role = 'user';
""",
)
_BLOB = "INSERT OR IGNORE INTO blob VALUES (?, ?, ?, ?)"
_LINK = "INSERT OR IGNORE INTO link(session, handle, digest, role) VALUES (?, ?, ?, ?)"
_GET = (
    "SELECT digest, kind, packed, bytes FROM link JOIN blob USING (digest) "
    "WHERE handle = ? AND (session = ? OR ? IS NULL)"
)
_PLACE = "UPDATE link SET position = ? WHERE session = ? AND digest = ? AND position IS NULL"
_RAW = "UPDATE link SET raw = ? WHERE session = ? AND digest = ? AND raw IS NULL"


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
        self._database = Database(path, _SCHEMA)
        self._session = None if session_id is None else storable(session_id)
        self._max_bytes = None if max_mb is None else max_mb * 1_000_000
        self._rendered: tuple[str, str] = ("", "")
        self._finder = Finder(self._database, self._session, self.text)

    # -- storing -------------------------------------------------------------------------

    def put_message(
        self,
        message: Mapping[str, Any],
        digest: bytes | None = None,
        *,
        raw: object = None,
    ) -> str:
        """Store a message and return its handle; storing it again returns the same one.

        Args:
            message: The message, kept as its exact JSON.
            digest: Not needed here: identity in this store is the exact text, marks included.
            raw: The provider's own item, given back by `raw` as it was.
        """
        del digest
        return self.put_messages([message], raws=[raw])[0]

    def put_messages(
        self,
        messages: Sequence[Mapping[str, Any]],
        *,
        first: int | None = None,
        raws: Sequence[object] = (),
    ) -> list[str]:
        """Store many messages in one transaction and return their handles in order.

        Args:
            messages: What to store.
            first: Place of the first one in the transcript, if they stand in a row there; a search
                can then tell which message of the user came before a hit.
            raws: The provider's own item of each message, or None where there is none.

        Raises:
            StoreError: Nothing was stored.
        """
        places = repeat(None) if first is None else count(first)
        given = zip(messages, places, chain(raws, repeat(None)), strict=False)
        return self._put(
            Content(MESSAGE, message, role_of(message), place, raw) for message, place, raw in given
        )

    def put_range(self, refs: Iterable[str]) -> str:
        """Store an ordered list of handles and return the handle that stands for all of them.

        Raises:
            StoreError: A handle is not known in this session; nothing was stored.
        """
        handles = [handle_of(ref) for ref in refs]
        known = self._links("handle", set(handles))
        for handle in handles:
            if handle not in known:
                raise self._missing(handle, "is not known in this session")
        return self._put([Content(RANGE, handles)])[0]

    def _put(self, contents: Iterable[Content]) -> list[str]:
        """Store contents in one transaction and return their handles; some at a time in memory."""
        handles: list[str] = []
        waiting = iter(contents)
        with ExitStack() as stack:
            connection = None
            while part := list(islice(waiting, _AT_ONCE)):
                known = self._links("digest", {content.digest for content in part})
                if any(content.is_more_than(known) for content in part):
                    connection = connection or stack.enter_context(self._storing())
                    known |= self._put_part(connection, part, known)
                handles += [str(known[content.digest]) for content in part]
        return handles

    def _put_part(
        self, connection: sqlite3.Connection, contents: Sequence[Content], known: Mapping[Any, Any]
    ) -> dict[Any, Any]:
        """Store contents of which some are known; returns the handles of the others by digest."""
        fresh = {c.digest: c for c in contents if c.digest not in known}
        raws = {c.digest: Content(RAW, c.raw) for c in contents if c.raw is not None}
        placed = [(c.position, self._session, c.digest) for c in contents if c.position is not None]
        blobs = [c.row() for c in (*fresh.values(), *raws.values())]
        self._check_room(connection, sum(len(row[3]) for row in blobs))
        connection.executemany(_BLOB, blobs)
        made: dict[Any, Any] = {}
        for length in range(HANDLE_CHARS, 2 * DIGEST_BYTES + 1):
            if not fresh:
                break
            rows = [
                (self._session, PREFIX + digest.hex()[:length], digest, content.role)
                for digest, content in fresh.items()
            ]
            connection.executemany(_LINK, rows)
            made |= self._links("digest", fresh)
            fresh = {digest: content for digest, content in fresh.items() if digest not in made}
        connection.executemany(_PLACE, placed)
        connection.executemany(
            _RAW, [(raw.digest, self._session, digest) for digest, raw in raws.items()]
        )
        return made

    @contextmanager
    def _storing(self) -> Iterator[sqlite3.Connection]:
        if self._session is None:
            text = "the originals of all sessions are open for reading; name a session to store"
            raise StoreError(text, path=self._database.path, operation=_STORING)
        with self._database.writing(_STORING) as connection:
            yield connection

    def _links(self, column: str, values: Iterable[Any]) -> dict[Any, Any]:
        """Map those handles (or digests) that this session holds to their digests (or handles)."""
        other = "digest" if column == "handle" else "handle"
        wanted = list(values)
        found: dict[Any, Any] = {}
        with self._database.reading(_STORING) as connection:
            for start in range(0, len(wanted), _AT_ONCE):
                part = wanted[start : start + _AT_ONCE]
                marks = ",".join("?" * len(part))
                found.update(
                    connection.execute(
                        f"SELECT {column}, {other} FROM link "  # noqa: S608 - our own names
                        f"WHERE session = ? AND {column} IN ({marks})",
                        (self._session, *part),
                    )
                )
        return found

    def _check_room(self, connection: sqlite3.Connection, added: int) -> None:
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
                operation=_STORING,
                safe="the messages are unchanged",
            )

    def erase(self) -> None:
        """Erase what this session stored; what other sessions stored as well stays theirs."""
        with self._storing() as connection:
            connection.execute("PRAGMA secure_delete = ON")
            connection.execute("DELETE FROM link WHERE session = ?", (self._session,))
            connection.execute(
                "DELETE FROM blob WHERE digest NOT IN (SELECT digest FROM link UNION ALL "
                "SELECT raw FROM link WHERE raw IS NOT NULL)"
            )
        self._rendered = ("", "")
        self._finder.close()
        self._finder = Finder(self._database, self._session, self.text)

    # -- reading -------------------------------------------------------------------------

    def message(self, ref: str) -> Message:
        """Return the message behind a handle; raises `StoreError` when there is none."""
        kind, value = self._get(ref)
        if kind != MESSAGE:
            raise self._missing(ref, "stands for several messages; ask for its members")
        return value  # type: ignore[no-any-return]

    def raw(self, ref: str) -> Any:  # noqa: ANN401 - a provider's item, whatever it is
        """Return the provider's item that was stored beside a message, or None."""
        handle = handle_of(ref)
        with self._database.reading(_READING) as connection:
            row = connection.execute(
                "SELECT blob.digest, kind, packed, bytes FROM link "
                "JOIN blob ON blob.digest = link.raw "
                "WHERE handle = ? AND (session = ? OR ? IS NULL)",
                (handle, self._session, self._session),
            ).fetchone()
        return None if row is None else self._value(ref, row)

    def members(self, ref: str) -> list[str]:
        """Return the message handles behind a handle, in order, ranges opened up."""
        found: list[str] = []
        waiting = [handle_of(ref)]
        while waiting:
            current = waiting.pop()
            kind, value = self._get(current)
            if kind == RANGE:
                waiting += reversed(value)
            else:
                found.append(current)
        return found

    def text(self, ref: str) -> str:
        """Return the readable text behind a handle, a range as a transcript."""
        kind, value = self._get(ref)
        if kind == MESSAGE:
            return readable(value)
        handle, text = self._rendered  # pages of a long range are asked for one after another
        if handle != ref:
            parts = []
            for member in self.members(ref):
                message = self.message(member)
                parts.append(f"--- {message.get('role')} [{member}]\n{readable(message)}")
            text = "\n".join(parts)
            self._rendered = (ref, text)
        return text

    def _get(self, ref: str) -> tuple[int, Any]:
        """Return kind and value of what stands behind a handle."""
        handle = handle_of(ref)
        with self._database.reading(_READING) as connection:
            row = connection.execute(_GET, (handle, self._session, self._session)).fetchone()
        if row is None:
            raise self._missing(ref, "is not known in this session")
        return int(row[1]), self._value(ref, row)

    def _value(self, ref: str, row: tuple[bytes, int, int, bytes]) -> Any:  # noqa: ANN401 - JSON
        try:
            return value_of(*row)
        except ValueError as error:
            text = f"the original {ref[:80]!r} in {self._database.path} is damaged: {error}"
            raise StoreError(
                text, path=self._database.path, operation=_READING, safe="all other originals"
            ) from error

    def _missing(self, ref: str, what: str) -> StoreError:
        text = f"handle {ref[:80]!r} {what}; handles look like {PREFIX}3f9ac2d41b07"
        return StoreError(text, path=self._database.path, operation=_READING)

    # -- searching -----------------------------------------------------------------------

    def search(self, query: str, limit: int = 10, offset: int = 0) -> list[SearchHit]:
        """Return the places that fit a query in natural words, best first.

        Args:
            query: Words or a question; nothing in it is syntax.
            limit: Most hits to return.
            offset: Hits to pass over.
        """
        return self._finder.search(query, limit, offset)

    def close(self) -> None:
        """Close the file."""
        self._finder.close()
        self._database.close()
