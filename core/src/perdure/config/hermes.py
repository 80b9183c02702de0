"""Reads a Hermes configuration: one note for each key that was translated or left out.

The keys are those of Hermes Agent 0.19, older names of its summary model included.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


class Translation(NamedTuple):
    """A configuration in our keys.

    Attributes:
        renamed: The old dotted path of each new one.
        notes: One sentence for each key that was translated or left out.
    """

    data: dict[str, Any]
    renamed: Mapping[str, str]
    notes: tuple[str, ...]


class _Entry(NamedTuple):
    old: str
    value: Any
    target: str | None
    remark: str = ""


def _flag(value: Any) -> Any:  # noqa: ANN401 - of the file
    """Hermes takes words for switches; what is none is left for the check to refuse."""
    words = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    return words.get(str(value).lower(), value)


def _number(value: Any) -> Any:  # noqa: ANN401 - of the file
    """Hermes takes numbers in quotes; what is none is left for the check to refuse."""
    try:
        number = float(value) if isinstance(value, str) else None
    except ValueError:
        number = None
    if number is None:
        return value
    return int(number) if number.is_integer() else number


def _on_failure(value: Any) -> str:  # noqa: ANN401 - of the file
    return "abort" if _flag(value) is True else "extractive"


_KEYS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "compression.enabled": ("context.compression_enabled", _flag),
    "compression.threshold": ("context.compression.threshold", _number),
    "compression.protect_first_n": ("context.compression.protect_first_n", _number),
    "compression.hygiene_hard_message_limit": ("context.hygiene.hard_message_limit", _number),
    "compression.abort_on_summary_failure": (
        "context.engines.compressor.on_summary_failure",
        _on_failure,
    ),
    "compression.summary_model": ("summarizer.model", str),
    "compression.summary_provider": ("summarizer.name", str),
    "compression.summary_base_url": ("summarizer.base_url", str),
    "auxiliary.compression.model": ("summarizer.model", str),
    "auxiliary.compression.provider": ("summarizer.name", str),
    "auxiliary.compression.base_url": ("summarizer.base_url", str),
    "auxiliary.compression.context_length": ("summarizer.context_length", _number),
    "auxiliary.compression.timeout": ("context.engines.compressor.summary_timeout_s", _number),
    "model.default": ("provider.model", str),
    "model.model": ("provider.model", str),
    "model.provider": ("provider.name", str),
    "model.base_url": ("provider.base_url", str),
    "model.context_length": ("provider.context_length", _number),
    "model.max_tokens": ("provider.max_tokens", _number),
}
_TAIL = "the tail has a budget in tokens, context.compression.protect_tail_tokens"
_REMARKS = {
    "compression.target_ratio": _TAIL,
    "compression.protect_last_n": _TAIL,
    "compression.in_place": "compaction never changes the session's name here",
    "model.api_key": "name the variable that holds it in provider.api_key_env",
    "auxiliary.compression.api_key": "name the variable that holds it in summarizer.api_key_env",
}
# Read here, or so near to a section of ours that it would be taken for a misspelt one.
_SECTIONS = frozenset({"compression", "model", "auxiliary", "providers"})
_MARKS = ("_config_version", "model", "compression")


def is_hermes(data: Mapping[str, Any]) -> bool:
    """Return whether the mapping has Hermes' sections, and none of ours in their place."""
    context = data.get("context")
    if "provider" in data or (isinstance(context, dict) and "compression" in context):
        return False
    section = data.get("compression", {})
    return any(mark in data for mark in _MARKS) and isinstance(section, dict)


def translated(data: Mapping[str, Any], known: frozenset[str]) -> Translation:
    """Return the configuration in our own keys, and the notes.

    Args:
        data: What the file says.
        known: Names of our own sections; these are taken over as they are, and so is what is
            nearly one of them: the check names it.
    """
    result: dict[str, Any] = {}
    renamed: dict[str, str] = {}
    notes: list[str] = []
    sections = known | {"compression"}
    for key, value in data.items():
        is_misspelt = key not in _SECTIONS and nearest(str(key), sections, cutoff=0.85)
        if key in known or is_misspelt:
            result[key] = dict(value) if isinstance(value, dict) else value
    for entry in _entries(data, skipped=result):
        if entry.target is None:
            notes.append(f"{entry.old} is left out: {entry.remark}")
            continue
        _put(result, entry.target, entry.value)
        renamed[entry.target] = entry.old
        notes.append(f"{entry.old} is read as {entry.target}")
    return Translation(result, renamed, tuple(notes))


def _entries(data: Mapping[str, Any], *, skipped: Mapping[str, Any]) -> Iterator[_Entry]:
    """Yield each key of Hermes with its target, or the reason why it has none."""
    for section, value in data.items():
        if section in skipped:
            continue
        if section == "model":
            facts = value if isinstance(value, dict) else {"default": value}
            yield from _section("model", facts)
        elif section == "auxiliary" and isinstance(value, dict):
            for task, facts in value.items():
                if task == "compression" and isinstance(facts, dict):
                    yield from _section("auxiliary.compression", facts)
                else:
                    yield _Entry(f"auxiliary.{task}", facts, None, "it is a matter of Hermes")
        elif section == "compression":
            yield from _section("compression", value)
        else:
            yield _Entry(str(section), value, None, "it is a matter of Hermes")


def _section(prefix: str, facts: Mapping[str, Any]) -> Iterator[_Entry]:
    for key, value in facts.items():
        old = f"{prefix}.{key}"
        target, read = _KEYS.get(old, (None, str))
        if target is None:
            yield _Entry(old, value, None, _REMARKS.get(old, "it has no meaning here"))
        elif value in ("", None, "auto"):
            yield _Entry(old, value, None, f"it is {value!r}, which names nothing")
        else:
            yield _Entry(old, value if isinstance(value, (dict, list)) else read(value), target)


def _put(result: dict[str, Any], path: str, value: Any) -> None:  # noqa: ANN401 - of the file
    section = result
    *parents, last = path.split(".")
    for part in parents:
        if not isinstance(section.get(part), dict):
            section[part] = {}
        section = section[part]
    section[last] = value
