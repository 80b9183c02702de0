"""distil-llm as it is: every message stays, results are folded; it aims at no size."""

from __future__ import annotations

from distil import compress_messages
from protocol import serve


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    del summary_tokens, tail_tokens  # it takes neither
    return compress_messages(messages).messages


if __name__ == "__main__":
    serve(compact)
