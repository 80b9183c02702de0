"""Discovery reads metadata and imports nothing; the resolver says why it chose."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from perdure.discovery import EngineRef, discover, load
from perdure.errors import EngineConflictError, EngineLoadError, EngineNotFoundError
from perdure.resolver import resolve

DISTRIBUTIONS = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "distributions"


def found(*names: str, **options) -> tuple[EngineRef, ...]:
    return discover(path=[str(DISTRIBUTIONS / name) for name in names], **options)


def ref(name: str, distribution: str, version: str = "1.0") -> EngineRef:
    return EngineRef(name=name, value="m:E", distribution=distribution, version=version)


BUILTIN = ref("compressor", "perdure-compressor")


def test_discovery_imports_no_plugin():
    names = sorted(path.name for path in DISTRIBUTIONS.iterdir())

    refs = found(*names)

    assert len(refs) == len(names) - 1  # one of them is there twice
    assert not [name for name in sys.modules if name.startswith("acme_")]


def test_records_are_sorted_and_say_where_they_come_from():
    refs = found("acme-window", "acme-nodes")

    assert [(r.name, r.source) for r in refs] == [
        ("nodes", "acme-nodes 0.3.0"),
        ("window", "acme-window 1.2.0"),
    ]


def test_one_distribution_found_twice_on_the_path_is_one():
    assert len(found("acme-window", "acme-window-again")) == 1


def test_plugins_can_be_switched_off():
    assert found("acme-window", environ={"PERDURE_DISABLE_PLUGINS": "1"}) == ()


def test_damaged_distribution_hides_nobody(tmp_path):
    broken = tmp_path / "broken-1.0.dist-info"
    broken.mkdir()
    (broken / "METADATA").write_bytes(b"\xff\xfe\x00nonsense")
    (broken / "entry_points.txt").write_text("[perdure.engines\nx y z")

    refs = discover(path=[str(tmp_path), str(DISTRIBUTIONS / "acme-window")])

    assert [r.name for r in refs] == ["window"]


@pytest.mark.parametrize(
    ("folder", "cause"),
    [
        ("acme-import-broken", ModuleNotFoundError),
        ("acme-exits", SystemExit),
        ("acme-attribute-missing", AttributeError),
    ],
)
def test_import_that_fails_in_any_way_names_engine_distribution_and_cause(
    folder, cause, monkeypatch
):
    monkeypatch.syspath_prepend(str(DISTRIBUTIONS / folder))
    [broken] = found(folder)

    with pytest.raises(EngineLoadError, match=broken.distribution) as caught:
        load(broken)

    assert isinstance(caught.value.__cause__, cause)
    assert not [name for name in sys.modules if name.startswith("acme_")]


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
