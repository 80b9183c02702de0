"""One strict `pluggy.PluginManager` per plugin: registration, and a typed call for each hook.

This file and nobody else touches `manager.hook`. An engine shares its manager with core's defaults,
which run last, and core's guards, which wrap; each observer has a manager of its own, so that one
that raises takes nothing away from the others.
"""

from __future__ import annotations

import inspect
import logging
from typing import TYPE_CHECKING, Any

import pluggy

from perdure import contract
from perdure.hookspec import PROJECT, EngineSpec, ObserverSpec

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perdure.messages import Message
    from perdure.transcript import Transcript, View
    from perdure.types import (
        Budget,
        Compression,
        Decision,
        EngineStatus,
        ModelInfo,
        SessionRef,
        ToolSchema,
        Trigger,
        TurnOutcome,
        Usage,
    )

logger = logging.getLogger(__name__)


class _StrictManager(pluggy.PluginManager):
    """Looks at spec names only, never evaluates properties, and takes undecorated methods."""

    def __init__(self, hooks: dict[str, tuple[str, ...]]) -> None:
        super().__init__(PROJECT)
        self._hooks = hooks

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        """Return pluggy's options for a method whose name is in the spec, else None."""
        if name not in self._hooks or name not in contract.implemented(plugin, {name: ()}):
            return None
        method = inspect.unwrap(getattr(plugin, name))
        marked = getattr(method, f"{PROJECT}_impl", None) or {}
        opts: pluggy.HookimplOpts = {
            "wrapper": bool(marked.get("wrapper")),
            "hookwrapper": False,
            "optionalhook": False,
            "tryfirst": bool(marked.get("tryfirst")),
            "trylast": bool(marked.get("trylast")),
            "specname": None,
        }
        return opts


class EngineHooks:
    """The selected engine behind one typed method per hook."""

    def __init__(
        self, engine: object, *, name: str, session: SessionRef, core_plugins: Sequence[object]
    ) -> None:
        """Register an engine with core's own plugins; raises `EngineContractError`."""
        contract.check_engine(engine, name=name)
        self.name = name
        self.engine = engine
        self._session = session
        manager = _StrictManager(contract.ENGINE_HOOKS)
        manager.add_hookspecs(EngineSpec)
        for plugin in core_plugins:
            manager.register(plugin)
        manager.register(engine, name=name)
        self._hook = manager.hook

    def on_session_start(self, history: Transcript) -> None:
        """Open the session."""
        self._hook.on_session_start(history=history, session=self._session)

    def update_model(self, model: ModelInfo) -> None:
        """Tell the model."""
        self._hook.update_model(model=model, session=self._session)

    def should_compress_preflight(
        self, messages: View, tools: Sequence[ToolSchema], budget: Budget
    ) -> Decision:
        """Ask before a request."""
        return self._hook.should_compress_preflight(  # type: ignore[no-any-return]
            messages=messages, tools=tools, budget=budget, session=self._session
        )

    def should_compress(self, prompt_tokens: int | None, budget: Budget) -> Decision:
        """Ask after a response."""
        return self._hook.should_compress(  # type: ignore[no-any-return]
            prompt_tokens=prompt_tokens, budget=budget, session=self._session
        )

    def on_messages(
        self, messages: Sequence[Message], history: Transcript
    ) -> Sequence[Message] | None:
        """Show new messages."""
        return self._hook.on_messages(  # type: ignore[no-any-return]
            messages=messages, history=history, session=self._session
        )

    def select_context(
        self, messages: View, history: Transcript, incoming: Message | None, budget: Budget
    ) -> Sequence[Message] | None:
        """Ask for the messages of one request."""
        return self._hook.select_context(  # type: ignore[no-any-return]
            messages=messages,
            history=history,
            incoming=incoming,
            budget=budget,
            session=self._session,
        )

    def compress(
        self,
        messages: View,
        *,
        budget: Budget,
        trigger: Trigger,
        focus_topic: str | None,
        memory_context: str | None,
    ) -> Compression | None:
        """Compress; raises `EngineCallError`, `EngineContractError` or `InvariantError`."""
        return self._hook.compress(  # type: ignore[no-any-return]
            messages=messages,
            budget=budget,
            trigger=trigger,
            focus_topic=focus_topic,
            memory_context=memory_context,
            session=self._session,
        )

    def update_from_response(self, usage: Usage) -> None:
        """Tell the usage."""
        self._hook.update_from_response(usage=usage, session=self._session)

    def on_turn_complete(self, messages: View, usage: Usage | None, outcome: TurnOutcome) -> None:
        """Tell that a turn ended."""
        self._hook.on_turn_complete(
            messages=messages, usage=usage, outcome=outcome, session=self._session
        )

    def get_tool_schemas(self) -> tuple[ToolSchema, ...]:
        """Ask for the engine's tools."""
        return tuple(self._hook.get_tool_schemas(session=self._session) or ())

    def handle_tool_call(
        self, name: str, arguments: Mapping[str, Any], messages: View
    ) -> Mapping[str, Any] | str:
        """Pass on a tool call."""
        return self._hook.handle_tool_call(  # type: ignore[no-any-return]
            name=name, arguments=arguments, messages=messages, session=self._session
        )

    def get_status(self) -> EngineStatus | Mapping[str, Any] | None:
        """Ask for the engine's part of the status."""
        return self._hook.get_status(session=self._session)  # type: ignore[no-any-return]

    def on_session_end(self, messages: View, reason: str) -> None:
        """Close the session."""
        self._hook.on_session_end(messages=messages, reason=reason, session=self._session)


class Observers:
    """Any number of listeners; a failure of one is logged once and changes nothing else."""

    def __init__(self, observers: Mapping[str, object], *, session: SessionRef) -> None:
        """Register observers by name; raises `EngineContractError` naming the observer."""
        self._session = session
        self._managers: dict[str, _StrictManager] = {}
        self._told: set[tuple[str, str]] = set()
        for name, observer in observers.items():
            contract.check_observer(observer, name=name)
            manager = _StrictManager(contract.OBSERVER_HOOKS)
            manager.add_hookspecs(EngineSpec)
            manager.add_hookspecs(ObserverSpec)
            manager.register(observer, name=name)
            self._managers[name] = manager

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the observers."""
        return tuple(self._managers)

    def notify(self, hook: str, /, **arguments: object) -> None:
        """Call one hook of every observer that has it."""
        for name, manager in self._managers.items():
            try:
                getattr(manager.hook, hook)(**arguments, session=self._session)
            except Exception:  # noqa: PERF203 - one failure must not silence the others
                if (name, hook) not in self._told:
                    self._told.add((name, hook))
                    logger.exception(
                        "observer %r failed in %s; further failures there are not logged",
                        name,
                        hook,
                    )
