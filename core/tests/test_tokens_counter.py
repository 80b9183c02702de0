"""Counters are chosen by model, count long texts in pieces, and remember what they counted."""

from __future__ import annotations

import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from perdure.protocols import TokenCounter
from perdure.tokens import (
    Counter,
    EstimatingCounter,
    ExactCounter,
    count_messages,
    counter_for,
    encoding_for,
    estimate_tokens,
)
from perdure.tokens.counter import PIECE_CHARS, pieces
from perdure.tokens.encodings import encoding
from perdure.tokens.framing import REQUEST_TOKENS
from perdure.transcript import Entry, Transcript

O200K = ExactCounter("o200k_base")


@pytest.mark.parametrize(
    ("model", "provider", "name"),
    [
        ("", "", "o200k_base"),
        ("some-new-model", "", "o200k_base"),
        ("some-new-model", "openai", "o200k_base"),
        ("gpt-4o-mini-2024-07-18", "", "o200k_base"),
        ("openai:gpt-4.1", "", "o200k_base"),
        ("gpt-4.5-preview", "", "o200k_base"),
        ("azure/gpt-5-mini", "", "o200k_base"),
        ("GPT-5.2-Codex", "", "o200k_base"),
        ("openai/gpt-oss-120b", "", "o200k_base"),
        ("o1", "", "o200k_base"),
        ("openrouter/openai/o3-mini", "", "o200k_base"),
        ("chatgpt-4o-latest", "", "o200k_base"),
        ("gpt-4", "", "cl100k_base"),
        ("gpt-4-turbo-2024-04-09", "", "cl100k_base"),
        ("gpt-4-32k", "", "cl100k_base"),
        ("gpt-35-turbo", "azure", "cl100k_base"),
        ("ft:gpt-3.5-turbo-0125:acme::x", "", "cl100k_base"),
        ("text-embedding-3-large", "", "cl100k_base"),
        ("my-gpt-4-deployment", "azure", "cl100k_base"),
        ("claude-opus-4-6", "", None),
        ("anthropic.claude-3-5-sonnet-20241022-v2:0", "bedrock", None),
        ("vertex_ai/gemini-2.5-pro", "", None),
        ("meta-llama/Llama-3.3-70B-Instruct", "", None),
        ("mistral-large-latest", "", None),
        ("mixtral:8x22b", "ollama", None),
        ("Qwen/Qwen3-Coder", "", None),
        ("deepseek-chat", "", None),
        ("", "anthropic", None),
        ("house-model", "mistral", None),
    ],
)
def test_the_tokeniser_follows_from_the_model_and_its_provider(model, provider, name):
    assert encoding_for(model, provider) == name
    counter = counter_for(model, provider=provider)
    assert counter.name == (name or "estimate")
    assert counter.is_exact is bool(name)


def test_counters_keep_the_protocol_and_are_shared():
    assert isinstance(counter_for("gpt-4o"), TokenCounter)
    assert isinstance(counter_for("claude-sonnet-4-5"), TokenCounter)
    assert counter_for("gpt-4o") is counter_for("gpt-5")


# ------------------------------------------------------------------------------- pieces

PARAGRAPH = (
    "The worker reads the queue, and if the queue is empty it waits.\n\n"
    "    def wait(self, seconds: float) -> None:\n        self.clock.sleep(seconds)\n"
)


@pytest.mark.parametrize(
    "unit",
    [
        PARAGRAPH,
        PARAGRAPH.replace("\n", " "),
        '{"id": 7, "name": "A"},',
        "这是一个测试。",
        "1 2 3\r\n",
    ],
)
def test_cutting_a_long_text_hardly_changes_its_count(unit):
    text = unit * (150_000 // len(unit))
    whole = len(encoding("o200k_base").encode_ordinary(text))

    assert abs(O200K.count_text(text) - whole) <= len(pieces(text))


def test_text_with_line_ends_or_blanks_is_cut_where_tokens_end():
    for text in (PARAGRAPH * 900, "one word and another " * 6_000):
        whole = len(encoding("o200k_base").encode_ordinary(text))

        assert len(pieces(text)) > 5
        assert O200K.count_text(text) == whole


@given(st.text(alphabet="ab \n\r字😀", max_size=50), st.integers(1, 4_000))
def test_pieces_are_the_text_and_short(unit, times):
    text = unit * times
    cut = pieces(text)

    assert "".join(cut) == text
    assert all(0 < len(piece) <= PIECE_CHARS for piece in cut) or not text


@pytest.mark.parametrize(
    "unit", [" ", "\n", "\t", " \n", "a", "=", "字", "0", "\ud800", "\x00", "🏳️‍🌈", "\u0301"]
)
def test_very_long_runs_are_counted(unit):
    text = (unit * 300_000)[:300_000]

    assert 0 < O200K.count_text(text) < 4 * len(text)
    assert 0 < estimate_tokens(text) < 4 * len(text)


def test_a_million_blanks_do_not_crash_the_tokeniser():
    assert 5_000 < O200K.count_text(" " * 1_000_000) < 20_000


class Panic(BaseException):
    """What a crash in native code looks like."""


class Broken:
    """A tokeniser that crashes on one text, as a real one does on very long runs."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def encode_ordinary(self, text: str) -> list[int]:
        raise self.error(text)


def test_a_crash_of_the_tokeniser_is_answered_by_the_estimate(monkeypatch):
    counter = ExactCounter("o200k_base")
    monkeypatch.setattr(counter, "_encoding", Broken(Panic))
    monkeypatch.setattr(counter, "_is_loaded", True)

    assert counter.count_text(PARAGRAPH) == estimate_tokens(PARAGRAPH)


def test_an_interrupt_of_the_user_is_no_crash(monkeypatch):
    counter = ExactCounter("o200k_base")
    monkeypatch.setattr(counter, "_encoding", Broken(KeyboardInterrupt))
    monkeypatch.setattr(counter, "_is_loaded", True)

    with pytest.raises(KeyboardInterrupt):
        counter.count_text(PARAGRAPH)


# ------------------------------------------------------------------------------- remembering


class Watched(Counter):
    """Counts characters and notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        super().__init__(self._note)

    def _note(self, text: str) -> int:
        self.asked.append(text)
        return len(text)


def chat(length: int) -> list[dict]:
    return [{"role": "user", "content": f"message {n}"} for n in range(length)]


def test_counting_a_grown_list_counts_only_what_is_new():
    counter, messages = Watched(), chat(500)
    before = count_messages(counter, messages)
    counter.asked.clear()

    after = count_messages(counter, [*messages, {"role": "user", "content": "news"}])

    assert counter.asked == ["news"]
    assert after > before


def test_entries_are_counted_like_their_messages_and_share_what_is_known():
    counter, messages = Watched(), chat(20)
    transcript = Transcript(messages)
    expected = count_messages(counter, messages)
    counter.asked.clear()

    assert count_messages(counter, transcript.entries()) == expected
    assert count_messages(counter, [Entry.of(message) for message in messages]) == expected
    assert counter.asked == []


def test_a_changed_message_is_counted_again():
    counter = Watched()
    message = {"role": "user", "content": "short"}
    before = counter.count_message(message)
    message["content"] = "a longer text"

    assert counter.count_message(message) == before + 8


def test_tools_that_come_with_every_request_are_counted_once():
    counter = Watched()
    tools = [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]

    assert counter.count_tools(tools) == counter.count_tools(tools)
    assert len(counter.asked) == 1


def test_an_empty_list_costs_the_frame_of_the_request():
    assert count_messages(Watched(), []) == REQUEST_TOKENS


def test_threads_get_the_same_counts():
    counter = ExactCounter("o200k_base")
    messages = [{"role": "user", "content": f"{n} {PARAGRAPH}"} for n in range(300)]
    expected = count_messages(EstimatingCounter(), messages), count_messages(O200K, messages)
    estimating, found = EstimatingCounter(), []

    def work() -> None:
        found.append((count_messages(estimating, messages), count_messages(counter, messages)))

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [expected] * 6
