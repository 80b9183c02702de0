"""Ways to shorten texts of lines: each keeps what a reader of that kind of text looks for. Pure."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from functools import partial
from itertools import groupby
from posixpath import dirname
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MAX_LINE_CHARS = 600
_FAILURE = re.compile(
    r"\b(?:error|exception|traceback|failed|failure|fatal|panic|denied|warning|assert\w*|"
    r"not found|no such|undefined|cannot|unable)\b|\b\w+(?:Error|Exception)\b|^E\s|✗|✘|"
    r"错误|失败|エラー|失敗|오류|ошибка",
    re.IGNORECASE,
)
_DIGITS = re.compile(r"0x[0-9a-f]+|\d+", re.IGNORECASE)
_HUNK = re.compile(
    r"^(?:diff --git |index [0-9a-f]|--- |\+\+\+ |@@ |"
    r"new file |deleted file |rename |Binary files )"
)
_PREAMBLE_LINES = 30
"""Most lines before a diff, such as the message of a commit."""
_LANDMARK = re.compile(
    r"^(?:#{1,6}\s|\s{0,8}(?:def |class |func |function |fn |impl |struct |interface |type |"
    r"export |public |private |async def )|[A-Z][^.!?]{2,80}:?$|={3,}|-{3,})"
)


def shorten_log(text: str, chars: int) -> str:
    """Keep the first and last lines and what failed; fold lines that repeat but for numbers."""
    lines = _folded(text.splitlines())
    failures = [i for i, line in enumerate(lines) if _FAILURE.search(line[:MAX_LINE_CHARS])]
    wanted = [*_ends(len(lines), 6), *reversed(failures[-200:])]
    wanted += [i + 1 for i in failures if i + 1 < len(lines)]
    wanted += _from_ends(len(lines))
    return _chosen(lines, wanted, chars)


def shorten_text(text: str, chars: int) -> str:
    """Keep the start, the end, and headings and definitions between them."""
    lines = _wrapped(text)
    room = _line_room(lines, chars)
    head = range(min(len(lines), room // 2))
    tail = range(max(0, len(lines) - room // 5), len(lines))
    landmarks = [i for i, line in enumerate(lines) if _LANDMARK.match(line)]
    wanted = [*_ends(len(lines), 3), *head, *reversed(tail), *landmarks]
    return _chosen(lines, [*wanted, *_from_ends(len(lines))], chars)


def shorten_diff(text: str, chars: int) -> str:
    """Keep what stands before it, file names and hunk headers, and whole hunks that have room."""
    lines = text.splitlines()
    headers = [i for i, line in enumerate(lines) if _HUNK.match(line)]
    hunks = [i for i in headers if lines[i].startswith("@@")] or headers
    wanted = [*range(min(_PREAMBLE_LINES, headers[0] if headers else 0)), *headers]
    for number, start in enumerate(hunks):
        end = hunks[number + 1] if number + 1 < len(hunks) else len(lines)
        wanted += range(start, end)
    return _chosen(lines, wanted, chars)


def shorten_search(text: str, chars: int) -> str:
    """Group matches by file with their number, and show the first ones of each."""
    by_file: dict[str, list[str]] = defaultdict(list)
    rest: list[str] = []
    for line in text.splitlines():
        path, colon, match = line.partition(":")
        if colon and match[:1].isdigit() and len(path) < MAX_LINE_CHARS // 2:
            by_file[path].append(match)
        else:
            rest.append(line)
    shown = 4
    while True:
        blocks = []
        for path, matches in by_file.items():
            blocks.append(f"{path} ({len(matches)} matches)")
            blocks += [f"  {match.strip()[:200]}" for match in matches[:shown]]
        short = "\n".join([*rest[:20], *blocks])
        if len(short) <= chars or shown == 0:
            return short if len(short) <= chars else _cut_at_line(short, chars)
        shown -= 1


def shorten_listing(text: str, chars: int) -> str:
    """Count entries by folder, then show the first ones."""
    lines = [line for line in text.splitlines() if line.strip()]
    folders = Counter(dirname(line.strip().split()[-1]) or "." for line in lines)
    if len(folders) > 1:
        counts = [f"{count:,} in {folder}/" for folder, count in folders.most_common(40)]
        head = [f"{len(lines):,} entries in {len(folders):,} folders:", *counts]
    else:
        head = [f"{len(lines):,} entries:"]
    return _cut_at_line("\n".join([*head, *lines]), chars)


# ------------------------------------------------------------------------------- choosing lines


def _folded(lines: Sequence[str]) -> list[str]:
    """Fold runs of lines that are the same but for numbers: the first, a count, and the last."""
    folded: list[str] = []
    for _, run in groupby(lines, key=partial(_DIGITS.sub, "#")):
        alike = list(run)
        folded.append(_clipped(alike[0]))
        if len(alike) > 2:
            folded.append(f"  (and {len(alike) - 2:,} more like it)")
        if len(alike) > 1:
            folded.append(_clipped(alike[-1]))
    return folded


def _wrapped(text: str) -> list[str]:
    """Return lines; very long ones in parts, so that a text of one line can be shortened too."""
    return [
        line[start : start + MAX_LINE_CHARS]
        for line in text.splitlines()
        for start in range(0, max(1, len(line)), MAX_LINE_CHARS)
    ]


def _clipped(line: str) -> str:
    if len(line) <= MAX_LINE_CHARS:
        return line
    return f"{line[: MAX_LINE_CHARS * 2 // 3]} … {line[-MAX_LINE_CHARS // 4 :]}"


def _line_room(lines: Sequence[str], chars: int) -> int:
    average = sum(map(len, lines[:400])) / max(1, len(lines[:400])) + 1
    return max(4, int(chars / average))


def _ends(length: int, each: int) -> list[int]:
    return [*range(min(each, length)), *range(max(0, length - each), length)]


def _from_ends(length: int) -> Iterable[int]:
    """Yield indexes from both ends inwards, the end twice as fast as the start."""
    first, last = 0, length - 1
    while first <= last:
        yield last
        if last - 1 > first:
            yield last - 1
        if first < last - 1:
            yield first
        first, last = first + 1, last - 2


def _chosen(lines: Sequence[str], wanted: Iterable[int], chars: int) -> str:
    """Return the wanted lines in their order as far as they fit, with counts between them."""
    kept: set[int] = set()
    room = chars
    for index in wanted:
        if index in kept or index >= len(lines):
            continue
        cost = len(lines[index][:MAX_LINE_CHARS]) + 1
        if cost > room - 40:
            if room < 120:
                break
            continue
        kept.add(index)
        room -= cost
    out: list[str] = []
    before = -1
    for index in sorted(kept):
        if index > before + 1:
            out.append(f"[… {index - before - 1:,} lines …]")
        out.append(lines[index][:MAX_LINE_CHARS])
        before = index
    if before < len(lines) - 1:
        out.append(f"[… {len(lines) - 1 - before:,} lines …]")
    return "\n".join(out)


def _cut_at_line(text: str, chars: int) -> str:
    if len(text) <= chars:
        return text
    end = text.rfind("\n", 0, chars)
    left = text.count("\n", end) if end > 0 else 0
    return f"{text[: end if end > 0 else chars]}\n[… {left:,} lines …]"
