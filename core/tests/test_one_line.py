"""One line about a call and its result names the tool, what was asked, the outcome and the size."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.kinds import KINDS
from perdure.stock.one_line import MAX_LINE_CHARS, has_failed, one_liner, subject_of, user_words

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
NAMES = st.text() | st.sampled_from(
    ["bash", "read_file", "write_file", "edit", "grep", "ls", "web_fetch", "task", "python",
     "TodoWrite", "memory", "AskUserQuestion", "screenshot", "x"]
)  # fmt: skip
KEYS = st.text() | st.sampled_from(
    ["command", "path", "content", "offset", "pattern", "query", "url", "code", "goal", "action"]
)


def call(name: str, /, **arguments) -> dict:
    return {
        "id": "1",
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def result(text: object) -> dict:
    return {"role": "tool", "tool_call_id": "1", "content": text}


@pytest.mark.parametrize(
    ("made", "text", "parts"),
    [
        (call("bash", command="pytest -q"), "a\nb\nFAILED test_x - Error: no\nexit code 1",
         ["`pytest -q`", "exit 1", "4 lines", "FAILED test_x"]),
        (call("bash", command="ls"), "a\nb", ["`ls`", "2 lines"]),
        (call("read_file", path="src/a.py", offset=40), "x" * 900, ["src/a.py", "from 40", "900"]),
        (call("read_files", paths=["a.py", "b.py"]), "x" * 900, ["a.py", "b.py", "900"]),
        (call("write_file", path="a.md", content="1\n2\n3", mode="append"), "ok",
         ["a.md", "3 lines", "append"]),
        (call("edit_file", path="a.md", new_string="1\n2"), "Error: old_string not found",
         ["a.md", "2 lines", "failed: Error: old_string not found"]),
        (call("grep", pattern="TODO", path="src"), "1\n2\n3", ["'TODO'", "src", "3 lines"]),
        (call("grep", pattern="TODO"), "Found 12 files\na", ["'TODO'", "12 found"]),
        (call("grep", pattern="TODO"), "No matches found", ["'TODO'", "nothing found"]),
        (call("ls", path="src"), "a\nb\n", ["src", "2 entries"]),
        (call("web_fetch", url="https://x.org"), "Title\n" * 30, ["https://x.org", "'Title'"]),
        (call("delegate_task", goal="find it"), "looked\nfound in b.py", ["find it", "found in"]),
        (call("execute_code", code="\nx = 1\nprint(1/0)"), "Traceback\nZeroDivisionError: x",
         ["`x = 1`", "2 lines of output", "ZeroDivisionError"]),
        (call("TodoWrite", action="add", content="tests"), "ok", ["add", "tests"]),
        (call("context_recall", ref="ref:3f9ac2d41b07"), "x" * 70, ["ref:3f9ac2d41b07", "70"]),
        (call("frobnicate", a=1, b="two", c=3), "x" * 70, ["a=1", "b=two", "70 characters"]),
    ],
)  # fmt: skip
def test_line_names_tool_arguments_outcome_and_size(made, text, parts):
    line = one_liner(made, result(text))

    for part in (made["function"]["name"], *parts):
        assert part in line
    assert len(line) <= MAX_LINE_CHARS
    assert "\n" not in line


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("done\nexit code: 0", "exit 0"),
        ("Exit code 2\nno such file", "exit 2"),
        ("out\n[exit 3]", "exit 3"),
        ("The command exited with code -9.", "exit -9"),
        ("<returncode>4</returncode>", "exit 4"),
        ("exit code 1\nretried\nexit code 0", "exit 0"),
        (json.dumps({"output": "a\nb", "exit_code": 5, "error": None}), "exit 5, 2 lines"),
    ],
)
def test_exit_code_is_read_in_the_words_of_many_tools(text, code):
    assert f", {code}" in one_liner(call("bash", command="x"), result(text))


@pytest.mark.parametrize("text", ["trap 'exit 1' INT\n", "v2.0-rc.1", "see `return 5`", ""])
def test_text_that_only_looks_like_an_exit_code_is_none(text):
    assert ", exit" not in one_liner(call("bash", command="x"), result(text))


@pytest.mark.parametrize(
    "text", ["90 passed, 0 failed", "0 errors, 0 warnings", "no errors found", '{"error": null}']
)
def test_count_of_zero_errors_is_no_error(text):
    assert "error:" not in one_liner(call("bash", command="x"), result(text))
    assert not has_failed(text)


@pytest.mark.parametrize(
    "text", ["Error: no", "Permission denied", '{"success": false}', '{"error": "x"}', "失败"]
)
def test_failed_result_is_told(text):
    assert has_failed(text)


@pytest.mark.parametrize(
    "text",
    [
        "The file src/errors.py has been updated.\n 12: error: str",
        "Successfully applied the patch\nraise ValueError",
        "wrote /var/log/failed/x.txt",
        "ok",
        "",
    ],
)
def test_text_that_was_edited_is_no_report_of_a_failure(text):
    made = call("edit_file", path="src/errors.py", new_string="x")

    assert not has_failed(text)
    assert "failed:" not in one_liner(made, result(text))


@pytest.mark.parametrize(
    "line",
    [
        "-rw-r--r-- 1 root root 4492 Apr 30 08:32 error.h",
        '- \treturn "", fmt.Errorf("failed to get log: %w", err)',
        "+ if errors.Is(err, ErrNotFound) {",
        "    t.Fatal(err)",
        "src/errors.py | 12 ++--",
        "const error = await load();",
    ],
)
def test_listing_diff_or_code_that_names_errors_is_no_error(line):
    assert "last error" not in one_liner(call("bash", command="x"), result(f"a\n{line}\nb"))


@pytest.mark.parametrize(
    "line",
    [
        "src/a.ts(99,34): error TS2307: Cannot find module",
        "[lint] ERROR task failed",
        "ValueError: no",
        "bash: foo: command not found",
        "fatal: not a git repository",
        "npm ERR! code 1",
        "FAILED tests/test_a.py::test_b",
        "错误：没有文件",
    ],
)
def test_report_of_an_error_is_shown_without_an_exit_code(line):
    assert f"last error: {line}" in one_liner(call("bash", command="x"), result(f"a\n{line}\nb"))


def test_command_that_failed_without_words_of_failure_shows_its_last_line():
    text = "Exit code 1\n# pkg\n./a.go:12:2: undefined: x\n\n"

    assert "exit 1" in one_liner(call("Bash", command="go build"), result(text))
    assert "last error: ./a.go:12:2: undefined: x" in one_liner(call("Bash"), result(text))


def test_long_path_keeps_its_end_and_a_long_single_line_tells_its_characters():
    path = "/srv/" + "deep/" * 60 + "name.py"

    assert "deep/name.py, 9 characters" in one_liner(call("read", path=path), result("x" * 9))
    assert subject_of({"path": path}).endswith("/name.py")
    assert "5,000 characters" in one_liner(call("bash", command="x"), result("y" * 5_000))


def test_search_by_arguments_of_its_own_shows_them_and_counts_rows():
    made = call("search_flights", origin="JFK", destination="SFO")

    line = one_liner(made, result(json.dumps([{"n": 1}, {"n": 2}])))

    assert line == "search_flights: origin=JFK, destination=SFO, 2 found"


def test_list_shows_pattern_and_place():
    line = one_liner(call("Glob", pattern="**/*.go", path="src"), result("a\nb"))

    assert line == "Glob: **/*.go in src, 2 entries"


def test_matches_are_counted_in_json():
    assert "7 found" in one_liner(call("grep", pattern="x"), result('{"total_count": 7}'))
    assert "2 found" in one_liner(call("grep", pattern="x"), result('{"matches": [1, 2]}'))


def test_answer_of_the_user_is_kept_whole():
    answer = "Use the blue one, " * 40

    assert answer.strip() in one_liner(call("ask_user_question", question="?"), result(answer))


def test_kind_of_a_plugin_is_described_like_an_unknown_tool():
    kinds = KINDS.extended({"deploy": ["bash"]})

    assert "command=ls" in one_liner(call("bash", command="ls"), result("x"), kinds)


def test_arguments_are_found_however_their_names_are_spelled():
    read = one_liner(call("view_file", AbsolutePath="/src/a.py", StartLine=40), result("x" * 900))
    ran = one_liner(call("run_command", CommandLine="make"), result("ok"))

    assert read == "view_file: /src/a.py from 40, 900 characters"
    assert ran == "run_command: `make`, 1 line"


def test_subject_is_the_path_or_what_was_asked():
    assert subject_of({"path": "a.py", "query": "x"}) == "a.py"
    assert subject_of({"query": "what is it"}) == "what is it"
    assert len(subject_of({"command": "x " * 5_000})) <= 70
    assert subject_of({}) == ""


def test_result_of_thirty_megabytes_is_described_quickly():
    text = "some words of error\n" * 1_500_000

    assert "1,500,000 lines" in one_liner(call("bash", command="y" * 1_000_000), result(text))


@given(NAMES, st.dictionaries(KEYS, JSON), JSON.map(json.dumps) | st.text() | JSON)
def test_malformed_calls_and_results_never_raise(name, arguments, content):
    for made in (
        call(name, **arguments),
        {"function": {"name": name, "arguments": "{"}},
        {"function": {"name": name, "arguments": arguments}},
        {"function": 3, "name": 4},
        None,
        7,
    ):
        for given_result in (result(content), None, [content]):
            line = one_liner(made, given_result)
            assert isinstance(line, str)
            assert "answer:" in line or len(line) <= MAX_LINE_CHARS


def test_arguments_that_are_no_json_at_all_never_raise():
    made = {"function": {"name": "bash", "arguments": {"command": b"raw", "x": {1, 2}}}}

    assert one_liner(made, result("x")).startswith("bash: ")


@pytest.mark.parametrize("arguments", [{(1, 2): 3}, {"a": {(1, 2): 3}}])
def test_arguments_that_json_cannot_tell_never_raise(arguments):
    made = {"function": {"name": "bash", "arguments": arguments}}

    assert one_liner(made, result("x")).startswith("bash: ")


def test_content_nested_without_end_never_raises():
    content: list = []
    for _ in range(20_000):
        content = [{"content": content}]

    assert one_liner(call("bash", command="x"), result(content)).startswith("bash: ")


def test_outcome_of_delegated_work_is_its_last_line_with_words():
    text = "Looked around.\nThe bug is in b.py.\n<Image>\n```\n}\n"

    assert "outcome: The bug is in b.py.," in one_liner(call("Task", prompt="find"), result(text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Refused. To tell you how to proceed, the user said:\nnot on main", "the user said:\nnot on main"),
        ("Done.\nThe user provided the following feedback:\n<feedback>\nno\n</feedback>",
         "The user provided the following feedback:\n<feedback>\nno\n</feedback>"),
        ("log\n" * 1_000_000 + "<user_message>stop</user_message>", "<user_message>stop</user_message>"),
        ("the user said: go\n" + "log\n" * 10_000, ""),
        ("the user said nothing", ""),
        ("", ""),
    ],
)  # fmt: skip
def test_words_of_a_user_at_the_end_of_a_result_are_found(text, words):
    assert user_words(text) == words
