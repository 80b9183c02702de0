"""The resolver says which engine serves, and why; what nobody may fail to notice is an error."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure.discovery import EngineRef, discover
from perdure.errors import EngineConflictError, EngineNotFoundError
from perdure.resolver import resolve

DISTRIBUTIONS = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "distributions"


def found(*names: str) -> tuple[EngineRef, ...]:
    return discover(path=[str(DISTRIBUTIONS / name) for name in names])


def ref(name: str, distribution: str, version: str = "1.0", value: str = "m:E") -> EngineRef:
    return EngineRef(name=name, value=value, distribution=distribution, version=version)


BUILTIN = ref("compressor", "perdure-compressor")
LCM = ref("lcm", "perdure-lcm")


def test_named_engine_is_chosen():
    resolution = resolve("mine", [BUILTIN, ref("mine", "acme")])

    assert resolution.chosen.distribution == "acme"
    assert not resolution.is_fallback


def test_unknown_name_falls_back_with_the_nearest_names_and_the_pip_line():
    resolution = resolve("lcmm", [BUILTIN])

    assert resolution.chosen == BUILTIN
    assert resolution.is_fallback
    [warning] = resolution.warnings
    for part in ("lcmm", "compressor", "lcm", "pip install perdure-lcm"):
        assert part in warning


def test_name_left_out_on_purpose_is_not_told_as_a_missing_installation_alone():
    [warning] = resolve("mine", [BUILTIN], is_own_only=True).warnings

    assert "PERDURE_DISABLE_PLUGINS is set" in warning


def test_no_pip_line_for_names_that_are_not_ours():
    [warning] = resolve("fancy_engine", [BUILTIN]).warnings

    assert "pip install" not in warning


def test_unknown_name_is_an_error_when_that_was_asked_for():
    with pytest.raises(EngineNotFoundError) as caught:
        resolve("lcmm", [BUILTIN], on_error="raise")

    assert caught.value.requested == "lcmm"
    assert "lcm" in caught.value.nearest


@pytest.mark.parametrize("on_error", ["fallback", "raise"])
def test_missing_builtin_is_always_an_error(on_error):
    with pytest.raises(EngineNotFoundError, match="perdure-compressor"):
        resolve("mine", [ref("mine", "acme")], on_error=on_error)


@pytest.mark.parametrize("on_error", ["fallback", "raise"])
def test_two_distributions_for_one_name_are_always_an_error(on_error):
    refs = [BUILTIN, *found("acme-double-a", "acme-double-b")]

    with pytest.raises(EngineConflictError) as caught:
        resolve("double", refs, on_error=on_error)

    assert caught.value.distributions == ("acme-double-a 1.0", "acme-double-b 2.0")


def test_impostor_of_a_reserved_name_is_ignored_with_a_warning():
    resolution = resolve("compressor", [*found("acme-impostor"), BUILTIN])

    assert resolution.chosen == BUILTIN
    assert "acme-impostor" in resolution.warnings[0]


def test_impostor_alone_is_no_builtin():
    with pytest.raises(EngineNotFoundError):
        resolve("compressor", found("acme-impostor"))


@pytest.mark.parametrize("on_error", ["fallback", "raise"])
def test_reserved_name_that_only_a_stranger_offers_is_a_conflict(on_error):
    with pytest.raises(EngineConflictError, match="pip install perdure-lcm") as caught:
        resolve("lcm", [BUILTIN, *found("acme-impostor-lcm")], on_error=on_error)

    assert caught.value.distributions == ("acme-impostor-lcm 9.9",)


def test_stranger_beside_the_owner_is_ignored_with_a_warning():
    resolution = resolve("lcm", [BUILTIN, *found("acme-impostor-lcm"), LCM])

    assert resolution.chosen == LCM
    assert "acme-impostor-lcm 9.9" in resolution.warnings[0]


def test_other_name_of_the_builtin_is_reserved_too():
    own, strange = ref("builtin", "perdure-compressor"), ref("builtin", "acme")

    assert resolve("builtin", [BUILTIN, own, strange]).chosen == own
    with pytest.raises(EngineConflictError):
        resolve("builtin", [BUILTIN, strange])


def test_published_engine_that_is_not_installed_gets_its_pip_line_and_no_guess():
    [warning] = resolve("lcm", [BUILTIN]).warnings

    assert "pip install perdure-lcm" in warning
    assert "did you mean" not in warning


def test_missing_builtin_comes_with_its_pip_line():
    with pytest.raises(EngineNotFoundError) as caught:
        resolve("mine", [ref("mine", "acme")])

    assert caught.value.pip_line == "pip install perdure-compressor"
    assert caught.value.available == ("mine",)


@pytest.mark.parametrize("name", ["LCM", "Lcm", "L-CM", "lcn"])
def test_capitals_and_hyphens_do_not_hide_the_nearest_name(name):
    [warning] = resolve(name, [BUILTIN, LCM]).warnings

    assert "did you mean 'lcm'" in warning
    assert "pip install" not in warning


def test_distribution_that_offers_a_name_twice_is_a_conflict_with_itself():
    refs = [BUILTIN, ref("mine", "acme", value="a:E"), ref("mine", "acme", value="b:E")]

    with pytest.raises(EngineConflictError, match=r"acme 1\.0 and by acme 1\.0"):
        resolve("mine", refs)


def test_conflict_over_a_name_that_nobody_asked_for_stops_nothing():
    refs = [BUILTIN, LCM, *found("acme-double-a", "acme-double-b")]

    assert resolve("lcm", refs).chosen == LCM


@pytest.mark.parametrize("name", ["", " ", "x" * 100_000, "\0", "compressor "])
def test_any_text_as_a_name_falls_back(name):
    assert resolve(name, [BUILTIN]).chosen == BUILTIN
