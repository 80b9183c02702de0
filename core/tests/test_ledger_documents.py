"""What somebody hands over in a message is not what they ask for; what they type around it is."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.stock.ledger import build, facts_of, render
from perdure.stock.ledger.documents import own_and_document

CLAUSES = (
    "Employees must never share a badge.",
    "Visitors shall always be accompanied.",
    "Doors are to be kept closed at all times.",
)
FIRST, SECOND, THIRD = CLAUSES
BEFORE, AFTER = "Never push to main.", "Always answer in two lines."
HANDED_OVER = {
    "sections under numbered headings": (
        f"# Site policy 7\n\n## 1. Scope\n\n{FIRST}\n\n## 2. Doors\n\n{SECOND}\n{THIRD}"
    ),
    "numbered titles": f"1. Scope and aim\n\n{FIRST}\n\n2. Doors and locks\n\n{SECOND} {THIRD}",
    "articles": f"Artikel 1\n{FIRST}\n\nArtikel 2\n{SECOND}\n{THIRD}",
    "articles without blanks": f"第一条 {FIRST}\n第二条 {SECOND}\n第三条 {THIRD}",
    "a mail": f"From: Tom <tom@example.net>\nTo: all\nSubject: doors\n\n{FIRST}\n{SECOND}\n{THIRD}",
    "a forwarded mail": f"---------- Forwarded message ---------\n\n{FIRST} {SECOND} {THIRD}",
    "an announced list": "This is the policy of our landlord:\n\n- " + "\n- ".join(CLAUSES),
    "one announced in German": "Hier die Richtlinie vom Vermieter:\n" + "\n".join(CLAUSES),
    "one announced in Chinese": "下面是房东的规定：\n" + "\n".join(CLAUSES),
    "one announced in Korean": "건물주 정책입니다:\n" + "\n".join(CLAUSES),
}
OWN = {
    "rules under a label": "Rules:\n- " + "\n- ".join(CLAUSES),
    "a numbered list": "\n".join(f"{at}. {text}" for at, text in enumerate(CLAUSES, 1)),
    "a numbered list with gaps": "\n\n".join(f"{at}. {text}" for at, text in enumerate(CLAUSES, 1)),
    "a plan under headings": f"## Task\nFix it.\n\n## Rules\n- {FIRST}\n- {SECOND}\n\n## Also\n{THIRD}",
    "paragraphs": "\n\n".join(CLAUSES),
    "what a document is to be like": "Write the manual like this:\n" + "\n".join(CLAUSES),
    "a guide to go by": "Follow this guide:\n" + "\n".join(CLAUSES),
}


def said_by(text: str, source: str) -> set[str]:
    found = facts_of({"role": "user", "content": text}).statements
    return {fact.text for fact in found if fact.source == source}


@pytest.mark.parametrize("text", HANDED_OVER.values(), ids=HANDED_OVER)
def test_clauses_of_a_text_that_is_handed_over_are_not_the_users(text):
    message = f"{BEFORE}\n\n{text}\n\n{AFTER}"

    assert {BEFORE, AFTER} == said_by(message, "user")
    document = "\n".join(said_by(message, "document"))
    assert [clause for clause in CLAUSES if clause not in document] == []


@pytest.mark.parametrize("text", OWN.values(), ids=OWN)
def test_lists_that_people_type_are_theirs(text):
    assert set(CLAUSES) <= said_by(text, "user")


def test_the_rendered_ledger_tells_the_users_words_from_a_document():
    message = {"role": "user", "content": f"{BEFORE}\n\n{HANDED_OVER['a mail']}\n\n{AFTER}"}
    ledger = build(None, [(0, facts_of(message))])

    text = render(ledger, count=len, budget_tokens=5_000, rules_budget_tokens=5_000).text
    own, _, handed_over = text.partition("Texts that the user handed over")

    assert BEFORE in own
    assert FIRST in handed_over
    assert FIRST not in own.partition("The user asked")[0]


def test_a_huge_paste_is_read_at_once_and_does_not_crowd_the_ledger():
    """Three megabytes of clauses took seconds and left tens of thousands of entries."""
    clauses = "\n".join(f"{at}. You must never open door {at} after hours." for at in range(60_000))
    message = {"role": "user", "content": f"{BEFORE}\n\n{clauses}\n\n{AFTER}"}

    start = time.process_time()
    statements = facts_of(message).statements
    took_s = time.process_time() - start

    assert len(statements) <= 1_000
    assert {BEFORE, AFTER} <= {fact.text for fact in statements if fact.source == "user"}
    assert took_s < 4


@given(st.text(), st.sampled_from([*HANDED_OVER.values(), *OWN.values()]), st.text())
def test_no_character_is_lost_or_made_up(before, text, after):
    message = f"{before}\n\n{text}\n\n{after}"
    own, document = own_and_document(message)

    assert sorted(message.replace("\n", "")) == sorted((own + document).replace("\n", ""))
