"""What is wrong with the options of anybody's engine is told like what is wrong with ours."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pydantic
import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from perdure.config import explained
from perdure.errors import ConfigError


class Inner(BaseModel):
    model_config = ConfigDict(extra="forbid")

    depth: int = Field(1, ge=1, le=9)


class Options(BaseModel):
    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True)

    leaf: int = Field(1, ge=1, le=100)
    inner: Inner = Field(default_factory=Inner)
    ratio: float | None = Field(None, gt=0)
    child: Options | None = None

    @pydantic.model_validator(mode="after")
    def _fits(self) -> Options:
        if self.leaf == 13:
            raise ValueError("Leaf and ratio do not go together")
        return self


class Unspeakable(BaseModel):
    call: Callable[[], int] | None = None
    leaf: int = Field(1, ge=1)


@pydantic.dataclasses.dataclass
class Record:
    leaf: int = Field(1, ge=1)


def problem(model: Any, **values: Any) -> ConfigError:
    with pytest.raises(ValidationError) as caught:
        model(**values)
    return explained(caught.value, prefix="context.engines.mine", model=model)


@pytest.mark.parametrize(
    ("values", "key", "words"),
    [
        ({"leaf": 0}, "leaf", "0: is out of range; allowed: a whole number at least 1 and at most"),
        ({"inner": {"depth": 10}}, "inner.depth", "a whole number at least 1 and at most 9"),
        ({"ratio": 0}, "ratio", "a number above 0"),
        ({"leav": 5}, "leav", "did you mean 'leaf'?"),
        ({"depth": 5}, "depth", "did you mean 'inner.depth'?"),
        ({"child": {"child": {"leaf": 0}}}, "child.child.leaf", "a whole number at least 1"),
    ],
)
def test_options_are_told_with_their_path_and_range(values, key, words):
    error = problem(Options, **values)

    assert error.key == f"context.engines.mine.{key}"
    assert words in str(error)


def test_problem_of_the_whole_is_told_in_its_own_words():
    error = problem(Options, leaf=13)

    assert error.key == "context.engines.mine"
    assert "leaf and ratio do not go together" in str(error)


def test_field_without_words_in_json_takes_no_range_but_an_error():
    assert "leaf 0: is out of range" in str(problem(Unspeakable, leaf=0))


def test_dataclass_of_pydantic_is_understood():
    assert "leaf 0: is out of range; allowed: a whole number" in str(problem(Record, leaf=0))


def test_number_of_many_digits_and_long_text_are_cut():
    error = problem(Options, leaf=10**5_000, ratio="word " * 5_000)

    assert len(str(error)) < 500
