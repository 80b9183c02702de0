"""Durable session state: one row per session, moved on by compare-and-swap."""

from __future__ import annotations

import json
import time
from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from perdure.errors import PerdureError, StoreError
from perdure.protocols import Snapshot
from perdure.sqlite import Database, storable
from perdure.transcript import Replacement

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FILE_NAME = "state.sqlite3"
_SAVING = "saving session state"
_SCHEMA = (
    """
CREATE TABLE session(
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, updated REAL NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
""",
)


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
    ) -> bool:
        """Store a snapshot as the next version; False when the session has moved on meanwhile.

        Args:
            session_id: Name of the session.
            snapshot: What to store.
            expected_version: Version that it is based on; 0 for a session that has none.
            unknown: Fields of a later version of this program, kept as they were loaded.

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
        row = (expected_version + 1, time.time(), document, name, expected_version)
        with self._database.writing(_SAVING) as connection:
            if expected_version == 0:
                done = connection.execute(
                    "INSERT OR IGNORE INTO session(version, updated, document, id) "
                    "VALUES (?, ?, ?, ?)",
                    row[:4],
                )
            else:
                done = connection.execute(
                    "UPDATE session SET version = ?, updated = ?, document = ? "
                    "WHERE id = ? AND version = ?",
                    row,
                )
            return done.rowcount == 1

    def delete(self, session_id: str) -> None:
        """Forget a session's snapshot; its originals stay."""
        with self._database.writing("deleting session state") as connection:
            connection.execute("DELETE FROM session WHERE id = ?", (storable(session_id),))

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

    def load(self) -> Snapshot | None:
        """Return the stored snapshot, or None for a new session."""
        found = self._file.load(self._session_id)
        self._version = found.version if found else 0
        self._unknown = found.unknown if found else {}
        return found.snapshot if found else None

    def save(self, snapshot: Snapshot) -> bool:
        """Store the snapshot; False when another holder has moved the session on."""
        is_saved = self._file.save(self._session_id, snapshot, self._version, self._unknown)
        self._version += is_saved
        return is_saved

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
