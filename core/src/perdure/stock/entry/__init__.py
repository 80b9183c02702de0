"""Shrinking on entry: a large tool result is shortened once, before it is first sent.

The cheapest compaction is the one that never rewrites: it costs no prompt cache and no model call,
and it postpones the first summary. What was measured on recorded sessions: agents edit what they
read, so file reads get a high limit; logs, listings, search, JSON and web pages may go at a
thousand tokens.
"""

from __future__ import annotations

from perdure.stock.entry.shrink import DEFAULT_LIMITS, Limits, shrunk

__all__ = ["DEFAULT_LIMITS", "Limits", "shrunk"]
