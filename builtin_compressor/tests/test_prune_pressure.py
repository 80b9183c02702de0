"""What is cut under pressure says how much is gone, and a user's words are never cut."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.stock.kinds import KINDS
from perdure.tokens import counter_for
from perdure_compressor.prune import relieve
from perdure_compressor.prune.pressure import middle_out

COUNTER = counter_for("gpt-4o")
REF = "ref:3f9ac2d41b07"
LINES = "\n".join(f"line {i} of the output" for i in range(4_000))
MARK = re.compile(r"\n⟦([\d,]+) characters left out, ref:3f9ac2d41b07⟧\n")


def relieved(messages: list[dict], excess: int, **more) -> list[dict]:
    edits = relieve(
        messages,
        range(len(messages)),
        excess_tokens=excess,
        counter=COUNTER,
        ref_of=lambda _: REF,
        **more,
    )
    made = list(messages)
    for edit in edits:
        made[edit.index] = edit.message
    return made


def tool(content: object) -> dict:
    return {"role": "tool", "tool_call_id": "a", "content": content}


def test_mark_counts_what_is_missing():
    (made,) = relieved([tool(LINES)], 10_000)

    before, count, after = MARK.split(made["content"])
    assert LINES.startswith(before)
    assert LINES.endswith(after)
    assert int(count.replace(",", "")) == len(LINES) - len(before) - len(after)


def test_text_cut_twice_has_one_mark_that_counts_both_cuts():
    once = relieved([tool(LINES)], 10_000)
    (twice,) = relieved(once, 5_000)

    before, count, after = MARK.split(twice["content"])
    assert len(twice["content"]) < len(once[0]["content"])
    assert int(count.replace(",", "")) == len(LINES) - len(before) - len(after)


def test_text_that_ends_with_a_mark_is_cut_before_it_and_the_mark_counts_on():
    shortened = f"{LINES}\n⟦1,000 characters left out, {REF}⟧"

    (made,) = relieved([tool(shortened)], 10_000)

    before, count, after = MARK.split(f"{made['content']}\n")
    assert LINES.endswith(after.strip("\n"))
    missing = len(LINES) - len(before.strip("\n")) - len(after.strip("\n"))
    assert abs(int(count.replace(",", "")) - 1_000 - missing) <= 2  # line breaks at the mark


@pytest.mark.parametrize("name", ["AskUserQuestion", "clarify"])
def test_answer_of_the_user_to_a_question_tool_is_never_cut(name):
    asked = {"id": "a", "function": {"name": name, "arguments": "{}"}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [asked]}, tool(LINES)]

    assert relieved(messages, 10**9) == messages


def test_question_tool_named_in_the_options_counts_as_one():
    asked = {"id": "a", "function": {"name": "my_form", "arguments": "{}"}}
    messages = [{"role": "assistant", "content": None, "tool_calls": [asked]}, tool(LINES)]
    kinds = KINDS.extended({"question": ["my_form"]})

    assert relieved(messages, 10**9) != messages
    assert relieved(messages, 10**9, kinds=kinds) == messages


def test_parts_that_are_not_text_stay_beside_a_cut_text():
    picture = {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}

    (made,) = relieved([tool([{"type": "text", "text": LINES}, picture])], 20_000)

    assert made["content"][1] == picture
    assert MARK.search(made["content"][0]["text"])


def test_text_is_cut_in_its_place_behind_what_comes_first():
    thought = {"type": "thinking", "thinking": "hm", "signature": "s"}
    told = {"type": "text", "text": LINES}

    (made,) = relieved([{"role": "assistant", "content": [thought, told, told]}], 20_000)

    assert made["content"][0] == thought
    assert len(made["content"]) == 2
    assert MARK.search(made["content"][1]["text"])


def test_nested_parts_are_left_alone():
    messages = [tool([{"type": "tool_result", "content": [{"type": "text", "text": LINES}]}])]

    assert relieved(messages, 10**9) == messages


def test_long_words_of_the_assistant_are_cut_last():
    messages = [{"role": "assistant", "content": LINES}, tool(LINES)]

    assert relieved(messages, 5_000)[0] is messages[0]
    assert relieved(messages, 10**9)[0] is not messages[0]


def test_no_excess_changes_nothing():
    assert relieve([tool(LINES)], [0], excess_tokens=0, counter=COUNTER, ref_of=lambda _: REF) == []


@given(st.text(min_size=800), st.integers(50, 500), st.integers(20, 40))
def test_cut_text_is_head_mark_and_tail_and_can_be_cut_again(text, kept, less):
    once = middle_out(text, kept, REF)
    twice = middle_out(once, less, REF)

    for made in (once, twice):
        before, count, after = MARK.split(made)
        assert text.startswith(before)
        assert text.endswith(after)
        assert int(count.replace(",", "")) == len(text) - len(before) - len(after)


@settings(max_examples=40, deadline=None)
@given(
    st.lists(
        st.builds(
            lambda role, content: {"role": role, "content": content},
            st.sampled_from(["tool", "assistant", "user", "system"]),
            st.none()
            | st.sampled_from([LINES, "字" * 4_000, "x" * 9_000, "\n" * 5_000, "\ud800" * 3_000])
            | st.lists(st.none() | st.text() | st.dictionaries(st.text(), st.text()), max_size=2)
            | st.integers(),
        ),
        max_size=4,
    )
)
def test_all_that_can_be_cut_is_cut_once_and_users_are_spared(messages):
    once = relieved(messages, 10**9)

    assert relieved(once, 10**9) == once
    for before, after in zip(messages, once, strict=True):
        if before["role"] in ("user", "system"):
            assert after is before
        assert COUNTER.count_message(after) <= COUNTER.count_message(before)


@pytest.mark.parametrize("repeats", [1, 200])
def test_words_of_the_user_at_the_end_of_a_result_are_never_cut(repeats):
    words = "The user said:\n" + "Not on the main branch, please.\n" * 100
    messages = [tool(f"{LINES * repeats}\n{words}")]

    once = relieved(messages, 10**9)

    assert once[0]["content"].endswith(f"\n{words}")
    assert len(once[0]["content"]) < 5_000
    assert relieved(once, 10**9)[0]["content"].endswith(f"\n{words}")
