"""Old results become informative lines, arguments stay JSON, and nothing is pruned twice."""

from __future__ import annotations

import base64
import copy
import json
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.messages import text_of
from perdure.stock.kinds import KINDS
from perdure.tokens import counter_for
from perdure_compressor.prune import prune, relieve
from perdure_compressor.prune.arguments import shortened
from perdure_compressor.prune.pressure import middle_out

COUNTER = counter_for("gpt-4o")
RANDOM = random.Random(5)
PNG = "data:image/png;base64," + base64.b64encode(b"\x89PNG" + RANDOM.randbytes(3_000)).decode()
JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=900),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


def call(number: int, name: str, arguments: dict | str, content: object) -> list[dict]:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    made = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": text}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": f"c{number}", "content": content},
    ]


def ref_of(index: int) -> str:
    return f"ref:{index:012x}"


def pruned(messages: list[dict], prunable=None, *, names_tools: bool = False) -> list[dict]:
    kept = copy.deepcopy(messages)
    edits = prune(
        messages,
        range(len(messages)) if prunable is None else prunable,
        kinds=KINDS,
        ref_of=ref_of,
        names_tools=names_tools,
    )
    assert messages == kept, "the input was changed"
    made = list(messages)
    for edit in edits:
        assert made[edit.index] is messages[edit.index], "two edits for one message"
        made[edit.index] = edit.message
    return made


BIG = "\n".join(f"line {i} of the output" for i in range(80))


def test_newest_of_two_identical_reads_stays_and_the_older_points_to_it():
    messages = [
        *call(1, "read_file", {"path": "a.py"}, BIG),
        *call(2, "read_file", {"path": "a.py"}, BIG),
    ]

    made = pruned(messages, prunable=range(2))

    assert made[3] is messages[3]
    assert "a.py" in made[1]["content"]
    assert "a later read_file returned" in made[1]["content"]
    assert "[ref:000000000001]" in made[1]["content"]


def test_read_that_a_later_write_made_stale_is_cut():
    messages = [
        *call(1, "read_file", {"path": "a.py"}, BIG),
        *call(2, "edit_file", {"path": "a.py"}, "ok"),
    ]

    assert "changed since by a later edit_file" in pruned(messages)[1]["content"]


def test_result_becomes_a_line_that_says_what_happened():
    messages = call(1, "bash", {"command": "pytest -q"}, f"{BIG}\nFAILED test_a - no\nexit code 1")

    line = pruned(messages)[1]["content"]

    for part in ("`pytest -q`", "exit 1", "82 lines", "FAILED test_a", "[ref:000000000001]"):
        assert part in line
    assert "context_recall" not in line
    assert "context_recall" in pruned(messages, names_tools=True)[1]["content"]


def test_short_results_and_answers_of_the_user_stay():
    messages = [
        *call(1, "bash", {"command": "ls"}, "a.py\nb.py"),
        *call(2, "AskUserQuestion", {"question": "Which?"}, "The blue one. " * 60),
    ]

    assert pruned(messages) == messages


def test_picture_in_a_result_becomes_a_text_with_kind_size_and_digest():
    messages = call(1, "screenshot", {}, [{"type": "image_url", "image_url": {"url": PNG}}])

    text = pruned(messages)[1]["content"]

    assert text.startswith("[image removed: png, 3,004 bytes, sha256 ")
    assert "ref:000000000001" in text


def test_newest_picture_of_the_user_stays():
    picture = {"type": "image_url", "image_url": {"url": PNG}}
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "old"}, picture]},
        {"role": "user", "content": [{"type": "text", "text": "new"}, picture]},
    ]

    made = pruned(messages)

    assert made[1] is messages[1]
    assert "[image removed" in text_of(made[0])
    assert "old" in text_of(made[0])


def test_long_arguments_are_cut_and_stay_json():
    arguments = {"path": "buch/kapitel_8.md", "text": "ä" * 3_000, "lines": [1, 2.5, None]}
    messages = call(1, "write_file", arguments, "ok")

    made = pruned(messages)[0]["tool_calls"][0]["function"]["arguments"]
    back = json.loads(made)

    assert back["path"] == "buch/kapitel_8.md"
    assert back["lines"] == [1, 2.5, None]
    assert "⟦cut 2,860 chars⟧" in back["text"]


@pytest.mark.parametrize("arguments", ["not json " * 200, '{"a": "' + "x" * 900, "[" * 5_000])
def test_arguments_that_are_no_json_are_left_alone(arguments):
    assert pruned(call(1, "f", arguments, "ok"))[0]["tool_calls"][0]["function"] == {
        "name": "f",
        "arguments": arguments,
    }


def test_only_what_may_be_pruned_is_pruned():
    messages = [m for i in range(5) for m in call(i, "bash", {"command": f"c{i}"}, f"{BIG} {i}")]

    made = pruned(messages, prunable=range(4))

    assert made[4:] == messages[4:]
    assert made[1] != messages[1]


@given(JSON)
def test_cut_arguments_are_json_shorter_and_never_cut_again(value):
    text = json.dumps(value, ensure_ascii=False)
    cut = shortened(text)

    if cut is not None:
        json.loads(cut)
        assert len(cut) < len(text)
        assert shortened(cut) is None


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["assistant", "tool", "user"])},
            optional={
                "content": st.none()
                | st.text(max_size=600)
                | st.lists(st.none() | st.dictionaries(st.text(), st.text()), max_size=2),
                "tool_calls": st.none()
                | st.lists(
                    st.none()
                    | st.fixed_dictionaries(
                        {"id": st.sampled_from("ab"), "function": st.fixed_dictionaries(
                            {"name": st.sampled_from(["bash", "read_file", "x"]),
                             "arguments": st.text() | JSON.map(json.dumps)})}
                    ),
                    max_size=2,
                ),
                "tool_call_id": st.sampled_from("abc"),
            },
        ),
        max_size=10,
    )
)  # fmt: skip
def test_malformed_messages_never_raise_and_the_second_pass_changes_nothing(messages):
    once = pruned(messages)

    assert pruned(once) == once


TOOLS = ["bash", "read_file", "write_file", "str_replace_editor", "grep", "ls", "web_fetch", "task",
         "python", "TodoWrite", "memory", "AskUserQuestion", "screenshot", "mcp__x__y"]  # fmt: skip
TEXTS = ["ok", BIG, BIG + " again", "Error: no such file", json.dumps({"output": BIG}), "é字" * 300,
         "\ud800\x00" * 300, "", "word " * 45]  # fmt: skip
PICTURE = {"type": "image_url", "image_url": {"url": PNG}}
CONTENTS = (
    st.sampled_from(TEXTS)
    | st.lists(
        st.sampled_from([PICTURE, {"type": "image"}, "bare", None, 3, {"type": "other", "x": 1}])
        | st.builds(lambda text: {"type": "text", "text": text}, st.sampled_from(TEXTS)),
        max_size=3,
    )
    | st.none()
)
ARGUMENTS = st.dictionaries(
    st.sampled_from(["path", "command", "content", "query", "offset", "old_str"]),
    st.sampled_from(["a.py", "view", "create", "x" * 700, BIG, 7, None, ["a" * 300]]),
    max_size=3,
)


@st.composite
def sessions(draw) -> list[dict]:
    """Sessions as agents have them, with repeats, failures, media and parallel calls."""
    messages: list[dict] = []
    for number in range(draw(st.integers(1, 6))):
        if draw(st.booleans()):
            messages.append({"role": "user", "content": draw(CONTENTS)})
        made = [
            {
                "id": f"c{number}.{i}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(draw(ARGUMENTS))},
            }
            for i, name in enumerate(draw(st.lists(st.sampled_from(TOOLS), max_size=3)))
        ]
        messages.append({"role": "assistant", "content": draw(CONTENTS), "tool_calls": made})
        messages += [
            {"role": "tool", "tool_call_id": one["id"], "content": draw(CONTENTS)} for one in made
        ]
    return messages


@given(sessions(), st.integers(0, 12), st.booleans())
def test_pruned_session_is_shorter_valid_and_stays_as_it_is(messages, end, names_tools):
    once = pruned(messages, range(end), names_tools=names_tools)

    assert pruned(once, range(end), names_tools=names_tools) == once
    assert once[end:] == messages[end:]
    for before, after in zip(messages, once, strict=True):
        assert before.keys() == after.keys()
        if before is after:
            continue
        has_picture = "image" in json.dumps(before["content"])
        assert has_picture or len(json.dumps(after)) < len(json.dumps(before))
        assert after["content"] or not before["content"]
        for one in after.get("tool_calls", ()):
            json.loads(one["function"]["arguments"])


@given(sessions())
def test_words_of_users_and_of_the_assistant_stay(messages):
    for before, after in zip(messages, pruned(messages), strict=True):
        if before["role"] != "tool":
            assert content_without_pictures(after) == content_without_pictures(before)


def content_without_pictures(message: dict) -> list[object]:
    content = message["content"]
    parts = content if isinstance(content, list) else [content]
    return [
        part for part in parts if '"image"' not in json.dumps(part) and "image" not in str(part)
    ]


def test_picture_and_long_text_of_one_result_are_pruned_in_one_go():
    parts = [PICTURE, {"type": "text", "text": BIG}]
    messages = call(1, "screenshot", {"step": 1}, parts)

    made = pruned(messages)

    assert made[1]["content"].startswith("[image removed: png, 3,004 bytes, sha256 ")
    assert "screenshot: step=1" in made[1]["content"]
    assert pruned(made) == made


def test_picture_and_long_arguments_of_one_message_are_pruned_in_one_go():
    messages = call(1, "write_file", {"content": "x" * 900}, "ok")
    messages[0]["content"] = [PICTURE]

    made = pruned(messages)

    assert "image removed" in made[0]["content"][0]["text"]
    assert "⟦cut " in made[0]["tool_calls"][0]["function"]["arguments"]
    assert pruned(made) == made


def test_result_in_parts_becomes_a_line_like_any_other():
    made = pruned(call(1, "bash", {"command": "ls"}, [{"type": "text", "text": BIG}]))

    assert made[1]["content"] == "bash: `ls`, 80 lines [ref:000000000001]"


def test_result_with_parts_that_nobody_can_describe_stays():
    messages = call(1, "x", {}, [{"type": "text", "text": BIG}, {"type": "tool_reference", "x": 1}])

    assert pruned(messages) == messages


def test_handle_is_asked_only_for_what_is_edited():
    messages = [
        *call(1, "bash", {}, "x" * 210),
        *call(2, "bash", {"command": "c" * 118}, "y" * 210),
    ]
    asked = []

    prune(
        messages,
        range(4),
        kinds=KINDS,
        ref_of=lambda index: asked.append(index) or ref_of(index),
        names_tools=False,
    )

    assert asked == [1]


def test_pruning_grows_with_the_list_and_not_with_its_square():
    def cost_s(calls: int) -> float:
        messages = [
            m for i in range(calls) for m in call(i, "my_tool", {"id": i}, f"{i} word " * 90)
        ]
        started = time.process_time()
        edits = prune(messages, range(len(messages)), kinds=KINDS, ref_of=ref_of, names_tools=False)
        assert len(edits) == calls
        return time.process_time() - started

    # Eight times the list; a square would be sixty-four times the cost.
    assert cost_s(8_000) < 24 * max(cost_s(1_000), 0.02)


# ------------------------------------------------------------------------------- pressure


def relieved(messages: list[dict], excess: int) -> tuple[list[dict], int]:
    edits = relieve(
        messages,
        list(range(len(messages))),
        excess_tokens=excess,
        counter=COUNTER,
        ref_of=ref_of,
    )
    made = list(messages)
    for edit in edits:
        made[edit.index] = edit.message
    saved = sum(map(COUNTER.count_message, messages)) - sum(map(COUNTER.count_message, made))
    return made, saved


@pytest.mark.parametrize(
    "text",
    [BIG * 40, "x" * 100_000, "字" * 20_000, "a b " * 30_000],
    ids=["lines", "one line", "dense", "words"],
)
def test_giant_result_is_cut_in_the_middle_to_what_is_needed(text):
    messages = call(1, "bash", {"command": "cat"}, f"FIRST\n{text}\nLAST")
    whole = COUNTER.count_message(messages[1])

    made, saved = relieved(messages, whole - 2_000)

    assert saved >= whole - 2_000
    assert made[1]["content"].startswith("FIRST")
    assert made[1]["content"].endswith("LAST")
    assert "characters left out, ref:000000000001⟧" in made[1]["content"]


def test_oldest_results_go_first_and_users_are_never_cut():
    messages = [{"role": "user", "content": BIG * 30}]
    messages += [m for i in range(3) for m in call(i, "bash", {}, BIG * 20)]

    made, _ = relieved(messages, 3_000)

    assert made[0] is messages[0]
    assert made[2] != messages[2]
    assert made[6] is messages[6]


def test_cut_result_is_recognised_and_not_turned_into_a_line():
    messages = call(1, "bash", {"command": "cat"}, BIG * 40)
    made, _ = relieved(messages, 8_000)

    assert pruned(made) == made


def test_very_large_text_is_cut_quickly():
    messages = call(1, "bash", {}, "word and more\n" * 400_000)

    made, _ = relieved(messages, COUNTER.count_message(messages[1]) - 1_000)

    assert len(made[1]["content"]) < 20_000


@pytest.mark.parametrize("hint", ["", " context_recall shows all of it"])
def test_result_shortened_on_entry_keeps_its_last_lines_when_it_is_cut_again(hint):
    lines = "\n".join(f"line {n} of the log" for n in range(2_000))
    text = f"{lines}\nLAST LINE\n⟦90,000 characters left out, ref:0123456789ab⟧{hint}"

    cut = middle_out(text, 2_000, "ref:0123456789ab")

    assert cut.startswith("line 0 of")
    assert cut.rstrip().endswith("LAST LINE")
    assert cut.count("characters left out") == 1
    assert len(cut) < 2_200
