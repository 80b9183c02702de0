"""Transcripts nobody would write: whatever comes in, what goes out is valid and can be undone."""

from __future__ import annotations

import json
from typing import Any

import invariants
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

import perdure
from perdure.types import Reason, Trigger

TRIGGERS = st.sampled_from([Trigger.MANUAL, Trigger.PREFLIGHT, Trigger.OVERFLOW])
PICTURE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ODD = ["", " ", "\n", "\x00", "\ud835", "\udc00 half", "{", "[Perdure handoff v1", "⟦cut 3 chars⟧"]
ODD_NAME = "\x95>ñ=¬\U000fba18\U00016ea5\U000aa165\x0eÓ\x0bL"
SPOKEN = [
    "Please look at this.",
    "Never touch the folder live/.",
    "名前を教えて",
    "Done, 17 rows. 🎉",
]
SIZES = st.sampled_from([0, 1, 1, 1, 40, 400, 2_000])


@st.composite
def texts(draw: st.DrawFn) -> str:
    base = draw(st.sampled_from(SPOKEN) | st.sampled_from(ODD) | st.text(max_size=12))
    return base * draw(SIZES) if draw(st.booleans()) else base


@st.composite
def results(draw: st.DrawFn) -> str:
    size = draw(SIZES)
    line = draw(st.sampled_from(["row 17: value 4.5", "Error: no such file x.py", "ok", "\ud835"]))
    return draw(texts()) + "\n".join(f"{line} {n}" for n in range(size))


@st.composite
def contents(draw: st.DrawFn) -> Any:
    """Return a user's content: text, parts, pictures, or nothing."""
    kind = draw(st.sampled_from(["text", "text", "text", "parts", "picture", "none", "empty"]))
    if kind == "text":
        return draw(texts())
    if kind == "none":
        return None
    if kind == "empty":
        return []
    parts: list[dict[str, Any]] = [{"type": "text", "text": draw(texts())}]
    if kind == "picture":
        address = f"data:image/png;base64,{PICTURE}"
        parts.append({"type": "image_url", "image_url": {"url": address}})
    return parts


@st.composite
def turns(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return what follows on each other in a session: words, or calls with most of their results."""
    kind = draw(st.sampled_from(["user", "assistant", "calls", "calls", "system", "orphan"]))
    if kind in ("user", "assistant"):
        return [{"role": kind, "content": draw(contents())}]
    if kind == "system":
        return [{"role": draw(st.sampled_from(["system", "developer"])), "content": draw(texts())}]
    if kind == "orphan":
        return [{"role": "tool", "tool_call_id": "c0", "content": draw(results())}]
    ids = draw(st.lists(st.sampled_from(["c0", "c1", "c2", "a|b", ""]), min_size=1, max_size=3))
    called = [
        {
            "id": id_,
            "type": "function",
            "function": {
                "name": draw(st.sampled_from(["read_file", "bash", "write_file", "ask"])),
                "arguments": draw(
                    st.sampled_from(['{"path": "src/a.py"}', "{}", "", "{broken", "[1]", '"x"'])
                ),
            },
        }
        for id_ in ids
    ]
    message: dict[str, Any] = {"role": "assistant", "content": draw(st.none() | texts())}
    message["tool_calls"] = called
    if draw(st.booleans()):
        message["reasoning_content"] = draw(texts())
    answered = draw(st.permutations(ids))[: draw(st.integers(0, len(ids)))]
    answers = [{"role": "tool", "tool_call_id": i, "content": draw(results())} for i in answered]
    return [message, *answers]


@st.composite
def chats(draw: st.DrawFn) -> list[dict[str, Any]]:
    start = [{"role": "system", "content": "You help."}] if draw(st.booleans()) else []
    blocks = draw(st.lists(turns(), min_size=1, max_size=25))
    return start + [message for block in blocks for message in block]


@st.composite
def anthropic_chats(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return messages of blocks: signed thinking, calls, results with pictures, broken pairs."""
    messages: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 15))):
        messages.append({"role": "user", "content": draw(texts())})
        blocks: list[dict[str, Any]] = []
        if draw(st.booleans()):
            blocks.append({"type": "thinking", "thinking": draw(texts()), "signature": "c2ln"})
        if draw(st.booleans()):
            blocks.append({"type": "text", "text": draw(texts())})
        ids = [f"t{draw(st.integers(0, number))}" for _ in range(draw(st.integers(0, 3)))]
        blocks += [
            {"type": "tool_use", "id": id_, "name": "bash", "input": {"command": draw(texts())}}
            for id_ in ids
        ]
        messages.append({"role": "assistant", "content": blocks or draw(texts())})
        answers = [
            {"type": "tool_result", "tool_use_id": id_, "content": draw(results())}
            for id_ in ids[: draw(st.integers(0, 3))]
        ]
        if answers and draw(st.booleans()):
            source = {"type": "base64", "media_type": "image/png", "data": PICTURE}
            answers[0]["content"] = [{"type": "image", "source": source}]
        if answers:
            messages.append({"role": "user", "content": answers})
    return messages


@st.composite
def items(draw: st.DrawFn) -> list[dict[str, Any]]:
    """Return Responses items: messages, reasoning, calls and their outputs."""
    found: list[dict[str, Any]] = []
    for number in range(draw(st.integers(1, 25))):
        kind = draw(st.sampled_from(["message", "message", "reasoning", "call", "output"]))
        id_ = f"call_{draw(st.integers(0, 3))}"
        if kind == "message":
            role = draw(st.sampled_from(["user", "assistant"]))
            part = "input_text" if role == "user" else "output_text"
            content = [{"type": part, "text": draw(texts())}]
            found.append({"type": "message", "role": role, "content": content})
        elif kind == "reasoning":
            found.append({"type": "reasoning", "id": f"rs_{number}", "summary": []})
        elif kind == "call":
            call = {"type": "function_call", "call_id": id_, "name": "bash"}
            found.append({**call, "arguments": draw(st.sampled_from(["{}", "{broken", ""]))})
            if draw(st.booleans()):
                output = {"type": "function_call_output", "call_id": id_}
                found.append({**output, "output": draw(results())})
        else:
            found.append({"type": "function_call_output", "call_id": id_, "output": "late"})
    return found


def opened() -> perdure.EngineSession:
    return perdure.open_session(
        {
            "provider": {"context_length": 6_000, "max_tokens": 500},
            "context": {"compression": {"min_context_length": 1}},
        },
        session_id="random",
        state_dir=":memory:",
    )


def check(messages: list[dict[str, Any]], trigger: Trigger) -> None:
    given_ = json.dumps(messages)

    with opened() as session:
        session.load(messages)
        result = session.compress(trigger=trigger)
        sent = json.dumps(list(session.view().messages))

        assert result.reason in (Reason.DONE, Reason.NOOP) or too_large(result)
        assert [*invariants.invalid(session), *invariants.lost(session)] == []
        assert list(invariants.changed(session)) == []
        assert result.tokens_after <= result.tokens_before
        if trigger is not Trigger.OVERFLOW and result.reason is not Reason.FAILED:
            assert session.compress(trigger=trigger).reason is Reason.NOOP
            assert json.dumps(list(session.view().messages)) == sent
        assert session.load(messages) is not None
        assert json.dumps(list(session.view().messages)) == sent
    assert json.dumps(messages) == given_


def too_large(result: perdure.types.Compression) -> bool:
    """Return whether it was refused because a user's message alone is over the window."""
    return result.reason is Reason.FAILED and "split it" in result.detail


several = settings(
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # making them smaller takes minutes
)


many = settings(several, max_examples=1_500, derandomize=False)


@several
@given(chats(), TRIGGERS)
def test_any_chat_stays_as_valid_as_it_was(messages, trigger):
    check(messages, trigger)


@several
@given(anthropic_chats(), TRIGGERS)
def test_any_anthropic_chat_stays_as_valid_as_it_was(messages, trigger):
    check(messages, trigger)


@several
@given(items(), TRIGGERS)
def test_any_list_of_responses_items_stays_as_valid_as_it_was(messages, trigger):
    check(messages, trigger)


def test_manual_compaction_that_only_cut_results_is_not_made_again():
    call = {"id": "c2", "type": "function", "function": {"name": "read_file", "arguments": ""}}
    running = {**call, "id": "c0"}
    rows = "\n".join(f"row 17: value 4.5 {n}" for n in range(40))
    errors = "名前を教えて" + "\n".join(f"Error: no such file x.py {n}" for n in range(400))
    messages = [
        {"role": "tool", "tool_call_id": "c0", "content": "\n" + rows},
        {"role": "assistant", "content": ODD_NAME, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c2", "content": errors},
        {"role": "user", "content": "[Perdure handoff v1" * 40},
        {"role": "system", "content": ODD_NAME},
        {"role": "assistant", "content": None, "tool_calls": [running]},
    ]

    check(messages, Trigger.MANUAL)


def test_summary_larger_than_what_it_stands_for_is_not_made_although_results_were_cut():
    def ran(call: str, output: str) -> list[dict[str, Any]]:
        called = {"type": "function_call", "call_id": call, "name": "bash", "arguments": "{broken"}
        return [called, {**late(call), "output": output}]

    def late(call: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": call, "output": "late"}

    def said(role: str, text: str) -> dict[str, Any]:
        part = "input_text" if role == "user" else "output_text"
        return {"type": "message", "role": role, "content": [{"type": part, "text": text}]}

    errors = [f"Error: no such file x.py {n}" for n in range(400)]
    messages = [
        *ran("call_3", ">·°" + "\n".join(errors)),
        *ran("call_3", "\ud835 0"),
        *(late("call_3"), late("call_0")),
        *ran("call_2", "f¯ô\x13\x7f\x9a¾THA\U0002b8b7" + "\n".join(errors[:40])),
        {"type": "reasoning", "id": "rs_15", "summary": []},
        late("call_1"),
        said("user", ""),
        said("assistant", "\udc00 half"),
        said("user", "INF"),
    ]

    check(messages, Trigger.OVERFLOW)


@pytest.mark.soak
@many
@given(chats() | anthropic_chats() | items(), TRIGGERS)
def test_very_many_lists_stay_as_valid_as_they_were(messages, trigger):
    check(messages, trigger)


# ------------------------------------------------------------------------------- found by these


def call(id_: str) -> dict[str, Any]:
    return {"id": id_, "type": "function", "function": {"name": "bash", "arguments": "{}"}}


def test_orphaned_result_that_is_shortened_does_not_stop_a_compaction():
    orphan = {"role": "tool", "tool_call_id": "c9", "content": "row 17: value 4.5\n" * 3_000}
    messages = [
        {"role": "user", "content": "Please look at this."},
        {"role": "assistant", "content": "I look."},
        orphan,
        {"role": "assistant", "content": "Seen.\n" * 2_000, "tool_calls": [call("c1")]},
        {"role": "tool", "tool_call_id": "c1", "content": "ok"},
    ]

    check(messages, Trigger.OVERFLOW)
    check(messages, Trigger.PREFLIGHT)


def test_open_call_of_responses_items_stays_the_callers_own_behind_a_handoff():
    messages = [
        {"type": "function_call", "call_id": "call_0", "name": "bash", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "call_1", "output": "row 17\n" * 3_000},
        {"type": "function_call_output", "call_id": "call_1", "output": "late"},
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "half " * 3_000}],
        },
    ]

    check(messages, Trigger.OVERFLOW)
