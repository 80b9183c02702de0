"""What is said of a repeated or stale result is true, and nothing is called stale in doubt."""

from __future__ import annotations

import json

import pytest

from perdure.stock.kinds import KINDS
from perdure_compressor.prune.repeats import repeats

FIRST = "\n".join(f"line {i} of the file" for i in range(60))
SECOND = FIRST.replace("line", "row")


def call(number: int, name: str, arguments: dict, content: object, **more) -> list[dict]:
    made = {"name": name, "arguments": json.dumps(arguments)}
    return [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": made}],
        },
        {"role": "tool", "tool_call_id": f"c{number}", "content": content, **more},
    ]


def first_line(messages: list[dict], prunable=range(1_000)) -> str | None:
    """Return what stands for the first result, None when it is not touched."""
    edits = repeats(
        messages,
        prunable,
        kinds=KINDS,
        ref_of=lambda index: f"ref:{index:012x}",
        names_tools=False,
    )
    return next((edit.message["content"] for edit in edits if edit.index == 1), None)


READ = call(1, "read_file", {"path": "src/a.py"}, FIRST)


def test_other_content_is_never_called_the_same():
    line = first_line([*READ, *call(2, "read_file", {"path": "src/a.py"}, SECOND)])

    assert "read again by a later read_file [" in line
    assert "same" not in line


def test_same_content_names_the_tool_that_returned_it_later():
    messages = [
        *call(1, "bash", {"command": "cat a.py"}, FIRST),
        *call(2, "read_file", {"path": "a.py"}, FIRST),
    ]

    line = first_line(messages)

    assert line.startswith("bash cat a.py: ")
    assert "the same as what a later read_file a.py returned" in line


def test_spelling_of_a_path_makes_no_difference():
    assert first_line([*READ, *call(2, "read_file", {"path": "./src/../src/a.py"}, SECOND)])


@pytest.mark.parametrize(
    "later",
    [
        call(2, "edit_file", {"path": "src/a.py"}, "Error: old_string not found"),
        call(2, "write_file", {"path": "src/a.py"}, "ok", is_error=True),
        call(2, "write_file", {"path": "src/a.py"}, '{"success": false}'),
        call(2, "write_file", {"path": "src/a.py"}, "x")[:1],
        call(2, "edit_file", {"path": "src/b.py"}, "ok"),
        call(2, "str_replace_editor", {"command": "view", "path": "src/a.py"}, "short"),
        call(2, "read_file", {"path": "src/a.py"}, "File unchanged since the last read."),
        call(2, "read_file", {"path": "src/a.py", "offset": 40}, SECOND),
        call(2, "read_file", {"path": "src/a.py"}, "Error: permission denied"),
        call(2, "read_file", {"path": "src/a.py"}, "Error: too large. " + "Read a part. " * 40),
        call(2, "read_file", {"path": "src/a.py"}, SECOND, is_error=True),
        call(2, "read_file", {"path": "src/a.py", "page": 2}, SECOND),
        call(2, "mcp__github__get_file_contents", {"path": "src/a.py", "repo": "x"}, SECOND),
        call(2, "mcp__github__create_file", {"path": "src/a.py", "repo": "x"}, "ok"),
        call(2, "write_file", {"path": "src/a.py", "host": "web-2"}, "ok"),
    ],
    ids=["failed edit", "marked error", "json failure", "pending write", "other file", "short view",
         "unchanged note", "other range", "failed read", "long failed read", "marked failed read",
         "other page", "read of a repository", "write to a repository", "other host"],
)  # fmt: skip
def test_read_stays_when_nothing_later_surely_took_its_place(later):
    assert first_line([*READ, *later]) is None


def test_patch_makes_the_read_of_its_file_stale():
    patch = "*** Begin Patch\n*** Update File: src/a.py\n@@\n-a\n+b\n*** End Patch"

    line = first_line([*READ, *call(2, "apply_patch", {"input": patch}, "Done!")])

    assert "changed since by a later apply_patch [" in line


def test_read_after_the_write_is_not_stale():
    write = call(1, "write_file", {"path": "src/a.py"}, "ok")

    assert first_line([*write, *call(2, "read_file", {"path": "src/a.py"}, FIRST)]) is None


def test_success_of_an_edit_is_seen_though_the_text_shown_speaks_of_errors():
    shown = "The file src/errors.py has been updated. Here is the result:\n 1: raise ValueError('failed')"
    read = call(1, "Read", {"file_path": "src/errors.py"}, FIRST)

    line = first_line([*read, *call(2, "Edit", {"file_path": "src/errors.py"}, shown)])

    assert "changed since by a later Edit [" in line


def test_line_tells_which_of_many_look_ups_was_repeated():
    look_ups = [m for i in (1, 2) for m in call(i, "get_order", {"order_id": "A7"}, FIRST)]

    assert first_line(look_ups).startswith("get_order order_id=A7: ")


def test_identical_answers_of_the_user_stay():
    answers = [m for i in (1, 2) for m in call(i, "AskUserQuestion", {}, "The blue one. " * 30)]

    assert first_line(answers) is None


def test_result_outside_of_what_may_be_pruned_is_only_looked_at():
    assert (
        first_line([*READ, *call(2, "read_file", {"path": "src/a.py"}, FIRST)], range(2, 4)) is None
    )


def test_same_path_in_two_repositories_is_two_files():
    name = "mcp__github__get_file_contents"
    first = call(1, name, {"path": "a.py", "repo": "x"}, FIRST)

    assert first_line([*first, *call(2, name, {"path": "a.py", "repo": "y"}, SECOND)]) is None
    assert first_line([*first, *call(2, name, {"path": "a.py", "repo": "x"}, SECOND)])


def test_remark_beside_a_read_makes_no_difference():
    later = call(2, "read_file", {"filePath": "src/a.py", "explanation": "once more"}, SECOND)

    assert "read again" in first_line([*READ, *later])
