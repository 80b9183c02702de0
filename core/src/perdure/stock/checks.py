"""Checks on what a summary model answers, before a word of it is believed.

An answer that cannot be used is a `SummarizerError`; one that can be mended is mended and says so.
Names that occur neither in the source nor in the record so far were invented and are struck out.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.errors import SummarizerError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

STRUCK = "[?]"
MIN_CHARS = 20
ECHO_SHARE = 0.8
SAMPLE_CHARS = 200

_THINKING = re.compile(r"<(think|thinking|reasoning|scratchpad)>.*?(?:</\1>|\Z)", re.DOTALL)
_FENCE = re.compile(r"\A```[a-z]*\n(.*)\n```\s*\Z", re.DOTALL)
_REFUSAL = re.compile(
    r"\A\W{0,5}(?:"
    r"(?:i['’]?m |i am )?(?:very |so )?sorry\b|"
    r"i (?:can(?:no|['’])t|am unable|won['’]t|must decline)|"
    r"as an ai\b|unfortunately,? i (?:can|am)|抱歉|对不起|很遗憾|我无法|我不能|"
    r"申し訳|すみません|お手伝いできません|죄송|유감|lo siento|no puedo|"
    r"es tut mir leid|entschuldigung|"
    r"ich kann (?:dir|ihnen|das)? ?nicht|désolée?|je suis désolée?|je ne peux pas|"
    r"desculpe|sinto muito|não posso|извините|к сожалению|простите|я не могу)",
    re.IGNORECASE,
)
_MAX_REFUSAL_CHARS = 600
_ORDER = re.compile(
    r"ignore (?:all |any )?(?:the )?(?:previous|prior|above|earlier) (?:instructions|messages)|"
    r"disregard (?:all |any )?(?:previous|prior|the above)|you are now\b|new instructions?:|"
    r"^\s{0,3}(?:system|assistant|user|human)\s{0,2}:\s|<\|im_start\|>|\[/?INST\]|<<SYS>>|"
    r"(?:忽略|无视)(?:之前|以上|所有)|(?:以前|上記)の指示を無視|이전 지시를? 무시|"
    r"ignora (?:todas )?(?:las|as|le) instruc|"
    r"ignorier(?:e|en sie) (?:alle )?(?:vorherigen|bisherigen)|"
    r"ignore[zr]? (?:toutes )?les instructions|игнорируй(?:те)? (?:все )?предыдущие",
    re.IGNORECASE | re.MULTILINE,
)
# What a model must not invent: urls, paths, hashes, identifiers with digits, numbers that matter.
_NAME = re.compile(
    r"https?://[^\s<>()\[\]\"'`,;]{3,300}"
    r"|(?<![\w./-])/?(?:[\w.-]{1,80}/){1,20}[\w.-]{1,80}"
    r"|\b[A-Za-z]:\\(?:[\w.-]{1,80}\\){0,20}[\w.-]{1,80}"
    r"|\b(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b"
    r"|\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}\b"
    r"|(?<![\w.])[0-9][0-9,._]{0,20}[0-9](?![\w])",
)
_WORDISH = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class CheckedSummary:
    """An answer that may be used.

    Attributes:
        text: The answer, mended.
        struck: Names that were invented and are now `[?]`.
        problems: Sentences about what was mended.
    """

    text: str
    struck: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()


def check_summary(  # noqa: PLR0913 - an answer and everything it is held against
    text: str,
    *,
    source_texts: Iterable[str],
    previous: str,
    finish_reason: str,
    count: Callable[[str], int],
    max_tokens: int,
) -> CheckedSummary:
    """Return an answer that may be used.

    Args:
        text: What the model wrote.
        source_texts: What it was asked to summarise.
        previous: The record so far.
        finish_reason: As providers say it.
        count: Tokens of a text.
        max_tokens: Limit that the model was told.

    Raises:
        SummarizerError: `failure` is empty, truncated, refused or malformed.
    """
    source = "\n".join(source_texts)
    if finish_reason in ("tool_calls", "tool_use", "function_call"):
        raise _unusable("malformed", "called a tool instead of writing")
    answer = _bare(text)
    if len(answer) < MIN_CHARS or not _WORDISH.search(answer):
        raise _unusable("empty", "is empty, or reasoning only")
    if finish_reason in ("content_filter", "refusal") or is_refusal(answer):
        raise _unusable("refused", f"is a refusal: {answer[:80]!r}")
    if finish_reason in ("length", "max_tokens"):
        raise _unusable("truncated", "was cut off by the token limit")
    if is_echo(answer, source) and count(answer) > max_tokens:
        raise _unusable("malformed", "repeats its input")
    problems: list[str] = []
    kept = without_orders(answer)
    if kept != answer:
        problems.append("lines that gave orders were taken out of the summary")
        if len(kept.strip()) < MIN_CHARS:
            raise _unusable("malformed", "is made of orders to the reader")
    kept, struck = without_inventions(kept, [source, previous])
    if struck:
        problems.append(f"{len(struck)} invented names were struck out of the summary")
    cut = shortened(kept, max_tokens, count)
    if cut != kept:
        problems.append("the summary was over its limit and was cut at a line")
    return CheckedSummary(defuse(cut), struck, tuple(problems))


def _unusable(failure: str, what: str) -> SummarizerError:
    return SummarizerError(f"the summary model's answer {what}", failure=failure)


def _bare(text: str) -> str:
    """Return the answer without reasoning and without a code fence around the whole."""
    answer = _THINKING.sub("", text).strip()
    fenced = _FENCE.match(answer)
    return fenced[1].strip() if fenced else answer


def is_refusal(text: str) -> bool:
    """Return whether a short text declines the task."""
    return len(text) <= _MAX_REFUSAL_CHARS and _REFUSAL.search(text) is not None


def is_echo(answer: str, source: str) -> bool:
    """Return whether most of an answer is its input, word for word.

    Looked at in samples, so that the cost does not grow with the product of both lengths.
    """
    if len(answer) < 2 * SAMPLE_CHARS:
        return False
    samples = [
        answer[i : i + SAMPLE_CHARS] for i in range(0, len(answer) - SAMPLE_CHARS, SAMPLE_CHARS * 5)
    ]
    found = sum(sample in source for sample in samples)
    return found >= ECHO_SHARE * len(samples)


def without_orders(text: str) -> str:
    """Return the text without lines that give orders to a reader or play another role."""
    return "\n".join(line for line in text.split("\n") if not _ORDER.search(line))


def without_inventions(text: str, sources: Iterable[str]) -> tuple[str, tuple[str, ...]]:
    """Return the text with names struck out that occur in no source, and those names."""
    known = "\n".join(sources)
    names = {match[0].rstrip(".,") for match in _NAME.finditer(text)}
    held = set(_NAME.findall(known))
    invented = {name for name in names if name not in held and name not in known}
    invented = {name for name in invented if not _is_small(name)}
    if not invented:
        return text, ()
    struck: list[str] = []

    def replaced(match: re.Match[str]) -> str:
        name = match[0].rstrip(".,")
        if name not in invented:
            return match[0]
        struck.append(name)
        return STRUCK + match[0][len(name) :]

    return _NAME.sub(replaced, text), tuple(dict.fromkeys(struck))


def _is_small(name: str) -> bool:
    """Return whether a number is one that people count with, such as 12."""
    return name.isdigit() and len(name) <= 2


def shortened(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the text cut at a line so that it has at most `max_tokens`."""
    if count(text) <= max_tokens:
        return text
    lines = text.split("\n")
    low, high = 0, len(lines)
    while low < high:
        middle = (low + high + 1) // 2
        if count("\n".join(lines[:middle])) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    if low:
        return "\n".join(lines[:low])
    share = max_tokens / max(1, count(text))
    return text[: max(1, int(len(text) * share * 0.9))]


def defuse(text: str) -> str:
    """Return text that cannot pass for one of our markers or fences."""
    text = text.replace("<<<", "‹‹‹").replace(">>>", "›››")
    return text.replace("[Perdure handoff", "[(Perdure handoff").replace(
        "[End of Perdure handoff", "[(End of Perdure handoff"
    )
