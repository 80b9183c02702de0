"""The summary without a model: what says most, word for word, and the same every time."""

from __future__ import annotations

import json
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.messages import digest as digest_of
from perdure.stock.digest import candidates_of, make_digest
from perdure.stock.digest.candidates import terms_in
from perdure.tokens import counter_for

COUNT = counter_for("gpt-4o").count_text


def items(messages):
    return [(i, m, digest_of(m)) for i, m in enumerate(messages)]


def tool(text: str) -> dict:
    return {"role": "tool", "tool_call_id": "1", "content": text}


def noise(lines: int, seed: int) -> str:
    draw = random.Random(seed)
    words = "lorem ipsum dolor sit amet consectetur adipiscing elit sed do".split()
    return "\n".join(" ".join(draw.choices(words, k=9)) for _ in range(lines))


FACTS = [
    "ERROR: connection to db-7.internal refused (errno 111)",
    "the ticket is OPS-4411 for this outage",
    "retry_limit = 17 in config/net.yaml",
    "https://ci.example.org/build/90125 is the failing build",
    "错误：端口 8443 已被占用",
]


def test_facts_are_found_in_noise():
    messages = [
        tool(f"{noise(60, i)}\n{fact}\n{noise(60, i + 50)}") for i, fact in enumerate(FACTS)
    ]

    text = make_digest(items(messages), budget_tokens=400, count=COUNT).text

    for fact in FACTS:
        assert fact in text


def test_decision_of_the_assistant_is_kept():
    said = "We will use SQLite instead of PostgreSQL because the tool must run offline."
    messages = [{"role": "assistant", "content": f"{noise(30, 1)}\n{said}\n{noise(30, 2)}"}]

    assert said in make_digest(items(messages), budget_tokens=200, count=COUNT).text


def test_records_are_values_under_their_names_once():
    rows = [{"hotel": f"Hotel {i}", "price": 100 + i, "phone": f"010-555{i:04d}"} for i in range(5)]
    messages = [tool(json.dumps({"results": rows[:3]})), tool(json.dumps({"results": rows[3:]}))]

    made = make_digest(items(messages), budget_tokens=300, count=COUNT)

    assert made.text.count("Records of hotel, price, phone:") == 1
    for i in range(5):
        assert f" Hotel {i}, {100 + i}, 010-555{i:04d}" in made.text
    again = make_digest(items([]), budget_tokens=300, count=COUNT, previous=made.lines)
    assert again.text == made.text


def test_settings_keep_their_names():
    text = json.dumps({"server": {"port": 8443, "retries": 7, "region": "eu-north-3"}})

    made = make_digest(items([tool(text)]), budget_tokens=300, count=COUNT)

    assert "server: port: 8443, retries: 7, region: eu-north-3" in made.text


def test_user_text_is_left_to_the_ledger():
    messages = [{"role": "user", "content": "ERROR: my own words OPS-1"}]

    assert make_digest(items(messages), budget_tokens=300, count=COUNT).text == ""


def test_secrets_are_not_in_it():
    messages = [tool("ERROR: bad key sk-FAKEFAKEFAKEFAKEFAKEFAKE0123456789abcd for host h-1")]
    text = make_digest(items(messages), budget_tokens=300, count=COUNT).text

    assert "FAKEFAKE" not in text
    assert "[REDACTED:openai-key]" in text


@pytest.mark.parametrize(
    ("text", "term"),
    [
        ("修复了ENT-241问题", "ENT-241"),
        ("提交3f9ac2d41b07已推送", "3f9ac2d41b07"),
        ("修正ファイル（14個）が揃った", "14個"),
        ("合計で8つの基準", "8つ"),
        ("设置retry_limit=17后重启", "retry_limit=17"),
        ("UNIT_INTEGRATIONテスト戦略", "UNIT_INTEGRATION"),
        ("요금은 3000원입니다", "3000원"),
        ("ждали 30 мин.", "30 мин"),
    ],
)
def test_name_between_letters_of_another_script_is_a_term(text, term):
    assert term in terms_in(text)


KEY = "sk-FAKEFAKEFAKEFAKEFAKEFAKE0123456789abcd"
PRIVATE_KEY = "\n".join(
    ["-----BEGIN PRIVATE KEY-----", *["FAKE12ab/+FAKE34cd" * 3] * 9, "-----END PRIVATE KEY-----"]
)


@pytest.mark.parametrize("secret", [f"{'word ' * 60}{KEY} ERROR " * 6, PRIVATE_KEY])
def test_secret_that_is_spread_over_lines_is_in_none_of_them(secret):
    arguments = json.dumps({"path": "a/b.txt", "content": f"x = 1\n{secret}"})
    call = {"id": "1", "type": "function", "function": {"name": "write", "arguments": arguments}}
    messages = [
        tool(f"ERROR: {secret}"),
        tool(json.dumps({"error": secret})),
        {"role": "assistant", "content": f"Because of {secret}", "tool_calls": [call]},
    ]
    text = make_digest(items(messages), budget_tokens=4_000, count=COUNT).text

    assert "FAKE" not in text
    assert "[REDACTED:" in text


def test_lines_of_an_earlier_digest_compete_again_and_are_not_summarised():
    first = make_digest(items([tool(f"{fact}\n{noise(20, 3)}") for fact in FACTS]),
                        budget_tokens=400, count=COUNT)  # fmt: skip
    again = make_digest([], budget_tokens=400, count=COUNT, previous=first.lines)

    assert again.text == first.text


def test_what_stands_beside_it_is_not_said_twice():
    messages = [tool("see OPS-4411"), tool("see OPS-4412")]
    text = make_digest(items(messages), budget_tokens=14, count=COUNT, shown="ticket OPS-4412").text

    assert "OPS-4411" in text
    assert "OPS-4412" not in text


@given(
    st.lists(
        st.fixed_dictionaries(
            {"role": st.sampled_from(["tool", "assistant", "user"]), "content": st.text()}
        ),
        max_size=12,
    ),
    st.integers(0, 400),
)
def test_it_never_exceeds_its_budget_and_is_deterministic(messages, budget):
    made = make_digest(items(messages), budget_tokens=budget, count=COUNT)

    assert COUNT(made.text) <= budget
    assert made == make_digest(items(messages), budget_tokens=budget, count=COUNT)
    assert [line.index for line in made.lines] == sorted(line.index for line in made.lines)


def test_hostile_text_costs_linear_time():
    def cost(size: int) -> float:
        texts = ["a_" * size, "/" * size, "1." * size, "{" * size, "é" * size, '"' * size]
        started = time.perf_counter()
        for text in texts:
            candidates_of({"role": "tool", "content": text})
        return time.perf_counter() - started

    cost(1_000)
    assert cost(160_000) < 20 * max(cost(20_000), 0.02)
