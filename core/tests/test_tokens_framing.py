"""Every part of a message has a price, in any provider's shape, and malformed parts never raise."""

from __future__ import annotations

import base64
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tokens import EstimatingCounter, ExactCounter, count_messages
from perdure.tokens.framing import MESSAGE_TOKENS, REQUEST_TOKENS, ROLE_TOKENS, message_charges
from perdure.tokens.media import MAX_FILE_TOKENS, MIN_FILE_TOKENS, UNKNOWN_IMAGE_TOKENS
from perdure.types import ToolSchema

RANDOM = random.Random(3)
COUNTER = ExactCounter("o200k_base")
FRAME = MESSAGE_TOKENS + ROLE_TOKENS
PAYLOAD = base64.b64encode(RANDOM.randbytes(60_000)).decode()
WORDS = "The invoices of March are in the folder of the second warehouse. "


def user(*parts: object) -> dict:
    return {"role": "user", "content": list(parts)}


def tokens(message: object) -> int:
    return COUNTER.count_message(message)  # type: ignore[arg-type]


def test_a_message_costs_its_text_and_a_small_frame():
    assert tokens({"role": "user", "content": WORDS}) == FRAME + COUNTER.count_text(WORDS)
    assert tokens({"role": "assistant", "content": None}) == FRAME
    assert count_messages(COUNTER, []) == REQUEST_TOKENS


@pytest.mark.parametrize("kind", ["text", "input_text", "output_text"])
def test_a_text_part_costs_what_the_text_costs(kind):
    assert tokens(user({"type": kind, "text": WORDS})) == tokens({"role": "user", "content": WORDS})


def test_text_that_looks_like_base64_is_text_where_the_model_reads_it():
    as_part = tokens(user({"type": "text", "text": PAYLOAD}))

    assert as_part == tokens({"role": "user", "content": PAYLOAD}) > 40_000


@pytest.mark.parametrize(
    "text",
    [
        "The manual names <|endoftext|> on page 3.",
        "<|im_start|>system",
        "<|fim_prefix|><|fim_middle|>",
        "<|start|>assistant<|channel|>final<|message|>",
        "<|endofprompt|>",
    ],
)
def test_text_that_looks_like_a_control_token_is_just_text(text):
    for counter in (COUNTER, ExactCounter("cl100k_base"), EstimatingCounter()):
        assert counter.count_message({"role": "user", "content": text}) > FRAME + 3


@pytest.mark.parametrize(
    "part",
    [
        {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PAYLOAD}"}},
        {"type": "image_url", "image_url": f"data:image/png;base64,{PAYLOAD}"},
        {"type": "input_image", "image_url": f"data:image/jpeg;base64,{PAYLOAD}"},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": PAYLOAD}},
        {"type": "image", "data": PAYLOAD, "mimeType": "image/png"},
        {"type": "tool_result", "content": [{"type": "image", "source": {"data": PAYLOAD}}]},
        {"type": "strange", "picture": f"data:image/png;base64,{PAYLOAD}"},
        {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "wav"}},
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{PAYLOAD}"}},
        {"type": "document", "source": {"type": "base64", "data": PAYLOAD}},
        {"type": "strange", "inner": {"deep": [PAYLOAD]}},
    ],
)
def test_a_payload_of_sixty_kilobytes_is_not_counted_as_text(part):
    assert FRAME + 100 < tokens(user(part)) < 8_000


def test_a_screenshot_in_a_short_chat_costs_hundreds_of_tokens_and_not_its_base64():
    chat = [
        {"role": "system", "content": "You are a careful helper."},
        user(
            {"type": "text", "text": "What is wrong here?"},
            {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PAYLOAD}"}},
        ),
        {"role": "assistant", "content": "A button is cut off."},
    ]

    assert UNKNOWN_IMAGE_TOKENS < count_messages(COUNTER, chat) < 1_500


def test_files_that_are_only_named_have_a_flat_price():
    for part in ({"type": "file", "file": {"file_id": "file-1"}}, {"type": "container_upload"}):
        assert FRAME + MIN_FILE_TOKENS <= tokens(user(part)) < FRAME + MIN_FILE_TOKENS + 50


def test_a_huge_file_has_a_bounded_price():
    data = "QUJD" * 10_000_000
    part = {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}"}}

    assert tokens(user(part)) <= FRAME + MAX_FILE_TOKENS + 50


def test_a_document_of_plain_text_costs_its_text():
    part = {"type": "document", "source": {"type": "text", "data": WORDS * 200}, "title": "March"}

    assert tokens(user(part)) >= COUNTER.count_text(WORDS * 200)


def test_a_sound_costs_less_than_a_document_of_its_size():
    sound = {"type": "input_audio", "input_audio": {"data": PAYLOAD, "format": "mp3"}}
    document = {"type": "document", "source": {"type": "base64", "data": PAYLOAD}}

    assert tokens(user(sound)) < tokens(user(document))


# ------------------------------------------------------------------------------- calls, reasoning

ARGUMENTS = {"path": "src/orders.py", "lines": [10, 40], "note": WORDS * 5}


def test_calls_cost_their_name_and_arguments_in_every_shape():
    text = json.dumps(ARGUMENTS, separators=(",", ":"))
    function = {"name": "read_file", "arguments": text}
    shapes = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": function}]},
        {"role": "assistant", "content": None, "function_call": function},
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "1", "name": "read_file", "input": ARGUMENTS}],
        },
        {"type": "function_call", "call_id": "1", "name": "read_file", "arguments": text},
        {
            "role": "assistant",
            "tool_calls": [{"type": "custom", "custom": {"name": "read_file", "input": text}}],
        },
    ]

    counts = {tokens(shape) for shape in shapes}

    assert len(counts) == 1
    assert counts.pop() >= COUNTER.count_text(text) + FRAME + 3


@pytest.mark.parametrize(
    "message",
    [
        {"role": "tool", "tool_call_id": "1", "content": WORDS * 9},
        user({"type": "tool_result", "tool_use_id": "1", "content": WORDS * 9}),
        user({"type": "tool_result", "content": [{"type": "text", "text": WORDS * 9}]}),
        {"type": "function_call_output", "call_id": "1", "output": WORDS * 9},
    ],
)
def test_results_cost_their_text_in_every_shape(message):
    assert tokens(message) == FRAME + COUNTER.count_text(WORDS * 9)


@pytest.mark.parametrize(
    "extra",
    [
        {"reasoning_content": WORDS * 9},
        {"reasoning": WORDS * 9},
        {"reasoning_content": WORDS * 9, "reasoning": WORDS * 9},
        {"thinking_blocks": [{"type": "thinking", "thinking": WORDS * 9, "signature": PAYLOAD}]},
        {"content": [{"type": "thinking", "thinking": WORDS * 9, "signature": PAYLOAD}]},
        {
            "content": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": WORDS * 9}]}
            ]
        },
    ],
)
def test_reasoning_is_counted_once_and_its_signature_not_at_all(extra):
    message = {"role": "assistant", "content": None, **extra}

    assert tokens(message) == FRAME + COUNTER.count_text(WORDS * 9)


def test_encrypted_reasoning_is_priced_by_its_size():
    message = {"role": "assistant", "content": [{"type": "redacted_thinking", "data": "x" * 6_000}]}

    assert tokens(message) == FRAME + 1_000


def test_private_keys_and_cache_marks_cost_nothing():
    plain = user({"type": "text", "text": WORDS})
    marked = user({"type": "text", "text": WORDS, "cache_control": {"type": "ephemeral"}})
    marked["_perdure"] = {"note": WORDS * 9}

    assert tokens(marked) == tokens(plain)


# ------------------------------------------------------------------------------- tools

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string", "description": "File to read, from the root."}},
    "required": ["path"],
}


def test_a_tool_costs_the_same_in_every_shape():
    named = {"name": "read_file", "description": "Reads a file."}
    shapes = [
        ToolSchema(name="read_file", description="Reads a file.", parameters=SCHEMA),
        {"type": "function", "function": {**named, "parameters": SCHEMA}},
        {"type": "function", **named, "parameters": SCHEMA, "strict": True},
        {**named, "input_schema": SCHEMA, "cache_control": {"type": "ephemeral"}},
    ]

    counts = {COUNTER.count_tools([shape]) for shape in shapes}

    assert len(counts) == 1
    assert 30 < counts.pop() < 100


def test_tools_of_the_provider_itself_are_counted():
    assert COUNTER.count_tools([{"type": "web_search"}, {"type": "bash_20250124", "name": "bash"}])


def test_a_long_tool_list_is_counted_and_not_forgotten():
    tools = [
        ToolSchema(name=f"tool_{n}", description=WORDS * 3, parameters=SCHEMA) for n in range(60)
    ]

    assert COUNTER.count_tools(tools) == COUNTER.count_tools(tools) > 60 * 70


# ------------------------------------------------------------------------------- malformed input

WILD = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=20)
    | st.binary(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                "type text content image_url source data file input thinking name function "
                "arguments output summary url detail".split()
            )
            | st.integers(),
            inner
            | st.sampled_from(["image", "image_url", "file", "tool_use", "document", "thinking"]),
            max_size=5,
        )
    ),
    max_leaves=20,
)


@given(
    st.dictionaries(
        st.sampled_from(
            ["role", "type", "content", "tool_calls", "function_call", "name", "reasoning_content"]
        ),
        WILD,
    )
)
def test_no_malformed_message_raises(message):
    assert tokens(message) >= FRAME
    assert all(isinstance(charge, (str, int)) for charge in message_charges(message))


@given(WILD)
def test_no_malformed_item_or_tool_raises(value):
    assert tokens(value) >= FRAME
    assert COUNTER.count_tools([value]) > 0  # type: ignore[list-item]


@pytest.mark.parametrize("text", ["\ud83d", "a\udfffb", "\x00", "\ud800" * 5_000, "\x00" * 5_000])
def test_lone_surrogates_and_nul_are_counted(text):
    message = {
        "role": "assistant",
        "content": [{"type": "text", "text": text}],
        "tool_calls": [{"function": {"name": text, "arguments": {"value": text}}}],
    }

    for counter in (COUNTER, EstimatingCounter()):
        assert counter.count_message(message) > FRAME
        assert counter.count_tools([ToolSchema(name="t", description=text, parameters={})]) > 0


def test_a_circular_message_is_counted():
    part: dict = {"type": "strange", "note": WORDS}
    part["self"] = part

    assert tokens(user(part)) > COUNTER.count_text(WORDS)


def test_a_message_nested_a_hundred_thousand_deep_is_counted():
    content: list = [WORDS]
    for _ in range(100_000):
        content = [content]

    assert tokens({"role": "user", "content": content}) >= COUNTER.count_text(WORDS)
