"""Windows of known models, for sessions whose configuration does not name one.

The data of the package `genai-prices` is used where it is installed; a short table of families
serves elsewhere. Windows are never guessed downwards: an unknown model is unknown.
"""

from __future__ import annotations

import re
from functools import cache

FAMILIES: tuple[tuple[str, int], ...] = (
    (r"gpt-4\.1", 1_047_576),
    (r"gpt-5", 400_000),
    (r"gpt-4o|chatgpt-4o|gpt-4-turbo|gpt-4-1106|gpt-4-0125", 128_000),
    (r"gpt-4-32k", 32_768),
    (r"gpt-4(?:$|-0)", 8_192),
    (r"gpt-3\.5-turbo", 16_385),
    (r"(?:^|/)o[1-9](?:$|-)", 200_000),
    (r"gpt-oss", 131_072),
    (r"claude", 200_000),
    (r"gemini-1\.5-pro", 2_097_152),
    (r"gemini", 1_048_576),
    (r"llama-?3\.[1-9]|llama-?4", 131_072),
    (r"mistral-large|codestral|ministral|mistral-small", 131_072),
    (r"deepseek", 131_072),
    (r"qwen3|qwen2\.5", 131_072),
    (r"kimi-k2", 262_144),
    (r"grok-4", 262_144),
    (r"grok", 131_072),
    (r"command-r|command-a", 131_072),
)


@cache
def known_window(model: str) -> int | None:
    """Return the window of a model in tokens, or None when the model is not known."""
    name = model.lower()
    if not name:
        return None
    return _from_prices(name.rpartition("/")[2]) or next(
        (window for pattern, window in FAMILIES if re.search(pattern, name)), None
    )


def _from_prices(name: str) -> int | None:
    try:
        from genai_prices.data import providers
    except ImportError:
        return None
    for provider in providers:
        for model in provider.models:
            if model.id == name and model.context_window:
                return int(model.context_window)
    return None
