"""Strings that must not be retyped from memory: codes, tickets, ids, hashes, constants, addresses.

Text is cut into tokens in one scan; a token is classified once however often it stands there.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS: tuple[str, ...] = (
    "code",
    "ticket",
    "uuid",
    "hash",
    "constant",
    "setting",
    "number",
    "email",
    "url",
    "host",
    "version",
)
"""Classes of identifiers, in the order in which room is given to them."""

_TOKEN = re.compile(r"[A-Za-z0-9_#$€£¥@][\w@#:/.+%&=?~\-]+", re.ASCII)
_NUMBER_WITH_UNIT = re.compile(
    r"\d[\d,.]{0,20}\s?(?:%|ms|secs?|seconds|minutes|mins?|hours|days|[KMGT]i?B|bytes|tokens|px|"
    r"km|kg|USD|EUR|GBP|JPY|元|円|원|万|美元|公里|分钟|小时|時間|분|시간)(?![A-Za-z])"
)
# A number that is given a name: `limit = 100`, `"port": 8080`. The name stands before the match.
_ASSIGNED = re.compile(r"[:=]=?[ \t]{1,8}\d[\w.]{0,30}(?: \* [\w.]{1,30})?|=\d[\w.]{0,30}")
# Of `retries: int = 3` the name is `retries`, not the type.
_NAME_BEFORE = re.compile(
    r"(?:[A-Za-z_]\w{1,40}: ?(?=(?:int|float|number)\b))?[A-Za-z_][\w.-]{2,40}[\"']?[ \t]{0,8}$"
)
_PROGRESS = re.compile(r"\[ {0,2}\d{1,3}%\]")
# One pattern for all classes; the first that fits the whole token decides.
_CLASS = re.compile(
    r"(?P<url>[a-z][a-z0-9+.-]{1,12}://\S{3,})"
    r"|(?P<email>[\w.+%-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+)"
    r"|(?P<uuid>[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})"
    r"|(?P<ticket>#\d{1,7}|[A-Z][A-Z0-9]{1,9}-\d{1,7}|(?:GH|PR|MR|CVE)[-#]?\d[\d-]{1,12})"
    r"|(?P<hash>(?=\w{0,64}\d)(?=\w{0,64}[a-f])(?:[0-9a-f]{7,12}|[0-9a-f]{32}|[0-9a-f]{40}"
    r"|[0-9a-f]{64})|sha\d+:\w{6,128})"
    r"|(?P<host>(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?|localhost:\d{2,5}"
    r"|(?:[a-z0-9-]{1,63}\.){1,6}(?:com|net|org|io|dev|local|internal|cloud|app|ai|corp|lan|edu"
    r"|gov|de|fr|jp|cn|kr|uk)(?::\d{1,5})?)"
    r"|(?P<code>[A-Z]{1,6}\d{2,8}[A-Z]?|(?=[A-Z0-9]*\d)(?=[A-Z0-9]*[A-Z])[A-Z0-9]{5,16}"
    r"|E[A-Z]{4,16}|0x[0-9a-fA-F]{2,16}|[a-z]{2,20}(?:[_-][a-z]{2,20}){0,4}[_-]\d{2,12}"
    r"|[A-Za-z]+_[A-Z0-9]{6,}|\d{5,16}|\d{2,4}-\d{3,4}-?\d{3,5})"
    r"|(?P<constant>\$?[A-Z][A-Z0-9]{0,40}(?:_[A-Z0-9]{1,40}){1,8})"
    r"|(?P<version>v?\d{1,4}\.\d{1,5}(?:\.\d{1,6}){1,2}(?:-[\w.]{1,20})?|v\d{1,4}(?:\.\d{1,5})?)"
    r"|(?P<number>[$€£¥]\d[\d,]{0,15}(?:\.\d{1,4})?[kKmM]?"
    r"|\d{1,10}(?:\.\d{1,4})?(?:%|ms|[KMG]i?B|px))"
)
_ENDS = ".,:;?=&~-+/%"
_LONGEST = 300
# Distinct identifiers that one message may bring; a listing of a million hashes brings no more.
MOST_PER_MESSAGE = 800
_MOST_NUMBERS = 200
_MOST_VALUES = 4
"""A name with more values in one message is counting, as in `"position": 17`, not setting."""
_ASSET = re.compile(r"\.(?:png|jpe?g|gif|svg|webp|ico|css|js|woff2?)(?:[?#]|$)")
"""What a page loads to look as it does; nobody types its address again."""


def identifiers_in(text: str) -> tuple[tuple[str, str, int], ...]:
    """Return (class, string, uses) for the identifiers of a text, in order of appearance."""
    text = _PROGRESS.sub("", text) if "%]" in text else text
    found: list[tuple[str, str, int]] = []
    for token, uses in Counter(_TOKEN.findall(text)).items():
        if _is_plain(token):
            continue
        kind, kept = classify(token)
        if kind:
            found.append((kind, kept, uses))
        if len(found) >= MOST_PER_MESSAGE:
            break
    numbers = Counter(match.strip() for match in _NUMBER_WITH_UNIT.findall(text))
    found += [("number", token, uses) for token, uses in numbers.items()][:_MOST_NUMBERS]
    found += [("setting", token, uses) for token, uses in _settings(text)][:_MOST_NUMBERS]
    return tuple(found)


def _settings(text: str) -> Iterator[tuple[str, int]]:
    values: dict[str, Counter[str]] = {}
    for match in _ASSIGNED.finditer(text):
        start = match.start()
        name = _NAME_BEFORE.search(text, max(0, start - 96), start)
        if name:
            first = name.start()
            quote = name[0].rstrip()[-1]
            first -= quote in "\"'" and text[first - 1 : first] == quote
            setting = " ".join(text[first : match.end()].split())
            values.setdefault(name[0].strip(), Counter())[setting] += 1
    for counted in values.values():
        if len(counted) <= _MOST_VALUES:
            yield from counted.items()


def classify(token: str) -> tuple[str, str]:
    """Return the class of a token and its part that is the identifier, or empty strings."""
    bare = token.rstrip(_ENDS) if "://" not in token else token.rstrip(".,:;")
    if not 2 <= len(bare) <= _LONGEST:
        return "", ""
    found = _CLASS.fullmatch(bare)
    if found is None or found.lastgroup is None:
        return "", ""
    is_asset = found.lastgroup == "url" and _ASSET.search(bare)
    return ("", "") if is_asset else (found.lastgroup, bare)


def _is_plain(token: str) -> bool:
    """Whether the token is an ordinary word or number, which most tokens are."""
    if token.isalpha():
        return not (token.isupper() and token[0] == "E" and len(token) > 4)
    return len(token) < 3 or (token.isdigit() and len(token) < 5)
