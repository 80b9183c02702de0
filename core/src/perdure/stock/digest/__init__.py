"""The summary without a model: lines, word for word, that say most in the space there is."""

from __future__ import annotations

from perdure.stock.digest.candidates import Line, candidates_of
from perdure.stock.digest.select import Digest, DigestLine, make_digest, rendered

__all__ = ["Digest", "DigestLine", "Line", "candidates_of", "make_digest", "rendered"]
