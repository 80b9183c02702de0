"""The command line: what it prints, what it writes, and with which code it ends."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from perdure.cli import cli
from perdure.cli.main import EXIT_CODES
from perdure.errors import PerdureError


def conversation(turns: int = 60) -> list[dict]:
    messages = [{"role": "system", "content": "You help."}]
    for turn in range(turns):
        made = {
            "id": f"c{turn}",
            "type": "function",
            "function": {"name": "read_file", "arguments": json.dumps({"path": f"f{turn}.py"})},
        }
        messages += [
            {"role": "user", "content": f"Never rename module {turn}. Read file {turn}."},
            {"role": "assistant", "content": None, "tool_calls": [made]},
            {
                "role": "tool",
                "tool_call_id": f"c{turn}",
                "content": f"value {turn} = {turn * 7}\n" * 60,
            },
            {"role": "assistant", "content": f"File {turn} holds value {turn}."},
        ]
    return messages


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "chat.json").write_text(json.dumps(conversation()), encoding="utf-8")
    return tmp_path


def run(*arguments: str, code: int = 0, stdin: str | None = None):
    done = CliRunner().invoke(cli, list(arguments), input=stdin)
    assert done.exit_code == code, (done.output, done.stderr, done.exception)
    return done


WINDOW = ("--context-length", "16000", "--max-tokens", "1000")


def test_report_for_people_names_fates_ledger_and_handles(place):
    out = run("compress", "chat.json", *WINDOW).stdout

    for part in ("compressor: 241 messages are", "kept", "handoff", "user rules", "valid: openai yes",
                 "perdure recall ref:"):  # fmt: skip
        assert part in out


def test_report_for_programs_is_one_object(place):
    report = json.loads(run("compress", "chat.json", *WINDOW, "--json").stdout)

    assert report["engine"] == report["requested_engine"] == "compressor"
    assert report["messages_in"] == 241
    assert report["tokens_out"] <= report["target_tokens"]
    assert sum(row["messages"] for row in report["fates"]) == 241
    assert report["valid"] == dict.fromkeys(report["valid"], True)
    assert report["handles"]
    assert report["fallback_used"] is False
    assert report["ledger"]["user rules"]


def test_original_is_recalled_by_its_handle(place):
    report = json.loads(run("compress", "chat.json", *WINDOW, "--json").stdout)

    assert "value 3 = 21" in run("recall", report["handles"][0]).stdout
    whole = json.loads(run("recall", report["handles"][0], "--json").stdout)
    first = report["ranges"][0]
    assert whole["messages"] == conversation()[first["first"] : first["last"] + 1]


def test_messages_of_another_provider_are_recalled_as_that_provider_wrote_them(place):
    messages = []
    for turn in range(60):
        use = {"type": "tool_use", "id": f"t{turn}", "name": "read_file", "input": {"n": turn}}
        thinking = {"type": "thinking", "thinking": f"hm {turn}", "signature": "c2ln"}
        text = f"value {turn} = {turn * 7}\n" * 60
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}
        more = {"type": "text", "text": f"Now file {turn + 1}.", "x_unknown": turn}
        messages += [
            {"role": "assistant", "content": [thinking, use], "x_turn": turn},
            {"role": "user", "content": [result, more]},
        ]
    messages.insert(0, {"role": "user", "content": "Read the files."})
    (place / "chat.json").write_text(json.dumps(messages), encoding="utf-8")

    report = json.loads(run("compress", "chat.json", *WINDOW, "--json").stdout)
    raw = json.loads(run("recall", report["handles"][0], "--json").stdout)["raw"]

    first = messages.index(raw[0])
    assert len(raw) > 20
    assert raw == messages[first : first + len(raw)]


def test_what_was_done_to_kept_messages_to_make_them_valid_is_told(place):
    messages = [{"role": "user", "content": "Read the files."}]
    for turn in range(60):
        thinking = {"type": "thinking", "thinking": f"hm {turn}", "signature": "c2ln"}
        use = {"type": "tool_use", "id": f"t{turn}", "name": "read_file", "input": {"n": turn}}
        text = f"value {turn} = {turn * 7}\n" * 60
        result = {"type": "tool_result", "tool_use_id": f"t{turn}", "content": text}
        messages += [
            {"role": "assistant", "content": [thinking, use]},
            {"role": "user", "content": [result, {"type": "text", "text": f"Go on, {turn}."}]},
        ]
    (place / "chat.json").write_text(json.dumps(messages), encoding="utf-8")

    done = run("compress", "chat.json", *WINDOW)

    assert "left out the thinking" in " ".join(done.stdout.split())


def test_same_file_gives_the_same_answer_each_time(place):
    first, second = (
        json.loads(run("compress", "chat.json", *WINDOW, "--json").stdout) for _ in range(2)
    )

    del first["duration_s"], second["duration_s"]
    assert first == second


def test_output_is_written_in_the_shape_of_the_input(place):
    run("compress", "chat.json", *WINDOW, "--out", "short.json")
    (place / "chat.jsonl").write_text("".join(json.dumps(m) + "\n" for m in conversation()))
    run("compress", "chat.jsonl", *WINDOW, "--out", "short.jsonl")

    listed = json.loads((place / "short.json").read_text())
    lines = [json.loads(line) for line in (place / "short.jsonl").read_text().splitlines()]
    assert listed == lines
    assert len(listed) < 241
    assert not [m for m in listed if any(key.startswith("_") for key in m)]


def test_standard_input_and_output_work(place):
    done = run("compress", "-", *WINDOW, "--out", "-", stdin=json.dumps(conversation()))

    assert len(json.loads(done.stdout)) < 241
    assert "compressor" in done.stderr


def test_page_holds_every_message_as_data_and_needs_no_network(place):
    messages = [*conversation(), {"role": "user", "content": "</script><b>bold</b> <!-- x"}]
    (place / "chat.json").write_text(json.dumps(messages))
    run("compress", "chat.json", *WINDOW, "--report", "page.html")

    page = (place / "page.html").read_text(encoding="utf-8")
    data = json.loads(page.split("const DATA = ")[1].split(";\n", 1)[0])
    assert len(data["messages"]) == len(messages)
    assert {"kept", "handoff"} <= {m["fate"] for m in data["messages"]}
    assert data["messages"][-1]["text"] == "</script><b>bold</b> <!-- x"
    assert page.count("</script>") == 1
    assert "http://" not in page.replace(json.dumps(data), "")
    assert "default-src 'none'" in page


def test_dry_run_writes_and_keeps_nothing(place):
    before = sorted(place.rglob("*"))
    out = run("compress", "chat.json", *WINDOW, "--dry-run", "--out", "short.json").stdout

    assert "would be" in out
    assert "prompt cache: the first" in out
    assert "summary model: not asked" in out
    assert sorted(place.rglob("*")) == before


def test_input_is_not_replaced_unless_asked(place):
    before = (place / "chat.json").read_bytes()
    run("compress", "chat.json", *WINDOW, "--out", "./chat.json", code=2)
    assert (place / "chat.json").read_bytes() == before

    run("compress", "chat.json", *WINDOW, "--out", "chat.json", "--force")
    assert len((place / "chat.json").read_bytes()) < len(before)


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("gone.json", None, "there is no file"),
        ("empty.json", b"", "is empty"),
        ("text.json", b"hello there", "text.json"),
        ("other.json", b'{"a": 1}', "messages"),
        ("norole.json", b'[{"content": "x"}]', "message 0 has no role"),
        ("alien.json", b'[{"role": "user", "content": "x"}, {"role": "alien"}]', "message 1"),
        ("type.json", b'[{"role": "user", "content": 5}]', "message 0"),
        ("lines.jsonl", b'{"role": "user", "content": "x"}\n{"role": \n', "line 2"),
        ("bytes.json", b"\xff\xfe\xfd\x00\x81", "bytes.json"),
    ],
)
def test_input_that_cannot_be_read_names_the_place_and_writes_nothing(place, name, content, found):
    if content is not None:
        (place / name).write_bytes(content)

    done = run("compress", name, "--out", "out.json", code=3)

    assert found in done.stderr
    assert not (place / "out.json").exists()
    as_json = json.loads(run("compress", name, "--json", code=3).stdout)
    assert as_json["error"] == "InputError"


def test_directory_is_refused(place):
    (place / "folder").mkdir()

    assert "directory" in run("compress", "folder", code=3).stderr


def test_what_providers_accept_passes_through_unharmed(place):
    messages = conversation(2)
    messages[2]["tool_calls"][0]["function"]["arguments"] = '{"path": broken'
    messages[6]["tool_calls"][0]["id"] = "c0"
    messages[7]["tool_call_id"] = "c0"
    messages += [{"role": "user", "content": "half \ud835 and \x00"}]
    (place / "odd.json").write_text(json.dumps(messages), encoding="utf-8")

    run("compress", "odd.json", "--out", "out.json")

    assert json.loads((place / "out.json").read_text()) == messages


def test_unknown_engine_is_warned_of_and_the_builtin_serves(place):
    with pytest.warns(UserWarning, match="lcmm"):
        report = json.loads(
            run("compress", "chat.json", *WINDOW, "--engine", "lcmm", "--json").stdout
        )

    assert report["engine"] == "compressor"
    assert any("pip install perdure-lcm" in warning for warning in report["warnings"])


def test_unknown_engine_is_an_error_when_that_was_asked_for(place):
    (place / "config.yaml").write_text("context: {on_error: raise}")

    done = run("compress", "chat.json", "--engine", "lcmm", code=5)

    assert "lcmm" in done.stderr


def test_engines_are_listed_without_importing_them(place):
    listed = json.loads(run("engines", "list", "--json").stdout)

    assert {"builtin", "compressor"} <= {engine["name"] for engine in listed}
    assert "compressor" in run("engines", "list").stdout
    shown = json.loads(run("engines", "show", "compressor", "--json").stdout)
    assert "compress" in shown["hooks"]
    assert "handoff_tokens" in [option["name"] for option in shown["options"]]
    run("engines", "show", "nobody", code=5)


def test_configuration_is_checked_and_shown(place):
    (place / "config.yaml").write_text("context:\n  compression:\n    threshold: 0.4\n")

    assert "valid" in run("config", "check").stdout
    rows = json.loads(run("config", "show", "--json").stdout)
    [row] = [row for row in rows if row["key"] == "context.compression.threshold"]
    assert row["value"] == 0.4
    assert row["source"].endswith("config.yaml:3")
    (place / "config.yaml").write_text("context: {compression: {threshold: 80}}")
    assert "threshold 80" in run("config", "check", code=4).stderr


def test_unknown_handle_ends_with_the_code_of_stores(place):
    assert "ref:000000000000" in run("recall", "ref:000000000000", code=7).stderr


def test_every_error_has_an_exit_code():
    def below(kind):
        return {kind, *(x for sub in kind.__subclasses__() for x in below(sub))}

    assert below(PerdureError) - {PerdureError} == set(EXIT_CODES)


def test_help_lists_commands_and_exit_codes(place):
    out = run("--help").stdout

    for word in ("compress", "config", "engines", "recall", "Exit codes"):
        assert word in out
    assert run("--version").stdout.startswith("perdure, version ")


def test_broken_pipe_is_quiet(place):
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", "from perdure.cli import main; main()", "compress", "chat.json",
         *WINDOW, "--out", "-"],
        stdout=writer, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    os.close(writer)
    os.close(reader)
    _, errors = process.communicate(timeout=60)

    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


# ------------------------------------------------------------------------------- where it goes


def test_pipe_as_output_is_written_into_and_stays_a_pipe(place):
    os.mkfifo("pipe")
    reader = subprocess.Popen(["cat", "pipe"], stdout=subprocess.PIPE)

    run("compress", "chat.json", *WINDOW, "--out", "pipe")

    assert json.loads(reader.communicate(timeout=10)[0])
    assert stat.S_ISFIFO(Path("pipe").stat().st_mode)


def test_link_as_output_stays_a_link_and_modes_stay(place):
    Path("real.json").write_text("old", encoding="utf-8")
    Path("real.json").chmod(0o640)
    Path("link.json").symlink_to("real.json")

    run("compress", "chat.json", *WINDOW, "--out", "link.json")
    run("compress", "chat.json", *WINDOW, "--out", "new.json")

    assert Path("link.json").is_symlink()
    assert json.loads(Path("real.json").read_text(encoding="utf-8"))
    assert stat.S_IMODE(Path("real.json").stat().st_mode) == 0o640
    assert stat.S_IMODE(Path("new.json").stat().st_mode) == 0o600


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
@pytest.mark.parametrize("more", [(), ("--out", "-"), ("--out", "/dev/full"), ("--json",)])
def test_full_disk_is_one_line_and_an_exit_code(place, more):
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "perdure", "compress", "chat.json", *WINDOW, *more]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)

    assert done.returncode == 7
    assert "Traceback" not in done.stderr
    assert "cannot be written" in done.stderr


def test_name_too_long_for_a_file_is_a_clear_error(place):
    done = CliRunner().invoke(cli, ["compress", "chat.json", *WINDOW, "--out", "x" * 300])

    assert done.exit_code in (2, 7)
    assert not isinstance(done.exception, OSError)


def test_closed_standard_input_is_a_clear_error(place):
    command = f"{sys.executable} -m perdure compress - <&-"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)

    assert done.returncode == 3
    assert "standard input is closed" in done.stderr


def test_output_and_report_may_not_be_one_file(place):
    done = CliRunner().invoke(cli, ["compress", "chat.json", "--out", "x", "--report", "x"])

    assert done.exit_code == 2
    assert not Path("x").exists()


def test_request_that_cannot_fit_is_told_with_its_largest_messages(place):
    messages = [{"role": "system", "content": f"rule {n} " * 2_000} for n in range(10)]
    Path("system.json").write_text(json.dumps(messages), encoding="utf-8")

    done = run("compress", "system.json", *WINDOW, code=6)

    assert "the largest messages are" in " ".join(done.stdout.split())


def test_what_a_session_holds_never_steers_the_terminal(place):
    evil = "Never open \x1b[31mred\x1b]0;taken\x07 doors. "
    messages = [{"role": "user", "content": f"{evil}{n}"} for n in range(3)]
    messages += conversation()
    Path("evil.json").write_text(json.dumps(messages), encoding="utf-8")

    assert "\x1b" not in run("compress", "evil.json", *WINDOW).stdout


def test_rules_survive_when_the_output_is_compressed_again_and_again(place):
    messages = [{"role": "user", "content": "Build it. Never push to main."}]
    rules = ["Never push to main."]
    for number in range(1, 101):
        said = f"Working on part {number}: edited srv/{number}.py. " * 20
        messages.append({"role": "assistant", "content": said})
        ask = f"Next, part {number}."
        if number % 10 == 0:
            ask += f" You must not touch module-{number}."
            rules.append(f"You must not touch module-{number}.")
        messages.append({"role": "user", "content": ask})
        if number % 25 == 0:
            Path("chat.json").write_text(json.dumps(messages), encoding="utf-8")
            run("compress", "chat.json", *WINDOW, "--out", "chat.json", "--force")
            messages = json.loads(Path("chat.json").read_text(encoding="utf-8"))

    text = json.dumps(messages)
    assert [rule for rule in rules if rule not in text] == []
    assert text.count("[End of Perdure handoff v1]") == 1


def test_same_file_at_the_same_time_works_for_everybody(place):
    command = [sys.executable, "-m", "perdure", "compress", "chat.json", *WINDOW, "--json"]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(3)]
    reports = [json.loads(one.communicate(timeout=120)[0]) for one in running]

    assert {one.returncode for one in running} == {0}
    assert len({report["tokens_out"] for report in reports}) == 1


def test_check_of_the_configuration_looks_at_the_engine_and_its_options(place):
    Path("c.yaml").write_text(
        "context:\n  engines:\n    compressor:\n      handoff_tokens: many\n", encoding="utf-8"
    )
    Path("d.yaml").write_text("context: {engine: lcmm}\n", encoding="utf-8")

    wrong = run("config", "check", "c.yaml", code=4).stderr
    missing = run("config", "check", "d.yaml").stdout

    assert "c.yaml:4: context.engines.compressor.handoff_tokens" in wrong
    assert "note: engine 'lcmm' is not installed" in missing
