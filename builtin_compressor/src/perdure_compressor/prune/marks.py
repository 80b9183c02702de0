"""The marks that pruned text carries, so that it is recognised and never pruned twice."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from perdure.messages import Message

CUT_OPEN, CUT_CLOSE = "⟦", "⟧"
# A stub that is not at most this share of the text saves too little: names, paths and handles have
# fewer characters to a token than prose.
CLEARLY_SHORTER = 0.6
_STUB_CHARS = 20
_HANDLE = r"ref:[0-9a-f]{12,64}"
_STUB = re.compile(rf"\[{_HANDLE}(?: [^\]\n]{{1,120}})?\]\s*\Z")
_PLACEHOLDER = re.compile(rf"\[(?:image|audio|video|file) removed: [^\]\n]{{1,300}}, {_HANDLE}\]")
_RELIEVED = re.compile(rf"⟦([0-9][0-9,]{{0,15}}) characters left out, {_HANDLE}⟧")
_CUT = re.compile(r"⟦cut [\d,]+ chars⟧")


@dataclass(frozen=True, slots=True)
class Edit:
    """A changed copy of one message.

    Attributes:
        index: Index in the list that was given.
        message: The copy.
        why: `repeat`, `result`, `media`, `arguments` or `pressure`; the first pass that changed it.
    """

    index: int
    message: Message
    why: str


def stub(line: str, ref: str, *, names_tools: bool) -> str:
    """Return the text that stands for a pruned result."""
    hint = " context_recall shows it" if names_tools else ""
    return f"{line} [{ref}{hint}]"


def is_worth_it(text: str, line: str) -> bool:
    """Return whether a line with its handle is clearly shorter than the text it would replace."""
    return len(line) + _STUB_CHARS <= CLEARLY_SHORTER * len(text)


def is_pruned(text: str) -> bool:
    """Return whether a text is a stub or was cut in the middle."""
    return bool(_STUB.search(text[-400:])) or bool(_RELIEVED.search(text))


def placeholder(what: str, described: str, ref: str) -> str:
    """Return the text that stands for a picture, a recording or a file."""
    return f"[{what} removed: {described}, {ref}]"


def split_placeholders(text: str) -> tuple[str, list[str]]:
    """Return a text without placeholders of media, and the placeholders."""
    found = _PLACEHOLDER.findall(text)
    return (_PLACEHOLDER.sub("", text).strip() if found else text), found


def cut_mark(chars: int) -> str:
    """Return the mark of a string that was cut inside arguments."""
    return f"{CUT_OPEN}cut {chars:,} chars{CUT_CLOSE}"


def is_cut(text: str) -> bool:
    """Return whether arguments were cut already."""
    return bool(_CUT.search(text))


def middle_mark(chars: int, ref: str) -> str:
    """Return the mark between head and tail of a result that was cut."""
    return f"{CUT_OPEN}{chars:,} characters left out, {ref}{CUT_CLOSE}"


def split_middle(text: str) -> tuple[str, int, str]:
    """Return head, characters left out before, and tail.

    All of it is head where there is no mark, or where the mark closes the text.
    """
    found = _RELIEVED.search(text)
    if found is None:
        return text, 0, ""
    left_out = int(found[1].replace(",", ""))
    before, after = text[: found.start()], text[found.end() :]
    tail = after.removeprefix("\n") if after.startswith("\n") else ""
    return before.removesuffix("\n"), left_out, tail
