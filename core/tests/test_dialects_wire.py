"""Whatever is replaced in a valid history, what goes out is valid, and what was sent stays."""

import contextlib
import copy
import itertools
import json
import os

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from perdure import dialects, formats
from perdure.errors import InvariantError
from perdure.messages import group, is_system, text_of, tool_calls_of
from perdure.transcript import Transcript, View

# ------------------------------------------------------------------------- strategies

WORDS = st.sampled_from(["a", "read it", "größe", "日本語", "😀 fine", "NUL \x00", "line\nline"])
PIXEL = "data:image/png;base64,iVBORw0KGgo="
IMAGE = {"type": "image_url", "image_url": {"url": PIXEL}}


def parts(text):
    return st.sampled_from([text, [{"type": "text", "text": text}]])


user_contents = st.one_of(
    WORDS.flatmap(parts), WORDS.map(lambda text: [{"type": "text", "text": text}, IMAGE])
)
result_contents = st.one_of(WORDS.flatmap(parts), st.sampled_from(["", "   ", "half \ud835"]))


@st.composite
def chat_units(draw, number):
    """An assistant with parallel calls and all results."""
    ids = [f"c{number}_{at}" for at in range(draw(st.integers(1, 3)))]
    calls = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
        for one in ids
    ]
    message = {"role": "assistant", "content": draw(st.sampled_from([None, "", "so"]))}
    if draw(st.booleans()):
        message["reasoning_content"] = "because"
    if draw(st.booleans()):
        message["_meta"] = {"ts": 1}
    order = draw(st.permutations(ids))
    results = [
        {"role": "tool", "tool_call_id": one, "content": draw(result_contents)} for one in order
    ]
    return [{**message, "tool_calls": calls}, *results]


@st.composite
def chats(draw, *, whole=False):
    """A valid chat: optional system, then turns with tool loops; may end anywhere."""
    made = [{"role": "system", "content": "be good"}] if draw(st.booleans()) else []
    for turn in range(draw(st.integers(1, 4))):
        made.append({"role": "user", "content": draw(user_contents)})
        for loop in range(draw(st.integers(0, 3))):
            made += draw(chat_units(f"{turn}_{loop}"))
        made.append({"role": "assistant", "content": draw(WORDS)})
    return made if whole else made[: draw(st.integers(1, len(made)))]


@st.composite
def anthropic_units(draw, number):
    ids = [f"t{number}_{at}" for at in range(draw(st.integers(1, 3)))]
    thought = {"type": "thinking", "thinking": f"hm {number}", "signature": f"sig{number}"}
    blocks = [thought] if draw(st.booleans()) else []
    if draw(st.booleans()):
        blocks.append({"type": "text", "text": draw(WORDS)})
    blocks += [{"type": "tool_use", "id": one, "name": "f", "input": {"a": 1}} for one in ids]
    answers = [
        {"type": "tool_result", "tool_use_id": one, "content": [{"type": "text", "text": "ok"}]}
        for one in draw(st.permutations(ids))
    ]
    if draw(st.integers(0, 4)) == 0:
        answers.append({"type": "text", "text": "<system-reminder>be brief</system-reminder>"})
    return [{"role": "assistant", "content": blocks}, {"role": "user", "content": answers}]


@st.composite
def anthropic_chats(draw, *, whole=False):
    made = []
    for turn in range(draw(st.integers(1, 4))):
        made.append({"role": "user", "content": draw(WORDS)})
        for loop in range(draw(st.integers(0, 3))):
            made += draw(anthropic_units(f"{turn}_{loop}"))
        thought = {"type": "redacted_thinking", "data": f"seal{turn}"}
        text = {"type": "text", "text": draw(WORDS)}
        made.append({"role": "assistant", "content": [thought, text]})
    return made if whole else made[: draw(st.integers(1, len(made)))]


@st.composite
def responses_chats(draw):
    made = []
    for turn in range(draw(st.integers(1, 4))):
        made.append({"role": "user", "content": draw(WORDS)})
        for loop in range(draw(st.integers(0, 3))):
            one = f"f{turn}_{loop}"
            reasoning = {"type": "reasoning", "id": f"rs_{one}", "summary": []}
            call = {"type": "function_call", "call_id": one, "name": "f", "arguments": "{}"}
            made += [reasoning] if draw(st.booleans()) else []
            made += [call, {"type": "function_call_output", "call_id": one, "output": "ok"}]
        made.append({"role": "assistant", "content": draw(WORDS)})
    return made


@st.composite
def changed_views(draw, histories=None):
    """A view of a valid history with one to three replacements over whole units."""
    given_format, history = draw(histories if histories is not None else any_history)
    view = View.of(formats.parse(history, format=given_format).entries)
    for _ in range(draw(st.integers(1, 3))):
        units = [unit for unit in group(view) if not is_system(view[unit.first])]
        if not units:
            break
        start = draw(st.integers(0, len(units) - 1))
        stop = draw(st.integers(start, min(len(units) - 1, start + 4)))
        first, last = units[start].first, units[stop].last
        view = view.apply([draw(replacements(view, first, last))])
    assume(view.replacements)
    return given_format, view


@st.composite
def replacements(draw, view, first, last):
    role = draw(st.sampled_from(["user", "assistant"]))
    mark = {"kind": "handoff", "version": 1}
    handoff = {"role": role, "content": "summary of before", "_perdure": mark}
    kind = draw(st.sampled_from(["handoff", "node", "external", "pruned", "gone"]))
    if kind == "pruned":
        shorter = [
            {**message, "content": "[cut]"} if message["role"] == "tool" else message
            for message in view[first : last + 1]
        ]
        return view.replace(first, last, kind="pruned", messages=shorter)
    if kind == "gone":
        return view.replace(first, last, kind="external")
    return view.replace(first, last, kind=kind, messages=[handoff])


any_history = st.one_of(
    st.tuples(st.just("openai"), chats()),
    st.tuples(st.just("anthropic"), anthropic_chats()),
    st.tuples(st.just("responses"), responses_chats()),
)
whole = {
    "openai": chats(whole=True),
    "anthropic": anthropic_chats(whole=True),
    "responses": responses_chats(),
}
EXAMPLES = int(os.environ.get("DIALECT_EXAMPLES", "30"))
quick = settings(
    max_examples=EXAMPLES,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


def anew(view):
    """Return an equal view that remembers nothing."""
    return View(Transcript(view.transcript.entries()), view.replacements)


def rules(problems):
    return {problem.rule for problem in problems}


# ------------------------------------------------------------------------- properties


@pytest.mark.parametrize("name", dialects.NAMES)
@quick
@given(data=st.data())
def test_a_changed_list_is_valid_on_the_wire(name, data):
    _, view = data.draw(changed_views())
    dialect = dialects.get(name)

    wire = dialect.wire(view)

    running = rules(dialect.wire(View(view.transcript)).problems)
    problems = rules(dialect.validate(wire.messages, wire.system))
    assert problems <= running & {"calls_pending", "result_missing"}
    json.dumps(wire.body(), ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("name", dialects.NAMES)
@quick
@given(data=st.data())
def test_the_view_is_never_mutated(name, data):
    _, view = data.draw(changed_views())
    before = copy.deepcopy([(e.message, e.raw and e.raw.item) for e in view.transcript.entries()])
    made = copy.deepcopy([change.messages for change in view.replacements])

    dialects.get(name).wire(view)

    assert [(e.message, e.raw and e.raw.item) for e in view.transcript.entries()] == before
    assert [change.messages for change in view.replacements] == made


@pytest.mark.parametrize("name", dialects.NAMES)
@quick
@given(data=st.data())
def test_a_growing_list_keeps_what_was_sent(name, data):
    native = {"openai-strict": "openai"}.get(name, name)
    _, view = data.draw(changed_views(st.tuples(st.just(native), whole[native])))
    more = formats.parse(data.draw(whole[native]), format=native).entries
    more = [entry for entry in more if not is_system(entry.message)]
    dialect = dialects.get(name)

    sent = dialect.wire(view).messages
    for entry in more:
        view = view.append([entry])
        wire = dialect.wire(view)
        assert wire.messages[: len(sent) - 1] == sent[:-1]
        assert wire == dialect.wire(anew(view))
        sent = wire.messages


@pytest.mark.parametrize("name", dialects.NAMES)
@quick
@given(data=st.data())
def test_an_unchanged_list_goes_out_as_it_was_given(name, data):
    native = {"openai-strict": "openai"}.get(name, name)
    history = data.draw(whole[native])
    parsed = formats.parse(history, format=native)

    wire = dialects.get(name).wire(View.of(parsed.entries))

    clean = [{k: v for k, v in item.items() if not k.startswith("_")} for item in history]
    assert wire.messages == clean
    assert wire.repaired == ()
    assert len(wire.warnings) == len(wire.problems)


@quick
@given(data=st.data())
def test_calls_keep_their_results_in_every_dialect(data):
    _, view = data.draw(changed_views())
    calls = [call["id"] for message in view for call in tool_calls_of(message)]

    wire = dialects.get("openai").wire(view)

    sent = [call["id"] for message in wire.messages for call in message.get("tool_calls") or ()]
    assert len(sent) == len(calls)


@quick
@given(data=st.data())
def test_no_role_speaks_twice_in_a_row(data):
    _, view = data.draw(changed_views(st.tuples(st.just("openai"), chats())))

    roles = [message["role"] for message in dialects.get("openai").wire(view).messages]

    pairs = itertools.pairwise(roles)
    assert not any(one == two and one != "tool" for one, two in pairs)


@pytest.mark.parametrize("name", ["openai", "openai-strict"])
@quick
@given(data=st.data())
def test_what_was_not_replaced_is_still_said_word_for_word(name, data):
    _, view = data.draw(changed_views(st.tuples(st.just("openai"), chats())))
    typed = [
        text_of(message)
        for index, message in enumerate(view)
        if view.replacement_at(index) is None and message["role"] == "user"
    ]

    sent = [text_of(m) for m in dialects.get(name).wire(view).messages if m["role"] == "user"]

    remaining = iter(sent)
    current = next(remaining, "")
    for text in typed:
        while text not in current:
            current = next(remaining)


@quick
@given(data=st.data())
def test_thinking_comes_back_as_it_was_or_not_at_all(data):
    _, view = data.draw(changed_views(st.tuples(st.just("anthropic"), anthropic_chats())))
    given_items = [entry.raw.item for entry in view.transcript.entries() if entry.raw]

    wire = dialects.get("anthropic").wire(view)

    kept = [block for item in given_items for block in thoughts(item)]
    assert all(any(block is old for old in kept) for m in wire.messages for block in thoughts(m))
    for message in wire.messages:
        assert all("thinking" not in block["type"] for block in blocks_of(message)[1:])


def thoughts(item):
    return [block for block in blocks_of(item) if "thinking" in block["type"]]


def blocks_of(item):
    content = item["content"] if isinstance(item, dict) else item
    return content if isinstance(content, list) else []


anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.sampled_from(["", "x", "\ud800", "{}"])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(
                ["type", "text", "id", "function", "name", "arguments", "content", "tool_use_id"]
            ),
            inner,
            max_size=3,
        ),
    ),
    max_leaves=6,
)
odd_messages = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["system", "user", "assistant", "tool", "function"]),
        "content": anything,
    },
    optional={"tool_calls": anything, "tool_call_id": anything, "name": anything},
)


@pytest.mark.parametrize("name", dialects.NAMES)
@quick
@given(messages=st.lists(odd_messages, min_size=1, max_size=5))
def test_malformed_messages_raise_nothing_unplanned(name, messages):
    view = View.of([{"role": "user", "content": "a"}, *messages])
    dialect = dialects.get(name)

    dialect.validate(messages)
    dialect.wire(view)
    handoff = {"role": "user", "content": "summary"}
    with contextlib.suppress(InvariantError):
        dialect.wire(view.apply([view.replace(0, 0, kind="handoff", messages=[handoff])]))
