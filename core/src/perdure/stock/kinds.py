"""What a tool does, told from its name and its arguments.

Names differ between agents (`bash`, `shell`, `run_command`, `terminal` are one kind), servers put
their own in front (`mcp__github__get_issue`), and argument names say much where a name says little.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from posixpath import normpath
from typing import Any

Patterns = tuple[tuple[str, tuple[str, ...]], ...]

# In order: the first pattern that fits decides. A pattern without * is a word of the name.
PATTERNS: Patterns = (
    (
        "question",
        (
            "ask*user*",
            "*_ask*user*",
            "*clarif*",
            "question",
            "*ask_human*",
            "*elicit*",
            "*confirm*user*",
            "*request_input",
            "*user_input*",
            "*human_input*",
            "*human_feedback*",
            "ask_for_*",
            "*prompt_user*",
            "ask_followup*",
            "exit_plan_mode",
            "plan_mode_respond",
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
            "task_tracker",
        ),
    ),
    ("memory", ("memory", "memories", "remember", "memorize", "*save_note*", "recall")),
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
            "*notebook_cell*",
            "javascript",
        ),
    ),
    (
        "terminal",
        (
            "bash",
            "shell",
            "terminal",
            "*run_command*",
            "*execute_command*",
            "powershell",
            "*bash*",
            "*shell*",
            "*stdin*",
            "zsh",
            "start_process",
            "kill_process",
            "*with_process*",
            "*process_output*",
        ),
    ),
    ("edit", ("edit", "patch", "*str_replace*", "replace", "insert", "*apply_diff*", "editor")),
    (
        "write",
        ("write", "*create_file*", "*save_file*", "*update_file*", "*append_*file*", "overwrite"),
    ),
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
    ("list", ("glob", "list", "ls", "tree")),
    ("read", ("read", "view", "cat", "*open_file*", "*get_file*", "*load_file*", "*show_file*")),
    # Words that say little: they decide only when nothing else has.
    ("terminal", ("run", "exec", "command", "cmd", "console")),
)
# Names that say what a tool does only when they stand alone.
_WHOLE_NAMES = {
    "open": "read",
    "goto": "read",
    "scroll_up": "read",
    "scroll_down": "read",
    "create": "write",
    "dir": "list",
    "ask": "question",
    "process": "terminal",
}
# Editors with one name for all they do say in the argument `command` what they do.
_EDITOR_COMMANDS = {"view": "read", "create": "write"}
_BY_ARGUMENTS: tuple[tuple[str, frozenset[str]], ...] = (
    ("terminal", frozenset({"command", "cmd", "script", "commandline"})),
    ("edit", frozenset({"oldstring", "oldstr", "diff", "patch"})),
    ("web", frozenset({"url", "urls"})),
    ("search", frozenset({"pattern", "query", "regex", "q"})),
    ("code", frozenset({"code"})),
    ("read", frozenset({"filepath", "filename", "absolutepath"})),
)
# Argument names in the spelling that `plain` gives them.
PATH_KEYS = (
    "filepath",
    "path",
    "filename",
    "file",
    "targetfile",
    "absolutepath",
    "relativepath",
    "relativeworkspacepath",
    "notebookpath",
    "directory",
    "dir",
    "folder",
    "directorypath",
    "dirpath",
    "searchpath",
    "searchdirectory",
    "uri",
)
_WORD_BREAK = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|[\s.\-/:]+")
_PATCHED = re.compile(
    r"^(?:\*\*\* (?:Update|Add|Delete) File: |\+\+\+ (?:b/)?)(?P<path>[^\n\t]{1,400})", re.MULTILINE
)
_PATCH_KEYS = ("patch", "diff", "input")
_LONGEST_NAME = 200
_PATCH_HEAD = 4_000


@dataclass(frozen=True, slots=True)
class Kinds:
    """A registry of tool kinds; the first pattern that fits decides."""

    patterns: tuple[tuple[str, tuple[str, ...]], ...] = PATTERNS

    def extended(self, more: Mapping[str, Iterable[str]]) -> Kinds:
        """Return the registry with more patterns in front.

        Args:
            more: Name patterns by kind. A kind that is not known here is legal: its tools are
                told apart, and described like those of the kind `other`.
        """
        added = tuple((kind, tuple(name.lower() for name in names)) for kind, names in more.items())
        return Kinds((*added, *self.patterns)) if added else self

    def kind_of(self, name: str, arguments: Mapping[str, Any]) -> str:
        """Return what a tool does: a kind of `PATTERNS` or of an extension, or `other`."""
        given = arguments if isinstance(arguments, Mapping) else {}
        kind = _by_name(self.patterns, name[:_LONGEST_NAME]) if isinstance(name, str) else ""
        if kind == "edit":
            command = given.get("command")
            return _EDITOR_COMMANDS.get(command, kind) if isinstance(command, str) else kind
        return kind or _by_arguments(given)


@lru_cache(maxsize=4096)
def _by_name(patterns: Patterns, name: str) -> str:
    """Return the kind that the name tells, or nothing; agents use few names very often."""
    whole = name.lower()
    own = _WORD_BREAK.sub("_", name.rpartition("__")[2]).lower()
    words = {*own.split("_"), own, whole}
    for kind, wanted in patterns:
        if any(
            fnmatchcase(own, one) or fnmatchcase(whole, one) if "*" in one else one in words
            for one in wanted
        ):
            return kind
    return _WHOLE_NAMES.get(own, "")


def _by_arguments(arguments: Mapping[str, Any]) -> str:
    keys = plain(arguments).keys()
    return next((kind for kind, marks in _BY_ARGUMENTS if keys & marks), "other")


KINDS = Kinds()


def kind_of(name: str, arguments: Mapping[str, Any]) -> str:
    """Return what a tool does by the default registry."""
    return KINDS.kind_of(name, arguments)


def plain(arguments: Mapping[Any, Any]) -> dict[str, Any]:
    """Return arguments by names without case, `_` and `-`, which agents spell as they like."""
    return {
        key.lower().replace("_", "").replace("-", ""): value
        for key, value in arguments.items()
        if isinstance(key, str)
    }


def path_of(arguments: Mapping[str, Any]) -> str:
    """Return the file or folder that a call names (for a patch: the first one), or nothing."""
    named = plain(arguments)
    for key in (one for one in PATH_KEYS if one in named):
        value = named[key]
        if isinstance(value, str) and value:
            return value
    for key in (one for one in _PATCH_KEYS if one in named):
        value = named[key]
        found = _PATCHED.search(value[:_PATCH_HEAD]) if isinstance(value, str) else None
        if found:
            return found["path"].strip()
    return ""


def same_path(path: str) -> str:
    """Return the spelling that equal paths share (`./a.py` and `a.py` are one file)."""
    return normpath(path) if path else ""
