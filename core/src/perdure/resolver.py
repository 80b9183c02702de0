"""From the configured name to one entry point, with the reason and every warning. Pure."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.errors import EngineConflictError, EngineNotFoundError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from perdure.discovery import EngineRef

BUILTIN = "compressor"
RESERVED = {
    "compressor": "perdure-compressor",
    "builtin": "perdure-compressor",
    "lcm": "perdure-lcm",
}
"""Names that are honoured only from this project's own distributions."""

PUBLISHED = {"compressor": "perdure-compressor", "lcm": "perdure-lcm"}
"""Engines that this project publishes; for others an install line would invite typosquatting."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Resolution:
    """Which engine serves, and why.

    Attributes:
        builtin: The engine to fall back to.
        is_fallback: True when the requested one is not the chosen one.
    """

    chosen: EngineRef
    builtin: EngineRef
    requested: str
    reason: str
    warnings: tuple[str, ...] = ()
    is_fallback: bool = False


def resolve(requested: str, refs: Sequence[EngineRef], *, on_error: str = "fallback") -> Resolution:
    """Return the engine for a configured name.

    Args:
        requested: Name from `context.engine`.
        refs: What is installed (see `discovery.discover`).
        on_error: `fallback` lets the built-in serve for an unknown name, `raise` does not.

    Raises:
        EngineNotFoundError: The name is unknown and `on_error` is `raise`, or there is no built-in.
        EngineConflictError: Several distributions offer the name.
    """
    honoured, impostors = _sorted_out(refs)
    builtin = _only(honoured, BUILTIN)
    if builtin is None:
        text = (
            f"the built-in engine {BUILTIN!r} is not installed, so there is nothing to fall back "
            f"to; pip install {PUBLISHED[BUILTIN]}"
        )
        raise _not_found(text, requested, honoured)
    warnings = tuple(
        f"{ref.source} offers an engine named {ref.name!r}, a name reserved for "
        f"{RESERVED[ref.name]}; it is ignored"
        for ref in impostors
    )
    chosen = _only(honoured, requested)
    if chosen is not None:
        return Resolution(
            chosen=chosen,
            builtin=builtin,
            requested=requested,
            reason=f"{requested!r} is offered by {chosen.source}",
            warnings=warnings,
        )
    text = _unknown(requested, honoured)
    if on_error == "raise":
        raise _not_found(text, requested, honoured)
    return Resolution(
        chosen=builtin,
        builtin=builtin,
        requested=requested,
        reason=f"{requested!r} is not installed",
        warnings=(*warnings, f"{text}. The built-in {BUILTIN!r} serves instead."),
        is_fallback=True,
    )


def _sorted_out(refs: Sequence[EngineRef]) -> tuple[list[EngineRef], list[EngineRef]]:
    """Return the entry points to honour, and those that use a reserved name without right."""
    honoured: list[EngineRef] = []
    impostors: list[EngineRef] = []
    for ref in refs:
        owner = RESERVED.get(ref.name, ref.distribution)
        (honoured if owner == ref.distribution else impostors).append(ref)
    return honoured, impostors


def _only(refs: Sequence[EngineRef], name: str) -> EngineRef | None:
    found = [ref for ref in refs if ref.name == name]
    if len(found) > 1:
        sources = sorted({ref.source for ref in found})
        text = (
            f"engine {name!r} is offered by {' and by '.join(sources)}; uninstall all but one, "
            "since nothing says which one you mean"
        )
        raise EngineConflictError(text, engine=name, distributions=sources)
    return found[0] if found else None


def _unknown(requested: str, refs: Sequence[EngineRef]) -> str:
    installed = sorted({ref.name for ref in refs})
    near = _nearest(requested, installed)
    text = f"engine {requested!r} is not installed; installed engines: {', '.join(installed)}"
    if near:
        text += f"; did you mean {' or '.join(map(repr, near))}?"
    published = [name for name in near if name in PUBLISHED and name not in installed]
    if published:
        text += f" To get {published[0]!r}: pip install {PUBLISHED[published[0]]}"
    return text


def _nearest(requested: str, installed: Sequence[str]) -> list[str]:
    choices = sorted({*installed, *PUBLISHED})
    return difflib.get_close_matches(requested, choices, n=3, cutoff=0.5)


def _not_found(text: str, requested: str, refs: Sequence[EngineRef]) -> EngineNotFoundError:
    installed = sorted({ref.name for ref in refs})
    near = _nearest(requested, installed)
    published = [PUBLISHED[name] for name in near if name in PUBLISHED and name not in installed]
    return EngineNotFoundError(
        text,
        requested=requested,
        available=installed,
        nearest=near,
        pip_line=f"pip install {published[0]}" if published else None,
    )
