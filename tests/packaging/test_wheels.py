"""The wheels, installed in clean environments on every Python that is present."""

from __future__ import annotations

import functools
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
VERSIONS = ("3.10", "3.11", "3.12", "3.13")
ENGINE = '''
from perdure.messages import group
from perdure.types import Compression


class Window:
    """Keeps the last units."""

    def __init__(self, context):
        self.keep = 6

    def compress(self, messages):
        units = group(messages)
        if len(units) <= self.keep:
            return None
        first = units[-self.keep].first
        head = [m for m in messages[:first] if m["role"] == "system"]
        return Compression(messages=[*head, *messages[first:]])
'''
PROJECT = """
[build-system]
requires = ["setuptools>=77"]
build-backend = "setuptools.build_meta"

[project]
name = "acme-window"
version = "1.0"
dependencies = ["perdure-core"]

[project.entry-points."perdure.engines"]
window = "acme_window:Window"

[tool.setuptools]
py-modules = ["acme_window"]
"""


def interpreters() -> list[str]:
    found = []
    for version in VERSIONS:
        places = [shutil.which(f"python{version}"), sys.executable]
        places += map(str, (Path.home() / ".pyenv/versions").glob(f"{version}.*/bin/python"))
        for place in filter(None, places):
            asked = [place, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"]
            done = subprocess.run(asked, capture_output=True, text=True, check=False)
            if done.returncode == 0 and done.stdout.strip() == version:
                found.append(place)
                break
    return found


def run(*command: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("PERDURE_", "PYTHON"))}
    done = subprocess.run(
        command,
        cwd=cwd,
        env={**environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@functools.lru_cache(maxsize=1)
def sources(target: Path) -> Path:
    """Copy the three packages, so that building leaves nothing in the checkout."""
    ignored = shutil.ignore_patterns("*.egg-info", "build", "__pycache__", ".git", ".venv*")
    for name in ("core", "builtin_compressor"):
        shutil.copytree(ROOT / name, target / name, ignore=ignored, dirs_exist_ok=True)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, target / name)
    return target


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = sources(tmp_path_factory.mktemp("sources"))
    out = tmp_path_factory.mktemp("wheels")
    for package in ("core", "builtin_compressor", "."):
        run(sys.executable, "-m", "build", "--wheel", "-o", str(out), package, cwd=folder)
    return sorted(map(str, out.glob("*.whl")))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("interpreter", interpreters())
def test_installed_wheels_serve_and_a_third_engine_comes_and_goes(interpreter, wheels, tmp_path):
    environment = tmp_path / "venv"
    run(interpreter, "-m", "venv", str(environment), cwd=tmp_path)
    scripts = environment / ("Scripts" if os.name == "nt" else "bin")
    python, perdure = str(scripts / "python"), str(scripts / "perdure")
    run(python, "-m", "pip", "install", "-q", *wheels, cwd=tmp_path)

    engines = json.loads(run(perdure, "engines", "list", "--json", cwd=tmp_path).stdout)
    assert [engine["name"] for engine in engines] == ["builtin", "compressor"]
    assert run(perdure, "--version", cwd=tmp_path).stdout.strip().endswith("0.1.0")

    package = tmp_path / "acme"
    package.mkdir()
    (package / "acme_window.py").write_text(ENGINE, encoding="utf-8")
    (package / "pyproject.toml").write_text(textwrap.dedent(PROJECT), encoding="utf-8")
    run(python, "-m", "pip", "install", "-q", str(package), cwd=tmp_path)
    (tmp_path / "config.yaml").write_text("context:\n  engine: window\n", encoding="utf-8")
    messages = [
        {"role": "user" if i % 2 == 0 else "assistant", "content": f"Message {i}."}
        for i in range(21)
    ]
    (tmp_path / "chat.json").write_text(json.dumps(messages), encoding="utf-8")
    compress = (perdure, "compress", "chat.json", "--json", "--state-dir", str(tmp_path / "state"))
    report = json.loads(run(*compress, cwd=tmp_path).stdout)
    assert report["engine"] == "window"
    assert report["messages_out"] < report["messages_in"]

    run(python, "-m", "pip", "uninstall", "-q", "-y", "acme-window", cwd=tmp_path)
    gone = run(*compress, cwd=tmp_path)
    report = json.loads(gone.stdout)
    assert report["engine"] == "compressor"
    assert report["requested_engine"] == "window"
    assert any("'window' is not installed" in warning for warning in report["warnings"])
