"""The real codec: provider formats on the way in, dialects on the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure import dialects, formats
from perdure.formats.given import Given

if TYPE_CHECKING:
    from perdure.dialects import Wire
    from perdure.transcript import Entry, View


class ProviderCodec:
    """Implements `protocols.Codec` with `perdure.formats` and `perdure.dialects`.

    One per session: it remembers what the host has handed in, to know it again.
    """

    def __init__(self) -> None:
        """Start with nothing known."""
        self._given = Given()
        self._format = ""

    def parse(
        self, messages: object, hint: str = "openai", *, is_more: bool = False
    ) -> tuple[list[Entry], str, list[Mapping[str, Any]]]:
        """Return entries, the name of their format, and tool definitions of a request body.

        Args:
            messages: A list in any format, or a request body.
            hint: Format of the session so far; it decides where plain text messages leave it open.
            is_more: Whether this follows what was parsed before, instead of being all of it.
        """
        format_ = _format_of(messages, hint)
        parsed = formats.parse(messages, format=format_)  # type: ignore[arg-type]
        self._format = parsed.format
        self._given.take(messages, is_more=is_more)
        return parsed.entries, parsed.format, list(parsed.tools)

    def behind_known(
        self, messages: object
    ) -> tuple[Sequence[object], list[Mapping[str, Any]]] | None:
        """Return what follows the history parsed so far, and tool definitions of a request body.

        None when the messages do not start with that history, or go on in another format.
        """
        rest = self._given.behind(messages)
        if rest is None or (rest and _format_of(rest, self._format) != self._format):
            return None
        tools = messages.get("tools") if isinstance(messages, Mapping) else None
        return rest, list(tools) if isinstance(tools, list) else []

    def wire(self, view: View, format_or_dialect: str) -> Wire:
        """Return what would be sent; raises `InvariantError` when it cannot be made valid."""
        return dialects.get(format_or_dialect).wire(view)


def _format_of(messages: object, hint: str) -> str:
    found = formats.detect(messages)
    is_open = found == "openai" and hint != "openai" and _looks_the_same_everywhere(messages)
    return hint if is_open else found


def _looks_the_same_everywhere(messages: object) -> bool:
    if isinstance(messages, Mapping) or not isinstance(messages, Sequence):
        return False
    return all(
        isinstance(message, Mapping)
        and message.get("role") in ("user", "assistant")
        and not message.get("tool_calls")
        and isinstance(message.get("content"), str)
        for message in messages
    )
