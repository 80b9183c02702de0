"""Takes secrets out of text that goes to a summary model or into a summary.

Keys with a known shape are found by it; values behind a name that says "secret" are found by the
name. Line-by-line detectors such as detect-secrets were measured at tens of microseconds per line
and plug-in, seconds per compaction; one combined pattern costs milliseconds.
"""

from __future__ import annotations

import re

_SHAPES = {
    "private-key": r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY-----[A-Za-z0-9+/=\s\\]{0,8000}"
    r"(?:-----END [A-Z0-9 ]{0,30}PRIVATE KEY-----)?",
    "openai-key": r"\bsk-(?:proj-|svcacct-|admin-|ant-|or-|live-)?[A-Za-z0-9_-]{20,200}",
    "aws-key-id": r"\b(?:AKIA|ASIA|AGPA|AROA|AIDA)[A-Z0-9]{16}\b",
    "github-token": r"\b(?:gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{50,255})",
    "gitlab-token": r"\bgl(?:pat|dt|rt|cbt)-[A-Za-z0-9_-]{18,64}",
    "slack-token": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,250}",
    "slack-hook": r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,120}",
    "google-key": r"\bAIza[A-Za-z0-9_-]{35}",
    "google-token": r"\bya29\.[A-Za-z0-9_-]{20,300}",
    "stripe-key": r"\b[rs]k_(?:live|test)_[A-Za-z0-9]{16,120}",
    "npm-token": r"\bnpm_[A-Za-z0-9]{36}\b",
    "pypi-token": r"\bpypi-AgE[A-Za-z0-9_-]{50,300}",
    "huggingface-token": r"\bhf_[A-Za-z0-9]{30,60}\b",
    "sendgrid-key": r"\bSG\.[A-Za-z0-9_-]{16,40}\.[A-Za-z0-9_-]{30,60}",
    "telegram-token": r"\b[0-9]{8,10}:AA[A-Za-z0-9_-]{32,34}\b",
    "jwt": r"\beyJ[A-Za-z0-9_-]{10,2000}\.eyJ[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
}
_NAMED = (
    r"(?P<name>(?:\b|_)(?:api[_-]?key|apikey|secret(?:[_-]?(?:access)?[_-]?key)?|access[_-]?token|"
    r"auth[_-]?token|refresh[_-]?token|client[_-]?secret|private[_-]?key|passw(?:or)?d|passphrase|"
    r"pwd|token|credentials?)[\"']?\s{0,3}(?::=|=>|[:=])\s{0,3}[\"']?)(?P<value>[^\s\"',;<>(){}\[\]]{8,200})"
)
_BEARER = r"(?P<scheme>\b(?:Bearer|Basic)\s{1,3})(?P<credential>[A-Za-z0-9_.~+/=-]{16,2000})"
_URL = (
    r"(?P<url>\b[a-z][a-z0-9+.-]{1,20}://[^\s:/@\"']{1,100}:)(?P<password>[^\s/@\"']{3,200})(?=@)"
)
_ALL = re.compile(
    "|".join(
        [
            *(f"(?P<shape_{i}>{pattern})" for i, pattern in enumerate(_SHAPES.values())),
            _BEARER,
            _URL,
            f"(?i:{_NAMED})",
        ]
    )
)
_KINDS = tuple(_SHAPES)
# Without one of these a text cannot match; looking for them first is faster than the pattern.
_HINT = re.compile(
    r"sk-|AKIA|ASIA|AGPA|AROA|AIDA|gh[pousr]_|github_pat|glpat|gl(?:dt|rt|cbt)-|xox|hooks\.slack|"
    r"AIza|ya29|[rs]k_|npm_|pypi-|hf_|SG\.|:AA|eyJ|PRIVATE KEY|://[^\s/]{1,100}@|"
    r"(?i:bearer|basic\s|key|secret|token|pass|pwd|credential)"
)
_PLACEHOLDER = re.compile(
    r"(?:[x*.•_-]+|<.*|\$.*|%.*|none|null|true|false|undefined|your[_-].*|example.*|changeme|"
    r"redacted.*|process\.env.*|os\.environ.*|[a-z_.]+\(.*|[a-z]+(?:[_.-][a-z]+)*)",
    re.IGNORECASE,
)


def redact(text: str) -> str:
    """Return the text with secrets replaced by `[REDACTED:kind]`; names of variables stay."""
    if not _HINT.search(text):
        return text
    return _ALL.sub(_replaced, text)


def secrets_in(text: str) -> list[str]:
    """Return the kinds of secrets in a text, in order."""
    if not _HINT.search(text):
        return []
    return [kind for found in _ALL.finditer(text) if (kind := _kind(found))]


def _kind(found: re.Match[str]) -> str:
    group = found.lastgroup or ""
    if group.startswith("shape_"):
        return _KINDS[int(group.removeprefix("shape_"))]
    if found["credential"]:
        return "credential" if _is_random(found["credential"]) else ""
    if found["password"]:
        return "" if _PLACEHOLDER.fullmatch(found["password"]) else "password"
    return "secret" if _is_secret(found["value"]) else ""


def _replaced(found: re.Match[str]) -> str:
    kind = _kind(found)
    if not kind:
        return found[0]
    kept = found["scheme"] or found["url"] or found["name"] or ""
    return f"{kept}[REDACTED:{kind}]"


def _is_secret(value: str) -> bool:
    """Return whether a value behind a telling name is one, and not a word, a call or a blank."""
    return not _PLACEHOLDER.fullmatch(value) and _is_random(value)


def _is_random(value: str) -> bool:
    """Return whether a value mixes kinds of characters as keys do."""
    kinds = (
        any(c.isdigit() for c in value),
        any(c.islower() for c in value),
        any(c.isupper() for c in value),
        any(not c.isalnum() for c in value),
    )
    return sum(kinds) >= 2 and (kinds[0] or len(value) >= 24)
