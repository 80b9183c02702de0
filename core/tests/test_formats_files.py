"""Files: every shape is read and written again, everything else is refused with a reason."""

from __future__ import annotations

import io
import json
import sys

import pytest

from perdure.errors import InputError
from perdure.formats import MAX_BYTES, dump, read
from perdure.transcript import Entry

CHAT = [{"role": "user", "content": "Grüße 🎉 \u2028 line"}, {"role": "assistant", "content": "ok"}]
BODY = {"model": "m", "system": "Be kind.", "messages": CHAT, "max_tokens": 9}


def lines_of(items: list) -> str:
    return "".join(json.dumps(item, ensure_ascii=False) + "\n" for item in items)


def write(path, data: str | bytes):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


@pytest.mark.parametrize(
    ("data", "file_format"),
    [
        (json.dumps(CHAT), "json"),
        (json.dumps(CHAT, indent=2), "json"),
        (lines_of(CHAT), "jsonl"),
        (lines_of(CHAT[:1]), "jsonl"),
        ("\n" + lines_of(CHAT).replace("\n", "\r\n\r\n"), "jsonl"),
        (json.dumps(BODY), "object"),
        (json.dumps({"instructions": "Be kind.", "input": CHAT}, indent=1), "object"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
def test_each_shape_is_read_and_written_again(tmp_path, data, file_format, encoding):
    parsed = read(write(tmp_path / "in", data.encode(encoding)))
    assert parsed.file_format == file_format
    assert {"role": "user", "content": CHAT[0]["content"]} in [e.message for e in parsed.entries]
    written = dump(parsed, parsed.entries)
    again = read(write(tmp_path / "out", written))
    assert [e.message for e in again.entries] == [e.message for e in parsed.entries]
    assert (again.format, again.body) == (parsed.format, parsed.body)
    assert dump(again, again.entries) == written


def test_changed_entries_are_dumped_in_the_shape_that_was_read(tmp_path):
    parsed = read(write(tmp_path / "in", json.dumps(BODY)))
    entries = [parsed.entries[0], Entry.of({"role": "user", "content": "short"})]
    assert json.loads(dump(parsed, entries)) == {
        **BODY,
        "messages": [{"role": "user", "content": "short"}],
    }


def test_a_list_that_gains_a_system_text_is_dumped_as_an_object(tmp_path):
    parsed = read(write(tmp_path / "in", lines_of(CHAT)), format="anthropic")
    entries = [Entry.of({"role": "system", "content": "Be kind."}), *parsed.entries]
    assert json.loads(dump(parsed, entries)) == {"system": "Be kind.", "messages": CHAT}


def test_standard_input_and_streams_are_read(monkeypatch):
    assert len(read(io.BytesIO(lines_of(CHAT).encode())).entries) == 2
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(json.dumps(CHAT).encode())))
    assert len(read("-").entries) == 2


def test_lone_surrogates_and_nul_pass_through_a_file_unharmed(tmp_path):
    text = '[{"role": "user", "content": "a\\ud83d b\\u0000"}]'
    parsed = read(write(tmp_path / "in", text))
    written = dump(parsed, parsed.entries)
    written.encode("utf-8")
    assert json.loads(written) == json.loads(text)


@pytest.mark.parametrize(
    ("data", "words", "line"),
    [
        (b"", "empty", None),
        (b" \n\n", "empty", None),
        (b"hello", "not JSON", 1),
        (b'"hello"', "a single JSON str", None),
        (b"3", "a single JSON int", None),
        (b'[{"role": "user",\n "content": }]', "line 2: not JSON", 2),
        (b'{"role": "user", "content": "a"}\n\n{"role": "us', "line 3: not JSON", 3),
        (b'{"role": "user", "content": "a"}\n{"content": "b"}', "line 2: message 1 has no role", 2),
        (b'{"role": "user", "content": "a"}\n{"role": "bot"}', "'bot'", 2),
        (b'{"role": "user", "content": "a"}\n[1]', "line 2: message 1 is a list", 2),
        (b'{"messages": []}\n{"messages": []}', "whole conversation", 1),
        (b'{"choices": []}', "'choices'", None),
        (b'{"type": "FeatureCollection"}', "no role", 1),
        (b"[1, 2]", "message 0 is a int", None),
        (b'[{"role": "user", "content": "\xff"}]', "line 1: byte 30 is not UTF-8", 1),
        (b"\x1f\x8b\x08\x00", "compressed", 1),
        (json.dumps(CHAT).encode("utf-16-le"), "UTF-16 without", 1),
        (json.dumps([{"role": "user", "content": "ÿ"}], ensure_ascii=False).encode("utf-16-le"), "UTF-16", 1),
        (b"\xff\xfe[\x00\x00", "not UTF-16", 1),
        (b'[{"role": "user", "content": 3}]', "message 0 has content of type int", None),
        (b'[{"role": "user", "x": ' + b"9" * 5000 + b"}]", "long numbers", None),
        (b"[" * 200_000, "nested too deeply", None),
        (b'{"role": "user", "content": "a"}\n' + b"[" * 200_000, "line 2: nested too deeply", 2),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_its_place(tmp_path, data, words, line):
    path = write(tmp_path / "chat.json", data)
    if words == "long numbers" and not hasattr(sys, "get_int_max_str_digits"):
        assert read(path).entries
        return
    with pytest.raises(InputError, match=words) as caught:
        read(path)
    assert "chat.json" in str(caught.value)
    assert (caught.value.source, caught.value.line) == (str(path), line)


@pytest.mark.parametrize(
    ("name", "words"),
    [("missing.json", "there is no file"), ("", "is a directory"), ("a\0b", "cannot be read"), ("x" * 300, "cannot be read")],
)  # fmt: skip
def test_a_path_that_is_no_file_is_refused(tmp_path, name, words):
    with pytest.raises(InputError, match=words):
        read(tmp_path / name if name else tmp_path)


def test_a_text_stream_is_refused():
    with pytest.raises(InputError, match="binary"):
        read(io.StringIO("[]"))


def test_an_input_over_the_limit_is_refused_before_it_is_read(tmp_path):
    path = tmp_path / "huge.jsonl"
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    with pytest.raises(InputError, match=rf"200,000,000 bytes or more, the limit is {MAX_BYTES:,}"):
        read(path)
    with pytest.raises(InputError, match="the limit is 10"):
        read(io.BytesIO(b"x" * 11), max_bytes=10)
    assert read(io.BytesIO(b"[]"), max_bytes=2).entries == []


def test_a_deeply_nested_tool_input_is_dumped_even_so(tmp_path):
    nested = "[" * 900 + "]" * 900
    data = '{"messages": [{"role": "user", "content": "a", "x": ' + nested + "}]}"
    parsed = read(write(tmp_path / "in", data))
    assert json.loads(dump(parsed, parsed.entries)) == json.loads(data)
