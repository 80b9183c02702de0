"""Content parts: from each provider's shape to that of OpenAI chat, and from there to each.

A part that has no counterpart in the other format becomes a short text that names it. Inside its
own format it is kept as it came.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from perdure.messages import content_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Part = dict[str, Any]

TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
IMAGE_TYPES = frozenset({"image", "image_url", "input_image"})
# Blocks that Anthropic accepts in a user turn or a tool result beside text and images.
_ANTHROPIC_USER = frozenset(
    {"document", "search_result", "container_upload", "tool_reference", "browser_state"}
)


def kind_of(part: Any) -> str:  # noqa: ANN401 - a part of any shape
    """Return the type of a part, block or item; an empty string when it has none."""
    kind = part.get("type") if isinstance(part, dict) else None
    return kind if isinstance(kind, str) else ""


def texts(content: Any) -> list[Any]:  # noqa: ANN401 - content comes from outside in any shape
    """Return a content value as a list of parts; text becomes one part, null none."""
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "text": str(content)}]


def simplest(parts: list[Any]) -> str | list[Any]:
    """Return one text part as its string, anything else as the list it is."""
    if len(parts) == 1 and kind_of(parts[0]) in TEXT_TYPES:
        text = parts[0].get("text")
        if isinstance(text, str):
            return text
    return parts


def note(part: Any) -> str:  # noqa: ANN401 - a part of any shape
    """Return the text that stands for a part which the other format does not know."""
    if isinstance(part, str):
        return part
    if not isinstance(part, dict):
        return json.dumps(part, ensure_ascii=False, default=str)
    kind = kind_of(part) or "part without a type"
    text = content_text([part])
    return f"[{kind}] {text}" if text else f"[{kind}: not part of this format]"


def is_blank(block: Any) -> bool:  # noqa: ANN401 - a block of any shape
    """Return whether a block is text that says nothing; providers reject such blocks."""
    return kind_of(block) in TEXT_TYPES and not str(block.get("text") or "").strip()


# ------------------------------------------------------------------------------- reading


def from_anthropic(block: Any) -> Any:  # noqa: ANN401 - a block of any shape
    """Return an Anthropic block as a chat part; blocks without a counterpart stay as they are."""
    if kind_of(block) == "image":
        url = _source_url(block.get("source"))
        return block if url is None else {"type": "image_url", "image_url": {"url": url}}
    return block


def from_responses(part: Any) -> Any:  # noqa: ANN401 - a part of any shape
    """Return a Responses part as a chat part; parts without a counterpart stay as they are."""
    if not isinstance(part, dict):
        return part
    kind = kind_of(part)
    if kind in ("input_text", "output_text") and isinstance(part.get("text"), str):
        return {"type": "text", "text": part["text"]}
    if kind in ("input_image", "computer_screenshot") and isinstance(part.get("image_url"), str):
        image = {"url": part["image_url"]}
        if isinstance(part.get("detail"), str):
            image["detail"] = part["detail"]
        return {"type": "image_url", "image_url": image}
    if kind == "input_file" and ("file_data" in part or "file_id" in part):
        keys = ("file_data", "file_id", "filename")
        return {"type": "file", "file": {key: part[key] for key in keys if key in part}}
    return part


# ------------------------------------------------------------------------------- writing


def to_anthropic(part: Any) -> Part:  # noqa: ANN401 - a part of any shape
    """Return a part as an Anthropic block that may stand in a user turn or a tool result."""
    if not isinstance(part, dict):
        return _text(note(part))
    kind = kind_of(part)
    if kind in TEXT_TYPES:
        block = _text(str(part.get("text") or ""))
        return {
            **block,
            **{key: part[key] for key in ("cache_control", "citations") if part.get(key)},
        }
    if kind in IMAGE_TYPES:
        return _anthropic_image(part)
    if kind == "file":
        return _anthropic_document(part)
    if kind in _ANTHROPIC_USER:
        return part
    return _text(str(part["refusal"]) if kind == "refusal" and "refusal" in part else note(part))


def to_openai(part: Any) -> Part:  # noqa: ANN401 - a part of any shape
    """Return a part as a chat part that may stand in a user message."""
    if not isinstance(part, dict):
        return _text(note(part))
    kind = kind_of(part)
    if kind in TEXT_TYPES:
        return _text(str(part.get("text") or ""))
    if kind in IMAGE_TYPES:
        url = image_url(part)
        return _text(note(part)) if url is None else _openai_image(part, url)
    if kind == "document":
        url = _source_url(part.get("source"), kinds=("base64",))
        if url is not None:
            name = str(part.get("title") or "document.pdf")
            return {"type": "file", "file": {"filename": name, "file_data": url}}
    if kind in ("file", "input_audio"):
        return part
    return _text(note(part))


def to_responses(part: Any, *, of_model: bool = False) -> Part:  # noqa: ANN401 - any shape
    """Return a part as a Responses part; `of_model` parts stand in an assistant message."""
    chat = to_openai(part)
    kind = chat["type"]
    if kind == "text":
        return {"type": "output_text" if of_model else "input_text", "text": chat["text"]}
    if of_model:
        return {"type": "output_text", "text": note(part)}
    if kind == "image_url":
        image = chat["image_url"]
        detail = image.get("detail", "auto")
        return {"type": "input_image", "detail": detail, "image_url": image["url"]}
    if kind == "file" and isinstance(chat.get("file"), dict):
        return {"type": "input_file", **chat["file"]}
    return {"type": "input_text", "text": note(part)}


def image_url(part: Mapping[str, Any]) -> str | None:
    """Return the address of an image part in any format, often a `data:` URL, or None."""
    if part.get("type") == "image":
        return _source_url(part.get("source"))
    url = part.get("image_url")
    if isinstance(url, dict):
        url = url.get("url")
    return url if isinstance(url, str) else None


def joined_text(parts: Iterable[Any]) -> str:
    """Return parts as one text, images and unknown parts as notes, blank texts left out."""
    found = []
    for part in parts:
        if kind_of(part) in TEXT_TYPES:
            found.append(str(part.get("text") or ""))
        elif isinstance(part, dict) and isinstance(part.get("refusal"), str):
            found.append(part["refusal"])
        else:
            found.append(note(part))
    return "\n\n".join(text for text in found if text.strip())


def _text(text: str) -> Part:
    return {"type": "text", "text": text}


def _openai_image(part: Part, url: str) -> Part:
    image = part.get("image_url")
    detail = image.get("detail") if isinstance(image, dict) else part.get("detail")
    return {
        "type": "image_url",
        "image_url": {"url": url, **({"detail": detail} if isinstance(detail, str) else {})},
    }


def _source_url(
    source: Any,  # noqa: ANN401 - comes from outside in any shape
    kinds: tuple[str, ...] = ("base64", "url"),
) -> str | None:
    if not isinstance(source, dict) or source.get("type") not in kinds:
        return None
    if source["type"] == "url":
        return source["url"] if isinstance(source.get("url"), str) else None
    data, media = source.get("data"), source.get("media_type")
    if isinstance(data, str) and isinstance(media, str):
        return f"data:{media};base64,{data}"
    return None


def _data_source(url: Any) -> Part | None:  # noqa: ANN401 - comes from outside in any shape
    if not isinstance(url, str) or not url.startswith("data:"):
        return None
    header, comma, data = url.partition(",")
    media, semicolon, coding = header[len("data:") :].rpartition(";")
    if not comma or not semicolon or coding.strip() != "base64":
        return None
    return {"type": "base64", "media_type": media, "data": data}


def _anthropic_image(part: Part) -> Part:
    if part["type"] == "image":
        return part
    url = image_url(part)
    source = _data_source(url)
    if source is None:
        if url is None or not url.startswith(("http://", "https://")):
            return _text(note(part))
        source = {"type": "url", "url": url}
    mark = {"cache_control": part["cache_control"]} if part.get("cache_control") else {}
    return {"type": "image", "source": source, **mark}


def _anthropic_document(part: Part) -> Part:
    held = part.get("file")
    source = _data_source(held.get("file_data")) if isinstance(held, dict) else None
    if source is None or source["media_type"] != "application/pdf":
        return _text(note(part))
    title = held.get("filename") if isinstance(held, dict) else None
    return {"type": "document", "source": source, **({"title": title} if title else {})}


# ------------------------------------------------------------------------------- private keys


def public(item: Part) -> Part:
    """Return an item without keys that start with an underscore; itself when it has none.

    Looks at the item, its content blocks and its tool calls, never into tool input, where such a
    key is the model's own word.
    """
    # Content nests once in every format (a result's blocks); `make_entry` refuses deep nests.
    if any(isinstance(key, str) and key.startswith("_") for key in item):
        item = {key: value for key, value in item.items() if not str(key).startswith("_")}
    for key in ("content", "tool_calls", "output"):
        held = item.get(key)
        if isinstance(held, list):
            cleaned = public_parts(held)
            if cleaned is not held:
                item = {**item, key: cleaned}
    return item


def public_parts(parts: list[Any]) -> list[Any]:
    """Return parts without their private keys; the same list when there are none."""
    cleaned = [public(part) if isinstance(part, dict) else part for part in parts]
    is_same = all(new is old for new, old in zip(cleaned, parts, strict=True))
    return parts if is_same else cleaned
