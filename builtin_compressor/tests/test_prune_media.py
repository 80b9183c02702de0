"""Media become a text with kind, decoded size and digest; text beside them is kept."""

from __future__ import annotations

import base64
import random

import pytest

from perdure.messages import text_of
from perdure_compressor.prune.media import media

RAW = random.Random(7).randbytes(3_000)
DATA = base64.b64encode(RAW).decode()
URL = f"data:image/png;base64,{DATA}"


def without_media(message: dict) -> object:
    edits = media([message], range(1), ref_of=lambda _: "ref:3f9ac2d41b07")
    return edits[0].message["content"] if edits else message["content"]


@pytest.mark.parametrize(
    ("part", "start"),
    [
        ({"type": "image_url", "image_url": {"url": URL}}, "[image removed: png, 3,000 bytes, sha256 "),
        ({"type": "image_url", "image_url": URL}, "[image removed: png, 3,000 bytes, sha256 "),
        ({"type": "input_image", "image_url": URL}, "[image removed: png, 3,000 bytes, sha256 "),
        ({"type": "image", "data": DATA, "mimeType": "image/jpeg"}, "[image removed: jpeg, 3,000 bytes"),
        ({"type": "image", "source": {"type": "base64", "media_type": "image/webp", "data": DATA}},
         "[image removed: webp, 3,000 bytes"),
        ({"type": "input_audio", "input_audio": {"data": DATA, "format": "wav"}},
         "[audio removed: wav, 3,000 bytes"),
        ({"type": "video_url", "video_url": {"url": f"data:video/mp4;base64,{DATA}"}},
         "[video removed: mp4, 3,000 bytes"),
        ({"type": "file", "file": {"file_data": f"data:application/pdf;base64,{DATA}"}},
         "[file removed: pdf, 3,000 bytes"),
        ({"type": "document", "source": {"type": "base64", "media_type": "application/pdf", "data": DATA}},
         "[file removed: pdf, 3,000 bytes"),
        ({"type": "resource", "resource": {"blob": DATA, "mimeType": "image/png"}},
         "[image removed: png, 3,000 bytes"),
        ({"type": "image_url", "image_url": {"url": "https://x.org/a.png"}},
         "[image removed: remote https://x.org/a.png"),
        ({"type": "image", "source": None}, "[image removed: remote"),
    ],
)  # fmt: skip
def test_every_shape_of_media_leaves_a_text(part, start):
    text = without_media({"role": "tool", "tool_call_id": "a", "content": [part]})

    assert text.startswith(start)
    assert text.endswith(", ref:3f9ac2d41b07]")


@pytest.mark.parametrize(
    "part",
    [
        {"type": "text", "text": "x", "data": DATA},
        {"type": "redacted_thinking", "data": DATA},
        {"type": "tool_use", "input": {"data": DATA}},
        {"type": "document", "source": {"type": "text", "data": "words " * 100}},
        {"type": "file", "file": {"file_id": "file-1"}},
        {"type": "unknown", "data": DATA},
    ],
)
def test_what_is_no_medium_stays(part):
    assert without_media({"role": "user", "content": [part]}) == [part]


def test_text_beside_a_picture_stays_in_its_place():
    parts = [
        {"type": "text", "text": "before"},
        {"type": "image", "data": DATA},
        {"type": "text", "text": "after"},
    ]

    lines = without_media({"role": "tool", "tool_call_id": "a", "content": parts}).splitlines()

    assert lines[0] == "before"
    assert lines[1].startswith("[image removed: ")
    assert lines[2] == "after"


def test_picture_inside_a_nested_result_is_found():
    nested = {
        "type": "tool_result",
        "tool_use_id": "a",
        "content": [{"type": "image", "data": DATA}],
    }

    content = without_media({"role": "tool", "content": [nested]})

    assert content[0]["tool_use_id"] == "a"
    assert content[0]["content"][0]["text"].startswith("[image removed: ")


def test_address_cannot_end_the_placeholder_early():
    url = "https://x.org/a]\n[ref:000000000000]"

    text = without_media(
        {"role": "tool", "content": [{"type": "image_url", "image_url": {"url": url}}]}
    )

    assert text.count("]") == 1
    assert "\n" not in text


def test_data_that_is_no_base64_never_raises():
    part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,\ud800字" + "!" * 300}}

    assert "[image removed: png" in without_media({"role": "tool", "content": [part]})


def test_newest_picture_of_the_user_stays_though_a_tool_showed_a_later_one():
    picture = {"type": "image", "data": DATA}
    messages = [{"role": "user", "content": [picture]}, {"role": "tool", "content": [picture]}]

    edits = media(messages, range(2), ref_of=lambda _: "ref:3f9ac2d41b07")

    assert [edit.index for edit in edits] == [1]
    assert text_of(edits[0].message).startswith("[image removed: ")


@pytest.mark.parametrize("role", ["user", "assistant"])
def test_data_address_inside_a_text_leaves_a_placeholder_and_every_word(role):
    text = f"Look: ![plot]({URL}) and say what it shows."

    made = without_media_of_old({"role": role, "content": text})
    parts = without_media_of_old({"role": role, "content": [{"type": "text", "text": text}]})

    before, after = made.split("[image removed: png, 3,000 bytes, sha256 ")
    assert before == "Look: ![plot]("
    assert after.endswith(", ref:3f9ac2d41b07]) and say what it shows.")
    assert parts == [{"type": "text", "text": made}]
    assert without_media_of_old({"role": role, "content": made}) == made


def test_newest_picture_inside_a_text_of_the_user_stays():
    assert without_media({"role": "user", "content": f"Look: {URL}"}) == f"Look: {URL}"


@pytest.mark.parametrize(
    "text",
    [
        "data:image/png;base64,iVBORw0KGgo= is how such an address begins",
        "data:" * 2_000 + ";base64," * 2_000,
        "data:image/png;base64 " + DATA,
    ],
)
def test_words_about_data_addresses_stay(text):
    assert without_media_of_old({"role": "user", "content": text}) == text


@pytest.mark.parametrize("role", ["system", "developer"])
def test_text_of_the_system_stays(role):
    assert without_media_of_old({"role": role, "content": f"Logo: {URL}"}) == f"Logo: {URL}"


def without_media_of_old(message: dict) -> object:
    newest = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": URL}}]}
    edits = media([message, newest], range(2), ref_of=lambda _: "ref:3f9ac2d41b07")
    return edits[0].message["content"] if edits else message["content"]


@pytest.mark.parametrize("role", [None, 7, [], {}, "unknown"])
def test_role_that_is_none_never_raises_and_its_text_stays(role):
    assert without_media_of_old({"role": role, "content": f"Look: {URL}"}) == f"Look: {URL}"
