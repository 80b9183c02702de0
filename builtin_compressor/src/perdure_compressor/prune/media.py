"""Pictures, recordings and files sent as base64 become a placeholder with kind, size and digest."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from typing import Any

from perdure.messages import (
    Message,
    content_text,
    copy_message,
    images_in,
    is_result,
)
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
_DATA_URL = re.compile(
    r"data:([\w.+-]{1,60}/[\w.+-]{1,60})?(?:;[\w.+-]{1,40}=[\w.+-]{1,80}){0,3};base64,"
    r"([A-Za-z0-9+/_-]{200,}={0,2})"
)


def media(
    messages: Sequence[Message], prunable: Container[int], *, ref_of: Callable[[int], str]
) -> list[Edit]:
    """Return an edit for each message with media; the newest picture of a user stays."""
    newest = next(
        (
            index
            for index in range(len(messages) - 1, -1, -1)
            if messages[index].get("role") == "user" and _shows_picture(messages[index])
        ),
        None,
    )
    edits: list[Edit] = []
    for index, message in enumerate(messages):
        if index in prunable and index != newest and _holds_media(message):
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
    return _described(what, form, data, ref)


def _described(what: str, form: str, data: str, ref: str) -> str:
    raw = _decoded(data)
    digest = hashlib.sha256(raw).hexdigest()[:8]
    name = _plain(form.rpartition("/")[2]) or what
    return placeholder(what, f"{name}, {len(raw):,} bytes, sha256 {digest}", ref)


def _shows_picture(message: Message) -> bool:
    if images_in(message):
        return True
    return any(
        (found[1] or "").startswith("image/") for found in _DATA_URL.finditer(_told(message))
    )


def _told(message: Message) -> str:
    """Return the text in which data is looked for; of results long ones become lines anyway."""
    is_talk = message.get("role") in ("user", "assistant")
    text = content_text(message.get("content")) if is_talk else ""
    # The mark is found much faster than the pattern that it is part of.
    return text if ";base64," in text else ""


def _holds_media(message: Message) -> bool:
    content = message.get("content")
    if isinstance(content, list) and _has_media_part(content):
        return True
    return bool(_DATA_URL.search(_told(message)))


def _has_media_part(content: Sequence[Any]) -> bool:
    return any(
        placeholder_of(part, "") is not None
        or (isinstance(part.get("content"), list) and _has_media_part(part["content"]))
        for part in content
        if isinstance(part, dict)
    )


def _without_media(message: Message, ref: str) -> Message:
    changed = copy_message(message)
    content = changed["content"]
    if isinstance(content, str):
        changed["content"] = _without_data(content, ref)
        return changed
    parts = _replaced(content or (), ref, in_text=bool(_told(message)))
    texts = [part.get("text") for part in parts if isinstance(part, dict)]
    is_plain = len(texts) == len(parts) and all(isinstance(text, str) for text in texts)
    # OpenAI's tool messages hold text only.
    changed["content"] = content_text(parts) if is_result(message) and is_plain else parts
    return changed


def _replaced(content: Sequence[Any], ref: str, *, in_text: bool) -> list[Any]:
    parts: list[Any] = []
    for part in content:
        made = placeholder_of(part, ref) if isinstance(part, dict) else None
        if made is not None:
            parts.append({"type": "text", "text": made})
        elif isinstance(part, str):
            parts.append(_without_data(part, ref) if in_text else part)
        elif isinstance(part, dict) and isinstance(part.get("content"), list):
            parts.append({**part, "content": _replaced(part["content"], ref, in_text=in_text)})
        elif in_text and isinstance(part, dict) and isinstance(part.get("text"), str):
            parts.append({**part, "text": _without_data(part["text"], ref)})
        else:
            parts.append(part)
    return parts


def _without_data(text: str, ref: str) -> str:
    """Return a text with its `data:` addresses replaced."""

    def shown(found: re.Match[str]) -> str:
        form = found[1] or ""
        return _described(_what("", form), form, found[2], ref)

    return _DATA_URL.sub(shown, text) if ";base64," in text else text


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
