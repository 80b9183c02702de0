"""The lines of one message that could carry a fact, with what makes them worth keeping.

A pure function of the message, remembered by its digest: a session is compacted many times, its
messages are scanned once.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from perdure.known import Known
from perdure.messages import (
    call_arguments,
    call_name,
    is_result,
    text_of,
    tool_calls_of,
)
from perdure.messages import (
    digest as digest_of,
)
from perdure.stock.digest.forms import Look, earlier_alike, form_of, look_of
from perdure.stock.redact import redact
from perdure.tokens.estimate import estimate_tokens

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

MAX_LINE_CHARS = 320
MAX_JSON_CHARS = 400_000
MAX_SCAN_CHARS = 400_000
KEPT_PER_RESULT = 10
KEPT_PER_TEXT = 24
BYTES_PER_TOKEN = 3.6
FIELD_WEIGHT = 1.5
"""What each value of a record is worth: structured data holds facts and little else."""
_FIELD_CHARS = range(2, 61)
_MIN_FIELDS = 3

# What a line is kept for, most telling first; the name of the group is its class. Words are those
# of ASCII, so that a name ends where Chinese, Japanese or Korean text goes on without a blank.
_TERM = re.compile(
    # Plain words come first: no term begins in them, and most text is made of them.
    r"(?P<plain>(?:\b[A-Z]?[a-z]{1,30}(?![\w/@~+-]|\.\S|[ \t]{0,8}[:=])[ \t,;()]{0,8}){1,40})"
    r"|(?P<url>https?://[^\s<>()\"'`\]]{4,200})"
    r"|(?P<ticket>\b[A-Z][A-Z0-9]{1,9}-[0-9]{1,7}\b|(?<!\w)#[0-9]{1,7}\b)"
    r"|(?P<uuid>\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b)"
    r"|(?P<path>(?<![\w/])[\w.@~-]{0,80}/[\w./@-]{2,160}|\b[\w-]{2,60}\.(?:py|go|ts|tsx|js|jsx|rs|"
    r"java|rb|c|h|cpp|cs|php|sh|sql|md|json|ya?ml|toml|txt|html|css|log|cfg|ini|xml|csv|tf)\b)"
    r"|(?P<mail>\b[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}\b)"
    r"|(?P<hash>\b(?=[0-9a-f]{0,40}[0-9])(?=[0-9a-f]{0,40}[a-f])[0-9a-f]{7,64}\b)"
    r"|(?P<code>\b[A-Z]{1,6}[0-9][A-Z0-9]{2,14}\b|\b[A-Z0-9]{5,12}(?<=[0-9][A-Z])\b)"
    r"|(?P<setting>\b[A-Za-z_][\w.-]{2,60}[ \t]{0,8}(?::=|=|:)[ \t]{0,4}(?:-?[0-9][\w.]{0,20}"
    r"(?:\s?\*\s?[\w.]{1,40})?|true|false|True|False|[\"'][^\"'\n]{1,60}[\"']))"
    r"|(?P<constant>\b[A-Z][A-Z0-9]{1,30}(?:_[A-Z0-9]{1,30})+\b)"
    r"|(?P<quantity>[$€£¥]\s?[0-9][0-9.,]*|\b[0-9][0-9.,:]*\s?(?:%|ms|s|sec|seconds?|min|minutes?|h|"
    r"hours?|days?|weeks?|[KMGT]i?B|bytes?|px|USD|EUR|tokens?|chars?|lines?)(?!\w)|\b[0-9][0-9.,:]*\s?"
    r"(?:[元円圆分秒天日月年人名位件个個つ次回条项項页頁章行種种台枚本层階号倍割米]|小时|時間|公里|千米|万|"
    r"원|분|초|시간|개|명|회|번|건|년|월|일|мин|сек|час|дн|руб))"
    r"|(?P<name>\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b|\b[a-z0-9]+(?:_[a-z0-9]+)+\b)"
    r"|(?P<number>\b[0-9]+(?:[.,:-][0-9]+)+\b|\b[0-9]{3,}\b)"
    r"|(?P<quoted>[\"“「『《`][^\"”」』》`\n]{2,80}[\"”」』》`])"
    r"|(?P<place>[\u4e00-\u9fff]{2,24}(?:[路街道巷号站店馆区市县镇村楼层园寺山湖桥口院校室]|大厦|酒店)"
    r"[0-9A-Za-z\u4e00-\u9fff]{0,12})"
    r"|(?P<kana>[\u30a1-\u30ff]{4,})",
    re.ASCII,
)
WEIGHTS = {
    "url": 2.0,
    "ticket": 3.0,
    "uuid": 1.6,
    "path": 1.5,
    "mail": 2.2,
    "hash": 1.4,
    "code": 2.4,
    "setting": 2.0,
    "constant": 2.0,
    "quantity": 2.0,
    "name": 1.1,
    "number": 1.2,
    "quoted": 1.5,
    "place": 1.2,
    "kana": 0.8,
}
# Both are looked for in lower case, which is twice as fast as a pattern that ignores case.
_ERROR = re.compile(
    r"\b(?:error|exception|traceback|failed|failure|fatal|panic|denied|refused|not found|cannot|"
    r"undefined|unexpected|invalid|timed? ?out|no such|unable to|missing|conflict|abort|segfault|"
    r"segmentation fault|core dumped|oom[- ]?killed|out of memory|bus error|stack overflow|"
    r"exit (?:code|status) [1-9])|(?<=\w\w)(?:error|exception)\b|错误|失败|异常|無効|エラー|失敗|"
    r"見つかりません|できません|欠けて|不正|無法|无法|找不到|缺少|拒绝|"
    r"오류|실패|ошибка|fehler|échec|erreur|fallo|erro\b",
    re.ASCII,
)
_DECISION = re.compile(
    r"\b(?:because|instead(?: of)?|therefore|decided?|decision|chose|choose|will use|going with|"
    r"should (?:use|be)|rather than|root cause|"
    r"the (?:fix|issue|problem|reason|solution) (?:is|was)|"
    r"turns out|confirmed|agreed|so that|fixed by|resolved by|recommend|prefer|default(?:s)? to|"
    r"porque|en lugar de|decid|deshalb|stattdessen|entschied|weil|parce que|au lieu de|décid)|"
    r"потому что|вместо|решил|因为|所以|决定|改为|采用|选择|原因是|推荐|ため|理由|決定|代わりに|"
    r"採用|方針|判断|変更し|必要です|ことにし|に基づき|때문|대신|결정|变更|需要|应该",
    re.ASCII,
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-ZÀ-ÞА-Я\"'(\[])|(?<=[。！？；])")
# A line that is only a key with a text, as in metadata of pages and settings of tools.
_MARKUP = re.compile(r"\s*\\?[\"'][\w:@.$-]{1,60}\\?[\"']\s*:\s*(?:\\?[\"'].*|[\w.{\[-]+,?)\s*\Z")
_MARKUP_WEIGHT = 0.35
_LINE_NUMBER = re.compile(r"\s*\d{1,6}(?:\t|→|\s?[|│:]\s|\s{2,})")
_NOISE = re.compile(r"[\s\W_]*\Z|\s*[{}\[\]();,]+\s*\Z")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True, slots=True)
class Line:
    """A line that could be kept.

    Attributes:
        text: The line, secrets redacted.
        category: `error`, `decision` or `fact`.
        terms: What it is kept for, with their weights.
        tokens: Estimated tokens, the line break included.
        look: Its form and words, for comparing it with others.
        fields: Names of the values when the line is a record whose values stand without them.
    """

    text: str
    category: str
    terms: tuple[tuple[str, float], ...]
    tokens: int
    look: Look
    fields: str = ""


class Row(NamedTuple):
    """A line on its way in: of a text, or of structured data with its values."""

    text: str
    values: tuple[str, ...] = ()
    fields: str = ""


class _Judged(NamedTuple):
    text: str
    category: str
    terms: dict[str, float]
    fields: str

    @property
    def density(self) -> float:
        """Its worth by its size in bytes: most lines are never counted in tokens."""
        bonus = {"error": 2.5, "decision": 2.0}.get(self.category, 0.0)
        size = len(self.text.encode("utf-8", "surrogatepass"))
        return (bonus + sum(self.terms.values())) / (size / BYTES_PER_TOKEN + 8)

    def line(self) -> Line:
        """Return the line with what choosing it needs."""
        tokens = estimate_tokens(self.text) + 1
        terms = tuple(self.terms.items())
        return Line(self.text, self.category, terms, tokens, look_of(self.text), self.fields)


# More messages than a session sends: what is in a handoff already is not scanned again.
_known: Known[tuple[Line, ...]] = Known(4_096)


def candidates_of(message: Mapping[str, Any], *, digest: bytes | None = None) -> tuple[Line, ...]:
    """Return the lines of a message that could carry a fact, in their order.

    Args:
        message: An assistant message or a tool result; what users type is the ledger's business.
        digest: `messages.digest(message)` when the caller has it already.
    """
    key = digest or digest_of(message)
    known = _known.get(key)
    if known is None:
        known = tuple(judged.line() for judged in _best(message))
        _known.put(key, known)
    return known


def _best(message: Mapping[str, Any]) -> list[_Judged]:
    """Return the densest lines, in their order."""
    is_tool = is_result(message)
    # Secrets go first: a key that is spread over lines cannot be told by one of them.
    rows = _split(redact(text_of(message)[:MAX_SCAN_CHARS]), is_tool=is_tool)
    lines = [line for row in rows if (line := _judged(row, is_tool=is_tool))]
    for call in tool_calls_of(message):
        lines += _of_call(call)
    limit = KEPT_PER_RESULT if is_tool else KEPT_PER_TEXT
    if len(lines) <= limit:
        return lines
    alike = earlier_alike([form_of(line.text) for line in lines])
    order = sorted(range(len(lines)), key=lambda i: (-lines[i].density / (1 + alike[i]), i))
    return [lines[i] for i in sorted(order[:limit])]


def _of_call(call: Mapping[str, Any]) -> list[_Judged]:
    """Return what a call says: its short arguments, one line."""
    try:
        arguments = json.loads(redact(call_arguments(call)))
    except (ValueError, RecursionError):
        return []
    if not isinstance(arguments, dict):
        return []
    shown = [
        f"{key}={value}"
        for key, value in arguments.items()
        if isinstance(value, (str, int, float)) and len(str(value)) <= MAX_LINE_CHARS // 2
    ]
    line = _judged(Row(f"{call_name(call)}({', '.join(shown)})"), is_tool=True)
    long = [v for v in arguments.values() if isinstance(v, str) and len(v) > MAX_LINE_CHARS // 2]
    found = [line] if line else []
    for value in long:
        judged = (_judged(row, is_tool=True) for row in _split(value[:20_000], is_tool=True))
        found += sorted(filter(None, judged), key=lambda item: -item.density)[:4]
    return found


def _judged(row: Row, *, is_tool: bool) -> _Judged | None:
    """Return a line with what it is worth, or nothing."""
    text = row.text
    if is_tool and (number := _LINE_NUMBER.match(text)):
        text = text[number.end() :]
    text = " ".join(text.split())
    if len(text) < 8 or _NOISE.match(text) or not _LETTER.search(text):
        return None
    terms = terms_in(text)
    for value in row.values:
        terms.setdefault(value, FIELD_WEIGHT)
    lower = text.lower()
    category = "fact"
    if _ERROR.search(lower):
        category = "error"
    elif not is_tool and _DECISION.search(lower):
        category = "decision"
    if not terms and category == "fact":
        return None
    if is_tool and category == "fact" and _MARKUP.match(text):
        terms = {term: weight * _MARKUP_WEIGHT for term, weight in terms.items()}
    return _Judged(text[:MAX_LINE_CHARS], category, terms, row.fields)


def terms_in(text: str) -> dict[str, float]:
    """Return what a text is worth keeping for, with weights."""
    terms: dict[str, float] = {}
    for found in _TERM.finditer(text):
        kind = found.lastgroup
        if kind is not None and kind != "plain":
            terms.setdefault(found[0].strip('"“”`'), WEIGHTS[kind])
    return terms


def _split(text: str, *, is_tool: bool) -> Iterable[Row]:
    stripped = text.lstrip()
    if is_tool and stripped[:1] in "{[" and len(text) <= MAX_JSON_CHARS:
        try:
            return list(_rows(json.loads(stripped)))
        except (ValueError, RecursionError):
            pass
    return _lines(text)


def _lines(text: str) -> Iterator[Row]:
    """Yield lines; longer ones as sentences, and those in windows."""
    for line in text.splitlines():
        if len(line) <= MAX_LINE_CHARS:
            yield Row(line)
            continue
        for sentence in _SENTENCE_END.split(line[:20_000]):
            for start in range(0, len(sentence), MAX_LINE_CHARS):
                yield Row(sentence[start : start + MAX_LINE_CHARS])


def _rows(value: object, prefix: str = "", *, is_record: bool = False) -> Iterator[Row]:
    """Yield JSON as rows: the leaves of each object on one line, nested ones after it."""
    if isinstance(value, dict):
        plain = {k: v for k, v in value.items() if not isinstance(v, (dict, list))}
        yield from _leaves(plain, prefix, is_record=is_record)
        for key, inner in value.items():
            if isinstance(inner, (dict, list)):
                yield from _rows(inner, f"{key}: ")
    elif isinstance(value, list):
        items = [str(item) for item in value if not isinstance(item, (dict, list))]
        if items:
            yield from _lines(prefix + ", ".join(items))
        for item in value:
            if isinstance(item, (dict, list)):
                yield from _rows(item, prefix, is_record=True)
    else:
        yield from _lines(f"{prefix}{value}")


def _leaves(leaves: Mapping[str, object], prefix: str, *, is_record: bool) -> Iterator[Row]:
    """Yield the leaves of an object; those of one among many have their names given apart."""
    held = {name: str(value) for name, value in leaves.items() if value is not None}
    if not held:
        return
    named = f"{prefix}{', '.join(f'{name}: {value}' for name, value in held.items())}"
    bare = ", ".join(held.values())
    values = tuple(value for value in held.values() if len(value) in _FIELD_CHARS)
    if len(held) < _MIN_FIELDS or len(bare) > MAX_LINE_CHARS or "\n" in bare:
        yield from _lines(named)
    elif is_record:
        yield Row(bare, values, ", ".join(held))
    elif len(named) > MAX_LINE_CHARS:
        yield from _lines(named)
    else:
        yield Row(named, values)
