"""Standing rules in nine languages, made from templates, and sessions that hold them.

A language is a file in `languages/` with sections:

    asks, prose, answers   what is said in between, by the user and by the assistant
    plain, people          rules as a manual words them, and as people write them
    implicit               a value that a later sentence of the same form replaces
    explicit               `old | new`, where the new sentence names the old value
    both                   `one | other`: alike, and both hold
    lookalike              sentences that sound like a rule and bind nobody

`{name} {other} {path} {n} {v} {w}` are filled in with made-up names and numbers, so that no two
rules are the same. The templates were written without a look at the word lists of the ledger.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from survival.scores import Case, Message, Needle

FOLDER = Path(__file__).with_name("languages")
LANGUAGES = {
    "English": "en",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Portuguese": "pt",
    "Russian": "ru",
    "Chinese": "zh",
    "Japanese": "ja",
    "Korean": "ko",
}
JOINED = ("Chinese", "Japanese")
RULE_KINDS = ("plain", "people")
SYLLABLES = "ka lo mi tor vel sen dra pu rin osk bay fen gul hari nem qua sib tov wex yar".split()  # noqa: SIM905
FOLDERS = "ops data site tools store legal shop field".split()  # noqa: SIM905
ENDINGS = "toml py sql csv ts yaml md".split()  # noqa: SIM905
CALLS = ("read_file", "terminal", "search_files")
TURNS = 48
CALLS_A_TURN = 6


@dataclass(frozen=True)
class Pair:
    """Two sentences, the first said long before the second.

    Attributes:
        kind: `implicit` and `explicit` pairs replace a value, `both` does not.
        first: The earlier sentence.
        second: The later one.
    """

    kind: str
    first: str
    second: str


class Writer:
    """Everything that is made up for one language, from one seed."""

    def __init__(self, language: str, seed: int) -> None:
        self.sections = sections(LANGUAGES[language])
        self.joiner = "" if language in JOINED else " "
        self.random = random.Random(f"{language} {seed}")
        self.used: set[str] = set()

    def word(self) -> str:
        """Return a made-up word that was not used before."""
        while True:
            word = "".join(self.random.choices(SYLLABLES, k=4))
            if word not in self.used:
                self.used.add(word)
                return word

    def values(self) -> dict[str, object]:
        numbers = self.random.sample(range(3, 99), 3)
        path = f"{self.random.choice(FOLDERS)}/{self.word()}.{self.random.choice(ENDINGS)}"
        names = {"name": self.word(), "other": self.word(), "path": path}
        return {**names, **dict(zip("nvw", numbers, strict=True))}

    def fill(self, template: str) -> str:
        return template.format(**self.values())

    def say(self, section: str, sentences: int = 1) -> str:
        """Return sentences of a section, each template at most once."""
        chosen = self.random.sample(self.sections[section], sentences)
        return self.joiner.join(map(self.fill, chosen))

    def rules(self, kind: str) -> list[str]:
        return [self.fill(template) for template in self.sections[kind]]

    def pairs(self) -> list[Pair]:
        """Return one pair of every template."""
        made = []
        for kind in ("implicit", "explicit", "both"):
            for line in self.sections[kind]:
                first, _, second = line.partition(" | ")
                values = self.values()
                later = values if second else {**values, "v": values["w"]}
                made.append(Pair(kind, first.format(**values), (second or first).format(**later)))
        return made

    def inside(self, rule: str) -> str:
        """Return a longer message with a rule in the middle of it."""
        before, after = self.random.randint(2, 4), self.random.randint(2, 4)
        return self.joiner.join([self.say("prose", before), rule, self.say("prose", after)])

    def output(self) -> str:
        """Return lines that a tool prints."""
        return "\n".join(
            f"{at:4d}  {self.random.choice(SYLLABLES)}_{self.random.choice(SYLLABLES)}"
            f"({self.random.choice(FOLDERS)}.{self.random.choice(SYLLABLES)}, "
            f"{self.random.randrange(10**6)})"
            for at in range(self.random.randrange(10, 40))
        )


@cache
def sections(code: str) -> dict[str, list[str]]:
    """Return the sections of a language's file."""
    found: dict[str, list[str]] = {}
    for line in (FOLDER / f"{code}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            lines = found.setdefault(line[1:-1], [])
        elif line.strip():
            lines.append(line)
    return found


def coding_turn(writer: Writer, number: int, text: str) -> list[Message]:
    """Return a turn with tool calls that starts with a text of the user."""
    turn: list[Message] = [{"role": "user", "content": text}]
    for at in range(CALLS_A_TURN):
        arguments = json.dumps({"path": writer.fill("{path}")})
        function = {"name": writer.random.choice(CALLS), "arguments": arguments}
        call = {"id": f"call_{number}_{at}", "type": "function", "function": function}
        turn.append({"role": "assistant", "content": None, "tool_calls": [call]})
        turn.append({"role": "tool", "tool_call_id": call["id"], "content": writer.output()})
    return [*turn, {"role": "assistant", "content": writer.say("answers")}]


def chat_turn(writer: Writer, text: str) -> list[Message]:
    """Return a turn of talk alone."""
    answer = writer.joiner.join([writer.say("answers", 3), writer.say("prose", 2)])
    return [{"role": "user", "content": text}, {"role": "assistant", "content": answer}]


def spread(texts: list[str], turns: int) -> dict[int, str]:
    """Return texts by turn, evenly over the first nine tenths."""
    last = int(turns * 0.9)
    return {at * last // len(texts): text for at, text in enumerate(texts)}


def coding_session(writer: Writer, texts: list[str]) -> list[Message]:
    """Return a coding session in which the user says some texts."""
    said = spread(texts, TURNS)
    messages: list[Message] = [{"role": "system", "content": "You are a careful engineer."}]
    for number in range(TURNS):
        messages += coding_turn(writer, number, said.get(number) or writer.say("asks"))
    return messages


def chat_session(writer: Writer, texts: list[str]) -> list[Message]:
    """Return a chat of long messages in which the user says some texts."""
    turns = 4 * TURNS
    said = spread(texts, turns)
    messages: list[Message] = [{"role": "system", "content": "You are a helpful assistant."}]
    for number in range(turns):
        text = said.get(number) or writer.joiner.join(
            [writer.say("prose", writer.random.randint(2, 6)), writer.say("asks")]
        )
        messages += chat_turn(writer, text)
    return messages


def rule_cases(language: str, seed: int = 1) -> list[Case]:
    """Return the three sessions with rules in one language."""
    found = []
    for group, session, is_inside in (
        ("coding, rules alone", coding_session, False),
        ("coding, rules inside", coding_session, True),
        ("chat, rules inside", chat_session, True),
    ):
        writer = Writer(language, seed)
        needles = [Needle(rule, kind) for kind in RULE_KINDS for rule in writer.rules(kind)]
        writer.random.shuffle(needles)
        texts = [writer.inside(n.text) if is_inside else n.text for n in needles]
        messages = session(writer, texts)
        found.append(Case(f"{language}: {group}", group, language, messages, tuple(needles)))
    return found


def pair_case(language: str, seed: int = 2) -> tuple[list[Message], list[Pair]]:
    """Return a coding session with pairs of sentences, and the pairs."""
    writer = Writer(language, seed)
    pairs = writer.pairs()
    texts = [pair.first for pair in pairs] + [pair.second for pair in pairs]
    return coding_session(writer, texts), pairs


def ordinary(language: str, seed: int = 3) -> list[str]:
    """Return sentences that hold no rule, one of every template."""
    writer = Writer(language, seed)
    return writer.rules("prose") + writer.rules("asks")


def lookalikes(language: str, seed: int = 4) -> list[str]:
    """Return sentences that sound like a rule and are none."""
    return Writer(language, seed).rules("lookalike")
