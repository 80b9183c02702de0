"""What is measured of Perdure itself: handoff, search, paging, rules and replaced values."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from search import around, first_tokens

import perdure
from perdure import handoff
from perdure.blobs import open_blobs
from perdure.stock.ledger import facts_of
from perdure.tokens import counter_for
from survival import rules
from survival.scores import (
    Case,
    Message,
    all_text,
    has_mark,
    old_is_current,
    score,
    scored,
    sees,
    sees_sentence,
    squeezed,
    text_of,
)

CONTEXT_TOKENS = 400_000
TAIL_TOKENS = 1_500
PAGE_CHARACTERS = 40_000
ROUNDS = 5
RULE_HANDOFF_TOKENS = 4_000
_REF = re.compile(r"ref:[0-9a-f]{8,}")


@dataclass(frozen=True)
class Sent:
    """What is sent after compaction.

    Attributes:
        handoff: Text of the handoff alone.
        text: Everything that is sent.
        handoff_tokens: Of the handoff.
        tokens: Of everything.
        tokens_before: Of the session.
    """

    handoff: str
    text: str
    handoff_tokens: int
    tokens: int
    tokens_before: int


def count_messages(messages: Sequence[Message]) -> int:
    """Return the tokens of messages, by the vocabulary that all engines are measured with."""
    counter = counter_for("gpt-4o")
    return sum(counter.count_message(message) for message in messages)


@contextmanager
def compacted(
    messages: list[Message], handoff_tokens: int, rounds: int = 1
) -> Iterator[tuple[perdure.EngineSession, Sent]]:
    """Open a session, compact it after each of some rounds, and give it with what it would send."""
    config = {
        "provider": {"model": "gpt-4o", "context_length": CONTEXT_TOKENS},
        "context": {
            "compression": {
                "protect_tail_tokens": TAIL_TOKENS,
                "protect_first_n": 0,
            },
            "engines": {"compressor": {"handoff_tokens": handoff_tokens}},
        },
    }
    with perdure.open_session(config, session_id="s", state_dir=":memory:") as session:
        step = -(-len(messages) // rounds)
        for start in range(0, len(messages), step):
            session.append(messages[start : start + step])
            session.compress()
        yield session, sent_by(session, messages)


def sent_by(session: perdure.EngineSession, messages: list[Message]) -> Sent:
    sent = list(session.view().messages)
    made = [message for message in session.current if handoff.is_handoff(message)]
    return Sent(
        handoff=all_text(made),
        text=all_text(sent),
        handoff_tokens=count_messages(made),
        tokens=count_messages(sent),
        tokens_before=count_messages(messages),
    )


def measure_handoff(case: Case, handoff_tokens: int) -> dict[str, Any]:
    """Return what of a recorded session is seen in the handoff, and in all that is sent."""
    with compacted(case.messages, handoff_tokens) as (_, sent):
        in_handoff = scored(case.needles, lambda needle: sees(sent.handoff, needle.text))
        in_all = scored(case.needles, lambda needle: sees(sent.text, needle.text))
    return {
        "name": case.name,
        "language": case.language,
        "handoff_tokens": sent.handoff_tokens,
        "sent_tokens": sent.tokens,
        "session_tokens": sent.tokens_before,
        "handoff": in_handoff,
        "sent": in_all,
    }


def measure_search(case: Case) -> dict[str, Any]:
    """Return how many answers the words of the question find in all originals."""
    blobs = open_blobs(None, "measured")
    refs = blobs.put_messages(case.messages, first=0)
    places = {ref: place for place, ref in reversed(list(enumerate(refs)))}

    def near(question: str) -> str:
        return around(blobs, case.messages, places, question)

    found = {
        "top 10 with neighbours": scored(case.needles, lambda n: sees(near(n.question), n.text)),
        "first 2,000 tokens": scored(
            case.needles, lambda n: sees(first_tokens(blobs, n.question), n.text)
        ),
    }
    blobs.close()
    return found


def measure_recall(case: Case, handoff_tokens: int) -> dict[str, Any]:
    """Return what an agent gets from a small handoff with one search, and by paging through."""
    with compacted(case.messages, handoff_tokens) as (session, sent):

        def searched(question: str) -> str:
            answer = session.call_tool("context_search", {"query": question})
            return json.dumps(answer, ensure_ascii=False)

        pages = "\n".join(paged(session, ref) for ref in sorted(set(_REF.findall(sent.text))))
        return {
            "one search": scored(
                case.needles,
                lambda n: sees(sent.text, n.text) or sees(searched(n.question), n.text),
            ),
            "paging": scored(
                case.needles, lambda n: sees(sent.text, n.text) or sees(pages, n.text)
            ),
        }


def paged(session: perdure.EngineSession, ref: str) -> str:
    """Return the whole text behind a handle, read page after page as an agent would."""
    pages: list[str] = []
    offset: int | None = 0
    while offset is not None:
        asked = {"ref": ref, "offset": offset, "limit": PAGE_CHARACTERS}
        page = session.call_tool("context_recall", asked)
        if "error" in page:
            return "".join(pages)
        pages.append(page["text"])
        offset = page["next_offset"]
    return "".join(pages)


def measure_rules(case: Case) -> dict[str, Any]:
    """Return which rules are seen after some rounds of work and compaction."""
    with compacted(case.messages, RULE_HANDOFF_TOKENS, ROUNDS) as (_, sent):
        text = squeezed(sent.text)
    found = scored(case.needles, lambda needle: sees_sentence(text, needle.text))
    return {
        "group": case.group,
        "language": case.language,
        "sent_tokens": sent.tokens,
        "session_tokens": sent.tokens_before,
        **found,
    }


def said_in(text: str) -> list[str]:
    """Return the sentences that the extractor takes for rules or values in a message of the user."""
    return [fact.text for fact in facts_of({"role": "user", "content": text}).statements]


def measure_extractor(language: str) -> dict[str, Any]:
    """Return which rules in long messages are found by rule alone, and what is found wrongly."""
    case = next(c for c in rules.rule_cases(language, 5) if c.group == "coding, rules inside")
    found = [said for m in case.messages if m["role"] == "user" for said in said_in(text_of(m))]
    joined = "\n".join(found)
    true = "\n".join(needle.text for needle in case.needles)
    false = [said for said in found if said not in true]
    ordinary = [bool(said_in(text)) for text in rules.ordinary(language)]
    alike = [bool(said_in(text)) for text in rules.lookalikes(language)]
    return {
        "language": language,
        "rules": scored(case.needles, lambda needle: needle.text.rstrip(".。") in joined),
        "false rules": {"count": len(false), "messages": len(case.messages)},
        "ordinary sentences taken for rules": score(sum(ordinary), len(ordinary)),
        "lookalikes taken for rules": score(sum(alike), len(alike)),
    }


def measure_replaced(language: str) -> dict[str, Any]:
    """Return how many replaced values are marked, and how many that hold are marked wrongly."""
    messages, pairs = rules.pair_case(language)
    with compacted(messages, RULE_HANDOFF_TOKENS, ROUNDS) as (_, sent):
        pass
    implicit = [pair for pair in pairs if pair.kind == "implicit"]
    explicit = [pair for pair in pairs if pair.kind == "explicit"]
    both = [pair for pair in pairs if pair.kind == "both"]
    wrong = sum(has_mark(sent.text, pair.first) for pair in both)
    return {
        "language": language,
        "implicit": score(sum(_is_replaced(sent.text, pair) for pair in implicit), len(implicit)),
        "explicit": score(sum(_is_replaced(sent.text, pair) for pair in explicit), len(explicit)),
        "wrongly marked": score(wrong, len(both)),
    }


def _is_replaced(text: str, pair: rules.Pair) -> bool:
    """Return whether the new value is seen, and the old one nowhere as if it still held."""
    return sees_sentence(squeezed(text), pair.second) and not old_is_current(text, pair.first)
