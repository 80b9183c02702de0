"""What a tool result tells the ledger, whatever stands around it."""

from __future__ import annotations

import json

import pytest

from perdure.stock.ledger import facts_of
from perdure.stock.ledger.calls import errors_in, said_by

FAILED = "test_a.py:7: in test_a\nE   KeyError: 'port'\n1 failed, 4 passed in 0.05s"


def errors(text):
    return facts_of({"role": "tool", "tool_call_id": "c", "content": text}).errors


@pytest.mark.parametrize("body", ["output", "stdout", "content", "result"])
def test_error_lines_inside_an_envelope_are_whole_lines(body):
    text = json.dumps({body: FAILED, "exit_code": 1, "error": None})
    assert errors(text) == ("E   KeyError: 'port'", "1 failed, 4 passed in 0.05s")


def test_an_envelope_that_names_no_error_has_none():
    assert errors(json.dumps({"output": "9 passed in 0.09s", "exit_code": 0, "error": None})) == ()


def test_an_error_beside_the_text_is_an_error():
    text = json.dumps({"output": "building", "error": "Cannot find module 'left-pad'"})
    assert errors(text) == ("Cannot find module 'left-pad'",)


def test_a_note_behind_the_envelope_is_read_too():
    text = json.dumps({"output": FAILED, "exit_code": 1}) + "\n\n[Warning: terminal has failed]"
    assert errors(text)[0] == "E   KeyError: 'port'"
    assert errors(text)[-1] == "[Warning: terminal has failed]"


def test_what_only_measures_a_result_is_no_identifier():
    text = json.dumps({"content": "x", "total_lines": 136, "file_size": 4888, "port": 8771})
    found = facts_of({"role": "tool", "tool_call_id": "c", "content": text}).identifiers
    assert [kept for _, kept, _ in found] == ['"port": 8771']


def test_an_envelope_too_deep_to_be_read_is_taken_as_it_is():
    text = '{"output": "x", "deep": ' + "[" * 100_000 + "]" * 100_000 + "}"
    assert said_by(text) == text


@pytest.mark.parametrize("around", ["\\n", "\\\\n", '"', ". ", "; "])
def test_error_in_a_line_too_long_to_keep_starts_and_ends_where_a_sentence_does(around):
    filler = "ab cd " * 200
    text = f"{filler}{around}Cannot open the port{around}{filler}"
    assert errors_in(text) == ("Cannot open the port",)


def test_error_in_a_long_line_of_one_word_starts_with_itself():
    (line,) = errors_in("x" * 1_000 + "Error: gone " + "y" * 1_000)
    assert line.startswith("Error: gone")


def test_how_much_a_call_asks_for_is_no_identifier():
    arguments = json.dumps({"path": "a.py", "offset": 90, "limit": 40, "port": 8771})
    call = {"id": "c", "type": "function", "function": {"name": "read", "arguments": arguments}}
    found = facts_of({"role": "assistant", "content": None, "tool_calls": [call]}).identifiers
    assert [kept for _, kept, _ in found] == ['"port": 8771']


@pytest.mark.parametrize(
    "line",
    [
        "tests/test_a.py::test_what_failed_is_kept PASSED [ 95%]",
        "test_failed_login (tests.Login) ... ok",
        "    --- PASS: TestFailed (0.00s)",
        "0.26s call     tests/test_a.py::test_what_failed",
        "plugins: xdist-3.8.0, timeout-2.4.0",
        "  203|    raise ValueError('Invalid name')".strip(),
        '{"content": [], "isError": false}',
        "FAIL",
        "=========== ERRORS ===========",
    ],
)
def test_lines_that_only_name_errors_are_none(line):
    assert errors_in(line) == ()


@pytest.mark.parametrize(
    "line", ["Tests: 1 failed, 4 passed", "request timed out", "connect timeout", "E: Invalid name"]
)
def test_lines_that_tell_of_errors_are_kept(line):
    assert errors_in(line) == (line,)
