"""OpenAI Responses: the items of a turn stay together and come back as they were."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InputError
from perdure.formats import parse, render
from perdure.messages import group
from perdure.transcript import Entry

texts = st.text(max_size=20)
call_ids = st.sampled_from(["call_1", "call_2"])
REASONING = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "hmm"}],
    "encrypted_content": "gAAAA",
}
ANSWER = {
    "type": "message",
    "id": "msg_1",
    "role": "assistant",
    "status": "completed",
    "phase": "commentary",
    "content": [{"type": "output_text", "text": "Looking", "annotations": []}],
}
items = st.one_of(
    st.builds(lambda role, text: {"role": role, "content": text}, st.sampled_from(["user", "developer", "assistant"]), texts),
    st.builds(lambda text: {"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}, texts),
    st.builds(lambda i, text: {"type": "function_call", "call_id": i, "name": "f", "arguments": text}, call_ids, texts),
    st.builds(lambda i, text: {"type": "function_call_output", "call_id": i, "output": text}, call_ids, texts),
    st.builds(lambda i, text: {"type": "custom_tool_call", "call_id": i, "name": "patch", "input": text}, call_ids, texts),
    st.builds(lambda i, text: {"type": "custom_tool_call_output", "call_id": i, "output": text}, call_ids, texts),
    st.sampled_from(
        [
            REASONING,
            ANSWER,
            {"type": "compaction", "encrypted_content": "zzz"},
            {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {}},
            {"type": "item_reference", "id": "msg_9"},
            {"type": "from_the_future", "value": [1.5, None]},
            {"type": "shell_call", "call_id": "call_9", "action": {"commands": ["ls"]}},
            {"type": "shell_call_output", "call_id": "call_9", "output": [{"stdout": "a"}]},
            {"type": "computer_call_output", "call_id": "c", "output": {"type": "computer_screenshot", "image_url": "data:image/png;base64,AA=="}},
            {"role": "user", "content": [{"type": "input_image", "image_url": "https://x/y.png", "detail": "low"}]},
        ]
    ).map(dict),
)  # fmt: skip


def call(call_id: str, name: str = "f", arguments: str = "{}") -> dict:
    return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments}


def output(call_id: str, text: str = "done") -> dict:
    return {"type": "function_call_output", "call_id": call_id, "output": text}


@given(st.lists(items, max_size=8), st.sampled_from([None, "", "Be kind."]))
def test_untouched_items_come_back_byte_for_byte(given_items, instructions):
    body = {"model": "m", "instructions": instructions, "input": given_items}
    parsed = parse(body, format="responses")
    request = render(parsed.entries, "responses")
    assert all(new is old for new, old in zip(request.messages, given_items, strict=True))
    assert json.dumps({**parsed.body, **request.body()}) == json.dumps(body)


@given(st.lists(items, max_size=8))
def test_every_format_can_be_written_and_read_again(given_items):
    entries = parse(given_items, format="responses").entries
    for target in ("openai", "anthropic", "responses"):
        request = render(entries, target)
        parse(request.body(), format=target)


def test_the_items_of_one_turn_become_one_message():
    turn = [REASONING, ANSWER, call("a"), {**call("b"), "id": "fc_2"}]
    entries = parse([{"role": "user", "content": "hi"}, *turn, output("a"), output("b")]).entries
    assert [entry.message["role"] for entry in entries] == ["user", "assistant", "tool", "tool"]
    message = entries[1].message
    assert message["content"] == "Looking"
    assert message["reasoning_content"] == "hmm"
    assert message["phase"] == "commentary"
    assert [made["id"] for made in message["tool_calls"]] == ["a", "b"]
    assert entries[1].raw.items == tuple(turn)
    assert group([entry.message for entry in entries])[1].pending == 0


@pytest.mark.parametrize(
    "kind",
    ["custom_tool_call", "shell_call", "local_shell_call", "apply_patch_call", "computer_call"],
)
def test_every_kind_of_call_forms_a_unit_with_its_result(kind):
    data = [
        {"type": kind, "call_id": "a"},
        {"type": f"{kind}_output", "call_id": "a", "output": "x"},
    ]
    (unit,) = group([entry.message for entry in parse(data).entries])
    assert (unit.kind, unit.pending) == ("calls", 0)


def test_a_changed_turn_is_written_without_its_reasoning_and_keeps_its_phase():
    entries = parse([REASONING, ANSWER, call("a"), output("a")]).entries
    entries[0] = Entry.of({**entries[0].message, "content": "Look"})
    assert render(entries, "responses").messages == [
        {"role": "assistant", "content": "Look", "phase": "commentary"},
        call("a"),
        output("a"),
    ]


def test_a_replaced_result_of_a_custom_call_stays_one():
    first = {"type": "custom_tool_call", "call_id": "a", "name": "patch", "input": "*** Begin"}
    entries = parse([first, {"type": "custom_tool_call_output", "call_id": "a", "output": "long"}])
    changed = Entry.of({**entries.entries[1].message, "content": "short"})
    assert render([entries.entries[0], changed], "responses").messages == [
        first,
        {"type": "custom_tool_call_output", "call_id": "a", "output": "short"},
    ]


def test_a_replaced_structured_result_turns_its_unit_into_plain_function_calls():
    shell = {"type": "shell_call", "call_id": "a", "action": {"commands": ["ls"]}, "id": "sh_1"}
    done = {"type": "shell_call_output", "call_id": "a", "output": [{"stdout": "x" * 99}]}
    entries = parse([REASONING, shell, done]).entries
    assert "xxx" in entries[1].message["content"]
    entries[1] = Entry.of({**entries[1].message, "content": "short"})
    assert render(entries, "responses").messages == [
        call("a", "shell", '{"action": {"commands": ["ls"]}}'),
        output("a", "short"),
    ]


def test_text_as_input_is_one_user_message():
    parsed = parse({"input": "hi", "instructions": "Be kind."})
    assert [entry.message for entry in parsed.entries] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hi"},
    ]
    assert render(parsed.entries, "responses").system == "Be kind."


def test_a_compaction_item_is_kept_whole_and_never_sent_elsewhere():
    item = {"type": "compaction", "id": "cmp", "encrypted_content": "secret"}
    entries = parse([item, {"role": "user", "content": "hi"}]).entries
    assert render(entries, "responses").messages[0] is item
    assert "secret" not in json.dumps(render(entries, "anthropic").messages)


@pytest.mark.parametrize(
    "bad", [{}, "x", {"role": "tool", "content": "x"}, {"role": "user", "content": 1}]
)
def test_an_item_that_is_none_is_an_input_error(bad):
    with pytest.raises(InputError) as caught:
        parse([output("a"), bad], format="responses")
    assert caught.value.index == 1
