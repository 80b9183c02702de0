"""A configuration is right, or the error names file, line, key, value and what is allowed."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure import config
from perdure.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]
COMPRESSION = {"threshold", "protect_first_n", "protect_tail_tokens"}
VARIANTS = [
    *({"threshold": value} for value in (0, -0.1, 1.5, 80, "eighty", None, True, "nan")),
    *({"context_length": value} for value in (0, -1, "128k")),
    {"protect_first_n": -1},
    {"protect_tail_tokens": -5},
    {"protect_tail_tokens": 999_999},
    {"max_tokens": 16_000},
    {"compresion": {"threshold": 0.5}},
]


def loaded(tmp_path: Path, text: str, name: str = "config.yaml", **environ: str):
    (tmp_path / name).write_text(text, encoding="utf-8")
    return config.load(tmp_path / name, environ=environ)


def refusal(tmp_path: Path, text: str, name: str = "config.yaml", **environ: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text, name, **environ)
    return caught.value


def test_documented_configuration_is_that_of_the_defaults():
    documented = config.load(ROOT / "config.yaml", environ={})

    assert documented.config == config.from_mapping({}).config


def test_documented_configuration_names_every_key():
    text = (ROOT / "config.yaml").read_text(encoding="utf-8")
    keys = [row.key.rpartition(".")[2] for row in config.effective(config.from_mapping({}))]

    assert not [key for key in keys if f"{key}:" not in text]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("threshold", "0"),
        ("threshold", "-0.1"),
        ("threshold", "1.5"),
        ("threshold", "80"),
        ("threshold", "eighty"),
        ("threshold", "null"),
        ("threshold", "true"),
        ("threshold", ".nan"),
        ("protect_first_n", "-1"),
        ("protect_tail_tokens", "-5"),
        ("min_context_length", "0"),
        ("max_compression_attempts", "99"),
        ("threshold", ".inf"),
        ("threshold", "1" + "0" * 400),
        ("threshold", "[0.5]"),
        ("protect_first_n", "2.0"),
        ("protect_first_n", "true"),
        ("protect_tail_tokens", "0"),
        ("threshold_tokens", "1000000000000"),
    ],
)
def test_value_out_of_range_is_refused_with_key_value_and_range(key, value, tmp_path):
    error = refusal(tmp_path, f"context:\n  compression:\n    {key}: {value}\n")

    assert error.key == f"context.compression.{key}"
    assert "config.yaml:3" in str(error)
    assert "allowed" in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "provider: {context_length: 0}",
        "provider: {context_length: -1}",
        "provider: {context_length: 128k}",
        "provider: {context_length: 16000, max_tokens: 16000}",
        "provider: {context_length: 16000}\ncontext: {compression: {protect_tail_tokens: 999999}}",
    ],
)
def test_numbers_that_leave_no_room_are_refused(text, tmp_path):
    error = refusal(tmp_path, text)

    assert "allowed" in str(error)
    assert error.key.rpartition(".")[2] in text
    assert error.source.endswith(f"config.yaml:{text.count(chr(10)) + 1}")


def test_tail_that_nobody_asked_for_gives_way_to_a_small_window(tmp_path):
    assert loaded(tmp_path, "provider: {context_length: 16000}").config.provider.max_tokens is None


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_values_that_make_no_sense_are_refused_with_key_value_and_range(variant):
    facts = {"context_length": 16_000, "max_tokens": 1_000, **variant}
    provider = {key: facts[key] for key in ("context_length", "max_tokens")}
    compression = {key: facts[key] for key in COMPRESSION & set(facts)}
    others = {key: facts[key] for key in set(facts) - set(provider) - COMPRESSION}
    mapping = {"provider": provider, "context": {"compression": compression}, **others}

    with pytest.raises(ConfigError) as caught:
        config.from_mapping(mapping)

    [(key, value)] = variant.items()
    assert caught.value.key.rpartition(".")[2] == key
    assert key in str(caught.value)
    if key != "compresion":
        assert repr(value) in str(caught.value)
        assert "allowed" in str(caught.value)


def test_every_problem_is_told_at_once():
    with pytest.raises(ConfigError) as caught:
        config.from_mapping({"context": {"engin": "a", "on_error": "rais"}, "state": {"dir": 5}})

    assert len(str(caught.value).splitlines()) == 3


def test_many_problems_are_counted():
    with pytest.raises(ConfigError, match="and 20 more"):
        config.from_mapping({f"key{n}": 1 for n in range(30)})


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("compresion: {threshold: 0.5}", "context.compression"),
        ("context: {compresion: {threshold: 0.5}}", "compression"),
        ("context: {compression: {treshold: 0.5}}", "threshold"),
        ("provider: {api_key: sk-123}", "api_key_env"),
        ("threshold: 0.4", "context.compression.threshold"),
        ("max_tokens: 4096", "provider.max_tokens"),
        ("context: {threshold: 0.4}", "context.compression.threshold"),
        ("context: {Engine: lcm}", "engine"),
        ("context: {on-error: raise}", "on_error"),
    ],
)
def test_misspelt_key_is_refused_with_the_nearest(text, nearest, tmp_path):
    error = refusal(tmp_path, text)

    assert error.nearest == nearest
    assert f"did you mean {nearest!r}" in str(error)


@pytest.mark.parametrize(
    "key", ["sk-abc-123", "skabcdefghijklmnopqrst", "AIzaSyA1234567890abcdefghi"]
)
def test_key_itself_in_the_place_of_its_name_is_refused_and_not_shown(key, tmp_path):
    error = refusal(tmp_path, f"provider: {{api_key_env: {key}}}")

    assert "not the key itself" in str(error)
    assert key[:6] not in str(error)


@pytest.mark.parametrize(
    "text",
    [
        "provider: {api_key: sk-abcdef}",
        "provider: {api-key: sk-abcdef}",
        "summarizer: {API_KEY: sk-abcdef}",
        "context: {engines: {mine: {deep: {api_key: sk-abcdef}}}}",
        "provider: sk-abcdefghijklmnopqrst",
    ],
)
def test_credentials_are_refused_wherever_they_stand_and_not_shown(text, tmp_path):
    assert "sk-abc" not in str(refusal(tmp_path, text))


def test_flat_key_is_refused_with_the_way_to_write_it(tmp_path):
    error = refusal(tmp_path, "context.compression.threshold: 0.4")

    assert "as sections within each other" in str(error)


def test_section_of_which_all_is_commented_out_has_its_defaults(tmp_path):
    text = "provider:\ncontext:\n  observers:\n  engines:\n    lcm:\n  compression:\n"

    found = loaded(tmp_path, text).config

    assert found.context.engines == {"lcm": {}}
    assert found.context.compression == config.from_mapping({}).config.context.compression


@given(
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=8)),
        lambda inner: st.one_of(
            st.lists(inner, max_size=3),
            st.dictionaries(
                st.one_of(
                    st.sampled_from(
                        ["context", "provider", "compression", "engines", "threshold", "model"]
                    ),
                    st.text(max_size=8),
                    st.integers(),
                ),
                inner,
                max_size=4,
            ),
        ),
        max_leaves=12,
    ).filter(lambda value: isinstance(value, dict))
)
def test_any_mapping_is_a_configuration_or_a_configuration_error(mapping):
    with contextlib.suppress(ConfigError):
        config.from_mapping(mapping)


def test_gateway_threshold_is_fixed_and_the_error_says_why(tmp_path):
    error = refusal(tmp_path, "context: {compression: {gateway_threshold: 0.8}}")

    assert "fixed at 0.85" in str(error)


def test_toml_says_the_same_as_yaml(tmp_path):
    toml = loaded(tmp_path, "[context.compression]\nthreshold = 0.4\n", "c.toml")
    yaml = loaded(tmp_path, "context: {compression: {threshold: 0.4}}", "c.yaml")

    assert toml.config == yaml.config


def test_places_are_looked_at_in_order(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "user/perdure").mkdir(parents=True)
    (tmp_path / "user/perdure/config.yaml").write_text("context: {engine: user}")
    (tmp_path / "named.yaml").write_text("context: {engine: named}")
    here = tmp_path / "here"
    here.mkdir()

    def engine(**environ: str) -> str:
        return config.load(environ=environ, cwd=here).config.context.engine

    assert engine() == "user"
    (here / "config.yaml").write_text("services: {web: {image: nginx}}")
    assert engine() == "user"  # somebody else's config.yaml
    (here / "config.yaml").write_text("context: {engine: here}")
    assert engine() == "here"
    assert engine(PERDURE_CONFIG=str(tmp_path / "named.yaml")) == "named"


def test_file_of_somebody_else_is_left_out_with_a_note(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    (tmp_path / "config.yaml").write_text("services: {web: {image: nginx}}")

    found = config.load(environ={}, cwd=tmp_path)

    assert found.origin == "built-in defaults"
    assert "config.yaml is left out" in found.notes[0]


@pytest.mark.parametrize("text", ["compresion: {threshold: 0.5}", "contxt: {engine: lcm}"])
def test_misspelt_section_alone_is_not_taken_for_somebody_elses_file(text, tmp_path):
    (tmp_path / "config.yaml").write_text(text)

    with pytest.raises(ConfigError, match="did you mean"):
        config.load(environ={}, cwd=tmp_path)


def test_unreadable_file_of_the_directory_says_how_to_name_another(tmp_path):
    (tmp_path / "config.yaml").write_text("services: !include x")

    with pytest.raises(ConfigError, match=r"config\.yaml:1.*--config or PERDURE_CONFIG"):
        config.load(environ={}, cwd=tmp_path)


def test_given_mapping_is_not_changed():
    given_one = {"context": {"engines": {"lcm": {"a": 1}}, "observers": None}}

    config.from_mapping(given_one)

    assert given_one == {"context": {"engines": {"lcm": {"a": 1}}, "observers": None}}


def test_importing_the_configuration_reads_no_yaml_library():
    code = "import sys, perdure.config; print('yaml' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"


def test_effective_values_say_where_they_came_from(tmp_path):
    text = "context:\n  engine: lcm\n  engines:\n    lcm: {leaf: 5}\n"
    found = loaded(tmp_path, text, PERDURE_CONTEXT__ENGINES__LCM__DEPTH="2")
    rows = {row.key: row for row in config.effective(found)}

    assert rows["context.engine"].source.endswith("config.yaml:2")
    assert rows["context.engines.lcm.leaf"].source.endswith("config.yaml:4")
    assert rows["context.engines.lcm.depth"].source == "PERDURE_CONTEXT__ENGINES__LCM__DEPTH"
    assert rows["context.on_error"].source == "default"


def test_command_line_comes_before_environment_and_file(tmp_path):
    (tmp_path / "c.yaml").write_text("context: {engine: file, on_error: raise}")

    found = config.load(
        tmp_path / "c.yaml",
        environ={"PERDURE_CONTEXT__ENGINE": "environment"},
        overrides={"context": {"engine": "line"}, "provider": {}},
    )

    assert found.config.context.engine == "line"
    assert found.config.context.on_error == "raise"
    assert found.sources["context.engine"] == "command line"


@pytest.mark.parametrize("url", ["https://me:hunter2@host/v1", "https://host/v1?api_key=hunter2"])
def test_address_with_a_credential_is_refused_and_not_repeated(url):
    with pytest.raises(ConfigError) as caught:
        config.from_mapping({"provider": {"base_url": url}})

    assert "api_key_env" in str(caught.value)
    assert "hunter2" not in str(caught.value)
