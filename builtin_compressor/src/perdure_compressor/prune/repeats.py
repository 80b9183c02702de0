"""First pass: of identical results and of repeated reads of one file, the newest stays."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from perdure.messages import (
    Message,
    call_name,
    content_text,
    copy_message,
    group,
    pair,
    parsed_arguments,
)
from perdure.stock.kinds import PATH_KEYS, Kinds, path_of, plain, same_path
from perdure.stock.one_line import has_failed, subject_of, user_words
from perdure_compressor.prune.marks import Edit, is_pruned, is_worth_it, stub

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence

MIN_CHARS = 200
# Arguments that change nothing of what is read, in the spelling of `plain`.
_REMARKS = frozenset({"description", "explanation", "reason", "thought", "toolsummary"})
# Arguments that tell in which of many places a path is meant.
_PLACES = frozenset(
    {"owner", "repo", "repository", "project", "branch", "ref", "sha", "commit", "tag", "bucket"}
    | {"host", "server", "machine", "container", "sandbox", "cwd", "workdir", "root", "workspace"}
)

Call = tuple[dict[str, Any], int]
Place = tuple[object, ...]


def calls_with_results(messages: Sequence[Message]) -> Iterator[Call]:
    """Yield each call that has a result, with the index of the result.

    For a result without a call, the call is made of what the result tells: a name or nothing.
    """
    for unit in group(messages):
        if unit.kind == "orphan":
            yield {"function": {"name": messages[unit.first].get("name")}}, unit.first
        elif unit.kind == "calls":
            for call, result in pair(messages, unit):
                if result is not None:
                    yield call, result


def repeats(
    messages: Sequence[Message],
    prunable: Container[int],
    *,
    kinds: Kinds,
    ref_of: Callable[[int], str],
    names_tools: bool,
) -> list[Edit]:
    """Return an edit for each result that a later one repeats or makes stale.

    What the line says of the later call stays true when that one's result is pruned as well.
    """
    later: dict[object, Callable[[str], str]] = {}
    edits: list[Edit] = []
    for call, index in reversed(list(calls_with_results(messages))):
        message = messages[index]
        text = content_text(message.get("content"))
        if is_pruned(text):
            continue
        name, arguments = call_name(call), parsed_arguments(call)
        kind = kinds.kind_of(name, arguments)
        place = _place(name, arguments)
        keys = _keys(kind, place, arguments, text)
        why = next((later[key] for key in keys if key in later), None)
        if why and index in prunable and isinstance(message.get("content"), str):
            subject = subject_of(arguments)
            about = f"{name[:60] or 'tool'} {subject}".strip()
            line = f"{about}: {len(text):,} characters, {why(subject)}"
            if is_worth_it(text, line) and kind != "question" and not user_words(text):
                changed = copy_message(message)
                changed["content"] = stub(line, ref_of(index), names_tools=names_tools)
                edits.append(Edit(index, changed, "repeat"))
        said = partial(_said, name[:60] or "tool", arguments)
        for key, sentence in _supersedes(kind, place, arguments, message, text):
            later.setdefault(key, partial(said, sentence))
    return edits[::-1]


def _keys(kind: str, place: Place | None, arguments: Mapping[str, Any], text: str) -> list[object]:
    """Return what makes a result the same as, or older than, another one."""
    if len(text) < MIN_CHARS:
        return []
    if kind != "read" or place is None:
        return [("text", text)]
    return [("text", text), ("read", place, _span(arguments)), ("changed", place)]


def _supersedes(
    kind: str, place: Place | None, arguments: Mapping[str, Any], message: Message, text: str
) -> Iterator[tuple[object, str]]:
    """Yield what a result makes old, with what is said there of its call."""
    if len(text) >= MIN_CHARS:
        yield ("text", text), "the same as what a later {} returned"
    # What failed took no place, and a reason that is not certain is not given.
    if place is None or message.get("is_error") or has_failed(text):
        return
    if kind == "read" and len(text) >= MIN_CHARS:
        yield ("read", place, _span(arguments)), "read again by a later {}"
    if kind in ("write", "edit"):
        yield ("changed", place), "changed since by a later {}"


def _said(name: str, arguments: Mapping[str, Any], sentence: str, old_subject: str) -> str:
    subject = subject_of(arguments)
    other = f" {subject}" if subject and subject != old_subject else ""
    return sentence.format(f"{name}{other}")


def _place(name: str, arguments: Mapping[str, Any]) -> Place | None:
    """Return what tells one file from all others; servers may have files of the same path."""
    path = same_path(path_of(arguments))
    if not path:
        return None
    named = plain(arguments)
    where = sorted((key, str(named[key])) for key in _PLACES & named.keys())
    return (name.rpartition("__")[0], path, *where)


def _span(arguments: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    """Return the part of a file that is asked for: all arguments but path and remarks."""
    told = {*PATH_KEYS, *_REMARKS}
    return tuple(sorted((k, str(v)) for k, v in plain(arguments).items() if k not in told))
