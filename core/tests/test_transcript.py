"""The transcript never forgets, and the view never shows what was replaced."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.errors import InvariantError
from perdure.messages import digest, group, is_typed, pair
from perdure.transcript import Entry, Replacement, Transcript, View


def said(*texts: str) -> list[dict]:
    return [
        {"role": "user" if index % 2 == 0 else "assistant", "content": text}
        for index, text in enumerate(texts)
    ]


HANDOFF = {"role": "user", "content": "summary", "_perdure": {"kind": "handoff"}}


def test_appending_leaves_old_snapshots_alone():
    first = Transcript(said("a", "b"))

    second = first.append(said("c"))

    assert len(first) == 2
    assert [m["content"] for m in second] == ["a", "b", "c"]


def test_two_continuations_of_one_snapshot_are_branches():
    base = Transcript(said("a", "b"))

    left, right = base.append(said("l")), base.append(said("r"))

    assert [m["content"] for m in left] == ["a", "b", "l"]
    assert [m["content"] for m in right] == ["a", "b", "r"]
    assert left.chain(1) == right.chain(1)
    assert left.head != right.head


def test_chain_hash_covers_everything_before():
    assert Transcript(said("a", "ok")).head != Transcript(said("b", "ok")).head


def test_cache_marks_and_private_keys_are_no_part_of_identity():
    plain = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    marked = {
        "role": "user",
        "_mine": 1,
        "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}],
    }

    assert digest(plain) == digest(marked)


def test_newest_marks_take_the_place_of_old_ones_when_a_history_is_sent_again():
    old = {"role": "user", "content": [{"type": "text", "text": "hi"}]}
    new = {
        "role": "user",
        "content": [{"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}],
    }

    view = View.of([old]).recognise([new])

    assert view[0] is new


def test_negative_index_and_slices_work_as_in_a_list():
    messages = said("a", "b", "c")
    transcript = Transcript(messages)

    assert transcript[-1] is messages[-1]
    assert transcript[::-1] == messages[::-1]
    with pytest.raises(IndexError):
        transcript[3]


def test_view_shows_the_replacement_and_keeps_the_rest_as_the_same_objects():
    messages = said("a", "b", "c", "d", "e")
    view = View.of(messages)

    after = view.apply([view.replace(1, 2, kind="handoff", messages=[HANDOFF])])

    assert [m["content"] for m in after] == ["a", "summary", "d", "e"]
    assert after[0] is messages[0]
    assert after[-1] is messages[-1]
    assert [after.source(i) for i in range(4)] == [(0, 0), (1, 2), (3, 3), (4, 4)]


def test_later_replacement_absorbs_an_earlier_one():
    view = View.of(said("a", "b", "c", "d", "e"))
    once = view.apply([view.replace(1, 2, kind="handoff", messages=[HANDOFF])])

    twice = once.apply([once.replace(1, 2, kind="handoff", messages=[HANDOFF])])

    assert len(twice.replacements) == 1
    assert (twice.replacements[0].first, twice.replacements[0].last) == (1, 3)


def test_overlapping_replacements_are_refused():
    view = View.of(said("a", "b", "c", "d", "e"))
    once = view.apply([view.replace(1, 2, kind="pruned", messages=said("x", "y"))])
    overlapping = Replacement(first=2, last=3, kind="handoff", chain=view.transcript.chain(3))

    with pytest.raises(InvariantError, match="overlaps"):
        once.apply([overlapping])


def test_replacement_of_another_transcript_is_refused():
    view, other = View.of(said("a", "b", "c")), View.of(said("a", "x", "c"))

    with pytest.raises(InvariantError, match="chain hash"):
        view.apply([other.replace(0, 1, kind="handoff", messages=[HANDOFF])])


def test_resent_history_keeps_its_replacements():
    messages = said("a", "b", "c", "d")
    view = View.of(messages)
    view = view.apply([view.replace(0, 1, kind="handoff", messages=[HANDOFF])])
    again = json.loads(json.dumps([*messages, {"role": "user", "content": "new"}]))

    grown = view.recognise(again)

    assert [m["content"] for m in grown] == ["summary", "c", "d", "new"]


def test_edit_before_a_replacement_drops_it():
    messages = said("a", "b", "c", "d")
    view = View.of(messages)
    view = view.apply([view.replace(1, 2, kind="handoff", messages=[HANDOFF])])

    edited = view.recognise([messages[0], {"role": "assistant", "content": "other"}])

    assert edited.replacements == ()
    assert [m["content"] for m in edited] == ["a", "other"]


def test_host_that_adopts_the_sent_list_is_recognised():
    view = View.of(said("a", "b", "c", "d"))
    view = view.apply([view.replace(0, 1, kind="handoff", messages=[HANDOFF])])
    adopted = [{"role": m["role"], "content": m["content"]} for m in view]

    grown, shared = view.recognise_adopted([*adopted, {"role": "user", "content": "new"}])

    assert shared == 3
    assert len(grown.transcript) == 5
    assert [m["content"] for m in grown] == ["summary", "c", "d", "new"]


def test_list_that_does_not_hold_the_replacement_is_not_taken_for_adopted():
    messages = said("a", "b", "c", "d")
    view = View.of(messages)
    view = view.apply([view.replace(1, 2, kind="handoff", messages=[HANDOFF])])

    assert view.recognise_adopted(messages)[1] == 0


@given(st.data())
def test_view_equals_the_list_built_by_hand(data):
    length = data.draw(st.integers(1, 30))
    messages = said(*(f"m{i}" for i in range(length)))
    view, expected = View.of(messages), [(i, i, m) for i, m in enumerate(messages)]
    for _ in range(data.draw(st.integers(0, 4))):
        first = data.draw(st.integers(0, len(view) - 1))
        last = data.draw(st.integers(first, len(view) - 1))
        if view.source(first - 1) == view.source(first) if first else False:
            continue
        if last + 1 < len(view) and view.source(last + 1) == view.source(last):
            continue
        made = view.replace(first, last, kind="node", messages=[HANDOFF])
        view = view.apply([made])
        expected = [*expected[:first], (made.first, made.last, HANDOFF), *expected[last + 1 :]]
        extra = said("more")
        view = view.append(extra)
        position = expected[-1][1] + 1
        expected = [*expected, (position, position, extra[0])]

    assert [message for *_, message in expected] == list(view)
    assert [(first, last) for first, last, _ in expected] == [
        view.source(i) for i in range(len(view))
    ]


def test_units_hold_a_call_and_its_results_together():
    call = {"id": "1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": None, "tool_calls": [call, {**call, "id": "2"}]},
        {"role": "tool", "tool_call_id": "2", "content": "two"},
        {"role": "tool", "tool_call_id": "1", "content": "one"},
        {"role": "tool", "tool_call_id": "9", "content": "orphan"},
    ]

    units = group(messages)

    assert [(u.first, u.last, u.kind) for u in units] == [
        (0, 0, "message"),
        (1, 3, "calls"),
        (4, 4, "orphan"),
    ]
    assert [result for _, result in pair(messages, units[1])] == [3, 2]


def test_reused_ids_are_paired_by_position():
    call = {"id": "x", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    messages = [
        {"role": "assistant", "content": None, "tool_calls": [call, call]},
        {"role": "tool", "tool_call_id": "x", "content": "one"},
        {"role": "tool", "tool_call_id": "x", "content": "two"},
    ]

    assert [result for _, result in pair(messages, group(messages)[0])] == [1, 2]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("please fix it", True),
        ("continue", False),
        ("   ", False),
        ("<system-reminder>be kind</system-reminder>", False),
        ("<system-reminder>be kind</system-reminder>\nfix it", True),
        ("<div>why is this broken?</div>", True),
        ("continue with the second file and never touch the first", True),
    ],
)
def test_typed_means_that_a_person_wrote_it(content, expected):
    assert is_typed({"role": "user", "content": content}) is expected


def test_entry_is_made_once():
    entry = Entry.of({"role": "user", "content": "a"})

    assert Entry.of(entry) is entry
