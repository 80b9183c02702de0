"""The built-in context engine: protected head, one handoff, verbatim tail."""

from __future__ import annotations

from perdure_compressor.engine import Compressor
from perdure_compressor.options import Options

__all__ = ["Compressor", "Options"]
