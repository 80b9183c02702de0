"""Shrinking on entry, over the new messages of a session: each result meets its call. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.messages import group, is_result, pair
from perdure.stock.entry import DEFAULT_LIMITS, shrunk

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from perdure.messages import Message
    from perdure.protocols import TokenCounter
    from perdure.stock.kinds import Kinds


def shrunk_messages(  # noqa: PLR0913 - one argument per thing that decides
    messages: Sequence[Message],
    history: Sequence[Message],
    *,
    kinds: Kinds,
    limits: Mapping[str, int],
    counter: TokenCounter,
    store: Callable[[Message], str],
    names_tools: bool,
) -> list[Message] | None:
    """Return the new messages with large results shortened, or None when there are none.

    Args:
        messages: The new messages, the end of `history`.
        history: The transcript; looked at back to the call of the first new result only.
        kinds: What tools do.
        limits: Tokens by kind, laid over the defaults.
        counter: Counts tokens.
        store: Stores an original and returns its handle.
        names_tools: Whether texts may name the tools that look up originals.
    """
    if not any(is_result(message) for message in messages):
        return None
    fresh = len(history) - len(messages)
    start = fresh
    while start > 0 and is_result(history[start]):
        start -= 1
    recent = history[start:]
    made = list(messages)
    for unit in group(recent):
        calls = pair(recent, unit) if unit.kind == "calls" else [(None, unit.first)]
        for call, index in calls:
            place = -1 if index is None else start + index - fresh
            if place < 0 or not is_result(made[place]):
                continue
            short = shrunk(
                call,
                made[place],
                kinds=kinds,
                limits={**DEFAULT_LIMITS, **limits},
                counter=counter,
                ref_of=lambda message=made[place]: store(message),  # type: ignore[misc]
                names_tools=names_tools,
            )
            made[place] = short or made[place]
    return made
