"""Anthropic Messages: what is untouched comes back, what is replaced is rebuilt from its blocks."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InputError
from perdure.formats import parse, render
from perdure.messages import PRIVATE_KEY, group
from perdure.transcript import Entry, View

MARK = {"cache_control": {"type": "ephemeral"}}
IMAGE = {
    "type": "image",
    "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="},
}

texts = st.text(max_size=20)
ids = st.sampled_from(["toolu_1", "toolu_2", "same"])
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
marks = st.sampled_from([{}, MARK])
text_blocks = st.builds(lambda text, mark: {"type": "text", "text": text, **mark}, texts, marks)
unknown_blocks = st.builds(
    lambda kind, value: {"type": kind, "payload": value},
    st.sampled_from(["server_tool_use", "web_search_tool_result", "from_the_future"]),
    json_values,
)
images = st.builds(lambda mark: {**IMAGE, **mark}, marks)
thinking = st.builds(
    lambda text, sig: {"type": "thinking", "thinking": text, "signature": sig}, texts, texts
) | st.builds(lambda data: {"type": "redacted_thinking", "data": data}, texts)
tool_uses = st.builds(
    lambda call_id, given, mark: {
        "type": "tool_use",
        "id": call_id,
        "name": "run",
        "input": given,
        **mark,
    },
    ids,
    st.dictionaries(texts, json_values, max_size=3),
    marks,
)
tool_results = st.builds(
    lambda call_id, content, error, mark: {
        "type": "tool_result",
        "tool_use_id": call_id,
        **content,
        **error,
        **mark,
    },
    ids,
    st.sampled_from([{}, {"content": ""}])
    | st.builds(
        lambda parts: {"content": parts},
        st.lists(text_blocks | images | unknown_blocks, max_size=3),
    ),
    st.sampled_from([{}, {"is_error": True}, {"is_error": False}]),
    marks,
)
extra_keys = st.sampled_from([{}, {"id": "msg_1"}, {"metadata": {"x": [1.0, None]}}])
items = st.builds(
    lambda role_content, extra: {**role_content, **extra},
    st.builds(
        lambda content: {"role": "assistant", "content": content},
        texts | st.lists(text_blocks | thinking | tool_uses | unknown_blocks, max_size=5),
    )
    | st.builds(
        lambda content: {"role": "user", "content": content},
        texts | st.lists(text_blocks | tool_results | images | unknown_blocks, max_size=5),
    ),
    extra_keys,
)
systems = st.sampled_from([None, "", "You help."]) | st.lists(text_blocks, max_size=2)


def user(*content: dict) -> dict:
    return {"role": "user", "content": list(content)}


def assistant(*content: dict) -> dict:
    return {"role": "assistant", "content": list(content)}


def text(value: str, **extra: object) -> dict:
    return {"type": "text", "text": value, **extra}


def use(call_id: str, **given: object) -> dict:
    return {"type": "tool_use", "id": call_id, "name": "run", "input": given}


def result(call_id: str, content: object = "done", **extra: object) -> dict:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content, **extra}


@given(st.lists(items, max_size=6), systems)
def test_untouched_messages_come_back_byte_for_byte(messages, system):
    body = {"model": "m", "messages": messages}
    if system is not None:
        body["system"] = system
    before = json.dumps(body)
    parsed = parse(body, format="anthropic")
    request = render(parsed.entries, "anthropic")
    assert all(new is old for new, old in zip(request.messages, messages, strict=True))
    assert json.dumps({**parsed.body, **request.body()}, sort_keys=True) == json.dumps(
        json.loads(before), sort_keys=True
    )
    if system:
        assert request.system is system


@given(st.lists(items, max_size=6), st.data())
def test_messages_that_survive_a_cut_keep_their_blocks(messages, data):
    entries = parse(messages, format="anthropic").entries
    dropped = data.draw(st.sets(st.integers(0, max(len(entries) - 1, 0))))
    kept = [entry for index, entry in enumerate(entries) if index not in dropped]
    written = json.dumps(render(kept, "anthropic").messages)
    for entry in kept:
        for block in entry.raw.blocks:
            assert json.dumps(block) in written


def test_a_turn_becomes_tool_messages_then_the_user_message():
    item = user(result("a", is_error=True), result("b", [text("x"), IMAGE]), text("go on"))
    messages = [entry.message for entry in parse([item]).entries]
    assert messages == [
        {"role": "tool", "tool_call_id": "a", "content": "done", "is_error": True},
        {
            "role": "tool",
            "tool_call_id": "b",
            "content": [
                text("x"),
                {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
            ],
        },
        {"role": "user", "content": "go on"},
    ]


def test_an_assistant_turn_becomes_one_message_with_json_arguments():
    item = assistant(
        {"type": "thinking", "thinking": "hmm", "signature": "s"}, text("Now"), use("a", n=10**30)
    )
    (entry,) = parse([item]).entries
    assert entry.message == {
        "role": "assistant",
        "content": "Now",
        "tool_calls": [
            {
                "id": "a",
                "type": "function",
                "function": {"name": "run", "arguments": '{"n": ' + str(10**30) + "}"},
            }
        ],
        "reasoning_content": "hmm",
    }
    assert entry.raw.item is item


@given(st.dictionaries(texts, json_values, max_size=4))
def test_tool_input_keeps_its_value_when_its_message_is_copied(given_input):
    (entry,) = parse([assistant(use("a") | {"input": given_input})]).entries
    copy = Entry.of(dict(entry.message))
    (item,) = render([copy], "anthropic").messages
    assert json.dumps(item["content"][0]["input"]) == json.dumps(given_input)


def test_a_replaced_result_leaves_its_neighbours_blocks_alone():
    second = result("b", "long", **MARK)
    messages = [
        user(text("hi")),
        assistant(use("a"), use("b")),
        user(result("a", "x" * 99), second),
    ]
    entries = parse(messages).entries
    entries[2] = Entry.of({**entries[2].message, "content": "short"})
    written = render(entries, "anthropic").messages
    assert written[:2] == messages[:2]
    assert written[1] is messages[1]
    assert written[2] == user(result("a", "short"), second)
    assert written[2]["content"][1] is second


def test_a_changed_copy_drops_its_thinking_as_a_whole():
    item = assistant({"type": "thinking", "thinking": "hmm", "signature": "s"}, text("Hello there"))
    (entry,) = parse([item]).entries
    (written,) = render([Entry.of({**entry.message, "content": "Hello"})], "anthropic").messages
    assert written == {"role": "assistant", "content": "Hello"}


def test_a_handoff_beside_a_kept_user_turn_merges_with_results_first():
    kept = user(result("a"), text("next", **MARK))
    entries = [
        *parse([user(text("hi")), assistant(use("a"))]).entries,
        Entry.of({"role": "user", "content": "summary"}),
        *parse([kept]).entries,
    ]
    written = render(entries, "anthropic").messages
    assert [item["role"] for item in written] == ["user", "assistant", "user"]
    assert written[2]["content"] == [result("a"), text("summary"), text("next", **MARK)]


def test_untouched_neighbours_of_one_role_stay_two_items():
    messages = [user(text("a")), user(text("b")), assistant(text("c"))]
    assert render(parse(messages, format="anthropic").entries, "anthropic").messages == messages


def test_a_system_message_in_the_middle_becomes_a_note_and_is_never_promoted():
    entries = [
        Entry.of({"role": "system", "content": "Be kind."}),
        Entry.of({"role": "user", "content": "hi"}),
        Entry.of({"role": "system", "content": "Mode: plan."}),
    ]
    request = render(entries, "anthropic")
    assert request.system == "Be kind."
    assert request.messages == [user(text("hi"), text("[System note]\nMode: plan."))]


def test_our_own_leading_system_message_is_not_promoted():
    entries = [
        Entry.of({"role": "system", "content": "Be kind."}),
        Entry.of({"role": "system", "content": "Summary.", PRIVATE_KEY: {"kind": "handoff"}}),
        Entry.of({"role": "user", "content": "hi"}),
    ]
    request = render(entries, "anthropic")
    assert request.system == "Be kind."
    assert request.messages[0]["content"][0]["text"].endswith("Summary.")


def test_a_system_message_among_anthropic_messages_stays_where_it_is():
    messages = [user(text("a")), {"role": "system", "content": "Mode: plan."}, user(text("b"))]
    request = render(parse(messages, format="anthropic").entries, "anthropic")
    assert request.messages == messages
    assert request.system is None


def test_a_changed_system_prompt_is_written_from_its_message():
    parsed = parse({"system": [text("a", **MARK), text("b")], "messages": []}, format="anthropic")
    changed = Entry.of({"role": "system", "content": [text("a"), text("c")]})
    assert render([changed, *parsed.entries[1:]], "anthropic").system == [text("a"), text("c")]


def test_private_keys_never_leave_but_tool_input_is_not_touched():
    item = {**assistant(use("a", _meta=1) | {"_note": 2}), "_mine": 3}
    (written,) = render(parse([item]).entries, "anthropic").messages
    assert written == assistant(use("a", _meta=1))
    assert item["_mine"] == 3
    body = {"system": [text("Be kind.", _seen=1)], "messages": []}
    assert render(parse(body).entries, "anthropic").system == [text("Be kind.")]


def test_raw_parts_survive_a_view_and_its_replacements():
    messages = [
        user(text("one")),
        assistant(use("a"), text("t")),
        user(result("a")),
        assistant(text("two")),
    ]
    view = View.of(parse(messages).entries)
    made = view.replace(0, 0, kind="handoff", messages=[{"role": "user", "content": "S"}])
    view = view.apply([made])
    written = render([view.entry(index) for index in range(len(view))], "anthropic").messages
    assert written[0] == {"role": "user", "content": "S"}
    assert all(new is old for new, old in zip(written[1:], messages[1:], strict=True))


def test_units_pair_by_position_when_ids_are_reused():
    messages = [assistant(use("x")), user(result("x")), assistant(use("x")), user(result("x"))]
    units = group([entry.message for entry in parse(messages).entries])
    assert [(unit.first, unit.last, unit.pending) for unit in units] == [(0, 1, 0), (2, 3, 0)]


def test_a_changed_call_with_a_reused_id_gets_a_new_one_together_with_its_result():
    messages = [assistant(use("x")), user(result("x", "1")), assistant(use("x")), user(result("x"))]
    entries = parse(messages).entries
    entries[2] = Entry.of(dict(entries[2].message))
    written = render(entries, "anthropic").messages
    assert written[:2] == messages[:2]
    assert written[2:] == [assistant(use("x_2")), user(result("x_2"))]


@pytest.mark.parametrize(
    "item", [{"role": "tool", "content": "x"}, {"role": "bot"}, {"content": ""}]
)
def test_a_role_that_anthropic_lacks_is_an_input_error(item):
    with pytest.raises(InputError) as caught:
        parse([{"role": "user", "content": "hi"}, item], format="anthropic")
    assert caught.value.index == 1


def test_an_assistant_turn_that_was_only_reasoning_does_not_become_an_empty_item():
    entry = Entry.of({"role": "assistant", "content": "", "reasoning_content": "hmm"})
    assert render([entry], "anthropic").messages == [{"role": "assistant", "content": "[no text]"}]


def test_a_shortened_result_without_an_id_is_paired_with_its_call():
    entries = parse([assistant(use("a")), user({"type": "tool_result", "content": "long"})]).entries
    entries[1] = Entry.of({"role": "tool", "content": "short"})
    written = render(entries, "anthropic").messages
    assert written == [assistant(use("a")), user(result("a", "short"))]
