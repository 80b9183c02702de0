"""Every key of the configuration with its type, range, default and meaning."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
Tokens = Annotated[int, Field(ge=1)]


class Section(BaseModel):
    """A section: unknown keys are errors, numbers are numbers and not words."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Provider(Section):
    """The model that receives the requests. Its key is read from the environment when needed."""

    name: str | None = Field(None, description="Provider, such as openai or anthropic.")
    base_url: str | None = Field(None, description="Address of the API, with or without /v1.")
    api_key_env: str | None = Field(
        None, description="Name of the environment variable that holds the API key."
    )
    model: str | None = Field(None, description="Model; decides how tokens are counted.")
    context_length: Tokens | None = Field(
        None, description="Window of the model in tokens, input and output together."
    )
    max_tokens: Tokens | None = Field(None, description="Tokens reserved for the answer.")

    @field_validator("api_key_env")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None and not value.replace("_", "a").isalnum():
            text = "must be the name of an environment variable, not the key itself"
            raise ValueError(text)
        return value

    @model_validator(mode="after")
    def _leaves_room(self) -> Provider:
        if self.context_length and self.max_tokens and self.max_tokens >= self.context_length:
            text = (
                f"max_tokens {self.max_tokens} leaves no room for input in a window of "
                f"{self.context_length}; allowed: 1 to {self.context_length - 1}"
            )
            raise ValueError(text)
        return self


class CompressionConfig(Section):
    """When to compress and what to protect; the same for every engine."""

    threshold: Share = Field(
        0.50, description="Share of the input budget at which compression starts."
    )
    gateway_threshold: float = Field(0.85, description="The outer line of session hygiene. Fixed.")
    protect_first_n: int = Field(
        3, ge=0, description="Messages behind the system message kept until the first compaction."
    )
    protect_tail_tokens: Tokens = Field(
        24_000, description="Budget of the verbatim tail; never more than 30 % of the room."
    )
    max_compression_attempts: int = Field(
        3, ge=1, le=10, description="Compactions tried per turn when the provider refuses."
    )
    min_context_length: Tokens = Field(
        65_536,
        description="Requests below this are left alone, if 85 % of the input budget allows.",
    )
    model_thresholds: dict[str, Share] = Field(
        default_factory=dict,
        description="Threshold by a part of the model's name, optionally provider:part; the "
        "longest match counts.",
    )
    threshold_tokens: Tokens | None = Field(
        None, description="Absolute cap on the size at which compression starts."
    )
    min_turns_between: int = Field(
        4, ge=0, description="Two compactions within fewer turns make the next one tighter."
    )

    @field_validator("gateway_threshold")
    @classmethod
    def _is_fixed(cls, value: float) -> float:
        if value != 0.85:
            text = (
                "is fixed at 0.85: it is the net for what the inner threshold cannot see, and "
                "must lie between that threshold and the window; change threshold instead"
            )
            raise ValueError(text)
        return value


class HygieneConfig(Section):
    """The check that runs before an agent does."""

    hard_message_limit: int = Field(
        5_000, ge=10, description="Sessions with this many messages are compressed in any case."
    )


class ContextConfig(Section):
    """Which engine keeps the context, and how."""

    engine: str = Field("compressor", min_length=1, description="Name of the context engine.")
    on_error: Literal["fallback", "raise"] = Field(
        "fallback",
        description="What happens when the engine cannot be had: the built-in serves, or the "
        "error is raised.",
    )
    observers: list[str] = Field(
        default_factory=list, description="Names of observers to activate."
    )
    compression_enabled: bool = Field(
        default=True, description="Whether anything is compressed without being asked for."
    )
    engines: dict[str, dict[str, Any]] = Field(
        default_factory=dict, description="Options of each engine, by its name."
    )
    compression: CompressionConfig = Field(default_factory=CompressionConfig)
    hygiene: HygieneConfig = Field(default_factory=HygieneConfig)


class StateConfig(Section):
    """Where sessions are kept."""

    dir: str | None = Field(
        None, description="State directory; by default the user's. `:memory:` keeps nothing."
    )
    blobs_max_mb: Tokens | None = Field(
        None, description="Bound on stored originals; a full store refuses to compress."
    )


class Config(Section):
    """The whole configuration."""

    provider: Provider = Field(default_factory=Provider)
    summarizer: Provider | None = Field(
        None, description="Model that writes summaries; by default none: they are extractive."
    )
    context: ContextConfig = Field(default_factory=ContextConfig)
    state: StateConfig = Field(default_factory=StateConfig)

    @model_validator(mode="after")
    def _tail_fits(self) -> Config:
        compression, provider = self.context.compression, self.provider
        if "protect_tail_tokens" not in compression.model_fields_set or not provider.context_length:
            return self
        room = provider.context_length - (provider.max_tokens or 0)
        if compression.protect_tail_tokens >= room:
            text = (
                f"context.compression.protect_tail_tokens {compression.protect_tail_tokens} is "
                f"more than the input budget; allowed: 1 to {room - 1}"
            )
            raise ValueError(text)
        return self
