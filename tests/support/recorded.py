"""Recorded sessions of real agents, where they lie beside the repository; they are no part of it."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "transcripts"
ABSENT = f"no recorded transcripts at {FOLDER.parent.parent.name}/data/transcripts"


@cache
def read(name: str) -> list[dict[str, Any]]:
    """Return the messages of a recording, such as `d03-cc-parallel.openai`."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@cache
def tools(name: str) -> list[dict[str, Any]]:
    """Return the tool definitions of a recording."""
    path = FOLDER / f"{name.partition('.')[0]}.meta.json"
    return json.loads(path.read_text(encoding="utf-8")).get("tools") or []


def names() -> list[str]:
    found = sorted(FOLDER.rglob("*.openai.jsonl")) + sorted(FOLDER.rglob("*.anthropic.jsonl"))
    return [str(path.relative_to(FOLDER)).removesuffix(".jsonl") for path in found]
