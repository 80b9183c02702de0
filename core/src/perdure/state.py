"""Durable session state: one row per session, moved on by compare-and-swap, and notes beside it.

The session's row is the only commit point. A lease says who is compacting the session now; its
fencing number is checked in the statement that commits, so that a holder which slept through its
lease cannot overwrite what its successor did.
"""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from perdure.errors import PerdureError, StoreError
from perdure.leases import LEASE_S, Leases
from perdure.leases import SCHEMA as LEASES
from perdure.notes import SCHEMA as NOTES
from perdure.notes import Notes
from perdure.protocols import Snapshot
from perdure.sqlite import Database, storable
from perdure.transcript import Replacement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

FILE_NAME = "state.sqlite3"
_SAVING = "saving session state"
_SESSIONS = """
CREATE TABLE session(
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, updated REAL NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
"""
_SCHEMA = (_SESSIONS, NOTES + LEASES)
# Without a lease the fencing number is NULL, and nothing is larger than that.
_CREATE = """
INSERT OR IGNORE INTO session(version, updated, document, id)
SELECT ?, ?, ?, ? WHERE NOT EXISTS(SELECT 1 FROM lease WHERE lease.id = ? AND lease.fence > ?)
"""
_UPDATE = """
UPDATE session SET version = ?, updated = ?, document = ? WHERE session.id = ? AND version = ?
AND NOT EXISTS(SELECT 1 FROM lease WHERE lease.id = ? AND lease.fence > ?)
"""


@dataclass(frozen=True, slots=True)
class Stored:
    """A session's row.

    Attributes:
        version: Number of times that it was saved.
        unknown: Fields that a later version of this program wrote.
    """

    version: int
    snapshot: Snapshot
    unknown: Mapping[str, Any]


class StateFile:
    """The snapshots of all sessions of a state directory."""

    def __init__(self, directory: Path | None) -> None:
        """Open the file, or memory when there is no directory; raises `StoreError`."""
        path = None if directory is None else directory / FILE_NAME
        self._database = Database(path, _SCHEMA)
        self.leases = Leases(self._database)

    def notes(self, scope: str = "") -> Notes:
        """Return the notes of a session, or with an empty scope those of the whole directory."""
        return Notes(self._database, scope)

    def load(self, session_id: str) -> Stored | None:
        """Return what is stored of a session, or None; raises `StoreError`."""
        with self._database.reading("loading session state") as connection:
            row = connection.execute(
                "SELECT version, document FROM session WHERE id = ?", (storable(session_id),)
            ).fetchone()
        if row is None:
            return None
        try:
            return _stored(int(row[0]), json.loads(row[1]))
        except (KeyError, TypeError, ValueError, AttributeError, PerdureError) as error:
            text = (
                f"the stored state of session {session_id!r} is damaged ({error}); delete it to "
                "start anew, originals stay recallable"
            )
            raise StoreError(
                text,
                path=self._database.path,
                operation="loading session state",
                safe="stored originals",
            ) from error

    def save(
        self,
        session_id: str,
        snapshot: Snapshot,
        expected_version: int,
        unknown: Mapping[str, Any] | None = None,
        *,
        fence: int | None = None,
    ) -> bool:
        """Store a snapshot as the next version; False when the session has moved on meanwhile.

        Args:
            session_id: Name of the session.
            snapshot: What to store.
            expected_version: Version that it is based on; 0 for a session that has none.
            unknown: Fields of a later version of this program, kept as they were loaded.
            fence: Number of the lease under which it was made; one that was given out later wins.

        Raises:
            StoreError: Nothing was stored.
        """
        try:
            document = json.dumps({**(unknown or {}), **_plain(snapshot)}, separators=(",", ":"))
        except (TypeError, ValueError, RecursionError) as error:
            text = (
                f"the state of engine {snapshot.engine!r} in session {session_id!r} cannot be "
                f"stored, since it is no JSON: {error}"
            )
            raise StoreError(
                text, path=self._database.path, operation=_SAVING, safe="the state stored before"
            ) from error
        name = storable(session_id)
        row = (expected_version + 1, time.time(), document, name)
        with self._database.writing(_SAVING) as connection:
            if expected_version == 0:
                done = connection.execute(_CREATE, (*row, name, fence))
            else:
                done = connection.execute(_UPDATE, (*row, expected_version, name, fence))
            return done.rowcount == 1

    def version(self, session_id: str) -> int:
        """Return how many times a session was saved; 0 when it never was."""
        with self._database.reading("loading session state") as connection:
            row = connection.execute(
                "SELECT version FROM session WHERE id = ?", (storable(session_id),)
            ).fetchone()
        return int(row[0]) if row else 0

    def delete(self, session_id: str) -> None:
        """Forget a session's snapshot and notes; its originals stay."""
        name = (storable(session_id),)
        with self._database.writing("deleting session state") as connection:
            connection.execute("DELETE FROM session WHERE id = ?", name)
            connection.execute("DELETE FROM note WHERE scope = ?", name)

    def sessions(self) -> list[str]:
        """Return the names of all sessions, latest first."""
        with self._database.reading("listing sessions") as connection:
            rows = connection.execute("SELECT id FROM session ORDER BY updated DESC").fetchall()
        return [str(row[0]) for row in rows]

    def session_with(self, handoff: str) -> str | None:
        """Return the session that made the handoff with a fingerprint, or None."""
        with self._database.reading("looking for a session") as connection:
            row = connection.execute(
                "SELECT id FROM session WHERE instr(document, ?) > 0 ORDER BY updated DESC",
                (json.dumps(handoff),),
            ).fetchone()
        return None if row is None else str(row[0])

    def close(self) -> None:
        """Close the file."""
        self._database.close()


class BoundStore:
    """One session's snapshot; implements `protocols.SessionStore`."""

    def __init__(self, file: StateFile, session_id: str) -> None:
        """Take the file and the name of the session."""
        self._file = file
        self._session_id = session_id
        self._version = 0
        self._unknown: Mapping[str, Any] = {}
        self._lease = file.leases.of(session_id)

    @property
    def notes(self) -> Notes:
        """The session's notes."""
        return self._file.notes(self._session_id)

    @property
    def shared_notes(self) -> Notes:
        """The notes of the whole state directory."""
        return self._file.notes()

    def load(self) -> Snapshot | None:
        """Return the stored snapshot, or None for a new session."""
        found = self._file.load(self._session_id)
        self._version = found.version if found else 0
        self._unknown = found.unknown if found else {}
        return found.snapshot if found else None

    def newer(self) -> Snapshot | None:
        """Return what another holder has committed since the last load or save, or None."""
        if self._file.version(self._session_id) == self._version:
            return None
        return self.load()

    def save(self, snapshot: Snapshot) -> bool:
        """Store the snapshot; False when another holder has moved the session on."""
        is_saved = self._file.save(
            self._session_id, snapshot, self._version, self._unknown, fence=self._lease.fence
        )
        self._version += is_saved
        return is_saved

    def hold(self, *, waits: bool = False) -> AbstractContextManager[bool]:
        """Keep others from compacting the session meanwhile; false when another holder does.

        Args:
            waits: Whether to wait for another holder, for as long as a lease runs.
        """
        return self._lease.held(LEASE_S if waits else 0.0)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def bound_store(directory: Path | None, session_id: str) -> BoundStore:
    """Open the state of one session."""
    return BoundStore(StateFile(directory), session_id)


def _plain(snapshot: Snapshot) -> dict[str, Any]:
    """Return the fields of a snapshot, for JSON; the engine's state is that already."""
    made = {field.name: getattr(snapshot, field.name) for field in fields(snapshot)}
    return {**made, "replacements": [asdict(one) for one in snapshot.replacements]}


def _stored(version: int, document: dict[str, Any]) -> Stored:
    """Return what a document holds; fields of later versions are kept beside the snapshot."""
    fields = Snapshot.__dataclass_fields__
    known = {name: value for name, value in document.items() if name in fields}
    known["handoffs"] = tuple(known.get("handoffs", ()))
    known["replacements"] = tuple(
        Replacement(**{**made, "messages": tuple(made["messages"]), "refs": tuple(made["refs"])})
        for made in known.get("replacements", ())
    )
    unknown = {name: value for name, value in document.items() if name not in fields}
    return Stored(version, Snapshot(**known), unknown)
