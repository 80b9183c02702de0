"""What tool calls and results say: files touched, commands run, how they ended, errors met."""

from __future__ import annotations

import json
import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from perdure.messages import call_name, parsed_arguments, tool_calls_of
from perdure.stock.kinds import kind_of, path_of
from perdure.stock.ledger.records import Call, Result
from perdure.stock.one_line import outcome_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_COMMAND_KEYS = ("command", "cmd", "script", "commands", "code")
_ACTIONS = {"read": "read", "write": "written", "edit": "edited"}
# Editors with one name for all they do say in an argument what they do.
_EDITOR_ACTIONS = {"view": "read", "create": "written", "str_replace": "edited", "insert": "edited"}
_MOVED = re.compile(
    r"(?:^|[;&|]\s{0,4})(?:sudo )?(?:git )?(?P<verb>rm|mv|cp|touch"
    r"|mkdir)(?: -[\w-]{1,20}){0,4} (?P<paths>[^;&|<>\n]{1,400})"
)
_WRITTEN_TO = re.compile(r"(?:^|\s)>{1,2}\s?(?P<path>[\w./~-]{1,200}\.\w{1,8})(?=\s|$)")
_VERBS = {"rm": "deleted", "mv": "moved", "cp": "copied", "touch": "created", "mkdir": "created"}
_CHANGE_DIRECTORY = re.compile(r"cd \S{1,200}\s{0,4}(?:&&|;)\s{0,4}")
_SPACES = re.compile(r"\s+")
_LONGEST_COMMAND = 240
_LONGEST_LINE = 300
_SHORTEST_LINE = 8  # `Error` and `FAIL` alone tell nothing
_LONGEST_ANSWER = 2_000

_NONE = r"(?!\"?: ?(?:false|null|None|\[\]|\"\"))"  # a field that says there is no error
# Every alternative starts with a plain letter, so that the scan skips what cannot start one.
_ERROR = re.compile(
    rf"Error\b{_NONE}|error\b{_NONE}|ERROR|ERR!|Exception\b|FAIL(?:ED|URE)?\b|Fatal\b|fatal\b"
    r"|FATAL|panic:"
    r"|Denied|denied|No such file|no such file|Not found|not found|NotFound|Timed? ?out\b(?!-\d)"
    r"|timed? ?out\b(?!-\d)|Cannot |cannot |Unable to|unable to|Refused|refused|Failed|failed"
    r"|Invalid |invalid |Undefined|undefined|Unexpected|unexpected"
    r"|エラー|失敗|错误|失败|异常|오류|실패|Fehler|erreur|ошибка"
)
# Lines that only count or announce errors, tests that passed and how long they took, lines of a
# file with their numbers.
_HARMLESS = re.compile(
    r"\b0 (?:errors?|fail(?:ed|ures?))|no errors?|without errors?|errors?: 0\b"
    r"|^=+ (?:errors|failures) =+$|(?-i:\bPASSED(?: +\[ *\d{1,3}%\])?$)|^\s*--- PASS:"
    r"|^ok \d|\.\.\. ok$|^[✓✔]|^\d{1,4}\.\d\ds (?:call|setup|teardown)\b|^\d{1,6} ?[|→]",
    re.IGNORECASE,
)
_FAILED = re.compile(
    r"\s*(?:<[\w_-]{1,40}>\s*)?(?:exit code:? [1-9]|error\b|\[error|errore?:"
    r"|traceback \(most recent|fatal:|command failed|"
    r"process exited with code [1-9]|user rejected|<tool_use_error>)",
    re.IGNORECASE,
)
_FAILED_LATER = re.compile(
    r"(?:[Ee]xit (?:code|status):? |exited with code |exit code |\"exit_code\": ?"
    r"|returncode[>=: ]{1,3})[1-9]"
    r"|command not found|Traceback \(most recent call last\)|^FAILED\b|^FAIL\b|npm ERR!"
    r"|\"is_error\": ?true",
    re.MULTILINE,
)
# Where a line that is data starts and ends a sentence, a string or, escaped, a line.
_BREAKS = ("\\n", '"', ". ", "; ")
_BREAK = re.compile(r"\\{1,8}[nrt]|(?<!\\)\"|[.;](?= )")
# Names of fields that tell how much came back and how, not what.
_MEASURE = re.compile(
    r"(?:exit|return|status)_?code|(?:lines?|size|bytes|chars|count|total|length|duration|elapsed"
    r"|_m?s|offset|limit|truncated|success|ok)$",
    re.IGNORECASE,
)
_EDGE = 4_000
_MOST_ERRORS = 12


_ASKING = frozenset(
    """
    ask askuser askuserquestion askuserquestions askuserinput askuserforinput askfollowupquestion
    askfollowupquestions askhuman askforapproval askforclarification askclarification
    askclarifyingquestion clarify confirmwithuser elicit exitplanmode getconfirmation
    gethumaninput getuserconfirmation getuserfeedback getuserinput humanfeedback humaninput
    planmoderespond promptuser question requestinput requestuserinput userinput
    """.split()  # noqa: SIM905 - a list of words is read as words
)
_NOT_LETTERS = re.compile(r"[_\-\s]+")
_SERVER = re.compile(r"__|[./:]")


def calls_of(message: Mapping[str, Any]) -> tuple[Call, ...]:
    """Return the calls of an assistant message as the ledger keeps them."""
    return tuple(_call(call) for call in tool_calls_of(message))


def said_by(text: str) -> str:
    """Return what a result says, line by line, out of the JSON envelope that tools put around it.

    Fields beside the text follow it, but for those that are empty or only measure it; and so do
    notes that a host wrote behind the envelope.
    """
    if not text[:_EDGE].lstrip().startswith("{"):
        return text
    envelope, closed, after = text.rpartition("}")
    outcome = outcome_of(envelope + closed)
    if not outcome.fields or outcome.text == envelope + closed:
        return text
    beside = {
        name: value
        for name, value in outcome.fields.items()
        if value and value is not outcome.text and not _MEASURE.search(name)
    }
    try:
        lines = [
            value
            if isinstance(value, str)
            else f'"{name}": {json.dumps(value, ensure_ascii=False)}'
            for name, value in beside.items()
        ]
    except RecursionError:
        return text
    return "\n".join([outcome.text, *lines, after.strip()]).rstrip()


def result_of(message: Mapping[str, Any], text: str, said: str, errors: tuple[str, ...]) -> Result:
    """Return what a tool result says of its call.

    Args:
        message: The tool message.
        text: Its readable text.
        said: What that says, out of its envelope.
        errors: The error lines of it.
    """
    marked = message.get("is_error") is True
    failed = marked or any(_FAILED.match(t) or _fails_at_an_end(t) for t in {text, said})
    outcome = errors[0] if failed and errors else _last_line(said)
    answer = text if len(text) <= _LONGEST_ANSWER else ""
    return Result(str(message.get("tool_call_id") or ""), failed, outcome, answer)


def errors_in(text: str) -> tuple[str, ...]:
    """Return the first distinct error lines of a text, whole lines, at most a dozen."""
    found: dict[str, None] = {}
    position = 0
    while len(found) < _MOST_ERRORS and (match := _ERROR.search(text, position)):
        start, end = _line_around(text, match.start(), match.end())
        line = text[start:end].strip()
        if len(line) >= _SHORTEST_LINE and not _HARMLESS.search(line):
            found.setdefault(line)
        position = max(end, match.end())
    return tuple(found)


def _line_around(text: str, first: int, stop: int) -> tuple[int, int]:
    """Return where a line starts and ends; of one too long to keep, the sentence or string."""
    floor, ceiling = max(0, first - _LONGEST_LINE), min(len(text), stop + _LONGEST_LINE)
    start, end = text.rfind("\n", floor, first) + 1, text.find("\n", stop, ceiling)
    if (start or floor == 0) and (end >= 0 or ceiling == len(text)):
        return start, end if end >= 0 else ceiling
    if not start:
        start = max(text.rfind(mark, floor, first) + len(mark) for mark in _BREAKS)
        start = start if start > floor else text.rfind(" ", floor, first) + 1 or first
    if end < 0:
        broken = _BREAK.search(text, stop, ceiling)
        end = broken.start() if broken else ceiling
    return start, end


def _call(call: Mapping[str, Any]) -> Call:
    name, arguments = call_name(call), parsed_arguments(call)
    kind = _kind(name, tuple(arguments))
    call_id = call.get("id")
    call_id = call_id if isinstance(call_id, str) else ""
    if kind == "question":
        return Call(call_id, "question")
    path, asked = path_of(arguments), arguments.get("command")
    action = _EDITOR_ACTIONS.get(asked, "") if isinstance(asked, str) and path else ""
    action = action or _ACTIONS.get(kind, "")
    if kind in ("terminal", "code") and not (path and action):
        command = _first_string(arguments, _COMMAND_KEYS)
        return Call(call_id, "run", command_key(command), tuple(_paths_in(command)))
    if action and 0 < len(path) <= _LONGEST_LINE:
        return Call(call_id, "other", "", ((path, action),))
    return Call(call_id, "other")


@lru_cache(maxsize=1024)
def _kind(name: str, argument_names: tuple[str, ...]) -> str:
    kind = kind_of(name, dict.fromkeys(argument_names))
    return "other" if kind == "question" and not asks_user(name) else kind


def asks_user(name: str) -> bool:
    """Return whether what a tool answers are the user's own words, by its name.

    Only names under which agents put questions to their user count, never those of a server
    (`mcp__forum__ask_question`), which could say anything in the user's name.
    """
    return _NOT_LETTERS.sub("", name.lower()) in _ASKING and not _SERVER.search(name)


def command_key(command: str) -> str:
    """Return a command in one line, without the change of directory in front of it."""
    line = _SPACES.sub(" ", command[: 4 * _LONGEST_COMMAND]).strip()
    moved = _CHANGE_DIRECTORY.match(line)
    line = line[moved.end() :] if moved else line
    return line if len(line) <= _LONGEST_COMMAND else f"{line[: _LONGEST_COMMAND - 2]} …"


def _first_string(arguments: Mapping[str, Any], keys: tuple[str, ...]) -> str:
    for key in keys:
        value = arguments.get(key)
        if isinstance(value, str) and value.strip():
            return value
        if isinstance(value, list) and value and all(isinstance(item, str) for item in value):
            return " ".join(value)
    return ""


def _paths_in(command: str) -> Iterator[tuple[str, str]]:
    for match in _MOVED.finditer(command[:_EDGE]):
        for path in match["paths"].split():
            if not path.startswith("-") and ("/" in path or "." in path):
                yield path.strip("\"'"), _VERBS[match["verb"]]
    for match in _WRITTEN_TO.finditer(command[:_EDGE]):
        yield match["path"], "written"


def _fails_at_an_end(text: str) -> bool:
    ends = text if len(text) <= 2 * _EDGE else f"{text[:_EDGE]}\n{text[-_EDGE:]}"
    return bool(_FAILED_LATER.search(ends))


def _last_line(text: str) -> str:
    for line in reversed(text[-_EDGE:].splitlines()):
        if line.strip():
            return line.strip()[:_LONGEST_LINE]
    return ""
