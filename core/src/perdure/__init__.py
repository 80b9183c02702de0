"""Perdure keeps long-running LLM agents from forgetting.

    import perdure

    with perdure.open_session(session_id="demo", model="gpt-4o") as session:
        result = session.compress(messages)
        messages = list(result.messages)

Names are imported when they are first used, so that `import perdure` costs next to nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from perdure.errors import (
        ConfigError,
        ContextOverflowError,
        EngineCallError,
        EngineConflictError,
        EngineContractError,
        EngineLoadError,
        EngineNotFoundError,
        InputError,
        InvariantError,
        PerdureError,
        PerdureWarning,
        StoreError,
        SummarizerError,
    )
    from perdure.hookspec import API_VERSION
    from perdure.manager import EngineSession
    from perdure.messages import Message
    from perdure.protocols import CompletionRequest, CompletionResult
    from perdure.session import open_session
    from perdure.transcript import Replacement, Transcript, View
    from perdure.types import (
        Budget,
        Compression,
        Decision,
        EngineContext,
        EngineStatus,
        ModelInfo,
        Reason,
        SessionRef,
        ToolSchema,
        Trigger,
        TurnOutcome,
        Usage,
    )

__all__ = [
    "API_VERSION",
    "Budget",
    "CompletionRequest",
    "CompletionResult",
    "Compression",
    "ConfigError",
    "ContextOverflowError",
    "Decision",
    "EngineCallError",
    "EngineConflictError",
    "EngineContext",
    "EngineContractError",
    "EngineLoadError",
    "EngineNotFoundError",
    "EngineSession",
    "EngineStatus",
    "InputError",
    "InvariantError",
    "Message",
    "ModelInfo",
    "PerdureError",
    "PerdureWarning",
    "Reason",
    "Replacement",
    "SessionRef",
    "StoreError",
    "SummarizerError",
    "ToolSchema",
    "Transcript",
    "Trigger",
    "TurnOutcome",
    "Usage",
    "View",
    "__version__",
    "open_session",
]

_HOMES = {
    "API_VERSION": "hookspec",
    "EngineSession": "manager",
    "Message": "messages",
    "CompletionRequest": "protocols",
    "CompletionResult": "protocols",
    "open_session": "session",
    "Replacement": "transcript",
    "Transcript": "transcript",
    "View": "transcript",
}
_TYPES = (
    "Budget Compression Decision EngineContext EngineStatus ModelInfo Reason SessionRef "
    "ToolSchema Trigger TurnOutcome Usage"
)
_HOMES.update(dict.fromkeys(_TYPES.split(), "types"))


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    """Import a public name when it is first used (PEP 562)."""
    if name == "__version__":
        from perdure.discovery import version_of

        return version_of("perdure-core")
    if name not in __all__:
        text = f"module 'perdure' has no attribute {name!r}"
        raise AttributeError(text)
    value = getattr(import_module(f"perdure.{_HOMES.get(name, 'errors')}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
