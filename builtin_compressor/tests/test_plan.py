"""Cuts fall between units, the latest user message survives, and there is one handoff."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from perdure import handoff
from perdure.messages import group
from perdure.transcript import View
from perdure_compressor.assemble import handoff_role
from perdure_compressor.plan import Plan, make_plan


def call(number: int, results: int = 1) -> list[dict]:
    calls = [
        {"id": f"{number}-{i}", "type": "function", "function": {"name": "f", "arguments": "{}"}}
        for i in range(results)
    ]
    return [
        {"role": "assistant", "content": None, "tool_calls": calls},
        *(
            {"role": "tool", "tool_call_id": f"{number}-{i}", "content": f"result {number}"}
            for i in range(results)
        ),
    ]


def user(text: str) -> dict:
    return {"role": "user", "content": text}


def said(text: str) -> dict:
    return {"role": "assistant", "content": text}


SYSTEM = {"role": "system", "content": "You help."}
SCRIPT = st.lists(
    st.one_of(
        st.just([user("ask")]),
        st.just([said("reply")]),
        st.integers(1, 3).map(lambda n: call(0, n)),
    ),
    max_size=25,
).map(lambda parts: [SYSTEM, *(message for part in parts for message in part)])


def planned(messages: list[dict], counts: list[int], first: int = 3, tail: int = 100):
    return make_plan(View.of(messages), counts, protect_first_n=first, tail_tokens=tail)


def test_chat_that_fits_the_tail_is_left_alone():
    messages = [SYSTEM, user("hi"), said("hello"), user("how are you?")]

    assert planned(messages, [5] * 4) is None


def test_head_tail_and_middle_are_cut_by_budget():
    messages = [SYSTEM, *(m for i in range(20) for m in (user(f"q{i}"), said(f"a{i}")))]

    plan = planned(messages, [10] * len(messages))

    assert plan == Plan(system_end=1, head_end=4, tail_start=len(messages) - 7)


def test_a_call_is_never_parted_from_its_results():
    messages = [SYSTEM, user("go"), *(m for i in range(9) for m in call(i, 3))]
    for tail in range(10, 300, 7):
        plan = planned(messages, [10] * len(messages), tail=tail)
        edges = {unit.first for unit in group(messages)} | {len(messages)}

        assert plan is None or {plan.head_end, plan.tail_start} <= edges


def test_latest_user_message_before_a_long_loop_is_an_anchor():
    messages = [SYSTEM, user("old"), said("ok"), user("go on"), said("sure"), user("Only b.md!")]
    messages += [m for i in range(30) for m in call(i)]

    plan = planned(messages, [10] * len(messages), first=1)

    assert [messages[i]["content"] for i in plan.anchors] == ["sure", "Only b.md!"]


def test_one_giant_result_does_not_eat_the_tail():
    messages = [SYSTEM, *(m for i in range(9) for m in (user(f"q{i}"), *call(i), said("ok")))]
    counts = [10] * len(messages)
    counts[-2] = 100_000

    plan = planned(messages, counts, tail=200)

    assert len(messages) - plan.tail_start >= 10


def test_head_is_protected_before_the_first_compaction_only():
    mark = handoff.make("record", "user")
    messages = [SYSTEM, user("first"), said("ok"), mark]
    messages += [m for i in range(20) for m in (said(f"a{i}"), user(f"q{i}"))]

    plan = planned(messages, [10] * len(messages))

    assert plan.head_end == 1


def test_nothing_new_behind_a_handoff_is_nothing_to_do():
    mark = handoff.make("record", "user")
    messages = [SYSTEM, user("first"), said("ok"), mark, said("a"), user("q")]

    assert planned(messages, [10] * len(messages)) is None


def test_role_of_the_handoff_fits_its_neighbours():
    messages = [SYSTEM, user("a"), said("b"), user("c"), said("d"), user("e"), said("f")]
    view = View.of(messages)

    def role(head_end: int, tail_start: int) -> str:
        return handoff_role(view, Plan(1, head_end, tail_start))

    assert role(1, 4) == "user"
    assert role(2, 5) == "assistant"
    assert role(3, 4) == "user"
    assert role(3, 5) == "user"


@given(SCRIPT, st.data())
def test_every_plan_keeps_the_rules(messages, data):
    counts = data.draw(st.lists(st.integers(1, 400), min_size=len(messages),
                                max_size=len(messages)))  # fmt: skip
    first = data.draw(st.integers(0, 5))
    tail = data.draw(st.integers(1, 2_000))

    plan = planned(messages, counts, first, tail)

    if plan is None:
        return
    units = group(messages)
    edges = {unit.first for unit in units} | {len(messages)}
    assert {plan.head_end, plan.tail_start} <= edges
    assert 1 <= plan.head_end < plan.tail_start < len(messages)
    assert plan.head_end - 1 <= first
    asks = [i for i, m in enumerate(messages) if m["role"] == "user"]
    if asks and plan.head_end <= asks[-1] < plan.tail_start:
        assert asks[-1] in plan.anchors
    assert all(i in plan.middle for i in plan.anchors)
