"""What survives compaction without a model: facts, rules in nine languages, and replaced values.

    python benchmarks/fidelity.py [--data DIR] [--sizes 4000,12000,30000] [--peers all] [--out DIR]

DIR holds recorded sessions with probes (see `survival/recorded.py`); without it only rules are
measured, on sessions that are made up. Peers are installed from PyPI, each into an environment of
its own below --peer-dir, and run in processes of their own: one that fails is reported as such. No
model is asked by anybody; where a peer needs one, an echo stands in (see `survival/peers.py`). Each
peer is given as much room as Perdure took for the same session. Writes fidelity.json, fidelity.md
and, if matplotlib is installed, pictures.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Callable, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.progress import Progress
from survival import perdure_measures, recorded, report, rules
from survival.peers import Peer, PeerError, answers, chosen, installed, measure
from survival.scores import Case

import perdure

HERE = Path(__file__).resolve().parent
DATA = HERE.parents[1] / "shared" / "data" / "transcripts"
SIZES = (4_000, 12_000, 30_000)
RECALL_SIZE = 4_000

Step = Callable[[str], None]
"""Tells the progress bar what comes next."""


def measure_perdure(cases: Sequence[Case], sizes: Sequence[int], step: Step) -> dict[str, Any]:
    """Return everything that is measured of Perdure."""
    found: dict[str, Any] = {"handoff": {}, "search": [], "recall": []}
    for size in sizes if cases else ():
        step(f"handoff of {size:,} tokens")
        found["handoff"][str(size)] = [perdure_measures.measure_handoff(c, size) for c in cases]
    step("search and recall")
    found["search"] = [perdure_measures.measure_search(case) for case in cases]
    found["recall"] = [perdure_measures.measure_recall(case, RECALL_SIZE) for case in cases]
    found["rules"], found["extractor"], found["replaced"] = [], [], []
    for language in rules.LANGUAGES:
        step(f"rules in {language}")
        found["rules"] += [perdure_measures.measure_rules(c) for c in rules.rule_cases(language)]
        found["extractor"].append(perdure_measures.measure_extractor(language))
        found["replaced"].append(perdure_measures.measure_replaced(language))
    return found


def measure_peer(
    peer: Peer, folder: Path, cases: Sequence[Case], ours: dict[str, Any], step: Step
) -> dict[str, Any]:
    """Return what is measured of a peer, or its error."""
    try:
        step(f"{peer.label}: environment")
        python, version = installed(peer, folder)
        found: dict[str, Any] = {"version": version, "about": peer.about, "sizes": {}}
        for size, sessions in ours["handoff"].items():
            step(f"{peer.label}: {int(size):,} tokens")
            targets = [session["sent_tokens"] for session in sessions]
            found["sizes"][size] = measure(peer, _asker(python, peer), cases, targets, int(size))
        step(f"{peer.label}: rules")
        made = [case for language in rules.LANGUAGES for case in rules.rule_cases(language)]
        targets = [session["sent_tokens"] for session in ours["rules"]]
        room = perdure_measures.RULE_HANDOFF_TOKENS
        found["rules"] = measure(peer, _asker(python, peer), made, targets, room)
    except PeerError as error:
        return {"about": peer.about, "error": str(error)}
    return found


def _asker(python: Path, peer: Peer) -> Callable[[list[dict[str, Any]]], list[dict[str, Any]]]:
    return lambda tasks: answers(python, peer, tasks)


def measure_all(
    cases: Sequence[Case], sizes: Sequence[int], peers: Sequence[Peer], peer_dir: Path
) -> dict[str, Any]:
    """Return all results, with a progress bar on the error stream."""
    own_steps = (len(sizes) if cases else 0) + 1 + len(rules.LANGUAGES)
    peer_steps = 2 + (len(sizes) if cases else 0)
    with Progress(console=Console(stderr=True)) as progress:
        task = progress.add_task("", total=own_steps + peer_steps * len(peers))

        def step(text: str) -> None:
            progress.update(task, description=text, advance=1)

        ours = measure_perdure(cases, sizes, step)
        theirs = {peer.label: measure_peer(peer, peer_dir, cases, ours, step) for peer in peers}
        progress.update(task, description="done", completed=own_steps + peer_steps * len(peers))
    return {"made": made_of(cases, ours), "perdure": ours, "peers": theirs}


def made_of(cases: Sequence[Case], ours: dict[str, Any]) -> dict[str, Any]:
    """Return when, with what and on what was measured."""
    return {
        "when": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "perdure": perdure.__version__,
        "python": platform.python_version(),
        "tokens": "o200k_base",
        "sessions": [case.name for case in cases],
        "facts": sum(len(case.needles) for case in cases),
        "made_up_sessions": len(ours["rules"]),
    }


def write(results: dict[str, Any], out: Path) -> None:
    """Write results, tables and pictures."""
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps(results, indent=1, ensure_ascii=False)
    (out / "fidelity.json").write_text(text + "\n", encoding="utf-8")
    (out / "fidelity.md").write_text(report.markdown(results), encoding="utf-8")
    try:
        from survival.plots import draw

        draw(results, out)
    except ImportError:
        print("matplotlib is not installed; no pictures", file=sys.stderr)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--data", type=Path, default=DATA, help="folder of recorded sessions")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="tokens of the handoff")
    parser.add_argument("--peers", default="all", help="distributions or labels; all or none")
    parser.add_argument("--peer-dir", type=Path, default=HERE / ".peers", help="environments")
    parser.add_argument("--out", type=Path, default=HERE / "results", help="folder for results")
    parser.add_argument("--json", action="store_true", help="print the results, not the tables")
    return parser.parse_args()


def main() -> None:
    given = parsed()
    sizes = [int(size) for size in given.sizes.split(",")]
    cases = recorded.read_cases(given.data)
    if not cases:
        print(recorded.MISSING.format(folder=given.data), file=sys.stderr)
    peers = chosen([name.strip() for name in given.peers.split(",")])
    results = measure_all(cases, sizes, peers, given.peer_dir)
    write(results, given.out)
    print(json.dumps(results, indent=1) if given.json else report.markdown(results))


if __name__ == "__main__":
    main()
