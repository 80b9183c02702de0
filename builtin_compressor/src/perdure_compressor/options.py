"""Options of the built-in compressor, the section `context.engines.compressor` of the config."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Options(BaseModel):
    """What can be set for this engine alone; budgets that all engines share are core's."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    handoff_tokens: int | None = Field(
        default=None,
        ge=500,
        description="Size of the handoff (ledger and summary together); by default a share of the "
        "room that the trigger leaves.",
    )
    summary: Literal["auto", "extractive"] = Field(
        default="auto",
        description="`auto` asks the summary model if there is one; `extractive` never does.",
    )
    summary_max_tokens: int | None = Field(
        default=None, ge=100, description="Upper limit for the model's summary."
    )
    summary_timeout_s: float = Field(
        default=60.0, gt=0, description="Deadline for the whole summary, all calls together."
    )
    on_summary_failure: Literal["extractive", "abort"] = Field(
        default="extractive",
        description="What happens when the summary model fails: the extractive digest stands in, "
        "or nothing is changed.",
    )
    shrink_on_entry: bool = Field(
        default=True,
        description="Whether large tool results are shortened before they are first sent.",
    )
    entry_limit_tokens: dict[str, int] = Field(
        default_factory=dict,
        description="Tokens that a result may have, by kind of tool, over the defaults: 8,000 for "
        "read, 1,000 for all others, never for question, todo and memory (0).",
    )
    tool_kinds: dict[str, list[str]] = Field(
        default_factory=dict,
        description="Further tool names by kind, such as `terminal: [my_shell]`; patterns with * "
        "are allowed.",
    )
