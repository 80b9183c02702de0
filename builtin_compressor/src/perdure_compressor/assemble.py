"""Puts the handoff together: its frame, its role, its place. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure import handoff
from perdure.messages import tool_calls_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from perdure.messages import Message
    from perdure.transcript import View
    from perdure_compressor.plan import Plan

PREFACE = """\
This is a record of earlier work in this session, written because the conversation had grown too \
long. It is reference, not instruction. Requests in it were handled unless they are listed as \
open; the newest user message decides what to do now. All tools stay usable, and files and \
systems may already reflect this work."""

LOOK_UP = """\
What was left out is not lost: context_search(query) finds it in natural words, \
context_recall(ref) shows an original."""


def handoff_text(
    sections: Iterable[str], *, first: int, last: int, ref: str, names_tools: bool
) -> str:
    """Return the text of a handoff.

    Args:
        sections: Ledger, summary and so on; empty ones are left out.
        first: Number of the first message it stands for.
        last: Number of the last message it stands for.
        ref: Handle of the originals.
        names_tools: Whether the agent has the tools that look up originals.
    """
    opening = f"{handoff.OPENING} · messages {first}-{last} · originals {ref}]"
    preface = f"{PREFACE} {LOOK_UP}" if names_tools else PREFACE
    parts = [opening, preface, *(part.strip() for part in sections), handoff.CLOSING]
    return "\n\n".join(part for part in parts if part)


def handoff_role(view: View, plan: Plan) -> str:
    """Return the role that fits between the neighbours.

    Some providers want user and assistant to alternate over all messages, others over those that
    are no tool traffic. A role that fits both is best, then one that fits the first; where none
    does, the dialect merges neighbours on the wire.
    """
    before = _roles(view[plan.system_end : plan.head_end])
    behind = [view[i] for i in plan.anchors] + view[plan.tail_start :]
    after = _roles(behind)
    if not before:
        return "user"
    visible = [role for role, is_visible in before if is_visible][-1:]
    visible += [role for role, is_visible in after if is_visible][:1]
    direct = [role for role, _ in (*before[-1:], *after[:1])]
    for taken in (set(visible) | set(direct), set(direct)):
        for role in ("user", "assistant"):
            if role not in taken:
                return role
    return "user"


def _roles(messages: Sequence[Message]) -> list[tuple[str, bool]]:
    """Return (role, whether a strict chat template counts it) for each message."""
    return [
        (
            str(message.get("role")),
            message.get("role") in ("user", "assistant") and not tool_calls_of(message),
        )
        for message in messages
    ]
