"""What every engine's output must satisfy: a function per rule, and the wrappers that ask.

`settle` turns an engine's `Compression` into the new view and applies the rules to it. A broken
rule is an `InvariantError`: the result is rejected and the input stays as it was. Roles, merged
neighbours and dropped thinking are no matter of these rules: dialects see to them on the wire.
"""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perdure.errors import EngineCallError, EngineContractError, InvariantError, PerdureError
from perdure.hookspec import hookimpl
from perdure.messages import group, is_result, is_system, latest_typed, text_of, tool_calls_of
from perdure.transcript import Entry, Replacement, View
from perdure.types import Compression, Decision, ToolSchema

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from perdure.defaults import Defaults
    from perdure.messages import Message
    from perdure.types import Budget, Trigger

# ------------------------------------------------------------------------------- the rules


def leading_system_kept(before: View, after: View) -> None:
    """The system messages at the start stay as they are, in front."""
    for index, message in enumerate(before):
        if not is_system(message):
            return
        if index >= len(after) or after[index] != message:
            found = "nothing" if index >= len(after) else f"a {after[index].get('role')} message"
            text = (
                f"leading system message {index} is gone or changed, {found} stands in its place; "
                "start replacements behind the system messages"
            )
            raise InvariantError(text, rule="leading_system_kept", found=found, index=index)


def calls_keep_results(before: View, after: View) -> None:
    """Every tool call has its result right behind it and the reverse, unless it came in without."""
    known = {identity for unpaired in _unpaired(before).values() for identity in unpaired}
    by_place = after.transcript is before.transcript
    for index, (digest, place) in _unpaired(after).items():
        # What came in unpaired may have been shortened since; its place tells then.
        if digest in known or (by_place and place in known):
            continue
        message = after[index]
        what = "a result without its call" if is_result(message) else "a call without its result"
        text = (
            f"output message {index} is {what}; cut between units (see perdure.messages.group), "
            "never inside one"
        )
        raise InvariantError(text, rule="calls_keep_results", found=what, index=index)


def _unpaired(view: View) -> dict[int, tuple[tuple[object, int], tuple[object, int]]]:
    """Map view indexes of unpaired messages to what they are known by: digest, or place."""
    found: dict[int, tuple[tuple[object, int], tuple[object, int]]] = {}
    last = len(view) - 1
    for unit in group(view):
        running = unit.pending and unit.last == last
        if (unit.pending and not running) or unit.kind == "orphan":
            digest, place = view.entry(unit.first).digest, view.source(unit.first)
            found[unit.first] = ((digest, unit.pending), (place, unit.pending))
    return found


def latest_typed_kept(before: View, after: View) -> None:
    """The latest message that a person typed survives word for word, and stays the latest."""
    index = latest_typed(before)
    if index is None:
        return
    message = before[index]
    place = latest_typed(after)
    kept = after[place] if place is not None else None
    if kept is not None and (kept is message or kept == message):
        return
    found = "no typed message" if kept is None else f"another one: {text_of(kept)[:60]!r}"
    text = (
        f"the latest typed user message (index {index}) is gone or changed, found {found}; "
        "keep it as it is, behind every summary"
    )
    raise InvariantError(text, rule="latest_typed_kept", found=found, index=index)


def not_larger(tokens_before: int, tokens_after: int) -> None:
    """A compaction never makes the request larger."""
    if tokens_after > tokens_before:
        text = (
            f"the result has {tokens_after:,} tokens, more than the {tokens_before:,} of its "
            "input; return None when nothing can be gained"
        )
        raise InvariantError(text, rule="not_larger", found=f"{tokens_before}->{tokens_after}")


def unchanged(view: View) -> None:
    """No message of the input was changed in place, where nobody would find the original again."""
    for index, entry in enumerate(view.sent.entries()):
        if Entry.of(entry.message).digest != entry.digest:
            found = f"message {index} ({entry.message.get('role')!r}) was changed in place"
            text = f"{found}; return a changed copy as a replacement (View.replace)"
            raise InvariantError(text, rule="unchanged", found=found, index=index)


def declared(before: View, messages: Sequence[Message]) -> tuple[Replacement, ...]:
    """Return what was dropped when an engine returns messages alone.

    Every message must be one of the input, in the input's order; anything else has to be declared
    as a replacement and is an `InvariantError` here.
    """
    keeps: list[int] = []
    position = 0
    for index, message in enumerate(messages):
        found = position
        while found < len(before) and not (before[found] is message or before[found] == message):
            found += 1
        if found == len(before):
            rule = "survivors_in_order" if message in before[:position] else "declared"
            text = (
                f"output message {index} ({message.get('role')!r}) is "
                + ("out of order" if rule == "survivors_in_order" else "no message of the input")
                + "; return changed or new messages as replacements (View.replace)"
            )
            raise InvariantError(text, rule=rule, found=str(message.get("role")), index=index)
        keeps.append(found)
        position = found + 1
    return _gaps(before, set(keeps))


def selected(view: View, chosen: Sequence[Message]) -> View:
    """Return the view of messages chosen for one request, so that dialects can repair the gaps.

    A choice that holds messages of its own is a list of its own.
    """
    try:
        return view.apply(declared(view, chosen))
    except InvariantError:
        return View.of(chosen)


def _gaps(view: View, keeps: set[int]) -> tuple[Replacement, ...]:
    """Return one replacement per run of dropped messages; groups replaced before stay whole."""
    made: list[Replacement] = []
    run: list[int] = []
    index = 0
    while index < len(view):
        end = index
        while end + 1 < len(view) and view.source(end + 1) == view.source(index):
            end += 1
        block = range(index, end + 1)
        if all(i in keeps for i in block):
            made += _dropped(view, run, keeps)
            run = []
        else:
            run += block
        index = end + 1
    return (*made, *_dropped(view, run, keeps))


def _dropped(view: View, run: list[int], keeps: set[int]) -> list[Replacement]:
    if not run:
        return []
    kept = [view[i] for i in run if i in keeps]
    return [view.replace(run[0], run[-1], kind="external", messages=kept)]


def settle(
    before: View, result: Compression, count: Callable[[View], int], engine: str
) -> Compression:
    """Return the engine's result with its new view and token counts, checked against every rule.

    Raises:
        EngineContractError: The result is not a `Compression`, or holds what is none.
        InvariantError: A rule is broken; it names the rule.
    """
    if not isinstance(result, Compression) or not all(
        isinstance(made, Replacement) for made in result.replacements
    ):
        found = type(result).__name__
        text = f"engine {engine!r}: compress returned {found}; return a Compression or None"
        raise EngineContractError(
            text, engine=engine, hook="compress", declared=found, expected="Compression or None"
        )
    made = result.replacements or declared(before, result.messages)
    after = before.apply(made)
    leading_system_kept(before, after)
    calls_keep_results(before, after)
    latest_typed_kept(before, after)
    tokens_before, tokens_after = count(before), count(after)
    not_larger(tokens_before, tokens_after)
    return replace(
        result,
        replacements=tuple(made),
        view=after,
        messages=after,
        tokens_before=tokens_before,
        tokens_after=tokens_after,
        engine=engine,
    )


# ------------------------------------------------------------------------------- the wrappers


def _reporting(hook: str) -> Callable[[Guards], Generator[None, Any, Any]]:
    """Return a wrapper for a notification: whoever raises is reported, nobody else notices."""

    @hookimpl(wrapper=True)
    def watched(self: Guards) -> Generator[None, Any, Any]:
        with self._reported(hook):
            return (yield)
        return []

    return watched


class Guards:
    """Wraps every hook of an engine: failures become typed and visible, results are checked.

    `compress` lets its typed error through, so that the caller can decide about a fallback. Every
    other hook reports the failure and goes on with core's own answer. Cancellation and keyboard
    interrupts pass untouched and never count.

    Attributes:
        is_own: Whether the engine is this project's, known to change nothing in place; of others
            that is looked at, which costs a digest of each message.
    """

    def __init__(
        self,
        engine: str,
        *,
        defaults: Defaults,
        count: Callable[[View], int],
        report: Callable[[str, PerdureError], None],
    ) -> None:
        """Take the engine's name, core's answers, the token count of a view, and the reporter."""
        self.is_own = False
        self._engine = engine
        self._defaults = defaults
        self._count = count
        self._report = report

    @contextmanager
    def _typed(self, hook: str, trigger: Trigger | None = None) -> Iterator[None]:
        try:
            yield
        except PerdureError:
            raise
        except Exception as error:
            text = f"engine {self._engine!r} failed in {hook}: {type(error).__name__}: {error}"
            raise EngineCallError(
                text,
                engine=self._engine,
                hook=hook,
                trigger=trigger.value if trigger else None,
            ) from error

    @contextmanager
    def _reported(self, hook: str) -> Iterator[None]:
        try:
            with self._typed(hook):
                yield
        except PerdureError as error:
            self._report(hook, error)

    def _refuse(self, hook: str, found: object, expected: str) -> None:
        text = f"engine {self._engine!r}: {hook} returned {found}; return {expected}"
        self._report(
            hook,
            EngineContractError(
                text, engine=self._engine, hook=hook, declared=str(found), expected=expected
            ),
        )

    @hookimpl(wrapper=True)
    def compress(self, messages: View, trigger: Trigger) -> Generator[None, Any, Any]:
        """Check the result against every rule."""
        with self._typed("compress", trigger):
            result = yield
            if not self.is_own:
                unchanged(messages)
            if result is not None:
                result = settle(messages, result, self._count, self._engine)
            return result

    @hookimpl(wrapper=True)
    def should_compress_preflight(
        self, messages: View, tools: Sequence[ToolSchema], budget: Budget
    ) -> Generator[None, Any, Decision]:
        """Turn the answer into a decision."""
        with self._reported("should_compress_preflight"):
            return self._decision((yield), "should_compress_preflight")
        return self._defaults.should_compress_preflight(messages, tools, budget)

    @hookimpl(wrapper=True)
    def should_compress(
        self, prompt_tokens: int | None, budget: Budget
    ) -> Generator[None, Any, Decision]:
        """Turn the answer into a decision."""
        with self._reported("should_compress"):
            return self._decision((yield), "should_compress")
        return self._defaults.should_compress(prompt_tokens, budget)

    def _decision(self, answer: object, hook: str) -> Decision:
        if isinstance(answer, Decision):
            return answer
        if isinstance(answer, bool):
            return Decision(should=answer, reason=f"engine_says_{'yes' if answer else 'no'}")
        expected = "a bool, a Decision or None"
        text = f"engine {self._engine!r}: {hook} returned {answer!r}; return {expected}"
        raise EngineContractError(text, engine=self._engine, hook=hook, expected=expected)

    @hookimpl(wrapper=True)
    def on_messages(self, messages: Sequence[Message]) -> Generator[None, Any, Any]:
        """Take the messages only if each stands for the one that came in."""
        with self._reported("on_messages"):
            result = yield
            if result is None:
                return None
            shortened = list(result)
            if len(shortened) == len(messages) and all(
                isinstance(new, dict)
                and new.get("role") == old.get("role")
                and len(tool_calls_of(new)) == len(tool_calls_of(old))
                for new, old in zip(shortened, messages, strict=True)
            ):
                return shortened
            self._refuse(
                "on_messages", f"{len(shortened)} messages", "one message for each that came in"
            )
        return None

    @hookimpl(wrapper=True)
    def select_context(self, messages: View) -> Generator[None, Any, Any]:
        """Take the choice only if calls keep their results and the latest user message is there."""
        with self._reported("select_context"):
            result = yield
            if result is None:
                return None
            chosen = View.of(list(result))
            calls_keep_results(messages, chosen)
            latest_typed_kept(messages, chosen)
            return list(chosen)
        return None

    @hookimpl(wrapper=True)
    def get_tool_schemas(self) -> Generator[None, Any, tuple[ToolSchema, ...]]:
        """Take the list only if everything in it is a tool schema."""
        with self._reported("get_tool_schemas"):
            tools = tuple((yield) or ())
            if all(isinstance(tool, ToolSchema) for tool in tools):
                return tools
            self._refuse("get_tool_schemas", tools, "a sequence of ToolSchema")
        return ()

    @hookimpl(wrapper=True)
    def handle_tool_call(
        self, name: str, arguments: Mapping[str, Any]
    ) -> Generator[None, Any, Any]:
        """Take the answer only if it is text or JSON-able."""
        with self._reported("handle_tool_call"):
            result = yield
            if isinstance(result, str):
                return result
            json.dumps(result)
            return result
        return {"error": f"tool {name!r} failed", "arguments": sorted(map(str, arguments))}

    @hookimpl(wrapper=True)
    def get_status(self) -> Generator[None, Any, Any]:
        """Take what there is."""
        with self._reported("get_status"):
            return (yield)
        return None

    on_session_start = _reporting("on_session_start")
    update_model = _reporting("update_model")
    update_from_response = _reporting("update_from_response")
    on_turn_complete = _reporting("on_turn_complete")
    on_session_end = _reporting("on_session_end")
