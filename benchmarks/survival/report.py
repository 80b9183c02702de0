"""Results as rows and tables for people."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from typing import Any

from survival.scores import Score, merged, total

Results = dict[str, Any]
Row = tuple[str, str, str, str]
"""What was measured, on what, the figure, what is aimed at."""


def percent(score: Score) -> str:
    return f"{100 * score['share']:.0f} %" if score["of"] else "-"


def rows(results: Results) -> list[Row]:
    """Return the rows of Perdure's own table, those without data left out."""
    ours = results["perdure"]
    return [*_recorded_rows(ours), *_rule_rows(ours), *_replaced_rows(ours)]


def _recorded_rows(ours: Results) -> list[Row]:
    if not ours["handoff"]:
        return []
    found: list[Row] = []
    aims = {"4000": "50 → 56 %", "12000": "70 → 76 %", "30000": "82 → 87 %"}
    for size, sessions in ours["handoff"].items():
        whole = merged(one["handoff"] for one in sessions)["all"]
        label = f"facts in a handoff of {int(size):,} tokens"
        found.append((label, _of(whole), percent(whole), aims.get(size, "")))
    for size, aim in (("4000", "90 → 95 %"), ("12000", "97 → 100 %")):
        kinds = merged(one["handoff"] for one in ours["handoff"].get(size, []))["kinds"]
        if "user constraint" in kinds:
            label = f"of these, constraints of the user, {int(size):,} tokens"
            score = kinds["user constraint"]
            found.append((label, _of(score), percent(score), aim))
    for language, aim in (("Japanese", "22 → 33 %"), ("Chinese", "65 → 75 %")):
        scores = [
            one["handoff"]["all"]
            for one in ours["handoff"].get("12000", [])
            if one["language"] == language
        ]
        if scores:
            label = f"facts of a {language} session, 12,000 tokens"
            found.append((label, _of(total(scores)), percent(total(scores)), aim))
    for name, part, aim in (
        ("top 10 with neighbours", "search", "83 → 88 %"),
        ("first 2,000 tokens", "search", "78 → 83 %"),
        ("one search", "recall", "90 → 93 %"),
        ("paging", "recall", "98 → 100 %"),
    ):
        whole = merged(one[name] for one in ours[part])["all"]
        found.append((_LABELS[name], _of(whole), percent(whole), aim))
    return found


_LABELS = {
    "top 10 with neighbours": "search with the question: ten hits and their neighbours",
    "first 2,000 tokens": "search with the question: first 2,000 tokens of the answer",
    "one search": "handoff of 4,000 tokens and one search",
    "paging": "any fact, by paging through the handles of the handoff",
}


def _of(score: Score, what: str = "facts") -> str:
    return f"{score['found']} of {score['of']} {what}"


def rules_in(ours: Sequence[Results], group: str, kind: str) -> Score:
    """Return the score of one kind of rules in one group of sessions, all languages together."""
    return total(one["kinds"][kind] for one in ours if one.get("group") == group and "kinds" in one)


def _rule_rows(ours: Results) -> list[Row]:
    found: list[Row] = []
    for group, kind, aim in (
        ("coding, rules alone", "plain", "100 %"),
        ("coding, rules alone", "people", "100 %"),
        ("coding, rules inside", "plain", "95 → 99 %"),
        ("coding, rules inside", "people", "75 → 90 %"),
        ("chat, rules inside", "plain", "95 → 99 %"),
        ("chat, rules inside", "people", "75 → 90 %"),
    ):
        score = rules_in(ours["rules"], group, kind)
        how = "plain" if kind == "plain" else "as people write them"
        place = "a message of their own" if "alone" in group else "inside long messages"
        label = f"{group.split(',')[0]}: rules that are {place}, {how}"
        found.append(
            (label.replace("are inside", "stand inside"), _of(score, "rules"), percent(score), aim)
        )
    found += [
        (
            f"extractor alone, {one['language']}: plain / as people write them",
            _of(one["rules"]["all"], "rules"),
            f"{percent(one['rules']['kinds']['plain'])} / {percent(one['rules']['kinds']['people'])}",
            "75 → 85 %",
        )
        for one in ours["extractor"]
    ]
    count = sum(one["false rules"]["count"] for one in ours["extractor"])
    messages = sum(one["false rules"]["messages"] for one in ours["extractor"])
    found.append(
        (
            "false rules or values per 1,000 messages",
            f"{count} in {messages:,} messages",
            f"{1000 * count / messages:.1f}",
            "10 → 5",
        )
    )
    for name in ("ordinary sentences taken for rules", "lookalikes taken for rules"):
        score = total(one[name] for one in ours["extractor"])
        found.append((name, _of(score, "sentences"), percent(score), ""))
    return found


def _replaced_rows(ours: Results) -> list[Row]:
    labels = {
        "implicit": ("old values marked, the new sentence does not name them", "50 → 70 %"),
        "explicit": ("old values marked, the new sentence names them", "100 %"),
        "wrongly marked": ("wrongly marked as replaced", "1 → 0 %"),
    }
    found: list[Row] = []
    for name, (label, aim) in labels.items():
        score = total(one[name] for one in ours["replaced"])
        found.append((label, _of(score, "values"), percent(score), aim))
    return found


def sent_by_size(results: Results) -> dict[str, list[tuple[str, Score, float]]]:
    """Return for each engine (handoff size, score of all that is sent, median tokens sent)."""
    found: dict[str, list[tuple[str, Score, float]]] = {"Perdure": []}
    for size, sessions in results["perdure"]["handoff"].items():
        found["Perdure"].append(
            (size, merged(s["sent"] for s in sessions)["all"], _median(sessions))
        )
    for label, peer in results["peers"].items():
        for size, sessions in peer.get("sizes", {}).items():
            fine = [s for s in sessions if "error" not in s]
            if fine:
                entry = (size, merged(fine)["all"], _median(fine))
                found.setdefault(label, []).append(entry)
    return found


def _median(sessions: Iterable[Results]) -> float:
    return statistics.median(s["sent_tokens"] for s in sessions)


def peer_rows(results: Results) -> list[list[str]]:
    """Return one row an engine: facts at each size with the tokens sent, then rules."""
    sizes = list(results["perdure"]["handoff"])
    groups = ("coding, rules alone", "coding, rules inside", "chat, rules inside")
    by_size = sent_by_size(results)
    table = []
    for label in ["Perdure", *results["peers"]]:
        peer = results["peers"].get(label, {})
        if "error" in peer:
            table.append([label, f"failed: {peer['error']}", *[""] * (len(sizes) + 2)])
            continue
        facts = {size: f"{percent(s)} ({t:,.0f})" for size, s, t in by_size.get(label, ())}
        sessions = results["perdure"]["rules"] if label == "Perdure" else peer["rules"]
        rules = [
            percent(total(s["all"] for s in sessions if s.get("group") == group))
            for group in groups
        ]
        table.append([label, *(facts.get(size, "-") for size in sizes), *rules])
    return table


def kind_rows(results: Results) -> list[list[str]]:
    """Return one row a kind of fact: the share in Perdure's handoff at each size."""
    by_size = [
        merged(s["handoff"] for s in sessions)["kinds"]
        for sessions in results["perdure"]["handoff"].values()
    ]
    return [
        [kind, str(score["of"]), *(percent(found[kind]) for found in by_size)]
        for kind, score in (by_size[0].items() if by_size else ())
    ]


def markdown(results: Results) -> str:
    """Return all tables as Markdown."""
    sizes = [f"{int(size):,}" for size in results["perdure"]["handoff"]]
    header = ["engine", *(f"facts, handoff {s}" for s in sizes)]
    header += ["rules alone, coding", "rules inside, coding", "rules inside, chat"]
    kinds = ["kind of fact", "facts", *(f"handoff {s}" for s in sizes)]
    tables = [
        _table(("measured", "counts", "figure", "aim"), rows(results)),
        _table(kinds, kind_rows(results)) if sizes else "",
        _table(header, peer_rows(results)),
    ]
    return "\n\n".join(filter(None, tables)) + "\n"


def _table(header: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *body]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
