"""Opens SQLite files the one way that all stores of core use."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from perdure.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

BUSY_TIMEOUT_S = 5.0
MEMORY = ":memory:"
_TRANSIENT = ("locked", "busy")


class Database:
    """One SQLite file, or memory; safe to use from several threads and processes.

    WAL with synchronous NORMAL: a killed process loses nothing that was committed, a power cut at
    most the last transaction. Directory 0700, file 0600.
    """

    def __init__(self, path: Path | None, schema: Sequence[str]) -> None:
        """Open or create the file.

        Args:
            path: File, or None for memory.
            schema: Statements that lead from each version of the schema to the next, from an empty
                file on; a file of a later version than the last is refused.

        Raises:
            StoreError: The file cannot be used.
        """
        self.path = MEMORY if path is None else str(path)
        self._lock = threading.RLock()
        self._pid = os.getpid()
        self._inherited: list[sqlite3.Connection] = []
        self._schema, self._version = schema, len(schema)
        self._connection = self._open(path)

    def _open(self, path: Path | None) -> sqlite3.Connection:
        with self._explained("open"):
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
                path.touch(mode=0o600, exist_ok=True)
            connection = sqlite3.connect(
                self.path, timeout=BUSY_TIMEOUT_S, check_same_thread=False, isolation_level=None
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > self._version:
            text = (
                f"{self.path} was written by a newer version (schema {found}, this one knows "
                f"{self._version}); upgrade perdure-core or use another state directory"
            )
            raise StoreError(text, path=self.path, operation="open", safe="the file is unchanged")
        _switch_to_wal(connection)
        connection.execute("PRAGMA synchronous = NORMAL")
        if found < self._version:
            self._upgrade(connection)

    def _upgrade(self, connection: sqlite3.Connection) -> None:
        """Create what is missing, unless another process has done it meanwhile."""
        connection.execute("BEGIN IMMEDIATE")
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        for step in self._schema[found:]:
            for statement in filter(str.strip, step.split(";")):
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {max(found, self._version)}")
        connection.execute("COMMIT")

    @contextmanager
    def reading(self, operation: str) -> Iterator[sqlite3.Connection]:
        """Give the connection for queries."""
        self._leave_parent()
        with self._lock, self._explained(operation):
            yield self._connection

    @contextmanager
    def writing(self, operation: str) -> Iterator[sqlite3.Connection]:
        """Give the connection inside a transaction that is committed at the end or undone."""
        self._leave_parent()
        with self._lock, self._explained(operation):
            connection = self._connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:  # a full disk ends it by itself
                    connection.execute("ROLLBACK")
                raise

    def _leave_parent(self) -> None:
        """Open the file anew after a fork.

        SQLite forbids to use or even close a connection of the parent, and a thread that does not
        exist here may have held the lock.
        """
        if self._pid != os.getpid():
            self._lock = threading.RLock()
            if self.path != MEMORY:
                self._inherited.append(self._connection)
                self._connection = self._open(Path(self.path))
            self._pid = os.getpid()

    @contextmanager
    def _explained(self, operation: str) -> Iterator[None]:
        try:
            yield
        except (sqlite3.Error, OSError) as error:
            is_transient = isinstance(error, sqlite3.OperationalError) and any(
                word in str(error) for word in _TRANSIENT
            )
            text = (
                f"{self.path}: {operation} failed: {error}; nothing was changed, {_advice(error)}"
            )
            raise StoreError(
                text,
                path=self.path,
                operation=operation,
                safe="what was committed before",
                is_transient=is_transient,
            ) from error

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()


def _switch_to_wal(connection: sqlite3.Connection) -> None:
    """Switch to WAL; SQLite does not wait by itself when another process is just doing the same."""
    deadline = time.monotonic() + BUSY_TIMEOUT_S
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:  # noqa: PERF203 - a loop of waiting
            if "locked" not in str(error) or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        else:
            return


def storable(text: str) -> str:
    """Return a text as SQLite takes it: lone surrogates are spelled out."""
    return text.encode("utf-8", "backslashreplace").decode()


def _advice(error: Exception) -> str:
    """Return what a person can do about a failure."""
    found = str(error)
    if any(word in found for word in _TRANSIENT):
        return "try again"
    if "malformed" in found or "not a database" in found:
        return "move the file away and a new one is made"
    return "check the disk and the permissions of the file and its directory"
