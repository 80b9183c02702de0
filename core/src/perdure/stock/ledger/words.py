"""The word lists of the ledger, read from `languages/*.txt` and compiled once.

A language is one file with sections of regular-expression fragments, one a line, matched against
lower-case text. Lists of spaced scripts are all tried on every sentence of such a script: guessing
the language of a short line fails too often, and a word of another language seldom fits by
accident. Fragments hold no unbounded repeats, so that matching stays linear.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from perdure.stock.ledger.combine import combined

_JOINED = ("zh", "ja", "ko")
_LANGUAGES = ("en", "es", "de", "fr", "pt", "ru", *_JOINED)
_SPACED = tuple(name for name in _LANGUAGES if name not in _JOINED)

# Placeholders of the lists: up to three words, and an old and a new value that a text names.
_PLAIN = r"[^\s,;:()\"'`“”«»„?!]"
_MARK = r"[`\"'“”«»„‘’]?"
_WORDS = rf"{_MARK}(?P<{{0}}>{_PLAIN}{{{{1,40}}}}?(?: {_PLAIN}{{{{1,20}}}}){{{{0,2}}}}?){_MARK}"
_CHARACTERS = (
    r"[「『“\"`]?(?P<{0}>(?:[^\s，。、；,;「」『』“”\"`をはが]|(?<=[월년月年]) (?=\d))"
    r"{{1,24}}?)[」』”\"`]?"
)
_ONE_WORD = r"(?<!\S)[`\"'“]?(?P<old>(?:\d[\d.,]{0,20} )?[^\s,;()\"'`]{1,60}?)[`\"'”]?"
_EXACT = r"[`\"'“]?(?P<old>[\w./@$€-]{0,40}[\d_./@-][\w./@-]{0,40})"
# What may follow words that take a request back; `cancel that button` takes nothing back.
_POLITE = (
    r"(?:,? ?(?:please|thanks|thank you|then|bitte|danke|por favor|gracias|s'il te plaît|merci"
    r"|obrigad[oa]|пожалуйста|спасибо|谢谢|吧|啊|ください|です|ね|よ|요|주세요|줘)){0,2}"
)
_GAP = r"(?: [\w'’-]{1,20}){0,3}"


@dataclass(frozen=True, slots=True)
class Words:
    """Compiled word lists.

    Attributes:
        rules: By script (`spaced`, `han`, `kana`, `hangul`): what makes a sentence a standing wish.
        not_rules: Forms in which such words do not bind: what happened, what is there, small talk.
        label: A line such as `RULES:` or `注意：`, whose rest or following bullets bind.
        slots: By `spaced` or `joined`: what people fix a value for.
        settings: The slots that hold one value at a time.
        limits: Words such as `at most`, which also hold one value at a time.
        taken_back: By script and language: what one of its forms cannot do without, and the forms
            in which a text names an old value (groups `old`, `new`).
        taken_back_cue: All the cues as one pattern, which most sentences fail.
        fillers: Words of spaced scripts that do not tell what a sentence is about.
        fillers_joined: The same for scripts without spaces.
        additive: Words with which a value joins others instead of replacing one.
        acknowledged: Words of which a bare acknowledgement is made.
        dropped: Forms that take the last request back.
        wishes: Requests in the first person, which make a quotation worth its room.
        decided: Sentences of the assistant that give a decision or its reason.
    """

    rules: dict[str, re.Pattern[str]]
    not_rules: dict[str, re.Pattern[str]]
    label: re.Pattern[str]
    slots: dict[str, re.Pattern[str]]
    settings: dict[str, re.Pattern[str]]
    limits: dict[str, re.Pattern[str]]
    taken_back: dict[str, tuple[tuple[re.Pattern[str], tuple[re.Pattern[str], ...]], ...]]
    taken_back_cue: re.Pattern[str]
    fillers: frozenset[str]
    fillers_joined: re.Pattern[str]
    additive: frozenset[str]
    acknowledged: frozenset[str]
    dropped: re.Pattern[str]
    wishes: dict[str, re.Pattern[str]]
    decided: dict[str, re.Pattern[str]]


@cache
def words() -> Words:
    """Return the word lists of all languages."""
    lists = {name: _read(name) for name in _LANGUAGES}

    def lines(section: str, languages: tuple[str, ...] = _LANGUAGES) -> list[str]:
        return [line for name in languages for line in lists[name].get(section, ())]

    def tokens(section: str) -> frozenset[str]:
        return frozenset(" ".join(lines(section)).split())

    def by_script(section: str) -> dict[str, re.Pattern[str]]:
        return {
            "spaced": _spaced(lines(section, _SPACED)),
            "joined": re.compile(combined(lines(section, _JOINED))),
        }

    joined = {
        script: re.compile(combined(lines("rules", languages)))
        for script, languages in (("han", ("zh", "ja")), ("kana", ("ja",)), ("hangul", ("ko",)))
    }
    fillers = sorted((re.escape(line) for line in lines("fillers_joined")), key=len, reverse=True)
    return Words(
        rules={"spaced": _spaced(lines("rules", _SPACED)), **joined},
        not_rules=by_script("not_rules"),
        label=re.compile(rf"[\W_]{{0,8}}(?:{'|'.join(lines('labels'))})\W{{0,4}}[:：]"),
        slots=by_script("slots"),
        settings=by_script("settings"),
        limits=by_script("limits"),
        taken_back={
            "spaced": tuple(_taken_back(lists[name], joined=False) for name in _SPACED),
            "joined": tuple(
                _taken_back(lists[name], joined=name in _JOINED) for name in _LANGUAGES
            ),
        },
        taken_back_cue=re.compile(combined(lines("taken_back_cues"))),
        fillers=tokens("fillers"),
        fillers_joined=re.compile("|".join(fillers)),
        additive=tokens("additive"),
        acknowledged=tokens("acknowledged"),
        dropped=re.compile(
            rf"\W{{0,4}}(?:(?:ok(?:ay)?|no|actually|wait|hmm),? )?"
            rf"(?:{combined(lines('dropped'))}){_POLITE}(?:\s*(?:[.,;:!…。，！；、]|$)|\s+[—–-]\s)"
        ),
        wishes=by_script("wishes"),
        decided=by_script("decided"),
    )


def _read(language: str) -> dict[str, list[str]]:
    text = files(__package__).joinpath(f"languages/{language}.txt").read_text("utf-8")
    found: dict[str, list[str]] = {}
    section: list[str] = []
    for line in text.splitlines():
        if line.startswith("[") and line.endswith("]") and line[1:-1].replace("_", "").isalpha():
            section = found.setdefault(line[1:-1], [])
        elif line.strip():
            section.append(line.replace("<GAP>", _GAP))
    return found


def _spaced(fragments: list[str]) -> re.Pattern[str]:
    return re.compile(rf"(?<!\w)(?:{combined(fragments)})(?!\w)")


def _taken_back(
    sections: dict[str, list[str]], *, joined: bool
) -> tuple[re.Pattern[str], tuple[re.Pattern[str], ...]]:
    value = _CHARACTERS if joined else _WORDS
    end = r"(?=[\s，。、；,;了を]|$)" if joined else r"(?=[\s,;:.!?)]|$)"
    patterns = []
    for line in sections["taken_back"]:
        form = (
            line.replace("<TOKEN>", _ONE_WORD)
            .replace("<VALUE>", _EXACT)
            .replace("<OLD>", value.format("old"))
            .replace("<NEW>", value.format("new"))
        )
        patterns.append(re.compile(form.replace("<END>", end)))
    return re.compile(combined(sections["taken_back_cues"])), tuple(patterns)
