"""A line that stands out is told from rows, code and passed tests that look alike."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.digest import make_digest
from perdure.stock.digest.forms import earlier_alike, form_of, look_of, rarity
from perdure.tokens import counter_for

COUNT = counter_for("gpt-4o").count_text


def test_rows_of_a_listing_have_one_form():
    assert form_of("-rw-r--r-- 1 dev 7238 a.py") == form_of("-rw-r--r-- 7 ops 16 main.rs")
    assert form_of("Wrote build/out.bin") != form_of("- Wrote: build, out")


def test_the_one_other_line_has_none_before_it():
    lines = ["a.py: 1", "b.py: 2", "core dumped", "c.py: 3"]

    assert earlier_alike(map(form_of, lines)) == [0, 1, 0, 2]


def test_a_line_of_common_words_in_a_common_form_is_worth_less():
    names = ["load", "save", "open", "sort"] * 60
    lines = [f"def {name}_{other}(self):" for name, other in itertools.pairwise(names)]
    *common, rare = rarity([look_of(line) for line in [*lines, "def quarantine_berth(self):"]])
    assert rare == 1.0
    assert max(common) < 0.5


@given(st.lists(st.text(max_size=40), max_size=20))
def test_any_lines_are_compared(lines):
    assert all(0 < found <= 1 for found in rarity([look_of(line) for line in lines]))


def test_line_numbers_of_a_read_file_are_no_facts():
    code = "\n".join(f"{n:5d}\t    return total" for n in range(100, 160))
    made = make_digest(
        [(0, {"role": "tool", "tool_call_id": "1", "content": code}, None)],
        budget_tokens=400,
        count=COUNT,
    )
    assert made.text == ""


def test_an_odd_line_in_a_regular_listing_is_kept():
    rows = [f"src/part{n}/load{n}.py  {n * 731}  Mar {n % 28}" for n in range(60)]
    rows.insert(41, "tape drive quokka is out of order since 7.85 hours")
    made = make_digest(
        [(0, {"role": "tool", "tool_call_id": "1", "content": "\n".join(rows)}, None)],
        budget_tokens=200,
        count=COUNT,
    )
    assert "quokka" in made.text
