"""A file is read as it was meant, or the error names file and line."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.config import files, load
from perdure.errors import ConfigError


def refusal(tmp_path, content: str | bytes, name: str = "c.yaml") -> str:
    raw = content.encode() if isinstance(content, str) else content
    (tmp_path / name).write_bytes(raw)
    with pytest.raises(ConfigError) as caught:
        load(tmp_path / name, environ={})
    assert name in caught.value.source
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("c.yaml", "context:\n  engine: a\n  engine: b\n", "c.yaml:3: key 'context.engine' stands"),
        ("c.yaml", "context: {engine: a, engine: b}", "c.yaml:1: key 'context.engine' stands"),
        ("c.json", '{"context": {},\n "context": {}}', "c.json:2: key 'context' stands"),
        ("c.yaml", "context:\n\tengine: a\n", "c.yaml:2: not valid YAML"),
        ("c.yaml", "context: {}\n---\ncontext: {}\n", "c.yaml:2: not valid YAML"),
        ("c.yaml", "a: 1\nb: !!python/object:os.system {}\n", "c.yaml:2: not valid YAML"),
        ("c.yaml", "- a\n- b\n", "c.yaml:1: the file holds a list"),
        ("c.yaml", "just words", "c.yaml:1: the file holds a str"),
        ("c.yaml", "", "c.yaml:1: the file is empty"),
        ("c.yaml", " \n\n", "c.yaml:1: the file is empty"),
        ("c.yaml", "a: 2026-13-45", "a value cannot be read"),
        ("c.yaml", "a: !!int x", "a value cannot be read"),
        ("c.yaml", "a: !!bool x", "a value cannot be read"),
        ("c.toml", "[context\n", "c.toml:1: not valid TOML"),
        ("c.toml", "a = 1\na = 2\n", "c.toml:2: not valid TOML"),
    ],
)
def test_file_that_is_no_configuration_is_refused_with_its_line(name, text, found, tmp_path):
    assert found in refusal(tmp_path, text, name)


def test_text_that_is_not_utf8_is_refused_with_the_line_of_the_first_wrong_byte(tmp_path):
    assert "c.yaml:2: not UTF-8: byte 0xff" in refusal(tmp_path, b"context:\n  engine: \xff\n")


def test_control_character_is_refused_with_its_line(tmp_path):
    assert "c.yaml:2: not valid YAML" in refusal(tmp_path, b"context:\n  engine: a\x00\n")


@pytest.mark.parametrize("path", ["no.yaml", "bad\0name.yaml", "~nobody-of-this-name/c.yaml"])
def test_file_that_is_not_there_is_refused(path, tmp_path):
    with pytest.raises(ConfigError, match="configuration file"):
        load(path if path.startswith("~") else f"{tmp_path}/{path}", environ={})


def test_folder_is_no_file(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        load(tmp_path, environ={})


def test_file_of_comments_only_leaves_the_defaults(tmp_path):
    (tmp_path / "c.yaml").write_text("# context:\n#   engine: lcm\n")

    assert load(tmp_path / "c.yaml", environ={}).sources == {}


def test_mark_at_the_start_of_a_file_does_not_count(tmp_path):
    (tmp_path / "c.yaml").write_bytes(b"\xef\xbb\xbfcontext: {engine: lcm}")

    assert load(tmp_path / "c.yaml", environ={}).config.context.engine == "lcm"


def test_sections_may_share_their_lines(tmp_path):
    text = "provider: &model {name: openai, model: a}\nsummarizer: {<<: *model, model: b}\n"
    (tmp_path / "c.yaml").write_text(text)

    found = load(tmp_path / "c.yaml", environ={}).config

    assert (found.summarizer.name, found.summarizer.model) == ("openai", "b")


@pytest.mark.parametrize(
    "text",
    [
        "a: &a {b: *a}",
        "context: &a\n  engines: {x: {y: *a}}",
        "context: {observers: &a [*a]}",
        "[" * 5_000,
        "a: " + "{a: " * 3_000 + "}" * 3_000,
        "\n".join(
            [
                "a0: &a0 [x]",
                *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 20)),
            ]
        ),
        "\n".join(
            [
                "a0: &a0 {x: 1}",
                *(f"a{n}: &a{n} {{p: *a{n - 1}, q: *a{n - 1}}}" for n in range(1, 45)),
            ]
        ),
    ],
    ids=["self", "parent", "list", "deep-list", "deep-mapping", "laughs", "laughing-mappings"],
)
def test_file_that_unfolds_without_end_is_refused(text, tmp_path):
    assert "nested too deeply" in refusal(tmp_path, text)


def test_deep_toml_is_refused(tmp_path):
    assert "not valid TOML" in refusal(tmp_path, "a = " + "[" * 5_000, "c.toml")


@given(st.one_of(st.text(), st.text("{}[]:&*!?-# \n\tab01<\"'|>%@,.~")))
def test_any_text_is_a_value_or_a_configuration_error(text):
    with contextlib.suppress(ConfigError):
        files.yaml_value(text, "c.yaml")
