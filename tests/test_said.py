"""What people really say in nine languages: rules, what is none, and values that change."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from said import LANGUAGES, LOG, as_written, bound, holds, is_replaced, measured, pairs, sayings

from perdure.stock.ledger import facts_of

SMALL = ("english", "chinese", "russian")
EVERY = [
    name if name in SMALL else pytest.param(name, marks=pytest.mark.soak) for name in LANGUAGES
]
HALVES = pytest.mark.parametrize("half", [0, 1], ids=["first half", "second half"])
# Shares of the sayings in percent; sayings that nobody looked at while the lists were made.
AT_LEAST = {"alone": 80, "plain": 80, "written": 78, "explicit": 60, "implicit": 70}
AT_MOST = {"false": 16, "wrong": 0}


@HALVES
@pytest.mark.parametrize("language", EVERY)
def test_most_rules_are_found_and_little_else(language, half):
    rows = measured(language, half)
    shares = {name: 100 * hits / tries for name, (hits, tries) in rows.items()}

    assert {name: share for name, share in shares.items() if share < AT_LEAST.get(name, 0)} == {}
    assert {name: share for name, share in shares.items() if share > AT_MOST.get(name, 100)} == {}


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_values_for_two_things_both_hold(language):
    both = [pair for half in (0, 1) for pair in pairs(language, "B", half)]

    assert [pair for pair in both if is_replaced(*pair) or is_replaced(*pair[::-1])] == []


@pytest.mark.parametrize("role", ["tool", "function"])
def test_what_a_tool_prints_is_no_rule_in_any_language(role):
    printed = "\n".join(text for name in LANGUAGES for text in sayings(name, "R", 0))

    assert facts_of({"role": role, "content": printed, "tool_call_id": "a"}).statements == ()


def test_pasted_blocks_between_typed_lines_give_no_rules():
    rule = "Never push to main."
    for text in as_written(rule, ["It works.", "Thanks.", "Fine."], " "):
        assert holds(text, "ever push to main")
        assert not any("must not be restarted" in sentence for sentence in bound(text))
    assert bound(f"look at this\n\n{LOG}\n\nwhy?") == []


def squeezed(text: str) -> str:
    """Return a text with one blank for any space, as a wrapped line is put together."""
    return " ".join(text.split())


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.sampled_from([text for name in LANGUAGES for text in sayings(name, "R", 0)]), max_size=6
    ),
    st.text(max_size=40),
)
def test_any_mix_of_languages_is_read_whole_and_twice_the_same(rules, noise):
    message = {"role": "user", "content": "\n".join([*rules, noise])}

    first, second = facts_of(message), facts_of(dict(message))

    assert first == second
    whole = squeezed(message["content"])
    assert [fact.text for fact in first.statements if squeezed(fact.text) not in whole] == []
