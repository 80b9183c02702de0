"""Measures the search in originals: how many facts a question finds, and what storing costs.

    python benchmarks/search.py FOLDER [--output FILE.json]

FOLDER holds sessions as NAME.openai.jsonl (one chat message a line) with NAME.probes.jsonl (one
object a line with `question` and `answer`, an exact string). Prints one JSON object (or writes it
to FILE.json): the share of answers in the first ten hits and the messages beside them, the share in
the first 2,000 tokens of what `context_search` answers, and times.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

from perdure import recall
from perdure.blobs import Blobs, open_blobs, readable
from perdure.tokens.encodings import encoding

ANSWER_TOKENS = 2_000
HITS = 10


def lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def around(blobs: Blobs, messages: list[dict], places: dict[str, int], question: str) -> str:
    """Return the texts of the first hits, their neighbours and the user messages before them."""
    near: set[int] = set()
    for hit in blobs.search(question, HITS):
        place = places[hit.ref]
        near |= {place - 1, place, place + 1, places.get(hit.user_ref, place)}
    return "\n".join(readable(messages[i]) for i in sorted(near) if 0 <= i < len(messages))


def first_tokens(blobs: Blobs, question: str) -> str:
    """Return what an agent reads in the first tokens of an answer."""
    chosen = encoding("o200k_base")
    answer = recall.call("context_search", {"query": question}, blobs)
    text = json.dumps(answer, ensure_ascii=False)
    return chosen.decode(chosen.encode(text, disallowed_special=())[:ANSWER_TOKENS])


def measure(probes: Path) -> dict:
    messages = lines(probes.with_name(probes.name.replace(".probes.", ".openai.")))
    blobs = open_blobs(None, "measured")
    start = time.perf_counter()
    refs = blobs.put_messages(messages, first=0)
    stored = time.perf_counter()
    blobs.search("index")
    indexed = time.perf_counter()
    places = {ref: place for place, ref in reversed(list(enumerate(refs)))}
    asked = lines(probes)
    facts = [(fact["question"], fact["answer"]) for fact in asked]
    escaped = [json.dumps(answer, ensure_ascii=False)[1:-1] for _, answer in facts]
    near = sum(answer in around(blobs, messages, places, question) for question, answer in facts)
    early = sum(
        answer in first_tokens(blobs, question)
        for (question, _), answer in zip(facts, escaped, strict=True)
    )
    blobs.close()
    return {
        "name": probes.name.split(".")[0],
        "messages": len(messages),
        "facts": len(facts),
        "in_ten_hits": near,
        "in_first_tokens": early,
        "store_ms": round(1000 * (stored - start)),
        "index_ms": round(1000 * (indexed - stored)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--output", type=Path)
    given = parser.parse_args()
    sessions = [measure(probes) for probes in sorted(given.folder.glob("*.probes.jsonl"))]
    facts = sum(session["facts"] for session in sessions) or 1
    result = {
        "share_in_ten_hits": round(sum(s["in_ten_hits"] for s in sessions) / facts, 3),
        "share_in_first_tokens": round(sum(s["in_first_tokens"] for s in sessions) / facts, 3),
        "sessions": sessions,
    }
    text = json.dumps(result, indent=2)
    if given.output:
        given.output.write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
