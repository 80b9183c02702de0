"""Real agent sessions, when they lie beside the repository."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import pytest

from perdure.formats import dump, parse, read, render
from perdure.messages import group

FOLDER = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "transcripts"
FILES = sorted(
    path for path in FOLDER.rglob("*.jsonl") if path.suffixes[0] in (".openai", ".anthropic")
)
pytestmark = pytest.mark.skipif(not FILES, reason=f"no real transcripts in {FOLDER}")


def valid_chat(messages: list[dict]) -> bool:
    units = group(messages)
    return all(u.kind != "orphan" and (u.pending == 0 or u is units[-1]) for u in units)


def valid_anthropic(items: list[dict]) -> bool:
    seen: set[str] = set()
    waiting: list[str] = []
    for item in items:
        blocks = item["content"] if isinstance(item["content"], list) else []
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(results) != sorted(waiting):
            return False
        if any(block["type"] != "tool_result" for block in blocks[: len(results)]):
            return False
        waiting = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if seen & set(waiting):
            return False
        seen |= set(waiting)
    roles = [item["role"] for item in items]
    return all(left != right for left, right in pairwise(roles))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_real_session_survives_every_way(path):
    parsed = read(path)
    assert parsed.file_format == "jsonl"
    assert parsed.format == path.suffixes[0].strip(".")
    originals = path.read_text(encoding="utf-8").split("\n")
    assert dump(parsed, parsed.entries).split("\n") == [
        json.dumps(json.loads(line), ensure_ascii=False) if line else "" for line in originals
    ]
    chat = render(parsed.entries, "openai").messages
    assert valid_chat(chat)
    anthropic = render(parsed.entries, "anthropic")
    assert valid_anthropic(anthropic.messages)
    responses = render(parsed.entries, "responses")
    assert valid_chat([e.message for e in parse(responses.body(), format="responses").entries])
    back = render(parse(anthropic.body(), format="anthropic").entries, "anthropic")
    assert back.messages == anthropic.messages
