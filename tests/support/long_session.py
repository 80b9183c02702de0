"""A long session of a coding agent, made up by dice: asks, calls, results and short remarks."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from typing import Any

Message = dict[str, Any]

NOUNS = (
    "order parcel invoice tariff carrier manifest depot label route driver shift pallet customs "
    "quote refund address window batch event queue cursor session token profile report"
).split()
VERBS = "load merge check format split apply fetch store build parse close open rank sort".split()
LAYERS = "api core jobs store views rules sync".split()
ASKS = (
    "Please look at {path} next.",
    "Can you clean up {name} in {path}?",
    "ok, go on with {path}",
    "The function {name} is hard to read, please make it simpler.",
    "now the tests of {path} please",
    "looks good, next one",
    "What does {name} do at the moment?",
    "continue",
)
REMARKS = (
    "Let me look at {path}.",
    "I will check where {name} is used.",
    "Now the tests.",
    "That is simpler now; running the tests again.",
    "{name} does two things, I will split it.",
)
CLOSINGS = (
    "Done: {name} is shorter and the tests pass.",
    "{path} is cleaned up.",
    "Finished with {name}; nothing else uses it.",
)


class Dice:
    """Everything that is drawn, from one seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.paths = [f"src/{layer}/{noun}.py" for layer in LAYERS for noun in NOUNS]

    def name(self) -> str:
        return f"{self.random.choice(VERBS)}_{self.random.choice(NOUNS)}"

    def path(self) -> str:
        return self.random.choice(self.paths)

    def say(self, templates: Sequence[str]) -> str:
        return self.random.choice(templates).format(path=self.path(), name=self.name())

    def code(self, lines: int) -> str:
        number = self.random.randrange(1, 400)
        found = []
        while len(found) < lines:
            noun, name = self.random.choice(NOUNS), self.name()
            found += [
                f"def {name}({noun}, {self.random.choice(NOUNS)}=None):",
                f'    """Return the {noun} of a {self.random.choice(NOUNS)}."""',
                f"    if {noun} is None:",
                f"        return {self.random.choice(('None', '[]', '{}', '0'))}",
                f"    found = [x for x in {noun}.{self.random.choice(NOUNS)}s if x.is_open]",
                f"    return {self.name()}(found, limit={self.random.randrange(1, 99)})",
                "",
            ]
        return "\n".join(f"{number + at:5d}\t{line}" for at, line in enumerate(found[:lines]))

    def tests(self, lines: int) -> str:
        found = [
            f"tests/{self.random.choice(LAYERS)}/test_{self.random.choice(NOUNS)}.py::"
            f"test_{self.name()} PASSED [{at * 100 // lines:3d}%]"
            for at in range(lines)
        ]
        took = self.random.random() * 30
        return "\n".join([*found, f"===== {lines} passed in {took:.2f}s ====="])

    def listing(self, lines: int) -> str:
        return "\n".join(
            f"-rw-r--r-- 1 dev dev {self.random.randrange(300, 20_000):6d} "
            f"Mar {self.random.randrange(1, 28):2d} {self.path()}"
            for _ in range(lines)
        )

    def matches(self, lines: int) -> str:
        return "\n".join(
            f"{self.path()}:{self.random.randrange(1, 400)}:    return {self.name()}(found)"
            for _ in range(lines)
        )

    def page(self, lines: int) -> str:
        return "\n".join(
            f"A {self.random.choice(NOUNS)} has a {self.random.choice(NOUNS)} and one or more "
            f"{self.random.choice(NOUNS)}s; see {self.random.choice(NOUNS)} handling."
            for _ in range(lines)
        )


def call(number: int, tool: str, arguments: Message) -> Message:
    """Return an assistant message with one call."""
    function = {"name": tool, "arguments": json.dumps(arguments, ensure_ascii=False)}
    calls = [{"id": f"call_{number}", "type": "function", "function": function}]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def result(number: int, text: str) -> Message:
    """Return the result of a call."""
    return {"role": "tool", "tool_call_id": f"call_{number}", "content": text}


def step(dice: Dice, number: int, lines: int) -> tuple[str, Message, str]:
    """Return tool, arguments and output of an everyday call."""
    path = dice.path()
    return dice.random.choice(
        [
            ("read_file", {"path": path, "offset": 1, "limit": lines}, dice.code(lines)),
            ("read_file", {"path": path}, dice.code(lines)),
            ("terminal", {"command": f"pytest -v tests/{dice.name()}"}, dice.tests(lines)),
            ("terminal", {"command": f"ls -l {path}"}, dice.listing(lines)),
            ("search_files", {"pattern": dice.name()}, dice.matches(lines)),
            ("edit_file", {"path": path, "old": dice.code(6), "new": dice.code(6)}, "ok"),
            ("web_fetch", {"url": f"https://docs.example.org/{dice.name()}"}, dice.page(lines)),
        ]
    )


def output_of(dice: Dice, tool: str, lines: int) -> tuple[Message, str]:
    """Return arguments and everyday output of one tool."""
    path = dice.path()
    if tool == "terminal":
        made = dice.random.choice([dice.tests, dice.listing])
        return {"command": f"make {dice.name()}"}, made(lines)
    makers = {"read_file": dice.code, "search_files": dice.matches, "web_fetch": dice.page}
    return {"path": path}, makers.get(tool, dice.listing)(lines)


def with_line(text: str, line: str, at: float) -> str:
    """Return a text with one more line at a share of its height."""
    lines = text.splitlines()
    place = int(at * len(lines))
    return "\n".join([*lines[:place], line, *lines[place:]])


def turn(dice: Dice, number: int, ask: str, *, calls: int, lines: int) -> Iterator[Message]:
    """Yield a turn: an ask, calls with their results, and a closing remark."""
    yield {"role": "user", "content": ask}
    for at in range(calls):
        tool, arguments, text = step(dice, number, dice.random.randrange(lines // 2, lines * 2))
        made = call(number * 100 + at, tool, arguments)
        if dice.random.random() < 0.3:
            made["content"] = dice.say(REMARKS)
        yield made
        yield result(number * 100 + at, text)
    yield {"role": "assistant", "content": dice.say(CLOSINGS)}
