"""Second pass: a long old result becomes one informative line; pictures become a placeholder."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from perdure.messages import (
    Message,
    call_name,
    content_text,
    copy_message,
    images_in,
    is_result,
    parsed_arguments,
)
from perdure.stock.kinds import Kinds, one_liner

from perdure_compressor.prune.marks import Edit, is_pruned, stub
from perdure_compressor.prune.repeats import calls_with_results

MIN_CHARS = 240
MIN_SAVED_CHARS = 100
_MEDIA = frozenset({"image", "image_url", "input_image", "input_audio", "file", "document"})


def stubs(
    messages: Sequence[Message],
    prunable: Container[int],
    *,
    kinds: Kinds,
    ref_of: Callable[[int], str],
    names_tools: bool,
) -> list[Edit]:
    """Return an edit for each long result; the user's answers to questions stay whole."""
    edits: list[Edit] = []
    for call, index in calls_with_results(messages):
        message = messages[index]
        content = message.get("content")
        if index not in prunable or not isinstance(content, str) or len(content) < MIN_CHARS:
            continue
        if is_pruned(content) or _kind(kinds, call) == "question":
            continue
        line = one_liner(call, message, kinds)
        if len(line) + MIN_SAVED_CHARS > len(content):
            continue
        changed = copy_message(message)
        changed["content"] = stub(line, ref_of(index), names_tools=names_tools)
        edits.append(Edit(index, changed, "result"))
    return edits


def media(
    messages: Sequence[Message], prunable: Container[int], *, ref_of: Callable[[int], str]
) -> list[Edit]:
    """Return an edit for each message with pictures; the newest picture of a user stays."""
    newest = next(
        (
            index
            for index in range(len(messages) - 1, -1, -1)
            if messages[index].get("role") == "user" and images_in(messages[index])
        ),
        None,
    )
    return [
        Edit(index, _without_media(message, ref_of(index)), "media")
        for index, message in enumerate(messages)
        if index in prunable and index != newest and any(_media_parts(message))
    ]


def _kind(kinds: Kinds, call: Mapping[str, Any]) -> str:
    return kinds.kind_of(call_name(call), parsed_arguments(call))


def _media_parts(message: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    content = message.get("content")
    for part in content if isinstance(content, list) else ():
        if isinstance(part, Mapping) and part.get("type") in _MEDIA:
            yield part


def _without_media(message: Message, ref: str) -> Message:
    changed = copy_message(message)
    parts: list[Any] = []
    for part in changed["content"] or ():
        if isinstance(part, dict) and part.get("type") in _MEDIA:
            parts.append({"type": "text", "text": f"[image removed: {described(part)}, {ref}]"})
        else:
            parts.append(part)
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    is_plain = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
    if is_result(message) and is_plain:
        changed["content"] = content_text(parts)
    else:
        changed["content"] = parts
    return changed


def described(part: Mapping[str, Any]) -> str:
    """Return kind, decoded size and digest of an image or file part."""
    data, kind = _payload(part)
    if not data:
        return f"{kind}, remote"
    try:
        raw = base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        raw = data.encode("utf-8", "replace")
    return f"{kind}, {len(raw):,} bytes, sha256 {hashlib.sha256(raw).hexdigest()[:8]}"


def _payload(part: Mapping[str, Any]) -> tuple[str, str]:
    """Return base64 data (or nothing) and the kind of an image or file part."""
    inner = part.get("image_url") or part.get("input_audio") or part.get("file") or {}
    url = inner.get("url") if isinstance(inner, Mapping) else inner
    source = part.get("source")
    if isinstance(url, str):
        head, _, data = url.partition(",")
        kind = head.removeprefix("data:").partition(";")[0].rpartition("/")[2]
        return (data, kind) if url.startswith("data:") else ("", "image")
    if isinstance(source, Mapping):
        kind = str(source.get("media_type", "image")).rpartition("/")[2]
        return str(source.get("data") or ""), kind
    given = inner if isinstance(inner, Mapping) else {}
    return str(given.get("data") or given.get("file_data") or ""), str(part.get("type"))
