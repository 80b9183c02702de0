"""Doubles for the summary model: each answers, fails or hangs in one way, and remembers requests."""

from __future__ import annotations

import threading

from perdure.errors import SummarizerError


class Stub:
    """A summary model made from a description such as {"mode": "text", "text": "..."}."""

    def __init__(self, description: dict | None, *, context_length: int | None = None) -> None:
        self.description = description or {"mode": "error", "status": 500}
        self.context_length = context_length
        self.requests: list = []
        self.release = threading.Event()

    def __call__(self, request):
        self.requests.append(request)
        return getattr(self, f"_{self.description['mode']}")(request)

    @property
    def inputs(self) -> list[str]:
        """The user messages of all requests."""
        return [str(request.messages[-1]["content"]) for request in self.requests]

    @property
    def instructions(self) -> list[str]:
        return [str(request.messages[0]["content"]) for request in self.requests]

    def _text(self, request):
        return self.description["text"]

    def _echo(self, request):
        return self.inputs[-1][: self.description.get("max_chars", 6_000)]

    def _error(self, request):
        status = self.description.get("status", 500)
        raise RuntimeError(f"HTTP {status}: {self.description.get('body')}")

    def _auth(self, request):
        raise SummarizerError("no key", failure="auth")

    def _hang(self, request):
        self.release.wait(20)
        return "too late"
