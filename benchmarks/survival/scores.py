"""What is looked for and how it is scored. Pure functions, no engine."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

Message = dict[str, Any]
Score = dict[str, float | int]


@dataclass(frozen=True)
class Needle:
    """Something that has to survive.

    Attributes:
        text: Counts as seen where it stands word for word.
        kind: Such as `error message` or `plain rule`.
        question: What somebody would ask who needs it; empty for rules.
    """

    text: str
    kind: str
    question: str = ""


@dataclass(frozen=True)
class Case:
    """A session with what is looked for in it.

    Attributes:
        name: Of the session.
        group: `recorded`, or how it was made, such as `coding, rules alone`.
        language: Of the people in it.
        messages: OpenAI chat messages.
        needles: What is looked for.
    """

    name: str
    group: str
    language: str
    messages: list[Message]
    needles: tuple[Needle, ...]


def text_of(message: Message) -> str:
    """Return everything of a message that a model reads."""
    content = message.get("content")
    parts = content if isinstance(content, list) else [{"text": content}]
    found = [part.get("text") for part in parts if isinstance(part, dict)]
    found.append(message.get("reasoning_content"))
    for call in message.get("tool_calls") or ():
        found += [call["function"]["name"], call["function"]["arguments"]]
    return "\n".join(text for text in found if isinstance(text, str))


def all_text(messages: Iterable[Message]) -> str:
    return "\n".join(map(text_of, messages))


def sees(text: str, answer: str) -> bool:
    """Return whether an answer stands in a text as it is, or as JSON writes it."""
    return answer in text or any(form in text for form in _as_json(answer))


def _as_json(answer: str) -> set[str]:
    forms = {json.dumps(answer, ensure_ascii=only_ascii)[1:-1] for only_ascii in (True, False)}
    return forms - {answer}


def squeezed(text: str) -> str:
    """Return a text without line breaks, marks of quotation and the space around them."""
    return re.sub(r"\s+", " ", re.sub(r"(?m)^[>\s]+", "", text)).strip()


def sees_sentence(text: str, sentence: str) -> bool:
    """Return whether a sentence stands in a text that `squeezed` made, however it was wrapped."""
    return sees(text, squeezed(sentence))


def score(found: int, of: int) -> Score:
    """Return a share with the counts that it comes from."""
    return {"found": found, "of": of, "share": round(found / of, 4) if of else 0.0}


def total(scores: Iterable[Score]) -> Score:
    """Return one score over all."""
    chosen = list(scores)
    return score(sum(int(s["found"]) for s in chosen), sum(int(s["of"]) for s in chosen))


def scored(needles: Sequence[Needle], is_seen: Callable[[Needle], bool]) -> dict[str, Any]:
    """Return the score over all needles and by kind, and what was not seen."""
    asked: Counter[str] = Counter(needle.kind for needle in needles)
    found: Counter[str] = Counter()
    lost: list[str] = []
    for needle in needles:
        if is_seen(needle):
            found[needle.kind] += 1
        else:
            lost.append(needle.text)
    kinds = {kind: score(found[kind], asked[kind]) for kind in sorted(asked)}
    return {"all": score(found.total(), len(needles)), "kinds": kinds, "lost": lost}


def merged(parts: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Return what `scored` gave for several cases as one, without the texts that were lost."""
    kinds: dict[str, list[Score]] = defaultdict(list)
    overall: list[Score] = []
    for part in parts:
        overall.append(part["all"])
        for kind, one in part["kinds"].items():
            kinds[kind].append(one)
    return {"all": total(overall), "kinds": {kind: total(s) for kind, s in sorted(kinds.items())}}


def is_marked(line: str, old: str) -> bool:
    """Return whether a line that holds an old sentence says that it was replaced."""
    at = line.find(old)
    return "(replaces: " in line[:at] or line[at + len(old) :].lstrip().startswith("[replaced in ")


def old_is_current(text: str, old: str) -> bool:
    """Return whether an old sentence stands anywhere in a text without a mark."""
    lines = [squeezed(line) for line in text.splitlines()]
    return any(old in line and not is_marked(line, old) for line in lines)


def has_mark(text: str, sentence: str) -> bool:
    """Return whether a sentence stands anywhere in a text with a mark that it was replaced."""
    lines = [squeezed(line) for line in text.splitlines()]
    return any(sentence in line and is_marked(line, sentence) for line in lines)


def language_of(text: str) -> str:
    """Return `Japanese`, `Chinese`, `Korean` or `other` by the letters of a text."""
    counts = {
        "Japanese": len(re.findall(r"[぀-ヿ]", text)),
        "Chinese": len(re.findall(r"[㐀-鿿]", text)),
        "Korean": len(re.findall(r"[가-힯]", text)),
    }
    letters = len(text) or 1
    if counts["Japanese"] > letters // 100:
        return "Japanese"
    best = max(counts, key=lambda name: counts[name])
    return best if counts[best] > letters // 100 else "other"
