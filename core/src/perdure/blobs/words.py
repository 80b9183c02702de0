"""What counts as a word, in a text that is indexed and in a query; in any script.

Han, kana, hangul and the scripts of South-East Asia do not put spaces between words; a run of them
is indexed as overlapping pairs of characters. Everything else is left to SQLite's tokeniser, which
folds case and accents. A query is data: nothing in it is syntax.
"""

from __future__ import annotations

import re
import unicodedata
from itertools import pairwise

MAX_TERMS = 120
"""Terms of a query that are looked for; what is longer is a document, not a question."""
_MAX_QUERY_CHARS = 4_000
_DENSE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff"
)
_RUN = re.compile(f"[{_DENSE}]+")
_NAME = re.compile("[\u3400-\u9fff]{3,}|[\u30a0-\u30ff]{3,}|[\uac00-\ud7af]{3,}")
"""Runs of one script inside a run of several: names and terms, without the particles between."""
_GAP = re.compile(
    r"[\x00-/:-@\[-`{-\xa9\xab-\xb1\xb4\xb6-\xb8\xbb\xbf\xd7\xf7"
    "\u2000-\u206f\u3000-\u3004\u3008-\u303f]+"
)

_FUNCTION_WORDS = frozenset(
    """
    a about an and are as at be been but by can could did do does for from had has have he her him
    his how i if in into is it its me my not of on or our out say said she should so than that the
    their them then there these they this those to up was we were what when where which who whom
    whose why will with would you your
    das dem den der des die ein eine einen er es hat ist im mit sind und von war warum was welche
    welcher wer wie wo zu
    el la los las un una de del en y o que qué cuál cómo dónde por para con se es fue
    le les une du des et est dans qui quel quelle où comment pourquoi pour avec
    os as um uma do da no na em e qual como onde
    il lo gli di che cosa dove и в на не что как где кто с по
    """.split()  # noqa: SIM905 - a list of words is read as words
)
"""Words that hold a question together; BM25 weighs them little, but pairs of them are rare."""


def spaced(text: str) -> str:
    """Return a text with its words apart, dense scripts as pairs of characters."""
    if text.isascii():
        return text
    return _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} ", _plain(text))


def split(text: str) -> list[str]:
    """Return the words of a text where SQLite's tokeniser is not there to find them."""
    return [word for word in _GAP.split(spaced(text).lower()) if word]


def terms(query: str) -> list[str]:
    """Return the terms of a query, each a phrase whose words are apart by one space.

    Besides the single words there are phrases, which make exact names rank first: tokens that are
    written together (`heron-live`, `src/app.py`), two words in a row, and runs of one dense script.
    A single character of a dense script ends with `*` and stands for every pair that starts so.
    """
    plain = _plain(query[:_MAX_QUERY_CHARS]).lower()
    found: dict[str, None] = {}
    words: list[str] = []
    for token in plain.split():
        parts = [part for part in _GAP.split(token) if part]
        found.update(dict.fromkeys(term for part in parts for term in _terms_of(part)))
        if len(parts) > 1:
            found[" ".join(spaced(" ".join(parts)).split())] = None
        words += parts
    for name in _NAME.findall(plain):
        found[" ".join(_pairs(name)[:-1])] = None
    for first, second in pairwise(words):
        if not (_RUN.search(first) or _RUN.search(second) or {first, second} & _FUNCTION_WORDS):
            found[f"{first} {second}"] = None
    telling = [term for term in found if term not in _FUNCTION_WORDS]
    return (telling or list(found))[:MAX_TERMS]


def _terms_of(part: str) -> list[str]:
    """Return the words of a part, its runs of dense script as the pairs that the index holds."""
    found = _RUN.sub(" ", part).split()
    for run in _RUN.findall(part):
        found += _pairs(run)[:-1] or [f"{run}*"]
    return found


def _pairs(run: str) -> list[str]:
    """Return the overlapping pairs of a run; the last character alone ends the list."""
    return [run[i : i + 2] for i in range(len(run))]


def _plain(text: str) -> str:
    """Return a text that SQLite takes, characters of full and half width as the usual ones."""
    return unicodedata.normalize("NFKC", text.encode("utf-8", "replace").decode())
