"""What one message says to the ledger: a pure function of the message, remembered by digest."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from perdure import messages
from perdure.handoff import is_handoff
from perdure.known import Known
from perdure.stock.ledger.calls import calls_of, errors_in, result_of, said_by
from perdure.stock.ledger.documents import own_and_document
from perdure.stock.ledger.identifiers import identifiers_in
from perdure.stock.ledger.quotations import quotation_of
from perdure.stock.ledger.records import MessageFacts, Statement
from perdure.stock.ledger.rules import scripts_of, statements_of
from perdure.stock.ledger.sentences import sentences_of
from perdure.stock.ledger.typed import line_keys, typed_of
from perdure.stock.ledger.words import words

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOTHING = MessageFacts()
# More messages than a session sends: what is in a handoff already is not read again.
_known: Known[MessageFacts] = Known(4_096)
# How much of something a call asks for, and how long it may take, is nothing to remember.
_PAGING = re.compile(r"\"(?:offset|limit|head_limit|start_line|end_line|timeout)\": ?\d+")
_MOST_DECISIONS = 6
_DECISION_CHARS = (20, 400)


def facts_of(message: Mapping[str, Any], *, digest: bytes | None = None) -> MessageFacts:
    """Return what a message contributes to the ledger; never raises, linear in the message.

    Args:
        message: Any message, malformed ones included.
        digest: `messages.digest(message)` when the caller has it; the facts are remembered by it.
    """
    if digest is None:
        return _extracted(message)
    found = _known.get(digest)
    if found is None:
        found = _extracted(message)
        _known.put(digest, found)
    return found


def said_in(text: str, source: str) -> tuple[Statement, ...]:
    """Return the binding sentences of a text that a person wrote elsewhere than in a message."""
    return statements_of(typed_of(text).text, source)


def _extracted(message: Mapping[str, Any]) -> MessageFacts:
    if not isinstance(message, Mapping) or is_handoff(message):
        return _NOTHING
    role = message.get("role")
    text = messages.text_of(message)
    if role == "user":
        return _of_user(message, text)
    if role == "assistant":
        return _of_assistant(message, text)
    if role in ("tool", "function"):
        return _of_result(message, text)
    if role in ("system", "developer"):
        return MessageFacts(role="system", statements=statements_of(typed_of(text).text, "system"))
    return _NOTHING


def _of_user(message: Mapping[str, Any], text: str) -> MessageFacts:
    drops = bool(words().dropped.match(text[:200].lower().strip()))
    identifiers = identifiers_in(text)
    if not messages.is_typed(message):
        return MessageFacts(role="user", drops=drops, identifiers=identifiers)
    typed = typed_of(text)
    if typed.is_observation:
        quotation = quotation_of(typed.text, ()) if typed.text else None
        return MessageFacts(
            role="user",
            quotation=quotation,
            is_observation=True,
            errors=errors_in(text),
            identifiers=identifiers,
        )
    own, document = own_and_document(typed.text)
    found = statements_of(own, "user") + statements_of(document, "document")
    statements = tuple({fact.text: fact for fact in reversed(found)}.values())[::-1]
    binding = [fact.text for fact in statements]
    return MessageFacts(
        role="user",
        quotation=quotation_of(typed.text, binding) if typed.text else None,
        drops=drops,
        lines=line_keys(typed.text),
        statements=statements,
        errors=tuple(line for line in errors_in(text) if line not in typed.text),
        identifiers=identifiers,
    )


def _of_assistant(message: Mapping[str, Any], text: str) -> MessageFacts:
    calls = messages.tool_calls_of(message)
    arguments = [_PAGING.sub("", messages.call_arguments(call)) for call in calls]
    return MessageFacts(
        role="assistant",
        statements=tuple(_decisions(text)),
        calls=calls_of(message),
        concludes=bool(text.strip()) and not calls,
        identifiers=identifiers_in("\n".join([text, *arguments])),
    )


def _of_result(message: Mapping[str, Any], text: str) -> MessageFacts:
    said = said_by(text)
    errors = errors_in(said)
    return MessageFacts(
        role="tool",
        result=result_of(message, text, said, errors),
        errors=errors,
        identifiers=identifiers_in(said),
    )


def _decisions(text: str) -> Iterator[Statement]:
    """Yield the first sentences that give a decision or its reason."""
    left = _MOST_DECISIONS
    least, most = _DECISION_CHARS
    for sentence in sentences_of(typed_of(text).text):
        is_long = len(sentence) >= least or scripts_of(sentence) != ("spaced",)
        if left and is_long and len(sentence) <= most and _decides(sentence):
            left -= 1
            yield Statement("decision", sentence, "assistant")


def _decides(sentence: str) -> bool:
    script = "spaced" if scripts_of(sentence) == ("spaced",) else "joined"
    return bool(words().decided[script].search(sentence.lower()))
