"""Dialects: what each kind of provider accepts, and the wire copy that keeps its rules.

A list that was changed is repaired where it was changed, or refused with an `InvariantError`. A
list that was not changed goes out as it was given, with a warning for everything that the provider
may reject.
"""

from perdure.dialects.dialect import Dialect
from perdure.dialects.problem import Problem, Validator, Wire
from perdure.dialects.registry import NAMES, get

__all__ = ["NAMES", "Dialect", "Problem", "Validator", "Wire", "get"]
