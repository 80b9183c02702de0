"""One session's messages: taken in, recognised when they come again, and committed.

`History` holds the view and is the only writer of the session's durable state. It knows nothing of
engines and hooks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perdure import handoff
from perdure.errors import InvariantError
from perdure.messages import PRIVATE_KEY
from perdure.protocols import Snapshot
from perdure.transcript import Entry, Replacement, Transcript, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from perdure.protocols import BlobStore, Codec, SessionStore

COMMIT_ATTEMPTS = 3


class History:
    """The view of a session, its originals and its durable snapshot.

    Implements `protocols.SessionHistory`.

    Attributes:
        view: What is sent now.
        format: Format that messages came in last.
        snapshot: What is stored of the session.
    """

    def __init__(self, *, blobs: BlobStore, store: SessionStore, codec: Codec) -> None:
        """Load what is stored; raises `StoreError`."""
        self._blobs = blobs
        self._store = store
        self._codec = codec
        self._resumable = store.load()
        self._take(self._resumable or Snapshot())
        self.view = View()
        self.format = "openai"

    def _take(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._handoffs = set(snapshot.handoffs)

    # -- taking in -----------------------------------------------------------------------

    def append(self, messages: object) -> int:
        """Add new messages; returns the transcript position of the first of them."""
        entries, self.format, _ = self._codec.parse(messages, self.format, is_more=True)
        fresh = len(self.view.transcript)
        self.view = self.view.append(self._restored(entries))
        return fresh

    def load(self, messages: object) -> tuple[int, list[Mapping[str, Any]]]:
        """Take a whole history; returns the first new position and tools of a request body."""
        known = self._codec.behind_known(messages)
        if known is not None:
            rest, tools = known
            return (self.append(rest) if rest else len(self.view.transcript)), tools
        entries, self.format, tools = self._codec.parse(messages, self.format)
        restored = self._restored(entries)
        if self._resumable is not None:
            fresh = self._resume(restored, self._resumable)
            self._resumable = None
        else:
            fresh = self._recognise(restored)
        return fresh, tools

    def _restored(self, entries: list[Entry]) -> list[Entry]:
        """Set known handoffs apart again and drop private marks that are not ours."""
        restored: list[Entry] = []
        for entry in entries:
            parts = [entry.message]
            if PRIVATE_KEY in entry.message or self._handoffs:
                parts = handoff.restore(entry.message, self._handoffs)
            is_same = len(parts) == 1 and parts[0] is entry.message
            restored += [entry] if is_same else map(Entry.of, parts)
        return restored

    def _resume(self, entries: list[Entry], snapshot: Snapshot) -> int:
        """Lay the stored replacements over the history that they were made for."""
        transcript = Transcript(entries)
        self.view = _laid(transcript, snapshot)
        seen = snapshot.length
        is_known = 0 < seen <= len(transcript) and transcript.chain(seen - 1) == snapshot.chain
        return seen if is_known else 0

    def _recognise(self, entries: list[Entry]) -> int:
        before = len(self.view.transcript)
        view, shared = self.view.recognise_adopted(entries)
        if shared:
            self.view = view
            return len(view.transcript) - (len(entries) - shared)
        shared = self.view.transcript.common_prefix(entries)
        self.view = self.view.recognise(entries)
        return min(before, shared)

    # -- committing ----------------------------------------------------------------------

    def catch_up(self) -> bool:
        """Take over what another holder of this session has committed; False when nothing."""
        newer = self._store.newer()
        if newer is None:
            return False
        before, self.view = self.view, _laid(self.view.transcript, newer)
        self._take(newer)
        return self.view.replacements != before.replacements

    def commit(
        self,
        made: Iterable[Replacement],
        *,
        engine: str,
        state: Any = None,  # noqa: ANN401
    ) -> bool:
        """Store originals first, then the new view; False when another holder was faster.

        What others have committed meanwhile for other parts of the transcript is kept.

        Args:
            made: Replacements to lay over the view.
            engine: Name of the engine that made them.
            state: That engine's JSON-able state, durable together with them.

        Raises:
            StoreError: Nothing has changed then.
        """
        kept = tuple(self._with_originals(new) for new in made)
        view = self.view.apply(kept)
        for _ in range(COMMIT_ATTEMPTS):
            snapshot = self._snapshot(view, kept, engine, state)
            if self._store.save(snapshot):
                self.view = view
                self._take(snapshot)
                return True
            known = self.snapshot.compaction_count
            self.catch_up()
            if self.snapshot.compaction_count != known and _is_compaction(kept):
                return False
            try:
                view = self.view.apply(kept)
            except InvariantError:  # what the other holder replaced overlaps with this
                return False
        return False

    def _snapshot(
        self,
        view: View,
        made: tuple[Replacement, ...],
        engine: str,
        state: Any,  # noqa: ANN401
    ) -> Snapshot:
        handoffs = self._handoffs | {
            handoff.fingerprint(str(message.get("content")))
            for new in made
            for message in new.messages
            if handoff.is_handoff(message)
        }
        known, length, chain = self.snapshot, len(view.transcript), view.transcript.head
        beyond: list[Replacement] = []
        if known.length > length:  # another holder has seen more of the transcript
            beyond = [one for one in known.replacements if one.first >= length]
            length, chain = known.length, known.chain
        return Snapshot(
            replacements=(*view.replacements, *beyond),
            length=length,
            chain=chain,
            compaction_count=known.compaction_count + _is_compaction(made),
            handoffs=tuple(sorted(handoffs)),
            engine=engine,
            engine_state=state,
        )

    def _with_originals(self, made: Replacement) -> Replacement:
        entries = self.view.transcript.entries(made.first, made.last + 1)
        messages = [entry.message for entry in entries]
        raws = [entry.raw.whole if entry.raw else None for entry in entries]
        refs = self._blobs.put_messages(messages, first=made.first, raws=raws)
        if made.refs:
            return made
        handles = refs if len(refs) == 1 else [self._blobs.put_range(refs)]
        return replace(made, refs=tuple(handles))


def _is_compaction(made: Iterable[Replacement]) -> bool:
    return any(new.kind != "shortened" for new in made)


def _laid(transcript: Transcript, snapshot: Snapshot) -> View:
    """Return the transcript with those of the stored replacements that belong to it."""
    valid = [
        made
        for made in snapshot.replacements
        if made.last < len(transcript) and transcript.chain(made.last) == made.chain
    ]
    return View(transcript, valid)
