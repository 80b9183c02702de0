"""The contract between Perdure and a context engine: one class of hooks, written as the manual.

An engine is any object whose methods carry the names below. Nothing has to be inherited or
decorated, and every argument is optional to accept: write the ones you need, in any order, by
name. Arguments may be added in later versions; an engine that does not name them keeps working.

The whole of a working engine:

    >>> from perdure.messages import group
    >>> from perdure.types import Compression
    >>> class Window:
    ...     def __init__(self, context):
    ...         self.keep = 4
    ...     def compress(self, messages):
    ...         units = group(messages)
    ...         if len(units) <= self.keep:
    ...             return None
    ...         first_kept = units[-self.keep].first
    ...         system = [m for m in messages[:first_kept] if m["role"] == "system"]
    ...         return Compression(messages=[*system, *messages[first_kept:]])

Rules that hold for every hook:

* Only `compress` is required.
* Hooks are plain functions. They may be called from different threads, never two at once.
* Messages are a sequence (`View`): index, slice, iterate. Never change one; return new objects.
* No argument of a hook has a default value, is keyword-only or starred, and no hook is `async`:
  pluggy would never fill or await them. Registration says so instead of failing later.
* A hook that raises does not break the host. Its failure is recorded and shown; the third in a row,
  or a broken contract, puts the engine in quarantine, and the built-in serves from then on.
* Every hook may also ask for `session`, a `SessionRef`.

How an engine is found: an entry point in the group `perdure.engines` names a factory, usually the
class. It is called once per session with one `EngineContext`. A nested pydantic class `Options`
validates the engine's section of the configuration first.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pluggy

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

API_VERSION = 0
"""Version of this contract; 0 while it is provisional. An engine may declare the one it needs as a
class attribute `API_VERSION`; one that needs another is refused when it is registered."""

PROJECT = "perdure"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Only core's own plugins need this marker: engines are plain classes."""


class EngineSpec:
    """Hooks of an engine, in the order of a session's life."""

    # ---------------------------------------------------------------- opening a session

    @hookspec
    def on_session_start(self, history: Transcript, session: SessionRef) -> None:
        """Prepare for a session.

        When:
            Once per opening, before any other hook.

        Args:
            history: What is known of the transcript already; empty for a new session.
            session: Its name, and whether it existed before.

        Not called when:
            The factory failed.

        Example:
            >>> class Engine:
            ...     def on_session_start(self, history, session):
            ...         self.started_with = len(history)
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    @hookspec
    def update_model(self, model: ModelInfo, session: SessionRef) -> None:
        """Take note of the model that receives the requests.

        When:
            After the session started, and whenever the host changes the model or its window.

        Args:
            model: Name, window and reserve. Credentials never come here.

        Example:
            >>> class Engine:
            ...     def update_model(self, model):
            ...         self.window_tokens = model.context_length
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    # ---------------------------------------------------------------- judging the need

    @hookspec(firstresult=True)
    def should_compress_preflight(
        self,
        messages: View,
        tools: Sequence[ToolSchema],
        budget: Budget,
        session: SessionRef,
    ) -> bool | Decision | None:
        """Say whether this engine wants to compress before the next request.

        When:
            Before a request, once the cheap gate has been passed.

        Returns:
            A bool or a `Decision`; None leaves it to core's thresholds. Core has the last word: it
            applies waiting, back-off and locks to every yes, and overrules every no at or above
            the hygiene line.

        Example:
            >>> class Engine:
            ...     def should_compress_preflight(self, messages):
            ...         return len(messages) > 200
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    @hookspec(firstresult=True)
    def should_compress(
        self, prompt_tokens: int | None, budget: Budget, session: SessionRef
    ) -> bool | Decision | None:
        """Say whether this engine wants to compress after a response.

        When:
            After the response and its tool results were appended.

        Args:
            prompt_tokens: The provider's own count of the last prompt; None = unknown.
            budget: The numbers to compare it with.

        Returns:
            As for `should_compress_preflight`.

        Example:
            >>> class Engine:
            ...     def should_compress(self, prompt_tokens, budget):
            ...         return prompt_tokens is not None and prompt_tokens > budget.trigger_tokens
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    # ---------------------------------------------------------------- messages come in

    @hookspec(firstresult=True)
    def on_messages(
        self, messages: Sequence[Message], history: Transcript, session: SessionRef
    ) -> Sequence[Message] | None:
        """Look at new messages before they are first sent, and shorten them if need be.

        When:
            Whenever messages are appended to the session, once for each of them.

        Args:
            messages: The new messages only.
            history: The transcript up to and including them.

        Returns:
            None to leave them alone, or as many messages as came in, in the same order, each the
            same object or a shortened copy of the same role. The originals are stored by core.

        Example:
            >>> class Engine:
            ...     def on_messages(self, messages):
            ...         return [
            ...             {**m, "content": m["content"][:500] + " [shortened]"}
            ...             if m["role"] == "tool" and len(m["content"]) > 500 else m
            ...             for m in messages
            ...         ]
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    @hookspec(firstresult=True)
    def select_context(
        self,
        messages: View,
        history: Transcript,
        incoming: Message | None,
        budget: Budget,
        session: SessionRef,
    ) -> Sequence[Message] | None:
        """Choose messages for one request only; nothing of it is kept.

        When:
            Right before a request is built.

        Args:
            messages: The view that would be sent.
            history: The transcript behind it.
            incoming: The newest message of the user, when there is one.

        Returns:
            Messages for this request, or None to send the view. Invalid lists are refused and the
            view is sent.

        Example:
            >>> class Engine:
            ...     def select_context(self, messages, incoming):
            ...         return None
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    # ---------------------------------------------------------------- compressing

    @hookspec(firstresult=True)
    def compress(
        self,
        messages: View,
        budget: Budget,
        trigger: Trigger,
        focus_topic: str | None,
        memory_context: str | None,
        session: SessionRef,
    ) -> Compression | None:
        """Make the list of messages smaller. The only hook that every engine must have.

        When:
            A trigger fired and nothing holds it back, or a person asked for it.

        Args:
            messages: What is sent now. `messages.transcript` is the history behind it,
                `messages.replace(first, last, ...)` makes a replacement for a range of it.
            budget: Aim at `budget.target_tokens` or below, counted with the system messages and
                tool schemas (`budget.fixed_tokens`).
            trigger: Why. `trigger.forced` is true when the caller cannot go on without.
            focus_topic: What a person wants kept best, or None.
            memory_context: Text of a long-term memory, as data, or None.

        Returns:
            None when nothing is worth doing, else a `Compression` with `replacements`, or with
            `messages` when the engine only leaves some out. Core checks the result (see
            `perdure.guards`), stores the originals, and only then makes it the new view.

            Returning None on OVERFLOW counts as a failure.

        Example:
            >>> from perdure.types import Compression
            >>> class Engine:
            ...     def compress(self, messages, budget):
            ...         if len(messages) < 8:
            ...             return None
            ...         note = {"role": "user", "content": "[Two older messages left out.]"}
            ...         made = messages.replace(1, 2, kind="external", messages=[note])
            ...         return Compression(replacements=(made,))

        Added in: 0.1.
        """

    # ---------------------------------------------------------------- after the answer

    @hookspec
    def update_from_response(self, usage: Usage, session: SessionRef) -> None:
        """Take note of the provider's own token counts.

        When:
            After each response that came with usage figures.

        Example:
            >>> class Engine:
            ...     def update_from_response(self, usage):
            ...         self.last_prompt_tokens = usage.prompt_tokens
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    @hookspec
    def on_turn_complete(
        self, messages: View, usage: Usage | None, outcome: TurnOutcome, session: SessionRef
    ) -> None:
        """Do what can wait until the agent has answered.

        When:
            The agent has finished a turn, or was interrupted, or failed; `outcome` says which.

        Example:
            >>> class Engine:
            ...     def on_turn_complete(self, messages, outcome):
            ...         self.turns = getattr(self, "turns", 0) + 1
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    # ---------------------------------------------------------------- tools and status

    @hookspec(firstresult=True)
    def get_tool_schemas(self, session: SessionRef) -> Sequence[ToolSchema] | None:
        """Name the tools that this engine offers to the agent.

        When:
            Once at the start of a session. The list stays as it is until the end, since prompt
            caches and open tool calls depend on it.

        Example:
            >>> from perdure.types import ToolSchema
            >>> class Engine:
            ...     def get_tool_schemas(self):
            ...         nothing = {"type": "object", "properties": {}}
            ...         return [ToolSchema(name="count_notes", description="Notes.",
            ...                            parameters=nothing)]
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    @hookspec(firstresult=True)
    def handle_tool_call(
        self,
        name: str,
        arguments: Mapping[str, Any],
        messages: View,
        session: SessionRef,
    ) -> Mapping[str, Any] | str | None:
        """Answer a call of one of this engine's tools.

        When:
            The agent called a tool that is not one of core's.

        Returns:
            Text, or a mapping that can be written as JSON; None when the tool is not this engine's.
            Bad arguments deserve an answer that names the argument and the allowed values.

        Example:
            >>> class Engine:
            ...     def handle_tool_call(self, name, arguments):
            ...         return {"notes": 0} if name == "count_notes" else None
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    @hookspec(firstresult=True)
    def get_status(self, session: SessionRef) -> EngineStatus | Mapping[str, Any] | None:
        """Add to what the user sees about this session.

        Returns:
            A mapping (shown under `details`) or an `EngineStatus` whose fields fill what core
            does not know.

        Example:
            >>> class Engine:
            ...     def get_status(self):
            ...         return {"notes": 0}
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """

    # ---------------------------------------------------------------- closing a session

    @hookspec
    def on_session_end(self, messages: View, reason: str, session: SessionRef) -> None:
        """Let go of what the session holds.

        When:
            Exactly once per opening, also after quarantine. `reason` is `suspended` when a server
            only lets an idle session go; the next opening then has `session.is_resumed`.

        Example:
            >>> class Engine:
            ...     def on_session_end(self, reason):
            ...         self.closed = reason
            ...     def compress(self, messages): ...

        Added in: 0.1.
        """


class ObserverSpec:
    """Hooks of observers, beside the engine's notifications.

    An observer is a plain object too. It may have `on_session_start`, `update_model`,
    `update_from_response`, `on_turn_complete` and `on_session_end` of the engine, and the hooks
    below. It only listens: what it returns is ignored, and when it raises, that is logged once.
    """

    @hookspec
    def engine_resolved(
        self, engine: str, requested: str, warnings: Sequence[str], session: SessionRef
    ) -> None:
        """Hear which engine serves the session.

        Example:
            >>> class Observer:
            ...     def engine_resolved(self, engine, requested):
            ...         self.line = f"{requested} -> {engine}"

        Added in: 0.1.
        """

    @hookspec
    def decided(self, decision: Decision, trigger: Trigger, session: SessionRef) -> None:
        """Hear a decision about compressing, with its reason and numbers.

        Example:
            >>> class Observer:
            ...     def decided(self, decision, trigger):
            ...         self.last = decision.reason

        Added in: 0.1.
        """

    @hookspec
    def compressed(self, compression: Compression, trigger: Trigger, session: SessionRef) -> None:
        """Hear what became of a request to compress, also when nothing was done.

        Example:
            >>> class Observer:
            ...     def compressed(self, compression):
            ...         self.last = (compression.tokens_before, compression.tokens_after)

        Added in: 0.1.
        """

    @hookspec
    def engine_failed(
        self, engine: str, hook: str, error: Exception, is_quarantined: bool, session: SessionRef
    ) -> None:
        """Hear that a hook of the engine failed.

        Example:
            >>> class Observer:
            ...     def engine_failed(self, engine, hook, error):
            ...         self.last = f"{engine}.{hook}: {error}"

        Added in: 0.1.
        """


NOTIFICATIONS = (
    "on_session_start",
    "update_model",
    "update_from_response",
    "on_turn_complete",
    "on_session_end",
)
"""Engine hooks that observers may have too."""
