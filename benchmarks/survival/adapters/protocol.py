"""How the benchmark talks to a peer in a process of its own; needs nothing but the standard library.

    python ADAPTER.py TASKS.json ANSWERS.jsonl

A task has `messages` (OpenAI chat messages), `room` (tokens for all that is sent) and
`summary_tokens` (the part of them that a summary may take). Each answer is one line:
`{"messages": [...]}` or `{"error": "..."}`.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path

BYTES_A_TOKEN = 4
LEAST_TAIL_TOKENS = 200


def serve(compact: Callable[[list[dict], int, int], list[dict]]) -> None:
    """Answer every task of a file with what a peer makes of its messages."""
    tasks = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    with Path(sys.argv[2]).open("w", encoding="utf-8") as answers:
        for task in tasks:
            try:
                tail_tokens = max(LEAST_TAIL_TOKENS, task["room"] - task["summary_tokens"])
                summary_tokens = max(1, min(task["summary_tokens"], task["room"] - tail_tokens))
                made = compact(task["messages"], summary_tokens, tail_tokens)
                answer = {"messages": made}
            except Exception as error:  # noqa: BLE001 - whatever a peer raises is its answer
                last = traceback.extract_tb(error.__traceback__)[-1]
                place = f"{Path(last.filename).name}:{last.lineno}"
                answer = {"error": f"{type(error).__name__}: {str(error)[:300]} ({place})"}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def echo(shown: str, tokens: int) -> str:
    """Return what stands in for a model: start and end of what it was shown, as much as fits."""
    raw = shown.encode("utf-8", "replace")
    half = tokens * BYTES_A_TOKEN // 2
    if len(raw) <= 2 * half:
        return shown
    start, end = raw[:half].decode("utf-8", "ignore"), raw[-half:].decode("utf-8", "ignore")
    return f"{start}\n[...]\n{end}"


def plain(message: dict) -> str:
    """Return the text of a message's content; parts that are not text are left out."""
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(p.get("text", "") for p in content if p.get("type") == "text")
    return content or ""


def newest(messages: list[dict], tokens: int) -> list[dict]:
    """Return the system message and the newest messages that fit, no result without its call."""
    head = [message for message in messages[:1] if message.get("role") == "system"]
    room = tokens * BYTES_A_TOKEN - sum(map(size, head))
    start = len(messages)
    while start > len(head) and size(messages[start - 1]) <= room:
        start -= 1
        room -= size(messages[start])
    while start < len(messages) and messages[start].get("role") == "tool":
        start += 1
    return head + messages[start:]


def size(message: dict) -> int:
    return len(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace"))
