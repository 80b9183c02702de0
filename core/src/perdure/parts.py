"""What a session is made of: parts that `perdure.session` puts together, known by protocol here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager

    from perdure.protocols import BlobStore, Clock, Codec, SessionHistory, TokenCounter
    from perdure.registry import Observers
    from perdure.types import Budget, ModelInfo, SessionRef, ToolSchema


@dataclass(frozen=True, kw_only=True)
class SessionParts:
    """What `EngineSession` is made of; `perdure.session.open_session` puts it together.

    Attributes:
        engines: Makes an engine instance by role: `selected` or `builtin`. The maker is called at
            most once per role.
        budget: Budget for the current model and a number of fixed tokens.
        hold: Keeps other holders from compacting; see `SessionStore.hold`.
        core_tools: Tools that core offers in every session, and the function that answers them.
        close: Releases stores and workers.
    """

    session: SessionRef
    engine: str
    requested: str
    make_selected: Callable[[EngineState], object]
    make_builtin: Callable[[EngineState], object]
    builtin: str
    model: ModelInfo
    budget: Callable[[ModelInfo, int], Budget]
    counter: TokenCounter
    blobs: BlobStore
    history: SessionHistory
    hold: Callable[..., AbstractContextManager[bool]]
    codec: Codec
    observers: Observers
    clock: Clock
    core_tools: tuple[ToolSchema, ...] = ()
    call_core_tool: Callable[[str, Mapping[str, Any]], str | Mapping[str, Any]] | None = None
    offers_tools: bool = False
    warnings: tuple[str, ...] = ()
    close: Callable[[], None] = lambda: None


class EngineState:
    """The durable state of one engine, read at its start and written with the next commit."""

    def __init__(self, value: Any = None) -> None:  # noqa: ANN401 - the engine's own JSON
        """Take the stored value."""
        self._value = value

    def load(self) -> Any:  # noqa: ANN401 - the engine's own JSON
        """Return what was saved last."""
        return self._value

    def save(self, value: Any) -> None:  # noqa: ANN401 - the engine's own JSON
        """Keep a JSON-able value; it becomes durable with the compaction it belongs to."""
        self._value = value
