"""The real codec: provider formats on the way in, dialects on the way out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from perdure import dialects, formats

if TYPE_CHECKING:
    from perdure.dialects import Wire
    from perdure.transcript import Entry, View


class ProviderCodec:
    """Implements `protocols.Codec` with `perdure.formats` and `perdure.dialects`."""

    def parse(
        self, messages: object, hint: str = "openai"
    ) -> tuple[list[Entry], str, list[Mapping[str, Any]]]:
        """Return entries, the name of their format, and tool definitions of a request body.

        Args:
            messages: A list in any format, or a request body.
            hint: Format of the session so far; it decides where plain text messages leave it open.
        """
        format_ = formats.detect(messages)
        if format_ == "openai" and hint != "openai" and _looks_the_same_everywhere(messages):
            format_ = hint  # type: ignore[assignment]
        parsed = formats.parse(messages, format=format_)  # type: ignore[arg-type]
        return parsed.entries, parsed.format, list(parsed.tools)

    def wire(self, view: View, format_or_dialect: str) -> Wire:
        """Return what would be sent; raises `InvariantError` when it cannot be made valid."""
        return dialects.get(format_or_dialect).wire(view)


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
