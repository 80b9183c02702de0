"""Fixtures for tests of the whole: fake distributions on disk, found by the real scanner."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

DISTRIBUTIONS = Path(__file__).parent / "fixtures" / "distributions"


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Make fake distributions importable and discoverable, by folder name."""
    before = set(sys.modules)

    def install(*names: str) -> None:
        for name in names:
            monkeypatch.syspath_prepend(str(DISTRIBUTIONS / name))

    yield install
    for name in set(sys.modules) - before:
        if name.startswith("acme_"):
            del sys.modules[name]
