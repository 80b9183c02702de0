"""What a person typed, as against what they pasted, and what a client put into their mouth.

Text is judged by block, never by line: a bullet is not a diff, and a sentence above a log is still
a sentence. A block is a fence, an element with a closing tag, or a run of neighbouring lines that
look alike.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.messages import strip_injected

if TYPE_CHECKING:
    from collections.abc import Iterator

# Elements in which clients hand over the person's own words.
_OWN = frozenset(
    [
        "user",
        "user_query",
        "user_request",
        "user_message",
        "user_input",
        "query",
        "question",
        "task",
        "request",
        "prompt",
        "instruction",
        "instructions",
        "rule",
        "rules",
        "constraint",
        "constraints",
        "requirement",
        "requirements",
        "goal",
        "objective",
        "feedback",
        "answer",
        "note",
        "important",
    ]
)
_TAG = re.compile(r"\s{0,8}<([A-Za-z][\w:.-]{0,60})(?:\s[^<>]{0,400})?>")
_CLOSING = re.compile(r"</([A-Za-z][\w:.-]{0,60})>")
_FENCE = re.compile(r"\s{0,8}(?:[-*] |\d+\. )?(`{3,}|~{3,})")
_DIFF_HEAD = re.compile(
    r"(?:diff --git |diff -|index [0-9a-f]{6,}|@@ -\d|(?:---|\+\+\+) (?:a/|b/|/dev/null|\S+\.\w+))"
)
_DIFF_BODY = re.compile(r"[+\-@\\ ]|diff |index |$")

_LOG = re.compile(
    r"\s*(?:"
    r"\[?(?:\d{4}[-/]\d\d[-/]\d\d[T ]\d\d:\d\d|\d\d:\d\d:\d\d[.,\s\]]"
    r"|[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d )"
    r"|\[?(?:TRACE|DEBUG|INFO|NOTICE|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE|PASS|FAIL"
    r"|OK)\]?(?:[:|\s]\s*\S)"
    r"|Traceback \(most recent|File \"[^\"]{1,300}\", line \d"
    r"|at [\w$.<>/ ]{1,120}\([^()]{0,300}\)\s*$|Caused by: "
    r"|(?:error|warning|note|fatal|panic)(?:\[\w{1,20}\])?: |\.{3} \d+ more"
    r"|[\w.]{0,80}(?:Error|Exception)(?:\[[^\]]{0,40}\])?: |(?:npm|yarn"
    r"|pnpm) (?:ERR!|WARN|error)"
    r"|error\[E?\d+\]|E   |>{1,3} |[$%#❯➜] ?[a-z./][\w./-]{0,40}(?:\s|$)|[\w.@~-]{1,60}[$#] "
    r"|[\w./\\-]{1,200}:\d{1,6}(?::\d{1,6})?:? |={4,}|-{8,}|\*{8,}|#\d+ 0x[0-9a-f]"
    r"|goroutine \d|\d+ (?:passed|failed)"
    r"|(?:ok|FAIL|---|===) +[\w./-]{3,}|make(?:\[\d+\])?: |fatal: |remote: |HTTP/\d"
    r"|[*<>] [A-Za-z-]{2,40}: "
    r"|Tokens: [\d.,]+k? sent|Applied edit to |Commit [0-9a-f]{7}\b|You can use /undo"
    r"|\[aider\]|Aider v\d|Models?: \S+ with "
    r"|(?:Git repo|Repo-map|Main model|Weak model|Editor model): |Use /help |Cost: \$|\^C"
    r"|https?://aider\.chat"
    r"|[A-Za-z][\w .-]{0,60}\.{6,}\w|[⏺⎿●✻✢]|❯ "
    r")"
)
_TREE = re.compile(r"\s{0,200}[│├└┌┬┤┐┘┴┼║╠╚═─]")
_TABLE = re.compile(r"\s{0,40}\|.{0,2000}\|\s*$|[^\t]{0,200}\t[^\t]{1,200}\t")
_QUOTED = re.compile(r"\s{0,4}>(?: |$)")
_CODE = re.compile(
    r"\s*(?:import [\w{*\"'.]|from [\w.]+ import |(?:async )?def \w+\("
    r"|class \w+[(:{ ]\s*[\w:{]|(?:export |async )*"
    r"function\b.*[({]|(?:const|let|var|val) [\w{\[]+.{0,80}=|(?:public|private|protected"
    r"|static) \w|#include|"
    r"package [\w.]+;?$|func [\w(]|fn \w+[(<]|use \w+::|@\w+(?:\(.*)?$|[}\])]{1,20}[;,]{0,3}\s*$|//"
    r"|/\*|\*/|"
    r"(?:if|for|while|switch|elif|else|try|except|catch)\b.{0,300}[{:]\s*$"
    r"|return\b.{0,200};\s*$|#!/|<[/!?\w][^<>]{0,300}>"
    r"\s*(?:$|.{0,200}</)|SELECT .{1,200} FROM |(?:INSERT INTO|CREATE TABLE|ALTER TABLE) "
    r"|[\w.\[\]\"']{1,60} [+*/-]?= [^=].{0,200}$|"
    r"[\"']?[\w.-]{1,60}[\"']?: (?:[\"'\[{].{0,200}|true|false|null|\d[\d.]*),?$|[{\[]\s*$"
    r")|.{0,400}(?:[{;]|\) ?=> ?\{?|\):)\s*$"
)
# Strong enough to be a block alone.
_ALONE = re.compile(
    r"\s*(?:\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d|Traceback \(most recent"
    r"|File \"[^\"]{1,300}\", line \d|Caused by: |"
    r"at [\w$.<>/ ]{1,120}\([^()]{1,300}:\d+\)|Tokens: [\d.,]+k? sent|Applied edit to "
    r"|Commit [0-9a-f]{7}\b|You can use /undo|"
    r"\[aider\]|Aider v\d|Models?: \S+ with |(?:Git repo|Repo-map|Main model|Weak model): "
    r"|Use /help |\^C|"
    r"https?://aider\.chat|npm ERR!|[{\[][\"{\[].{20,}[}\]],?\s*$|[{\[][\"{\[].{150}"
    r"|[\w.]{3,80}(?:Error|Exception): )"
)
_OBSERVATION = re.compile(
    r"\s*(?:OBSERVATION|Observation|EXECUTION RESULT|Tool (?:result|output)|<tool_(?:result"
    r"|response|output)|"
    r"<function_results?|<returncode>|<observation|<output>"
    r"|\[[\w-]{1,40}(?: for .{0,300})?\] Result|Command (?:output|"
    r"executed)|Exit code: ?\d|Result of calling)"
)
_PROMPT_TAIL = re.compile(
    r"\(Current directory: [^\n]{0,400}\)\s{0,4}\n\s{0,4}(?:bash-)?\$\s{0,4}$|\n?bash-\$\s{0,4}$"
)
_FOOTER_LINE = re.compile(
    r"\((?:Open file|Current directory|Interactive session): [^\n]{0,400}\)\s*$|(?:bash-)?\$\s*$"
)
_FINISHED = ("[Command finished with exit code", "[The command completed with exit code")
# What a client puts into the user role when a skill is invoked, the arguments last.
_SKILL = re.compile(r"Base directory for this skill: ")
_PASTED = re.compile(r"^\[pasted [^\]\n]{1,90}\]$", re.MULTILINE)
_DIGITS = re.compile(r"\d+")
_LOOKED_AT = 2_100
_TEMPLATE_LINES = 4
_TEMPLATE_CHARS = 12


@dataclass(frozen=True, slots=True)
class Typed:
    """The typed part of a user message.

    Attributes:
        text: What is left when pasted blocks are gone; each leaves a short note of its size.
        is_observation: True when the message is tool output in a text protocol.
    """

    text: str
    is_observation: bool = False


def typed_of(text: str) -> Typed:
    """Return what a person typed in a user message; linear in the text."""
    own = strip_injected(text)
    if _SKILL.match(own):
        own = own.rpartition("\nARGUMENTS:")[2] if "\nARGUMENTS:" in own else ""
    observation = is_observation(own)
    kept = "\n".join(_kept(own.splitlines())).strip("\n")
    return Typed(kept, observation)


def is_observation(text: str) -> bool:
    """Return whether the text is tool output in a protocol that has no role for it."""
    tail = text[-1000:]
    return bool(_OBSERVATION.match(text) or _PROMPT_TAIL.search(tail)) or any(
        mark in tail for mark in _FINISHED
    )


def line_keys(text: str) -> tuple[int, ...]:
    """Return a key for each line of a text of several lines; templates repeat them.

    A key is a digest of the line with its digits masked. Short lines have none, and a message of a
    few lines has no keys at all: what a person says again and again is not a template.
    """
    lines = [line for line in text.splitlines() if line.strip()]
    if len(lines) < _TEMPLATE_LINES:
        return ()
    return tuple(dict.fromkeys(key for line in lines if (key := line_key(line))))


def line_key(line: str) -> int:
    """Return the key of one line, or 0 for a line too short to tell a template by."""
    masked = _DIGITS.sub("0", line.strip())
    if len(masked) < _TEMPLATE_CHARS:
        return 0
    data = masked.encode("utf-8", "surrogatepass")
    return int.from_bytes(hashlib.blake2b(data, digest_size=6).digest(), "big")


def _kept(lines: list[str]) -> Iterator[str]:
    """Yield the typed lines, and for every pasted block one note."""
    closers = _closers(lines)
    position = 0
    while position < len(lines):
        if end := _fence_end(lines, position):
            yield _note(end - position, "code")
            position = end
            continue
        tag, end = _element_end(lines[position], position, closers)
        if end:
            yield _note(end - position, tag)
            position = end
            continue
        stop = position
        while (
            stop < len(lines)
            and lines[stop].strip()
            and (stop == position or not _opens(lines[stop]))
        ):
            stop += 1
        stop, kept = _paragraph(lines, position, stop)
        yield from kept
        position = max(stop, position)
        if position < len(lines) and not lines[position].strip():
            yield ""
            position += 1


def without_notes(text: str) -> str:
    """Return typed text without the notes that stand for pasted blocks."""
    return _PASTED.sub("", text).strip()


def _note(count: int, kind: str) -> str:
    return f"[pasted {kind}, {count} line{'s' if count != 1 else ''}]"


def _opens(line: str) -> bool:
    return bool(_FENCE.match(line) or _TAG.match(line))


def _fence_end(lines: list[str], position: int) -> int:
    opening = _FENCE.match(lines[position])
    if not opening:
        return 0
    mark = opening[1]
    for index in range(position + 1, len(lines)):
        stripped = lines[index].strip()
        if stripped.startswith(mark) and not stripped.strip(mark[0]):
            return index + 1
    return len(lines)


def _closers(lines: list[str]) -> dict[str, list[int]]:
    found: dict[str, list[int]] = {}
    for index, line in enumerate(lines):
        if "</" in line:
            for tag in _CLOSING.findall(line):
                found.setdefault(tag, []).append(index)
    return found


def _element_end(line: str, position: int, closers: dict[str, list[int]]) -> tuple[str, int]:
    opening = _TAG.match(line)
    if not opening or opening[1].lower() in _OWN:
        return "", 0
    places = closers.get(opening[1], ())
    at = bisect_left(places, position)
    return (opening[1], places[at] + 1) if at < len(places) else ("", 0)


def _paragraph(lines: list[str], start: int, stop: int) -> tuple[int, list[str]]:
    """Return where the paragraph ends and what of it was typed."""
    if stop == start:
        return start, []
    paragraph = lines[start:stop]
    for offset, line in enumerate(paragraph):
        if _DIFF_HEAD.match(line):
            end = _diff_end(lines, start + offset)
            before = list(_typed_lines(paragraph[:offset]))
            return end, [*before, _note(end - start - offset, "diff")]
    return stop, list(_typed_lines(paragraph))


def _diff_end(lines: list[str], start: int) -> int:
    """Return the line after a diff; a blank line belongs to it when more of the diff follows."""
    end = start
    for index in range(start, len(lines)):
        if not _DIFF_BODY.match(lines[index]) and not _DIFF_HEAD.match(lines[index]):
            break
        if lines[index].strip():
            end = index + 1
    return max(end, start + 1)


def _label(line: str) -> str:
    line = line[:_LOOKED_AT]
    if _QUOTED.match(line):
        return "quotation"
    if _TREE.match(line):
        return "tree"
    if _TABLE.match(line):
        return "table"
    if _LOG.match(line):
        return "log"
    return "code" if _CODE.match(line) or _ALONE.match(line) else ""


def _typed_lines(paragraph: list[str]) -> Iterator[str]:
    """Yield the typed lines of a paragraph; two or more alike lines are one pasted block."""
    labels = [_label(line) for line in paragraph]
    position = 0
    while position < len(paragraph):
        if not labels[position]:
            if not _FOOTER_LINE.match(paragraph[position]):
                yield paragraph[position]
            position += 1
            continue
        end = _run_end(paragraph, labels, position)
        if end - position > 1 or _ALONE.match(paragraph[position]):
            yield _note(end - position, labels[position])
        else:
            yield paragraph[position]
        position = end


def _run_end(paragraph: list[str], labels: list[str], start: int) -> int:
    """Return the end of a run of labelled lines; indented lines between two of them are in it."""
    end = start + 1
    for index in range(start + 1, len(labels)):
        if labels[index]:
            end = index + 1
        elif not paragraph[index].startswith((" ", "\t")):
            break
    return end
