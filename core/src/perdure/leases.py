"""Who is compacting a session now: one holder at a time, across threads and processes.

A lease runs out by itself when its holder dies, and is renewed while he works. Each one given out
has a higher fencing number than the one before (Kleppmann, "How to do distributed locking", 2016).
"""

from __future__ import annotations

import os
import socket
import threading
import time
import uuid
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from perdure.errors import StoreError
from perdure.sqlite import storable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from perdure.sqlite import Database

LEASE_S = 30.0
RENEWAL_S = 10.0
POLL_S = 0.05
SCHEMA = """
CREATE TABLE lease(
    id TEXT PRIMARY KEY, holder TEXT NOT NULL, expires REAL NOT NULL, fence INTEGER NOT NULL
) WITHOUT ROWID;
"""
_TAKE = """
INSERT INTO lease(id, holder, expires, fence) VALUES (?, ?, ?, 1)
ON CONFLICT(id) DO UPDATE SET holder = excluded.holder, expires = excluded.expires,
    fence = lease.fence + 1 WHERE lease.expires <= ? OR lease.holder = ?
"""


class Leases:
    """The leases of a state file."""

    def __init__(self, database: Database) -> None:
        """Take the open file."""
        self._database = database

    def of(self, session_id: str) -> Lease:
        """Return the lease of a session, not yet taken."""
        return Lease(self._database, session_id)

    def holders(self) -> dict[str, str]:
        """Return who holds a lease that has not run out, by session."""
        with self._database.reading("listing leases") as connection:
            rows = connection.execute(
                "SELECT id, holder FROM lease WHERE expires > ?", (time.time(),)
            ).fetchall()
        return {str(name): str(holder) for name, holder in rows}


class Lease:
    """One session's lease as one holder sees it.

    Attributes:
        fence: Number of the lease while it is held, else None.
    """

    def __init__(self, database: Database, session_id: str) -> None:
        """Take the open file and the name of the session."""
        self._database = database
        self._id = storable(session_id)
        self._own = threading.Lock()
        self.fence: int | None = None

    @contextmanager
    def held(self, wait_s: float = 0.0) -> Iterator[bool]:
        """Hold the lease inside the block, or give False when another holder keeps it.

        Raises:
            StoreError: The file cannot be used.
        """
        deadline = time.monotonic() + wait_s
        if not self._own.acquire(timeout=wait_s) if wait_s else not self._own.acquire(False):
            yield False
            return
        holder = f"{socket.gethostname()}:{os.getpid()}:{uuid.uuid4().hex[:12]}"
        done = threading.Event()
        try:
            self.fence = self._taken(holder, deadline)
            if self.fence is not None:
                self._keep_alive(holder, done)
            yield self.fence is not None
        finally:
            done.set()
            if self.fence is not None:
                self.fence = None
                self._release(holder)
            self._own.release()

    def _taken(self, holder: str, deadline: float) -> int | None:
        """Take the lease; waits for another holder until the deadline."""
        while True:
            now = time.time()
            row = (self._id, holder, now + LEASE_S, now, self._dead_holder() or holder)
            with self._database.writing("taking the session's lease") as connection:
                connection.execute(_TAKE, row)
                found = connection.execute(
                    "SELECT fence FROM lease WHERE id = ? AND holder = ?", (self._id, holder)
                ).fetchone()
            if found is not None:
                return int(found[0])
            if time.monotonic() >= deadline:
                return None
            time.sleep(POLL_S)

    def _dead_holder(self) -> str | None:
        """Return the holder when it is a process of this machine that no longer runs."""
        with self._database.reading("looking at the session's lease") as connection:
            row = connection.execute(
                "SELECT holder FROM lease WHERE id = ?", (self._id,)
            ).fetchone()
        if row is None:
            return None
        host, _, rest = str(row[0]).rpartition(":")[0].rpartition(":")
        is_gone = host == socket.gethostname() and rest.isdigit() and not _is_running(int(rest))
        return str(row[0]) if is_gone else None

    def _keep_alive(self, holder: str, done: threading.Event) -> None:
        """Renew the lease from a thread until the work is done."""

        def renew() -> None:
            while not done.wait(RENEWAL_S):
                with suppress(StoreError):  # the fence decides if that cost us the lease
                    self._expire(holder, time.time() + LEASE_S)

        threading.Thread(target=renew, name="perdure-lease", daemon=True).start()

    def _release(self, holder: str) -> None:
        """Let the lease run out; the row stays, since the next number is counted on from it."""
        with suppress(StoreError):  # it runs out by itself
            self._expire(holder, 0.0)

    def _expire(self, holder: str, at: float) -> None:
        with self._database.writing("renewing or releasing the session's lease") as connection:
            connection.execute(
                "UPDATE lease SET expires = ? WHERE id = ? AND holder = ?", (at, self._id, holder)
            )


def _is_running(pid: int) -> bool:
    if os.name == "nt":  # signal 0 would end the process there
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
