"""What is done to a list that we changed, rule by rule, and what is left alone."""

import contextlib
import dataclasses

import pytest

from perdure import dialects, formats
from perdure.errors import InvariantError
from perdure.transcript import Replacement, View

SYSTEM = {"role": "system", "content": "be good"}
HANDOFF = {"role": "user", "content": "summary", "_perdure": {"kind": "handoff"}}


def user(content):
    return {"role": "user", "content": content}


def said(content, *ids, **extra):
    message = {"role": "assistant", "content": content, **extra}
    if ids:
        function = {"name": "f", "arguments": "{}"}
        message["tool_calls"] = [{"id": i, "type": "function", "function": function} for i in ids]
    return message


def result(one, content="ok"):
    return {"role": "tool", "tool_call_id": one, "content": content}


def changed(messages, first, last, *, new=(HANDOFF,), kind="handoff", given="openai"):
    view = View.of(formats.parse(messages, format=given).entries)
    return view.apply([view.replace(first, last, kind=kind, messages=new)])


def sent(name, view):
    return dialects.get(name).wire(view).messages


# ------------------------------------------------------------------------- neighbours


def test_a_handoff_is_joined_with_the_user_turn_behind_it():
    view = changed([SYSTEM, user("old"), said("x"), user("new")], 1, 2)

    assert sent("openai", view) == [SYSTEM, user("summary\n\nnew")]


def test_the_parts_of_a_joined_message_stay_parts():
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA"}}
    view = changed([user("old"), said("x"), user([{"type": "text", "text": "new"}, image])], 0, 1)

    summary = {"type": "text", "text": "summary"}
    assert sent("openai", view) == [user([summary, {"type": "text", "text": "new"}, image])]


def test_an_assistant_summary_is_joined_with_the_calls_behind_it():
    summary = {"role": "assistant", "content": "summary"}
    history = [user("a"), said("x"), user("b"), said(None, "c"), result("c")]
    view = changed(history, 1, 2, new=[summary])

    assert sent("openai", view) == [user("a"), said("summary", "c"), result("c")]


def test_two_messages_brought_together_by_a_gap_are_joined():
    view = changed([user("a"), said("x"), user("b")], 1, 1, new=[])

    assert sent("openai", view) == [user("a\n\nb")]


def test_two_neighbours_that_the_caller_sent_are_left_alone():
    history = [user("old"), said("x"), user("a"), said("y"), user("b"), user("c")]

    assert sent("openai", changed(history, 0, 1))[-2:] == [user("b"), user("c")]


def test_a_system_message_between_two_users_gets_a_note_beside_it():
    view = changed([user("old"), said("x"), SYSTEM, user("new")], 0, 1)

    roles = [message["role"] for message in sent("openai", view)]
    assert roles == ["user", "system", "assistant", "user"]


def test_a_list_that_no_longer_opens_with_a_user_gets_one():
    summary = {"role": "assistant", "content": "summary"}
    view = changed([SYSTEM, user("old"), said("x"), user("new")], 1, 2, new=[summary])

    roles = [message["role"] for message in sent("openai", view)]
    assert roles == ["system", "user", "assistant", "user"]


def test_a_greeting_that_the_caller_put_first_stays_first():
    view = changed([said("hello"), user("old"), said("x"), user("new")], 1, 2)

    assert sent("openai", view)[0] == said("hello")


# ------------------------------------------------------------------------- strict


def test_strict_puts_a_note_between_a_tool_result_and_the_handoff():
    history = [SYSTEM, user("a"), said(None, "c"), result("c"), said("x"), user("b")]
    view = changed(history, 4, 4)

    wire = sent("openai-strict", view)
    assert [message["role"] for message in wire] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
        "user",
    ]
    assert wire[-1] == user("summary\n\nb")


def test_strict_turns_a_later_system_message_into_user_text():
    view = changed([SYSTEM, user("old"), said("x"), {**SYSTEM, "content": "rule"}, user("b")], 1, 2)

    assert sent("openai-strict", view) == [SYSTEM, user("summary\n\nrule\n\nb")]


def test_strict_joins_several_leading_system_messages():
    developer = {"role": "developer", "content": "and brief"}
    view = changed([SYSTEM, developer, user("old"), said("x"), user("b")], 2, 3)

    assert sent("openai-strict", view)[0] == {"role": "system", "content": "be good\n\nand brief"}


def test_strict_never_asks_for_a_list_without_a_user():
    view = changed([SYSTEM, user("old"), said("x")], 1, 2, new=[])

    assert [message["role"] for message in sent("openai-strict", view)] == ["system", "user"]


# ------------------------------------------------------------------------- pairs and ids


def test_a_result_without_its_call_is_dropped_where_we_cut():
    history = [user("a"), said(None, "c", "d"), result("c"), result("d"), user("b")]
    view = changed(history, 0, 2)

    assert sent("openai", view) == [user("summary\n\nb")]


def test_calls_without_results_are_taken_out_where_we_cut():
    history = [user("a"), said(None, "c", "d"), result("c"), result("d"), said("x"), user("b")]
    view = changed(history, 3, 4, new=[])

    assert sent("openai", view) == [user("a"), said(None, "c"), result("c"), user("b")]


def test_an_assistant_left_without_calls_and_text_gets_a_note():
    history = [user("a"), said(None, "c"), result("c"), user("b"), said("x")]
    view = changed(history, 2, 2, new=[])

    assert sent("openai", view)[1] == said("[tool calls left out]")


def test_calls_that_are_still_running_at_the_end_are_kept():
    history = [user("old"), said("x"), user("a"), said(None, "c", "d"), result("c")]
    wire = dialects.get("openai").wire(changed(history, 0, 1))

    assert wire.messages[-2:] == history[-2:]
    assert [problem.rule for problem in wire.problems] == ["calls_pending"]


@pytest.mark.parametrize(("call", "answer"), [("call_1|fc_1", "call_1"), (" c ", "c"), ("c", " c")])
def test_results_get_the_very_id_of_their_call(call, answer):
    history = [user("old"), said("x"), user("a"), said("y", call), result(answer), user("b")]

    assert sent("openai", changed(history, 0, 1))[2] == result(call)
    assert sent("openai", View.of(history))[4] == result(answer)


def test_one_id_for_every_call_is_no_reason_to_touch_anything():
    loop = [said(None, "same"), result("same", "one"), said(None, "same"), result("same", "two")]
    history = [user("old"), said("x"), user("a"), *loop, user("b")]

    assert sent("openai", changed(history, 0, 1))[1:] == [*loop, user("b")]


# ------------------------------------------------------------------------- single messages


def test_blank_content_becomes_null_or_a_note():
    history = [user("old"), said("x"), user("a"), said("", "c"), result("c", "  "), said("y")]

    wire = sent("openai", changed(history, 0, 1))

    assert wire[1:3] == [said(None, "c"), result("c", "[empty result]")]


def test_blank_parts_are_removed():
    blank, text = {"type": "text", "text": " "}, {"type": "text", "text": "b"}
    view = changed([user("old"), said("x"), said("y"), user([blank, text])], 0, 2)

    assert sent("openai", view) == [user([{"type": "text", "text": "summary"}, text])]


def test_only_keys_of_the_api_leave():
    history = [
        {**SYSTEM, "_meta": {"ts": 1}},
        user("old"),
        said("x"),
        {**user("a"), "ts": 1},
        said(None, "c", reasoning_content="hm", annotations=[]),
        {**result("c"), "_meta": 1, "is_error": True},
    ]
    history[4]["tool_calls"][0].update(index=0, extra_content={"google": 1})

    wire = sent("openai", changed(history, 1, 2))

    assert [sorted(message) for message in wire] == [
        ["content", "role"],
        ["content", "role"],
        ["content", "reasoning_content", "role", "tool_calls"],
        ["content", "role", "tool_call_id"],
    ]
    assert sorted(wire[2]["tool_calls"][0]) == ["extra_content", "function", "id", "type"]


def test_surrogates_are_joined_or_replaced_and_nul_is_kept():
    history = [user("old"), said("x"), user("\ud83d\ude00 \ud835 \x00")]

    assert sent("openai", changed(history, 0, 1)) == [user("summary\n\n😀 \ufffd \x00")]


def test_untouched_messages_are_the_same_objects():
    history = [user("old"), said("x"), user("a"), said(None, "c"), result("c")]

    wire = sent("openai", changed(history, 0, 1))

    assert wire[1] is history[3]
    assert wire[2] is history[4]


def test_broken_arguments_of_the_caller_are_a_warning():
    history = [user("old"), said("x"), user("a"), said(None, "c"), result("c")]
    history[3]["tool_calls"][0]["function"] = {"name": "f", "arguments": "{"}

    wire = dialects.get("openai").wire(changed(history, 0, 1))

    assert [problem.rule for problem in wire.problems] == ["arguments"]
    assert wire.messages[1] is history[3]


def test_what_we_broke_is_an_error_and_never_sent():
    history = [user("old"), said("x"), user("a")]
    broken = said(None, "c")
    broken["tool_calls"][0]["function"] = {"name": "f", "arguments": "{"}
    view = changed(history, 1, 1, new=[broken, result("c")], kind="pruned")

    with pytest.raises(InvariantError, match="'arguments'") as caught:
        dialects.get("openai").wire(view)

    assert caught.value.rule == "arguments"
    assert caught.value.index == 1


@pytest.mark.parametrize("name", ["openai", "openai-strict", "responses"])
def test_a_replacement_with_an_unknown_role_is_an_error(name):
    king = {"role": "king", "content": "x"}

    with pytest.raises(InvariantError, match="king"):
        dialects.get(name).wire(changed([user("old"), said("x"), user("a")], 1, 1, new=[king]))


# ------------------------------------------------------------------------- Anthropic


def thought(text):
    return {"type": "thinking", "thinking": text, "signature": f"sig {text}"}


def acted(one):
    use = {"type": "tool_use", "id": one, "name": "f", "input": {}}
    return {"role": "assistant", "content": [thought(one), use]}


def got(one, *more):
    block = {"type": "tool_result", "tool_use_id": one, "content": "ok"}
    return {"role": "user", "content": [block, *more]}


def answered(text):
    return {"role": "assistant", "content": [thought(text), {"type": "text", "text": text}]}


def has_thinking(message):
    return any(block.get("type") == "thinking" for block in message["content"])


TURN = [user("first"), acted("a"), got("a"), answered("done")]


def test_thinking_of_finished_turns_goes_after_a_summary():
    view = changed(
        [*TURN, user("second"), acted("b"), got("b"), answered("end")], 0, 3, given="anthropic"
    )

    wire = sent("anthropic", view)

    assert wire[0] == {"role": "user", "content": "summary\n\nsecond"} or wire[0]["role"] == "user"
    assert not any(has_thinking(message) for message in wire if message["role"] == "assistant")


def test_a_tool_loop_that_runs_keeps_its_thinking_and_its_objects():
    history = [*TURN, user("second"), acted("b"), got("b"), acted("c"), got("c")]
    view = changed(history, 0, 3, given="anthropic")

    wire = sent("anthropic", view)

    assert wire[1] is history[5]
    assert wire[3] is history[7]


def test_the_newest_turn_of_a_loop_that_was_cut_stays_as_it_was():
    history = [user("task"), *[m for i in "abcdef" for m in (acted(i), got(i))]]
    view = changed(history, 3, 8, given="anthropic")

    wire = sent("anthropic", view)

    newest = [message for message in wire if message["role"] == "assistant"][-1]
    assert newest is history[11]


def test_a_loop_whose_request_was_summarised_loses_its_thinking():
    history = [user("task"), *[m for i in "abcd" for m in (acted(i), got(i))]]
    view = changed(history, 0, 4, given="anthropic")

    assert not any(has_thinking(m) for m in sent("anthropic", view) if m["role"] == "assistant")


def test_thinking_after_the_summary_stays_also_when_its_turn_is_over():
    view = changed([*TURN, user("second")], 0, 3, given="anthropic")
    later = [acted("b"), got("b"), answered("end"), user("third")]
    view = view.append(formats.parse(later, format="anthropic").entries)

    wire = sent("anthropic", view)

    assert wire[1] is later[0]
    assert wire[3] is later[2]


def test_a_loop_that_ends_later_keeps_what_was_sent():
    history = [*TURN, user("second"), acted("b"), got("b")]
    view = changed(history, 0, 3, given="anthropic")
    before = sent("anthropic", view)

    view = view.append(formats.parse([answered("end"), user("x")], format="anthropic").entries)

    assert sent("anthropic", view)[: len(before)] == before


def test_a_summary_of_unknown_age_counts_as_new():
    view = changed(
        [*TURN, user("second"), acted("b"), got("b"), answered("end")], 0, 3, given="anthropic"
    )
    (made,) = view.replacements
    old = Replacement(first=0, last=3, kind="handoff", messages=made.messages, chain=made.chain)

    assert sent("anthropic", View(view.transcript, [old])) == sent("anthropic", view)


def test_pruned_results_leave_thinking_alone():
    cut = result("a", "[cut]")
    view = changed([*TURN, user("second")], 2, 2, new=[cut], kind="pruned", given="anthropic")

    assert has_thinking(sent("anthropic", view)[1])


def test_an_assistant_summary_does_not_slip_before_thinking():
    summary = {"role": "assistant", "content": "summary"}
    history = [user("task"), acted("a"), got("a"), acted("b"), got("b")]
    view = changed(history, 1, 2, new=[summary], given="anthropic")

    wire = sent("anthropic", view)

    assert [message["role"] for message in wire] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]
    assert wire[3] is history[3]


def test_the_handoff_stands_behind_the_results_in_one_turn():
    history = [user("task"), acted("a"), got("a"), acted("b"), got("b"), user("go on")]
    view = changed(history, 3, 4, given="anthropic")

    turn = sent("anthropic", view)[2]

    kinds = [block["type"] for block in turn["content"]]
    assert kinds == ["tool_result", "text", "text"]


def test_the_oldest_cache_marks_go_when_there_are_more_than_four():
    mark = {"cache_control": {"type": "ephemeral"}}
    marked = [user([{"type": "text", "text": str(i), **mark}]) for i in range(5)]
    turns = [m for one in marked for m in (one, {"role": "assistant", "content": "x"})]
    body = {"system": [{"type": "text", "text": "s", **mark}], "messages": [*TURN, *turns]}
    view = View.of(formats.parse(body, format="anthropic").entries)
    view = view.apply([view.replace(1, 4, kind="handoff", messages=[HANDOFF])])

    for marks, left in ((0, 3), (2, 1)):
        wire = dialects.get("anthropic").wire(view, marks=marks)
        assert str(wire.messages).count("cache_control") == left
        assert "cache_control" in str(wire.messages[-2])


def test_blank_blocks_are_removed_from_results():
    blank = {"type": "text", "text": " "}
    history = [*TURN, user("x"), acted("b"), got("b")]
    history[-1]["content"][0]["content"] = [blank]

    turn = sent("anthropic", changed(history, 0, 3, given="anthropic"))[2]

    assert turn["content"][0]["content"] == "[empty result]"


# ------------------------------------------------------------------------- Responses


def test_a_turn_that_loses_a_call_loses_its_reasoning():
    history = [
        user("a"),
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
        user("b"),
    ]
    view = changed(history, 2, 2, new=[], given="responses")

    wire = sent("responses", view)

    assert [item.get("type", item.get("role")) for item in wire] == ["user", "assistant", "user"]


def test_untouched_items_are_the_same_objects():
    history = [
        user("old"),
        {"role": "assistant", "content": "x"},
        user("a"),
        {"type": "reasoning", "id": "rs", "summary": []},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": "ok"},
    ]

    wire = sent("responses", changed(history, 0, 1, given="responses"))

    assert [item is old for item, old in zip(wire[-4:], history[-4:], strict=True)] == [True] * 4


# ------------------------------------------------------------------------- branches


def test_a_branch_forgets_how_much_the_old_one_had_seen():
    view = changed([*TURN, user("second"), answered("x"), user("third")], 0, 4, given="anthropic")
    branch = view.cut(6)
    (made,) = branch.replacements

    assert made.made_at == 6
    assert dataclasses.replace(view.replacements[0], made_at=6) == made


@pytest.mark.parametrize("name", dialects.NAMES)
def test_malformed_messages_in_a_changed_list_never_raise_anything_unplanned(name):
    odd = [
        {"role": "assistant", "content": None, "tool_calls": [None, {"id": {}}, {"function": 3}]},
        {"role": "tool", "tool_call_id": ["x"], "content": None},
        {"role": "assistant", "content": [None, {"type": []}], "tool_calls": []},
        {"role": "user", "content": [None, 3, {"type": "text"}]},
        {"role": "tool", "content": []},
        {"role": "system", "content": None},
    ]
    history = [user("old"), said("x"), user("a"), *odd, user("b")]

    with contextlib.suppress(InvariantError):
        dialects.get(name).wire(changed(history, 0, 1))


def test_a_list_from_another_format_is_repaired_like_one_that_we_changed():
    reminder = {"type": "text", "text": "be brief"}
    history = [user("task"), acted("a"), got("a", reminder)]
    view = View.of(formats.parse(history, format="anthropic").entries)

    wire = dialects.get("openai-strict").wire(view)

    assert [m["role"] for m in wire.messages] == ["user", "assistant", "tool", "assistant", "user"]
    assert wire.problems == ()


def test_a_loop_whose_request_stands_in_the_replacement_keeps_its_thinking():
    history = [user("task"), *[m for i in "abcd" for m in (acted(i), got(i))]]
    view = changed(history, 0, 4, new=[HANDOFF, user("task")], given="anthropic")

    assert sent("anthropic", view)[1] is history[5]


def test_two_anthropic_turns_brought_together_are_one_with_results_first():
    history = [user("task"), acted("a"), got("a"), answered("x"), user("b"), answered("y")]
    view = changed(history, 3, 3, new=[], given="anthropic")

    turn = sent("anthropic", view)[2]

    assert [block["type"] for block in turn["content"]] == ["tool_result", "text"]


def test_an_anthropic_list_that_opens_with_an_assistant_gets_a_user_note():
    view = changed([*TURN, user("second")], 0, 0, new=[], given="anthropic")

    assert [message["role"] for message in sent("anthropic", view)][:2] == ["user", "assistant"]


def test_an_anthropic_turn_of_blanks_gets_a_note():
    blank = {"role": "user", "content": [{"type": "text", "text": ""}], "id": "msg_1"}
    view = changed([*TURN, blank, answered("x"), user("go on")], 1, 3, given="anthropic")

    assert sent("anthropic", view)[-3:-1] != [blank, answered("x")]
    assert dialects.get("anthropic").wire(view).problems == ()


def test_marks_inside_results_count_and_go_too():
    mark = {"cache_control": {"type": "ephemeral"}}
    block = {"type": "text", "text": "ok", **mark}
    loops = [m for i in "cdefgh" for m in (acted(i), got(i))]
    for turn in loops[1::2]:
        turn["content"][0]["content"] = [block]

    wire = sent("anthropic", changed([*TURN, user("go"), *loops], 0, 3, given="anthropic"))

    assert ["cache_control" in str(turn) for turn in wire[2::2]] == [False, False, *[True] * 4]


def test_private_keys_and_blanks_leave_responses_items():
    history = [
        user("old"),
        {"role": "assistant", "content": "x"},
        {"role": "user", "content": [{"type": "input_text", "text": " "}], "_meta": 1},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": ""},
    ]

    wire = dialects.get("responses").wire(changed(history, 0, 1, given="responses"))

    assert wire.problems == ()
    assert wire.messages[1] == user("[empty message]")
    assert wire.messages[3]["output"] == "[empty result]"


def test_the_body_has_the_keys_of_its_format():
    body = {"system": "be good", "messages": [user("a")]}
    view = View.of(formats.parse(body, format="anthropic").entries)

    assert dialects.get("anthropic").wire(view).body() == body
    assert list(dialects.get("responses").wire(view).body()) == ["instructions", "input"]
    assert list(dialects.get("openai").wire(view).body()) == ["messages"]


# ------------------------------------------------------------------------------- late results


def ran(call, arguments="{}"):
    return {"type": "function_call", "call_id": call, "name": "f", "arguments": arguments}


def gave(call, output="ok"):
    return {"type": "function_call_output", "call_id": call, "output": output}


LATE = [ran("c"), user("first"), user("old"), gave("c", "late"), user("go on")]


def test_a_responses_call_whose_late_output_was_replaced_goes_with_it():
    wire = dialects.get("responses").wire(changed(LATE, 2, 3, given="responses"))

    assert wire.problems == ()
    assert [item.get("call_id") for item in wire.messages] == [None, None, None]
    assert wire.repaired == ("dropped a call or an output whose partner is gone",)


def test_a_responses_output_behind_a_message_stays_where_nothing_was_cut():
    history = [user("old"), user("older"), *LATE]

    assert sent("responses", changed(history, 0, 1, given="responses"))[1:] == LATE


def test_a_call_asked_twice_keeps_the_one_that_has_its_output():
    history = [user("old"), ran("c"), ran("c"), gave("c"), user("go on")]

    wire = dialects.get("responses").wire(changed(history, 0, 0, given="responses"))

    assert wire.problems == ()
    assert wire.messages[1:] == [ran("c"), gave("c"), user("go on")]


def test_a_running_call_behind_a_lost_output_is_still_running():
    history = [user("old"), gave("x"), ran("c")]

    messages = sent("responses", changed(history, 0, 0, given="responses"))

    assert messages[1:] == [ran("c")]


@pytest.mark.parametrize("name", ["openai", "openai-strict", "anthropic"])
def test_a_late_output_moves_to_its_call_in_formats_that_want_it_there(name):
    wire = dialects.get(name).wire(View.of(formats.parse(LATE, format="responses").entries))

    assert wire.problems == ()
    assert "late" in str(wire.messages[:3])
    assert "moved a late result to its call" in wire.repaired


def test_lost_calls_that_meet_across_a_cut_are_not_one_call_twice():
    history = [said("a", "c", "d"), said("", "e"), result("e"), said("b", "c", "d")]

    view = changed(history, 1, 2, new=[], kind="pruned")

    assert [problem.rule for problem in dialects.get("openai").wire(view).problems] == [
        "calls_pending"
    ]
