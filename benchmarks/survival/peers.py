"""Runs other compactors on the same sessions, each in a virtual environment and process of its own."""

from __future__ import annotations

import json
import math
import subprocess
import tempfile
import venv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from survival.perdure_measures import count_messages
from survival.scores import Case, Message, all_text, scored, sees, sees_sentence, squeezed

ADAPTERS = Path(__file__).with_name("adapters")
INSTALL_S = 900
RUN_S = 900
TRIES = 5
NEAR = 0.1


@dataclass(frozen=True)
class Peer:
    """One way to compact without a model.

    Attributes:
        label: As it is shown.
        distribution: What pip installs.
        adapter: Program in `adapters/`.
        about: What is run, and what stands in for a model.
        has_size: Whether it can be told how much to send.
    """

    label: str
    distribution: str
    adapter: str
    about: str
    has_size: bool = True


PEERS = (
    Peer(
        "hermes-agent (echo)",
        "hermes-agent",
        "hermes_agent",
        "`ContextCompressor.compress`; the summary is start and end of what the model would read",
    ),
    Peer(
        "hermes-agent (fallback)",
        "hermes-agent",
        "hermes_agent_fallback",
        "the same with a model that fails: the text it then writes by rule, and a longer tail",
    ),
    Peer(
        "deepagents (echo)",
        "deepagents",
        "deepagents_summary",
        "`SummarizationMiddleware`; the summary is start and end of what it is given",
    ),
    Peer(
        "pydantic-ai-harness (echo)",
        "pydantic-ai-harness",
        "pydantic_ai_summary",
        "`SummarizingCompaction`; the summary is start and end of what the model would read",
    ),
    Peer(
        "pydantic-ai-harness (window)",
        "pydantic-ai-harness",
        "pydantic_ai_window",
        "`SlidingWindowCompaction`, which needs no model",
    ),
    Peer(
        "distil-llm (newest)",
        "distil-llm",
        "distil_llm",
        "`compress_messages`, which needs no model and aims at no size, then the newest that fit",
    ),
    Peer(
        "distil-llm (whole)",
        "distil-llm",
        "distil_llm_whole",
        "`compress_messages` as it is, at whatever size that has",
        has_size=False,
    ),
)


class PeerError(Exception):
    """A peer could not be installed or its process ended badly; the text says how."""


def chosen(names: Sequence[str]) -> list[Peer]:
    """Return the peers of some distributions or labels; all for `all`, none for `none`."""
    known = {peer.distribution for peer in PEERS} | {peer.label for peer in PEERS}
    unknown = sorted(set(names) - known - {"all", "none"})
    if unknown:
        text = f"no peer is named {unknown[0]!r}; there are {', '.join(sorted(known))}"
        raise SystemExit(text)
    wanted = known if "all" in names else set(names)
    return [peer for peer in PEERS if wanted & {peer.distribution, peer.label}]


def installed(peer: Peer, folder: Path) -> tuple[Path, str]:
    """Return interpreter and version of a peer's environment, made if it is not there."""
    home = folder / peer.distribution
    python = home / "bin" / "python"
    try:
        if not python.exists():
            venv.create(home, with_pip=True)
        try:
            return python, _version(python, peer)
        except subprocess.CalledProcessError:
            _run([str(python), "-m", "pip", "install", "-q", peer.distribution], INSTALL_S)
            return python, _version(python, peer)
    except (OSError, subprocess.SubprocessError) as error:
        raise PeerError(_reason(error)) from error


def _version(python: Path, peer: Peer) -> str:
    code = f"from importlib.metadata import version; print(version({peer.distribution!r}))"
    return _run([str(python), "-c", code], RUN_S).strip()


def _run(command: list[str], timeout_s: float, **options: Any) -> str:
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, timeout=timeout_s, **options
    )
    return done.stdout


def _reason(error: Exception) -> str:
    """Return what a failed process said last, in one line."""
    said = getattr(error, "stderr", None) or str(error)
    lines = [line for line in str(said).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__


def answers(python: Path, peer: Peer, tasks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what a peer answers to tasks, see `adapters/protocol.py`."""
    with tempfile.TemporaryDirectory() as home:
        given, taken = Path(home, "tasks.json"), Path(home, "answers.jsonl")
        given.write_text(json.dumps(tasks), encoding="utf-8")
        command = [str(python), str(ADAPTERS / f"{peer.adapter}.py"), str(given), str(taken)]
        # A home of its own and no other variables: no settings, no credentials.
        try:
            _run(command, RUN_S, env={"HOME": home, "PATH": "/usr/bin:/bin"})
        except (OSError, subprocess.SubprocessError) as error:
            raise PeerError(_reason(error)) from error
        return [json.loads(line) for line in taken.read_text(encoding="utf-8").splitlines()]


Answerer = Callable[[list[dict[str, Any]]], list[dict[str, Any]]]


def at_size(
    ask: Answerer, cases: Sequence[Case], targets: Sequence[int], summary_tokens: int, tries: int
) -> list[dict[str, Any]]:
    """Return for each case the answer whose size is nearest to its target.

    Peers count tokens in their own ways and keep whole messages, so the room they are given is
    changed until what they send is within a tenth of the target, a few times at most.
    """
    rooms = list(targets)
    best: list[dict[str, Any]] = [{} for _ in cases]
    waiting = list(range(len(cases)))
    for _ in range(tries):
        tasks = [
            {"messages": cases[at].messages, "room": rooms[at], "summary_tokens": summary_tokens}
            for at in waiting
        ]
        for at, answer in zip(waiting, ask(tasks), strict=True):
            best[at] = nearer(best[at], answer, targets[at])
            tokens = count_messages(answer["messages"]) if "messages" in answer else 0
            rooms[at] = next_room(rooms[at], tokens, targets[at])
        waiting = [at for at in waiting if distance(best[at], targets[at]) > NEAR]
        if not waiting:
            break
    return best


def nearer(one: dict[str, Any], other: dict[str, Any], target: int) -> dict[str, Any]:
    """Return the answer nearer to a size; any answer is nearer than an error."""
    if "messages" in other:
        other = {**other, "tokens": count_messages(other["messages"])}
    return other if not one or distance(other, target) < distance(one, target) else one


def distance(answer: dict[str, Any], target: int) -> float:
    return abs(math.log(max(1, answer["tokens"]) / target)) if "tokens" in answer else math.inf


def next_room(room: int, tokens: int, target: int) -> int:
    """Return the room to give next, not more than three times as much or less at once."""
    factor = target / tokens if tokens else 2.0
    return max(100, int(room * min(3.0, max(1 / 3, factor))))


def measure(
    peer: Peer, ask: Answerer, cases: Sequence[Case], targets: Sequence[int], summary_tokens: int
) -> list[dict[str, Any]]:
    """Return for each case what is seen in what a peer sends, or its error."""
    found = at_size(ask, cases, targets, summary_tokens, TRIES if peer.has_size else 1)
    return [
        {
            **_seen(case, answer["messages"]),
            "sent_tokens": answer["tokens"],
            "target_tokens": target,
        }
        if "messages" in answer
        else {"name": case.name, "error": answer.get("error", "no answer")}
        for case, answer, target in zip(cases, found, targets, strict=True)
    ]


def _seen(case: Case, messages: list[Message]) -> dict[str, Any]:
    text = all_text(messages)
    tight = squeezed(text)
    is_rules = case.group != "recorded"
    part = scored(
        case.needles,
        lambda n: sees_sentence(tight, n.text) if is_rules else sees(text, n.text),
    )
    return {"name": case.name, "group": case.group, "language": case.language, **part}
