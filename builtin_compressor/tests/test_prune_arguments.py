"""Only long strings change in call arguments; everything around them stays as it was written."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure_compressor.prune.arguments import arguments, shortened

LONG = "y" * 900
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=700),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=8,
)  # fmt: skip


@pytest.mark.parametrize(
    "written",
    ["1e999", "1.10", "2E3", "-0.0", "123456789012345678901234567890", "0.1000000000000000055"],
)
def test_number_keeps_its_digits(written):
    cut = shortened(f'{{"n": {written}, "x": "{LONG}"}}')

    assert f'"n": {written}' in cut


def test_keys_order_and_spaces_stay():
    text = f'{{ "b":1,\n  "a" : "{LONG}", "b":2, "{LONG}": [ ] }}'

    cut = shortened(text)

    assert cut.startswith('{ "b":1,\n  "a" : "yyy')
    assert cut.endswith(f'", "b":2, "{LONG}": [ ] }}')


@pytest.mark.parametrize("constant", ["NaN", "Infinity", "-Infinity"])
def test_what_is_no_json_for_other_readers_is_left_alone(constant):
    assert shortened(f'{{"n": {constant}, "x": "{LONG}"}}') is None


def test_half_a_surrogate_pair_stays_an_escape_so_that_it_can_be_sent():
    cut = shortened('{"x": "\\ud83d' + LONG + '"}')

    cut.encode("utf-8")
    assert json.loads(cut)["x"].startswith("\ud83dyyy")


def test_quotation_marks_and_backslashes_do_not_break_the_json():
    value = {"x": '"\\' * 400, "y": 'a\\"b', "z": ["\\" * 301, '"' * 301]}

    cut = json.loads(shortened(json.dumps(value)))

    assert cut["y"] == value["y"]
    assert "⟦cut 660 chars⟧" in cut["x"]


def test_object_given_instead_of_text_stays_an_object():
    given_call = {"id": "a", "function": {"name": "f", "arguments": {"x": LONG, "n": 1}}}

    (edit,) = arguments([{"role": "assistant", "tool_calls": [given_call]}], range(1))

    made = edit.message["tool_calls"][0]["function"]["arguments"]
    assert made["n"] == 1
    assert len(made["x"]) < 200
    assert given_call["function"]["arguments"]["x"] == LONG


def _lengths(value: object) -> list[int]:
    if isinstance(value, str):
        return [len(value)]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [length for item in inner for length in _lengths(item)]


def _shape(value: object) -> object:
    if isinstance(value, dict):
        return {key: _shape(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_shape(item) for item in value]
    return value if not isinstance(value, str) or len(value) <= 200 else "long"


@given(JSON, st.booleans())
def test_cut_arguments_have_the_same_shape_and_no_long_strings(value, is_ascii):
    text = json.dumps(value, ensure_ascii=is_ascii)
    cut = shortened(text)

    if cut is not None:
        back = json.loads(cut)
        assert len(cut) < len(text)
        assert max(_lengths(back)) <= 200
        assert shortened(cut) is None
        marked = json.loads(cut, object_hook=None)
        assert _shape(marked).__class__ is _shape(value).__class__
        assert json.dumps(_with_marks_as_long(marked)) == json.dumps(_shape(value))


def _with_marks_as_long(value: object) -> object:
    if isinstance(value, dict):
        return {key: _with_marks_as_long(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_with_marks_as_long(item) for item in value]
    return "long" if isinstance(value, str) and "⟦cut " in value else value


@pytest.mark.parametrize("given_arguments", [{(1, 2): "x" * 900}, {"a": {(1, 2): "x" * 900}}])
def test_object_that_json_cannot_tell_is_left_alone(given_arguments):
    call = {"id": "a", "function": {"name": "f", "arguments": given_arguments}}

    assert not arguments([{"role": "assistant", "tool_calls": [call]}], range(1))
