"""Chooses lines under a budget so that as many different facts as possible are in them. Pure.

What a line adds is what the lines chosen before it do not say yet, so the choice is greedy over a
submodular gain, the classic near-optimal way to cover (Nemhauser, Wolsey and Fisher 1978), with
lazy evaluation (Minoux 1978).
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from perdure.messages import is_result
from perdure.stock.digest.candidates import Line, candidates_of, terms_in
from perdure.stock.digest.forms import rarity

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

SHARES = {"error": 0.25, "decision": 0.30}
CATEGORY_BONUS = {"error": 1.6, "decision": 1.8, "fact": 0.0}
FRAME_TOKENS = 6
"""Number and role in front of the first line of a message."""
SPOKEN_FACTOR = 1.4
"""Words somebody wrote count for more than the same words in tool output."""
FULL_SHARE = 0.95
"""A digest this full is not filled further."""
MAX_STRETCH = 1.6
COVERED_AGAIN = 0.08
"""What a term still counts for when another chosen line has it already."""


@dataclass(frozen=True, slots=True)
class DigestLine:
    """A line of a digest.

    Attributes:
        index: Number of the message it stands in.
        role: Who said it: `assistant` or `tool`.
        text: The line.
        category: `error`, `decision` or `fact`.
        fields: Names of the values when the line is a record.
    """

    index: int
    role: str
    text: str
    category: str
    fields: str = ""


@dataclass(frozen=True, slots=True)
class Digest:
    """The lines that were chosen, in time order, and their text."""

    text: str
    lines: tuple[DigestLine, ...]


@dataclass(slots=True)
class _Option:
    """A line that may be chosen; `most` is what it adds at the start, and never adds more than."""

    index: int
    role: str
    line: Line
    rarity: float
    most: float = 0.0


def make_digest(
    messages: Sequence[tuple[int, Mapping[str, Any], bytes | None]],
    *,
    budget_tokens: int,
    count: Callable[[str], int],
    previous: Sequence[DigestLine] = (),
    shown: str = "",
) -> Digest:
    """Return the lines of assistant and tool messages that say most under a budget.

    Args:
        messages: (number, message, digest or None) of the messages that leave the context.
        budget_tokens: Limit for the text.
        count: Tokens of a text.
        previous: Lines of an earlier digest; they compete with the new ones, so that compressing
            again never summarises a summary.
        shown: Text that stands beside the digest; what it says already counts for little.
    """
    options = _options(messages, previous)
    weights, covered = _weights(options), frozenset(terms_in(shown))
    for option in options:
        option.most = _gain(option, weights, covered)
    chosen = _chosen(options, budget_tokens, weights, covered)
    used = count(rendered(_lines(chosen)))
    if 0 < used < FULL_SHARE * budget_tokens and len(chosen) < len(options):
        # Lines were estimated high, to be safe; what is left over is spent as well.
        stretched = int(budget_tokens * min(MAX_STRETCH, budget_tokens / used))
        chosen = _chosen(options, stretched, weights, covered)
    lines = _lines(chosen)
    text = rendered(lines)
    while lines and (found := count(text)) > budget_tokens:
        # The estimate was low; give back the last chosen, which say least.
        drop = max(1, int(len(chosen) * (found - budget_tokens) / found))
        chosen = chosen[:-drop]
        lines = _lines(chosen)
        text = rendered(lines)
    return Digest(text, tuple(lines))


def _lines(chosen: Sequence[_Option]) -> list[DigestLine]:
    """Return chosen lines in time order."""
    return [
        DigestLine(
            option.index, option.role, option.line.text, option.line.category, option.line.fields
        )
        for option in sorted(chosen, key=lambda option: option.index)
    ]


def rendered(lines: Sequence[DigestLine]) -> str:
    """Return lines as text: the number and role once per message, names of fields once in all."""
    out: list[str] = []
    before = None
    named: set[str] = set()
    for line in lines:
        if line.fields and line.fields not in named:
            named.add(line.fields)
            out.append(f"Records of {line.fields}:")
        if line.index != before:
            out.append(f"[{line.index} {line.role}] {line.text}")
        else:
            out.append(f"  {line.text}")
        before = line.index
    return "\n".join(out)


def _options(
    messages: Sequence[tuple[int, Mapping[str, Any], bytes | None]],
    previous: Sequence[DigestLine],
) -> list[_Option]:
    """Return every line once; the latest place of a line that stands in several counts."""
    found: dict[str, tuple[int, str, Line]] = {}
    for old in previous:
        source = {"role": "assistant" if old.role == "assistant" else "tool", "content": old.text}
        for line in candidates_of(source)[:1]:
            kept = replace(line, text=old.text, category=old.category, fields=old.fields)
            found[old.text] = (old.index, old.role, kept)
    for index, message, digest in messages:
        role = message.get("role")
        if role != "assistant" and not is_result(message):
            continue
        for line in candidates_of(message, digest=digest):
            found[line.text] = (index, "assistant" if role == "assistant" else "tool", line)
    rarities = rarity([line.look for _, _, line in found.values()])
    return [_Option(*place, rare) for place, rare in zip(found.values(), rarities, strict=True)]


def _weights(options: Sequence[_Option]) -> dict[str, float]:
    """Return what each term is worth: mentioned a few times is best, everywhere is noise."""
    spread = Counter(term for option in options for term, _ in option.line.terms)
    limit = max(12, len(options) // 50)
    return {
        term: 0.35 if uses > limit else 1.0 + 0.25 * math.log2(min(uses, 8))
        for term, uses in spread.items()
    }


def _chosen(
    options: Sequence[_Option],
    budget_tokens: int,
    weights: Mapping[str, float],
    shown: Collection[str],
) -> list[_Option]:
    """Return options in the order of choice: a share for errors and decisions, the rest for all."""
    covered = set(shown)
    left = budget_tokens
    chosen: list[_Option] = []
    taken: set[int] = set()
    for category, share in SHARES.items():
        some = [option for option in options if option.line.category == category]
        spent = _greedy(some, int(budget_tokens * share), weights, covered, chosen, taken)
        left -= spent
    _greedy(options, left, weights, covered, chosen, taken)
    return chosen


def _greedy(  # noqa: PLR0913, PLR0917 - one running choice, shared by its rounds
    options: Sequence[_Option],
    budget_tokens: int,
    weights: Mapping[str, float],
    covered: set[str],
    chosen: list[_Option],
    taken: set[int],
) -> int:
    """Take the best line again and again; returns the tokens spent."""
    heap = [
        (-option.most, position)
        for position, option in enumerate(options)
        if id(option) not in taken
    ]
    heapq.heapify(heap)
    spent = 0
    while heap:
        stale, position = heapq.heappop(heap)
        option = options[position]
        gain = _gain(option, weights, covered)
        if heap and gain < -stale - 1e-9 and gain < -heap[0][0]:
            heapq.heappush(heap, (-gain, position))
            continue
        cost = option.line.tokens + FRAME_TOKENS
        if gain <= 0 or spent + cost > budget_tokens:
            if spent + FRAME_TOKENS * 3 > budget_tokens:
                break
            continue
        spent += cost
        chosen.append(option)
        taken.add(id(option))
        covered.update(term for term, _ in option.line.terms)
    return spent


def _gain(option: _Option, weights: Mapping[str, float], covered: Collection[str]) -> float:
    """Return what a line adds per token."""
    line = option.line
    value = CATEGORY_BONUS[line.category]
    for term, weight in line.terms:
        value += weight * weights[term] * (COVERED_AGAIN if term in covered else 1.0)
    if option.role == "assistant":
        value *= SPOKEN_FACTOR
    return option.rarity * value / (line.tokens + FRAME_TOKENS)
