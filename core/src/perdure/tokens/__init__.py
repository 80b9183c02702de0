"""Token counts: exact where a public tokeniser exists, estimated elsewhere, offline always."""

from __future__ import annotations

import re
from functools import cache

from perdure.tokens.calibration import Calibration
from perdure.tokens.counter import Counter, EstimatingCounter, ExactCounter, count_messages
from perdure.tokens.estimate import estimate_tokens

__all__ = [
    "Calibration",
    "Counter",
    "EstimatingCounter",
    "ExactCounter",
    "count_messages",
    "counter_for",
    "encoding_for",
    "estimate_tokens",
]

_CL100K = re.compile(r"\b(?:gpt-4(?!o|\.[1-9])|gpt-3\.?5|text-embedding|davinci-002|babbage-002)")
_O200K = re.compile(
    r"\b(?:gpt-(?:4o|4\.[1-9]|[5-9]|oss)|chatgpt|codex|computer-use)|(?:^|[/:])o[1-9](?:$|-)"
)
_OTHERS = re.compile(
    r"claude|gemini|gemma|llama|mi[sx]tral|ministral|codestral|qwen|deepseek|command|grok|phi-|"
    r"kimi|moonshot|glm|minimax|nova|titan|yi-|granite|falcon|jamba|sonar|hermes|nemotron|ernie|"
    r"doubao|hunyuan|step-"
)

_OTHER_PROVIDERS = frozenset(
    {"anthropic", "google", "vertex", "vertex_ai", "bedrock", "cohere", "xai", "zai"}
)


def encoding_for(model: str, provider: str = "") -> str | None:
    """Return the public encoding of a model, or None when its tokeniser is not public.

    An unknown or empty name counts as the newest OpenAI encoding, unless the provider is another.
    """
    name = (model or "").lower()
    if _CL100K.search(name):
        return "cl100k_base"
    if _O200K.search(name):
        return "o200k_base"
    maker = (provider or "").lower()
    is_other = _OTHERS.search(name) or _OTHERS.search(maker) or maker in _OTHER_PROVIDERS
    return None if is_other else "o200k_base"


def counter_for(model: str = "", *, provider: str = "") -> Counter:
    """Return the counter for a model; counters are shared, so that counts are made once."""
    return _counter(encoding_for(model, provider))


@cache
def _counter(encoding: str | None) -> Counter:
    return EstimatingCounter() if encoding is None else ExactCounter(encoding)
