"""Corrects counts by what providers report: one ratio per model. Pure."""

from __future__ import annotations

from dataclasses import dataclass

LOWEST, HIGHEST = 0.5, 2.0
"""A ratio outside these bounds says that something else was counted, and is not believed."""
WEIGHT = 0.3
MIN_TOKENS = 500
"""Small prompts are mostly framing and say little about the tokeniser."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Ratio of a model's real prompt tokens to our count, smoothed.

    Attributes:
        ratio: Multiply a count by it; 1.0 until something is known.
        samples: Reports that it was made of.
    """

    ratio: float = 1.0
    samples: int = 0

    def updated(self, counted_tokens: int, real_tokens: int | None) -> Calibration:
        """Return the calibration after one more report; nonsense leaves it as it is."""
        if not real_tokens or counted_tokens < MIN_TOKENS:
            return self
        seen = real_tokens / counted_tokens
        if not LOWEST <= seen <= HIGHEST:
            return self
        ratio = seen if not self.samples else self.ratio + WEIGHT * (seen - self.ratio)
        return Calibration(ratio, self.samples + 1)

    def corrected(self, counted_tokens: int) -> int:
        """Return a count as the provider would report it."""
        return round(counted_tokens * self.ratio)
