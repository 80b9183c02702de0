"""OpenAI chat: messages are ours, so they pass as the objects they are."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InputError
from perdure.formats import parse, render

texts = st.text(max_size=20)
parts = st.builds(lambda text: {"type": "text", "text": text}, texts) | st.sampled_from(
    [
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}},
        {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}},
        {"type": "from_the_future", "x": [1.5, None]},
    ]
)
contents = st.none() | texts | st.lists(parts, max_size=3)
calls = st.builds(
    lambda call_id, arguments: {
        "id": call_id,
        "type": "function",
        "function": {"name": "run", "arguments": arguments},
    },
    st.sampled_from(["call_1", "call_2", "a|b"]),
    st.sampled_from(["{}", '{"a": 1}', "{broken", ""]),
)
messages = st.one_of(
    st.builds(
        lambda role, content, extra: {"role": role, "content": content, **extra},
        st.sampled_from(["system", "developer", "user", "assistant"]),
        contents,
        st.sampled_from([{}, {"name": "Ann"}, {"x_vendor": {"k": 1}}]),
    ),
    st.builds(
        lambda content, made: {"role": "assistant", "content": content, "tool_calls": made},
        contents,
        st.lists(calls, max_size=3),
    ),
    st.builds(
        lambda content, call_id: {"role": "tool", "tool_call_id": call_id, "content": content},
        contents,
        st.sampled_from(["call_1", "call_2", "nobody"]),
    ),
)


@given(st.lists(messages, max_size=8))
def test_untouched_messages_are_the_same_objects(given_messages):
    before = json.dumps(given_messages)
    parsed = parse(given_messages, format="openai")
    request = render(parsed.entries, "openai")
    assert all(new is old for new, old in zip(request.messages, given_messages, strict=True))
    assert all(e.message is old for e, old in zip(parsed.entries, given_messages, strict=True))
    assert json.dumps(request.messages) == before
    assert request.system is None


def test_private_keys_never_leave():
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": '{"_x": 1}'}}
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": "t", "_seen": 1}],
        "tool_calls": [{**call, "_cost": 3}],
        "_perdure": {},
    }
    (written,) = render(parse([message]).entries, "openai").messages
    assert written == {
        "role": "assistant",
        "content": [{"type": "text", "text": "t"}],
        "tool_calls": [call],
    }


def test_a_body_keeps_its_other_keys_and_its_tools():
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    body = {"model": "m", "messages": [{"role": "user", "content": "hi"}], "tools": tools}
    parsed = parse(body)
    assert (parsed.format, parsed.file_format, parsed.tools) == ("openai", "object", tools)
    assert {**parsed.body, **render(parsed.entries, "openai").body()} == body


def test_what_providers_accept_passes_unharmed():
    odd = [
        {"role": "tool", "tool_call_id": "orphan", "content": "x"},
        {"role": "user", "content": "\ud800 and \x00"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}, {"id": "a"}]},
    ]
    assert render(parse(odd).entries, "openai").messages == odd


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("text", "str"),
        ({"content": "x"}, "no role"),
        ({"role": "robot"}, "'robot'"),
        ({"role": ["user"]}, "role"),
        ({"role": "user", "content": 3}, "int"),
        ({"role": "assistant", "tool_calls": "x"}, "tool_calls"),
        ({"role": "user", "content": {1: {}, "b": {2, 3}, None: 0}}, "dict"),
        ({"role": "user", "content": "x", 1: 2}, "JSON"),
    ],
)
def test_a_bad_message_is_named_by_its_index(bad, words):
    with pytest.raises(InputError, match=words) as caught:
        parse([{"role": "user", "content": "hi"}, bad], format="openai", source="chat.json")
    assert (caught.value.index, caught.value.source) == (1, "chat.json")
    assert "message 1" in str(caught.value)


def test_content_nested_beyond_reason_is_an_input_error():
    content: list = []
    for _ in range(5_000):
        content = [{"type": "x", "content": content}]
    with pytest.raises(InputError, match="nested too deeply"):
        parse([{"role": "user", "content": content}])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ("text", "str"),
        (3, "int"),
        ({"choices": []}, "'choices'"),
        ({"messages": "hi"}, "'messages' is of type str"),
        ({"messages": [], "tools": {}}, "'tools'"),
    ],
)
def test_data_that_is_no_conversation_is_an_input_error(data, words):
    with pytest.raises(InputError, match=words):
        parse(data)


def test_an_unknown_format_name_lists_the_known_ones():
    with pytest.raises(InputError, match="openai, responses, anthropic, claude-code"):
        parse([], format="gemini")
    with pytest.raises(InputError, match="openai, responses, anthropic"):
        render([], "gemini")
