"""A large result is shortened once, before it is first sent, and can be called back whole."""

from __future__ import annotations

import copy
import itertools
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

import perdure
from perdure.messages import group, text_of
from perdure.stock.entry import DEFAULT_LIMITS, shrunk
from perdure.stock.kinds import KINDS
from perdure.tokens import counter_for
from perdure_compressor.prune.marks import is_pruned

COUNTER = counter_for("gpt-4o")
REF = "ref:0123456789ab"


def call(name: str, **arguments) -> dict:
    text = json.dumps(arguments)
    return {"id": "c", "type": "function", "function": {"name": name, "arguments": text}}


def short(made: dict, content: object, **limits: int) -> str | None:
    result = {"role": "tool", "tool_call_id": "c", "content": content}
    kept = copy.deepcopy(result)
    found = shrunk(
        made,
        result,
        kinds=KINDS,
        limits={**DEFAULT_LIMITS, **limits},
        counter=COUNTER,
        ref_of=lambda: REF,
        names_tools=False,
    )
    assert result == kept
    if found is None:
        return None
    assert is_pruned(text_of(found))
    assert REF in text_of(found)
    return text_of(found)


LOG = "\n".join(
    f"2026-11-02 10:{i // 60:02}:{i % 60:02} INFO request {i} served in {i * 7 % 90} ms"
    for i in range(900)
)


def test_log_keeps_its_ends_and_what_failed():
    text = LOG.replace("request 500 served", "ERROR: disk /dev/sdb full on node-7, request 500")

    made = short(call("bash", command="tail app.log"), text)

    assert "request 0 served" in made
    assert "request 899 served" in made
    assert "ERROR: disk /dev/sdb full on node-7" in made
    assert COUNTER.count_text(made) <= 1_060


def test_lines_that_repeat_but_for_numbers_are_folded_with_their_count():
    made = short(call("bash", command="tail app.log"), LOG)

    assert "(and 898 more like it)" in made


def test_json_keeps_its_shape_and_leading_rows():
    rows = [{"id": i, "name": f"hotel {i}", "text": "x" * 300} for i in range(300)]

    made = short(call("fetch_url", url="x"), json.dumps({"total": 300, "rows": rows}))

    assert made.startswith('{"total": 300, "rows": [{"id": 0, "name": "hotel 0"')
    assert "more of 300" in made


def test_search_is_grouped_by_file():
    text = "\n".join(f"src/mod_{i % 6}.py:{i}: value = compute({i})" for i in range(900))

    made = short(call("grep", pattern="compute"), text)

    assert "src/mod_3.py (150 matches)" in made
    assert "3: value = compute(3)" in made


def test_listing_is_counted_by_folder():
    text = "\n".join(f"./src/part_{i % 4}/file_{i}.py" for i in range(1_200))

    made = short(call("list_files", path="."), text)

    assert "1,200 entries in 4 folders" in made
    assert "300 in ./src/part_2/" in made


def test_diff_keeps_file_names_and_hunk_headers():
    hunks = "\n".join(
        f"@@ -{i},3 +{i},3 @@ def f{i}\n"
        + "\n".join(f"-old {i} {k}\n+new {i} {k}" for k in range(9))
        for i in range(25)
    )

    made = short(call("bash", command="git diff"), f"diff --git a/x.py b/x.py\n--- a/x.py\n{hunks}")

    assert "diff --git a/x.py b/x.py" in made
    assert "@@ -24,3 +24,3 @@ def f24" in made
    assert "+new 0 8" in made


def test_page_keeps_start_end_and_headings():
    text = "\n".join(
        f"## Part {i}\n" + "words and words of a long page here\n" * 12 for i in range(60)
    )

    made = short(call("web_fetch", url="x"), text)

    assert "## Part 0" in made
    assert "## Part 31" in made


def test_file_reads_have_a_high_limit():
    text = "\n".join(f"value_{i} = {i}" for i in range(900))

    assert short(call("read_file", path="a.py"), text) is None
    assert short(call("read_file", path="a.py"), text * 5) is not None
    assert short(call("read_file", path="a.py"), text, read=500) is not None


def test_file_read_in_a_shell_is_a_file_read_but_for_logs():
    source = "\n".join(f"def function_{i}(value):  # line {i}" for i in range(400))

    assert short(call("bash", command="cd app && sed -n 1,400p src/app.py"), source) is None
    assert short(call("shell", command=["bash", "-lc", "cat src/app.py"]), source) is None
    assert short(call("bash", command="python list_functions.py"), source) is not None
    assert short(call("bash", command="cat app.log"), LOG) is not None


def test_diff_keeps_its_commit_and_the_hashes_of_its_files():
    lines = [f"+    value_{i} = {i} * width  # rounded down" for i in range(900)]
    text = "\n".join(
        [
            "commit 9f2c1e77aa01",
            "    Keep prices in whole cents",
            "diff --git a/a.py b/a.py",
            "index 913f5c41..b6a666b0 100644",
            *("--- a/a.py", "+++ b/a.py", "@@ -1,3 +1,900 @@"),
            *lines,
        ]
    )

    made = short(call("bash", command="git show"), text)

    assert "commit 9f2c1e77aa01\n    Keep prices in whole cents\n" in made
    assert "index 913f5c41..b6a666b0 100644" in made


def test_answers_of_the_user_are_never_shortened():
    assert short(call("ask_user_question", question="?"), "I want it blue. " * 9_000) is None


@given(
    st.sampled_from(["bash", "read_file", "grep", "ls", "web_fetch", "x", "AskUserQuestion"]),
    st.text(max_size=200).map(lambda text: text * 40)
    | st.lists(st.none() | st.dictionaries(st.text(), st.text()), max_size=3)
    | st.none(),
)
def test_any_content_is_shortened_clearly_or_left_alone(name, content):
    made = short(call(name), content, other=50, read=50)

    assert made is None or len(made) < len(text_of({"content": content})) + 80


@pytest.mark.parametrize(
    "text", ["x" * 400_000, "\n" * 300_000, "{" * 200_000, "[" * 100_000, "一" * 90_000, "a:1:" * 90_000]
)  # fmt: skip
def test_hostile_text_is_dealt_with_quickly(text):
    for name in ("bash", "grep", "ls", "web_fetch"):
        short(call(name), text)


# ------------------------------------------------------------------------------- in a session


def conversation(turns: int, start: int = 0) -> list[dict]:
    messages = []
    for turn in range(start, start + turns):
        made = {**call("bash", command=f"run {turn}"), "id": f"c{turn}"}
        messages += [
            {"role": "user", "content": f"Run {turn}. " + "Pasted line of mine.\n" * 900},
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": f"c{turn}", "content": f"run {turn}\n{LOG}"},
            {"role": "assistant", "content": "Done."},
        ]
    return messages


def opened(folder, **options):
    config = {"context": {"engines": {"compressor": options}}}
    return perdure.open_session(config, session_id="s", model="gpt-4o", state_dir=folder)


def test_results_are_short_from_the_first_request_on_and_users_are_not(tmp_path):
    messages = conversation(3)
    with opened(tmp_path) as session:
        session.append(messages)
        sent = session.view().messages
        recalled = [session.blobs.message(made.refs[0]) for made in session.current.replacements]

    assert [len(str(m["content"])) for m in sent if m["role"] == "user"] == [
        len(m["content"]) for m in messages if m["role"] == "user"
    ]
    assert all(COUNTER.count_text(m["content"]) < 1_100 for m in sent if m["role"] == "tool")
    assert recalled == [m for m in messages if m["role"] == "tool"]
    assert [unit.kind for unit in group(sent)].count("calls") == 3


def test_prefix_stays_byte_equal_while_the_session_grows(tmp_path):
    history: list[dict] = []
    texts = []
    with opened(tmp_path) as session:
        for turn in range(4):
            history += conversation(1, turn)
            session.load(copy.deepcopy(history))
            texts.append(json.dumps(list(session.view().messages))[:-1])

    for before, after in itertools.pairwise(texts):
        assert after.startswith(before)


def test_restart_shortens_nothing_twice(tmp_path):
    messages = conversation(2)
    with opened(tmp_path) as session:
        session.load(messages)
        before = list(session.view().messages)
    with opened(tmp_path, shrink_on_entry=False) as session:
        session.load(messages)

        assert list(session.view().messages) == before


def test_result_that_comes_alone_meets_its_call(tmp_path):
    messages = conversation(1)
    with opened(tmp_path, entry_limit_tokens={"terminal": 300}) as session:
        session.append(messages[:2])
        session.append(messages[2:3])

        assert COUNTER.count_text(session.current[2]["content"]) < 400


def test_it_can_be_switched_off(tmp_path):
    messages = conversation(1)
    with opened(tmp_path, shrink_on_entry=False) as session:
        session.append(messages)

        assert list(session.view().messages) == messages


def test_anthropic_results_are_short_and_valid(tmp_path):
    from perdure import dialects, formats

    body = formats.render([perdure.transcript.Entry.of(m) for m in conversation(2)], "anthropic")
    with opened(tmp_path) as session:
        session.load(body.body())
        wire = session.view()

    assert wire.format == "anthropic"
    assert dialects.get("anthropic").validate(wire.messages) == []
    assert len(session.current.replacements) == 2
