"""Every key can be set in the environment, and what is wrong there is named by its variable."""

from __future__ import annotations

import pytest

from perdure import config
from perdure.errors import ConfigError

FILE = """
context:
  engine: file
  compression: {threshold: 0.4, protect_first_n: 5}
  engines: {lcm: {leaf: 1, depth: 2}}
"""


def loaded(tmp_path, text: str = FILE, **environ: str):
    (tmp_path / "c.yaml").write_text(text, encoding="utf-8")
    return config.load(tmp_path / "c.yaml", environ=environ)


def refusal(tmp_path, text: str = FILE, **environ: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, text, **environ)
    return caught.value


def test_environment_comes_before_the_file_and_is_named_as_the_source(tmp_path):
    found = loaded(
        tmp_path,
        PERDURE_CONTEXT__COMPRESSION__THRESHOLD="0.3",
        PERDURE_CONTEXT__ENGINE="lcm",
        PERDURE_CONTEXT__OBSERVERS="[log]",
        PERDURE_CONTEXT__COMPRESSION_ENABLED="false",
    )

    context = found.config.context
    assert (context.engine, context.observers) == ("lcm", ["log"])
    assert context.compression.threshold == 0.3
    assert context.compression.protect_first_n == 5
    assert not context.compression_enabled
    assert found.sources["context.engine"] == "PERDURE_CONTEXT__ENGINE"


def test_section_in_one_variable_is_merged_and_replaces_nothing_else(tmp_path):
    found = loaded(
        tmp_path,
        PERDURE_CONTEXT__COMPRESSION='{"threshold": 0.3}',
        PERDURE_CONTEXT__ENGINES="{lcm: {leaf: 9}}",
        PERDURE_SUMMARIZER="{model: small}",
    )

    assert found.config.context.compression.threshold == 0.3
    assert found.config.context.compression.protect_first_n == 5
    assert found.config.context.engines == {"lcm": {"leaf": 9, "depth": 2}}
    assert found.config.summarizer.model == "small"
    assert found.sources["context.engines.lcm.depth"].endswith("c.yaml:5")
    assert found.sources["summarizer.model"] == "PERDURE_SUMMARIZER"


@pytest.mark.parametrize("text", [":memory:", "yes", "4", "1e3", "2026-01-01", "a: b", "[", "#x"])
def test_key_that_takes_text_has_it_as_it_stands(text, tmp_path):
    assert loaded(tmp_path, PERDURE_STATE__DIR=text).config.state.dir == text


def test_text_can_be_taken_away(tmp_path):
    found = loaded(tmp_path, "provider: {name: openai}", PERDURE_PROVIDER__NAME="null")

    assert found.config.provider.name is None


@pytest.mark.parametrize("text", ["", " "])
def test_empty_variable_is_not_set(text, tmp_path):
    found = loaded(tmp_path, PERDURE_CONTEXT__COMPRESSION__THRESHOLD=text)

    assert found.config.context.compression.threshold == 0.4


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("PERDURE_CONTEXT__COMPRESSION__THRESHOLD", "many"),
        ("PERDURE_CONTEXT__COMPRESSION__THRESHOLD", "[0.5"),
        ("PERDURE_CONTEXT__COMPRESSION__THRESHOLD", "nan"),
        ("PERDURE_CONTEXT__COMPRESSION__THRESHOLD", "true"),
        ("PERDURE_CONTEXT__COMPRESSION__TRESHOLD", "0.5"),
        ("PERDURE_CONTEXT__COMPRESION__THRESHOLD", "0.5"),
        ("PERDURE_CONTXT__ENGINE", "lcm"),
        ("PERDURE_CONTEXT__", "lcm"),
        ("PERDURE_CONTEXT__ENGINE__X", "1"),
        ("PERDURE_CONTEXT", "5"),
        ("PERDURE_CONTEXT__ENGINES", "{lcm: &a {b: *a}}"),
    ],
)
def test_wrong_variable_is_named(name, text, tmp_path):
    error = refusal(tmp_path, **{name: text})

    assert name in str(error)
    assert error.source.startswith(name)


def test_variables_that_name_no_key_are_left_to_others(tmp_path):
    found = loaded(tmp_path, PERDURE_DISABLE_PLUGINS="1", PERDURE_OTHER="x", OTHER__A="b")

    assert found.config.context.engine == "file"


@pytest.mark.parametrize("name", ["PERDURE_PROVIDER__API_KEY_ENV", "PERDURE_PROVIDER__API_KEY"])
def test_credential_in_the_environment_is_refused_and_not_shown(name, tmp_path):
    error = refusal(tmp_path, **{name: "sk-abcdefghijklmnopqrst"})

    assert "sk-abc" not in str(error)
    assert error.source == name
