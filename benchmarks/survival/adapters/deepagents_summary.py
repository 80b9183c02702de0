"""deepagents: its summarisation middleware; the summariser is an echo of what it is shown."""

from __future__ import annotations

import tempfile

from deepagents.backends import FilesystemBackend
from deepagents.middleware.summarization import SummarizationMiddleware
from langchain.agents.middleware.types import ModelRequest, ModelResponse
from langchain_core.language_models import FakeListChatModel
from langchain_core.messages import (
    AIMessage,
    convert_to_messages,
    convert_to_openai_messages,
    get_buffer_string,
)
from protocol import echo, plain, serve


def compact(messages: list[dict], summary_tokens: int, tail_tokens: int) -> list[dict]:
    seen: list[list] = []

    def handler(request: ModelRequest) -> ModelResponse:
        seen.append(request.messages)
        return ModelResponse(result=[AIMessage("ok")])

    with tempfile.TemporaryDirectory() as folder:
        middleware = SummarizationMiddleware(
            model=FakeListChatModel(responses=["unused"]),
            backend=FilesystemBackend(root_dir=folder, virtual_mode=True),
            trigger=("tokens", 1),
            keep=("tokens", tail_tokens),
            trim_tokens_to_summarize=None,
            summarizer=lambda shown: echo(get_buffer_string(shown), summary_tokens),
        )
        head = [m for m in messages[:1] if m.get("role") == "system"]
        rest = convert_to_messages([{**m, "content": plain(m)} for m in messages[len(head) :]])
        request = ModelRequest(
            model=middleware.model,
            messages=rest,
            system_message=convert_to_messages(head)[0] if head else None,
            tools=[],
            state={"messages": rest},
            runtime=None,
        )
        middleware.wrap_model_call(request, handler)
    return [*head, *convert_to_openai_messages(seen[-1])]


if __name__ == "__main__":
    serve(compact)
