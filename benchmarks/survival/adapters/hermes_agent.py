"""hermes-agent: its context compressor; the model's summary is an echo of what it would be shown."""

from __future__ import annotations

import types

import agent.context_compressor as module
from protocol import echo, serve


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    module.call_llm = lambda **asked: answer(asked, summary_tokens)
    return compressed(messages, tail_tokens)


def compressed(messages: list[dict], tail_tokens: int) -> list[dict]:
    engine = module.ContextCompressor(
        "gpt-4o", quiet_mode=True, protect_last_n=3, config_context_length=400_000
    )
    engine.tail_token_budget = tail_tokens
    made = engine.compress([dict(m) for m in messages], current_tokens=400_000, force=True)
    if len(made) == len(messages):
        text = f"nothing was compacted: {engine._last_summary_error}"
        raise RuntimeError(text)
    return made


def answer(asked: dict, summary_tokens: int) -> types.SimpleNamespace:
    shown = "\n".join(str(message["content"]) for message in asked["messages"])
    text = echo(shown, summary_tokens)
    message = types.SimpleNamespace(content=text, reasoning=None, reasoning_content=None)
    choice = types.SimpleNamespace(message=message, finish_reason="stop")
    return types.SimpleNamespace(choices=[choice], usage=None)


if __name__ == "__main__":
    serve(compact)
