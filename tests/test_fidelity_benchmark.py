"""The benchmark of what survives compaction scores rightly, on inputs small enough to judge by eye."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).resolve().parents[1] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))

from survival import peers, perdure_measures, recorded, report, rules, scores  # noqa: E402

PROBES = [
    {"question": "Which port?", "answer": "port 4417", "kind": "number"},
    {"question": "Which team says it?", "answer": 'the "harbour" team', "kind": "decision"},
]


def call(name: str, call_id: str) -> dict:
    function = {"name": name, "arguments": '{"path": "a.py"}'}
    return {"id": call_id, "type": "function", "function": function}


def session() -> list[dict]:
    work = [
        message
        for at in range(60)
        for message in (
            {"role": "assistant", "content": None, "tool_calls": [call("read_file", "same")]},
            {"role": "tool", "tool_call_id": "same", "content": f"line {at}\n" * 60},
        )
    ]
    said = {"role": "user", "content": 'The server listens on port 4417, says the "harbour" team.'}
    return [said, *work, {"role": "user", "content": "Go on."}]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, lines in (("openai", session()), ("probes", PROBES)):
        text = "\n".join(map(json.dumps, lines))
        (tmp_path / f"small.{name}.jsonl").write_text(text, encoding="utf-8")
    return tmp_path


def needle(text: str, kind: str = "k") -> scores.Needle:
    return scores.Needle(text, kind)


def test_an_answer_is_seen_as_it_is_and_as_json_writes_it():
    assert scores.sees('say "x"\tnow', 'say "x"')
    assert scores.sees(json.dumps({"a": 'say "x"'}), 'say "x"')
    assert scores.sees(json.dumps("für"), "für")
    assert not scores.sees("port 44170", "port 4418")


def test_a_wrapped_quotation_is_the_same_sentence():
    text = scores.squeezed("[3] > Never touch\n> the folder\n>  tide.")

    assert scores.sees_sentence(text, "Never touch the folder tide.")


def test_shares_are_counted_over_all_and_by_kind():
    found = scores.scored(
        [needle("a", "x"), needle("b", "x"), needle("c", "y")], lambda n: n.text != "b"
    )

    assert found["all"] == {"found": 2, "of": 3, "share": 0.6667}
    assert found["kinds"]["x"]["share"] == 0.5
    assert found["lost"] == ["b"]
    assert scores.merged([found, found])["kinds"]["y"] == {"found": 2, "of": 2, "share": 1.0}
    assert scores.score(0, 0)["share"] == 0.0


def test_an_old_value_counts_as_current_until_its_line_says_that_it_was_replaced():
    assert scores.old_is_current("> [1] Use 4 workers.", "Use 4 workers.")
    assert not scores.old_is_current("Use 9. (replaces: [1] Use 4 workers.)", "Use 4 workers.")
    assert not scores.old_is_current("Use 4 workers. [replaced in 7]", "Use 4 workers.")
    assert scores.has_mark("Use 4 workers. [replaced in 7]", "Use 4 workers.")
    assert not scores.has_mark("Use 4 workers.", "Use 4 workers.")


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("plain text", "other"),
        ("ログを見る", "Japanese"),
        ("查看日志", "Chinese"),
        ("로그", "Korean"),
    ],
)
def test_the_language_of_a_session_is_told_by_its_letters(text, language):
    assert scores.language_of(text) == language


def test_recorded_sessions_are_read_and_every_call_gets_an_id_of_its_own(folder):
    [case] = recorded.read_cases(folder)

    ids = [call["id"] for m in case.messages for call in m.get("tool_calls", ())]
    assert len(set(ids)) == 60
    assert [m["tool_call_id"] for m in case.messages if m["role"] == "tool"] == ids
    assert [n.question for n in case.needles] == ["Which port?", "Which team says it?"]


def test_without_a_data_folder_there_are_no_cases(tmp_path):
    assert recorded.read_cases(tmp_path / "absent") == []


@pytest.mark.parametrize("language", rules.LANGUAGES)
def test_every_language_has_rules_sessions_and_pairs(language):
    cases = rules.rule_cases(language)
    messages, pairs = rules.pair_case(language)

    for case in cases:
        said = scores.all_text(m for m in case.messages if m["role"] == "user")
        assert all(n.text in said for n in case.needles)
        assert len({n.text for n in case.needles}) == len(case.needles) == 16
    said = scores.all_text(messages)
    assert {pair.kind for pair in pairs} == {"implicit", "explicit", "both"}
    assert all(pair.first != pair.second for pair in pairs)
    assert all(said.index(pair.first) < said.index(pair.second) for pair in pairs)
    assert len(rules.ordinary(language)) == 16
    assert len(rules.lookalikes(language)) == 6


def test_sessions_of_the_same_seed_are_the_same():
    assert rules.rule_cases("English") == rules.rule_cases("English")


def test_perdure_is_measured_on_a_small_session(folder):
    [case] = recorded.read_cases(folder)

    seen = perdure_measures.measure_handoff(case, 1_000)
    recalled = perdure_measures.measure_recall(case, 1_000)
    searched = perdure_measures.measure_search(case)

    assert seen["handoff"]["all"]["share"] == 1.0
    assert 0 < seen["handoff_tokens"] <= 1_000
    assert seen["sent_tokens"] < seen["session_tokens"]
    assert recalled["paging"]["all"]["share"] == 1.0
    assert searched["top 10 with neighbours"]["all"]["found"] == 2


def test_a_peer_gets_more_or_less_room_until_its_size_fits():
    case = scores.Case("c", "recorded", "other", [], (needle("word"),))
    asked: list[int] = []

    def ask(tasks: list[dict]) -> list[dict]:
        asked.append(tasks[0]["room"])
        text = "word " * (tasks[0]["room"] * 4)
        return [{"messages": [{"role": "user", "content": text}]}]

    [found] = peers.at_size(ask, [case], [1_000], 0, tries=5)

    assert asked[0] == 1_000
    assert 1 < len(asked) <= 5
    assert abs(found["tokens"] - 1_000) <= 110


def test_a_peer_that_fails_on_one_session_is_told_and_the_others_count():
    cases = [scores.Case(name, "recorded", "other", [], (needle("word"),)) for name in "ab"]

    def ask(tasks: list[dict]) -> list[dict]:
        fine = {"messages": [{"role": "user", "content": "a word"}]}
        return [
            fine if len(tasks) == 2 and at == 0 else {"error": "broken"} for at in range(len(tasks))
        ]

    first, second = peers.measure(peers.PEERS[0], ask, cases, [8, 8], 4)

    assert first["all"]["share"] == 1.0
    assert second == {"name": "b", "error": "broken"}


def test_a_process_that_breaks_is_reported_with_its_last_words(tmp_path, monkeypatch):
    (tmp_path / "broken.py").write_text("raise SystemExit('no such thing')", encoding="utf-8")
    monkeypatch.setattr(peers, "ADAPTERS", tmp_path)
    peer = peers.Peer("broken", "broken", "broken", "nothing")

    with pytest.raises(peers.PeerError, match="no such thing"):
        peers.answers(Path(sys.executable), peer, [])


def test_an_adapter_answers_each_task_and_tells_of_errors(tmp_path, monkeypatch):
    program = (
        "from protocol import echo, newest, serve\n"
        "def compact(messages, summary_tokens, tail_tokens):\n"
        "    head = [{'role': 'user', 'content': echo('x' * 9000, summary_tokens)}]\n"
        "    return head + newest(messages, tail_tokens)\n"
        "serve(compact)\n"
    )
    (tmp_path / "small.py").write_text(program, encoding="utf-8")
    protocol = (BENCHMARKS / "survival" / "adapters" / "protocol.py").read_text(encoding="utf-8")
    (tmp_path / "protocol.py").write_text(protocol, encoding="utf-8")
    monkeypatch.setattr(peers, "ADAPTERS", tmp_path)
    peer = peers.Peer("small", "small", "small", "nothing")
    tasks = [
        {"messages": session(), "room": 600, "summary_tokens": 200},
        {"messages": [None], "room": 600, "summary_tokens": 200},
    ]

    fine, bad = peers.answers(Path(sys.executable), peer, tasks)

    assert len(fine["messages"][0]["content"]) == 800 + len("\n[...]\n")
    assert fine["messages"][-1]["content"] == "Go on."
    assert fine["messages"][1]["role"] != "tool"
    assert bad["error"].startswith("AttributeError")


def test_tables_hold_a_failed_peer_and_every_language(folder):
    [case] = recorded.read_cases(folder)
    handoff = {"12000": [perdure_measures.measure_handoff(case, 12_000)]}
    small = [perdure_measures.measure_rules(rules.rule_cases("German")[0])]
    ours = {
        "handoff": handoff,
        "search": [perdure_measures.measure_search(case)],
        "recall": [perdure_measures.measure_recall(case, 1_000)],
        "rules": small,
        "extractor": [perdure_measures.measure_extractor("German")],
        "replaced": [perdure_measures.measure_replaced("German")],
    }

    text = report.markdown({"perdure": ours, "peers": {"other": {"error": "no wheel"}}})

    assert "| other | failed: no wheel |" in text
    assert "extractor alone, German" in text
    assert "facts in a handoff of 12,000 tokens" in text
