"""What a user asked for once is in front of the model for ever; what only looks like it is not."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pytest
from long_session import Dice, Message, call, output_of, result, turn, with_line
from message_properties import all_text
from standing_rules import LANGUAGES, Language

import perdure
from perdure import handoff
from perdure.messages import text_of

SMALL = ["English", "Japanese", "German"]
EVERY = [
    name if name in SMALL else pytest.param(name, marks=pytest.mark.soak) for name in LANGUAGES
]
ROUNDS = [5, pytest.param(20, marks=pytest.mark.soak)]
TURNS_PER_ROUND = 6
OF_THE_USER = ("The user's own words", "The user said", "The user asked", "Agreed and decided")
SAID = "The user said"
POLICY = (
    "# Information security policy 7.3\n\nVersion 2031-02-11, owner: facility management\n\n"
    "## 1. Scope\n\n{first}\n\n## 2. Further provisions\n\n{rest}\n\n"
    "## 3. Document history\n\n| version | date |\n|---|---|\n| 7.2 | 2030-01-09 |\n"
)
LOG = "\n".join(
    f"2031-03-04 11:0{at}:17,{at}31 WARN  [pool-{at}] worker must not be restarted before lease {at}4471 ends"
    for at in range(9)
)
DIFF = (
    "diff --git a/rules.md b/rules.md\nindex 5e1b7c2..91ac0de 100644\n--- a/rules.md\n+++ b/rules.md\n"
    "@@ -1,4 +1,4 @@\n # Rules\n-Never use tabs in makefiles.\n+Always use spaces in makefiles.\n"
    " You must sign every commit.\n"
)


@dataclass
class Played:
    """A session after its rounds.

    Attributes:
        sent: Text of all that would be sent.
        sections: Text of the handoff, by the line that a section starts with.
        share: Tokens sent, of those that came in.
    """

    sent: str
    sections: dict[str, str]
    share: float

    def of_the_user(self) -> str:
        """Return everything that the handoff gives as the user's."""
        found = [text for name, text in self.sections.items() if name.startswith(OF_THE_USER)]
        return "\n".join(found)

    def has(self, text: str) -> bool:
        return squeezed(text) in squeezed(self.sent)


def squeezed(text: str) -> str:
    """Return a text without line breaks, marks of quotation and the space around them."""
    return re.sub(r"\s+", " ", re.sub(r"(?m)^[>\s]+", "", text)).strip()


def sections_of(text: str) -> dict[str, str]:
    """Return the sections of a handoff; a section starts with a line that ends in a colon."""
    found: dict[str, list[str]] = {"": []}
    name = ""
    for line in text.splitlines():
        if re.match(r"[A-Z][^:]*.*:$", line) and not line.startswith((">", "-", " ", "[")):
            name = line
        found.setdefault(name, []).append(line)
    return {name: "\n".join(lines) for name, lines in found.items()}


def play(turns: list[list[Message]], rounds: int) -> Played:
    """Play turns in as many rounds, compacting after each, in a window that leaves about 10 %."""
    system = {"role": "system", "content": "You are a careful engineer."}
    tokens = sum(len(str(message)) // 4 for made in turns for message in made)
    config = {
        "provider": {"context_length": int(0.4 * tokens)},
        "context": {"compression": {"min_context_length": 1}},
    }
    with perdure.open_session(config, session_id="s", state_dir=":memory:") as session:
        session.append([system])
        came = 0
        step = -(-len(turns) // rounds)
        for start in range(0, len(turns), step):
            before = session.count_tokens()
            session.append([m for made in turns[start : start + step] for m in made])
            came += session.count_tokens() - before
            session.compress()
        share = session.count_tokens() / came
        [made] = [text_of(message) for message in session.current if handoff.is_handoff(message)]
        return Played(all_text(session.view().messages), sections_of(made), share)


def everyday(dice: Dice, language: Language, rounds: int) -> list[list[Message]]:
    return [
        list(turn(dice, number, dice.say(language.asks), calls=7, lines=26))
        for number in range(rounds * TURNS_PER_ROUND)
    ]


def asked(made: list[Message], text: str) -> list[Message]:
    """Return a turn that starts with another text of the user."""
    return [{"role": "user", "content": text}, *made[1:]]


def interrupted(made: list[Message], text: str) -> list[Message]:
    """Return a turn in the middle of which the user says something."""
    half = len(made) // 4 * 2 + 1
    return [*made[:half], {"role": "user", "content": text}, *made[half:]]


def printing(dice: Dice, number: int, made: list[Message], text: str) -> list[Message]:
    """Return a turn in which a tool prints a line."""
    tool = dice.random.choice(["terminal", "read_file", "web_fetch"])
    arguments, output = output_of(dice, tool, 30)
    printed = [
        call(number * 100 + 98, tool, arguments),
        result(number * 100 + 98, with_line(output, text, dice.random.random())),
    ]
    return [made[0], *printed, *made[1:]]


def placed(turns: list[list[Message]], texts: list[str]) -> list[list[Message]]:
    """Say texts at the start and from the middle on, in the middle of the work."""
    turns = list(turns)
    half, middle = len(texts) // 2, len(turns) // 2
    for at, text in enumerate(texts[:half]):
        turns[at + 1] = asked(turns[at + 1], text)
    for at, text in enumerate(texts[half:]):
        turns[middle + at] = interrupted(turns[middle + at], text)
    return turns


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", EVERY)
def test_rules_that_are_messages_of_their_own_are_all_seen(name, rounds):
    language = LANGUAGES[name]
    dice = Dice(3)
    turns = placed(everyday(dice, language, rounds), list(language.rules))

    played = play(turns, rounds)

    assert [rule for rule in language.rules if not played.has(rule)] == []
    assert played.share < 0.13


@pytest.mark.parametrize("rounds", ROUNDS)
def test_rules_in_nine_languages_live_in_one_session(rounds):
    dice = Dice(4)
    rules = [rule for language in LANGUAGES.values() for rule in language.rules]
    turns = everyday(dice, LANGUAGES["English"], 2 * rounds)
    for at, rule in enumerate(rules):
        made = turns[at * len(turns) // len(rules) // 2]
        made[:] = interrupted(made, rule)

    played = play(turns, rounds)

    assert [rule for rule in rules if not played.has(rule)] == []


@pytest.mark.parametrize("rounds", ROUNDS)
def test_rules_inside_longer_messages_are_seen(rounds):
    dice = Dice(5)
    found = {}
    for name in SMALL if rounds == ROUNDS[0] else LANGUAGES:
        language = LANGUAGES[name]
        texts = [" ".join(parts) for parts in language.inside]
        played = play(placed(everyday(dice, language, rounds), texts), rounds)
        found |= {(name, rule): played.has(rule) for _, rule, _ in language.inside}

    lost = [rule for rule, is_seen in found.items() if not is_seen]
    assert len(lost) <= 0.1 * len(found), lost


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", EVERY)
def test_replaced_values_are_never_shown_as_current(name, rounds):
    language = LANGUAGES[name]
    dice = Dice(6)
    earlier = [old for old, _ in language.replaced]
    later = [new for _, new in language.replaced]
    turns = placed(everyday(dice, language, rounds), earlier + later)

    played = play(turns, rounds)

    for old, new in language.replaced:
        assert played.has(new)
        bare = [line for line in played.sent.splitlines() if squeezed(old) in squeezed(line)]
        for line in bare:
            assert "replace" in line, (old, line)
            assert played.sent.index(new) <= played.sent.index(line) + len(line)


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", EVERY)
def test_what_tools_print_is_never_given_as_the_users(name, rounds):
    language = LANGUAGES[name]
    dice = Dice(7)
    turns = everyday(dice, language, rounds)
    for at, text in enumerate(language.printed):
        for place in (at, len(turns) // 2 + at):
            turns[place] = printing(dice, place, turns[place], text)

    played = play(turns, rounds)

    users = squeezed(played.of_the_user())
    assert users
    assert [text for text in language.printed if squeezed(text) in users] == []


@pytest.mark.parametrize("rounds", ROUNDS)
@pytest.mark.parametrize("name", EVERY)
def test_pasted_texts_do_not_become_rules_of_the_user(name, rounds):
    language = LANGUAGES[name]
    dice = Dice(8)
    before, after = language.typed
    first, rest = "\n".join(language.pasted[:2]), "\n".join(language.pasted[2:])
    pasted = [POLICY.format(first=first, rest=rest), f"```\n{LOG}\n```", LOG, DIFF]
    turns = everyday(dice, language, rounds)
    for at, text in enumerate(pasted):
        turns[at] = asked(turns[at], f"{before}\n\n{text}\n\n{after} ({at})")

    played = play(turns, rounds)

    said = played.sections.get(next((s for s in played.sections if s.startswith(SAID)), ""), "")
    as_rules = [line for line in said.splitlines() if any(x in line for x in language.pasted)]
    assert as_rules == []
    assert "must not be restarted" not in said
    assert "in makefiles" not in said
    assert [at for at in range(len(pasted)) if not played.has(f"{after} ({at})")] == []
    assert played.has(before)
