"""Checks on what a summary model answers, before a word of it is believed.

An answer that cannot be used is a `SummarizerError`; one that can be mended is mended and says so.
Names that occur neither in the source nor in the record so far were invented and are struck out.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.errors import SummarizerError
from perdure.stock.inventions import SourceIndex, without_inventions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MIN_CHARS = 20
ECHO_SHARE = 0.8
SAMPLE_CHARS = 200
MAX_SAMPLES = 40
MAX_CHARS_PER_TOKEN = 16
"""An answer longer than this is cut before anything else looks at it."""
FORM_CHARS = 1_500
"""What the headings of a record may add to a source that is very short."""
CUT_NOTE = "[The rest of this summary was over its limit and is left out.]"

_THINKING = re.compile(
    r"<(think|thinking|thought|reasoning|scratchpad|analysis)>.*?(?:</\1>|\Z)"
    r"|\[THINK\].*?(?:\[/THINK\]|\Z)|◁think▷.*?(?:◁/think▷|\Z)",
    re.DOTALL | re.IGNORECASE,
)
# Templates that open the block themselves leave only its end in the answer.
_THOUGHT_END = re.compile(r"</(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"\A(```|~~~)[a-z]*\n(.*)\n\1\s*\Z", re.DOTALL)
_CALL = re.compile(
    r"\s*(?:<(?:\w{1,20}:)?(?:tool_calls?|function_calls?|invoke|tool_use)\b|<\|tool|\[TOOL_CALLS\])"
)
_CALL_KEYS = ({"name", "arguments"}, {"name", "parameters"}, {"name", "input"}, {"tool_calls"})
_REFUSAL = re.compile(
    r"\A\W{0,5}i (?:can(?:no|['’])t|am (?:unable|not able)|won['’]t|will not|must decline)"
    r"|\bi(?:['’]m| am) (?:unable|not able)\b|\bi (?:can(?:no|['’])t|won['’]t) "
    r"(?:help|assist|do|comply|summari[sz]e|provide|fulfil)"
    r"|\bas an ai\b|\bplease provide (?:the|a|me|more)\b"
    r"|\bno (?:transcript|conversation) (?:was|to)\b|我(?:无法|無法|不能|不可以)"
    r"|(?:无法|無法|不能)(?:总结|總結|提供|协助|協助|帮助|帮您|完成)|作为(?:一个)?ai"
    r"|(?:お手伝い|要約|対応|回答|お答え|提供)"
    r"(?:する|こと|は|を|が|も){0,5}でき(?:ません|ない|かねます)|いたしかねます"
    r"|(?:할|드릴|도울|도와드릴) 수 없|불가능합니다"
    r"|\bno (?:puedo|me es posible)\b"
    r"|\bkann (?:ich )?(?:\w{1,10} ){0,3}nicht\b|nicht möglich\b"
    r"|\bne (?:peux|suis|saurais) pas\b|\bn['’]est pas possible\b"
    r"|\bnão (?:posso|consigo|é possível)\b"
    r"|\bне (?:могу|смогу|в состоянии)\b",
    re.IGNORECASE,
)
_APOLOGY = re.compile(
    r"\A\W{0,5}(?:i(?:['’]m| am)? (?:very |so |truly )?(?:sorry|apologi[sz]e)|sorry,|apologies|"
    r"unfortunately|i (?:can(?:no|['’])t|won['’]t|am|must)|as an ai|"
    r"(?:很|非常)?抱歉|对不起|對不起|(?:很)?遗憾|我(?:无法|無法|不能)|"
    r"申し訳|すみません|残念|죄송|유감|미안|lo siento|lamento|no puedo|perdón|"
    r"es tut mir|tut mir|entschuldig|leider|ich kann|désolée?|je (?:suis désolée?|regrette|ne)|"
    r"malheureusement|desculpe|sinto muito|infelizmente|não posso|извините|к сожалению|простите|"
    r"я не|please provide|no )",
    re.IGNORECASE,
)
_MAX_REFUSAL_CHARS = 600
# Marks of chat templates, and the sentences by which text takes over an agent that reads it.
_ORDER = re.compile(
    r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|eot_id)\|>"
    r"|\[/?INST\]|<</?SYS>>"
    r"|^\W{0,6}(?:system|developer)\W{0,4}[:：]\s"
    r"|\b(?:ignore|disregard|forget|override) (?:all |any )?(?:of )?(?:the |your |my |these )?"
    r"(?:previous|prior|above|earlier|preceding)\b(?: \w{1,20}){0,2} "
    r"(?:instructions?|messages?|prompts?|rules|commands?|directions|guidelines|context)\b"
    r"|\b(?:ignore|disregard|forget) (?:everything|all|the) (?:of the )?above\b"
    r"|(?:^|[.!?]\s)\W{0,4}(?:ignore|disregard|disobey) (?:the|your) (?:user|human|owner)\b"
    r"|\b(?:you|the (?:assistant|agent|model)) must (?:now )?obey\b"
    r"|(?:^|[.!?]\s)\W{0,4}system\s?[:：]\s"
    r"|\byou are now (?:a|an|the|acting|in (?:developer|debug|admin|god)|dan|free|unrestricted)\b"
    r"|\bnew (?:system )?instructions?\s?:"
    r"|\b(?:reveal|print|repeat) (?:your|the) (?:system )?prompt\b"
    r"|(?:忽略|无视|無視|忘记|忘記|不要理会)(?:之前|以上|上面|上述|先前|前面|所有|一切)"
    r"[^。\n]{0,8}(?:指令|指示|命令|提示|要求|规则|規則)|你现在是一个"
    r"|(?:以前|上記|これまで|前|今まで)の(?:すべての)?(?:指示|命令|プロンプト)"
    r"[をは](?:すべて)?(?:無視|忘れ)"
    r"|(?:이전|위의?|앞의?|모든) (?:모든 )?(?:지시|명령|지침)(?:사항)?"
    r"[을를]? ?(?:모두 )?(?:무시|잊)"
    r"|\b(?:ignora|ignore|olvida|esqueça|desconsidere) (?:todas )?(?:las|as) instru[cç]"
    r"|\bignorier(?:e|en sie|t) (?:alle )?(?:die )?(?:vorherigen|bisherigen|obigen|vorigen)"
    r"|\bvergiss (?:alle|die) (?:vorherigen|bisherigen)"
    r"|\b(?:ignorez|ignore|oubliez|oublie) (?:toutes )?(?:les|tes|vos) (?:instructions|consignes)"
    r"|\b(?:игнорируй|забудь|проигнорируй)(?:те)? (?:все )?(?:предыдущ|прежн|указани|инструкц)",
    re.IGNORECASE | re.MULTILINE,
)
_SPEAKER = re.compile(
    r"^(\W{0,4})(user|human|assistant)(\*{0,2})\s?[:：]\s", re.IGNORECASE | re.MULTILINE
)
_WORDISH = re.compile(r"\w")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s|(?<=[。！？；])")
_TOOL_REASONS = frozenset({"tool_calls", "tool_use", "function_call", "malformed_function_call"})
_REFUSAL_REASONS = frozenset({"content_filter", "refusal", "safety", "prohibited_content"})
_LENGTH_REASONS = frozenset(
    {"length", "max_tokens", "model_length", "max_output_tokens", "model_context_window_exceeded"}
)


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
    source_texts: Iterable[str] | SourceIndex,
    previous: str,
    finish_reason: str,
    count: Callable[[str], int],
    max_tokens: int,
) -> CheckedSummary:
    """Return an answer that may be used.

    Args:
        text: What the model wrote.
        source_texts: What it was asked to summarise; an index when it is asked more than once.
        previous: The record so far.
        finish_reason: As providers say it.
        count: Tokens of a text.
        max_tokens: Limit that the model was told.

    Raises:
        SummarizerError: `failure` is empty, truncated, refused or malformed.
    """
    index = source_texts if isinstance(source_texts, SourceIndex) else SourceIndex(source_texts)
    answer = _bare(text)
    _refuse_unusable(answer, finish_reason.lower())
    _refuse_copies(answer, index, previous)
    problems: list[str] = []
    kept = without_orders(answer)
    if kept != answer:
        problems.append("lines that gave orders were taken out of the summary")
        if len(kept.strip()) < MIN_CHARS:
            raise _unusable("malformed", "is made of orders to the reader")
    kept, struck = without_inventions(_reported(kept), [index, SourceIndex([previous])])
    if struck:
        problems.append(f"{len(struck)} invented names were struck out of the summary")
    cut = shortened(kept, max_tokens, count)
    if cut != kept:
        problems.append("the summary was over its limit and was cut")
    return CheckedSummary(defuse(cut), struck, tuple(problems))


def _refuse_unusable(answer: str, finish_reason: str) -> None:
    if finish_reason in _TOOL_REASONS or is_call(answer):
        raise _unusable("malformed", "called a tool instead of writing")
    is_filtered = finish_reason in _REFUSAL_REASONS
    if not is_filtered and (len(answer) < MIN_CHARS or not _WORDISH.search(answer)):
        if finish_reason in _LENGTH_REASONS:
            raise _unusable("truncated", "was cut off by the token limit before it began")
        if not is_refusal(answer):
            raise _unusable("empty", "is empty, or reasoning only")
    if is_filtered or is_refusal(answer):
        raise _unusable("refused", f"is a refusal: {answer[:80]!r}")
    if finish_reason in _LENGTH_REASONS:
        raise _unusable("truncated", "was cut off by the token limit")


def _refuse_copies(answer: str, source: SourceIndex, previous: str) -> None:
    if any(is_echo(answer, text) for text in source.texts):
        raise _unusable("malformed", "repeats its input")
    given = sum(map(len, source.texts)) + len(previous)
    if len(answer) > given + FORM_CHARS:
        found = f"is longer ({len(answer):,} characters) than what it summarises ({given:,})"
        raise _unusable("malformed", found)


def _unusable(failure: str, what: str) -> SummarizerError:
    return SummarizerError(f"the summary model's answer {what}", failure=failure)


def _bare(text: str) -> str:
    """Return the answer without reasoning and without a code fence around the whole."""
    answer = _THINKING.sub("", text)
    *_, answer = _THOUGHT_END.split(answer)
    answer = answer.strip()
    fenced = _FENCE.match(answer)
    return fenced[2].strip() if fenced else answer


def is_call(answer: str) -> bool:
    """Return whether an answer is a tool call that was written as text."""
    if _CALL.match(answer):
        return True
    if not answer.startswith(("{", "[")):
        return False
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return False
    first = value[0] if isinstance(value, list) and value else value
    return isinstance(first, dict) and any(keys <= first.keys() for keys in _CALL_KEYS)


def is_refusal(text: str) -> bool:
    """Return whether a short text declines the task: it begins so, and says that it cannot."""
    if len(text) > _MAX_REFUSAL_CHARS:
        return False
    return _APOLOGY.search(text) is not None and _REFUSAL.search(text) is not None


def is_echo(answer: str, source: str) -> bool:
    """Return whether most of an answer is its input, word for word.

    Looked at in samples, so that the cost does not grow with the product of both lengths.
    """
    if len(answer) < 2 * SAMPLE_CHARS:
        return False
    step = max(SAMPLE_CHARS, (len(answer) - SAMPLE_CHARS) // MAX_SAMPLES)
    starts = range(0, len(answer) - SAMPLE_CHARS + 1, step)
    found = sum(answer[start : start + SAMPLE_CHARS] in source for start in starts)
    return found >= ECHO_SHARE * len(starts)


def without_orders(text: str) -> str:
    """Return the text without lines that give orders to a reader or play the system."""
    if not _ORDER.search(text):
        return text
    return "\n".join(line for line in text.split("\n") if not _ORDER.search(line))


def _reported(text: str) -> str:
    """Return the text with lines that play a speaker turned into reports of what was said."""
    return _SPEAKER.sub(lambda found: f"{found[1]}{found[2]}{found[3]} said: ", text)


def shortened(text: str, max_tokens: int, count: Callable[[str], int]) -> str:
    """Return the text cut at a line, else at a sentence, so that it has at most `max_tokens`.

    A note says that something is missing where there is room for one.
    """
    likely = text[: max(0, max_tokens) * MAX_CHARS_PER_TOKEN]
    if likely == text and count(text) <= max_tokens:
        return text
    room = max_tokens - count(CUT_NOTE) - 2
    for parts in (likely.splitlines(keepends=True), _SENTENCE_END.split(likely)):
        kept = _most(parts, room, count).rstrip()
        if kept:
            return f"{kept}\n{CUT_NOTE}"
    return _most(list(likely), max_tokens, count)


def _most(parts: list[str], max_tokens: int, count: Callable[[str], int]) -> str:
    """Return as many parts as fit, joined."""
    low, high = 0, len(parts)
    while low < high:
        middle = (low + high + 1) // 2
        if count("".join(parts[:middle])) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return "".join(parts[:low])


# ------------------------------------------------------------------------------- fences


def fence(text: str, nonce: str, *, label: str = "data") -> str:
    """Return text as data between one-time markers that it cannot close.

    Args:
        text: Text of any origin.
        nonce: A random string made for this question.
        label: What the data is, for the model.
    """
    return f"<<<{label} {nonce}>>>\n{defuse(text.replace(nonce, ''))}\n<<<end {label} {nonce}>>>"


def defuse(text: str) -> str:
    """Return text that cannot pass for one of our markers or fences."""
    text = text.replace("<<<", "‹‹‹").replace(">>>", "›››")
    return text.replace("[Perdure handoff", "[(Perdure handoff").replace(
        "[End of Perdure handoff", "[(End of Perdure handoff"
    )
