"""How a summary is told from everything else: typed metadata first, a digest-checked marker second.

A handoff carries `{"_perdure": {"kind": "handoff", ...}}` while it is ours, and opens and closes
with a versioned marker line in its text. A store that drops metadata leaves the text; the text is
believed only if its digest is one that this session has made, so that a marker quoted in a tool
result or typed by a user can never pose as a handoff.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from perdure.messages import PRIVATE_KEY, text_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from perdure.messages import Message

VERSION = 1
OPENING = f"[Perdure handoff v{VERSION}"
CLOSING = f"[End of Perdure handoff v{VERSION}]"


def make(text: str, role: str, **metadata: object) -> Message:
    """Return a handoff message with its private metadata."""
    kind = {"kind": "handoff", "version": VERSION, **metadata}
    message: dict[str, Any] = {"role": role, "content": text, PRIVATE_KEY: kind}
    return message  # type: ignore[return-value]  # unknown keys are legal


def is_handoff(message: Mapping[str, Any]) -> bool:
    """Return whether the message is marked as a handoff by metadata."""
    mark = message.get(PRIVATE_KEY)
    return isinstance(mark, dict) and mark.get("kind") == "handoff"


def fingerprint(text: str) -> str:
    """Return the digest by which a handoff's text is known."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def find(text: str, known: Collection[str]) -> tuple[int, int] | None:
    """Return where in `text` a known handoff starts and ends, or None."""
    return next(
        (place for place in possible(text) if fingerprint(text[slice(*place)]) in known), None
    )


def possible(text: str) -> Iterator[tuple[int, int]]:
    """Yield where something stands in `text` that looks like a handoff, ours or not."""
    start = text.find(OPENING)
    while start >= 0:
        close = text.find(CLOSING, start)
        if close < 0:
            return
        yield start, close + len(CLOSING)
        start = text.find(OPENING, start + 1)


def restore(message: Message, known: Collection[str]) -> list[Message]:
    """Return a message that came back from outside with a known handoff set apart and marked again.

    Metadata that we did not put there is dropped. A handoff that was merged with a neighbour on
    the wire becomes a message of its own again.
    """
    given: Mapping[str, Any] = message
    content = given.get("content")
    if PRIVATE_KEY not in given and not (content and OPENING in str(content)):
        return [message]
    plain = {key: value for key, value in given.items() if key != PRIVATE_KEY}
    text = text_of(plain) if plain.get("role") in ("user", "assistant") else ""
    place = find(text, known) if OPENING in text else None
    if place is None and PRIVATE_KEY not in given:
        return [message]
    if place is None:
        return [plain]  # type: ignore[list-item]  # a message without one of its keys
    start, end = place
    mark = given.get(PRIVATE_KEY)
    metadata = dict(mark) if isinstance(mark, dict) else {}
    for key in ("kind", "version"):
        metadata.pop(key, None)
    parts: list[Any] = [make(text[start:end], str(plain["role"]), **metadata)]
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if before:
        parts.insert(0, {**plain, "content": before})
    kept = [part for part in content if _is_kept(part)] if isinstance(content, list) else []
    if kept:
        texts = [{"type": "text", "text": after}] if after else []
        parts.append({**plain, "content": [*texts, *kept]})
    elif after:
        parts.append({**plain, "content": after})
    return parts


def _is_kept(part: object) -> bool:
    return isinstance(part, dict) and not isinstance(part.get("text"), str)
