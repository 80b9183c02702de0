"""Which engine serves a session: the selected one, until it is put in quarantine."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from perdure.defaults import Defaults
from perdure.errors import EngineContractError, PerdureError, StoreError
from perdure.guards import Guards
from perdure.parts import EngineState
from perdure.registry import EngineHooks

if TYPE_CHECKING:
    from collections.abc import Callable

    from perdure.parts import SessionParts
    from perdure.transcript import View
    from perdure.types import Compression, ModelInfo

logger = logging.getLogger(__name__)

FAILURES_UNTIL_QUARANTINE = 3


class Serving:
    """The engine behind a session, its failures, and the built-in that stands by.

    Attributes:
        hooks: The engine that serves now.
        state: That engine's durable state.
        failures: Everything that went wrong, in order.
        quarantined: Why the selected engine was taken out of service, or None.
    """

    def __init__(
        self,
        parts: SessionParts,
        stored_state: Any,  # noqa: ANN401 - the engine's own JSON
        count: Callable[..., int],
    ) -> None:
        """Make the selected engine; raises what its factory and the contract checks raise."""
        self._parts = parts
        self._count = count
        self._defaults = Defaults(count)
        self._in_a_row = 0
        self._retired: EngineHooks | None = None
        self.failures: list[str] = []
        self.quarantined: str | None = None
        self.state = EngineState(stored_state)
        self.hooks = self._hooked(parts.make_selected(self.state), parts.engine)

    def _hooked(self, engine: object, name: str) -> EngineHooks:
        guards = Guards(name, defaults=self._defaults, count=self._count, report=self.on_failure)
        guards.is_own = name == self._parts.builtin
        return EngineHooks(
            engine,
            name=name,
            session=self._parts.session,
            core_plugins=(self._defaults, guards),
        )

    @property
    def is_builtin(self) -> bool:
        """Whether the built-in serves."""
        return self.hooks.name == self._parts.builtin

    def start(self, view: View, model: ModelInfo) -> None:
        """Open the session in the engine that serves."""
        self.hooks.on_session_start(view.transcript)
        self.hooks.update_model(model)

    def end(self, view: View, reason: str) -> None:
        """Close the session in every engine that was opened."""
        for hooks in filter(None, (self._retired, self.hooks)):
            hooks.on_session_end(view, reason)

    def rescue(self, ask: Callable[[EngineHooks], Compression | None]) -> Compression | None:
        """Let the built-in answer once for the engine that failed: the request has to fit now."""
        builtin = self._hooked(self._parts.make_builtin(EngineState(None)), self._parts.builtin)
        try:
            return ask(builtin)
        except PerdureError as error:
            self.on_failure("compress", error)
            return None

    def on_success(self) -> None:
        """Forget the failures in a row."""
        self._in_a_row = 0

    def on_failure(self, hook: str, error: PerdureError) -> None:
        """Record a failure; a broken contract, or the third one in a row, means quarantine."""
        self.failures.append(str(error))
        if isinstance(error, StoreError) and error.is_transient:
            return
        self._in_a_row += 1
        logger.warning("engine %r failed in %s: %s", self.hooks.name, hook, error)
        is_over = isinstance(error, EngineContractError)
        is_over = is_over or self._in_a_row >= FAILURES_UNTIL_QUARANTINE
        if is_over and not self.is_builtin and self.quarantined is None:
            self.quarantined = str(error)
        self._parts.observers.notify(
            "engine_failed",
            engine=self._parts.engine,
            hook=hook,
            error=error,
            is_quarantined=self.quarantined is not None,
        )

    def replace_quarantined(self, view: View, model: ModelInfo) -> None:
        """Put the built-in in place of an engine in quarantine, if that has not happened yet.

        Its replacements and the list of tools stay as they are.
        """
        if self.quarantined is None or self._retired is not None:
            return
        self._retired = self.hooks
        self.state = EngineState(None)
        self.hooks = self._hooked(self._parts.make_builtin(self.state), self._parts.builtin)
        logger.warning("engine %r is in quarantine: %s", self._retired.name, self.quarantined)
        self.start(view, model)
