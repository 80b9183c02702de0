"""One line about a tool call and its result: tool, key arguments, outcome, size.

The line stands where a long result was, so it says what a reader would look for first: what was
asked, whether it went well, how much came back. Nothing here raises, whatever a call looks like.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from perdure.messages import call_name, content_text, parsed_arguments
from perdure.stock.kinds import KINDS, Kinds, path_of, plain

MAX_LINE_CHARS = 300
_PART_CHARS = 120
_SHORT_PART_CHARS = 70
_NAME_CHARS = 60
_EDGE_CHARS = 20_000
_LARGEST_JSON = 2_000_000

_EXIT = re.compile(
    r"\b(?:exit(?:ed with)?[ _]?(?:code|status)|return[ _]?code|exited with)\W{1,3}?(-?\d{1,5})\b"
    r"|[(\[]exit (-?\d{1,5})[)\]]",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"error|exception|traceback|fatal|fail|denied|not found|no such|panic|refused|timed out"
    r"|错误|失败|エラー|失敗|오류|실패|fehler|erreur|ошибка",
    re.IGNORECASE,
)
# What says so beyond doubt. Code, diffs and listings are full of words of failure that report none.
_REPORT = re.compile(
    r"^(?![+<>-])(?:.{0,120}?[\s(\[:])?"
    r"(?:(?:[A-Z]\w{0,40})?(?:Error|Exception)|error(?: [A-Z]{1,4}\d{1,5})?|fatal|panic): "
    r"|^\W{0,3}(?:error|failed|failure|traceback)\b"
    r"|(?:^|[\s\[])(?:ERROR|FATAL|FAILED|FAIL|ERR!)(?=[\s\]:]|$)"
    r"|: (?:command not found|permission denied|no such file or directory)"
    r"|(?:错误|失败|エラー|失敗|오류|실패|Fehler|Erreur|Ошибка)\s?[:：]",
)
_ANY = re.compile(r"\S")
_SUCCESS = re.compile(
    r"success|\b(?:updated|written|created|saved|applied|edited|replaced|done|ok)\b", re.IGNORECASE
)
_NAMES = re.compile(r"\S*[/\\]\S*|[\w-]+\.\w{1,5}\b")
# What only counts failures, or says that there are none.
_HARMLESS = re.compile(
    r"\b(?:0|no|without) (?:errors?|exceptions?|fail(?:ed|ures?))\b"
    r"|\b(?:errors?|fail(?:ed|ures?))[\"']?\s{0,2}[:=]\s{0,2}(?:0|none|null|false|\"\"|'')(?!\w)",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"^([A-Za-z_][\w.]{0,80}(?:Error|Exception|Exit|Interrupt))\b", re.MULTILINE
)
_TAG = re.compile(r"<[^<>]{0,80}>")
_WORD = re.compile(r"\w\w")
# How clients tell, in the result of a call, what a user wrote instead of letting it run.
_USER_WORDS = re.compile(
    r"\bthe user (?:said|says|answered|replied|responded|wrote|provided)\b[^\n:]{0,60}:\s{0,9}\S"
    r"|<(?:(?:user_)?feedback|user_(?:answer|message))>",
    re.IGNORECASE,
)
_LONGEST_USER_WORDS = 4_000
_COUNTED = re.compile(r"\b(?:found|total)\W{1,2}(\d[\d,]{0,12})\b", re.IGNORECASE)
_NOTHING = re.compile(r"\s*(?:\[\]|\{\}|no (?:matches|files|results|match)\b)", re.IGNORECASE)
_SUBJECT_KEYS = (
    "command", "cmd", "script", "url", "urls", "query", "pattern", "regex", "q", "code",
    "description", "goal", "name", "key", "id", "ref",
)  # fmt: skip
_START_KEYS = (
    "offset", "start_line", "start_line_one_indexed", "line_start", "view_range", "line_range",
    "line_offset", "start", "pages", "page",
)  # fmt: skip
_BODY_KEYS = ("output", "stdout", "content", "text", "result", "answer", "summary")
_CONTENT_KEYS = (
    "content", "filetext", "contents", "newstring", "newstr", "text", "patch", "diff", "codeedit",
    "filecontent", "codecontent", "replacementcontent", "replacement",
)  # fmt: skip
_EXIT_KEYS = ("exit_code", "exitCode", "returncode", "return_code")
_COUNT_KEYS = ("total_count", "totalCount", "total", "count", "num_results", "numFiles")
_ROW_KEYS = ("matches", "results", "files", "items", "entries")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a result says.

    Attributes:
        text: The readable text; of a JSON envelope, the text inside it.
        exit_code: As the envelope or the text tells it, or None.
        failure: The last line that reports a failure, or nothing.
        fields: The envelope, empty when the result is plain text; rows alone are its `results`.
    """

    text: str
    exit_code: int | None = None
    failure: str = ""
    fields: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lines(self) -> int:
        """Number of lines."""
        return self.text.count("\n") + (bool(self.text) and not self.text.endswith("\n"))

    def size(self, unit: str = "lines") -> str:
        """Return how much came back: lines, or characters where one line holds it all."""
        is_one_line = self.lines == 1 and len(self.text) > 2 * _PART_CHARS
        if is_one_line:
            return f"{len(self.text):,} characters"
        if self.lines == 1:
            unit = unit.replace("entries", "entry").replace("lines", "line")
        return f"{self.lines:,} {unit}"


def one_liner(
    call: Mapping[str, Any] | None, result: Mapping[str, Any] | None, kinds: Kinds = KINDS
) -> str:
    """Return one line about a call and its result: tool, key arguments, outcome, size.

    Args:
        call: The call as it stands in `tool_calls`; None when it is not known.
        result: The tool message; None when there is none.
        kinds: What tools do.
    """
    made = call if isinstance(call, Mapping) else {}
    name = " ".join(call_name(made).split()) or "tool"
    name = name if len(name) <= _NAME_CHARS else name[: _NAME_CHARS - 1] + "…"
    arguments = parsed_arguments(made)
    text = _text(result) if isinstance(result, Mapping) else ""
    kind = kinds.kind_of(call_name(made), arguments)
    if kind == "question":
        return f"{name}: answer: {' '.join(text.split())}"
    described = _DESCRIBED.get(kind, _other)(arguments, outcome_of(text))
    line = " ".join(f"{name}: {described}".split())
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


def subject_of(arguments: Mapping[str, Any]) -> str:
    """Return what a call is about in a few words: a path, a command, a query; or nothing."""
    path = path_of(arguments)
    if path:
        return _path(path, _SHORT_PART_CHARS)
    return _part(_first(arguments, *_SUBJECT_KEYS), _SHORT_PART_CHARS) or _shown(arguments)


def outcome_of(text: str) -> Outcome:
    """Return what a result says, out of the JSON envelope that many tools put around it."""
    fields = _envelope(text)
    body = next((v for key in _BODY_KEYS if isinstance(v := fields.get(key), str) and v), None)
    inner = text if body is None else body
    code = next((v for key in _EXIT_KEYS if type(v := fields.get(key)) is int), None)
    if code is None:
        code = _exit_code(inner)
    error = next((v for k in ("error", "stderr") if isinstance(v := fields.get(k), str) and v), "")
    failure = _part(error[-_EDGE_CHARS:].strip().rpartition("\n")[2])
    if not failure and code:
        failure = _failure(inner, _FAILURE) or _failure(inner, _ANY)
    elif not failure and code is None:
        failure = _failure(inner, _REPORT)
    return Outcome(inner, code, failure, fields)


def has_failed(text: str) -> bool:
    """Return whether a result may say that a call failed; when in doubt, yes.

    Only its beginning counts: tools that edit files go on with the text that they have edited.
    """
    fields = _envelope(text)
    if fields.get("success") is False or fields.get("error"):
        return True
    first, _, rest = _NAMES.sub("", _HARMLESS.sub("", text[:300].strip())).partition("\n")
    return bool(_FAILURE.search(first if _SUCCESS.search(first) else f"{first}\n{rest}"))


def user_words(text: str) -> str:
    """Return what a user wrote at the end of a result, such as why a call was refused; or nothing.

    The words of those who introduce them are part of it.
    """
    end = text[-_LONGEST_USER_WORDS:]
    low = end.lower()
    found = _USER_WORDS.search(end) if "user" in low or "feedback" in low else None
    return end[found.start() :] if found else ""


# ------------------------------------------------------------------------------- parts


def _text(result: Mapping[str, Any]) -> str:
    try:
        return content_text(result.get("content"))
    except RecursionError:
        return ""


def _envelope(text: str) -> Mapping[str, Any]:
    if len(text) > _LARGEST_JSON or not text[:200].lstrip().startswith(("{", "[")):
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {"results": value}


def _exit_code(text: str) -> int | None:
    edges = (text[-2_000:], text[:500])
    # The words are found much faster than the pattern, which few results hold.
    likely = [e for e in edges if "exit" in (low := e.lower()) or "return" in low]
    found = next(filter(None, map(_EXIT.findall, likely)), None)
    return int(found[-1][0] or found[-1][1]) if found else None


def _failure(text: str, wanted: re.Pattern[str]) -> str:
    """Return the last line that tells of a failure, or nothing."""
    for line in reversed(text[-_EDGE_CHARS:].splitlines()[-200:]):
        if wanted.search(_HARMLESS.sub("", line[:500])):
            return _part(line)
    return ""


def _part(value: object, limit: int = _PART_CHARS) -> str:
    """Return a value in one short line."""
    if not isinstance(value, str):
        try:
            value = json.dumps(value, ensure_ascii=False, default=str)
        except (ValueError, TypeError, RecursionError):
            value = type(value).__name__
    text = " ".join(value[: 4 * limit].split())
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _path(path: str, limit: int = _PART_CHARS) -> str:
    """Return a path; of a long one the end, where its name is."""
    text = " ".join(path[-4 * limit :].split())
    return text if len(path) <= limit else f"…{text[1 - limit :]}"


def _shown(arguments: Mapping[str, Any]) -> str:
    """Return the first two arguments with their names."""
    return ", ".join(
        f"{_part(key, 30)}={_part(value, _SHORT_PART_CHARS)}"
        for key, value in list(arguments.items())[:2]
    )


def _first(arguments: Mapping[str, Any], *keys: str) -> str:
    """Return the first argument of these names that holds something, however it is spelled."""
    named = plain(arguments)
    wanted = (named.get(key.lower().replace("_", "")) for key in keys)
    return next((_part(value) for value in wanted if value), "")


def _failed(outcome: Outcome, label: str = "failed") -> str:
    return f", {label}: {outcome.failure}" if outcome.failure else ""


def _title(outcome: Outcome) -> str:
    given = outcome.fields.get("title")
    lines = [given] if isinstance(given, str) else outcome.text[:2_000].splitlines()
    return next((_part(line) for line in lines if line.strip()), "")


# ------------------------------------------------------------------------------- kinds of tools


def _terminal(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    command = _first(arguments, "command", "cmd", "command_line", "script", "code", "input")
    code = "" if outcome.exit_code is None else f", exit {outcome.exit_code}"
    return f"`{command}`{code}, {outcome.size()}{_failed(outcome, 'last error')}"


def _read(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    start = _first(arguments, *_START_KEYS)
    place = path_of(arguments) or _first(arguments, "paths", "files", "file_paths")
    return f"{_path(place)}{f' from {start}' if start else ''}, {len(outcome.text):,} characters"


def _write(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    named = plain(arguments)
    content = next((v for key in _CONTENT_KEYS if isinstance(v := named.get(key), str) and v), "")
    count = Outcome(content).lines
    size = f", {count:,} {'line' if count == 1 else 'lines'}" if content else ""
    mode = _first(arguments, "mode", "command")
    failed = _failed(outcome) if has_failed(outcome.text) or outcome.fields.get("error") else ""
    place = _path(path_of(arguments))
    return f"{place}{size}{f', {mode}' if mode else ''}{failed}" or _other(arguments, outcome)


def _search(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    pattern = _first(arguments, "pattern", "query", "regex", "q", "search_term", "keyword", "name")
    place = path_of(arguments) or _first(arguments, "glob", "include", "scope")
    asked = repr(pattern) if pattern else _shown(arguments)
    return f"{asked}{f' in {_path(place)}' if place else ''}, {_matches(outcome)}"


def _matches(outcome: Outcome, unit: str = "lines found") -> str:
    fields = outcome.fields
    counted = next((v for key in _COUNT_KEYS if type(v := fields.get(key)) is int), None)
    if counted is None:
        rows = next((v for key in _ROW_KEYS if isinstance(v := fields.get(key), list)), None)
        counted = None if rows is None else len(rows)
    if counted is not None:
        return f"{counted:,} found"
    if _NOTHING.match(outcome.text):
        return "nothing found"
    told = _COUNTED.search(outcome.text[:300])
    return f"{told[1]} found" if told else outcome.size(unit)


def _list(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    pattern = _first(arguments, "pattern", "glob")
    asked = " in ".join(filter(None, [pattern, _path(path_of(arguments))]))
    return f"{asked or _shown(arguments) or '.'}, {_matches(outcome, 'entries')}"


def _web(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    target = _first(arguments, "url", "urls", "query", "q", "prompt")
    return f"{target}, {_title(outcome)!r}, {len(outcome.text):,} characters"


def _delegate(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    goal = _first(arguments, "description", "goal", "task", "instruction", "prompt", "message")
    lines = outcome.text[-_EDGE_CHARS:].splitlines()[-50:]
    # Fences, brackets and tags that end an answer tell nothing.
    ending = next((_part(o) for o in reversed(lines) if _WORD.search(_TAG.sub("", o[:500]))), "")
    return f"{goal}, outcome: {ending}, {len(outcome.text):,} characters"


def _code(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    source = next(
        (v for key in ("code", "script", "source") if isinstance(v := arguments.get(key), str)), ""
    )
    lines = [line for line in source[:_EDGE_CHARS].splitlines() if line.strip()]
    raised = _EXCEPTION.findall(outcome.text[-4_000:])
    shown = _part(lines[0]) if lines else _first(arguments, "input", "command")
    return f"`{shown}`, {outcome.size('lines of output')}" + (f", {raised[-1]}" if raised else "")


def _action(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    keys = ("subject", "content", "key", "title", "taskId", "id", "todos", "name", "ref", "query")
    action = _first(arguments, "action", "command", "operation", "status")
    target = _first(arguments, *keys)
    if not action and not target:
        return _other(arguments, outcome)
    return f"{' '.join(filter(None, [action, target]))}, {len(outcome.text):,} characters"


def _other(arguments: Mapping[str, Any], outcome: Outcome) -> str:
    shown = _shown(arguments) or "no arguments"
    return f"{shown}, {len(outcome.text):,} characters{_failed(outcome)}"


_DESCRIBED: Mapping[str, Callable[[Mapping[str, Any], Outcome], str]] = {
    "terminal": _terminal,
    "read": _read,
    "write": _write,
    "edit": _write,
    "search": _search,
    "list": _list,
    "web": _web,
    "delegate": _delegate,
    "code": _code,
    "todo": _action,
    "memory": _action,
}
