"""Sessions that were recorded elsewhere, with questions about them, read from a folder.

A session is NAME.openai.jsonl (one chat message a line) beside NAME.probes.jsonl (one object a line
with `question`, `answer`, an exact string, and `kind`).
"""

from __future__ import annotations

import json
from pathlib import Path

from survival.scores import Case, Message, Needle, all_text, language_of

MISSING = """\
no sessions with probes in {folder}
Only what needs no recorded session is measured: rules in nine languages. For the rest give --data
a folder with NAME.openai.jsonl (one chat message a line) and NAME.probes.jsonl (one object a line
with "question", "answer" (an exact string of the session) and "kind")."""


def read_cases(folder: Path) -> list[Case]:
    """Return the sessions of a folder that have probes; none if there is no such folder."""
    return [_read(path) for path in sorted(folder.glob("*.probes.jsonl"))]


def _read(probes: Path) -> Case:
    messages = _lines(probes.with_name(probes.name.replace(".probes.", ".openai.")))
    needles = tuple(Needle(p["answer"], p["kind"], p["question"]) for p in _lines(probes))
    language = language_of(all_text(messages))
    name = probes.name.split(".")[0]
    return Case(name, "recorded", language, with_own_ids(messages), needles)


def _lines(path: Path) -> list[Message]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def with_own_ids(messages: list[Message]) -> list[Message]:
    """Return messages in which every call has an id of its own.

    Some recorders use one id for several calls, which not every engine can read. A result belongs
    to the latest call with its id.
    """
    latest: dict[str, str] = {}
    made: list[Message] = []
    for number, message in enumerate(messages):
        if message.get("tool_calls"):
            calls = []
            for at, call in enumerate(message["tool_calls"]):
                latest[call["id"]] = f"call_{number}_{at}"
                calls.append({**call, "id": latest[call["id"]]})
            made.append({**message, "tool_calls": calls})
        elif message.get("role") == "tool":
            told = message.get("tool_call_id", "")
            made.append({**message, "tool_call_id": latest.get(told, told)})
        else:
            made.append(message)
    return made
