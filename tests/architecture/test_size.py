"""Small functions, small modules, a small kernel: counted, so that they stay so."""

from __future__ import annotations

import ast
import statistics
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SOURCES = sorted(
    path
    for folder in ("core", "builtin_compressor", "lcm_engine", "plugins")
    for path in (ROOT / folder).rglob("src/**/*.py")
)
KERNEL = """
    errors messages types protocols transcript hookspec contract budget config/models discovery
    resolver defaults guards registry handoff parts serving manager
""".split()


def code_lines(path: Path) -> int:
    """Count lines that hold code: no blank lines, comments or docstrings."""
    source = path.read_text(encoding="utf-8")
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(source)):
        documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
        if isinstance(node, documented) and ast.get_docstring(node, clean=False) is not None:
            text = node.body[0]
            skipped |= set(range(text.lineno, text.end_lineno + 1))
    return sum(
        1
        for number, line in enumerate(source.splitlines(), start=1)
        if number not in skipped and line.strip() and not line.strip().startswith("#")
    )


def function_lengths() -> dict[str, int]:
    found = {}
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                length = node.end_lineno - node.lineno + 1
                if ast.get_docstring(node) is not None:
                    length -= node.body[0].end_lineno - node.body[0].lineno + 1
                found[f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"] = length
    return found


def test_kernel_stays_small():
    package = ROOT / "core/src/perdure"
    files = [package / f"{name}.py" for name in KERNEL]

    assert sum(map(code_lines, files)) <= 2_500


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_longer_than_400_lines_of_code_and_text(path):
    lines = path.read_text(encoding="utf-8").count("\n")

    # The hookspec is a manual: most of it is prose.
    assert lines <= 400 or path.name == "hookspec.py" or code_lines(path) <= 320, lines


def test_functions_are_short():
    lengths = function_lengths()
    longest = max(lengths.items(), key=lambda item: item[1])

    assert longest[1] <= 60, longest
    assert statistics.median(lengths.values()) <= 8
    assert statistics.quantiles(lengths.values(), n=10)[-1] <= 30
