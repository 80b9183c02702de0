"""One holder at a time, across threads and processes; the dead and the slow do no harm."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import pytest

from perdure import leases
from perdure.protocols import Snapshot
from perdure.state import StateFile, bound_store


@pytest.fixture
def state(tmp_path):
    file = StateFile(tmp_path)
    yield file
    file.close()


def test_only_one_holder_at_a_time(tmp_path):
    first, second = bound_store(tmp_path, "s"), bound_store(tmp_path, "s")

    with first.hold() as is_ours, second.hold() as is_theirs:
        assert is_ours
        assert not is_theirs
    with second.hold() as is_theirs:
        assert is_theirs


def test_sessions_do_not_wait_for_each_other(tmp_path):
    one, other = bound_store(tmp_path, "one"), bound_store(tmp_path, "other")

    with one.hold() as first, other.hold() as second:
        assert first
        assert second


def test_threads_of_one_session_exclude_each_other(tmp_path):
    store = bound_store(tmp_path, "s")
    seen = []

    def other():
        with store.hold() as is_ours:
            seen.append(is_ours)

    with store.hold():
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert seen == [False]


def test_patient_one_takes_over_when_the_holder_is_done(tmp_path):
    first, second = bound_store(tmp_path, "s"), bound_store(tmp_path, "s")
    inside, go_on = threading.Event(), threading.Event()

    def hold():
        with first.hold():
            inside.set()
            go_on.wait(5)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(5)
    threading.Timer(0.2, go_on.set).start()
    with second.hold(waits=True) as is_ours:
        assert is_ours
    thread.join()


def test_every_lease_has_a_higher_number(state):
    numbers = []
    for _ in range(3):
        lease = state.leases.of("s")
        with lease.held():
            numbers.append(lease.fence)

    assert numbers == sorted(set(numbers))


_HOLDER = """
import sys, time
from pathlib import Path
from perdure.state import bound_store
with bound_store(Path(sys.argv[1]), "s").hold():
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="there is no SIGKILL here")
def test_lease_of_a_killed_process_is_free_at_once(tmp_path):
    command = [sys.executable, "-c", _HOLDER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        store = bound_store(tmp_path, "s")
        with store.hold() as is_ours:
            assert not is_ours

        process.kill()

    with store.hold() as is_ours:
        assert is_ours


def test_holder_that_slept_through_its_lease_cannot_commit(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 0.0)
    slow, quick = bound_store(tmp_path, "s"), bound_store(tmp_path, "s")

    with slow.hold() as is_slow, quick.hold() as is_quick:
        assert is_slow
        assert is_quick
        assert not slow.save(Snapshot(length=1))
        assert quick.save(Snapshot(length=2))
    assert bound_store(tmp_path, "s").load().length == 2


def test_lease_is_renewed_while_the_work_goes_on(tmp_path, monkeypatch):
    monkeypatch.setattr(leases, "LEASE_S", 0.3)
    monkeypatch.setattr(leases, "RENEWAL_S", 0.05)
    first, second = bound_store(tmp_path, "s"), bound_store(tmp_path, "s")

    with first.hold():
        time.sleep(0.6)
        with second.hold() as is_theirs:
            assert not is_theirs


def test_names_who_holds(state):
    lease = state.leases.of("s")

    with lease.held():
        assert str(os.getpid()) in state.leases.holders()["s"]
    assert state.leases.holders() == {}


def test_notes_of_scopes_are_apart_and_the_last_one_counts(state):
    state.notes("a").put("key", {"n": 1})
    state.notes("b").put("key", [2])
    state.notes("a").put("key", {"n": 3})

    assert state.notes("a").get("key") == {"n": 3}
    assert state.notes("b").get("key") == [2]
    assert state.notes().get("key") is None


def test_notes_go_with_their_session(state):
    state.save("a", Snapshot(), 0)
    state.notes("a").put("key", 1)
    state.notes().put("key", 2)

    state.delete("a")

    assert state.notes("a").get("key") is None
    assert state.notes().get("key") == 2


def test_state_file_of_the_version_before_is_taken_on(tmp_path):
    import sqlite3

    (tmp_path / "state.sqlite3").touch()
    connection = sqlite3.connect(tmp_path / "state.sqlite3")
    connection.executescript(
        "CREATE TABLE session(id TEXT PRIMARY KEY, version INTEGER NOT NULL, updated REAL NOT NULL,"
        " document TEXT NOT NULL) WITHOUT ROWID;"
        "INSERT INTO session VALUES ('old', 4, 0.0, '{\"length\": 7}'); PRAGMA user_version = 1;"
    )
    connection.close()

    store = bound_store(tmp_path, "old")

    assert store.load().length == 7
    with store.hold() as is_ours:
        assert is_ours
        assert store.save(Snapshot(length=8))
    store.notes.put("key", 1)
    assert store.notes.get("key") == 1
