"""What people say to an agent in nine languages, and how much of it the ledger gets right.

`fixtures/said/*.txt` holds one saying a line behind its kind: `R` a standing rule, `N` none, `E`
an old value and the sentence that names it as old, `I` one that gives another value for the same
thing, `B` two that hold side by side. Of each kind every second line belongs to the second half,
which nobody looks at while the extractor is improved; kinds in small letters belong to the first.
"""

from __future__ import annotations

import re
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from perdure.stock.ledger import build, facts_of
from perdure.stock.ledger.supersede import current_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

FOLDER = Path(__file__).parents[1] / "fixtures" / "said"
LANGUAGES = tuple(sorted(path.stem for path in FOLDER.glob("*.txt")))
LOG = "\n".join(
    f"2031-03-04 11:{at:02}:17,{at + 300} WARN [pool-{at}] worker must not be restarted, lease {at}71"
    for at in range(30)
)
DIFF = (
    "diff --git a/rules.md b/rules.md\nindex 5e1b7c2..91ac0de 100644\n--- a/rules.md\n"
    "+++ b/rules.md\n@@ -1,3 +1,3 @@\n # Rules\n-Never use tabs.\n+Always use spaces.\n You must sign.\n"
)
_END = ".!。！"


def sayings(language: str, kind: str, half: int) -> list[str]:
    """Return the sayings of a kind; `half` is 0 or 1."""
    lines = (FOLDER / f"{language}.txt").read_text("utf-8").splitlines()
    found = [line[2:] for line in lines if line.startswith(f"{kind} ")][half::2]
    further = [line[2:] for line in lines if line.startswith(f"{kind.lower()} ")]
    return found if half else found + further


def pairs(language: str, kind: str, half: int) -> list[tuple[str, str]]:
    """Return pairs of an earlier and a later sentence."""
    found = (line.partition(" | ") for line in sayings(language, kind, half))
    return [(old, new) for old, _, new in found]


def bound(text: str) -> list[str]:
    """Return the sentences of a user message that count as said by the user."""
    found = facts_of({"role": "user", "content": text}).statements
    return [fact.text for fact in found if fact.source == "user"]


def holds(text: str, rule: str) -> bool:
    """Return whether a rule in a message is one of its binding sentences."""
    core = rule.strip(_END + " ")
    return any(core in sentence for sentence in bound(text))


def plain(rule: str, around: list[str], dense: str) -> str:
    """Return a long message with the rule as a sentence between others and a pasted log."""
    return f"{around[0]}{dense}{rule}{dense}{around[1]}\n\n{LOG}\n\n{around[2]}\n\n{DIFF}"


def as_written(rule: str, around: list[str], dense: str) -> Iterator[str]:
    """Yield a long message as people type it: hurried, in a list, after pasted text, run on."""
    core = rule.strip(_END)
    low = core if re.search(r"[A-Z]{2}", core) else core[0].lower() + core[1:]
    yield f"{around[0].strip(_END)}\n{LOG}\n{low}\n{around[1]}"
    yield f"{around[0]}\n\n- {around[1]}\n- {core}\n- {around[2]}\n\n{DIFF}"
    yield f"{LOG}\n\n{around[0].strip(_END)}{dense.strip() or ' '} {core}"
    yield f"{around[0]}\n1. {core}\n2. {around[1]}\n\n```\n{LOG}\n```\n{around[2]}"


def measured(language: str, half: int) -> dict[str, tuple[int, int]]:
    """Return (hits, tries) by row."""
    rows: dict[str, list[bool]] = defaultdict(list)
    dense = "" if language in ("chinese", "japanese") else " "
    rules, others = sayings(language, "R", half), sayings(language, "N", half)
    around = [saying for saying in others if saying.endswith((".", "。"))]
    for at, rule in enumerate(rules):
        near = [around[(at + step) % len(around)] for step in range(3)]
        rows["alone"].append(holds(rule, rule))
        rows["plain"].append(holds(plain(rule, near, dense), rule))
        core = rule.strip(_END)[1:]
        rows["written"] += [holds(text, core) for text in as_written(rule, near, dense)]
    rows["false"] = [bool(bound(other)) for other in others]
    for kind, name in (("E", "explicit"), ("I", "implicit"), ("B", "wrong")):
        rows[name] = [is_replaced(old, new) for old, new in pairs(language, kind, half)]
    return {name: (sum(hits), len(hits)) for name, hits in rows.items()}


def is_replaced(old: str, new: str) -> bool:
    """Return whether an earlier message of the user is marked as replaced by a later one."""
    items = [(at, facts_of({"role": "user", "content": text})) for at, text in ((0, old), (4, new))]
    return current_texts(build(None, items))(0, old) != old
