"""Reads a Hermes configuration: one note for each key that was translated or left out."""

from __future__ import annotations

from typing import Any

_COMPRESSION = {
    "enabled": "context.compression_enabled",
    "threshold": "context.compression.threshold",
    "protect_first_n": "context.compression.protect_first_n",
    "hygiene_hard_message_limit": "context.hygiene.hard_message_limit",
}
_NO_EQUIVALENT = {
    "target_ratio": "the tail has a budget in tokens, context.compression.protect_tail_tokens",
    "protect_last_n": "the tail has a budget in tokens, context.compression.protect_tail_tokens",
    "in_place": "compaction never changes the session's name here",
    "summary_model": "set summarizer.model together with its provider",
}
_MODEL = {
    "default": "provider.model",
    "provider": "provider.name",
    "base_url": "provider.base_url",
    "context_length": "provider.context_length",
    "max_tokens": "provider.max_tokens",
}
_SECTIONS = frozenset(
    """
    agent approvals auxiliary browser checkpoints code_execution cron curator
    custom_providers delegation discord display fallback_model fallback_providers gateway
    hooks human_delay logging mcp_servers memory network onboarding platforms plugins
    privacy prompt_caching provider_routing providers quick_commands security
    session_reset sessions skills slack stt telegram terminal timezone tool_output
    toolsets tts updates voice whatsapp
    """.split()  # noqa: SIM905 - fifty quoted words would be harder to read
)


def is_hermes(data: dict[str, Any]) -> bool:
    """Return whether the mapping has Hermes' flat `compression` section."""
    section = data.get("compression")
    context = data.get("context")
    is_ours = isinstance(context, dict) and "compression" in context
    return isinstance(section, dict) and not is_ours


def translated(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the mapping in our own keys, and the notes."""
    context = data.get("context")
    result: dict[str, Any] = {"context": dict(context) if isinstance(context, dict) else {}}
    notes = [_compression(result, key, value) for key, value in data["compression"].items()]
    model = data.get("model")
    facts = model if isinstance(model, dict) else {"default": model}
    notes += [
        _put(result, _MODEL[key], value, f"model.{key}")
        for key, value in facts.items()
        if key in _MODEL and value
    ]
    for key, value in data.items():
        if key in _SECTIONS:
            notes.append(f"{key} is left out: it is a matter of Hermes")
        elif key not in ("compression", "context", "model"):
            result[key] = value
    return result, tuple(notes)


def _compression(result: dict[str, Any], key: str, value: Any) -> str:  # noqa: ANN401 - of the file
    old = f"compression.{key}"
    if key in _COMPRESSION:
        return _put(result, _COMPRESSION[key], value, old)
    if key == "abort_on_summary_failure":
        chosen = "abort" if value else "extractive"
        return _put(result, "context.engines.compressor.on_summary_failure", chosen, old)
    return f"{old} is left out: {_NO_EQUIVALENT.get(key, 'it has no meaning here')}"


def _put(result: dict[str, Any], path: str, value: Any, old: str) -> str:  # noqa: ANN401 - of the file
    section = result
    *parents, last = path.split(".")
    for part in parents:
        section = section.setdefault(part, {})
    section[last] = value
    return f"{old} is read as {path}"
