"""Every long result becomes a line, also one whose call is not there; a user's answers never do."""

from __future__ import annotations

import pytest

from perdure.stock.kinds import KINDS
from perdure_compressor.prune import prune

OUTPUT = "\n".join(f"line {i} of the output" for i in range(200))


def pruned(messages: list[dict]) -> list[dict]:
    edits = prune(
        messages,
        range(len(messages)),
        kinds=KINDS,
        ref_of=lambda index: f"ref:{index:012x}",
        names_tools=False,
    )
    made = {edit.index: edit.message for edit in edits}
    return [made.get(index, message) for index, message in enumerate(messages)]


@pytest.mark.parametrize(
    ("result", "start"),
    [
        ({"role": "tool", "tool_call_id": "gone"}, "tool: no arguments, 4,"),
        ({"role": "function", "name": "bash"}, "bash: ``, 200 lines"),
        ({"role": "tool", "name": 7}, "tool: no arguments, 4,"),
    ],
    ids=["no call", "old function result", "malformed name"],
)
def test_result_without_a_call_becomes_a_line(result, start):
    (made,) = pruned([{**result, "content": OUTPUT}])

    assert made["content"].startswith(start)
    assert made["content"].endswith("[ref:000000000000]")
    assert pruned([made]) == [made]
    assert {**made, "content": 0} == {**result, "content": 0}


def test_answer_without_a_call_stays():
    answer = {"role": "function", "name": "ask_user", "content": OUTPUT}

    assert pruned([answer]) == [answer]


@pytest.mark.parametrize("name", ["request_user_input", "AskUserQuestion", "mcp__desk__ask_user"])
def test_answer_of_the_user_stays_whole(name):
    asked = {"id": "a", "function": {"name": name, "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [asked]},
        {"role": "tool", "tool_call_id": "a", "content": OUTPUT},
    ]

    assert pruned(messages) == messages


def test_megabyte_of_spaces_becomes_a_line():
    (made,) = pruned([{"role": "tool", "tool_call_id": "a", "content": " " * 1_000_000}])

    assert "1,000,000 characters" in made["content"]


WORDS = "the user said:\nNot on the main branch, please."


def result_that_ends_with_words(output: str) -> list[dict]:
    made = {"id": "a", "function": {"name": "bash", "arguments": '{"command": "make"}'}}
    return [
        {"role": "assistant", "content": None, "tool_calls": [made]},
        {"role": "tool", "tool_call_id": "a", "content": f"{output}\nTo go on, {WORDS}"},
    ]


def test_words_of_the_user_stay_in_the_line_about_a_refused_call():
    messages = result_that_ends_with_words(OUTPUT)

    made = pruned(messages)

    assert made[1]["content"].startswith("bash: `make`, ")
    assert WORDS in made[1]["content"]
    assert pruned(made) == made
