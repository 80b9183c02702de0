"""`EngineSession`: the typed façade that hosts use.

It owns the session's view, hands it to the selected engine, lets the guards judge the result,
stores originals before anything is replaced, and commits the new view. Failures of an engine do
not reach the host as exceptions: they are recorded, shown, and answered by the built-in engine.
"""

from __future__ import annotations

import asyncio
import functools
import threading
from dataclasses import replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from perdure.errors import PerdureError, StoreError
from perdure.guards import selected
from perdure.messages import is_system
from perdure.serving import Serving
from perdure.transcript import View, shortenings
from perdure.types import (
    Budget,
    Compression,
    Decision,
    EngineStatus,
    Reason,
    ToolSchema,
    Trigger,
    TurnOutcome,
    Usage,
)

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence
    from types import TracebackType

    from perdure.messages import Message
    from perdure.parts import SessionParts
    from perdure.protocols import BlobStore, WireCopy
    from perdure.registry import EngineHooks
    from perdure.transcript import Entry, Replacement
    from perdure.types import ModelInfo

P = ParamSpec("P")
R = TypeVar("R")


def _twin(method: Callable[P, R]) -> Callable[P, Awaitable[R]]:
    """Return a method that does the same in a worker thread, for async hosts."""

    @functools.wraps(method)
    async def twin(*arguments: P.args, **options: P.kwargs) -> R:
        return await asyncio.to_thread(method, *arguments, **options)

    return twin


class EngineSession:
    """One conversation and the engine that keeps it within its window.

    Messages may be given as OpenAI chat messages, Responses items or Anthropic messages, as a list
    or as a whole request body; what comes back has the same shape. All methods may be called from
    any thread; calls into the engine run one at a time. The methods that start with `a` do the
    same in a worker thread, for async hosts.
    """

    def __init__(self, parts: SessionParts) -> None:
        """Open the session; use `perdure.open_session` instead of calling this."""
        self._parts = parts
        self._lock = threading.RLock()
        self._model = parts.model
        self._ended = False
        self._usage: Usage | None = None
        self._is_awaiting = False
        self._history = parts.history
        stored = self._history.snapshot
        state = stored.engine_state if stored.engine == parts.engine else None
        self._serving = Serving(parts, state, self.count_tokens)
        parts.observers.notify(
            "engine_resolved",
            engine=parts.engine,
            requested=parts.requested,
            warnings=parts.warnings,
        )
        self._serving.start(self._history.view, self._model)
        parts.observers.notify("on_session_start", history=self._history.view.transcript)
        self._tools = self._hooks.get_tool_schemas()

    @property
    def _hooks(self) -> EngineHooks:
        """The engine that serves from this call on."""
        self._serving.replace_quarantined(self._history.view, self._model)
        return self._serving.hooks

    # ---------------------------------------------------------------- what there is

    @property
    def session_id(self) -> str:
        """Name of the session."""
        return self._parts.session.session_id

    @property
    def current(self) -> View:
        """The view as engines see it."""
        return self._history.view

    @property
    def blobs(self) -> BlobStore:
        """The store of this session's originals."""
        return self._parts.blobs

    @property
    def warnings(self) -> tuple[str, ...]:
        """What went wrong or was given up while the session was opened."""
        return self._parts.warnings

    def count_tokens(
        self, view: View | None = None, tools: Sequence[ToolSchema | Mapping[str, Any]] = ()
    ) -> int:
        """Return the tokens of a view (by default the current one) with tool schemas."""
        sent = (self._history.view if view is None else view).sent
        return sent.total(self.count_message) + self._parts.counter.count_tools(tools)

    def count_message(self, entry: Entry) -> int:
        """Return the tokens of one entry of a view or transcript."""
        return self._parts.counter.count_message(entry.message, entry.digest)

    def budget(self, tools: Sequence[ToolSchema | Mapping[str, Any]] = ()) -> Budget:
        """Return the numbers that decide, for the current model and these tools."""
        fixed = self._parts.counter.count_tools(tools)
        sent = self._history.view.sent
        leading = takewhile(lambda at: is_system(sent[at]), range(len(sent)))
        fixed += sum(self.count_message(sent.entry(at)) for at in leading)
        return self._parts.budget(self._model, fixed)

    def view(self, dialect: str | None = None) -> WireCopy:
        """Return what would be sent now, by default in the format that messages came in.

        Raises:
            InvariantError: A list that we changed cannot be made valid for the dialect.
            ConfigError: There is no such dialect; the message names the nearest.
        """
        return self._parts.codec.wire(self._history.view, dialect or self._history.format)

    def status(self) -> EngineStatus:
        """Return what a user wants to know about the session."""
        with self._lock:
            budget = self.budget()
            own = self._hooks.get_status()
            details = dict(own) if isinstance(own, dict) else {}
            known = own if isinstance(own, EngineStatus) else EngineStatus(details=details)
            usage = self._usage.prompt_tokens if self._usage else None
            return replace(
                known,
                engine=self._hooks.name,
                requested_engine=self._parts.requested,
                last_prompt_tokens=-1 if self._is_awaiting else usage,
                trigger_tokens=budget.trigger_tokens,
                hygiene_tokens=budget.hygiene_tokens,
                context_length=self._model.context_length,
                compaction_count=self._history.snapshot.compaction_count,
                quarantined=self._serving.quarantined,
                failures=tuple(self._serving.failures),
            )

    # ---------------------------------------------------------------- messages come in

    def append(self, new_messages: object) -> None:
        """Add new messages at the end; costs only what is new.

        Raises:
            InputError: A message cannot be read; nothing is added then.
        """
        with self._lock:
            self._ingest(self._history.append(new_messages))

    def load(self, messages: object) -> list[Mapping[str, Any]]:
        """Take a whole history, as a client sends it with every request.

        What is known of it keeps its replacements, also when the client has taken a compacted list
        as its own. Returns the tool definitions of a request body, if it has any.
        """
        with self._lock:
            fresh, tools = self._history.load(messages)
            self._ingest(fresh)
            return tools

    def _ingest(self, fresh: int) -> None:
        """Show new messages to the engine and take what it shortened."""
        transcript = self._history.view.transcript
        messages = transcript[fresh:]
        shortened = self._hooks.on_messages(messages, transcript) if messages else None
        made = shortenings(transcript, fresh, shortened or ())
        if made:
            self._commit(made)

    # ---------------------------------------------------------------- deciding

    def should_compress_preflight(
        self, tools: Sequence[ToolSchema | Mapping[str, Any]] = ()
    ) -> Decision:
        """Return whether the request should be made smaller before it is sent."""
        with self._lock:
            budget = self.budget(tools)
            decision = self._hooks.should_compress_preflight(self._history.view, tools, budget)  # type: ignore[arg-type]
            return self._decided(decision, Trigger.PREFLIGHT)

    def should_compress(self, usage: Usage | None = None) -> Decision:
        """Return whether the context should be made smaller after a response."""
        with self._lock:
            known = usage or self._usage
            prompt_tokens = None if self._is_awaiting or known is None else known.prompt_tokens
            decision = self._hooks.should_compress(prompt_tokens, self.budget())
            return self._decided(decision, Trigger.AFTER_RESPONSE)

    def _decided(self, decision: Decision, trigger: Trigger) -> Decision:
        self._parts.observers.notify("decided", decision=decision, trigger=trigger)
        return decision

    def update_from_response(self, usage: Usage) -> None:
        """Take note of the provider's own counts."""
        with self._lock:
            self._usage, self._is_awaiting = usage, False
            self._hooks.update_from_response(usage)
            self._parts.observers.notify("update_from_response", usage=usage)

    def update_model(self, model: ModelInfo) -> None:
        """Go on with another model or window; forgets what the old one reported."""
        with self._lock:
            self._model, self._usage = model, None
            self._hooks.update_model(model)
            self._parts.observers.notify("update_model", model=model)

    def complete_turn(self, outcome: TurnOutcome = TurnOutcome.COMPLETED) -> None:
        """Tell that the agent has finished a turn."""
        with self._lock:
            view, usage = self._history.view, self._usage
            self._hooks.on_turn_complete(view, usage, outcome)
            self._parts.observers.notify(
                "on_turn_complete", messages=view, usage=usage, outcome=outcome
            )

    def select_context(
        self, incoming: Message | None = None, dialect: str | None = None
    ) -> WireCopy:
        """Return the messages for one request: the engine's choice, or the view."""
        with self._lock:
            chosen = self._hooks.select_context(
                self._history.view, self._history.view.transcript, incoming, self.budget()
            )
            view = self._history.view if chosen is None else selected(self._history.view, chosen)
            return self._parts.codec.wire(view, dialect or self._history.format)

    # ---------------------------------------------------------------- compressing

    def compress(  # noqa: PLR0913 - each is a choice of the host
        self,
        messages: object = None,
        *,
        trigger: Trigger = Trigger.MANUAL,
        focus_topic: str | None = None,
        memory_context: str | None = None,
        tools: Sequence[ToolSchema | Mapping[str, Any]] = (),
        waits: bool | None = None,
    ) -> Compression:
        """Make the context smaller, if there is something to gain.

        Args:
            messages: The whole history, or None for what was appended. Never changed.
            trigger: Why; MANUAL and OVERFLOW do not wait for a threshold.
            focus_topic: What should be kept best.
            memory_context: Text of a long-term memory, as data.
            tools: Tool definitions that are sent along; they count.
            waits: Whether to wait for another holder of the session that is compacting it, for as
                long as its lease runs, and take over what it commits; by default OVERFLOW does.

        Returns:
            Always a `Compression`, true when the list changed. `reason` and `detail` say what
            happened, `messages` is what to send now, in the format that came in.

        Raises:
            InputError: The messages cannot be read.
        """
        waits = trigger is Trigger.OVERFLOW if waits is None else waits
        with self._parts.hold(waits=waits) as is_ours:
            if not is_ours:
                return self._outcome(Reason.BUSY, "another compaction of this session is running")
            with self._lock:
                return self._held(messages, trigger, focus_topic, memory_context, tools)

    def _held(
        self,
        messages: object,
        trigger: Trigger,
        focus_topic: str | None,
        memory_context: str | None,
        tools: Sequence[ToolSchema | Mapping[str, Any]],
    ) -> Compression:
        started = self._parts.clock()
        found = self.load(messages) if messages is not None else []
        if self._history.catch_up() and trigger is not Trigger.MANUAL:
            result = self._outcome(Reason.DONE, "another holder of this session has compacted it")
        else:
            known = tuple(tools) or tuple(found)
            result = self._compress(trigger, focus_topic, memory_context, known)
        result = replace(result, duration_s=max(0.0, self._parts.clock() - started))
        self._parts.observers.notify("compressed", compression=result, trigger=trigger)
        return result

    def _compress(
        self,
        trigger: Trigger,
        focus_topic: str | None,
        memory_context: str | None,
        tools: tuple[ToolSchema | Mapping[str, Any], ...],
    ) -> Compression:
        budget = self.budget(tools)

        def ask(hooks: EngineHooks) -> Compression | None:
            return hooks.compress(
                self._history.view,
                budget=budget,
                trigger=trigger,
                focus_topic=focus_topic,
                memory_context=memory_context,
            )

        hooks, is_fallback = self._hooks, False
        known = self._serving.state.load()
        try:
            result = ask(hooks)
            if result is not None and result.view is not None:
                self._parts.codec.wire(result.view, self._history.format)
        except PerdureError as error:
            self._serving.state.save(known)
            self._serving.on_failure("compress", error)
            if trigger is not Trigger.OVERFLOW or hooks.name == self._parts.builtin:
                return self._outcome(Reason.FAILED, str(error), warnings=(str(error),))
            result, is_fallback = self._serving.rescue(ask), True
        if result is None:
            return self._outcome(Reason.NOOP, "nothing in the messages is worth compressing")
        committed = self._commit(result.replacements)
        if committed is not None:
            return committed
        self._serving.on_success()
        self._is_awaiting = True
        return self._outcome(
            Reason.DONE,
            result.detail,
            result=replace(result, fallback_used=result.fallback_used or is_fallback),
        )

    def _commit(self, made: tuple[Replacement, ...]) -> Compression | None:
        """Make replacements durable; returns an outcome only when that failed."""
        try:
            if self._history.commit(
                made, engine=self._hooks.name, state=self._serving.state.load()
            ):
                return None
        except StoreError as error:
            self._serving.failures.append(str(error))
            reason = Reason.BUSY if error.is_transient else Reason.FAILED
            return self._outcome(reason, str(error), warnings=(str(error),))
        self._history.catch_up()
        text = "another holder of this session compacted it meanwhile; its view is kept"
        return self._outcome(Reason.BUSY, text)

    def _outcome(
        self,
        reason: Reason,
        detail: str,
        *,
        result: Compression | None = None,
        warnings: tuple[str, ...] = (),
    ) -> Compression:
        """Return a compression for the host: wire messages in the format that came in."""
        wire = self._parts.codec.wire(self._history.view, self._history.format)
        made = result or Compression()
        tokens = self.count_tokens() if made.tokens_after is None else made.tokens_after
        return replace(
            made,
            reason=reason,
            detail=detail or made.detail,
            messages=tuple(wire.messages),  # type: ignore[arg-type]
            view=self._history.view,
            engine=made.engine or self._hooks.name,
            tokens_before=tokens if made.tokens_before is None else made.tokens_before,
            tokens_after=tokens,
            warnings=(*made.warnings, *warnings, *wire.warnings),
        )

    # ---------------------------------------------------------------- tools

    def tool_schemas(self) -> tuple[ToolSchema, ...]:
        """Return the tools to offer to the agent; the list does not change during a session."""
        return (*self._parts.core_tools, *self._tools)

    def call_tool(self, name: str, arguments: Mapping[str, Any]) -> str | Mapping[str, Any]:
        """Answer a call of one of `tool_schemas()`; a bad call is answered, never raised."""
        with self._lock:
            if self._parts.call_core_tool and any(
                tool.name == name for tool in self._parts.core_tools
            ):
                return self._parts.call_core_tool(name, arguments)
            return self._hooks.handle_tool_call(name, arguments, self._history.view)

    # ---------------------------------------------------------------- ending

    def end(self, reason: str = "completed") -> None:
        """Close the session; a second call does nothing."""
        with self._lock:
            if self._ended:
                return
            self._ended = True
            self._serving.end(self._history.view, reason)
            self._parts.observers.notify(
                "on_session_end", messages=self._history.view, reason=reason
            )
            self._parts.close()

    def __enter__(self) -> EngineSession:
        """Return the session."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session, as failed when an exception passes through."""
        self.end("completed" if error is None else "failed")

    # ---------------------------------------------------------------- async twins

    aload = _twin(load)
    aappend = _twin(append)
    aview = _twin(view)
    aselect_context = _twin(select_context)
    acompress = _twin(compress)
    acall_tool = _twin(call_tool)
    aend = _twin(end)

    async def __aenter__(self) -> EngineSession:
        """Return the session."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End the session, as failed when an exception passes through."""
        await self.aend("completed" if error is None else "failed")
