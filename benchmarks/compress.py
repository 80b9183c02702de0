"""Time and memory of one compaction at several sizes, beside a peer in the same run.

Cold: a whole history is given to a new process and compacted at once. Warm: a session took the
messages one by one, as they came, and is compacted then.

    python benchmarks/compress.py [--sizes 2000,10000,50000] [--out results] [--peer-python PATH]

Each measurement is a process of its own, so that peak memory is that of one engine. No model is
asked: Perdure writes its extractive summary; the peer's call to a model is answered by a fixed
text, which favours the peer. Without --peer-python a virtual environment with hermes-agent from
PyPI is made beside this file. Writes compress.json and, if matplotlib is installed, compress.png.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
SIZES = (2_000, 10_000, 50_000)
ROUNDS = 3

WORDS = """
    request server table index error value config path module test build cache token window
    session engine parser result field schema branch commit review thread socket buffer
""".split()  # noqa: SIM905 - easier to read than quoted words


def conversation(messages: int, seed: int = 11) -> list[dict]:
    """Return a tool-using session of about 215 tokens a message."""
    draw = random.Random(seed)
    made: list[dict] = [{"role": "system", "content": "You are a careful engineer."}]
    turn = 0
    while len(made) < messages:
        turn += 1
        path = f"src/{draw.choice(WORDS)}/{draw.choice(WORDS)}_{turn}.py"
        if turn % 8 == 1:
            text = f"Please look at {path}. Never change port {8000 + turn}; use {turn} retries."
            made.append({"role": "user", "content": text})
        call = {
            "id": f"call_{turn}",
            "type": "function",
            "function": {
                "name": draw.choice(["read_file", "terminal", "search_files"]),
                "arguments": json.dumps({"path": path, "command": f"cat {path}"}),
            },
        }
        made.append(
            {"role": "assistant", "content": f"Step {turn}: reading.", "tool_calls": [call]}
        )
        lines = [
            f"{number}: {' '.join(draw.choices(WORDS, k=8))} = {draw.randrange(10**6)}"
            for number in range(draw.randrange(6, 42))
        ]
        made.append({"role": "tool", "tool_call_id": call["id"], "content": "\n".join(lines)})
        if turn % 8 == 0:
            text = (
                f"Decided to use {draw.choice(WORDS)} {turn} because {draw.choice(WORDS)} failed."
            )
            made.append({"role": "assistant", "content": text})
    return made[:messages]


PRELUDE = f"""
import json, resource, statistics, sys, time
sys.path.insert(0, {str(HERE)!r})
from compress import conversation
size, rounds = int(sys.argv[1]), int(sys.argv[2])
messages = conversation(size)
def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
"""
PERDURE = (
    PRELUDE
    + """
import warnings, perdure
from perdure.tokens import counter_for
counter_for("gpt-4o").count_text("load the vocabulary")
def opened():
    config = {"provider": {"model": "gpt-4o", "context_length": 128_000}}
    return perdure.open_session(config, session_id="b", state_dir=":memory:")
def at_once():
    with opened() as session:
        started = time.perf_counter()
        result = session.compress(messages)
        return time.perf_counter() - started, result
def as_it_grew():
    with opened() as session:
        for message in messages:
            session.append([message])
        started = time.perf_counter()
        result = session.compress()
        return time.perf_counter() - started, result
before = peak()
cold, result = at_once()
cold_peak = peak() - before
warm = [as_it_grew()[0] for _ in range(rounds)]
print(json.dumps({"cold_s": cold, "warm_s": statistics.median(warm), "peak_mb": cold_peak,
                  "tokens_in": result.tokens_before, "tokens_out": result.tokens_after}))
"""
)
HERMES = (
    PRELUDE
    + """
import copy, types
import agent.context_compressor as module
answer = "## Goal\\nkeep going\\n" + "- done step, value 42 in src/x.py\\n" * 60
message = types.SimpleNamespace(content=answer, reasoning=None, reasoning_content=None)
choice = types.SimpleNamespace(message=message, finish_reason="stop")
module.call_llm = lambda **_: types.SimpleNamespace(choices=[choice], usage=None)
def once():
    engine = module.ContextCompressor("gpt-4o", quiet_mode=True, config_context_length=128_000)
    given = copy.deepcopy(messages)
    started = time.perf_counter()
    result = engine.compress(given, current_tokens=200_000, force=True)
    return time.perf_counter() - started, result
before = peak()
cold, result = once()
warm = [once()[0] for _ in range(rounds)]
from agent.model_metadata import estimate_messages_tokens_rough as rough
print(json.dumps({"cold_s": cold, "warm_s": statistics.median(warm), "peak_mb": peak() - before,
                  "tokens_in": rough(messages), "tokens_out": rough(result)}))
"""
)


def measured(python: str, program: str, size: int) -> dict | None:
    command = [python, "-c", program, str(size), str(ROUNDS)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        print(done.stderr[-2_000:], file=sys.stderr)
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def peer_python(given: str | None) -> str | None:
    """Return the interpreter of an environment with the peer, making one if need be."""
    if given:
        return given
    folder = HERE / ".peers" / "hermes"
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        command = [str(python), "-m", "pip", "install", "-q", "hermes-agent"]
        if subprocess.run(command, check=False).returncode:
            return None
    return str(python)


def plot(results: dict, target: Path) -> None:
    try:
        import matplotlib as mpl

        mpl.use("Agg")
        import matplotlib.pyplot as plt
    except ImportError:
        print("matplotlib is not installed; no plot", file=sys.stderr)
        return
    figure, axes = plt.subplots(1, 2, figsize=(10, 4))
    for axis, key, label in zip(
        axes, ("warm_s", "peak_mb"), ("seconds (warm, median)", "peak memory, MB"), strict=True
    ):
        for engine, rows in results.items():
            sizes = [row["messages"] for row in rows]
            axis.plot(sizes, [row[key] for row in rows], marker="o", label=engine)
        axis.set(xlabel="messages", ylabel=label, xscale="log", yscale="log")
        axis.grid(visible=True, alpha=0.3)
        axis.legend()
    figure.suptitle("One compaction")
    figure.tight_layout()
    figure.savefig(target, dpi=120)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--out", default=str(HERE / "results"))
    parser.add_argument("--peer-python", help="interpreter of an environment with hermes-agent")
    arguments = parser.parse_args()
    programs = {"perdure": (sys.executable, PERDURE)}
    peer = peer_python(arguments.peer_python)
    if peer:
        programs["hermes-agent"] = (peer, HERMES)
    results: dict[str, list[dict]] = {engine: [] for engine in programs}
    for size in map(int, arguments.sizes.split(",")):
        for engine, (python, program) in programs.items():
            row = measured(python, program, size)
            if row is not None:
                results[engine].append({"messages": size, **row})
                print(f"{engine:14} {size:7,} messages  cold {row['cold_s']:.3f} s  "
                      f"warm {row['warm_s']:.3f} s  peak {row['peak_mb']:.0f} MB")  # fmt: skip
    out = Path(arguments.out)
    out.mkdir(parents=True, exist_ok=True)
    (out / "compress.json").write_text(json.dumps(results, indent=1) + "\n")
    plot(results, out / "compress.png")
    rows = results["perdure"]
    if len(rows) > 1:
        per = [row["cold_s"] / row["messages"] for row in rows]
        print(f"growth per message, largest against smallest: {per[-1] / per[0]:.2f}")
    print(f"median ratio to the peer: {statistics.median(ratios(results)):.2f}")


def ratios(results: dict[str, list[dict]]) -> list[float]:
    ours = {row["messages"]: row["warm_s"] for row in results["perdure"]}
    theirs = {row["messages"]: row["warm_s"] for row in results.get("hermes-agent", [])}
    return [ours[size] / theirs[size] for size in ours if size in theirs] or [float("nan")]


if __name__ == "__main__":
    main()
