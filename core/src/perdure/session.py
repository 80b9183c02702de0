"""`open_session`: puts the real parts together and hands them to `EngineSession`."""

from __future__ import annotations

import logging
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perdure import budget as budgets
from perdure import discovery, resolver
from perdure.completion import GuardedCompleter
from perdure.errors import (
    ConfigError,
    EngineContractError,
    EngineLoadError,
    PerdureError,
    PerdureWarning,
)
from perdure.manager import EngineSession
from perdure.messages import text_of
from perdure.parts import EngineState, SessionParts
from perdure.registry import Observers
from perdure.types import EngineContext, ModelInfo, SessionRef
from perdure.windows import known_window

if TYPE_CHECKING:
    from perdure.blobs import Blobs
    from perdure.completion import Host
    from perdure.config import Config, LoadedConfig
    from perdure.discovery import EngineRef
    from perdure.protocols import TokenCounter
    from perdure.resolver import Resolution

logger = logging.getLogger(__name__)

BUILTIN = "compressor"
DEFAULT_CONTEXT_LENGTH = 128_000
MOST_HANDOFFS = 100
"""Texts that look like handoffs and are looked up; a list has one of them."""


def open_session(  # noqa: PLR0913 - each is a choice of the host, all but one optional
    config: str | Path | Mapping[str, Any] | LoadedConfig | None = None,
    *,
    session_id: str,
    model: str | ModelInfo | None = None,
    state_dir: str | Path | None = None,
    complete: Host | None = None,
    observers: Sequence[object] = (),
    dispatches_tools: bool = False,
) -> EngineSession:
    """Open a session: load the configuration, resolve the engine, restore what is known.

    Args:
        config: File, mapping, or a loaded configuration; None looks in the usual places.
        session_id: Name of the conversation; the same name continues it, also after a restart.
        model: Name or facts of the model that receives the requests; by default the provider's
            in the configuration.
        state_dir: Where sessions are kept; by default `state.dir` of the configuration, else the
            user's state directory. `":memory:"` keeps nothing after the end.
        complete: Asks the summary model (see `perdure.completion`); None means no model: the
            extractive summary serves.
        observers: Objects that listen, beside those that the configuration names.
        dispatches_tools: True when the host offers `tool_schemas()` to the agent and answers its
            calls with `call_tool`; only then may texts name these tools.

    Raises:
        ConfigError: The configuration cannot be used; the message names the key.
        EngineNotFoundError: The engine is missing and `context.on_error` is `raise`, or the
            built-in itself is missing.
        EngineConflictError: Two distributions offer the engine.
        StoreError: The state directory cannot be used.
    """
    loaded = _loaded(config)
    resolution = resolver.resolve(
        loaded.config.context.engine,
        discovery.discover(),
        on_error=loaded.config.context.on_error,
        is_own_only=discovery.is_own_only(),
    )
    for text in resolution.warnings:
        warnings.warn(text, PerdureWarning, stacklevel=2)
    builder = _Builder(
        loaded,
        resolution=resolution,
        session_id=session_id,
        model=_model(model, loaded.config),
        state_dir=state_dir,
        complete=complete,
        dispatches_tools=dispatches_tools,
    )
    listening = _observers(loaded.config, observers)
    try:
        return EngineSession(builder.parts(resolution.chosen, listening))
    except (EngineLoadError, EngineContractError, ConfigError) as error:
        fallback = resolution.builtin
        if loaded.config.context.on_error == "raise" or resolution.chosen == fallback:
            builder.close()
            raise
        source = resolution.chosen.source
        text = f"{error} The built-in engine {BUILTIN!r} serves instead of that of {source}."
        warnings.warn(text, PerdureWarning, stacklevel=2)
        return EngineSession(builder.parts(fallback, listening, extra_warnings=(text,)))


def _loaded(config: str | Path | Mapping[str, Any] | LoadedConfig | None) -> LoadedConfig:
    from perdure import config as configs

    if isinstance(config, configs.LoadedConfig):
        return config
    if isinstance(config, Mapping):
        return configs.from_mapping(config, source="the given mapping")
    return configs.load(config)


def _model(model: str | ModelInfo | None, config: Config) -> ModelInfo:
    """Return the facts of the model: given ones first, then configured, then known ones."""
    provider = config.provider
    if isinstance(model, ModelInfo):
        return model
    name = model or provider.model or ""
    window = provider.context_length or known_window(name)
    if window is None:
        window = DEFAULT_CONTEXT_LENGTH
        text = (
            f"the window of model {name!r} is unknown, {window:,} tokens are assumed; set "
            "provider.context_length in the configuration"
        )
        if name:
            warnings.warn(text, PerdureWarning, stacklevel=3)
    return ModelInfo(
        name=name,
        context_length=window,
        max_tokens=provider.max_tokens,
        provider=provider.name or "",
    )


def _observers(config: Config, given: Sequence[object]) -> dict[str, object]:
    """Return observers by name: those that the configuration names, then the given objects."""
    found: dict[str, object] = {}
    if config.context.observers:
        refs = {ref.name: ref for ref in discovery.discover("perdure.observers")}
        for name in config.context.observers:
            if name not in refs:
                text = (
                    f"context.observers names {name!r}, which no installed package offers; "
                    f"installed: {', '.join(sorted(refs)) or 'none'}"
                )
                raise ConfigError(text, key="context.observers")
            found[name] = discovery.load(refs[name])()
    for observer in given:
        name = type(observer).__name__
        while name in found:
            name += "+"
        found[name] = observer
    return found


class _Builder:
    """Makes the parts of one session."""

    def __init__(  # noqa: PLR0913 - what open_session was given
        self,
        loaded: LoadedConfig,
        *,
        resolution: Resolution,
        session_id: str,
        model: ModelInfo,
        state_dir: str | Path | None,
        complete: Host | None,
        dispatches_tools: bool,
    ) -> None:
        from perdure.blobs import open_blobs
        from perdure.state import bound_store
        from perdure.tokens import counter_for

        config = loaded.config
        self._loaded, self._config = loaded, config
        self._resolution = resolution
        self._model = model
        self._dispatches_tools = dispatches_tools
        self._directory = state_directory(config, state_dir)
        self._counter: TokenCounter = counter_for(model.name, provider=model.provider)
        self._blobs: Blobs = open_blobs(
            self._directory, session_id, max_mb=config.state.blobs_max_mb
        )
        self._store = bound_store(self._directory, session_id)
        known = self._store.load()
        self._session = SessionRef(session_id=session_id, is_resumed=known is not None)
        summarizer = config.summarizer
        window = summarizer.context_length if summarizer else None
        self._complete = GuardedCompleter(complete, context_length=window) if complete else None
        self._background = _Background()

    def parts(
        self,
        chosen: EngineRef,
        observers: Mapping[str, object],
        *,
        extra_warnings: tuple[str, ...] = (),
    ) -> SessionParts:
        from perdure import recall
        from perdure.codec import ProviderCodec
        from perdure.history import History

        codec = ProviderCodec()
        compression = self._config.context.compression
        return SessionParts(
            session=self._session,
            engine=chosen.name,
            requested=self._resolution.requested,
            make_selected=lambda state: self._make(chosen, state),
            make_builtin=lambda state: self._make(self._resolution.builtin, state),
            builtin=self._resolution.builtin.name,
            model=self._model,
            budget=lambda model, fixed: budgets.budget_for(model, compression, fixed_tokens=fixed),
            counter=self._counter,
            blobs=self._blobs,
            history=History(blobs=self._blobs, store=self._store, codec=codec),
            hold=self._store.hold,
            codec=codec,
            observers=Observers(observers, session=self._session),
            clock=time.time,
            core_tools=recall.TOOLS,
            call_core_tool=lambda name, arguments: recall.call(name, arguments, self._blobs),
            warnings=(*self._resolution.warnings, *extra_warnings),
            close=self.close,
        )

    def _make(self, ref: EngineRef, state: EngineState) -> object:
        """Import the engine, validate its options and call its factory."""
        factory = discovery.load(ref)
        options = _options(factory, ref, self._loaded)
        context = EngineContext(
            session=self._session,
            model=self._model,
            options=options,
            counter=self._counter,
            blobs=self._blobs,
            logger=logging.getLogger(f"perdure.engine.{ref.name}"),
            complete=self._complete,
            background=self._background,
            cancelled=self._background.is_closed,
            data_dir=self._data_dir(ref),
            clock=time.time,
            dispatches_tools=self._dispatches_tools,
            load=state.load,
            save=state.save,
        )
        try:
            return factory(context)
        except PerdureError:
            raise
        except Exception as error:
            text = (
                f"engine {ref.name!r} of {ref.distribution} {ref.version} could not be made: "
                f"{type(error).__name__}: {error}"
            )
            raise EngineLoadError(
                text, engine=ref.name, distribution=f"{ref.distribution} {ref.version}"
            ) from error

    def _data_dir(self, ref: EngineRef) -> Path | None:
        if self._directory is None:
            return None
        path = self._directory / "engines" / ref.name
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
        return path

    def close(self) -> None:
        """Join background work and release the stores."""
        self._background.close()
        self._blobs.close()
        self._store.close()


def state_directory(config: Config, given: str | Path | None = None) -> Path | None:
    """Return where sessions are kept, or None for memory."""
    chosen = given if given is not None else config.state.dir
    if chosen is None:
        from platformdirs import user_state_path

        return user_state_path("perdure")
    return None if str(chosen) == ":memory:" else Path(chosen).expanduser()


def forget_session(
    session_id: str,
    *,
    config: str | Path | Mapping[str, Any] | LoadedConfig | None = None,
    state_dir: str | Path | None = None,
) -> None:
    """Forget what a session has replaced so far; originals that it stored stay."""
    from perdure.state import StateFile

    directory = state_directory(_loaded(config).config, state_dir)
    if directory is not None:
        states = StateFile(directory)
        states.delete(session_id)
        states.close()


def session_of(
    messages: Iterable[Mapping[str, Any]],
    config: str | Path | Mapping[str, Any] | LoadedConfig | None = None,
    state_dir: str | Path | None = None,
) -> str | None:
    """Return the session that made a handoff which stands in messages, or None.

    Its name is needed to go on with a list that was compacted before: only that session knows the
    handoff for what it is, and holds the user's rules behind it.
    """
    from perdure import handoff
    from perdure.state import StateFile

    directory = state_directory(_loaded(config).config, state_dir)
    texts = [text for message in messages if handoff.OPENING in (text := text_of(message))]
    if directory is None or not texts or not directory.is_dir():
        return None
    found = (handoff.fingerprint(t[slice(*place)]) for t in texts for place in handoff.possible(t))
    states = StateFile(directory)
    try:
        return next(filter(None, map(states.session_with, islice(found, MOST_HANDOFFS))), None)
    finally:
        states.close()


def check_engine(
    config: str | Path | Mapping[str, Any] | LoadedConfig | None = None,
) -> tuple[str, ...]:
    """Import the selected engine, check its options, and return what a session would warn of.

    Raises:
        ConfigError: An option cannot be used; the message names the file, the line and the key.
        EngineNotFoundError: As in `open_session`; so are the other errors of engines.
    """
    loaded = _loaded(config)
    resolution = resolver.resolve(
        loaded.config.context.engine,
        discovery.discover(),
        on_error=loaded.config.context.on_error,
        is_own_only=discovery.is_own_only(),
    )
    _options(discovery.load(resolution.chosen), resolution.chosen, loaded)
    return resolution.warnings


def _options(factory: object, ref: EngineRef, loaded: LoadedConfig) -> Any:  # noqa: ANN401
    """Return the engine's validated options, or its plain section when it has no model."""
    section = dict(loaded.config.context.engines.get(ref.name) or {})
    model = getattr(factory, "Options", None)
    if model is None:
        return section
    from pydantic import ValidationError

    from perdure.config import explained

    try:
        return model(**section)
    except ValidationError as error:
        prefix = f"context.engines.{ref.name}"
        raise explained(error, prefix=prefix, model=model, place=loaded.place) from error
    except (TypeError, ValueError) as error:  # options of another make than pydantic's
        key = f"context.engines.{ref.name}"
        message = f"{loaded.place(key)}: {key}: {type(error).__name__}: {error}"
        raise ConfigError(message, key=key) from error


class _Background:
    """One worker for what can wait while the provider answers; order is kept."""

    def __init__(self) -> None:
        self._pool: ThreadPoolExecutor | None = None
        self._closed = False

    def __call__(self, function: Callable[[], None]) -> None:
        if self._closed:
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(1, thread_name_prefix="perdure-background")
        self._pool.submit(_logged, function)

    def is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        self._closed = True
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)


def _logged(function: Callable[[], None]) -> None:
    try:
        function()
    except Exception:
        logger.exception("background work of an engine failed")
