"""Originals: stored before anything replaces them, recalled by handle, searched in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from perdure.blobs.content import PREFIX, readable
from perdure.blobs.store import Blobs

if TYPE_CHECKING:
    from pathlib import Path

__all__ = ["PREFIX", "Blobs", "open_blobs", "readable"]


def open_blobs(
    directory: Path | None, session_id: str | None, *, max_mb: int | None = None
) -> Blobs:
    """Open the store of a session; without a directory it lives in memory."""
    return Blobs(directory, session_id, max_mb=max_mb)
