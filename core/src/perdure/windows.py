"""Windows of known models, for sessions whose configuration does not name one.

The data of the package `genai-prices` is used where it is installed; a short table of families
serves elsewhere. Windows are never guessed downwards: an unknown model is unknown.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

FAMILIES: tuple[tuple[str, int], ...] = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-5\.[4-9](?!.*(?:mini|nano|image))", 1_050_000),
    (r"gpt-5", 400_000),
    (r"gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-1106|gpt-4-0125", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4(?:$|-0)", 8_192),
    (r"gpt-3\.5-turbo", 16_385),
    (r"(?:^|/)o1-(?:mini|preview)", 128_000),
    (r"(?:^|/)o[1-9](?:$|-)", 200_000),
    (r"gpt-oss", 131_072),
    (r"claude-(?:[23]|4-|instant)", 200_000),
    (r"claude-(?:opus|sonnet|haiku)-4(?:$|[-.@:](?:[0-5](?:$|\D)|\d{6}|latest))", 200_000),
    (r"claude", 1_000_000),
    (r"gemini-1\.0", 32_768),
    (r"gemini-1\.5-pro", 2_097_152),
    (r"gemini", 1_048_576),
    (r"llama-?3\.[1-9]", 131_072),
    (r"llama-?4-scout", 10_000_000),
    (r"llama-?4", 1_048_576),
    (r"mistral-large-4", 1_048_576),
    (r"(?:mistral-(?:large|medium|small)|ministral\S*|codestral)-2[5-9]\d\d", 262_144),
    (r"mistral-large|codestral|ministral|mistral-small|mistral-medium", 131_072),
    (r"deepseek-(?:v4|flash|pro)", 1_048_576),
    (r"deepseek", 163_840),
    (r"qwen3\.[5-9]-(?:flash|plus)|qwen3\.[7-9]-max|qwen3-coder-(?:flash|plus)", 1_000_000),
    (r"qwen3\.[5-9]|qwen3-(?:max|coder|next|vl)|qwen3\S*-2507", 262_144),
    (r"qwen3|qwen2\.5", 131_072),
    (r"kimi-k3", 1_048_576),
    (r"kimi-k2", 262_144),
    (r"glm-(?:5[.p-][2-9]|4-long)", 1_048_576),
    (r"glm-(?:5|4\.[6-9])", 202_752),
    (r"glm-4", 131_072),
    (r"minimax-m[3-9]", 1_000_000),
    (r"minimax-m2", 204_800),
    (r"grok-4[.-](?:1-|1\.|20|fast)|grok-4\.1", 2_000_000),
    (r"grok-4\.[5-9]", 500_000),
    (r"grok-4\.3", 1_000_000),
    (r"grok-4|grok-code", 256_000),
    (r"grok", 131_072),
    (r"command-a", 256_000),
    (r"command-r", 131_072),
)
"""The first pattern that is found in a name counts; the windows are those of the makers."""

_DATED = re.compile(r"-(?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")


@cache
def known_window(model: str) -> int | None:
    """Return the window of a model in tokens, or None when the model is not known.

    Args:
        model: Name as the provider has it; a maker in front (`openai/`) and a variant behind
            (`:free`) do not count.
    """
    name = model.lower().strip()
    if not name:
        return None
    short = name.rpartition("/")[2].partition(":")[0]
    listed = _listed()
    found = listed.get(short) or listed.get(_DATED.sub("", short))
    return found or next((window for pattern, window in FAMILIES if re.search(pattern, name)), None)


@cache
def _listed() -> Mapping[str, int]:
    """Return windows by name from `genai-prices`; where resellers differ, the largest."""
    try:
        from genai_prices.data import providers
    except ImportError:
        return {}
    windows: dict[str, int] = {}
    for provider in providers:
        for model in provider.models:
            name = str(model.id).lower().rpartition("/")[2].partition(":")[0]
            windows[name] = max(windows.get(name, 0), model.context_window or 0)
    return windows
