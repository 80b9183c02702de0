"""A view being worked on: what each message costs now, and what has been changed so far. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from perdure_compressor.plan import leading_system

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from perdure.messages import Message
    from perdure.protocols import BlobStore, TokenCounter
    from perdure.transcript import Replacement, View
    from perdure.types import Budget
    from perdure_compressor.prune import Edit


@dataclass(slots=True)
class Working:
    """A view with edits on single messages, not yet applied.

    Attributes:
        view: The view as it was given.
        counts: Tokens of each message, edits included.
        edits: Changed copies by view index.
    """

    view: View
    counts: list[int]
    edits: dict[int, Message] = field(default_factory=dict)

    @classmethod
    def of(cls, view: View, counter: TokenCounter) -> Working:
        """Return a view with its costs."""
        entries = view.sent.entries()
        return cls(view, [counter.count_message(e.message, e.digest) for e in entries])

    def edited(self, edits: Iterable[Edit], counter: TokenCounter) -> Working:
        """Return the view with more edits."""
        made = Working(self.view, list(self.counts), dict(self.edits))
        for edit in edits:
            made.edits[edit.index] = edit.message
            made.counts[edit.index] = counter.count_message(edit.message)
        return made

    def messages(self) -> Sequence[Message]:
        """Return the messages with edits in place."""
        if not self.edits:
            return self.view
        return [self.edits.get(index, message) for index, message in enumerate(self.view)]

    def tokens(self, indexes: Iterable[int]) -> int:
        """Return the tokens of some messages."""
        return sum(self.counts[index] for index in indexes)

    def request_tokens(self, budget: Budget) -> int:
        """Return the tokens of the whole request, tool schemas included."""
        start = leading_system(self.view)
        return budget.fixed_tokens + self.tokens(range(start, len(self.view)))

    def replacements(self, outside: range, ref_of: Callable[[int], str]) -> list[Replacement]:
        """Return the edits as replacements, those inside a range left out."""
        return [
            self.view.replace(index, index, kind="pruned", messages=[message], refs=[ref_of(index)])
            for index, message in sorted(self.edits.items())
            if index not in outside
        ]


def ref_maker(view: View, blobs: BlobStore) -> Callable[[int], str]:
    """Return a function that stores the original of a view's message and gives its handle."""

    def ref_of(index: int) -> str:
        made = view.replacement_at(index)
        if made is not None and made.refs:
            return made.refs[0]
        return blobs.put_message(view[index])

    return ref_of
