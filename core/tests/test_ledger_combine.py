"""Fragments of regular expressions put together fit where one of them does, and nowhere else."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from perdure.stock.ledger.combine import combined

ATOMS = ["a", "b", "c", "ab?", "a{1,2}", "(?:a|b)c", "(?:a|ab)", "(?:b|c)?a", "[ab|)]", r"\|", " "]
fragments = st.lists(st.lists(st.sampled_from(ATOMS), min_size=1, max_size=4).map("".join))


@given(fragments.filter(bool), st.text("abc |)", max_size=8))
@example(["ab", "a"], "ab")
@example(["a|bc", "b"], "bc")
def test_a_text_fits_the_whole_when_it_fits_a_part(parts, text):
    whole = re.compile(combined(parts))

    expected = any(re.fullmatch(part, text) for part in parts)

    assert expected == bool(whole.fullmatch(text))


@pytest.mark.parametrize(
    ("fragments", "whole"),
    [
        (["never", "next"], "n(?:e(?:ver|xt))"),
        (["(?:can|could) you", "cat"], "c(?:a(?:n you|t)|ould you)"),
        (["a+b", "ac"], "a+b|ac"),
    ],
)
def test_fragments_share_their_first_letters(fragments, whole):
    assert combined(fragments) == whole
