"""Measures token counting: cold, warm and on a growing list, exact and estimated.

    python benchmarks/tokens.py [TRANSCRIPT.jsonl ...] [--output FILE.json]

Without a transcript a conversation of about 430,000 tokens is made up. Prints one JSON object (or
writes it to FILE.json). Each counter runs in a process of its own, so that `load_s` holds what a
program pays when it counts for the first time.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import time
from pathlib import Path

MODELS = {"o200k_base": "gpt-4o", "cl100k_base": "gpt-4", "estimate": "claude-sonnet-4-5"}
TOKENS_MADE = 430_000
GROWTH_STEPS = 100


def made_up(seed: int = 7) -> list[dict]:
    """Return a conversation of prose, code, listings and hashes with tool calls."""
    rnd = random.Random(seed)
    source = Path(json.__file__).with_name("decoder.py").read_text(encoding="utf-8").splitlines()
    prose = (__doc__ + random.__doc__ + argparse.__doc__).split()
    messages, tokens, turn = [{"role": "system", "content": "You are a careful engineer."}], 0, 0
    while tokens < TOKENS_MADE:
        turn += 1
        start = rnd.randrange(len(source) - 60)
        listing = "\n".join(
            f"{rnd.getrandbits(64):016x} {rnd.randrange(10**6):>8} src/part{turn}/file{n}.py"
            for n in range(25)
        )
        call = {"name": "read", "arguments": json.dumps({"path": f"src/part{turn}.py"})}
        messages += [
            {"role": "user", "content": " ".join(rnd.choices(prose, k=80))},
            {
                "role": "assistant",
                "content": " ".join(rnd.choices(prose, k=60)),
                "tool_calls": [{"id": f"call_{turn}", "type": "function", "function": call}],
            },
            {
                "role": "tool",
                "tool_call_id": f"call_{turn}",
                "content": "\n".join(source[start : start + 60]) + "\n" + listing,
            },
        ]
        tokens += 1_280
    return messages


def read(path: str) -> list[dict]:
    with Path(path).open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def seconds(work) -> tuple[float, object]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


def measure(model: str, messages: list[dict]) -> dict[str, object]:
    """Count the list in this process: cold, warm, and message by message as it grows."""
    from perdure.tokens import count_messages, counter_for
    from perdure.transcript import Transcript

    counter = counter_for(model)
    load_s, _ = seconds(lambda: counter.count_text("warm up"))
    cold_s, tokens = seconds(lambda: count_messages(counter, messages))
    warm_s, _ = seconds(lambda: count_messages(counter, messages))

    transcript = Transcript(messages)
    added = [
        {"role": "user", "content": f"Step {n}: go on with the file of part {n}."}
        for n in range(GROWTH_STEPS)
    ]

    def grow() -> None:
        grown = transcript
        for message in added:
            grown = grown.append([message])
            count_messages(counter, grown.entries())

    grown_s, _ = seconds(grow)
    return {
        "counter": counter.name,
        "messages": len(messages),
        "tokens": tokens,
        "load_s": round(load_s, 4),
        "cold_s": round(cold_s, 4),
        "warm_s": round(warm_s, 4),
        "grown_step_s": round(grown_s / GROWTH_STEPS, 6),
        "cold_tokens_per_s": round(tokens / cold_s),
        "warm_tokens_per_s": round(tokens / warm_s),
    }


def in_own_process(model: str, path: str | None) -> dict[str, object]:
    command = [sys.executable, __file__, "--model", model, *([path] if path else [])]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("transcripts", nargs="*")
    parser.add_argument("--output", help="write the JSON to this file")
    parser.add_argument("--model", help="measure one model in this process")
    given = parser.parse_args()
    if given.model:
        paths = given.transcripts
        print(json.dumps(measure(given.model, read(paths[0]) if paths else made_up())))
        return
    report = {
        "python": sys.version.split()[0],
        "runs": [
            {"source": Path(path).name if path else "made up", **in_own_process(model, path)}
            for path in given.transcripts or [None]
            for model in MODELS.values()
        ],
    }
    text = json.dumps(report, indent=2)
    if given.output:
        Path(given.output).write_text(text + "\n", encoding="utf-8")
    else:
        print(text)


if __name__ == "__main__":
    main()
