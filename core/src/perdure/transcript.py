"""The transcript as it happened, what stands in place of its parts, and the view that is sent.

`Transcript` is append-only and shares its storage between snapshots: appending costs what is new,
keeping an old snapshot costs nothing. `View` is a transcript with replacements laid over it; it is
what engines see and what dialects turn into a request. Everything here is pure: operations return
new values.
"""

from __future__ import annotations

import hashlib
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, overload

from perdure.errors import InvariantError
from perdure.messages import Message, digest

Kind = Literal["shortened", "pruned", "handoff", "node", "external"]
KINDS: frozenset[str] = frozenset({"shortened", "pruned", "handoff", "node", "external"})
_SEED = b"perdure transcript 1"


@dataclass(frozen=True, slots=True, eq=False)
class RawPart:
    """The share that one message has in a provider's raw item.

    One item may make several messages (an Anthropic user turn with two tool results and a text
    makes three); they carry the same `item` object and count themselves.

    Attributes:
        item: The provider's item exactly as it came.
        index: 0-based place of this message among those made of the item.
        count: Number of messages made of the item.
        blocks: What of the item's content this message stands for, as raw blocks.
        items: All raw items when several make one message (Responses), else empty.
        format: The provider format that the item is written in (`anthropic` or `responses`).
    """

    item: Any
    index: int = 0
    count: int = 1
    blocks: tuple[Any, ...] = ()
    items: tuple[Any, ...] = ()
    format: str = ""

    @property
    def whole(self) -> Any:  # noqa: ANN401 - a provider's item, whatever it is
        """What the provider's list held: one item, or the tuple of those that made the message."""
        return self.items or self.item


@dataclass(frozen=True, slots=True, eq=False)
class Entry:
    """One message with its identity and, beside it, the provider's raw form.

    Attributes:
        message: The message; never changed once it is here.
        digest: `messages.digest(message)`.
        raw: The provider's form, for messages that came from another format than OpenAI chat.
    """

    message: Message
    digest: bytes
    raw: RawPart | None = None

    @classmethod
    def of(cls, item: Entry | Mapping[str, Any]) -> Entry:
        """Return `item` as an entry."""
        if isinstance(item, Entry):
            return item
        return cls(item, digest(item))  # type: ignore[arg-type]


class _Log:
    """Storage shared by snapshots; grows at the end only."""

    __slots__ = ("chains", "entries", "lock", "memo", "swaps")

    def __init__(self, entries: list[Entry], chains: list[bytes]) -> None:
        self.entries = entries
        self.chains = chains
        self.lock = threading.Lock()
        self.memo: dict[Any, Any] = {}
        self.swaps = 0


class Transcript(Sequence[Message]):
    """An immutable sequence of messages with one chain hash per position.

    The chain hash at a position covers the message there and everything before it, so that equal
    hashes mean equal histories.
    """

    __slots__ = ("_length", "_log")

    def __init__(self, messages: Iterable[Entry | Mapping[str, Any]] = ()) -> None:
        self._log = _Log([], [])
        self._length = 0
        grown = self.append(messages)
        self._length = grown._length

    @classmethod
    def _snapshot(cls, log: _Log, length: int) -> Transcript:
        made = cls.__new__(cls)
        made._log = log
        made._length = length
        return made

    def append(self, messages: Iterable[Entry | Mapping[str, Any]]) -> Transcript:
        """Return this transcript followed by `messages`; costs only what is new."""
        new = [Entry.of(message) for message in messages]
        if not new:
            return self
        log = self._log
        with log.lock:
            if len(log.entries) != self._length:  # somebody else went on from here: a branch
                log = _Log(log.entries[: self._length], log.chains[: self._length])
            chain = log.chains[-1] if log.chains else _SEED
            for entry in new:
                chain = hashlib.blake2b(chain + entry.digest, digest_size=16).digest()
                log.entries.append(entry)
                log.chains.append(chain)
            return self._snapshot(log, len(log.entries))

    def until(self, length: int) -> Transcript:
        """Return the first `length` messages as a snapshot."""
        return self._snapshot(self._log, max(0, min(length, self._length)))

    def entry(self, index: int) -> Entry:
        """Return the entry at an index."""
        return self._log.entries[self._checked(index)]

    def entries(self, start: int = 0, stop: int | None = None) -> list[Entry]:
        """Return the entries from `start` up to `stop`."""
        stop = self._length if stop is None else min(stop, self._length)
        return self._log.entries[start:stop]

    def chain(self, index: int) -> str:
        """Return the chain hash after the message at `index` as hex."""
        return self._log.chains[self._checked(index)].hex()

    @property
    def memo(self) -> dict[Any, Any]:
        """A place for what others work out about the messages, shared by all snapshots.

        It travels with the transcript and is empty on a new branch. What is read from it must be
        checked against the messages, since snapshots of any length share it.
        """
        return self._log.memo

    @property
    def swaps(self) -> int:
        """How often a held entry gave way to one that differs in marks only."""
        return self._log.swaps

    def total(self, count: Callable[[Entry], int]) -> int:
        """Return the sum of a figure over all messages; costs only those added since the last time.

        Args:
            count: Figure of one entry; always the same one for a transcript.
        """
        known, total = self.memo.get("total", (0, 0))
        if known > self._length:  # an older snapshot of what has grown since
            known, total = 0, 0
        total += sum(map(count, self.entries(known)))
        self.memo["total"] = (self._length, total)
        return int(total)

    @property
    def head(self) -> str:
        """The chain hash of the whole transcript as hex; of nothing, an empty string."""
        return self.chain(-1) if self._length else ""

    def common_prefix(self, messages: Sequence[Entry | Mapping[str, Any]]) -> int:
        """Return how many of `messages` are, from the start, the messages held here.

        An entry is judged by its digest, so that a message object which its host has changed in
        place counts as another one; a plain message that is the very object held is not looked at
        again. A message that differs only in marks (see `messages.canonical`) counts as the same
        and takes the place of the one held, since a host moves its cache marks with every request
        and wants the newest ones sent.
        """
        entries = self._log.entries
        limit = min(self._length, len(messages))
        for index in range(limit):
            held, given = entries[index], messages[index]
            if given is held.message:
                continue
            new = Entry.of(given)
            if new.digest != held.digest:
                return index
            if new.message != held.message or new.raw is not held.raw:
                entries[index] = new
                self._log.swaps += 1
        return limit

    def _checked(self, index: int) -> int:
        position = index + self._length if index < 0 else index
        if not 0 <= position < self._length:
            text = f"transcript index {index} out of range, {self._length} messages"
            raise IndexError(text)
        return position

    def __len__(self) -> int:
        """Return the number of messages."""
        return self._length

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        """Return a message, or a list of messages for a slice."""
        if isinstance(index, slice):
            start, stop, step = index.indices(self._length)
            return (
                [entry.message for entry in self._log.entries[slice(start, stop, step)]]
                if (step > 0)
                else [self._log.entries[i].message for i in range(start, stop, step)]
            )
        return self._log.entries[self._checked(index)].message

    def __repr__(self) -> str:
        """Return a short description."""
        return f"{type(self).__name__}({self._length} messages)"


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement:
    """Messages that stand in place of a range of the transcript.

    Attributes:
        first: First transcript position replaced.
        last: Last transcript position replaced (inclusive).
        kind: `shortened` (before it was first sent), `pruned`, `handoff`, `node` or `external`.
        messages: What is sent instead; empty when the range is only dropped.
        refs: Handles of the originals.
        chain: Chain hash of the transcript at `last`; the replacement is valid on every branch
            that has this hash there.
        made_at: Length of the transcript when the replacement was made. What stands at or after
            it was written by a model that already saw the replacement. None when unknown; a view
            puts its own length there.
    """

    first: int
    last: int
    kind: Kind
    messages: tuple[Message, ...] = ()
    refs: tuple[str, ...] = ()
    chain: str = ""
    made_at: int | None = None

    def __post_init__(self) -> None:
        """Refuse ranges that run backwards and unknown kinds."""
        if not 0 <= self.first <= self.last:
            text = f"replacement range {self.first}..{self.last} is not a range of positions"
            raise InvariantError(text, rule="replacement_range", found=f"{self.first}..{self.last}")
        if self.kind not in KINDS:
            text = f"replacement kind {self.kind!r} is unknown; use one of {sorted(KINDS)}"
            raise InvariantError(text, rule="replacement_kind", found=self.kind)

    def no_later_than(self, length: int) -> Replacement:
        """Return the replacement on a branch that parts from its own at `length`."""
        if self.made_at is None or self.made_at <= length:
            return self
        return replace(self, made_at=length)


def shortenings(
    transcript: Transcript, fresh: int, shortened: Sequence[Message]
) -> tuple[Replacement, ...]:
    """Return a replacement for each message from `fresh` on whose short form is another one."""
    return tuple(
        Replacement(
            first=position,
            last=position,
            kind="shortened",
            messages=(new,),
            chain=transcript.chain(position),
        )
        for position, new in enumerate(shortened, start=fresh)
        if new is not transcript[position] and new != transcript[position]
    )


class View(Sequence[Message]):
    """What is sent: the transcript with its replacements in place.

    A view is a sequence of messages, so an engine that only looks needs nothing else. Indexes into
    the view are translated by `replace` and `source`; replacements themselves speak in transcript
    positions and stay valid while the transcript grows.
    """

    __slots__ = ("_fixed", "_sent", "_sources", "replacements", "transcript")

    def __init__(
        self, transcript: Transcript | None = None, replacements: Iterable[Replacement] = ()
    ) -> None:
        self.transcript = Transcript() if transcript is None else transcript
        self.replacements = _checked(self.transcript, replacements)
        entries: list[Entry] = []
        sources: list[tuple[int, int]] = []
        position = 0
        for made in self.replacements:
            entries += self.transcript.entries(position, made.first)
            sources += [(i, i) for i in range(position, made.first)]
            entries += [Entry.of(message) for message in made.messages]
            sources += [(made.first, made.last)] * len(made.messages)
            position = made.last + 1
        self._sources = sources
        self._fixed = position
        if self.replacements:
            self._sent = Transcript([*entries, *self.transcript.entries(position)])
        else:
            self._sent = self.transcript

    @classmethod
    def of(cls, messages: Iterable[Entry | Mapping[str, Any]]) -> View:
        """Return a view of plain messages with nothing replaced."""
        return cls(Transcript(messages))

    # -- growing and changing ------------------------------------------------------------

    def append(self, messages: Iterable[Entry | Mapping[str, Any]]) -> View:
        """Return the view after new messages; costs only what is new."""
        new = [Entry.of(message) for message in messages]
        transcript = self.transcript.append(new)
        sent = self._sent.append(new) if self.replacements else transcript
        return self._with(transcript, sent)

    def _with(self, transcript: Transcript, sent: Transcript) -> View:
        made = View.__new__(View)
        made.transcript = transcript
        made.replacements = self.replacements
        made._sources = self._sources
        made._fixed = self._fixed
        made._sent = sent
        return made

    def replace(
        self,
        first: int,
        last: int,
        *,
        kind: Kind,
        messages: Iterable[Message] = (),
        refs: Iterable[str] = (),
    ) -> Replacement:
        """Return a replacement for the view's messages `first` to `last` (inclusive).

        What was replaced inside the range before is absorbed: the new one covers its originals.
        """
        start, end = self.source(first)[0], self.source(last)[1]
        return Replacement(
            first=start,
            last=end,
            kind=kind,
            messages=tuple(messages),
            refs=tuple(refs),
            chain=self.transcript.chain(end),
            made_at=len(self.transcript),
        )

    def apply(self, new: Iterable[Replacement]) -> View:
        """Return the view with more replacements in place.

        A new replacement absorbs those it covers and counts as made now. Raises `InvariantError`
        when two overlap without one covering the other, or when a chain hash does not belong to
        this transcript.
        """
        now = len(self.transcript)
        fresh = (made if made.made_at == now else replace(made, made_at=now) for made in new)
        added = sorted(fresh, key=lambda made: made.first)
        kept = [
            old
            for old in self.replacements
            if not any(made.first <= old.first and old.last <= made.last for made in added)
        ]
        return View(self.transcript, [*kept, *added])

    def recognise(self, messages: Sequence[Entry | Mapping[str, Any]]) -> View:
        """Return the view of a history that is sent again as a whole.

        Shared positions keep their replacements; what follows the last shared position is new. A
        history that parts from the known one starts a branch there, and replacements that reach
        beyond that point fall away with it.
        """
        shared = self.transcript.common_prefix(messages)
        view = self if shared == len(self.transcript) else self.cut(shared)
        return view.append(messages[shared:])

    def recognise_adopted(self, messages: Sequence[Entry | Mapping[str, Any]]) -> tuple[View, int]:
        """Return the view of a host that took a sent list as its own, and how much is shared.

        The count is 0 when the list does not start with what this view sent up to the end of its
        last replacement.
        """
        shared = self._sent.common_prefix(messages)
        if not self.replacements or shared < len(self._sources):
            return self, 0
        kept = self._fixed + shared - len(self._sources)
        view = self if kept == len(self.transcript) else self.cut(kept)
        return view.append(messages[shared:]), shared

    def cut(self, length: int) -> View:
        """Return the view of the first `length` transcript messages."""
        transcript = self.transcript.until(length)
        kept = (made for made in self.replacements if made.last < length)
        return View(transcript, [made.no_later_than(length) for made in kept])

    # -- looking -------------------------------------------------------------------------

    def source(self, index: int) -> tuple[int, int]:
        """Return the (first, last) transcript positions that stand behind a view index."""
        position = index + len(self) if index < 0 else index
        if not 0 <= position < len(self):
            text = f"view index {index} out of range, {len(self)} messages"
            raise IndexError(text)
        if position < len(self._sources):
            return self._sources[position]
        found = self._fixed + position - len(self._sources)
        return found, found

    def replacement_at(self, index: int) -> Replacement | None:
        """Return the replacement that a view index belongs to, or None for an original."""
        first, _ = self.source(index)
        at = bisect_right([made.first for made in self.replacements], first) - 1
        if at >= 0 and self.replacements[at].first <= first <= self.replacements[at].last:
            return self.replacements[at]
        return None

    @property
    def rewritten(self) -> int:
        """Number of view messages up to the end of the last replacement; the rest is original."""
        return len(self._sources)

    @property
    def sent(self) -> Transcript:
        """The messages of the view as a transcript of their own, with chain hashes."""
        return self._sent

    def entry(self, index: int) -> Entry:
        """Return the entry at a view index."""
        return self._sent.entry(index)

    def __len__(self) -> int:
        """Return the number of messages that are sent."""
        return len(self._sent)

    @overload
    def __getitem__(self, index: int) -> Message: ...
    @overload
    def __getitem__(self, index: slice) -> list[Message]: ...
    def __getitem__(self, index: int | slice) -> Message | list[Message]:
        """Return a message, or a list of messages for a slice."""
        return self._sent[index]

    def __repr__(self) -> str:
        """Return a short description."""
        return (
            f"View({len(self)} of {len(self.transcript)} messages, "
            f"{len(self.replacements)} replacements)"
        )


def _checked(
    transcript: Transcript, replacements: Iterable[Replacement]
) -> tuple[Replacement, ...]:
    ordered = tuple(sorted(replacements, key=lambda made: made.first))
    before = -1
    length = len(transcript)
    ordered = tuple(
        replace(made, made_at=length) if made.made_at is None else made for made in ordered
    )
    for made in ordered:
        if made.first <= before:
            text = (
                f"replacement {made.first}..{made.last} overlaps another that ends at {before}; "
                "cover it whole or leave it alone"
            )
            raise InvariantError(text, rule="replacement_overlap", index=made.first)
        before = made.last
        if made.last >= len(transcript) or transcript.chain(made.last) != made.chain:
            text = (
                f"replacement {made.first}..{made.last} does not belong to this transcript: its "
                "chain hash differs; make replacements with View.replace"
            )
            raise InvariantError(text, rule="replacement_chain", index=made.last)
    return ordered
