"""Discovery reads metadata and imports nothing; a failing import becomes one kind of error."""

from __future__ import annotations

import contextlib
import importlib
import sys
from pathlib import Path

import pytest

from perdure.discovery import EngineRef, discover, load
from perdure.errors import EngineLoadError

DISTRIBUTIONS = Path(__file__).resolve().parents[2] / "tests" / "fixtures" / "distributions"


def found(*names: str, **options) -> tuple[EngineRef, ...]:
    return discover(path=[str(DISTRIBUTIONS / name) for name in names], **options)


def install(folder: Path, name: str, version: str, points: str) -> Path:
    """Write the metadata of a distribution that offers engines."""
    info = folder / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
    (info / "entry_points.txt").write_text(f"[perdure.engines]\n{points}\n")
    return info


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


@pytest.mark.parametrize("value", ["1", "true", "yes"])
def test_plugins_can_be_switched_off(value):
    assert found("acme-window", environ={"PERDURE_DISABLE_PLUGINS": value}) == ()


@pytest.mark.parametrize("value", ["", "0", "false", "No"])
def test_plugins_stay_on_when_the_variable_says_so(value):
    assert len(found("acme-window", environ={"PERDURE_DISABLE_PLUGINS": value})) == 1


def test_own_distributions_stay_when_plugins_are_off(tmp_path):
    install(tmp_path, "Perdure_LCM", "1.0", "lcm = m:E")
    install(tmp_path, "perdure-evil", "1.0", "evil = m:E")

    refs = discover(path=[str(tmp_path)], environ={"PERDURE_DISABLE_PLUGINS": "1"})

    assert [(r.name, r.distribution) for r in refs] == [("lcm", "perdure-lcm")]


def test_first_copy_on_the_path_wins(tmp_path):
    for folder, version in (("one", "2.0"), ("two", "1.0")):
        install(tmp_path / folder, "acme", version, "mine = m:E")

    [ref] = discover(path=[str(tmp_path / "one"), str(tmp_path / "two")])

    assert ref.source == "acme 2.0"
    assert ref.origin.startswith(str(tmp_path / "one"))


def test_leftover_of_an_interrupted_install_does_not_count(tmp_path):
    folder = install(tmp_path, "acme", "1.0", "mine = m:E")
    folder.rename(tmp_path / "~cme-1.0.dist-info")

    assert discover(path=[str(tmp_path)]) == ()


def test_missing_version_is_unknown(tmp_path):
    folder = install(tmp_path, "acme", "1.0", "mine = m:E")
    (folder / "METADATA").write_text("Metadata-Version: 2.1\nName: acme\n")

    [ref] = discover(path=[str(tmp_path)])

    assert ref.source == "acme unknown"


def test_folders_that_are_not_there_hold_nothing(tmp_path):
    assert discover(path=[str(tmp_path / "no"), str(tmp_path)]) == ()


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
        ("acme-half-imported", RuntimeError),
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


def test_interrupt_while_importing_is_passed_on(monkeypatch):
    monkeypatch.syspath_prepend(str(DISTRIBUTIONS / "acme-interrupts"))

    with pytest.raises(KeyboardInterrupt):
        load(found("acme-interrupts")[0])


def test_what_was_imported_before_stays_when_a_later_module_fails(monkeypatch):
    monkeypatch.syspath_prepend(str(DISTRIBUTIONS / "acme-half-imported"))
    package = importlib.import_module("acme_half_imported")

    with pytest.raises(EngineLoadError, match="no licence file"):
        load(found("acme-half-imported")[0])

    left = [name for name in sys.modules if name.startswith("acme_")]
    monkeypatch.delitem(sys.modules, "acme_half_imported")
    assert left == ["acme_half_imported"]
    assert package.__name__ == left[0]


@pytest.mark.parametrize("value", ["", ":", "no such module", ".relative:Engine", "sys:", "a:b:c"])
def test_value_that_names_nothing_is_a_load_error(value):
    ref = EngineRef(name="mine", value=value, distribution="acme", version="1.0")

    with contextlib.suppress(EngineLoadError):
        assert load(ref) is sys


def test_attributes_within_attributes_and_extras_are_understood():
    ref = EngineRef(
        name="mine", value="pathlib : Path.home [extra]", distribution="acme", version="1.0"
    )

    assert load(ref) == Path.home
