"""Each rule of each dialect is found once, named, placed and put into a sentence."""

import pytest

from perdure import dialects
from perdure.errors import ConfigError

USER = {"role": "user", "content": "hi"}
ANSWER = {"role": "assistant", "content": "hello"}


def call(*ids, content=None, arguments="{}"):
    calls = [
        {"id": one, "type": "function", "function": {"name": "f", "arguments": arguments}}
        for one in ids
    ]
    return {"role": "assistant", "content": content, "tool_calls": calls}


def result(one, content="done"):
    return {"role": "tool", "tool_call_id": one, "content": content}


def found(name, messages, system=None):
    return [(p.rule, p.index) for p in dialects.get(name).validate(messages, system)]


OPENAI = [
    ([USER, call("a", "b"), result("b"), result("a"), ANSWER], []),
    ([USER, call("a"), result("a"), call("a"), result("a"), ANSWER], []),
    ([USER, call("a", "b"), result("a"), USER], [("result_missing", 1)]),
    ([USER, call("a"), result("b")], [("result_orphan", 2), ("calls_pending", 1)]),
    ([USER, result("a")], [("result_orphan", 1)]),
    ([USER, call("a"), result("a"), result("a")], [("result_orphan", 3)]),
    ([USER, call("a", "a"), result("a"), result("a")], [("call_id", 1)]),
    ([USER, call(""), result("")], [("call_id", 1)]),
    ([USER, call("a")], [("calls_pending", 1)]),
    ([USER, call("a", arguments="{"), result("a")], [("arguments", 1)]),
    ([USER, call("a", arguments="[1]"), result("a")], [("arguments", 1)]),
    ([USER, call("a", arguments={}), result("a")], [("arguments", 1)]),
    ([USER, {"role": "assistant", "content": None}], [("content_null", 1)]),
    ([USER, {"role": "assistant", "content": None, "refusal": "no"}], []),
    ([USER, {"role": "assistant", "content": " \n"}], [("content_empty", 1)]),
    ([{"role": "user", "content": []}], [("content_empty", 0)]),
    ([{"role": "user", "content": [{"type": "text", "text": ""}]}], [("content_empty", 0)]),
    ([{"role": "user", "content": "x", "_meta": 1}], [("keys", 0)]),
    ([{"role": "user", "content": "x", "ts": 1}], [("keys", 0)]),
    ([{"role": "user", "content": "half \ud835"}], [("utf8", 0)]),
    ([{"role": "user", "content": "NUL \x00 and 😀"}], []),
    ([{"role": "king", "content": "x"}], [("role", 0)]),
    ([{"role": "user", "content": 5}], [("shape", 0)]),
    (["text"], [("shape", 0)]),
    (
        [{"role": "system", "content": "x"}, {"role": "developer", "content": "y"}, USER],
        [("system_role", 1)],
    ),
    ([{"role": "function", "name": "f", "content": "x"}], [("result_orphan", 0)]),
    ([ANSWER, USER, USER], []),
]


@pytest.mark.parametrize(("messages", "expected"), OPENAI)
def test_openai_rules(messages, expected):
    assert found("openai", messages) == expected


SYSTEM = {"role": "system", "content": "be good"}
STRICT = [
    ([SYSTEM, USER, call("a"), result("a"), ANSWER, USER], []),
    ([SYSTEM, SYSTEM, USER], [("system_position", 1)]),
    ([USER, ANSWER, SYSTEM, USER], [("system_position", 2)]),
    ([USER, USER], [("alternation", 1)]),
    ([ANSWER, USER], [("opens_with_user", 0), ("alternation", 0)]),
    ([SYSTEM], [("user_missing", 0)]),
    ([], [("user_missing", 0)]),
    ([USER, call("a"), result("a"), USER], [("user_behind_result", 3), ("alternation", 3)]),
    ([USER, ANSWER, call("a"), result("a"), ANSWER], [("alternation", 4)]),
]


@pytest.mark.parametrize(("messages", "expected"), STRICT)
def test_strict_template_rules(messages, expected):
    assert found("openai-strict", messages) == expected


def use(*ids, **extra):
    blocks = [{"type": "tool_use", "id": one, "name": "f", "input": {}, **extra} for one in ids]
    return {"role": "assistant", "content": blocks}


def results(*ids, then=()):
    blocks = [{"type": "tool_result", "tool_use_id": one, "content": "ok"} for one in ids]
    return {"role": "user", "content": [*blocks, *then]}


TEXT = {"type": "text", "text": "and this"}
MARKED = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": "sig"}
ANTHROPIC = [
    ([USER, use("a", "b"), results("b", "a", then=[TEXT]), ANSWER], []),
    ([USER, use("a", "b"), results("a")], [("result_missing", 2)]),
    ([USER, use("a"), USER], [("result_missing", 2)]),
    ([USER, use("a"), results("b")], [("result_missing", 2), ("result_orphan", 2)]),
    ([results("a")], [("result_orphan", 0)]),
    (
        [
            USER,
            use("a"),
            {"role": "user", "content": [TEXT, *results("a")["content"]]},
        ],
        [("results_first", 2)],
    ),
    ([USER, use("a")], [("calls_pending", 1)]),
    ([USER, use("a", "a"), results("a", "a")], [("call_id", 1)]),
    ([USER, use("a", input="{}"), results("a")], [("arguments", 1)]),
    ([{"role": "user", "content": use("a")["content"]}], [("block_role", 0), ("calls_pending", 0)]),
    ([ANSWER], [("opens_with_user", 0)]),
    ([USER, USER], [("alternation", 1)]),
    ([{"role": "user", "content": ""}], [("content_empty", 0)]),
    ([{"role": "user", "content": [{"type": "text", "text": " "}]}], [("content_empty", 0)]),
    ([{"role": "user", "content": []}], [("content_empty", 0)]),
    ([{"role": "tool", "content": "x"}], [("role", 0)]),
    ([{"role": "user", "content": None}], [("shape", 0)]),
    ([{"role": "user", "content": ["x"]}], [("shape", 0)]),
    ([{"role": "user", "content": "x", "name": "n"}], [("keys", 0)]),
    ([USER, {"role": "assistant", "content": [THOUGHT, TEXT]}], []),
    (
        [USER, {"role": "assistant", "content": [{**THOUGHT, "signature": ""}, TEXT]}],
        [("thinking_signature", 1)],
    ),
    ([{"role": "user", "content": [THOUGHT]}], [("block_role", 0)]),
    ([{"role": "user", "content": [MARKED] * 5}], [("cache_marks", 0)]),
    ([{"role": "user", "content": "half \udc00"}], [("utf8", 0)]),
]


@pytest.mark.parametrize(("messages", "expected"), ANTHROPIC)
def test_anthropic_rules(messages, expected):
    assert found("anthropic", messages) == expected


def test_cache_marks_in_the_system_prompt_count():
    messages = [{"role": "user", "content": [MARKED] * 3}]

    assert found("anthropic", messages, [MARKED]) == []
    assert found("anthropic", messages, [MARKED, MARKED]) == [("cache_marks", 0)]


def fcall(one, arguments="{}"):
    return {"type": "function_call", "call_id": one, "name": "f", "arguments": arguments}


def fout(one):
    return {"type": "function_call_output", "call_id": one, "output": "ok"}


REASONING = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "xx"}
RESPONSES = [
    ([USER, REASONING, fcall("a"), fcall("b"), fout("b"), fout("a"), ANSWER], []),
    ([USER, fcall("a")], [("calls_pending", 1)]),
    ([USER, fcall("a"), USER], [("result_missing", 1)]),
    ([USER, fout("a")], [("result_orphan", 1)]),
    ([USER, REASONING, USER], [("reasoning_alone", 1)]),
    ([USER, REASONING], [("reasoning_alone", 1)]),
    ([USER, fcall("a", "{"), fout("a")], [("arguments", 1)]),
    ([USER, fcall("a"), fcall("a"), fout("a")], [("call_id", 2)]),
    ([{"role": "assistant", "content": [{"type": "input_text", "text": "x"}]}], [("part_type", 0)]),
    ([{"role": "user", "content": [{"type": "output_text", "text": "x"}]}], [("part_type", 0)]),
    ([{"role": "user", "content": ""}], [("content_empty", 0)]),
    ([{"role": "tool", "content": "x"}], [("role", 0)]),
    ([{"name": "x"}], [("shape", 0)]),
    ([{**fcall("a"), "_x": 1}, fout("a")], [("keys", 0)]),
    ([{"type": "item_reference", "id": "x"}, {"type": "compaction", "encrypted_content": "x"}], []),
]


@pytest.mark.parametrize(("messages", "expected"), RESPONSES)
def test_responses_rules(messages, expected):
    assert found("responses", messages) == expected


def test_a_problem_is_a_full_sentence():
    (problem,) = dialects.get("openai").validate([USER, result("a")])

    assert problem.text == (
        "message 1 breaks 'result_orphan': found a result for 'a'; "
        "the provider answers 400: a tool message must answer a call just before it"
    )


@pytest.mark.parametrize("name", dialects.NAMES)
def test_a_copied_validator_goes_its_own_way(name):
    first = dialects.get(name).validator()
    first.feed(USER)
    second = first.copy()
    second.feed(use("a") if name == "anthropic" else call("a"))

    assert first.finish() == []
    assert second.index == 2
    assert first.index == 1


def test_finishing_does_not_end_the_validator():
    validator = dialects.get("openai").validator()
    validator.feed(USER)
    validator.feed(call("a"))

    assert [problem.rule for problem in validator.finish()] == ["calls_pending"]
    assert validator.feed(result("a")) == []
    assert validator.finish() == []


MALFORMED = [
    None,
    3,
    [],
    {},
    {"role": []},
    {"role": "assistant", "content": None, "tool_calls": "x"},
    {"role": "assistant", "content": None, "tool_calls": [None, {}, {"id": {}, "function": 3}]},
    {"role": "tool", "tool_call_id": [], "content": {"a": 1}},
    {"role": "user", "content": [None, 3, {"type": []}, {"type": "text", "text": 5}]},
    {"role": "assistant", "content": [{"type": "tool_use", "id": [], "input": 3}]},
    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": {}, "content": 5}]},
    {"type": "function_call", "call_id": [], "arguments": 3},
    {"type": "function_call_output", "call_id": {}, "output": None},
    {"role": "user", 5: "x", "content": "x"},
]


@pytest.mark.parametrize("name", dialects.NAMES)
def test_malformed_messages_are_problems_and_never_errors(name):
    validator = dialects.get(name).validator()
    for message in MALFORMED:
        validator.feed(message)
    validator.finish()

    for message in MALFORMED[:5]:
        assert dialects.get(name).validator().feed(message)


def test_an_unknown_dialect_names_the_nearest():
    with pytest.raises(ConfigError, match="did you mean 'anthropic'") as caught:
        dialects.get("antropic")

    assert caught.value.nearest == "anthropic"


def test_dialects_know_their_name_and_format():
    made = {name: dialects.get(name).format for name in dialects.NAMES}

    assert made == {
        "openai": "openai",
        "openai-strict": "openai",
        "anthropic": "anthropic",
        "responses": "responses",
    }
    assert all(dialects.get(name).name == name for name in dialects.NAMES)
