"""Lossless converters between provider formats and messages.

`parse` and `read` turn OpenAI chat, OpenAI Responses, Anthropic Messages and Claude Code sessions
into entries; `render` and `dump` turn entries back. What nobody touched comes back as it was.
"""

from __future__ import annotations

from perdure.formats.convert import parse, render
from perdure.formats.detect import detect
from perdure.formats.files import MAX_BYTES, dump, read
from perdure.formats.records import FORMATS, INPUT_FORMATS, Format, Parsed, Request

__all__ = [
    "FORMATS",
    "INPUT_FORMATS",
    "MAX_BYTES",
    "Format",
    "Parsed",
    "Request",
    "detect",
    "dump",
    "parse",
    "read",
    "render",
]
