"""Durable session state: one row per session, moved on by compare-and-swap."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from perdure.errors import StoreError
from perdure.protocols import Snapshot
from perdure.sqlite import Database
from perdure.transcript import Replacement

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "state.sqlite3"
_SCHEMA = (
    """
CREATE TABLE session(
    id TEXT PRIMARY KEY, version INTEGER NOT NULL, updated REAL NOT NULL, document TEXT NOT NULL
) WITHOUT ROWID;
""",
)


class StateFile:
    """The snapshots of all sessions of a state directory."""

    def __init__(self, directory: Path | None) -> None:
        """Open the file, or memory when there is no directory; raises `StoreError`."""
        path = None if directory is None else directory / FILE_NAME
        self._database = Database(path, _SCHEMA)

    def load(self, session_id: str) -> tuple[int, Snapshot] | None:
        """Return version and snapshot of a session, or None."""
        with self._database.reading("loading session state") as connection:
            row = connection.execute(
                "SELECT version, document FROM session WHERE id = ?", (session_id,)
            ).fetchone()
        if row is None:
            return None
        try:
            return int(row[0]), _snapshot(json.loads(row[1]))
        except (KeyError, TypeError, ValueError) as error:
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

    def save(self, session_id: str, snapshot: Snapshot, expected_version: int) -> bool:
        """Store a snapshot as the next version; False when the session has moved on meanwhile.

        Args:
            session_id: Name of the session.
            snapshot: What to store.
            expected_version: Version that it is based on; 0 for a session that has none.
        """
        document = json.dumps(asdict(snapshot), ensure_ascii=True, separators=(",", ":"))
        row = (expected_version + 1, time.time(), document, session_id, expected_version)
        with self._database.writing("saving session state") as connection:
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
            connection.execute("DELETE FROM session WHERE id = ?", (session_id,))

    def sessions(self) -> list[str]:
        """Return the names of all sessions, latest first."""
        with self._database.reading("listing sessions") as connection:
            rows = connection.execute("SELECT id FROM session ORDER BY updated DESC").fetchall()
        return [str(row[0]) for row in rows]

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

    def load(self) -> Snapshot | None:
        """Return the stored snapshot, or None for a new session."""
        found = self._file.load(self._session_id)
        self._version = found[0] if found else 0
        return found[1] if found else None

    def save(self, snapshot: Snapshot) -> bool:
        """Store the snapshot; False when another holder has moved the session on."""
        is_saved = self._file.save(self._session_id, snapshot, self._version)
        self._version += is_saved
        return is_saved

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def bound_store(directory: Path | None, session_id: str) -> BoundStore:
    """Open the state of one session."""
    return BoundStore(StateFile(directory), session_id)


def _snapshot(document: dict[str, Any]) -> Snapshot:
    """Return the snapshot of a stored document; fields of later versions are passed over."""
    known = {name: document[name] for name in Snapshot.__dataclass_fields__ if name in document}
    known["handoffs"] = tuple(known.get("handoffs", ()))
    known["replacements"] = tuple(
        Replacement(**{**made, "messages": tuple(made["messages"]), "refs": tuple(made["refs"])})
        for made in known.get("replacements", ())
    )
    return Snapshot(**known)
