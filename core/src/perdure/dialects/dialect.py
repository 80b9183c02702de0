"""A dialect: the rules of one kind of provider and the wire copy that keeps them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol, cast

from perdure.dialects import anthropic_wire, responses_wire
from perdure.dialects.anthropic import MAX_MARKS, AnthropicValidator, marks_in
from perdure.dialects.clean import cleaned
from perdure.dialects.openai_chat import OpenAIValidator, StrictValidator
from perdure.dialects.pairs import PAIRING, paired, with_equal_ids
from perdure.dialects.pieces import Made, settled
from perdure.dialects.problem import Notes, Problem, Validator, Wire
from perdure.dialects.responses import ResponsesValidator
from perdure.dialects.slots import Slot, slots_of
from perdure.dialects.thinking import without_stale_thinking
from perdure.dialects.turns import alternated, strict
from perdure.errors import InvariantError
from perdure.formats import Format, Request, render
from perdure.transcript import Entry, View

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


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
    def _repaired(
        self, slots: list[Slot], view: View, notes: Notes, *, is_start: bool, everywhere: bool
    ) -> Request:
        """Return a piece of a changed view, made valid.

        Args:
            slots: The messages of the piece.
            view: The whole view.
            notes: Receives what was repaired.
            is_start: Whether the piece is the first.
            everywhere: Whether calls and results are matched in all of it, not only at our cuts.
        """

    def validate(
        self,
        messages: Sequence[Mapping[str, Any]],
        system: Any = None,  # noqa: ANN401 - text or blocks
    ) -> list[Problem]:
        """Return everything in a whole request that the provider may reject."""
        validator = self._validator_beside(system, 0)
        problems = [problem for message in messages for problem in validator.feed(message)]
        return problems + validator.finish()

    def wire(self, view: View, *, marks: int = 0) -> Wire:
        """Return what is sent for a view; see `Dialect.wire`."""
        made = self._made(view, marks)
        problems = made.judged()
        if view.replacements and any(problem.rule in PAIRING for problem in problems):
            # What the caller's own list had unpaired may meet across what is gone.
            made = self._made_anew(view, marks)
            problems = made.judged()
        messages = made.messages
        if view.replacements and problems:
            messages, problems = self._finished(made, problems, marks)
            self._refuse_ours(problems, view, marks)
        return Wire(
            messages=messages,
            system=made.system,
            problems=tuple(problems),
            warnings=tuple(problem.text for problem in problems),
            repaired=tuple(_told(text, times) for text, times in made.notes.items() if times),
            format=self.format,
        )

    def _made(self, view: View, marks: int) -> Made:
        """Return the whole copy of a view, going on from what is settled since the last time."""
        memo, key = view.transcript.memo, (self.name, bool(view.replacements), marks)
        base = memo.get(key)
        if base is None or not base.fits(view):
            base = self._nothing(view)
        if not all(map(self._is_native, view.transcript.entries(len(base)))):
            # A list from another format is written as a whole (ids and images depend on all of
            # it), which is a change of ours like any other.
            return self._made_anew(view, marks)
        if (stop := settled(view, len(base))) > len(base):
            base = memo[key] = self._grown(base, view, stop, marks)
        return self._grown(base, view, len(view.transcript), marks)

    def _nothing(self, view: View) -> Made:
        return Made(replacements=view.replacements, swaps=view.transcript.swaps)

    def _made_anew(self, view: View, marks: int) -> Made:
        """Return the whole copy of a view, repaired wherever it needs it."""
        base = self._nothing(view)
        return self._grown(base, view, len(view.transcript), marks, everywhere=True)

    def _grown(
        self, base: Made, view: View, stop: int, marks: int, *, everywhere: bool = False
    ) -> Made:
        """Return the copy with the entries up to `stop` added, repaired if we changed the list."""
        start = len(base)
        notes = Counter(base.notes)
        if everywhere or view.replacements:
            slots, is_start = slots_of(view, start, stop), start == 0
            request = self._repaired(slots, view, notes, is_start=is_start, everywhere=everywhere)
        else:
            request = render(view.transcript.entries(start, stop), self.format)
        system = base.system if start else request.system
        old = base.validator
        validator = self._validator_beside(system, marks) if old is None else old.copy()
        problems = [problem for message in request.messages for problem in validator.feed(message)]
        return Made(
            length=stop,
            swaps=base.swaps,
            replacements=view.replacements,
            messages=[*base.messages, *request.messages],
            system=system,
            validator=validator,
            problems=(*base.problems, *problems),
            notes=notes,
        )

    def _is_native(self, entry: Entry) -> bool:
        """Return whether an entry came in the format that goes out."""
        return entry.raw is not None and entry.raw.format == self.format

    def _validator_beside(self, system: Any, marks: int) -> Validator:  # noqa: ANN401, ARG002 - only Anthropic counts marks
        return self.validator()

    def _finished(
        self,
        made: Made,
        problems: list[Problem],
        marks: int,  # noqa: ARG002 - only Anthropic counts marks
    ) -> tuple[list[dict[str, Any]], list[Problem]]:
        """Return the messages after what only the whole list can tell, and what is left."""
        return made.messages, problems

    def _refuse_ours(self, problems: list[Problem], view: View, marks: int) -> None:
        """Raise for the first problem that the caller's own list does not have."""
        given = self.wire(View(view.transcript), marks=marks)
        own = {problem.rule for problem in given.problems}
        if "calls_pending" in own:  # the same call is called missing once a message follows
            own.add("result_missing")
        for problem in problems:
            if problem.rule not in own:
                text = (
                    f"the changed list is not valid for dialect {self.name!r}: {problem.text}; "
                    "nothing was sent, the stored history is untouched"
                )
                raise InvariantError(
                    text, rule=problem.rule, found=problem.found, index=problem.index
                )


def _told(text: str, times: int) -> str:
    return text if times == 1 else f"{text} ({times} times)"


class OpenAIDialect(_Dialect):
    """OpenAI Chat Completions and servers that follow it."""

    name = "openai"
    format: Format = "openai"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return OpenAIValidator()

    def _is_native(self, entry: Entry) -> bool:
        return entry.raw is None

    def _repaired(
        self, slots: list[Slot], view: View, notes: Notes, *, is_start: bool, everywhere: bool
    ) -> Request:
        slots = _written(paired(slots, len(view.transcript), notes, everywhere=everywhere))
        slots = cleaned(with_equal_ids(slots, notes), notes)
        turns = self._turns(slots, notes, is_start=is_start)
        messages = cast("list[dict[str, Any]]", [slot.message for slot in turns])
        return Request(format="openai", messages=messages)

    def _turns(self, slots: list[Slot], notes: Notes, *, is_start: bool) -> list[Slot]:  # noqa: ARG002 - for strict
        return alternated(slots, notes)


class StrictDialect(OpenAIDialect):
    """Servers that put the messages through a strict chat template (llama.cpp, vLLM, Mistral)."""

    name = "openai-strict"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return StrictValidator()

    def _turns(self, slots: list[Slot], notes: Notes, *, is_start: bool) -> list[Slot]:
        return strict(slots, notes, is_start=is_start)


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

    def _repaired(
        self, slots: list[Slot], view: View, notes: Notes, *, is_start: bool, everywhere: bool
    ) -> Request:
        slots = paired(slots, len(view.transcript), notes, everywhere=everywhere)
        slots = anthropic_wire.kept_apart(without_stale_thinking(slots, view, notes), notes)
        request = render([slot.entry for slot in slots], "anthropic")
        turns = anthropic_wire.tidied(request.messages, notes, is_start=is_start)
        return Request(format="anthropic", messages=turns, system=request.system)

    def _finished(
        self, made: Made, problems: list[Problem], marks: int
    ) -> tuple[list[dict[str, Any]], list[Problem]]:
        outside = marks + marks_in(made.system)
        messages = anthropic_wire.with_fewer_marks(made.messages, outside)
        left = [problem for problem in problems if problem.rule != "cache_marks"]
        return messages, left if outside <= MAX_MARKS else problems


class ResponsesDialect(_Dialect):
    """OpenAI Responses."""

    name = "responses"
    format: Format = "responses"

    def validator(self) -> Validator:
        """Return a fresh validator."""
        return ResponsesValidator()

    def _repaired(
        self,
        slots: list[Slot],
        view: View,
        notes: Notes,
        *,
        is_start: bool,  # noqa: ARG002 - no rule about starts
        everywhere: bool,
    ) -> Request:
        slots = paired(slots, len(view.transcript), notes)
        request = render([slot.entry for slot in slots], "responses")
        items = responses_wire.tidied(request.messages, notes, everywhere=everywhere)
        return Request(format="responses", messages=items, system=request.system)
