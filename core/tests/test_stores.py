"""Originals and state: what was stored comes back as it was, whatever happened in between."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import recall
from perdure.blobs import open_blobs
from perdure.blobs.store import _GET
from perdure.errors import StoreError
from perdure.protocols import Snapshot
from perdure.state import BoundStore, StateFile, bound_store
from perdure.transcript import Replacement

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), JSON, max_size=5))
def test_message_comes_back_equal_and_in_the_same_order(extra):
    blobs = open_blobs(None, "s")
    message = {"role": "tool", "content": "a\ud835b\x00c", **extra}

    back = blobs.message(blobs.put_message(message))

    assert back == message
    assert json.dumps(back) == json.dumps(message)
    blobs.close()


def test_a_message_changed_by_its_owner_is_stored_as_it_is_now():
    blobs = open_blobs(None, "s")
    message = {"role": "user", "content": "port 8080"}
    before = blobs.put_message(message)
    message["content"] = "port 9090"
    after = blobs.put_message(message)
    assert [blobs.text(before), blobs.text(after)] == ["port 8080", "port 9090"]


def test_storing_again_gives_the_same_handle_and_no_second_copy(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    message = {"role": "tool", "content": "x" * 5_000}

    assert blobs.put_message(message) == blobs.put_message(dict(message))
    again = open_blobs(tmp_path, "other")
    again.put_message(message)
    with sqlite3.connect(tmp_path / "blobs.sqlite3") as connection:
        assert connection.execute("SELECT count(*) FROM blob").fetchone() == (1,)
    connection.close()
    blobs.close()
    again.close()


def test_range_opens_up_in_order_however_deep_it_is():
    blobs = open_blobs(None, "s")
    refs = blobs.put_messages([{"role": "user", "content": str(i)} for i in range(5)])
    handle = blobs.put_range(refs)
    for _ in range(3_000):
        handle = blobs.put_range([handle])

    assert blobs.members(handle) == refs
    assert "--- user" in blobs.text(handle)
    blobs.close()


def test_large_range_opens_up_without_a_scan_per_member(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    refs = blobs.put_messages([{"role": "user", "content": str(i)} for i in range(3_000)])
    handle = blobs.put_range(refs)
    blobs.close()
    for session in ("s", None):
        opened = open_blobs(tmp_path, session)
        with opened._database.reading("test") as connection:
            plan = connection.execute(f"EXPLAIN QUERY PLAN {_GET}", ("h", session, session))
            assert not [row[3] for row in plan if row[3].startswith("SCAN")]
        assert opened.members(handle) == refs
        opened.close()


def test_other_sessions_originals_are_unknown(tmp_path):
    mine, yours = open_blobs(tmp_path, "mine"), open_blobs(tmp_path, "yours")
    ref = mine.put_message({"role": "tool", "content": "the password is heron"})

    assert mine.search("password heron")
    assert yours.search("password heron") == []
    with pytest.raises(StoreError, match="not known in this session"):
        yours.message(ref)
    mine.close()
    yours.close()


def test_owner_can_look_into_all_sessions(tmp_path):
    mine = open_blobs(tmp_path, "mine")
    ref = mine.put_message({"role": "tool", "content": "found"})
    everything = open_blobs(tmp_path, None)

    assert everything.text(ref) == "found"
    mine.close()
    everything.close()


def test_files_are_private(tmp_path):
    folder = tmp_path / "state"
    blobs, state = open_blobs(folder, "s"), StateFile(folder)

    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    for name in ("blobs.sqlite3", "state.sqlite3"):
        assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
    blobs.close()
    state.close()


def test_full_store_refuses_rather_than_lose_an_original(tmp_path):
    blobs = open_blobs(tmp_path, "s", max_mb=1)

    with pytest.raises(StoreError, match="blobs_max_mb") as caught:
        blobs.put_message({"role": "tool", "content": os.urandom(2_000_000).hex()})

    assert not caught.value.is_transient
    blobs.close()


def test_newer_file_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "state.sqlite3"
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = path.read_bytes()

    with pytest.raises(StoreError, match="newer version"):
        StateFile(tmp_path)

    assert path.read_bytes() == before


def test_damaged_file_is_a_typed_error(tmp_path):
    (tmp_path / "blobs.sqlite3").write_bytes(b"this is no database" * 100)

    with pytest.raises(StoreError, match="open failed"):
        open_blobs(tmp_path, "s")


def test_locked_file_is_a_transient_error(tmp_path, monkeypatch):
    monkeypatch.setattr("perdure.sqlite.BUSY_TIMEOUT_S", 0.1)
    store = bound_store(tmp_path, "s")
    other = sqlite3.connect(tmp_path / "state.sqlite3", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreError) as caught:
        store.save(Snapshot())

    assert caught.value.is_transient
    other.execute("ROLLBACK")
    assert store.save(Snapshot())
    other.close()
    store.close()


@pytest.mark.parametrize(
    "query",
    [
        'say "hello" AND (NOT',
        "heron-live",
        "a:b^c*",
        "NEAR(x y)",
        "-heron",
        "'; DROP TABLE piece; --",
        "héron",
        "\x00heron",
        "\ud835",
        "🐦",
        "",
        "   ",
    ],
)
def test_query_is_data(query):
    blobs = open_blobs(None, "s")
    blobs.put_message({"role": "tool", "content": "only heron-live is used"})

    blobs.search(query)
    blobs.close()


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("Which database may not be touched?", "never touch the database heron_live"),
        ("order-4711", "order-4711 was shipped"),
        ("配置文件在哪里", "请检查配置文件的位置"),
        ("ポート番号", "サーバーのポート番号は8443です"),
        ("포트 번호", "서버 포트 번호는 8443입니다"),
        ("src/app/main.py", "edited src/app/main.py twice"),
    ],
)
def test_words_of_a_question_find_the_place(query, text):
    blobs = open_blobs(None, "s")
    blobs.put_messages([{"role": "tool", "content": f"nothing of note {i}"} for i in range(50)])
    ref = blobs.put_message({"role": "tool", "content": text})

    assert blobs.search(query)[0].ref == ref
    blobs.close()


def test_search_finds_what_was_stored_after_the_last_search():
    blobs = open_blobs(None, "s")
    blobs.put_message({"role": "tool", "content": "first heron"})
    assert len(blobs.search("heron")) == 1
    blobs.put_message({"role": "tool", "content": "second heron"})

    assert len(blobs.search("heron")) == 2
    blobs.close()


def test_threads_may_store_at_the_same_time(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    found: list[list[str]] = []

    def work(number: int) -> None:
        found.append(
            [blobs.put_message({"role": "tool", "content": f"{i % 20} " * 200}) for i in range(60)]
        )

    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(found) == 4
    assert all(refs == found[0] for refs in found)
    blobs.close()


def test_providers_item_comes_back_beside_the_message():
    blobs = open_blobs(None, "s")
    message = {"role": "assistant", "content": "x"}
    item = {"type": "message", "content": [{"type": "output_text", "text": "x"}], "id": "m1"}
    ref = blobs.put_message(message, raw=item)

    assert json.dumps(blobs.raw(ref)) == json.dumps(item)
    assert blobs.message(ref) == message
    assert blobs.raw(blobs.put_message({"role": "user", "content": "y"})) is None
    blobs.close()


def test_handle_grows_when_another_content_has_the_same_start(tmp_path, monkeypatch):
    monkeypatch.setattr("perdure.blobs.store.HANDLE_CHARS", 1)
    blobs = open_blobs(tmp_path, "s")
    messages = [{"role": "user", "content": str(i)} for i in range(200)]
    refs = blobs.put_messages(messages)

    assert len(set(refs)) == 200
    assert [blobs.message(ref) for ref in refs] == messages
    assert blobs.put_messages([dict(message) for message in messages]) == refs
    blobs.close()


def test_erased_session_is_gone_and_others_stay(tmp_path):
    mine, yours = open_blobs(tmp_path, "mine"), open_blobs(tmp_path, "yours")
    shared = {"role": "tool", "content": "shared " * 400}
    secret = {"role": "tool", "content": "the password is heron"}
    mine_ref, ref = mine.put_messages([secret, shared])
    yours.put_message(dict(shared))
    mine.put_range([mine_ref, ref])
    mine.erase()

    assert mine.search("password shared") == []
    with pytest.raises(StoreError, match="not known"):
        mine.text(mine_ref)
    assert yours.message(ref) == shared
    mine.put_message(secret)
    assert mine.search("password")
    mine.close()
    yours.close()


def test_range_of_unknown_handles_is_refused():
    blobs = open_blobs(None, "s")

    with pytest.raises(StoreError, match="ref:123456789abc"):
        blobs.put_range(["ref:123456789abc"])
    blobs.close()


def test_reader_of_all_sessions_cannot_store(tmp_path):
    blobs = open_blobs(tmp_path, None)

    with pytest.raises(StoreError, match="name a session"):
        blobs.put_message({"role": "user", "content": "x"})
    blobs.close()


def test_damaged_original_is_a_typed_error(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    small, large = blobs.put_messages(
        [{"role": "tool", "content": "x"}, {"role": "tool", "content": "x" * 9_000}]
    )
    with sqlite3.connect(tmp_path / "blobs.sqlite3") as connection:
        connection.execute("UPDATE blob SET bytes = substr(bytes, 2)")
    connection.close()

    for ref in (small, large):
        with pytest.raises(StoreError, match="damaged"):
            blobs.text(ref)
    blobs.close()


def test_message_that_is_no_json_is_refused_by_type():
    blobs = open_blobs(None, "s")
    circle: list[object] = []
    circle.append(circle)

    with pytest.raises(StoreError, match="no JSON"):
        blobs.put_message({"role": "tool", "content": circle})
    blobs.close()


def test_full_disk_is_a_typed_error_and_the_store_goes_on(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    kept = blobs.put_message({"role": "tool", "content": "kept"})
    with blobs._database.reading("test") as connection:
        pages = connection.execute("PRAGMA page_count").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(StoreError, match="full") as caught:
        blobs.put_message({"role": "tool", "content": os.urandom(400_000).hex()})

    assert not caught.value.is_transient
    assert blobs.text(kept) == "kept"
    with blobs._database.reading("test") as connection:
        connection.execute("PRAGMA max_page_count = 1000000")
    assert blobs.put_message({"role": "tool", "content": os.urandom(400_000).hex()})
    blobs.close()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="root may write anywhere")
def test_directory_that_cannot_be_written_is_a_typed_error(tmp_path):
    tmp_path.chmod(0o500)
    with pytest.raises(StoreError, match="permissions"):
        open_blobs(tmp_path, "s")
    tmp_path.chmod(0o700)


def test_file_in_place_of_the_directory_is_a_typed_error(tmp_path):
    (tmp_path / "state").write_text("x", encoding="utf-8")

    with pytest.raises(StoreError, match="open failed"):
        open_blobs(tmp_path / "state", "s")


def test_file_of_the_first_schema_is_brought_up_to_date(tmp_path):
    from perdure.blobs import store
    from perdure.sqlite import Database

    old = Database(tmp_path / "blobs.sqlite3", store._SCHEMA[:1])
    with old.writing("test") as connection:
        content = store.Content(store.MESSAGE, {"role": "user", "content": "old heron"})
        connection.execute(store._BLOB, content.row())
        connection.execute(
            "INSERT INTO link(session, handle, digest) VALUES ('s', 'ref:old', ?)",
            (content.digest,),
        )
    old.close()
    blobs = open_blobs(tmp_path, "s")

    assert blobs.text("ref:old") == "old heron"
    assert blobs.put_message({"role": "user", "content": "old heron"}) == "ref:old"
    assert blobs.search("heron")[0].ref == "ref:old"
    blobs.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_child_stores_while_a_thread_of_the_parent_held_the_lock(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    blobs.put_message({"role": "user", "content": "parent"})
    with blobs._database.reading("held"):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                thread = threading.Thread(
                    target=blobs.put_message, args=({"role": "user", "content": "child"},)
                )
                thread.start()
                thread.join(20)
                status = int(thread.is_alive())
            finally:
                os._exit(status)

    assert os.waitpid(child, 0)[1] == 0
    assert blobs.search("child")
    blobs.close()


# ------------------------------------------------------------------------------- tools


def recalled(blobs, **arguments):
    return recall.call("context_recall", arguments, blobs)


def test_original_is_recalled_in_pages_that_end():
    blobs = open_blobs(None, "s")
    text = "".join(f"line {i}\n" for i in range(3_000))
    ref = blobs.put_message({"role": "tool", "content": text})
    seen, offset = "", 0
    while offset is not None:
        page = recalled(blobs, ref=ref, offset=offset, limit=5_000)
        seen += page["text"]
        offset = page["next_offset"]

    assert seen == text
    assert page["complete"] is True
    assert page["total_characters"] == len(text)
    blobs.close()


@pytest.mark.parametrize(
    ("tool", "arguments", "named"),
    [
        ("context_recall", {}, "'ref'"),
        ("context_recall", {"ref": 3}, "'ref'"),
        ("context_recall", None, "JSON object"),
        ("context_recall", ["ref:1"], "JSON object"),
        ("context_recall", {"ref": "\ud835"}, "not known"),
        ("context_recall", {"ref": ["x"] * 9_999}, "'ref'"),
        ("context_recall", {"ref": "R", "offset": "²"}, "'offset'"),
        ("context_recall", {"ref": "R", "offset": "9" * 9_999}, "'offset'"),
        ("context_recall", {"ref": "R", "offset": 1.5}, "'offset'"),
        ("context_forget", {"ref": "R"}, "context_search"),
        ("context_recall", {"ref": "ref:none"}, "ref:none"),
        ("context_recall", {"ref": "R", "offset": -1}, "'offset'"),
        ("context_recall", {"ref": "R", "limit": 0}, "'limit'"),
        ("context_recall", {"ref": "R", "limit": True}, "'limit'"),
        ("context_search", {"query": " "}, "'query'"),
        ("context_search", {"query": "x", "limit": 1_000}, "'limit'"),
    ],
)
def test_bad_argument_is_answered_with_its_name(tool, arguments, named):
    blobs = open_blobs(None, "s")

    error = recall.call(tool, arguments, blobs)["error"]

    assert named in error
    assert len(error) < 300
    blobs.close()


def test_search_comes_in_pages():
    blobs = open_blobs(None, "s")
    blobs.put_messages([{"role": "tool", "content": f"heron number {i}"} for i in range(30)])
    first = recall.call("context_search", {"query": "heron", "limit": 20}, blobs)
    rest = recall.call(
        "context_search", {"query": "heron", "limit": 20, "offset": first["next_offset"]}, blobs
    )

    assert not first["complete"]
    assert rest["complete"]
    assert len({hit["ref"] for hit in first["results"] + rest["results"]}) == 30
    blobs.close()


# ------------------------------------------------------------------------------- state


def snapshot(count: int = 1) -> Snapshot:
    message = {"role": "user", "content": "summary \ud835 \x00", "_perdure": {"kind": "handoff"}}
    made = Replacement(
        first=0, last=3, kind="handoff", messages=(message,), refs=("ref:1",), chain="ab"
    )
    return Snapshot(
        replacements=(made,), length=9, chain="cd", compaction_count=count, handoffs=("f",),
        engine="compressor", engine_state={"summary": "x" * 20_000},
    )  # fmt: skip


def test_state_comes_back_equal(tmp_path):
    store = bound_store(tmp_path, "s")
    assert store.load() is None
    assert store.save(snapshot())
    store.close()

    again = bound_store(tmp_path, "s")
    assert again.load() == snapshot()
    again.close()


def test_late_writer_is_told_that_the_session_moved_on(tmp_path):
    first, second = bound_store(tmp_path, "s"), bound_store(tmp_path, "s")
    first.load()
    second.load()

    assert first.save(snapshot(1))
    assert not second.save(snapshot(2))
    assert second.load() == snapshot(1)
    assert second.save(snapshot(3))
    first.close()
    second.close()


def test_fields_of_a_later_version_are_kept(tmp_path):
    store = bound_store(tmp_path, "s")
    store.save(snapshot())
    with sqlite3.connect(tmp_path / "state.sqlite3") as connection:
        [(text,)] = connection.execute("SELECT document FROM session").fetchall()
        document = json.dumps({**json.loads(text), "strikes": 2})
        connection.execute("UPDATE session SET document = ?", (document,))
    connection.close()

    assert store.load() == snapshot()
    assert store.save(snapshot(2))
    with sqlite3.connect(tmp_path / "state.sqlite3") as connection:
        [(text,)] = connection.execute("SELECT document FROM session").fetchall()
    connection.close()
    assert json.loads(text)["strikes"] == 2
    store.close()


@pytest.mark.parametrize("name", ["\ud835", "a\x00b", "用户", "a'; DROP TABLE session; --", ""])
def test_session_may_have_any_name(tmp_path, name):
    store = bound_store(tmp_path, name)
    assert store.save(snapshot())
    assert store.load() == snapshot()
    store.close()


def test_engine_state_that_is_no_json_is_a_typed_error(tmp_path):
    store = bound_store(tmp_path, "s")
    store.save(snapshot(1))

    with pytest.raises(StoreError, match="mine"):
        store.save(Snapshot(engine="mine", engine_state={1, 2}))
    assert store.load() == snapshot(1)
    store.close()


def test_damaged_row_is_a_typed_error(tmp_path):
    store = bound_store(tmp_path, "s")
    store.save(snapshot())
    with sqlite3.connect(tmp_path / "state.sqlite3") as connection:
        connection.execute("UPDATE session SET document = '{\"replacements\": [1]}'")
    connection.close()

    with pytest.raises(StoreError, match="damaged"):
        store.load()
    store.close()


def test_sessions_are_listed_and_forgotten(tmp_path):
    states = StateFile(tmp_path)
    BoundStore(states, "a").save(snapshot())
    BoundStore(states, "b").save(snapshot())
    states.delete("a")

    assert states.sessions() == ["b"]
    states.close()


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from test_stores import snapshot
from perdure.state import bound_store
store = bound_store(Path(sys.argv[1]), "s")
known = store.load()
count = known.compaction_count if known else 0
print("ready", flush=True)
while True:
    count += 1
    assert store.save(snapshot(count))
"""


def killed_writers(tmp_path, kills: int) -> None:
    last = 0
    for number in range(kills):
        writer = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path), str(Path(__file__).parent)],
            stdout=subprocess.PIPE,
        )
        assert writer.stdout.readline() == b"ready\n"
        time.sleep(0.002 + 0.007 * (number % 5))
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        store = bound_store(tmp_path, "s")
        known = store.load()
        store.close()
        if known is not None:
            assert known == snapshot(known.compaction_count)
            assert known.compaction_count >= last
            last = known.compaction_count


def test_killed_writer_leaves_the_old_state_or_the_new_one(tmp_path):
    killed_writers(tmp_path, 6)


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_many_killed_writers_leave_the_old_state_or_the_new_one(tmp_path):
    killed_writers(tmp_path, 200)


OPENER = """
import sys
from pathlib import Path
from perdure.blobs import open_blobs
blobs = open_blobs(Path(sys.argv[1]), "s")
sys.stdin.readline()
blobs.put_messages([{"role": "tool", "content": f"{sys.argv[2]} {i}"} for i in range(20)])
"""


def test_many_processes_may_create_the_file_at_the_same_time(tmp_path):
    for round_ in range(3):
        folder = tmp_path / str(round_)
        openers = [
            subprocess.Popen(
                [sys.executable, "-c", OPENER, str(folder), str(number)],
                stdin=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for number in range(5)
        ]
        for opener in openers:
            _, errors = opener.communicate("go\n", timeout=60)
            assert opener.returncode == 0, errors


def test_two_processes_may_store_at_the_same_time(tmp_path):
    blobs = open_blobs(tmp_path, "s")
    child = subprocess.Popen(
        [sys.executable, "-c", OPENER, str(tmp_path), "child"], stdin=subprocess.PIPE, text=True
    )
    child.stdin.write("go\n")
    child.stdin.flush()
    blobs.put_messages([{"role": "tool", "content": f"parent {i} " * 50} for i in range(50)])
    child.communicate(timeout=60)

    assert child.returncode == 0
    assert blobs.search("child 7")
    blobs.close()
