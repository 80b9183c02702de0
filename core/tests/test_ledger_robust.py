"""Whatever comes in, the ledger neither raises nor slows down beyond the size of the input."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from perdure.messages import digest
from perdure.stock.ledger import Ledger, build, facts_of, render, render_quotations
from perdure.stock.ledger import words as ledger_words

JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
ROLES = st.sampled_from(["user", "assistant", "tool", "system", "developer", "function", "", "x"])
CALLS = st.lists(
    JUNK
    | st.fixed_dictionaries(
        {
            "id": JUNK,
            "function": JUNK | st.fixed_dictionaries({"name": JUNK, "arguments": JUNK}),
        }
    ),
    max_size=3,
)
MESSAGES = st.fixed_dictionaries(
    {"role": ROLES | JUNK, "content": st.text() | JUNK},
    optional={"tool_calls": CALLS | JUNK, "tool_call_id": JUNK, "is_error": JUNK, "name": JUNK},
)
ANY_TEXT = st.text(st.characters(), max_size=300)


@settings(max_examples=150, deadline=None)
@given(st.lists(MESSAGES | JUNK, max_size=6))
def test_malformed_messages_never_raise(messages):
    ledger = build(None, [(i, facts_of(message)) for i, message in enumerate(messages)])
    stored = json.loads(json.dumps(ledger.to_json()))
    assert Ledger.from_json(stored) == ledger
    render(ledger, count=len, budget_tokens=500, rules_budget_tokens=200)


@settings(max_examples=100, deadline=None)
@given(ANY_TEXT, st.sampled_from(["user", "assistant", "tool", "system"]))
def test_any_text_merges_once_and_renders_to_sendable_text(text, role):
    message = {"role": role, "content": text}
    items = [(0, facts_of(message, digest=digest(message)))]
    ledger = build(None, items)
    assert build(ledger, items) == ledger
    found = render(ledger, count=len, budget_tokens=900, rules_budget_tokens=900).text
    found += render_quotations(ledger, count=len, budget_tokens=900).text
    found.encode("utf-8")


PIECES = [
    "a", " ", "-", "\n", "\t", ".", "!", ". ", "(", ")", "]", "}", "*", "_", "#", "$", "=", ":", "~", "5", "5 ", '"a', "`a", "。", "|", '"', "`", "0", "1,", "a.a.", "a-", "@", "<a>\n",
    "</a>\n<a>\n", "```\n", "> x\n", "+x\n", "diff --git a\n", "never ", "- never do it\n",
    "from a to ", "x -> y ", "no longer ", "the budget is 5. ", "error ", "必", "あ", "한 ",
    "cd a && ", "rm -f a/b ", 'File "', "<system-reminder>", "at a(", "x=1 ", "http://", "    a\n",
]  # fmt: skip


def _seconds(piece: str, characters: int, role: str) -> float:
    message = {"role": role, "content": piece * (characters // len(piece)), "tool_call_id": "1"}
    started = time.process_time()
    build(None, [(0, facts_of(message))])
    return time.process_time() - started


@pytest.mark.parametrize("role", ["user", "assistant", "tool"])
def test_time_grows_with_the_text_and_not_faster(role):
    facts_of({"role": "user", "content": "warm up"})
    for piece in PIECES:
        small = _seconds(piece, 10_000, role)
        large = _seconds(piece, 40_000, role)
        assert large < 8 * max(small, 0.02), piece


def test_merging_costs_what_is_new():
    message = {"role": "user", "content": "Never touch `a.py`, see AUTH-1."}
    facts = facts_of(message)
    ledger = build(None, [(i, facts) for i in range(20_000)])
    started = time.process_time()
    for index in range(20_000, 20_020):
        ledger = build(ledger, [(index, facts)])
    assert time.process_time() - started < 2


def test_facts_are_remembered_by_digest():
    message = {"role": "user", "content": "Never push."}
    assert facts_of(message, digest=b"same") is facts_of(message, digest=b"same")


TRANSCRIPTS = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "transcripts"


@pytest.mark.skipif(not TRANSCRIPTS.is_dir(), reason=f"no transcripts in {TRANSCRIPTS}")
def test_constraints_of_real_sessions_are_visible_at_twelve_thousand_tokens():
    shown = total = 0
    for path in sorted(TRANSCRIPTS.glob("*.probes.jsonl")):
        lines = (
            path.with_name(path.name.replace("probes", "openai")).read_text("utf-8").splitlines()
        )
        ledger = build(None, [(i, facts_of(json.loads(line))) for i, line in enumerate(lines)])
        quoted = render_quotations(ledger, count=_estimate, budget_tokens=4_000)
        rest = 12_000 - _estimate(quoted.text)
        text = render(
            ledger,
            count=_estimate,
            budget_tokens=rest,
            rules_budget_tokens=rest // 2,
            quoted=quoted.whole,
        ).text
        for line in path.read_text("utf-8").splitlines():
            probe = json.loads(line)
            if probe["kind"] == "user constraint":
                total += 1
                shown += probe["answer"] in quoted.text + text
    assert shown >= 0.9 * total


def _estimate(text: str) -> int:
    """Return about what a tokeniser counts: four ASCII characters or one other to a token."""
    wide = sum(1 for character in text if ord(character) > 127)
    return (len(text) - wide + 3) // 4 + wide


LANGUAGES = sorted((Path(ledger_words.__file__).parent / "languages").glob("*.txt"))


@pytest.mark.parametrize("path", LANGUAGES, ids=lambda path: path.stem)
def test_word_lists_hold_no_unbounded_repeats(path):
    text = path.read_text("utf-8").partition("[taken_back_cues]")[0]
    assert re.findall(r".*(?:(?<!\\)\+|(?<!\\w)(?<!\\)\*).*", text) == []
