"""What happens where an engine has no opinion: plain hook implementations that run last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perdure.hookspec import hookimpl
from perdure.types import Decision

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from perdure.transcript import View
    from perdure.types import Budget, ToolSchema


class Defaults:
    """Core's own answers, in the session's manager behind the engine's."""

    def __init__(self, count: Callable[[View, Sequence[ToolSchema]], int]) -> None:
        """Take the function that counts a whole request: messages and tool schemas."""
        self._count = count

    @hookimpl(trylast=True)
    def should_compress_preflight(
        self, messages: View, tools: Sequence[ToolSchema], budget: Budget
    ) -> Decision:
        """Compare the counted request with the trigger."""
        return at_trigger(self._count(messages, tools), budget, "estimate")

    @hookimpl(trylast=True)
    def should_compress(self, prompt_tokens: int | None, budget: Budget) -> Decision:
        """Compare the provider's count with the trigger; without one there is nothing to say."""
        if prompt_tokens is None:
            return Decision(should=False, reason="usage_unknown")
        return at_trigger(prompt_tokens, budget, "usage")

    @hookimpl(trylast=True)
    def handle_tool_call(self, name: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
        """Tell that nobody here has such a tool."""
        given = ", ".join(sorted(map(str, arguments))) or "no arguments"
        return {
            "error": f"no tool named {name!r} in this session (called with {given})",
            "next": "use one of the tools that the session offers",
        }


def at_trigger(tokens: int, budget: Budget, source: str) -> Decision:
    """Return whether `tokens` have reached the trigger, with the numbers compared."""
    return Decision(
        should=tokens >= budget.trigger_tokens,
        reason=f"{source}_{'at_trigger' if tokens >= budget.trigger_tokens else 'below_trigger'}",
        numbers={"tokens": tokens, "trigger_tokens": budget.trigger_tokens},
    )
