"""From one provider's format to another's: valid, and nothing vanishes without a word."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InputError
from perdure.formats import FORMATS, detect, parse, render

PNG = "data:image/png;base64,iVBORw0KGgo="
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}


def text(value: str, **extra: object) -> dict:
    return {"type": "text", "text": value, **extra}


def chat_call(call_id: str | None, arguments: str = "{}") -> dict:
    return {"id": call_id, "type": "function", "function": {"name": "f", "arguments": arguments}}


def unpaired(items: list[dict]) -> list[str]:
    """Return what breaks the rule that every Anthropic call is answered in the next turn."""
    problems, used = [], set()
    for index, item in enumerate(items):
        blocks = item["content"] if isinstance(item["content"], list) else []
        calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        following = items[index + 1]["content"] if index + 1 < len(items) else []
        results = [
            b["tool_use_id"] for b in following if isinstance(b, dict) and "tool_use_id" in b
        ]
        if calls and sorted(calls) != sorted(results):
            problems.append(f"{index}: {calls} answered by {results}")
        if used & set(calls) or len(set(calls)) < len(calls):
            problems.append(f"{index}: id used twice")
        used |= set(calls)
    return problems


call_ids = st.sampled_from(["same", "a|b", "x" * 90, "", None, "ü"])


@st.composite
def chats(draw: st.DrawFn) -> list[dict]:
    messages: list[dict] = [{"role": "system", "content": "Be kind."}] * draw(st.integers(0, 2))
    for _ in range(draw(st.integers(1, 4))):
        messages.append({"role": "user", "content": draw(st.sampled_from(["hi", "", [text("a")]]))})
        ids = draw(st.lists(call_ids, max_size=3))
        answer: dict = {"role": "assistant", "content": draw(st.sampled_from([None, "ok", ""]))}
        messages.append({**answer, "tool_calls": [chat_call(i) for i in ids]} if ids else answer)
        messages += [{"role": "tool", "tool_call_id": i, "content": "r"} for i in ids]
    return messages


@given(chats())
def test_calls_with_any_ids_are_paired_for_anthropic(messages):
    items = render(parse(messages, format="openai").entries, "anthropic").messages
    assert unpaired(items) == []
    roles = [item["role"] for item in items]
    assert all(left != right for left, right in pairwise(roles))
    assert all(item["content"] for item in items)


@given(chats())
def test_calls_with_any_ids_are_paired_for_responses(messages):
    items = render(parse(messages, format="openai").entries, "responses").messages
    calls = [item["call_id"] for item in items if item.get("type") == "function_call"]
    results = [item["call_id"] for item in items if item.get("type") == "function_call_output"]
    assert calls == results
    assert len(set(calls)) == len(calls)
    assert all(len(call_id) <= 40 for call_id in calls)


def test_ids_of_earlier_calls_do_not_depend_on_later_ones():
    turn = [
        {"role": "assistant", "content": None, "tool_calls": [chat_call("same")]},
        {"role": "tool", "tool_call_id": "same", "content": "r"},
    ]
    short = render(parse(turn * 2, format="openai").entries, "anthropic").messages
    longer = render(parse(turn * 5, format="openai").entries, "anthropic").messages
    assert longer[:4] == short


def test_an_anthropic_session_becomes_a_chat():
    body = {
        "system": [text("Be kind.", cache_control={"type": "ephemeral"})],
        "messages": [
            {"role": "user", "content": [text("look"), IMAGE]},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "hmm", "signature": "s"},
                    {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}},
                ],
            },
            {
                "role": "user",
                "content": [
                    {
                        "type": "tool_result",
                        "tool_use_id": "toolu_1",
                        "is_error": True,
                        "content": [text("seen"), IMAGE],
                    },
                    text("and?", cache_control={"type": "ephemeral"}),
                ],
            },
        ],
    }
    assert render(parse(body).entries, "openai").messages == [
        {"role": "system", "content": "Be kind."},
        {
            "role": "user",
            "content": [text("look"), {"type": "image_url", "image_url": {"url": PNG}}],
        },
        {
            "role": "assistant",
            "content": None,
            "reasoning_content": "hmm",
            "tool_calls": [chat_call("toolu_1", '{"a": 1}')],
        },
        {
            "role": "tool",
            "tool_call_id": "toolu_1",
            "content": "[error] seen\n[image: shown in the next user message]",
        },
        {
            "role": "user",
            "content": [
                text("[images of the tool results above]"),
                {"type": "image_url", "image_url": {"url": PNG}},
                text("and?"),
            ],
        },
    ]


def test_a_chat_becomes_an_anthropic_session():
    messages = [
        {"role": "developer", "content": "Be kind."},
        {
            "role": "user",
            "content": [text("look"), {"type": "image_url", "image_url": {"url": PNG}}],
        },
        {
            "role": "assistant",
            "content": "ok",
            "reasoning_content": "hmm",
            "tool_calls": [chat_call("call_1", '{"a": 1.50}')],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "seen"},
        {"role": "user", "content": "and?"},
    ]
    request = render(parse(messages).entries, "anthropic")
    assert request.system == "Be kind."
    assert request.messages == [
        {"role": "user", "content": [text("look"), IMAGE]},
        {
            "role": "assistant",
            "content": [
                text("ok"),
                {"type": "tool_use", "id": "call_1", "name": "f", "input": {"a": 1.5}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": "seen"},
                text("and?"),
            ],
        },
    ]


@pytest.mark.parametrize("arguments", ["{broken", "[1]", '"x"', "null"])
def test_arguments_that_are_no_object_are_kept_as_text(arguments):
    message = {"role": "assistant", "content": None, "tool_calls": [chat_call("a", arguments)]}
    (item,) = render(parse([message]).entries, "anthropic").messages
    assert item["content"][0]["input"] == {"raw_arguments": arguments}


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (
            {"type": "image_url", "image_url": {"url": "https://x/y.png", "detail": "low"}},
            {"type": "image", "source": {"type": "url", "url": "https://x/y.png"}},
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,AA=="}},
            {
                "type": "document",
                "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="},
                "title": "a.pdf",
            },
        ),
        ({"type": "input_audio", "input_audio": {"data": "AA=="}}, text("[input_audio: not part of this format]")),
        ({"type": "from_the_future", "text": "words"}, text("[from_the_future] words")),
        ("bare text", text("bare text")),
        ({"type": ["odd"]}, text("[part without a type: not part of this format]")),
    ],
)  # fmt: skip
def test_parts_become_blocks_or_words(part, block):
    messages = [{"role": "user", "content": [text("see"), part]}]
    (item,) = render(parse(messages, format="openai").entries, "anthropic").messages
    assert item["content"] == [text("see"), block]


def test_a_document_becomes_a_file_for_chat():
    document = {
        "type": "document",
        "source": {"type": "base64", "media_type": "application/pdf", "data": "AA=="},
    }
    (message,) = render(parse([{"role": "user", "content": [document]}]).entries, "openai").messages
    assert message["content"][0]["file"]["file_data"] == "data:application/pdf;base64,AA=="


def test_old_function_calls_become_words_for_anthropic():
    messages = [
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "42"},
    ]
    items = render(parse(messages).entries, "anthropic").messages
    assert items == [
        {"role": "assistant", "content": [text("[Call of f] {}")]},
        {"role": "user", "content": "[Result of f]\n42"},
    ]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ([{"role": "user", "content": "hi"}], "openai"),
        ([], "openai"),
        ({"messages": [{"role": "user", "content": "hi"}], "system": "s"}, "anthropic"),
        ({"messages": [], "tools": [{"name": "f", "input_schema": {}}]}, "anthropic"),
        ({"messages": [{"role": "system", "content": "s"}]}, "openai"),
        ({"input": "hi"}, "responses"),
        ([{"role": "user", "content": [{"type": "input_text", "text": "a"}]}], "responses"),
        ([{"role": "user", "content": "a"}, {"type": "reasoning", "summary": []}], "responses"),
        ([{"role": "user", "content": [IMAGE]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "thinking", "thinking": ""}]}], "anthropic"),
        ([{"type": "message", "role": "assistant", "content": [text("a")]}, {"role": "user", "content": [IMAGE]}], "anthropic"),
        ([{"role": "assistant", "content": [{"type": "thinking"}]}, {"role": "tool"}], "openai"),
        ({"messages": [{"role": "tool"}], "system": "s"}, "openai"),
        (3, "openai"),
        ([None, {"type": ["x"]}, {"role": {}, "content": [{"type": {}}]}], "openai"),
    ],
)  # fmt: skip
def test_the_format_is_detected(data, expected):
    assert detect(data) == expected


junk = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["", "x", "\ud800", "\x00"]),
    lambda inner: st.lists(inner, max_size=3)
    | st.dictionaries(
        st.sampled_from(["type", "text", "content", "id", "source", "url", "image_url", "function", "input", "_x"]),
        inner,
        max_size=4,
    ),
    max_leaves=8,
)  # fmt: skip
kinds = st.sampled_from(
    [
        "text",
        "image",
        "image_url",
        "input_image",
        "tool_use",
        "tool_result",
        "thinking",
        "document",
        "file",
        "refusal",
    ]
)
odd_parts = junk | st.builds(lambda kind, part: {**part, "type": kind}, kinds, st.dictionaries(
    st.sampled_from(["text", "source", "image_url", "input", "id", "tool_use_id", "content", "file", "refusal", "is_error"]), junk, max_size=4))  # fmt: skip
odd_messages = st.builds(
    lambda role, content, extra: {**extra, "role": role, "content": content},
    st.sampled_from(["user", "assistant", "system", "tool", "function"]),
    junk | st.lists(odd_parts, max_size=3),
    st.dictionaries(
        st.sampled_from(["tool_calls", "tool_call_id", "function_call", "name", "is_error", "phase"]),
        junk | st.lists(junk, max_size=2),
        max_size=3,
    ),
) | st.builds(
    lambda kind, item: {**item, "type": kind},
    st.sampled_from(["function_call", "function_call_output", "custom_tool_call", "reasoning", "shell_call_output", "message"]),
    st.dictionaries(st.sampled_from(["call_id", "id", "output", "arguments", "summary", "content", "role", "name"]), junk, max_size=4),
)  # fmt: skip


@given(st.lists(odd_messages, max_size=4), st.sampled_from([None, *FORMATS, "claude-code"]))
def test_malformed_messages_are_refused_or_pass_but_never_crash(messages, source_format):
    try:
        parsed = parse(messages, format=source_format)
    except InputError:
        return
    assert render(parsed.entries, parsed.format).messages is not None
    for target in FORMATS:
        json.dumps(render(parsed.entries, target).messages)
