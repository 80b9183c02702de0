"""distil-llm: its message compression; it aims at no size, so the newest of the result are kept."""

from __future__ import annotations

from distil import compress_messages
from protocol import newest, serve


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    made = compress_messages(messages).messages
    return newest(made, summary_tokens + tail_tokens)


if __name__ == "__main__":
    serve(compact)
