"""Every key of the configuration with its type, range, default and meaning."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator
from pydantic.functional_validators import BeforeValidator
from pydantic_core import PydanticCustomError

Share = Annotated[float, Field(gt=0, lt=1, allow_inf_nan=False)]
# The upper bound is a hundred times the largest window: what is beyond it is a slip of the pen, and
# arithmetic with fractions would overflow in the end.
Tokens = Annotated[int, Field(ge=1, le=1_000_000_000)]

# An engine of which every option is commented out reads as null: it has none.
Options = Annotated[dict[str, Any], BeforeValidator(lambda value: {} if value is None else value)]

_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
_CREDENTIAL_IN_URL = re.compile(
    r"//[^/@\s]*:[^/@\s]*@|[?&](?:api[_-]?key|key|token|access[_-]?token|password|secret)=[^&\s]",
    re.IGNORECASE,
)
SECRET = re.compile(r"(?:sk|pk|gsk|xai|hf|ghp|nvapi|AIza)[A-Za-z0-9_-]{16,}")
"""How keys of well-known providers begin; names of variables are written in capitals."""


class Section(BaseModel):
    """A section: unknown keys are errors, numbers are numbers and not words."""

    # Older pydantic warns of every key that begins like its own methods, as model_thresholds does.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, protected_namespaces=())

    @model_validator(mode="before")
    @classmethod
    def _with_commented_out_parts(cls, data: Any) -> Any:  # noqa: ANN401 - whatever was given
        """A section or list of which every line is commented out reads as null: none was given."""
        if not isinstance(data, dict):
            return data
        parts = {name for name, field in cls.model_fields.items() if field.default_factory}
        return {key: value for key, value in data.items() if value is not None or key not in parts}


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

    @field_validator("base_url")
    @classmethod
    def _holds_no_key(cls, value: str | None) -> str | None:
        if value is not None and _CREDENTIAL_IN_URL.search(value):
            text = (
                "must not hold a password or key; give the name of an environment variable with "
                "api_key_env"
            )
            raise ValueError(text)
        return value

    @field_validator("api_key_env")
    @classmethod
    def _is_a_name(cls, value: str | None) -> str | None:
        if value is not None and (SECRET.fullmatch(value) or not _VARIABLE.fullmatch(value)):
            text = "must be the name of an environment variable, not the key itself"
            raise ValueError(text)
        return value

    @field_validator("max_tokens")
    @classmethod
    def _leaves_room(cls, value: int | None, info: ValidationInfo) -> int | None:
        window = info.data.get("context_length")
        if value and window and value >= window:
            raise _no_room(window)
        return value


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
    model_thresholds: dict[Annotated[str, Field(min_length=1)], Share] = Field(
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
    engines: dict[str, Options] = Field(
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

    @field_validator("context")
    @classmethod
    def _tail_fits(cls, value: ContextConfig, info: ValidationInfo) -> ContextConfig:
        """Refuse a tail that was asked for and cannot be; the default gives way to the window."""
        model = info.data.get("provider") or Provider()
        room = (model.context_length or 0) - (model.max_tokens or 0)
        tail, given = value.compression.protect_tail_tokens, value.compression.model_fields_set
        if model.context_length and "protect_tail_tokens" in given and tail >= room:
            raise _no_room(room, key="compression.protect_tail_tokens", found=tail)
        return value


def _no_room(room: int, **facts: object) -> PydanticCustomError:
    """Return an error that knows what is allowed, and the key where it is not the field's own."""
    text = "does not fit into the {room} tokens that there are"
    return PydanticCustomError(
        "no_room", text, {**facts, "room": room, "allowed": f"1 to {room - 1}"}
    )
