"""When to compress and how far: arithmetic, nothing else. Pure functions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from perdure.types import Budget, ModelInfo

if TYPE_CHECKING:
    from collections.abc import Mapping

FLOOR_SHARE = 0.85
"""The minimum window never lifts the trigger above this share of the input budget; also the
hygiene line."""
HIGH_TRIGGER_SHARE = 0.80
TARGET_SHARE = 0.50
TAIL_SHARE = 0.30


class CompressionSettings(Protocol):
    """What the configuration says (section `context.compression`)."""

    @property
    def threshold(self) -> float:
        """Share of the input budget at which compression starts."""

    @property
    def threshold_tokens(self) -> int | None:
        """Absolute cap on the trigger, or None."""

    @property
    def min_context_length(self) -> int:
        """Windows are not compressed below this many tokens if 85 % of the budget allows."""

    @property
    def model_thresholds(self) -> Mapping[str, float]:
        """Threshold by a part of the model's name, optionally `provider:part`."""

    @property
    def protect_tail_tokens(self) -> int:
        """Budget of the verbatim tail."""

    @property
    def protect_first_n(self) -> int:
        """Messages behind the system message that stay until the first compaction."""


def input_budget(context_length: int, max_tokens: int | None) -> int:
    """Return E: what the window leaves for the input, or all of it when the reserve is unusable."""
    if max_tokens is not None and 0 < max_tokens < context_length:
        return context_length - max_tokens
    return context_length


def threshold_for(model: ModelInfo, settings: CompressionSettings) -> float:
    """Return the threshold whose key matches the most of the model's name, else the general one.

    Of two keys that match equally much, the one that names the provider counts.
    """
    name, provider = model.name.lower(), model.provider.lower()
    best, threshold = (0, False), settings.threshold
    for key, value in settings.model_thresholds.items():
        whole = key.lower()
        owner, _, part = whole.partition(":")
        # A model's own name may hold a colon, as in `llama3:8b`.
        if whole in name:
            fit = (len(whole), False)
        elif part and part in name and owner == provider:
            fit = (len(part), True)
        else:
            continue
        if fit > best:
            best, threshold = fit, value
    return threshold


def trigger_tokens(
    input_tokens: int, threshold: float, min_context_length: int, cap_tokens: int | None = None
) -> int:
    """Return the request size at which compression starts.

    The floor `min_context_length` lifts the trigger of small shares, but never above 85 % of the
    input budget.
    """
    share = int(input_tokens * threshold)
    floor = max(share, min_context_length)
    found = min(floor, max(share, int(FLOOR_SHARE * input_tokens)), input_tokens - 1)
    if cap_tokens is not None:
        found = min(found, cap_tokens)
    return max(1, found)


def hygiene_tokens(input_tokens: int, trigger: int) -> int:
    """Return the outer line: 85 % of the budget, or halfway to it when the trigger is close."""
    if trigger <= HIGH_TRIGGER_SHARE * input_tokens:
        return int(FLOOR_SHARE * input_tokens)
    return (trigger + input_tokens) // 2


def budget_for(model: ModelInfo, settings: CompressionSettings, *, fixed_tokens: int = 0) -> Budget:
    """Return all numbers for a model.

    Args:
        model: Window and reserve.
        settings: Thresholds and protected amounts.
        fixed_tokens: System messages and tool schemas.
    """
    room_all = input_budget(model.context_length, model.max_tokens)
    trigger = trigger_tokens(
        room_all,
        threshold_for(model, settings),
        settings.min_context_length,
        settings.threshold_tokens,
    )
    room = max(1, trigger - fixed_tokens)
    return Budget(
        context_length=model.context_length,
        max_tokens=model.max_tokens,
        input_tokens=room_all,
        trigger_tokens=trigger,
        hygiene_tokens=hygiene_tokens(room_all, trigger),
        fixed_tokens=fixed_tokens,
        # Never above the trigger, not even where the fixed part alone is: it would start again.
        target_tokens=min(trigger, fixed_tokens + int(TARGET_SHARE * room)),
        tail_tokens=max(1, min(settings.protect_tail_tokens, int(TAIL_SHARE * room))),
        protect_first_n=settings.protect_first_n,
    )
