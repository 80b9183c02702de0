"""One session's messages: taken in, recognised when they come again, and committed.

`History` holds the view and is the only writer of the session's durable state. It knows nothing of
engines and hooks.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from perdure import handoff
from perdure.messages import PRIVATE_KEY
from perdure.protocols import Snapshot
from perdure.transcript import Entry, Replacement, Transcript, View

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from perdure.protocols import BlobStore, Codec, SessionStore


class History:
    """The view of a session, its originals and its durable snapshot.

    Attributes:
        view: What is sent now.
        format: Format that messages came in last.
        compaction_count: Compactions so far, those of earlier openings included.
    """

    def __init__(self, *, blobs: BlobStore, store: SessionStore, codec: Codec) -> None:
        """Load what is stored; raises `StoreError`."""
        self._blobs = blobs
        self._store = store
        self._codec = codec
        self._resumable = store.load()
        self.snapshot = self._resumable or Snapshot()
        self.compaction_count = self.snapshot.compaction_count
        self._handoffs = set(self.snapshot.handoffs)
        self.view = View()
        self.format = "openai"

    @property
    def is_resumed(self) -> bool:
        """Whether the session existed before this opening."""
        return self.snapshot.length > 0

    # -- taking in -----------------------------------------------------------------------

    def append(self, messages: object) -> int:
        """Add new messages; returns the transcript position of the first of them."""
        entries, self.format, _ = self._codec.parse(messages, self.format)
        fresh = len(self.view.transcript)
        self.view = self.view.append(self._restored(entries))
        return fresh

    def load(self, messages: object) -> tuple[int, list[Mapping[str, Any]]]:
        """Take a whole history; returns the first new position and tools of a request body."""
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
        valid = [
            made
            for made in snapshot.replacements
            if made.last < len(transcript) and transcript.chain(made.last) == made.chain
        ]
        self.view = View(transcript, valid)
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

    def commit(
        self,
        made: Iterable[Replacement],
        *,
        engine: str,
        state: Any = None,  # noqa: ANN401
    ) -> bool:
        """Store originals first, then the new view; False when another holder was faster.

        Args:
            made: Replacements to lay over the view.
            engine: Name of the engine that made them.
            state: That engine's JSON-able state, durable together with them.

        Raises:
            StoreError: Nothing has changed then.
        """
        kept = tuple(self._with_originals(new) for new in made)
        view = self.view.apply(kept)
        handoffs = self._handoffs | {
            handoff.fingerprint(str(message.get("content")))
            for new in kept
            for message in new.messages
            if handoff.is_handoff(message)
        }
        count = self.compaction_count + any(new.kind != "shortened" for new in kept)
        snapshot = Snapshot(
            replacements=view.replacements,
            length=len(view.transcript),
            chain=view.transcript.head,
            compaction_count=count,
            handoffs=tuple(sorted(handoffs)),
            engine=engine,
            engine_state=state,
        )
        if not self._store.save(snapshot):
            self._resumable = self._store.load()
            return False
        self.view, self.snapshot = view, snapshot
        self._handoffs, self.compaction_count = handoffs, count
        return True

    def _with_originals(self, made: Replacement) -> Replacement:
        entries = self.view.transcript.entries(made.first, made.last + 1)
        messages = [entry.message for entry in entries]
        raws = [entry.raw.whole if entry.raw else None for entry in entries]
        refs = self._blobs.put_messages(messages, first=made.first, raws=raws)
        if made.refs:
            return made
        handles = refs if len(refs) == 1 else [self._blobs.put_range(refs)]
        return replace(made, refs=tuple(handles))
