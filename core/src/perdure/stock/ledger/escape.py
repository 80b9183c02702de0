"""Ledger text as data: nothing that was quoted can close, open or extend the text around it."""

from __future__ import annotations

import re

from perdure.handoff import CLOSING, OPENING

_SPACES = re.compile(r"\s+")
# Control characters and lone surrogates, which no provider accepts.
_UNSENDABLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff\u2028\u2029]")
_MARKS = re.compile("|".join(re.escape(mark[1:].rsplit(" v", 1)[0]) for mark in (OPENING, CLOSING)))


def one_line(text: str) -> str:
    """Return the text on one line that can be sent, with the marks of a handoff made harmless."""
    return _harmless(_SPACES.sub(" ", _UNSENDABLE.sub(_plain, text)).strip())


def quoted_block(text: str) -> str:
    """Return the text with every further line behind `> `, so that it cannot pose as a heading."""
    lines = _UNSENDABLE.sub(_plain, text).strip().splitlines()
    return _harmless("\n> ".join(line.rstrip() for line in lines if line.strip()))


def _plain(found: re.Match[str]) -> str:
    return (
        "\n"
        if found[0] in "\x0b\x0c\r\x1c\x1d\x1e\x85\u2028\u2029"
        else "\N{REPLACEMENT CHARACTER}"
    )


def _harmless(text: str) -> str:
    return _MARKS.sub(lambda found: found[0].replace(" ", "-"), text)
