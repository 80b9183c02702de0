"""What a tool does is told from its name, and from its arguments where the name says little."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.kinds import KINDS, kind_of, path_of


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        *((n, "terminal") for n in ("bash", "Bash", "shell", "run_command", "terminal",
                                    "execute_bash", "exec_command", "local_shell_call",
                                    "run_shell", "run_in_terminal", "start_process", "process")),
        *((n, "read") for n in ("Read", "read_file", "readFile", "view_file", "open_file")),
        *((n, "edit") for n in ("Edit", "str_replace_editor", "apply_patch", "MultiEdit")),
        *((n, "write") for n in ("Write", "write_file", "create_file")),
        *((n, "search") for n in ("Grep", "search_files", "mcp__github__search_issues")),
        *((n, "list") for n in ("Glob", "list_directory", "ls")),
        *((n, "web") for n in ("WebFetch", "web_search", "browser_navigate", "fetch_url")),
        *((n, "todo") for n in ("TodoWrite", "update_plan", "TaskUpdate")),
        *((n, "question") for n in ("AskUserQuestion", "clarify", "ask_followup_question",
                                    "request_user_input", "get_user_input", "human_input", "ask",
                                    "mcp__desk__ask_user", "prompt_user", "ask_for_approval",
                                    "ExitPlanMode")),
        *((n, "code") for n in ("run_notebook_cell", "run_javascript", "python_repl")),
        *((n, "delegate") for n in ("Task", "delegate_task", "spawn_agent")),
        ("execute_code", "code"),
        ("mcp__jira__transition", "other"),
        ("mcp__github__get_issue", "other"),
        ("assign_task_to_user", "delegate"),
    ],
)  # fmt: skip
def test_kind_is_told_from_the_name(name, kind):
    assert kind_of(name, {}) == kind


@pytest.mark.parametrize(
    ("arguments", "kind"),
    [({"command": "ls"}, "terminal"), ({"url": "x"}, "web"), ({"file_path": "x"}, "read"),
     ({"filePath": "x"}, "read"), ({"CommandLine": "ls"}, "terminal"), ({"oldString": "x"}, "edit")],
)  # fmt: skip
def test_arguments_tell_where_the_name_does_not(arguments, kind):
    assert kind_of("do_it", arguments) == kind


def test_registry_is_extended_without_changing_it():
    mine = KINDS.extended({"terminal": ["my_*_box"]})

    assert mine.kind_of("my_dev_box", {}) == "terminal"
    assert KINDS.kind_of("my_dev_box", {}) == "other"


def test_plugin_may_name_a_kind_of_its_own():
    assert KINDS.extended({"deploy": ["ship_*"]}).kind_of("ship_it", {}) == "deploy"


@pytest.mark.parametrize(
    ("command", "kind"),
    [("view", "read"), ("create", "write"), ("str_replace", "edit"), (3, "edit")],
)
@pytest.mark.parametrize("name", ["str_replace_editor", "str_replace_based_edit_tool"])
def test_editor_with_one_name_says_what_it_does_in_its_command(name, command, kind):
    assert kind_of(name, {"command": command, "path": "a.py"}) == kind


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("run_query", "search"),
        ("list_commands", "list"),
        ("run_tests", "terminal"),
        ("functions.exec", "terminal"),
        ("open", "read"),
        ("open_pull_request", "other"),
        ("create", "write"),
        ("create_directory", "other"),
        ("HTTPRequest", "web"),
        ("mcp__github__get_file_contents", "read"),
        ("mcp__fs__write_file", "write"),
        ("", "other"),
    ],
)
def test_words_that_say_little_decide_last(name, kind):
    assert kind_of(name, {}) == kind


@pytest.mark.parametrize(
    ("arguments", "path"),
    [
        ({"file_path": "a.py"}, "a.py"),
        ({"path": 7, "filename": "b.py"}, "b.py"),
        ({"input": "*** Begin Patch\n*** Update File: src/x.py\n@@"}, "src/x.py"),
        ({"diff": "--- a/src/y.py\n+++ b/src/y.py\n@@"}, "src/y.py"),
        ({"filePath": "c.py"}, "c.py"),
        ({"AbsolutePath": "/d.py", "StartLine": 3}, "/d.py"),
        ({"relative_path": "e.py"}, "e.py"),
        ({"input": "no patch"}, ""),
        ({}, ""),
    ],
)
def test_path_is_found_in_arguments_and_in_patches(arguments, path):
    assert path_of(arguments) == path


@given(
    st.none() | st.integers() | st.text() | st.lists(st.text()),
    st.none() | st.text() | st.dictionaries(st.none() | st.integers() | st.text(), st.text()),
)
def test_malformed_names_and_arguments_never_raise(name, arguments):
    assert isinstance(kind_of(name, arguments), str)


def test_very_long_name_is_judged_quickly():
    assert kind_of("ask" * 1_000_000, {}) == "other"
