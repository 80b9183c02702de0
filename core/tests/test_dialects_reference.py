"""Our verdicts agree with an independent judge of message lists, and hold on real sessions.

The judge and the sessions lie beside the repository and are not part of it.
"""

import importlib.util
import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure import dialects, formats
from perdure.messages import group, is_system
from perdure.transcript import View

SHARED = Path(__file__).resolve().parents[3] / "shared"
JUDGE = SHARED / "cases" / "check.py"
SESSIONS = SHARED / "data" / "transcripts"

needs_judge = pytest.mark.skipif(not JUDGE.exists(), reason=f"no judge at {JUDGE}")


@pytest.fixture(scope="module")
def judge():
    spec = importlib.util.spec_from_file_location("reference_judge", JUDGE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


# ------------------------------------------------------------------------- random lists

texts = st.sampled_from(["", " ", "text", "half \ud800"])
ids = st.sampled_from(["a", "b", "c"])
functions = st.sampled_from(["{}", "{", "[]"]).map(lambda args: {"name": "f", "arguments": args})
calls = st.fixed_dictionaries({"id": ids, "type": st.just("function"), "function": functions})
contents = st.one_of(texts, st.lists(texts.map(lambda t: {"type": "text", "text": t}), max_size=2))
extra = st.sampled_from([{}, {}, {}, {"_meta": 1}])
chat_messages = st.one_of(
    st.builds(lambda c, e: {"role": "user", "content": c, **e}, contents, extra),
    st.builds(lambda c: {"role": "assistant", "content": c}, st.one_of(st.none(), contents)),
    st.builds(
        lambda c, t: {"role": "assistant", "content": c, "tool_calls": t},
        st.one_of(st.none(), contents),
        st.lists(calls, min_size=1, max_size=2),
    ),
    st.builds(lambda i, c: {"role": "tool", "tool_call_id": i, "content": c}, ids, texts),
)
blocks = st.one_of(
    texts.map(lambda t: {"type": "text", "text": t}),
    ids.map(lambda i: {"type": "tool_use", "id": i, "name": "f", "input": {}}),
    ids.map(lambda i: {"type": "tool_result", "tool_use_id": i, "content": "x"}),
)


def turns_of(role, kinds):
    content = st.one_of(texts, st.lists(kinds, max_size=3))
    return content.map(lambda given: {"role": role, "content": given})


no_results = blocks.filter(lambda block: block["type"] != "tool_result")
turns = st.one_of(turns_of("user", blocks), turns_of("assistant", no_results))
PAIRS = {"result_missing", "result_orphan", "results_first"}
CHAT = {
    "tool_pairs_valid": {*PAIRS, "call_id"},
    "no_empty_content": {"content_empty", "content_null"},
    "json_args_valid": {"arguments"},
    "wire_keys_clean": {"keys"},
    "wire_utf8": {"utf8"},
}
ANTHROPIC = {
    "tool_pairs_valid": {*PAIRS, "block_role"},
    "roles_alternate_ok": {"alternation"},
    "no_empty_content": {"content_empty"},
    "wire_utf8": {"utf8"},
}


def verdicts(judge, rules, messages, given_format):
    return {name: bool(getattr(judge, name)(messages, given_format)) for name in rules}


def ours(rules, name, messages):
    found = {problem.rule for problem in dialects.get(name).validate(messages)}
    return {check: bool(found & rules[check]) for check in rules}


@needs_judge
@settings(max_examples=100, deadline=None)
@given(messages=st.lists(chat_messages, max_size=6))
def test_chat_verdicts_agree(judge, messages):
    assert ours(CHAT, "openai", messages) == verdicts(judge, CHAT, messages, "openai")


@needs_judge
@settings(max_examples=100, deadline=None)
@given(messages=st.lists(chat_messages, max_size=6))
def test_strict_verdicts_agree(judge, messages):
    rules = {"roles_strict_template": {"alternation"}}

    assert ours(rules, "openai-strict", messages) == verdicts(judge, rules, messages, "openai")


@needs_judge
@settings(max_examples=100, deadline=None)
@given(messages=st.lists(turns, max_size=5))
def test_anthropic_verdicts_agree(judge, messages):
    expected = verdicts(judge, ANTHROPIC, messages, "anthropic")

    assert ours(ANTHROPIC, "anthropic", messages) == expected


# ------------------------------------------------------------------------- real sessions

HANDOFF = {"role": "user", "content": "[summary]", "_perdure": {"kind": "handoff"}}
FILES = sorted(SESSIONS.glob("*.openai.jsonl")) + sorted(SESSIONS.glob("*.anthropic.jsonl"))


def load(path, most=600):
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line, _ in zip(lines, range(most), strict=False)]


def compacted(messages, given_format, handoff):
    """Head of two units, handoff, the last third of the units."""
    view = View.of(formats.parse(messages, format=given_format).entries)
    units = [unit for unit in group(view) if not is_system(view[unit.first])]
    first, last = units[2].first, units[len(units) * 2 // 3].last
    return view.apply([view.replace(first, last, kind="handoff", messages=[handoff])])


@needs_judge
@pytest.mark.skipif(not FILES, reason=f"no sessions in {SESSIONS}")
@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_compacted_real_session_is_valid_in_every_dialect(judge, path, role):
    given_format = path.name.split(".")[1]
    view = compacted(load(path), given_format, {**HANDOFF, "role": role})
    plain = View(view.transcript)

    for name in dialects.NAMES:
        dialect = dialects.get(name)
        before = {problem.rule for problem in dialect.wire(plain).problems}
        wire = dialect.wire(view)
        after = {problem.rule for problem in wire.problems}
        assert after <= before
        if dialect.format == "openai":
            for check in ("tool_pairs_valid", "no_empty_content", "wire_keys_clean", "wire_utf8"):
                assert getattr(judge, check)(wire.messages, "openai") == []
        if name == "openai-strict":
            assert judge.roles_strict_template(wire.messages, "openai") == []
            assert judge.roles_alternate_ok(wire.messages, "openai") == []


def test_a_request_of_a_long_session_costs_what_is_new():
    loop = [
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
            ],
        },
        {"role": "tool", "tool_call_id": "c", "content": "ok"},
    ]
    view = View.of([{"role": "user", "content": "go"}, *loop * 8000])
    view = view.apply([view.replace(1, 100, kind="handoff", messages=[HANDOFF])])
    dialect = dialects.get("openai-strict")
    started = time.perf_counter()
    dialect.wire(view)
    whole_s = time.perf_counter() - started

    started = time.perf_counter()
    for _ in range(5):
        view = view.append(loop)
        dialect.wire(view)
    each_s = (time.perf_counter() - started) / 5

    assert each_s < whole_s / 5
