"""Windows of known models; an unknown one stays unknown."""

from __future__ import annotations

import re
import sys
import types

import pytest

from perdure import windows
from perdure.windows import known_window


@pytest.fixture(autouse=True)
def without_price_data(monkeypatch):
    monkeypatch.setitem(sys.modules, "genai_prices", None)
    monkeypatch.setitem(sys.modules, "genai_prices.data", None)
    windows._listed.cache_clear()
    known_window.cache_clear()
    yield
    windows._listed.cache_clear()
    known_window.cache_clear()


@pytest.mark.parametrize(
    ("name", "window"),
    [
        ("gpt-4o-mini", 128_000),
        ("GPT-4o", 128_000),
        ("openai/gpt-4.1", 1_047_576),
        ("gpt-4", 8_192),
        ("gpt-5-mini", 400_000),
        ("gpt-5.4", 1_050_000),
        ("gpt-5.4-mini", 400_000),
        ("o1-mini", 128_000),
        ("o3", 200_000),
        ("claude-3-5-sonnet-20241022", 200_000),
        ("claude-sonnet-4-20250514", 200_000),
        ("claude-sonnet-4-5-20250929", 200_000),
        ("anthropic/claude-opus-4.5", 200_000),
        ("claude-opus-4-6", 1_000_000),
        ("us.anthropic.claude-sonnet-4-6-v1:0", 1_000_000),
        ("gemini-2.5-pro", 1_048_576),
        ("llama-3.3-70b", 131_072),
        ("grok-4-fast", 2_000_000),
    ],
)
def test_windows_of_well_known_models(name, window):
    assert known_window(name) == window


@pytest.mark.parametrize("name", ["", " ", "acme-7b", "my-finetune", "o-model", "a" * 100_000])
def test_unknown_model_is_not_guessed(name):
    assert known_window(name) is None


def test_patterns_are_readable_and_no_window_is_small():
    for pattern, window in windows.FAMILIES:
        assert re.compile(pattern)
        assert window >= 8_192


def test_price_data_comes_first_and_the_largest_of_several_windows_counts(monkeypatch):
    def model(name, window):
        return types.SimpleNamespace(id=name, context_window=window)

    maker = types.SimpleNamespace(models=[model("acme-7b", 64_000), model("gpt-4o", 200_000)])
    reseller = types.SimpleNamespace(models=[model("acme/Acme-7B:batch", 96_000), model("x", None)])
    data = types.ModuleType("genai_prices.data")
    data.providers = [maker, reseller]
    monkeypatch.setitem(sys.modules, "genai_prices.data", data)
    windows._listed.cache_clear()

    assert known_window("acme-7b-2026-01-31") == 96_000
    assert known_window("gpt-4o") == 200_000
    assert known_window("x") is None
