"""pydantic-ai-harness without a model: its sliding window, which keeps the newest messages."""

from __future__ import annotations

import asyncio

from protocol import serve
from pydantic_ai.models.test import TestModel
from pydantic_ai_harness.compaction import SlidingWindowCompaction, compact_now
from pydantic_messages import from_model, to_model


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    strategy = SlidingWindowCompaction(max_tokens=1, keep_tokens=summary_tokens + tail_tokens)
    made = asyncio.run(compact_now(strategy, to_model(messages), model=TestModel()))
    return from_model(made)


if __name__ == "__main__":
    serve(compact)
