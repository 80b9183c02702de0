"""When to compress and how far, in numbers worked out by hand."""

from __future__ import annotations

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.budget import budget_for, input_budget, threshold_for
from perdure.config import CompressionConfig
from perdure.types import ModelInfo


def model(context_length: int, max_tokens: int | None = None, name: str = "m", provider: str = ""):
    return ModelInfo(
        name=name, context_length=context_length, max_tokens=max_tokens, provider=provider
    )


@pytest.mark.parametrize(
    ("context_length", "max_tokens", "trigger"),
    [
        (200_000, 32_768, 83_616),
        (128_000, None, 65_536),
        (128_000, 65_536, 53_094),
        (1_000_000, 32_768, 483_616),
        (32_000, 4_096, 23_718),
        (8_192, 8_192, 6_963),
        (80_000, 8_192, 61_036),
    ],
)
def test_trigger(context_length, max_tokens, trigger):
    budget = budget_for(model(context_length, max_tokens), CompressionConfig())

    assert trigger == budget.trigger_tokens


@pytest.mark.parametrize(
    ("context_length", "max_tokens", "line"),
    [(80_000, 8_192, 66_422), (32_000, 4_096, 25_811), (200_000, 32_768, 142_147)],
)
def test_hygiene_line_is_above_the_trigger(context_length, max_tokens, line):
    assert line == budget_for(model(context_length, max_tokens), CompressionConfig()).hygiene_tokens


@pytest.mark.parametrize("max_tokens", [None, 0, -5, 1_000, 2_000])
def test_reserve_that_leaves_no_room_is_not_taken_off(max_tokens):
    assert input_budget(1_000, max_tokens) == 1_000


def test_fixed_part_moves_the_target_but_not_the_trigger():
    plain = budget_for(model(200_000, 32_768), CompressionConfig())
    loaded = budget_for(model(200_000, 32_768), CompressionConfig(), fixed_tokens=20_000)

    assert plain.trigger_tokens == loaded.trigger_tokens
    assert plain.target_tokens == 41_808
    assert loaded.target_tokens == 20_000 + (83_616 - 20_000) // 2


def test_longest_key_that_fits_the_model_decides():
    settings = CompressionConfig(
        model_thresholds={"gpt": 0.4, "gpt-4o": 0.6, "azure:gpt-4o": 0.7, "openai:gpt-4o-m": 0.8}
    )

    assert threshold_for(model(1, name="gpt-4"), settings) == 0.4
    assert threshold_for(model(1, name="GPT-4o-mini"), settings) == 0.6
    assert threshold_for(model(1, name="gpt-4o", provider="azure"), settings) == 0.7
    assert threshold_for(model(1, name="claude"), settings) == 0.5


def test_key_that_matches_most_of_the_name_decides_before_one_with_a_provider():
    settings = CompressionConfig(model_thresholds={"azure:gpt": 0.4, "gpt-4o": 0.6, "azure:": 0.9})

    assert threshold_for(model(1, name="gpt-4o", provider="azure"), settings) == 0.6
    assert threshold_for(model(1, name="gpt-4", provider="azure"), settings) == 0.4
    assert threshold_for(model(1, name="gpt-4", provider="openai"), settings) == 0.5


def test_colon_of_a_model_name_is_no_provider():
    settings = CompressionConfig(model_thresholds={"llama3:8b": 0.4})

    assert threshold_for(model(1, name="llama3:8b-instruct", provider="ollama"), settings) == 0.4


def test_fixed_part_above_the_trigger_leaves_the_target_at_the_trigger():
    budget = budget_for(model(32_000, 4_096), CompressionConfig(), fixed_tokens=25_000)

    assert budget.target_tokens == budget.trigger_tokens
    assert budget.tail_tokens == 1


def test_settings_need_no_configuration_package():
    code = "import sys, perdure.budget, perdure.windows; print('pydantic' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_absolute_cap_lowers_the_trigger_only():
    assert (
        budget_for(model(200_000), CompressionConfig(threshold_tokens=10_000)).trigger_tokens
        == 10_000
    )
    assert budget_for(
        model(32_000, 4_096), CompressionConfig(threshold_tokens=90_000)
    ).trigger_tokens == (23_718)


@given(
    st.integers(1, 3_000_000),
    st.one_of(st.none(), st.integers(-10, 3_000_000)),
    st.floats(0.01, 0.99),
    st.integers(1, 200_000),
    st.integers(0, 100_000),
)
def test_numbers_are_always_in_order(context_length, max_tokens, threshold, minimum, fixed):
    settings = CompressionConfig(threshold=threshold, min_context_length=minimum)
    budget = budget_for(model(context_length, max_tokens), settings, fixed_tokens=fixed)

    assert 1 <= budget.trigger_tokens <= max(1, budget.input_tokens)
    assert budget.trigger_tokens <= budget.hygiene_tokens or budget.input_tokens <= 2
    assert budget.target_tokens <= budget.trigger_tokens
    assert budget.tail_tokens <= settings.protect_tail_tokens
    assert budget.tail_tokens >= 1
