"""Facts carried word for word across compactions, extracted by rule and not by a model.

Three pure steps: `facts_of` reads one message, `build` puts facts of further messages into a
`Ledger`, `render_quotations` and `render` turn it into text under a budget. A ledger is plain data
(`to_json`, `from_json`) and belongs to the session's durable state.

Where the ideas come from: measurements over real sessions showed that what people typed is under a
hundredth of a coding session and holds a third of its facts, so quotations are spent first; that
pasted text in a user message must be told from typed text before anything else; that a simple list
of exact strings, by class and use, beats any summary at keeping them; and that a newer value should
push an older one aside without erasing it, as people do in minutes: struck out, still legible. Text
that a tool printed is data and never becomes something the user said.

To add a language, add a file to `languages/` and its name to `words.py`.
"""

from __future__ import annotations

from perdure.stock.ledger.facts import facts_of
from perdure.stock.ledger.merge import build
from perdure.stock.ledger.quotations import RenderedQuotations, render_quotations
from perdure.stock.ledger.records import VERSION, Ledger, MessageFacts, Quotation, Statement
from perdure.stock.ledger.render import RenderedLedger, render

__all__ = [
    "VERSION",
    "Ledger",
    "MessageFacts",
    "Quotation",
    "RenderedLedger",
    "RenderedQuotations",
    "Statement",
    "build",
    "facts_of",
    "render",
    "render_quotations",
]
