"""What may not happen: heavy imports at start, folder names as imports, text of other worlds."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

import perdure

ROOT = Path(__file__).resolve().parents[2]
HEAVY = (
    "pydantic yaml importlib_metadata tiktoken sqlite3 click rich perdure_compressor perdure_lcm"
).split()


def modules_after(statement: str) -> set[str]:
    code = f"{statement}\nimport sys\nprint('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_importing_perdure_loads_nothing_heavy():
    loaded = modules_after("import perdure")

    assert not [name for name in HEAVY if name in loaded]


def test_help_loads_no_engine_and_no_tokeniser():
    loaded = modules_after(
        "import sys\nfrom click.testing import CliRunner\nfrom perdure.cli import cli\n"
        "assert CliRunner().invoke(cli, ['--help']).exit_code == 0"
    )

    assert not [n for n in ("tiktoken", "pydantic", "rich", "perdure_compressor") if n in loaded]


def test_every_public_name_can_be_had_and_the_list_is_sorted():
    assert sorted(perdure.__all__) == list(perdure.__all__)
    for name in perdure.__all__:
        assert getattr(perdure, name) is not None


def test_unknown_attribute_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = perdure.no_such_name


@pytest.mark.parametrize(
    "path",
    sorted(
        path
        for pattern in ("*.md", "*.py", "*.yaml", "*.toml")
        for path in ROOT.rglob(pattern)
        if not {".venv", "build", "fixtures", "node_modules"} & set(path.parts)
    ),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_project_names_no_path_of_a_machine(path):
    if path == Path(__file__):
        return
    text = path.read_text(encoding="utf-8")

    assert not re.search(r"(?<![\w.])/(?:work|root)/(?:main|shared|\.)", text)
