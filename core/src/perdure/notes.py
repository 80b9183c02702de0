"""Small JSON documents beside a session's state, each written on its own.

They hold what changes with every request or belongs to no compaction: the host loop's figures, the
cool-downs of the summary model. Losing the latest write of one costs a figure, never a message.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from perdure.sqlite import storable

if TYPE_CHECKING:
    from perdure.sqlite import Database

SCHEMA = """
CREATE TABLE note(
    scope TEXT NOT NULL, key TEXT NOT NULL, document TEXT NOT NULL, PRIMARY KEY(scope, key)
) WITHOUT ROWID;
"""


class Notes:
    """The notes of one scope: a session, or the whole state directory."""

    def __init__(self, database: Database, scope: str) -> None:
        """Take the open file and the name of the scope."""
        self._database = database
        self._scope = storable(scope)

    def get(self, key: str) -> Any | None:  # noqa: ANN401 - whatever JSON holds
        """Return a note, or None; one that cannot be read counts as none. Raises `StoreError`."""
        with self._database.reading("reading a note") as connection:
            row = connection.execute(
                "SELECT document FROM note WHERE scope = ? AND key = ?", (self._scope, key)
            ).fetchone()
        try:
            return None if row is None else json.loads(row[0])
        except ValueError:
            return None

    def put(self, key: str, value: Any) -> None:  # noqa: ANN401 - whatever JSON holds
        """Store a note in place of the old one; raises `StoreError` and leaves that then."""
        document = json.dumps(value, separators=(",", ":"))
        with self._database.writing("writing a note") as connection:
            connection.execute(
                "INSERT INTO note(scope, key, document) VALUES (?, ?, ?) "
                "ON CONFLICT(scope, key) DO UPDATE SET document = excluded.document",
                (self._scope, key, document),
            )
