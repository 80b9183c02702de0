"""Facts planted in a long session: seen again in what is sent, and found again in the originals."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache

import pytest
from doubles import ScriptedModel
from message_properties import all_text
from planted_facts import Fact, facts, planted_session

import perdure
from perdure.handoff import is_handoff
from perdure.messages import text_of
from perdure.protocols import CompletionRequest, CompletionResult

HANDOFF_TOKENS = 17_000
SUMMARY_WINDOW = 128_000
SEEDS = [7, pytest.param(8, marks=pytest.mark.soak), pytest.param(9, marks=pytest.mark.soak)]
STEPS = [10_000, pytest.param(320, marks=pytest.mark.soak)]
"""Messages that come in between two looks at the budget: all at once, and a few turns."""

session_of = cache(planted_session)


def opened(complete=None):
    config = {
        "provider": {"context_length": 200_000, "max_tokens": 8_000},
        "summarizer": {"context_length": SUMMARY_WINDOW},
        "context": {"engines": {"compressor": {"handoff_tokens": HANDOFF_TOKENS}}},
    }
    return perdure.open_session(config, session_id="s", state_dir=":memory:", complete=complete)


def play(session: perdure.EngineSession, messages: list[dict], step: int) -> None:
    for end in range(step, len(messages) + step, step):
        session.append(messages[end - step : end])
        if session.should_compress_preflight():
            session.compress()
    session.compress()


def missing(text: str) -> list[Fact]:
    """Return the facts that cannot be seen in a text, as JSON arguments or as they are."""
    return [
        fact
        for fact in facts()
        if fact.needle not in text and json.dumps(fact.needle)[1:-1] not in text
    ]


def oracle(session_count) -> ScriptedModel:
    """Return a summary model that repeats every planted fact that it is shown, and knows its window."""

    def answer(request: CompletionRequest) -> CompletionResult:
        prompt = "\n".join(map(text_of, request.messages))
        assert session_count(prompt) + request.max_output_tokens <= SUMMARY_WINDOW
        left = {fact.text for fact in missing(prompt)}
        shown = [f"- {fact.text}" for fact in facts() if fact.text not in left]
        text = "\n".join(["## Facts", *shown])
        assert session_count(text) <= HANDOFF_TOKENS
        return CompletionResult(text=text)

    return ScriptedModel(answer, context_length=SUMMARY_WINDOW)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", STEPS)
def test_most_planted_facts_are_seen_without_a_model(seed, step):
    with opened() as session:
        play(session, session_of(seed), step)
        sent = all_text(session.view().messages)
        tokens = session.count_tokens()

    lost = missing(sent)
    assert tokens < 50_000
    assert len(facts()) - len(lost) >= 100, (Counter((x.kind, x.place) for x in lost), lost)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("step", STEPS)
def test_all_planted_facts_are_seen_with_a_model_that_tells_what_it_was_shown(seed, step):
    from perdure.tokens import counter_for

    model = oracle(counter_for("").count_text)
    with opened(model) as session:
        play(session, session_of(seed), step)
        sent = all_text(session.view().messages)

    assert model.requests
    assert missing(sent) == []


def test_all_planted_facts_can_be_recalled():
    with opened() as session:
        play(session, session_of(7), 10_000)
        left = missing(all_text([m for m in session.current if not is_handoff(m)]))
        not_found = [fact for fact in left if not is_recalled(session, fact)]

    assert len(left) > 100
    assert not_found == []


def is_recalled(session: perdure.EngineSession, fact: Fact) -> bool:
    """Return whether the tools of the agent lead from the fact's words to its original."""
    found = session.call_tool("context_search", {"query": fact.needle})["results"]
    recalled = [session.call_tool("context_recall", {"ref": hit["ref"]})["text"] for hit in found]
    return any(fact not in missing(text) for text in recalled)
