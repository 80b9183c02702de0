"""What a shell command does, told from its programs: read a file, search, list, or something else.

Agents without tools of their own for files do all of it in a shell, and what they read there is as
much worth as what a reading tool gives.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from perdure.stock.kinds import plain

if TYPE_CHECKING:
    from collections.abc import Mapping

_PROGRAMS = {
    "read": "cat bat batcat nl head tail less more type get-content gc sed",
    "search": "grep egrep fgrep rg ag ack findstr select-string sls zgrep",
    "list": "ls find fd fdfind tree dir get-childitem gci exa eza",
}
_KIND_OF = {name: kind for kind, names in _PROGRAMS.items() for name in names.split()}
_GIT = {"grep": "search", "ls-files": "list", "ls-tree": "list"}
_SILENT = frozenset({"cd", "export", "set", "source", "true", "pwd", "echo", "printf", "pushd"})
"""Programs that only prepare for the next one, or say a line."""
_WRAPPERS = frozenset({"sudo", "env", "command", "time", "timeout", "nice", "stdbuf"})
_SHELL = re.compile(
    r"^\s*(?:\S*/)?(?:ba|z|da|k)?sh(?:\.exe)?\s+-\w*c\s+(?P<quote>['\"]?)(?P<inner>.*)(?P=quote)\s*$",
    re.DOTALL,
)
_STEP = re.compile(r"&&|\|\||;|\n")
_QUOTED = re.compile(r"'[^']*'|\"(?:[^\"\\]|\\.)*\"")
_ASSIGNMENT = re.compile(r"\w+=\S*$")
_NUMBER = re.compile(r"-\S+$|\d+[smh]?$")
_KEYS = ("command", "cmd", "script", "commandline")
_LONGEST = 4_000


def purpose_of(arguments: Mapping[str, Any]) -> str:
    """Return `read`, `search` or `list` when all that a shell call does is that, else `terminal`.

    Args:
        arguments: Arguments of the call; the command may be a text or a list of words.
    """
    given = plain(arguments)
    command = next((given[key] for key in _KEYS if given.get(key)), "")
    if isinstance(command, list):
        words = [word for word in command if isinstance(word, str)]
        command = (
            words[-1]
            if words[1:2] and words[1].startswith("-") and "c" in words[1]
            else " ".join(words)
        )
    if not isinstance(command, str) or len(command) > _LONGEST or "<<" in command:
        return "terminal"
    inner = _SHELL.match(command)
    steps = _STEP.split(_QUOTED.sub("Q", inner["inner"] if inner else command))
    found = {purpose for step in steps if (purpose := _of_step(step))}
    return found.pop() if len(found) == 1 else "terminal"


def _of_step(step: str) -> str:
    """Return the purpose of a pipeline, that of its first program; nothing if it only prepares."""
    first, *_ = step.split("|")
    if ">" in re.sub(r"\d?>\s*(?:/dev/null|&\d)", "", step):
        return "terminal"
    words = first.split()
    while words and (
        words[0] in _WRAPPERS or _ASSIGNMENT.match(words[0]) or _NUMBER.match(words[0])
    ):
        words.pop(0)
    if not words:
        return ""
    program = words[0].rpartition("/")[2].lower()
    if program in _SILENT:
        return ""
    if program == "git":
        return _GIT.get(next((word for word in words[1:] if word[0] != "-"), ""), "terminal")
    if program == "sed" and "-n" not in words:
        return "terminal"
    return _KIND_OF.get(program, "terminal")
