"""A dialect: the rules of one kind of provider and the wire copy that keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, Protocol, cast

from perdure.dialects import anthropic_wire, responses_wire
from perdure.dialects.anthropic import AnthropicValidator, marks_in
from perdure.dialects.clean import cleaned
from perdure.dialects.openai_chat import OpenAIValidator, StrictValidator
from perdure.dialects.pairs import paired, with_equal_ids
from perdure.dialects.problem import Problem, Validator, Wire
from perdure.dialects.responses import ResponsesValidator
from perdure.dialects.slots import Slot, slots_of
from perdure.dialects.thinking import without_stale_thinking
from perdure.dialects.turns import alternated, strict
from perdure.errors import InvariantError
from perdure.formats import Format, Request, render
from perdure.transcript import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from perdure.transcript import View


class Dialect(Protocol):
    """Rules of one kind of provider."""

    @property
    def name(self) -> str:
        """Name for configuration and messages."""

    @property
    def format(self) -> Format:
        """Shape of the messages: `openai`, `responses` or `anthropic`."""

    def validator(self) -> Validator:
        """Return a fresh validator for messages in the provider's shape."""

    def validate(
        self,
        messages: Sequence[Mapping[str, Any]],
        system: Any = None,  # noqa: ANN401 - text or blocks
    ) -> list[Problem]:
        """Return everything in a whole request that the provider may reject."""

    def wire(self, view: View, *, marks: int = 0) -> Wire:
        """Return what is sent for a view.

        Args:
            view: Transcript and replacements; never changed.
            marks: Cache marks that stand outside of the view, in the tools.

        Raises:
            InvariantError: The view has replacements and cannot be made valid.
        """


class _Dialect(ABC):
    """What the dialects share: repair where we changed something, then judge."""

    name: str
    format: Format

    @abstractmethod
    def validator(self) -> Validator:
        """Return a fresh validator."""

    @abstractmethod
    def _repaired(self, view: View, marks: int, notes: list[str]) -> Request:
        """Return the request of a changed view, made valid."""

    def validate(
        self,
        messages: Sequence[Mapping[str, Any]],
        system: Any = None,  # noqa: ANN401 - text or blocks
    ) -> list[Problem]:
        """Return everything in a whole request that the provider may reject."""
        return _judged(self._validator_beside(system, 0), messages)

    def wire(self, view: View, *, marks: int = 0) -> Wire:
        """Return what is sent for a view; see `Dialect.wire`."""
        notes: list[str] = []
        if view.replacements:
            request = self._repaired(view, marks, notes)
        else:
            request = render(view.transcript.entries(), self.format)
        problems = self._judged(request, marks)
        if problems and view.replacements:
            self._refuse_ours(problems, view, marks)
        return Wire(
            messages=request.messages,
            system=request.system,
            problems=tuple(problems),
            warnings=tuple(problem.text for problem in problems),
            repaired=tuple(notes),
            format=self.format,
        )

    def _judged(self, request: Request, marks: int) -> list[Problem]:
        return _judged(self._validator_beside(request.system, marks), request.messages)

    def _validator_beside(self, system: Any, marks: int) -> Validator:  # noqa: ANN401, ARG002 - for Anthropic
        return self.validator()

    def _refuse_ours(self, problems: list[Problem], view: View, marks: int) -> None:
        """Raise for the first problem that the caller's own list does not have."""
        given = render(view.transcript.entries(), self.format)
        own = {problem.rule for problem in self._judged(given, marks)}
        for problem in problems:
            if problem.rule not in own:
                text = (
                    f"the changed list is not valid for dialect {self.name!r}: {problem.text}; "
                    "nothing was sent, the stored history is untouched"
                )
                raise InvariantError(
                    text, rule=problem.rule, found=problem.found, index=problem.index
                )


def _judged(validator: Validator, messages: Sequence[Mapping[str, Any]]) -> list[Problem]:
    problems = [problem for message in messages for problem in validator.feed(message)]
    return problems + validator.finish()


class OpenAIDialect(_Dialect):
    """OpenAI Chat Completions and servers that follow it."""

    name = "openai"
    format: Format = "openai"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return OpenAIValidator()

    def _repaired(self, view: View, marks: int, notes: list[str]) -> Request:  # noqa: ARG002 - chat has no cache marks
        slots = _written(paired(slots_of(view), len(view.transcript), notes))
        turns = self._turns(cleaned(with_equal_ids(slots, notes), notes), notes)
        messages = cast("list[dict[str, Any]]", [slot.message for slot in turns])
        return Request(format="openai", messages=messages)

    def _turns(self, slots: list[Slot], notes: list[str]) -> list[Slot]:
        return alternated(slots, notes)


class StrictDialect(OpenAIDialect):
    """Servers that put the messages through a strict chat template (llama.cpp, vLLM, Mistral)."""

    name = "openai-strict"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return StrictValidator()

    def _turns(self, slots: list[Slot], notes: list[str]) -> list[Slot]:
        return strict(slots, notes)


def _written(slots: list[Slot]) -> list[Slot]:
    """Return the slots with chat messages as the format writes them.

    A list that came in another format is rewritten as a whole, so that all of it counts as ours.
    """
    made = render([slot.entry for slot in slots], "openai").messages
    if any(slot.entry.raw is not None for slot in slots):
        position = slots[-1].position
        return [Slot(Entry.of(message), position, ours=True, seam=True) for message in made]
    return [
        slot if message is slot.message else slot.recopied(message)
        for slot, message in zip(slots, made, strict=True)
    ]


class AnthropicDialect(_Dialect):
    """Anthropic Messages."""

    name = "anthropic"
    format: Format = "anthropic"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return AnthropicValidator()

    def _validator_beside(self, system: Any, marks: int) -> Validator:  # noqa: ANN401 - text or blocks
        return AnthropicValidator(marks + marks_in(system))

    def _repaired(self, view: View, marks: int, notes: list[str]) -> Request:
        slots = paired(slots_of(view), len(view.transcript), notes)
        slots = anthropic_wire.kept_apart(without_stale_thinking(slots, view, notes), notes)
        request = render([slot.entry for slot in slots], "anthropic")
        outside = marks + marks_in(request.system)
        turns = anthropic_wire.tidied(request.messages, outside, notes)
        return Request(format="anthropic", messages=turns, system=request.system)


class ResponsesDialect(_Dialect):
    """OpenAI Responses."""

    name = "responses"
    format: Format = "responses"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return ResponsesValidator()

    def _repaired(self, view: View, marks: int, notes: list[str]) -> Request:  # noqa: ARG002 - no cache marks
        slots = paired(slots_of(view), len(view.transcript), notes)
        request = render([slot.entry for slot in slots], "responses")
        items = responses_wire.tidied(request.messages, notes)
        return Request(format="responses", messages=items, system=request.system)
