"""What holds for every compaction of every session, whatever came in."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perdure import EngineSession, View, dialects, handoff
from perdure.errors import InvariantError
from perdure.messages import latest_typed
from perdure.transcript import Replacement
from perdure.types import Compression, Reason

MAX_HANDOFF_SHARE = 0.39
"""A handoff's own share of the room (14 %), and what the user's words may borrow (25 %)."""


def broken(
    session: EngineSession, result: Compression, tools: Sequence[Mapping[str, Any]] = ()
) -> list[str]:
    """Return a sentence for every rule that a compaction has broken."""
    return [
        *invalid(session),
        *lost(session),
        *changed(session),
        *oversized(session, result, tools),
    ]


def invalid(session: EngineSession) -> Iterator[str]:
    """The list is valid in every dialect in which what came in was valid.

    In the format that it came in, a list that was broken before goes out too, broken in no new way.
    """
    view = session.current
    own_format = session.view().format
    plain = View(view.transcript)
    for name in dialects.NAMES:
        dialect = dialects.get(name)
        given = dialect.wire(plain)
        own = {problem.rule for problem in given.problems}
        if own and name != own_format:
            continue
        try:
            wire = dialect.wire(view)
        except InvariantError as error:
            yield f"{name}: {error}"
            continue
        yield from (f"{name}: {p.text}" for p in wire.problems if p.rule not in own)
        if is_encodable(given.body()) and not is_encodable(wire.body()):
            yield f"{name}: the request is no UTF-8 any more"


def is_encodable(body: Mapping[str, Any]) -> bool:
    try:
        json.dumps(body, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True


def lost(session: EngineSession) -> Iterator[str]:
    """Everything replaced can be had again byte for byte; the user's latest words stay."""
    view = session.current
    for made in view.replacements:
        if not made.refs:
            yield f"{made.kind} {made.first}..{made.last} has no originals"
        if originals(session, made) != _written(view.transcript[made.first : made.last + 1]):
            yield f"{made.kind} {made.first}..{made.last}: the originals are not what came in"
    asked, kept = latest_typed(view.transcript), latest_typed(view)
    if asked is not None and (kept is None or view[kept] != view.transcript[asked]):
        yield "the latest typed message of the user is not there word for word"


def originals(session: EngineSession, made: Replacement) -> list[str]:
    refs = [ref for handle in made.refs for ref in session.blobs.members(handle)]
    return _written([session.blobs.message(ref) for ref in refs])


def _written(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    return [json.dumps(message, sort_keys=True) for message in messages]


def changed(session: EngineSession) -> Iterator[str]:
    """What was not replaced is the message that came in, in its order."""
    view = session.current
    for index in range(len(view)):
        first, last = view.source(index)
        if view.replacement_at(index) is None and not (
            first == last and view[index] is view.transcript[first]
        ):
            yield f"message {index} is not the one that came in"


def oversized(
    session: EngineSession, result: Compression, tools: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """The request is at its target, or it is said what keeps it above."""
    budget = session.budget(tools)
    tokens = session.count_tokens(tools=tools)
    if result.reason is Reason.DONE and result.tokens_after > result.tokens_before:
        yield f"it grew: {result.tokens_before} -> {result.tokens_after}"
    if tokens <= budget.target_tokens:
        return
    if result.reason is Reason.NOOP and tokens <= budget.trigger_tokens:
        return
    view = session.current
    asked = latest_typed(view)
    counts = [len(json.dumps(message)) // 3 for message in view]
    is_asked_too_large = asked is not None and counts[asked] > budget.tail_tokens
    if not is_asked_too_large:
        yield f"{tokens} tokens, target {budget.target_tokens}: {result.reason} {result.detail}"
    elif not any("above its target" in text for text in result.warnings):
        yield f"{tokens} tokens, target {budget.target_tokens}, and nobody was told"


def handoffs(view: View) -> list[int]:
    return [index for index, message in enumerate(view) if handoff.is_handoff(message)]
