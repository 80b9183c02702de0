"""Claude Code sessions: events become the conversation that the model saw."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InputError
from perdure.formats import dump, parse, read, render


def line(role: str, content: object, **extra: object) -> dict:
    message = {"role": role, "content": content}
    if "id" in extra:
        message |= {"id": extra.pop("id"), "type": "message", "model": "m", "usage": {}}
    return {"type": role, "message": message, "parentUuid": None, "isSidechain": False, **extra}


def text(value: str) -> dict:
    return {"type": "text", "text": value}


def use(call_id: str) -> dict:
    return {"type": "tool_use", "id": call_id, "name": "Read", "input": {"path": call_id}}


def result(call_id: str) -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": "ok"}


THINKING = {"type": "thinking", "thinking": "hmm", "signature": "s"}
SESSION = [
    {"type": "summary", "summary": "Fix it", "leafUuid": "u9"},
    {"type": "file-history-snapshot", "messageId": "x", "snapshot": {}},
    line("user", "<local-command-caveat>Caveat</local-command-caveat>", uuid="u0", isMeta=True),
    line("user", "fix it", uuid="u1"),
    line("assistant", [THINKING], uuid="u2", id="msg_1"),
    line("assistant", [text("Reading")], uuid="u3", id="msg_1"),
    line("assistant", [use("a")], uuid="u4", id="msg_1"),
    line("user", [result("a")], uuid="u5", toolUseResult={"stdout": "ok"}),
    line("assistant", [use("b")], uuid="u6", id="msg_1"),
    line("user", [result("b")], uuid="u7"),
    line("user", "sub-agent prompt", uuid="s1", isSidechain=True),
    line("assistant", [text("sub-agent")], uuid="s2", id="msg_s", isSidechain=True),
    {"type": "system", "subtype": "turn_duration", "content": "x", "uuid": "u8"},
    line("assistant", [text("Done")], uuid="u9", id="msg_2"),
    line("user", [text("thanks"), text("bye")], uuid="u10"),
    line("user", "fix it", uuid="u1"),
]


def test_lines_of_one_answer_are_joined_and_other_lines_left_out():
    parsed = parse(SESSION)
    assert (parsed.format, parsed.file_format) == ("anthropic", "claude-code")
    assert render(parsed.entries, "anthropic").messages == [
        {
            "role": "user",
            "content": [
                text("<local-command-caveat>Caveat</local-command-caveat>"),
                text("fix it"),
            ],
        },
        {"role": "assistant", "content": [THINKING, text("Reading"), use("a"), use("b")]},
        {"role": "user", "content": [result("a"), result("b")]},
        {"role": "assistant", "content": [text("Done")]},
        {"role": "user", "content": [text("thanks"), text("bye")]},
    ]


def test_each_typed_line_is_a_message_of_its_own():
    messages = [entry.message for entry in parse(SESSION).entries]
    assert [message["role"] for message in messages] == (
        ["user", "user", "assistant", "tool", "tool", "assistant", "user"]
    )
    assert messages[1]["content"] == "fix it"
    assert len(messages[2]["tool_calls"]) == 2


def test_a_file_of_a_sub_agent_alone_is_its_conversation():
    lines = [item for item in SESSION if item.get("isSidechain")]
    messages = [entry.message["content"] for entry in parse(lines).entries]
    assert messages == ["sub-agent prompt", "sub-agent"]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.booleans(), st.text("ab", min_size=1)),
        min_size=1,
        max_size=5,
    )
)
def test_any_split_of_answers_over_lines_gives_the_same_conversation(turns):
    lines, expected = [], []
    for number, (calls, interleaved, words) in enumerate(turns):
        ids = [f"{number}_{position}" for position in range(calls)]
        answers = [
            line("assistant", [block], id=f"msg_{number}")
            for block in (text(words), *map(use, ids))
        ]
        results = [line("user", [result(call_id)]) for call_id in ids]
        lines.append(line("user", words))
        if interleaved:
            lines.append(answers[0])
            for answer, answered in zip(answers[1:], results, strict=True):
                lines += [answer, answered]
        else:
            lines += [*answers, *results]
        expected += ["user", "assistant", *["tool"] * calls]
    entries = parse(lines).entries
    assert [entry.message["role"] for entry in entries] == expected
    written = render(entries, "anthropic").messages
    assert all(a["role"] != b["role"] for a, b in pairwise(written))


def test_a_session_file_is_read_and_dumped_as_an_anthropic_object(tmp_path):
    path = tmp_path / "session.jsonl"
    path.write_text("".join(json.dumps(item) + "\n" for item in SESSION), encoding="utf-8")
    parsed = read(path)
    written = json.loads(dump(parsed, parsed.entries))
    assert written == {"messages": render(parsed.entries, "anthropic").messages}


def test_a_line_without_content_is_named(tmp_path):
    path = tmp_path / "session.jsonl"
    bad = [SESSION[0], SESSION[3], {"type": "assistant", "message": {"role": "assistant"}}]
    path.write_text("\n\n".join(json.dumps(item) for item in bad), encoding="utf-8")
    with pytest.raises(InputError, match="line 5") as caught:
        read(path)
    assert caught.value.line == 5


def test_a_session_without_conversation_is_an_input_error():
    with pytest.raises(InputError, match="no user or assistant line"):
        parse([SESSION[0]], format="claude-code")
