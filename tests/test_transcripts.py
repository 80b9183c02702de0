"""Recorded sessions of real agents through whole compactions, once and round after round."""

from __future__ import annotations

import json

import doubles
import invariants
import pytest
import recorded

import perdure
from perdure.messages import group, text_of
from perdure.types import Reason, Trigger

SAMPLE = (
    "d02-cc-thinking.anthropic",
    "d03-cc-parallel.openai",
    "d08-tau-airline.openai",
    "d12-websurf.openai",
    "d13-ja-jenkins.openai",
)
SAMPLE_WINDOWS = (32_000, 128_000)
WINDOWS = (32_000, 64_000, 128_000, 200_000)
MODELS = {"no model": None, "oracle": doubles.remembers()}

pytestmark = pytest.mark.skipif(not recorded.FOLDER.exists(), reason=recorded.ABSENT)
some = pytest.mark.parametrize("name", SAMPLE)
whole = pytest.mark.parametrize("name", recorded.names())


def opened(window: int, model: str = "no model") -> perdure.EngineSession:
    answer = MODELS[model]
    return perdure.open_session(
        {"provider": {"context_length": window, "max_tokens": min(8_000, window // 8)}},
        session_id="recorded",
        state_dir=":memory:",
        complete=doubles.ScriptedModel(answer) if answer else None,
    )


def is_settled(
    session: perdure.EngineSession, tools: list[dict], trigger: Trigger = Trigger.MANUAL
) -> bool:
    before = json.dumps(session.view().messages)
    again = session.compress(tools=tools, trigger=trigger)
    return again.reason is Reason.NOOP and json.dumps(session.view().messages) == before


def compress_once(name: str, window: int, model: str) -> None:
    messages, tools = recorded.read(name), recorded.tools(name)
    given = json.dumps(messages)

    with opened(window, model) as session:
        session.load(messages)
        needed = bool(session.should_compress_preflight(tools))
        result = session.compress(tools=tools)

        assert result.reason in (Reason.DONE, Reason.NOOP)
        assert result.reason is Reason.DONE or not needed
        assert invariants.broken(session, result, tools) == []
        assert not session.status().failures
        assert is_settled(session, tools)
    assert json.dumps(messages) == given


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("window", SAMPLE_WINDOWS)
@some
def test_recorded_session_fits_its_target_and_loses_nothing(name, window, model):
    compress_once(name, window, model)


@pytest.mark.parametrize("name", [n for n in recorded.names() if n.endswith(".anthropic")])
def test_items_of_the_provider_are_recalled_as_they_came(name):
    messages = recorded.read(name)

    with opened(32_000) as session:
        session.load(messages)
        assert session.compress().reason is Reason.DONE
        refs = [
            ref
            for made in session.current.replacements
            for handle in made.refs
            for ref in session.blobs.members(handle)
        ]
        items = [json.dumps(session.blobs.raw(ref)) for ref in refs]

    given = [json.dumps(message) for message in messages]
    assert "null" not in items
    assert [item for item in items if item not in given] == []


@pytest.mark.soak
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("window", WINDOWS)
@whole
def test_every_recorded_session_fits_its_target_and_loses_nothing(name, window, model):
    compress_once(name, window, model)


# ------------------------------------------------------------------------------- rounds


def slices(messages: list[dict], tokens: int, session: perdure.EngineSession) -> list[list[dict]]:
    """Cut a transcript between units into slices of about so many tokens."""
    view = perdure.View.of(messages)
    made: list[list[dict]] = [[]]
    spent = 0
    for unit in group(view):
        block = view[unit.first : unit.last + 1]
        made[-1] += block
        spent += session.count_tokens(perdure.View.of(block))
        if spent >= tokens:
            made.append([])
            spent = 0
    return [part for part in made if part]


def rule(number: int) -> str:
    return f"Never restart the service harbour-{number:02} without asking me first."


def play_rounds(name: str, window: int, model: str, rounds: int) -> None:
    messages = recorded.read(name)
    start = 1 if messages[0]["role"] == "system" else 0

    with opened(window, model) as session:
        session.append(messages[:start])
        parts = slices(messages[start:], session.budget().trigger_tokens // 2, session)
        records: list[str] = []
        for number in range(rounds):
            session.append(parts[number % len(parts)])
            session.append(
                [
                    {"role": "assistant", "content": f"That was part {number}."},
                    {"role": "user", "content": f"Good. {rule(number)} Please go on."},
                    {"role": "assistant", "content": "Understood, I go on."},
                    {"role": "user", "content": f"Part {number + 1} now."},
                ]
            )
            trigger = Trigger.PREFLIGHT if session.should_compress_preflight() else Trigger.MANUAL
            result = session.compress(trigger=trigger)
            judge_round(session, result, number)
            judge_head(session, records)
            assert is_settled(session, [], trigger)


def judge_round(session: perdure.EngineSession, result, number: int) -> None:
    view, budget = session.current, session.budget()
    seen = "\n".join(map(text_of, view))
    missing = [rule(i) for i in range(number + 1) if rule(i) not in seen]
    assert missing == []
    assert invariants.broken(session, result) == []
    marked = invariants.handoffs(view)
    assert len(marked) <= 1
    for index in marked:
        handoff_tokens = session.count_tokens(perdure.View.of([view[index]]))
        assert handoff_tokens <= invariants.MAX_HANDOFF_SHARE * budget.room_tokens + 300


def judge_head(session: perdure.EngineSession, records: list[str]) -> None:
    """Only the first record has messages in front of it; every later one takes them in."""
    view = session.current
    for index in invariants.handoffs(view):
        if view[index]["content"] not in records:
            records.append(view[index]["content"])
        head = [message for message in view[:index] if message["role"] != "system"]
        assert len(head) <= (session.budget().protect_first_n if len(records) == 1 else 0)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", [name for name in SAMPLE if name.endswith("openai")])
def test_rounds_keep_one_handoff_and_every_rule(name, model):
    play_rounds(name, 32_000, model, rounds=6)


@pytest.mark.soak
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("name", [name for name in recorded.names() if name.endswith("openai")])
def test_twenty_rounds_keep_one_handoff_and_every_rule(name, window, model):
    play_rounds(name, window, model, rounds=20)
