"""A configuration of Hermes is read as it is, with a note for each of its keys."""

from __future__ import annotations

import pytest

from perdure import config
from perdure.errors import ConfigError

HERMES = """
_config_version: 17
model: {default: gpt-4o, provider: openai, context_length: 100000, api_key: "", api_mode: chat}
providers: {}
context: {engine: lcm}
compression:
  enabled: false
  threshold: 0.4
  target_ratio: 0.2
  protect_last_n: 20
  protect_first_n: 2
  hygiene_hard_message_limit: 4000
  abort_on_summary_failure: true
  codex_gpt55_autoraise: true
  codex_gpt55_autoraise_notice: true
  codex_app_server_auto: native
  in_place: true
auxiliary:
  vision: {provider: auto}
  compression: {provider: groq, model: small, base_url: "", api_key: "", timeout: 90}
terminal: {backend: local}
stt: {enabled: true}
"""


def loaded(tmp_path, text: str):
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    return config.load(environ={}, cwd=tmp_path)


def test_each_key_is_translated(tmp_path):
    found = loaded(tmp_path, HERMES).config

    assert found.context.engine == "lcm"
    assert not found.context.compression_enabled
    assert found.context.compression.threshold == 0.4
    assert found.context.compression.protect_first_n == 2
    assert found.context.hygiene.hard_message_limit == 4_000
    assert found.context.engines["compressor"] == {
        "on_summary_failure": "abort",
        "summary_timeout_s": 90,
    }
    assert (found.provider.model, found.provider.name) == ("gpt-4o", "openai")
    assert found.provider.context_length == 100_000
    assert (found.summarizer.model, found.summarizer.name) == ("small", "groq")


@pytest.mark.parametrize(
    "key",
    [
        "_config_version",
        *(f"model.{key}" for key in ("default", "provider", "context_length", "api_mode")),
        *(f"compression.{key}" for key in "enabled threshold target_ratio in_place".split()),
        *(f"compression.{key}" for key in "protect_last_n protect_first_n".split()),
        *(f"compression.codex_{key}" for key in ("gpt55_autoraise", "app_server_auto")),
        *(f"auxiliary.compression.{key}" for key in ("provider", "model", "timeout", "api_key")),
        "auxiliary.vision",
        "providers",
        "terminal",
        "stt",
    ],
)
def test_each_key_has_one_note(key, tmp_path):
    notes = loaded(tmp_path, HERMES).notes

    assert len([note for note in notes if note.startswith(f"{key} is ")]) == 1


SECTIONS = """
    providers fallback_providers credential_pool_strategies toolsets max_concurrent_sessions agent
    terminal web browser checkpoints context_file_max_chars file_read_max_chars mcp tool_output
    tool_loop_guardrails kanban prompt_caching openrouter bedrock display dashboard privacy tts stt
    voice human_delay memory delegation prefill_messages_file goals moa skills curator honcho
    timezone slack discord whatsapp telegram mattermost matrix approvals command_allowlist
    quick_commands platform_hints hooks personalities security cron code_execution tools logging
    model_catalog network gateway streaming sessions onboarding updates lsp secrets computer_use
    desktop vertex
""".split()


@pytest.mark.parametrize("section", SECTIONS)
def test_sections_of_hermes_are_not_taken_for_misspelt_ones_of_ours(section, tmp_path):
    notes = loaded(tmp_path, f"compression: {{}}\n{section}: {{}}\n").notes

    assert notes == (f"{section} is left out: it is a matter of Hermes",)


def test_values_are_traced_to_the_old_lines(tmp_path):
    sources = loaded(tmp_path, HERMES).sources

    assert sources["context.compression.threshold"].endswith("config.yaml:8")


def test_wrong_value_is_refused_with_the_new_key_and_the_old_line(tmp_path):
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path, "compression:\n  threshold: 80\n")

    assert caught.value.key == "context.compression.threshold"
    assert caught.value.source.endswith("config.yaml:2")


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("compression: {threshold: '0.4'}", "context.compression.threshold", 0.4),
        ("compression: {protect_first_n: '2'}", "context.compression.protect_first_n", 2),
        ("compression: {enabled: 'No'}", "context.compression_enabled", False),
        ("compression: {enabled: 1}", "context.compression_enabled", True),
        ("compression: {summary_model: small}", "summarizer.model", "small"),
        ("model: gpt-4o\ncontext: {engine: lcm}", "provider.model", "gpt-4o"),
    ],
)
def test_words_that_hermes_takes_are_taken(text, key, value, tmp_path):
    rows = {row.key: row.value for row in config.effective(loaded(tmp_path, text))}

    assert rows[key] == value


@pytest.mark.parametrize("text", ["compression: {threshold: nan}", "compression: {enabled: maybe}"])
def test_words_that_mean_nothing_are_refused(text, tmp_path):
    with pytest.raises(ConfigError):
        loaded(tmp_path, text)


def test_key_of_the_summary_model_is_left_out_with_advice_and_not_shown(tmp_path):
    text = "compression: {}\nauxiliary: {compression: {api_key: sk-abcdef, model: small}}"

    notes = "\n".join(loaded(tmp_path, text).notes)

    assert "summarizer.api_key_env" in notes
    assert "sk-abc" not in notes


def test_misspelt_section_is_not_taken_for_one_of_hermes(tmp_path):
    with pytest.raises(ConfigError, match="did you mean"):
        loaded(tmp_path, "compression: {threshold: 0.4}\ncontxt: {engine: lcm}\n")


def test_both_ways_at_once_are_refused(tmp_path):
    text = "context: {compression: {threshold: 0.4}}\ncompression: {threshold: 0.5}\n"

    with pytest.raises(ConfigError, match=r"did you mean 'context\.compression'"):
        loaded(tmp_path, text)
