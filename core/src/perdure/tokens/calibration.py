"""Corrects counts by what providers report: one ratio per model. Pure."""

from __future__ import annotations

from dataclasses import dataclass

LOWEST, HIGHEST = 0.5, 2.0
"""Bounds of the ratio that is ever applied."""
BELIEVED = 4.0
"""A report this many times the count is about something else, such as several requests."""
WEIGHT = 0.3
MIN_TOKENS = 500
"""Small prompts are mostly framing and say little about the tokeniser."""


@dataclass(frozen=True, slots=True)
class Calibration:
    """Ratio of a model's real prompt tokens to our count, smoothed; a host keeps one per model.

    Attributes:
        ratio: Multiply a count by it; 1.0 until something is known.
        samples: Reports that it was made of.
    """

    ratio: float = 1.0
    samples: int = 0

    def updated(self, counted_tokens: int, real_tokens: int | None) -> Calibration:
        """Return the calibration after one more report; nonsense leaves it as it is.

        A report far below the count mostly leaves out cached tokens, and would make every later
        count too low; so it is not believed, while one above the range moves the ratio up to it.
        """
        if not real_tokens or counted_tokens < MIN_TOKENS:
            return self
        seen = real_tokens / counted_tokens
        if not LOWEST <= seen <= BELIEVED:
            return self
        seen = min(seen, HIGHEST)
        ratio = self.ratio + WEIGHT * (seen - self.ratio) if self.samples else seen
        return Calibration(ratio, self.samples + 1)

    def corrected(self, counted_tokens: int) -> int:
        """Return a count as the provider would report it."""
        return round(counted_tokens * min(HIGHEST, max(LOWEST, self.ratio)))
