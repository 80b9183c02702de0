"""Shortening without a model: passes over old messages, and one under pressure. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure_compressor.prune.arguments import arguments
from perdure_compressor.prune.marks import Edit
from perdure_compressor.prune.media import media
from perdure_compressor.prune.pressure import relieve
from perdure_compressor.prune.repeats import repeats
from perdure_compressor.prune.stubs import stubs

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from perdure.messages import Message
    from perdure.stock.kinds import Kinds

__all__ = ["Edit", "prune", "relieve"]


def prune(
    messages: Sequence[Message],
    prunable: Container[int],
    *,
    kinds: Kinds,
    ref_of: Callable[[int], str],
    names_tools: bool,
) -> list[Edit]:
    """Return at most one edit for each message in `prunable`, in order.

    Each pass sees what the passes before it have made, so that a second run finds nothing to do.

    Args:
        messages: The list; never changed.
        prunable: Indexes that may be edited; all others are only looked at.
        kinds: What tools do.
        ref_of: Handle of the original at an index; called only for what is edited.
        names_tools: Whether texts may name the tools that look up originals.
    """
    current = list(messages)
    found: dict[int, Edit] = {}

    def take(edits: Sequence[Edit]) -> None:
        for edit in edits:
            current[edit.index] = edit.message
            why = found[edit.index].why if edit.index in found else edit.why
            found[edit.index] = Edit(edit.index, edit.message, why)

    take(repeats(current, prunable, kinds=kinds, ref_of=ref_of, names_tools=names_tools))
    take(stubs(current, prunable, kinds=kinds, ref_of=ref_of, names_tools=names_tools))
    take(media(current, prunable, ref_of=ref_of))
    take(arguments(current, prunable))
    return [found[index] for index in sorted(found)]
