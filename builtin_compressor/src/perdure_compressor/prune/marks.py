"""The marks that pruned text carries, so that it is recognised and never pruned twice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.messages import Message

CUT_OPEN, CUT_CLOSE = "⟦", "⟧"
_PRUNED = re.compile(
    r"\[(?:ref:[0-9a-f]{12,32}|image removed: [^\]\n]{1,200})(?: [^\]\n]{1,120})?\]\s*\Z"
)
_RELIEVED = re.compile(r"⟦[\d,]+ characters left out, ref:[0-9a-f]{12,32}⟧")
_CUT = re.compile(r"⟦cut [\d,]+ chars⟧")


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed copy of one message.

    Attributes:
        index: Index in the list that was given.
        message: The copy.
        why: `repeat`, `result`, `media`, `arguments` or `pressure`.
    """

    index: int
    message: Message
    why: str


def stub(line: str, ref: str, *, names_tools: bool) -> str:
    """Return the text that stands for a pruned result."""
    hint = " context_recall shows it" if names_tools else ""
    return f"{line} [{ref}{hint}]"


def is_pruned(text: str) -> bool:
    """Return whether a text is a stub or was cut in the middle."""
    return bool(_PRUNED.search(text[-400:])) or bool(_RELIEVED.search(text))


def cut_mark(chars: int) -> str:
    """Return the mark of a string that was cut inside arguments."""
    return f"{CUT_OPEN}cut {chars:,} chars{CUT_CLOSE}"


def is_cut(text: str) -> bool:
    """Return whether arguments were cut already."""
    return bool(_CUT.search(text))


def middle_mark(chars: int, ref: str) -> str:
    """Return the mark between head and tail of a result that was cut."""
    return f"{CUT_OPEN}{chars:,} characters left out, {ref}{CUT_CLOSE}"
