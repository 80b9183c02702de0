"""Takes secrets out of text that goes to a summary model or into a summary.

Keys with a known shape are found by it; values behind a name that says "secret" are found by the
name. What is no secret by its look (hashes, ids, paths, references in code) stays.

Libraries were tried first. detect-secrets reads 0.1 MB/s, kingfisher-secret-scanner needs seconds
to start and 36 MB, others run a program or bring a machine-learning runtime, while megabytes pass
here at each compaction. So the shapes stand in one table. Each has a literal that must be in the
text, and looking for a literal is far faster than a pattern.
"""

from __future__ import annotations

import base64
import binascii
import re
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

# In front of a key: nothing that could be part of it. JSON inside text has `\n` where a line ends.
_START = r"(?:(?<![A-Za-z0-9])|(?<=\\[nrt]))"
# Kind, literals of which every such key has one, pattern: `^` is _START, group 1 the secret.
_TABLE = (
    ("anthropic-key", "sk-ant-", r"^sk-ant-[A-Za-z0-9_-]{20,200}"),
    ("openai-key", "sk-", r"^sk-(?=[A-Za-z0-9_-]{0,120}[A-Za-z0-9]{16})[A-Za-z0-9_-]{20,200}"),
    ("aws-key-id", "AKIA ASIA AGPA AROA AIDA",
     r"^(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", r"^gh[pousr]_[A-Za-z0-9]{30,255}"),
    ("github-token", "github_pat_", r"^github_pat_[A-Za-z0-9_]{40,255}"),
    ("gitlab-token", "glpat- gldt- glrt- glcbt- glptt-",
     r"^gl(?:pat|dt|rt|cbt|ptt)-[A-Za-z0-9_-]{18,64}"),
    ("slack-token", "xox", r"^xox[abeoprs]-[A-Za-z0-9-]{10,250}"),
    ("slack-token", "xapp-", r"^xapp-[0-9]-[A-Za-z0-9-]{10,250}"),
    ("slack-hook", "hooks.slack.com", r"hooks\.slack\.com/services/([A-Za-z0-9/]{20,120})"),
    ("discord-hook", "/api/webhooks/", r"/api/webhooks/([0-9]{10,25}/[A-Za-z0-9_-]{20,100})"),
    ("google-key", "AIza", r"^AIza[A-Za-z0-9_-]{35}"),
    ("google-token", "ya29.", r"^ya29\.[A-Za-z0-9_-]{20,300}"),
    ("google-token", "GOCSPX-", r"^GOCSPX-[A-Za-z0-9_-]{20,60}"),
    ("stripe-key", "k_live_ k_test_", r"^[rs]k_(?:live|test)_[A-Za-z0-9]{16,120}"),
    ("stripe-key", "whsec_", r"^whsec_[A-Za-z0-9+/=]{20,100}"),
    ("npm-token", "npm_", r"^npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])"),
    ("pypi-token", "pypi-AgE", r"^pypi-AgE[A-Za-z0-9_-]{50,300}"),
    ("huggingface-token", "hf_", r"^hf_[A-Za-z0-9]{30,60}(?![A-Za-z0-9_])"),
    ("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", r"^do[opr]_v1_[a-f0-9]{40,80}"),
    ("sendgrid-key", "SG.", r"^SG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{30,60}"),
    ("xai-key", "xai-", r"^xai-[A-Za-z0-9]{40,120}"),
    ("groq-key", "gsk_", r"^gsk_[A-Za-z0-9]{40,80}"),
    ("vault-token", "hvs.", r"^hvs\.[A-Za-z0-9_-]{24,200}"),
    ("age-key", "AGE-SECRET-KEY-", r"^AGE-SECRET-KEY-1[A-Z0-9]{40,80}"),
    ("telegram-token", ":AA", r"^[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}(?![A-Za-z0-9_-])"),
    ("jwt", "eyJ", r"^eyJ[\w-]{10,500}\.eyJ[\w-]{10,4000}(?:\.[\w-]{10,1000})?"),
    ("cookie", "ookie:", r"[Cc]ookie:[ \t]{0,4}([\w.-]{1,80}=[^\s;]{8,4000}[^\n\"']{0,4000})"),
)  # fmt: skip
_SHAPES = tuple(
    (
        kind,
        tuple(literals.split()),
        re.compile(re.sub(r"\A\^", lambda _: _START, pattern), re.ASCII),
    )
    for kind, literals, pattern in _TABLE
)
_URL_PASSWORD = re.compile(r"://[^\s:/@\"'<>?#]{0,100}:([^\s/@\"'<>]{3,200})@")
_USER_OPTION = re.compile(
    r"(?<!\S)(?:-u|--user|--proxy-user)[ =][\"']?[^\s:\"']{1,80}:([^\s\"']{4,200})"
)
_SCHEME = re.compile(r"(?<![A-Za-z])(?i:bearer|basic|token)[ \t]{1,3}([A-Za-z0-9_.~+/=-]{8,4000})")
_KEY_HEAD = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?=\s|\\[nr]|[\"'])")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
_KEY_LINE = re.compile(r"(?:\\[nr]|[\s\"'→|>:,0-9+]){0,30}[A-Za-z0-9+/=]{20,5000}")
_LONGEST_KEY = 16_000

# Names that say that a password follows, in lower case.
_PASSWORDS = (
    "password", "passwd", "passphrase", "passwort", "kennwort", "contraseña", "mot de passe",
    "senha", "пароль", "密码", "密碼", "口令", "パスワード", "비밀번호", "암호",
)  # fmt: skip
_NAMES = (
    *_PASSWORDS,
    "pwd", "token", "secret", "credential", "key",
    "密钥", "令牌", "トークン", "秘密鍵", "토큰", "токен", "schlüssel",
)  # fmt: skip
# `key` alone is anything's key; these make it one that opens something.
_KEY_OWNER = re.compile(
    r"(?:api|access|secret|private|encryption|signing|master|auth|account|shared|storage|service|"
    r"client|app|webhook|jwt|deploy|admin|license|subscription|[dr]sa|aes|hmac)[ _-]?\Z"
)
# What may stand between the name and the value: the rest of the name, closing quote, type, sign.
_SIGN = re.compile(
    r"(?P<rest>[A-Za-z0-9_-]{0,24})\\{0,3}[\"'`*]{0,3}\]?[ \t]{0,8}"
    r"(?::[ ]?(?:str|string|String|bytes)[ ]{0,2}(?==))?"
    r"(?P<sign>:=|=>|->|[:=：＝]|(?:is|was|ist|lautet|es|est|é|是|为|は)(?=[ \t]|(?<=[是为は]))|"
    r"[ ]?,[ ]?\\{0,3}[\"']value\\{0,3}[\"'][ ]?:)?"
    r"[ \t*]{0,8}(?P<quote>\\{0,3}[\"'`“「『])?"
)
_REST = re.compile(
    r"(?i:s|(?:[_-]?(?:key|base|value|text|plain|prod|production|dev|test|staging|live|old|new|"
    r"[0-9]{1,3})){1,2})?"
)
_JUDGED_CHARS = 200
_VALUE_CHARACTER = r"[^\s\"'`,;<>(){}\[\]&|\\]"
_VALUE = re.compile(_VALUE_CHARACTER + f"{{4,{_JUDGED_CHARS}}}")
# The start of a long value tells what it is; all of it goes.
_VALUE_REST = re.compile(_VALUE_CHARACTER + "*")
_CLOSING = {"“": "”", "「": "」", "『": "』"}
_PLACEHOLDER = re.compile(
    r"(?i:[x*.•_#-]+|[$%{<].*|none|null|nil|true|false|undefined|your.*|"
    r"my.?(?:pass|secret|token|key).*|change.?me|redacted.*|placeholder|pass(?:word)?|"
    r"pwd|secret|token)"
)
# Paths, addresses, and names of code: what is written where a value comes from somewhere else.
_REFERENCE = re.compile(
    r"[./~].*|.*://.*|[A-Za-z_]\w*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z]+(?:[_-][A-Za-z]+)*[0-9]?"
)


class Secret(NamedTuple):
    """Where a secret stands in a text, and what kind it is of."""

    start: int
    end: int
    kind: str


def redact(text: str) -> str:
    """Return the text with secrets replaced by `[REDACTED:kind]`; names of variables stay."""
    pieces: list[str] = []
    end = 0
    for secret in find_secrets(text):
        pieces += text[end : secret.start], f"[REDACTED:{secret.kind}]"
        end = secret.end
    return "".join([*pieces, text[end:]]) if pieces else text


def secrets_in(text: str) -> list[str]:
    """Return the kinds of secrets in a text, in order."""
    return [secret.kind for secret in find_secrets(text)]


def find_secrets(text: str) -> list[Secret]:
    """Return the secrets of a text in order, none overlapping another."""
    found = [*_private_keys(text), *_shaped(text), *_credentials(text), *_named(text)]
    kept: list[Secret] = []
    for secret in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or secret.start >= kept[-1].end:
            kept.append(secret)
        elif secret.end > kept[-1].end:
            kept[-1] = kept[-1]._replace(end=secret.end)
    return kept


def _shaped(text: str) -> Iterator[Secret]:
    for kind, literals, pattern in _SHAPES:
        if any(map(text.__contains__, literals)):
            for found in pattern.finditer(text):
                group = pattern.groups
                if kind != "openai-key" or any(c.isdigit() for c in found[0]):
                    yield Secret(found.start(group), found.end(group), kind)


def _private_keys(text: str) -> Iterator[Secret]:
    if "PRIVATE KEY" not in text:
        return
    ends = [found.end() for found in _KEY_END.finditer(text)]
    for head in reversed(list(_KEY_HEAD.finditer(text))):
        while len(ends) > 1 and ends[-2] > head.end():
            ends.pop()
        if ends and head.end() < ends[-1] <= head.end() + _LONGEST_KEY:
            yield Secret(head.start(), ends[-1], "private-key")
            continue
        end = head.end()
        while line := _KEY_LINE.match(text, end):
            end = line.end()
        if end > head.end():
            yield Secret(head.start(), end, "private-key")


def _credentials(text: str) -> Iterator[Secret]:
    """Yield what is sent to log in: passwords in addresses and options, headers."""
    if "://" in text and "@" in text:
        for found in _URL_PASSWORD.finditer(text):
            if not _is_placeholder(found[1]):
                yield Secret(*found.span(1), "password")
    if "-u" in text:
        for found in _USER_OPTION.finditer(text):
            if _is_mixed(found[1]) and not _is_placeholder(found[1]):
                yield Secret(*found.span(1), "password")
    for found in _SCHEME.finditer(text) if _has_scheme(text) else ():
        is_header = "uthorization" in text[max(0, found.start() - 24) : found.start()]
        if _is_random(found[1]) or _is_login(found[1]) or (is_header and _is_mixed(found[1])):
            yield Secret(*found.span(1), "credential")


def _has_scheme(text: str) -> bool:
    return any(word in text for word in ("earer", "EARER", "asic", "ASIC", "oken ", "OKEN "))


def _is_login(value: str) -> bool:
    """Return whether a value is `user:password` as it is sent in a header."""
    try:
        return b":" in base64.b64decode(value, validate=True)[1:] and len(value) % 4 == 0
    except (ValueError, binascii.Error):
        return False


# ------------------------------------------------------------------- values behind names


def _named(text: str) -> Iterator[Secret]:
    # One letter has a lower case of two characters; without it the positions are the same.
    lower = text.replace("İ", "I").lower()
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            end = at + len(name)
            if _is_name(text, lower, at, name):
                secret = _valued(text, at, end, is_password=name in _PASSWORDS)
                if secret:
                    yield secret
                    end = max(end, secret.end)
            at = lower.find(name, end)


def _is_name(text: str, lower: str, at: int, name: str) -> bool:
    """Return whether the word is a name of its own, or the end of one such as `dbPassword`."""
    if name in _PASSWORDS:
        return True
    if name == "key":
        return _KEY_OWNER.search(lower, max(0, at - 16), at) is not None
    before = text[at - 1 : at]
    if not before.isalpha() or not before.isascii():
        return True
    return text[at].isupper() or text[at - 2 : at] in ("\\n", "\\r", "\\t") or _is_joined(lower, at)


def _is_joined(lower: str, at: int) -> bool:
    return lower.endswith(
        ("auth", "access", "api", "client", "refresh", "bearer"), max(0, at - 8), at
    )


def _valued(text: str, at: int, end: int, *, is_password: bool) -> Secret | None:
    """Return the secret that follows a name, if one does."""
    sign = _SIGN.match(text, end)
    if sign is None or not _REST.fullmatch(sign["rest"]):
        return None
    is_option = sign["sign"] is None and _is_option(text, at, sign)
    if sign["sign"] is None and not is_option:
        return None
    start = sign.end()
    value = _quoted(text, start, sign["quote"]) if sign["quote"] else ""
    is_quoted = bool(value)
    if not value:
        found = _VALUE.match(text, start)
        value = found[0].rstrip(".:") if found else ""
    if len(value) < 4 or _is_placeholder(value):
        return None
    if not is_quoted and text[start + len(value) : start + len(value) + 1] in ("(", "["):
        return None  # a call or an index: code that fetches the value
    is_environment = sign["sign"] == "=" and text[end - 1].isupper()
    if not _is_secret(value, is_password=is_password, is_certain=is_quoted or is_environment):
        return None
    kind = "password" if is_password else "secret"
    end = start + len(value)
    rest = _VALUE_REST.match(text, end) if len(value) >= _JUDGED_CHARS else None
    return Secret(start, rest.end() if rest else end, kind)


def _is_option(text: str, at: int, sign: re.Match[str]) -> bool:
    """Return whether the name is an option of a command, whose value follows after a space."""
    if not text[sign.end("rest") : sign.end("rest") + 1].isspace():
        return False
    start = max(text.rfind(space, max(0, at - 40), at) for space in " \t\n") + 1
    return text.startswith("--", start)


def _quoted(text: str, start: int, quote: str) -> str:
    """Return what stands between quotes that close on the same line."""
    closing = _CLOSING.get(quote, quote)
    end = text.find(closing, start, start + _JUDGED_CHARS)
    value = text[start:end] if end >= 0 else ""
    return "" if "\n" in value else value


def _is_secret(value: str, *, is_password: bool, is_certain: bool) -> bool:
    if is_password:
        if is_certain:
            return not _is_plain(value)
        return _is_mixed(value) and not _REFERENCE.fullmatch(value)
    if len(value) < 8 or _REFERENCE.fullmatch(value):
        return False
    return _is_random(value)


def _is_plain(value: str) -> bool:
    """Return whether a value given to a password is a label, a path or a reference after all."""
    if value.isalpha():
        return len(value) < 16
    return bool(_REFERENCE.fullmatch(value)) or (" " in value and not _is_mixed(value))


def _is_placeholder(value: str) -> bool:
    """Return whether a value only says where a value goes."""
    is_template = "${" in value or "{{" in value or ("<" in value and ">" in value)
    return (
        is_template or value.endswith(("example", "EXAMPLE")) or bool(_PLACEHOLDER.fullmatch(value))
    )


def _is_mixed(value: str) -> bool:
    """Return whether letters and digits, or either and signs, stand in one value."""
    has_letter = any(c.isalpha() for c in value)
    has_digit = any(c.isdigit() for c in value)
    has_sign = any(not c.isalnum() and c not in "_- " for c in value)
    return has_digit and (has_letter or has_sign)


def _is_random(value: str) -> bool:
    """Return whether digits, small and large letters change as often as in a key."""
    kinds = [c.isdigit() + 2 * c.isupper() for c in value[:400] if c.isalnum()]
    changes = sum(a != b for a, b in pairwise(kinds))
    return 1 in kinds and changes >= 3 and changes * 5 >= len(kinds)
