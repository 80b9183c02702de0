"""hermes-agent without a model: the text that its compressor writes when the summary fails."""

from __future__ import annotations

import agent.context_compressor as module
from hermes_agent import compressed
from protocol import serve


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    module.call_llm = refuse
    # What its text does not need of the room goes to the tail.
    return compressed(messages, tail_tokens + summary_tokens)


def refuse(**_: object) -> None:
    text = "there is no model"
    raise ValueError(text)


if __name__ == "__main__":
    serve(compact)
