"""A view as a list of slots: each message with where it came from and what is next to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perdure.transcript import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from perdure.transcript import View


@dataclass(frozen=True, slots=True)
class Slot:
    """One message on its way to the wire.

    Attributes:
        entry: The message, with the provider's raw form while it is untouched.
        position: Transcript position; of a replacement's message, the last one replaced.
        ours: Whether the message belongs to a replacement or was written or changed here.
        seam: Whether this message and the one before it were no neighbours in the transcript:
            one of them is ours, or something between them is gone.
    """

    entry: Entry
    position: int
    ours: bool = False
    seam: bool = False

    @property
    def message(self) -> Mapping[str, Any]:
        """The message of the slot."""
        return self.entry.message

    @property
    def role(self) -> str:
        """The role of the message."""
        return str(self.entry.message.get("role"))

    def changed(self, message: Mapping[str, Any]) -> Slot:
        """Return the slot with another message; the raw form falls away with the old one."""
        return Slot(Entry.of(message), self.position, ours=True, seam=self.seam)

    def recopied(self, message: Mapping[str, Any]) -> Slot:
        """Return the slot with a cleaned copy of its message, which stays whose it was."""
        return Slot(Entry.of(message), self.position, ours=self.ours, seam=self.seam)


def slots_of(view: View, start: int, stop: int) -> list[Slot]:
    """Return the slots of the transcript positions from `start` up to `stop`.

    Replacements stand at the front: a piece that does not start at 0 has none.
    """
    if start:
        return _originals(view, start, stop, seam=False)
    slots: list[Slot] = []
    position = 0
    for made in view.replacements:
        slots += _originals(view, position, made.first, seam=position > 0)
        slots += [
            Slot(Entry.of(message), made.last, ours=True, seam=True) for message in made.messages
        ]
        position = made.last + 1
    return slots + _originals(view, position, stop, seam=position > 0)


def _originals(view: View, start: int, stop: int, *, seam: bool) -> list[Slot]:
    # Originals are read from the transcript, since a host that sends its history again leaves its
    # newest cache marks there.
    entries = view.transcript.entries(start, stop)
    return [
        Slot(entry, position, seam=seam and position == start)
        for position, entry in enumerate(entries, start)
    ]
