"""A configuration is right, or the error names file, line, key, value and what is allowed."""

from __future__ import annotations

from pathlib import Path

import pytest

from perdure import config
from perdure.errors import ConfigError

ROOT = Path(__file__).resolve().parents[2]


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
    assert "allowed" in str(refusal(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "nearest"),
    [
        ("compresion: {threshold: 0.5}", "context.compression"),
        ("context: {compresion: {threshold: 0.5}}", "compression"),
        ("context: {compression: {treshold: 0.5}}", "threshold"),
        ("provider: {api_key: sk-123}", "api_key_env"),
    ],
)
def test_misspelt_key_is_refused_with_the_nearest(text, nearest, tmp_path):
    error = refusal(tmp_path, text)

    assert error.nearest == nearest
    assert f"did you mean {nearest!r}" in str(error)


def test_key_itself_in_the_place_of_its_name_is_refused_and_not_shown(tmp_path):
    error = refusal(tmp_path, "provider: {api_key_env: sk-abc-123}")

    assert "not the key itself" in str(error)
    assert "sk-abc" not in str(error)


def test_gateway_threshold_is_fixed_and_the_error_says_why(tmp_path):
    error = refusal(tmp_path, "context: {compression: {gateway_threshold: 0.8}}")

    assert "fixed at 0.85" in str(error)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("c.yaml", "context:\n  engine: a\n  engine: b\n", "c.yaml:3: key 'context.engine' stands"),
        ("c.yaml", "context:\n\tengine: a\n", "c.yaml:2: not valid YAML"),
        ("c.yaml", "- a\n- b\n", "the file holds a list"),
        ("c.toml", "[context\n", "not valid TOML"),
    ],
)
def test_file_that_is_no_configuration_is_refused_with_its_line(name, text, found, tmp_path):
    assert found in str(refusal(tmp_path, text, name))


def test_file_that_is_not_utf8_or_not_there_is_refused(tmp_path):
    (tmp_path / "c.yaml").write_bytes(b"\xff\xfe\x80")

    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(tmp_path / "c.yaml", environ={})
    with pytest.raises(ConfigError, match="there is no configuration file"):
        config.load(tmp_path / "no.yaml", environ={})


def test_toml_says_the_same_as_yaml(tmp_path):
    toml = loaded(tmp_path, "[context.compression]\nthreshold = 0.4\n", "c.toml")
    yaml = loaded(tmp_path, "context: {compression: {threshold: 0.4}}", "c.yaml")

    assert toml.config == yaml.config


def test_every_key_can_be_set_in_the_environment(tmp_path):
    text = "context: {compression: {threshold: 0.4}}"
    found = loaded(
        tmp_path,
        text,
        PERDURE_CONTEXT__COMPRESSION__THRESHOLD="0.3",
        PERDURE_CONTEXT__ENGINE="lcm",
        PERDURE_CONTEXT__OBSERVERS="[log]",
    )

    assert found.config.context.compression.threshold == 0.3
    assert found.config.context.engine == "lcm"
    assert found.config.context.observers == ["log"]
    assert found.sources["context.engine"] == "PERDURE_CONTEXT__ENGINE"


def test_wrong_variable_is_named(tmp_path):
    error = refusal(tmp_path, "", PERDURE_CONTEXT__COMPRESSION__THRESHOLD="many")

    assert "PERDURE_CONTEXT__COMPRESSION__THRESHOLD" in str(error)


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


def test_effective_values_say_where_they_came_from(tmp_path):
    found = loaded(tmp_path, "context:\n  engine: lcm\n")
    rows = {row.key: row for row in config.effective(found)}

    assert rows["context.engine"].source.endswith("config.yaml:2")
    assert rows["context.on_error"].source == "default"


def test_hermes_configuration_loads_with_a_note_for_each_key(tmp_path):
    text = """
model: {default: gpt-4o, context_length: 100000}
context: {engine: lcm}
compression:
  enabled: false
  threshold: 0.4
  protect_first_n: 2
  hygiene_hard_message_limit: 4000
  abort_on_summary_failure: true
  protect_last_n: 20
terminal: {backend: local}
"""
    found = loaded(tmp_path, text)
    context = found.config.context

    assert context.engine == "lcm"
    assert not context.compression_enabled
    assert context.compression.threshold == 0.4
    assert context.hygiene.hard_message_limit == 4_000
    assert context.engines["compressor"]["on_summary_failure"] == "abort"
    assert found.config.provider.model == "gpt-4o"
    for key in ("compression.enabled", "compression.protect_last_n", "model.default", "terminal"):
        assert any(note.startswith(key) for note in found.notes), key
