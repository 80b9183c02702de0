"""What a tool does is told from its name and arguments, and one line says what came of a call."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.kinds import KINDS, MAX_LINE_CHARS, kind_of, one_liner


def call(name: str, **arguments) -> dict:
    return {
        "id": "1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def result(text: str) -> dict:
    return {"role": "tool", "tool_call_id": "1", "content": text}


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((n, "terminal") for n in ("bash", "Bash", "shell", "run_command", "terminal",
                                    "execute_bash", "exec_command", "local_shell_call")),
        *((n, "read") for n in ("Read", "read_file", "readFile", "view_file", "open_file")),
        *((n, "edit") for n in ("Edit", "str_replace_editor", "apply_patch", "MultiEdit")),
        *((n, "write") for n in ("Write", "write_file", "create_file")),
        *((n, "search") for n in ("Grep", "search_files", "mcp__github__search_issues")),
        *((n, "list") for n in ("Glob", "list_directory", "ls")),
        *((n, "web") for n in ("WebFetch", "web_search", "browser_navigate", "fetch_url")),
        *((n, "todo") for n in ("TodoWrite", "update_plan", "TaskUpdate")),
        *((n, "question") for n in ("AskUserQuestion", "clarify", "ask_followup_question")),
        *((n, "delegate") for n in ("Task", "delegate_task", "spawn_agent")),
        ("execute_code", "code"),
        ("mcp__jira__transition", "other"),
    ],
)  # fmt: skip
def test_kind_is_told_from_the_name(name, kind):
    assert kind_of(name, {}) == kind


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [({"command": "ls"}, "terminal"), ({"url": "x"}, "web"), ({"file_path": "x"}, "read")],
)
def test_arguments_tell_where_the_name_does_not(arguments, kind):
    assert kind_of("do_it", arguments) == kind


def test_registry_is_extended_without_changing_it():
    mine = KINDS.extended({"terminal": ["my_*_box"]})

    assert mine.kind_of("my_dev_box", {}) == "terminal"
    assert KINDS.kind_of("my_dev_box", {}) == "other"


@pytest.mark.parametrize(
    ("made", "text", "parts"),
    [
        (call("bash", command="pytest -q"), "a\nb\nFAILED test_x - Error: no\nexit code 1",
         ["`pytest -q`", "exit 1", "4 lines", "FAILED test_x"]),
        (call("bash", command="ls"), "a\nb", ["`ls`", "2 lines"]),
        (call("read_file", path="src/a.py", offset=40), "x" * 900, ["src/a.py", "from 40", "900"]),
        (call("write_file", path="a.md", content="1\n2\n3"), "ok", ["a.md", "3 lines"]),
        (call("grep", pattern="TODO", path="src"), "1\n2\n3", ["'TODO'", "src", "3 lines"]),
        (call("web_fetch", url="https://x.org"), "Title\n" * 30, ["https://x.org", "'Title'"]),
        (call("delegate_task", goal="find it"), "looked\nfound in b.py", ["find it", "found in"]),
        (call("execute_code", code="1/0"), "Traceback\nZeroDivisionError: x", ["ZeroDivision"]),
        (call("TodoWrite", action="add", content="tests"), "ok", ["add", "tests"]),
        (call("frobnicate", a=1, b="two", c=3), "x" * 70, ["a=1", "b=two", "70 characters"]),
    ],
)  # fmt: skip
def test_line_names_tool_arguments_outcome_and_size(made, text, parts):
    line = one_liner(made, result(text))

    for part in (made["function"]["name"], *parts):
        assert part in line
    assert len(line) <= MAX_LINE_CHARS
    assert "\n" not in line


def test_answer_of_the_user_is_kept_whole():
    answer = "Use the blue one, " * 40

    assert answer.strip() in one_liner(call("ask_user_question", question="?"), result(answer))


@given(
    st.dictionaries(st.text(), st.none() | st.integers() | st.text() | st.lists(st.text())),
    st.none() | st.text() | st.lists(st.none() | st.dictionaries(st.text(), st.text())),
    st.text(),
)
def test_malformed_calls_and_results_never_raise(arguments, content, name):
    for made in (None, {}, {"function": 3}, {"function": {"name": name, "arguments": "{"}}, call(
        name)):  # fmt: skip
        assert isinstance(one_liner(made, {"role": "tool", "content": content}), str)
    one_liner({"function": {"name": name, "arguments": json.dumps(arguments)}}, None)
