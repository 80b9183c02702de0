"""Plays a case file against a real session and judges what comes out.

A case names situations in neutral words (see the files in `fixtures/cases`); here they become a
configuration, a session, a scripted summary model, and steps. `play(case, config, folder)` returns
every broken property as a sentence.
"""

from __future__ import annotations

import contextlib
import copy
import itertools
import json
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import doubles
import message_properties as properties

import perdure
from perdure import handoff
from perdure.errors import PerdureError
from perdure.messages import text_of
from perdure.stock.kinds import KINDS
from perdure.tokens import counter_for
from perdure.types import Compression, Reason, Trigger
from perdure_compressor.plan import latest_handoff, make_plan
from perdure_compressor.prune import prune
from perdure_compressor.working import Working, ref_maker

CLOSING_FENCE = "<<<end transcript 0123456789abcdef>>>"
FENCE = re.compile(r"<<<(end )?([a-z ]+?) ([0-9a-f]{16})>>>")
COMPRESSION_KEYS = ("threshold", "protect_first_n", "protect_tail_tokens")
ENGINE_KEYS = ("summary_max_tokens", "summary_timeout_s")


def load_case(path: Path) -> dict[str, Any]:
    raw = path.read_text(encoding="utf-8")
    return json.loads(raw.replace("{{SUMMARY_INPUT_CLOSE}}", CLOSING_FENCE))


def configuration(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return a configuration of the project for the neutral names of a case."""
    known = {key: config[key] for key in ("context_length", "max_tokens") if key in config}
    context: dict[str, Any] = {
        "engine": config["engine"],
        "compression": {
            "min_context_length": 1,
            **{key: config[key] for key in COMPRESSION_KEYS if key in config},
        },
    }
    options = {key: config[key] for key in ENGINE_KEYS if key in config}
    if config["engine"] == "compressor":
        context["engines"] = {"compressor": options}
    for key in ("on_error", "compresion"):
        if key in config:
            context[key] = config[key]
    return {"provider": known, "context": context}


@dataclass
class Outcome:
    """What the caller saw of one step."""

    error: Exception | None = None
    compressions: list[Compression] = field(default_factory=list)
    duration_s: float = 0.0
    triggered: bool | None = None
    token_count: int | None = None


class Player:
    """One run of a case: the session, the model, and what was seen of both."""

    def __init__(self, case: Mapping[str, Any], config: Mapping[str, Any], folder: Path) -> None:
        self.case = case
        self.config = dict(config)
        self.folder = folder
        self.dialect = config.get("dialect") or case.get("format", "openai")
        self.format = case.get("format", "openai")
        self.history: list[dict[str, Any]] = copy.deepcopy(case.get("messages", []))
        self.counter = counter_for("")
        self.model = doubles.ScriptedModel(
            doubles.from_case(case.get("summarizer"), self.counter.count_text),
            context_length=config.get("aux_context_length"),
        )
        self.outcomes: list[Outcome] = []
        self.sent: list[list[Mapping[str, Any]]] = []
        self.heads: list[int] = []
        self.before_restart: list[Mapping[str, Any]] | None = None
        self.session = self._opened()

    # ---------------------------------------------------------------- the session

    def _opened(self) -> perdure.EngineSession:
        return perdure.open_session(
            configuration(self.config),
            session_id="case",
            state_dir=self.folder,
            complete=self.model,
        )

    def given(self) -> Any:
        """Return the whole history as a host sends it."""
        if self.format == "anthropic":
            return {"system": self.case["system"], "messages": self.history}
        return self.history

    def wire(self) -> Any:
        return self.session.view(self.dialect)

    def on(self, case_summary: str = "") -> properties.Judged:
        """Return what is judged: everything that came in against what is sent."""
        wire = self.wire()
        return properties.Judged(
            before=self.history,
            after=list(wire.messages),
            tokens_before=self._tokens_of_history(),
            tokens_after=self.session.count_tokens(),
            format=self.format,
            summary=(self.case.get("summarizer") or {}).get("text", ""),
            system=wire.system,
        )

    def _tokens_of_history(self) -> int:
        return self.session.count_tokens(perdure.View(self.session.current.transcript))

    # ---------------------------------------------------------------- steps

    def play(self, step: Mapping[str, Any]) -> None:
        outcome = Outcome()
        started = time.monotonic()
        try:
            getattr(self, f"_do_{step['op']}")(step, outcome)
        except Exception as error:
            outcome.error = error
        outcome.duration_s = time.monotonic() - started
        self.outcomes.append(outcome)
        with contextlib.suppress(PerdureError):
            self.sent.append(copy.deepcopy(list(self.wire().messages)))

    def _do_compress(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        result = self.session.compress(self.given(), tools=self.case.get("tools", ()))
        outcome.compressions.append(result)
        self.heads.append(self._head_tokens())

    def _do_preflight(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        tools = self.case.get("tools", ())
        self.session.load(self.given())
        outcome.triggered = bool(self.session.should_compress_preflight(tools))
        if outcome.triggered:
            result = self.session.compress(trigger=Trigger.PREFLIGHT, tools=tools)
            outcome.compressions.append(result)

    def _do_prune(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        """Only the passes over old messages, on what lies between head and tail."""
        self.session.load(self.given())
        view, budget = self.session.current, self.session.budget()
        work = Working.of(view, self.counter)
        plan = make_plan(
            view,
            work.counts,
            protect_first_n=budget.protect_first_n,
            tail_tokens=budget.tail_tokens,
        )
        if plan is None:
            return
        ref_of = ref_maker(view, self.session.blobs)
        edits = prune(view, plan.middle, kinds=KINDS, ref_of=ref_of, names_tools=False)
        made = work.edited(edits, self.counter).replacements(range(0), ref_of)
        assert self.session._commit(tuple(made)) is None

    def _do_append(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.history += copy.deepcopy(step["messages"])
        self.session.load(self.given())

    def _do_parallel(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.model.answer = doubles.says(self.case["summarizer"]["text"], delay_s=0.4)
        self.session.load(self.given())
        errors: list[Exception] = []

        def run(steps: Sequence[Mapping[str, Any]]) -> None:
            try:
                for one in steps:
                    getattr(self, f"_do_{one['op']}")(one, outcome)
            except Exception as error:
                errors.append(error)

        threads = [threading.Thread(target=run, args=(branch,)) for branch in step["branches"]]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]

    def _do_sleep(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        time.sleep(step["seconds"])

    def _do_count_tokens(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.session.load(self.given())
        outcome.token_count = self.session.count_tokens()

    def _do_build_request(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        json.dumps(self.wire().body(), ensure_ascii=False).encode()

    def _do_set_summarizer(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.model.answer = doubles.from_case(step["summarizer"], self.counter.count_text)

    def _do_advance_clock(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        """There are no cool-downs that would have to pass."""

    def _do_save(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.before_restart = copy.deepcopy(list(self.wire().messages))

    def _do_restart(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.session.end()
        self.config.update(step.get("with", {}))
        self.session = self._opened()

    def _do_resume(self, step: Mapping[str, Any], outcome: Outcome) -> None:
        self.session.load(self.given())

    def _head_tokens(self) -> int:
        """Return the tokens up to the end of the handoff, what is kept with it included."""
        view = self.session.current
        end = latest_handoff(view)
        return sum(map(self.counter.count_message, view[: end + 1])) if end is not None else 0

    # ---------------------------------------------------------------- judging

    def judge(self, expected: Sequence[str]) -> list[str]:
        """Return how the properties are broken now."""
        broken: list[str] = []
        for property_ in expected:
            name, _, argument = property_.partition(":")
            if name in properties.PROPERTIES:
                broken += properties.problems(self.on(), property_)
            else:
                broken += [f"{property_}: {why}" for why in SEEN[name](self, argument)]
        return broken


def play(case: Mapping[str, Any], config: Mapping[str, Any], folder: Path) -> list[str]:
    """Return every property of a case that is broken, one sentence each."""
    player = Player(case, config, folder)
    broken: list[str] = []
    try:
        for step in case["steps"]:
            player.play(step)
            broken += player.judge(step.get("expect", ()))
        broken += player.judge(case["expect"])
        more = case.get("followup")
        if more:
            player.history += copy.deepcopy(more.get("append", []))
            player.outcomes.clear()
            for step in more["then"]:
                player.play(step)
            broken += player.judge(["no_error", *more["expect"]])
        return broken
    finally:
        player.session.end()


# ------------------------------------------------------------------------------- what was seen


def no_crash(player: Player, _: str) -> Iterator[str]:
    for outcome in player.outcomes:
        if outcome.error is not None:
            yield f"{type(outcome.error).__name__}: {outcome.error}"


def no_error(player: Player, _: str) -> Iterator[str]:
    yield from no_crash(player, "")
    for outcome in player.outcomes:
        for result in outcome.compressions:
            if result.reason in (Reason.FAILED, Reason.BLOCKED):
                yield f"{result.reason.value}: {result.detail}"
    if player.session.status().failures:
        yield f"failures: {player.session.status().failures}"


def triggered(player: Player, wanted: str) -> Iterator[str]:
    known = [o.triggered for o in player.outcomes if o.triggered is not None]
    if not known or known[-1] is not (wanted == "true"):
        yield f"decisions: {known}"


def warns(player: Player, kind: str) -> Iterator[str]:
    words = {"summary_failed": r"no summary by the model"}
    told = [text for o in player.outcomes for result in o.compressions for text in result.warnings]
    if not any(re.search(words[kind], text) for text in told):
        yield f"warnings: {told}"


def no_silent_loss(player: Player, _: str) -> Iterator[str]:
    """What is gone is announced in the history and in the result, and can be had again."""
    view = player.session.current
    for made in view.replacements:
        result = player.outcomes[-1].compressions[-1]
        if not (result.fallback_used and result.warnings):
            yield "the result does not tell"
        if not any(handoff.is_handoff(message) for message in made.messages):
            yield "the history does not tell"
        refs = [ref for handle in made.refs for ref in player.session.blobs.members(handle)]
        kept = [player.session.blobs.message(ref) for ref in refs]
        if kept != view.transcript[made.first : made.last + 1]:
            yield "the originals cannot be had again"


def within_ms(player: Player, limit: str) -> Iterator[str]:
    slowest = max(outcome.duration_s for outcome in player.outcomes)
    if slowest * 1000 > int(limit):
        yield f"{slowest:.1f} s"


def token_count_between(player: Player, limits: str) -> Iterator[str]:
    least, most = map(int, limits.split(":"))
    for outcome in player.outcomes:
        if outcome.token_count is not None and not least <= outcome.token_count <= most:
            yield f"{outcome.token_count} tokens"


def token_count_at_most(player: Player, limit: str) -> Iterator[str]:
    yield from token_count_between(player, f"0:{limit}")


def summary_count_at_most(player: Player, limit: str) -> Iterator[str]:
    marked = sum(map(handoff.is_handoff, player.session.current))
    sent = properties.all_text(player.wire().messages).count(handoff.OPENING)
    if max(marked, sent) > int(limit):
        yield f"{marked} marked, {sent} sent"


def commits_at_most(player: Player, limit: str) -> Iterator[str]:
    made = player.session.status().compaction_count
    if made > int(limit):
        yield f"{made} compactions"
    reasons = [result.reason for o in player.outcomes for result in o.compressions]
    if sorted(reasons) != sorted([Reason.BUSY, Reason.DONE]):
        yield f"the callers were told {reasons}"


def head_not_growing(player: Player, _: str) -> Iterator[str]:
    if player.heads[-1] > 1.3 * player.heads[0]:
        yield f"tokens in front of the tail: {player.heads}"


def equals_before_restart(player: Player, _: str) -> Iterator[str]:
    if list(player.wire().messages) != player.before_restart:
        yield "the messages are not those before the restart"


def idempotent(player: Player, _: str) -> Iterator[str]:
    if json.dumps(player.sent[-1]) != json.dumps(player.sent[-2]):
        yield "the second run changed the messages"


def prefix_stable(player: Player, _: str) -> Iterator[str]:
    told = [json.dumps(messages)[:-1] for messages in player.sent]
    for index, (one, next_) in enumerate(itertools.pairwise(told)):
        if not next_.startswith(one):
            yield f"the request after step {index + 1} does not start with the one before"


def wire_request(player: Player, property_: str) -> Iterator[str]:
    yield from properties.problems(player.on(), property_)


def reaches_model_or_summarizer(player: Player, wanted: str) -> Iterator[str]:
    sent = properties.all_text(player.wire().messages)
    if wanted not in sent and not any(wanted in given for given in player.model.inputs):
        yield "it reached nobody"


def result_reports(player: Player, what: str) -> Iterator[str]:
    result = player.outcomes[-1].compressions[-1]
    if what == "noop_with_reason" and not (result.reason is Reason.NOOP and result.detail):
        yield f"told: {result.reason} {result.detail!r}"


def summarizer_calls_at_most(player: Player, limit: str) -> Iterator[str]:
    if len(player.model.requests) > int(limit):
        yield f"{len(player.model.requests)} calls"


def summarizer_input_tokens_at_most(player: Player, limit: str) -> Iterator[str]:
    for request in player.model.requests:
        tokens = sum(map(player.counter.count_message, request.messages))
        if tokens > int(limit):
            yield f"{tokens} tokens"


def summarizer_input_contains(player: Player, wanted: str) -> Iterator[str]:
    if not any(wanted in given for given in player.model.inputs):
        yield "not found"


def summarizer_input_not_contains(player: Player, unwanted: str) -> Iterator[str]:
    if any(unwanted in given for given in player.model.inputs):
        yield "found"


def summarizer_delimiters_balanced(player: Player, _: str) -> Iterator[str]:
    for given in player.model.inputs:
        is_open: list[tuple[str, str]] = []
        for closes, label, nonce in FENCE.findall(given):
            if not closes:
                is_open.append((label, nonce))
            elif not is_open or is_open.pop() != (label, nonce):
                yield f"{label!r} is closed by something else"
        if is_open:
            yield f"{is_open} stay open"


def summarizer_instructions_last_or_system(player: Player, _: str) -> Iterator[str]:
    for request in player.model.requests:
        *_, last = FENCE.finditer(text_of(request.messages[-1]))
        if request.messages[0]["role"] != "system":
            yield "the instructions are not in the system message"
        if not text_of(request.messages[-1])[last.end() :].strip():
            yield "nothing stands behind the data"


def summarizer_instructions_mention(player: Player, topic: str) -> Iterator[str]:
    for request in player.model.requests:
        told = text_of(request.messages[0])
        if any(word not in told for word in topic.split()):
            yield "the instructions do not"


SEEN: dict[str, Callable[[Player, str], Iterator[str]]] = {
    function.__name__: function
    for function in (
        no_crash,
        no_error,
        triggered,
        warns,
        no_silent_loss,
        within_ms,
        token_count_between,
        token_count_at_most,
        summary_count_at_most,
        commits_at_most,
        head_not_growing,
        equals_before_restart,
        idempotent,
        prefix_stable,
        wire_request,
        reaches_model_or_summarizer,
        result_reports,
        summarizer_calls_at_most,
        summarizer_input_tokens_at_most,
        summarizer_input_contains,
        summarizer_input_not_contains,
        summarizer_delimiters_balanced,
        summarizer_instructions_last_or_system,
        summarizer_instructions_mention,
    )
} | {"summarizer_inputs_contain": summarizer_input_contains}
