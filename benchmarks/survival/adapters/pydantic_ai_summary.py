"""pydantic-ai-harness: its summarising compaction; the model is an echo of what it is shown."""

from __future__ import annotations

import asyncio

from protocol import echo, serve
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai_harness.compaction import SummarizingCompaction, compact_now
from pydantic_messages import from_model, to_model


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    def model(asked: list[ModelMessage], _: AgentInfo) -> ModelResponse:
        shown = "\n".join(str(part.content) for part in asked[-1].parts)
        return ModelResponse(parts=[TextPart(echo(shown, summary_tokens))])

    strategy = SummarizingCompaction(
        model=FunctionModel(model), max_tokens=1, keep_tokens=tail_tokens
    )
    made = asyncio.run(compact_now(strategy, to_model(messages), model=FunctionModel(model)))
    return from_model(made)


if __name__ == "__main__":
    serve(compact)
