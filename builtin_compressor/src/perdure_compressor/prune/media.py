"""Pictures, recordings and files sent as base64 become a placeholder with kind, size and digest."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from perdure.messages import Message, content_text, copy_message, images_in, is_result
from perdure_compressor.prune.marks import Edit, placeholder

_IMAGES = frozenset({"image", "image_url", "input_image"})
_OTHERS = frozenset(
    {"audio", "audio_url", "input_audio", "video", "video_url", "input_video"}
    | {"file", "input_file", "document", "media", "resource"}
)
_DATA_KEYS = ("data", "file_data", "base64", "blob")
_FORMAT_KEYS = ("media_type", "mimeType", "mime_type", "format")
_LONGEST_URL = 120
# Shorter data costs less than its placeholder.
_MIN_DATA_CHARS = 200


def media(
    messages: Sequence[Message], prunable: Container[int], *, ref_of: Callable[[int], str]
) -> list[Edit]:
    """Return an edit for each message with media; the newest picture of a user stays."""
    newest = next(
        (
            index
            for index in range(len(messages) - 1, -1, -1)
            if messages[index].get("role") == "user" and images_in(messages[index])
        ),
        None,
    )
    edits: list[Edit] = []
    for index, message in enumerate(messages):
        content = message.get("content")
        if index not in prunable or index == newest or not isinstance(content, list):
            continue
        if _holds_media(content):
            edits.append(Edit(index, _without_media(message, ref_of(index)), "media"))
    return edits


def placeholder_of(part: Mapping[str, Any], ref: str) -> str | None:
    """Return the text that stands for a media part, or None when the part is no medium."""
    kind = str(part.get("type"))
    if kind not in _IMAGES and kind not in _OTHERS:
        return None
    data, form, url = _payload(part)
    if kind not in _IMAGES and len(data) < _MIN_DATA_CHARS:
        return None
    what = "image" if kind in _IMAGES else _what(kind, form)
    if not data:
        return placeholder(what, f"remote {_plain(url)}".strip(), ref)
    raw = _decoded(data)
    digest = hashlib.sha256(raw).hexdigest()[:8]
    name = _plain(form.rpartition("/")[2]) or what
    return placeholder(what, f"{name}, {len(raw):,} bytes, sha256 {digest}", ref)


def _holds_media(content: Sequence[Any]) -> bool:
    return any(
        placeholder_of(part, "") is not None
        or (isinstance(part.get("content"), list) and _holds_media(part["content"]))
        for part in content
        if isinstance(part, dict)
    )


def _without_media(message: Message, ref: str) -> Message:
    changed = copy_message(message)
    parts = _replaced(changed["content"] or (), ref)
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    is_plain = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
    # OpenAI's tool messages hold text only.
    changed["content"] = content_text(parts) if is_result(message) and is_plain else parts
    return changed


def _replaced(content: Sequence[Any], ref: str) -> list[Any]:
    parts: list[Any] = []
    for part in content:
        made = placeholder_of(part, ref) if isinstance(part, dict) else None
        if made is not None:
            parts.append({"type": "text", "text": made})
        elif isinstance(part, dict) and isinstance(part.get("content"), list):
            parts.append({**part, "content": _replaced(part["content"], ref)})
        else:
            parts.append(part)
    return parts


def _payload(part: Mapping[str, Any]) -> tuple[str, str, str]:
    """Return base64 data, format and address of a part, each empty when there is none.

    The providers put them into the part itself or one level below, under names of their own.
    """
    levels = [part, *(value for value in part.values() if isinstance(value, Mapping))]
    form = next((v for level in levels for v in _strings(level, _FORMAT_KEYS)), "")
    if any(level.get("type") == "text" for level in levels[1:]):
        return "", form, ""  # a document whose source is plain text is text
    urls = [v for level in levels for v in _strings(level, ("url", "image_url", "file_url"))]
    encoded = [v for level in levels for v in _strings(level, _DATA_KEYS)]
    for value in (*encoded, *urls):
        head, comma, data = value.partition(",")
        if value.startswith("data:") and comma:
            return data, head.removeprefix("data:").partition(";")[0], ""
    return (encoded[0] if encoded else ""), form, (urls[0] if urls else "")


def _strings(level: Mapping[str, Any], keys: Sequence[str]) -> Iterator[str]:
    return (value for key in keys if isinstance(value := level.get(key), str) and value)


def _what(kind: str, form: str) -> str:
    told = f"{kind} {form}".lower()
    return next((word for word in ("image", "audio", "video") if word in told), "file")


def _plain(text: str) -> str:
    """Return a name or an address that cannot end the placeholder early."""
    return "".join(sign for sign in text[:_LONGEST_URL] if sign.isprintable() and sign != "]")


def _decoded(data: str) -> bytes:
    try:
        return base64.b64decode(data, validate=False)
    except (binascii.Error, ValueError):
        return data.encode("utf-8", "replace")
