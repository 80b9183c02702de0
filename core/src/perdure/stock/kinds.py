"""What a tool does, told from its name and its arguments, and one line about a call and its result.

Names differ between agents (`bash`, `shell`, `run_command`, `terminal` are one kind), servers put
their own in front (`mcp__github__get_issue`), and argument names say much where a name says little.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from perdure.messages import call_name, content_text, parsed_arguments

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# In order: the first pattern that fits decides. A pattern without * is a word of the name.
PATTERNS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "question",
        (
            "*ask*user*",
            "*clarif*",
            "question",
            "*ask_human*",
            "*elicit*",
            "*confirm*user*",
            "request_input",
            "ask_followup*",
            "*askuser*",
        ),
    ),
    (
        "todo",
        (
            "*todo*",
            "task_create",
            "task_update",
            "task_list",
            "task_get",
            "create_task",
            "update_task",
            "update_plan",
            "checklist",
        ),
    ),
    ("memory", ("memory", "remember", "memorize", "*save_note*", "recall")),
    (
        "delegate",
        (
            "task",
            "agent",
            "delegate",
            "subagent",
            "*sub_agent*",
            "spawn",
            "dispatch",
            "ask_*surfer*",
            "ask_*coder*",
            "handoff",
            "transfer_to*",
        ),
    ),
    (
        "code",
        (
            "python",
            "ipython",
            "*execute_code*",
            "*code_interpreter*",
            "*run_code*",
            "repl",
            "*python_exec*",
            "jupyter",
        ),
    ),
    (
        "terminal",
        (
            "bash",
            "shell",
            "terminal",
            "*run_command*",
            "exec",
            "cmd",
            "*execute_command*",
            "powershell",
            "run",
            "*bash*",
            "*shell*",
            "zsh",
            "console",
            "command",
        ),
    ),
    ("edit", ("edit", "patch", "*str_replace*", "replace", "insert", "*apply_diff*", "editor")),
    ("write", ("write", "*create_file*", "*save_file*", "*notebook_edit*")),
    ("image", ("screenshot", "image", "vision", "picture")),
    (
        "web",
        (
            "web",
            "fetch",
            "browse",
            "browser",
            "http",
            "url",
            "crawl",
            "scrape",
            "navigate",
            "visit",
            "*websearch*",
            "curl",
            "webpage",
        ),
    ),
    ("search", ("grep", "search", "find", "ripgrep", "rg", "query", "lookup")),
    ("list", ("glob", "list", "ls", "tree", "dir", "directory")),
    ("read", ("read", "view", "cat", "*open_file*", "*get_file*", "*load_file*", "*show_file*")),
)
_BY_ARGUMENTS: tuple[tuple[str, frozenset[str]], ...] = (
    ("terminal", frozenset({"command", "cmd", "script"})),
    ("edit", frozenset({"old_string", "old_str", "diff", "patch"})),
    ("web", frozenset({"url", "urls"})),
    ("search", frozenset({"pattern", "query", "regex", "q"})),
    ("code", frozenset({"code"})),
    ("read", frozenset({"file_path", "filepath", "filename"})),
)
_PATH_KEYS = (
    "file_path",
    "path",
    "filepath",
    "filename",
    "file",
    "target_file",
    "notebook_path",
    "directory",
    "dir",
    "folder",
)
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|[\s.\-/:]+")
_EXIT = re.compile(
    r"\b(?:exit(?:ed)?(?: with)?(?: code| status)?|return ?code|rc)\W{1,3}(-?\d{1,3})",
    re.IGNORECASE,
)
_FAILURE = re.compile(
    r"error|exception|traceback|fatal|failed|denied|not found|no such|panic|错误|失败",
    re.IGNORECASE,
)
_EXCEPTION = re.compile(
    r"^([A-Za-z_][\w.]{0,80}(?:Error|Exception|Exit|Interrupt))\b", re.MULTILINE
)
MAX_LINE_CHARS = 300
_PART_CHARS = 120


@dataclass(frozen=True, slots=True)
class Kinds:
    """A registry of tool kinds; the first pattern that fits decides."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...] = PATTERNS

    def extended(self, more: Mapping[str, Iterable[str]]) -> Kinds:
        """Return the registry with more patterns in front."""
        added = tuple((kind, tuple(name.lower() for name in names)) for kind, names in more.items())
        return Kinds((*added, *self.patterns)) if added else self

    def kind_of(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool does, or `other`."""
        own = _WORD_BREAK.sub("_", name.rpartition("__")[2]).lower()
        words = {*own.split("_"), own, name.lower()}
        for kind, patterns in self.patterns:
            if any(
                fnmatchcase(own, p) or fnmatchcase(name.lower(), p) if "*" in p else p in words
                for p in patterns
            ):
                return kind
        keys = {str(key).lower() for key in arguments}
        return next((kind for kind, marks in _BY_ARGUMENTS if keys & marks), "other")


KINDS = Kinds()


def kind_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Return what a tool does by the default registry."""
    return KINDS.kind_of(name, arguments)


def path_of(arguments: Mapping[str, Any]) -> str:
    """Return the file or folder that a call names, or nothing."""
    for key in _PATH_KEYS:
        value = arguments.get(key)
        if isinstance(value, str) and value:
            return value
    return ""


def one_liner(
    call: Mapping[str, Any] | None, result: Mapping[str, Any] | None, kinds: Kinds = KINDS
) -> str:
    """Return one line about a call and its result: tool, key arguments, outcome, size."""
    name = call_name(call) if call else "tool"
    arguments = parsed_arguments(call) if call else {}
    text = content_text(result.get("content")) if result else ""
    kind = kinds.kind_of(name, arguments)
    if kind == "question":
        return f"{name}: answer: {' '.join(text.split())}"
    describe = _DESCRIBED.get(kind, _other)
    line = " ".join(f"{name}: {describe(arguments, text)}".split())
    return line if len(line) <= MAX_LINE_CHARS else line[: MAX_LINE_CHARS - 1] + "…"


def _part(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= _PART_CHARS else text[: _PART_CHARS - 1] + "…"


def _first(arguments: Mapping[str, Any], *keys: str) -> str:
    for key in keys:
        if arguments.get(key):
            return _part(arguments[key])
    return ""


def _lines(text: str) -> int:
    return len(text.splitlines())


def _failure(text: str) -> str:
    """Return the last line that tells of a failure, or nothing."""
    for line in reversed(text.splitlines()[-200:]):
        if _FAILURE.search(line):
            return _part(line)
    return ""


def _terminal(arguments: Mapping[str, Any], text: str) -> str:
    command = _first(arguments, "command", "cmd", "script", "code", "input")
    found = _EXIT.search(text[-2_000:]) or _EXIT.search(text[:500])
    code = f", exit {found[1]}" if found else ""
    failed = _failure(text) if not found or found[1] != "0" else ""
    return f"`{command}`{code}, {_lines(text):,} lines" + (
        f", last error: {failed}" if failed else ""
    )


def _read(arguments: Mapping[str, Any], text: str) -> str:
    start = _first(arguments, "offset", "start_line", "line_start", "view_range", "start")
    return f"{path_of(arguments)}{f' from {start}' if start else ''}, {len(text):,} characters"


def _write(arguments: Mapping[str, Any], text: str) -> str:
    content = arguments.get("content") or arguments.get("new_string") or arguments.get("text")
    size = f", {_lines(content):,} lines" if isinstance(content, str) else ""
    mode = _first(arguments, "mode", "command")
    failed = _failure(text)
    return f"{path_of(arguments)}{size}{f', {mode}' if mode else ''}" + (
        f", failed: {failed}" if failed else ""
    )


def _search(arguments: Mapping[str, Any], text: str) -> str:
    pattern = _first(arguments, "pattern", "query", "regex", "q", "search_term", "keyword", "name")
    place = path_of(arguments) or _first(arguments, "glob", "include", "scope")
    return f"{pattern!r}{f' in {place}' if place else ''}, {_lines(text):,} lines found"


def _list(arguments: Mapping[str, Any], text: str) -> str:
    place = path_of(arguments) or _first(arguments, "pattern", "glob")
    return f"{place or '.'}, {_lines(text):,} entries"


def _web(arguments: Mapping[str, Any], text: str) -> str:
    target = _first(arguments, "url", "urls", "query", "q", "prompt")
    title = next((_part(line) for line in text.splitlines()[:20] if line.strip()), "")
    return f"{target}, {title!r}, {len(text):,} characters"


def _delegate(arguments: Mapping[str, Any], text: str) -> str:
    goal = _first(arguments, "description", "goal", "task", "instruction", "prompt", "message")
    ending = next((_part(x) for x in reversed(text.splitlines()[-50:]) if x.strip()), "")
    return f"{goal}, outcome: {ending}, {len(text):,} characters"


def _code(arguments: Mapping[str, Any], text: str) -> str:
    source = _first(arguments, "code", "script", "source", "input")
    raised = _EXCEPTION.findall(text[-4_000:])
    return f"{source}, {_lines(text):,} lines of output" + (f", {raised[-1]}" if raised else "")


def _action(arguments: Mapping[str, Any], text: str) -> str:
    del text
    action = _first(arguments, "action", "command", "operation", "status")
    target = _first(
        arguments, "subject", "content", "key", "title", "taskId", "id", "todos", "name"
    )
    return " ".join(filter(None, [action, target])) or "done"


def _other(arguments: Mapping[str, Any], text: str) -> str:
    shown = ", ".join(f"{key}={_part(value)}" for key, value in list(arguments.items())[:2])
    failed = _failure(text[-4_000:])
    return f"{shown or 'no arguments'}, {len(text):,} characters" + (
        f", {failed}" if failed else ""
    )


_DESCRIBED = {
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
