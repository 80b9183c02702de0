"""The examples in the documentation run, its links lead somewhere, and the reference is current."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")), ROOT / "CONTRIBUTING.md"]
PYTHON = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
EXAMPLES = [
    pytest.param(code, id=f"{page.relative_to(ROOT)}-{number}")
    for page in PAGES
    for number, code in enumerate(PYTHON.findall(page.read_text(encoding="utf-8")))
]


@pytest.mark.parametrize("code", EXAMPLES)
def test_python_example_runs(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))

    exec(compile(code, "<example>", "exec"), {"__name__": "example"})


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page):
    for target in LINK.findall(page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_reference_is_what_the_code_says():
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs/generate.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr


def test_commands_of_the_readme_are_those_that_the_merge_check_runs():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    tests = readme.split("<!-- tests -->")[1].split("<!-- /tests -->")[0]

    assert "pip install -q -r requirements-dev.txt" in tests
    assert ".venv/bin/pytest" in tests
