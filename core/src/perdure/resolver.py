"""From the configured name to one entry point, with the reason and every warning. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from perdure.discovery import DISABLE_VARIABLE
from perdure.errors import EngineConflictError, EngineNotFoundError
from perdure.spelling import nearest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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

LEFT_OUT = f" (engines of other projects are left out, since {DISABLE_VARIABLE} is set)"


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


def resolve(
    requested: str,
    refs: Sequence[EngineRef],
    *,
    on_error: str = "fallback",
    published: Mapping[str, str] = PUBLISHED,
    is_own_only: bool = False,
) -> Resolution:
    """Return the engine for a configured name.

    A reserved name that a stranger offers beside its owner is ignored with a warning. Where only
    strangers offer it and it is requested, that is a conflict, whatever `on_error` says: somebody
    else's code stands where ours was asked for, and nobody may fail to notice.

    Args:
        requested: Name from `context.engine`.
        refs: What is installed (see `discovery.discover`).
        on_error: `fallback` lets the built-in serve for an unknown name, `raise` does not.
        published: Distribution by engine name, of the engines that an install line may be given
            for.
        is_own_only: Whether `refs` leaves out engines of other projects on purpose.

    Raises:
        EngineNotFoundError: The name is unknown and `on_error` is `raise`, or there is no built-in.
        EngineConflictError: Several distributions offer the name, or only strangers offer a
            reserved one.
    """
    honoured, impostors = _sorted_out(refs)
    builtin = _only(honoured, BUILTIN)
    if builtin is None:
        raise _builtin_missing(requested, honoured)
    warnings = [
        f"{ref.source} offers an engine named {ref.name!r}, a name reserved for "
        f"{RESERVED[ref.name]}; it is ignored"
        for ref in impostors
    ]
    chosen, reason = _only(honoured, requested), f"{requested!r} is not installed"
    if chosen is not None:
        reason = f"{requested!r} is offered by {chosen.source}"
    else:
        _refuse_strangers(requested, impostors)
        error = _not_found(requested, honoured, published, LEFT_OUT if is_own_only else "")
        if on_error == "raise":
            raise error
        warnings.append(f"{error}. The built-in {BUILTIN!r} serves instead.")
    return Resolution(
        chosen=chosen or builtin,
        builtin=builtin,
        requested=requested,
        reason=reason,
        warnings=tuple(warnings),
        is_fallback=chosen is None,
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
        sources = sorted(ref.source for ref in found)
        text = (
            f"engine {name!r} is offered by {' and by '.join(sources)}; uninstall all but one, "
            "since nothing says which one you mean"
        )
        raise EngineConflictError(text, engine=name, distributions=sources)
    return found[0] if found else None


def _refuse_strangers(requested: str, impostors: Sequence[EngineRef]) -> None:
    sources = sorted({ref.source for ref in impostors if ref.name == requested})
    if not sources:
        return
    owner = RESERVED[requested]
    text = (
        f"engine {requested!r} is offered by {' and by '.join(sources)}, but the name is reserved "
        f"for {owner}, which is not installed; pip install {owner}, or select another engine"
    )
    raise EngineConflictError(text, engine=requested, distributions=sources)


def _builtin_missing(requested: str, refs: Sequence[EngineRef]) -> EngineNotFoundError:
    pip_line = f"pip install {PUBLISHED[BUILTIN]}"
    text = (
        f"the built-in engine {BUILTIN!r} is not installed, so there is nothing to fall back to "
        f"from {requested!r}; {pip_line}"
    )
    available = sorted({ref.name for ref in refs})
    return EngineNotFoundError(text, requested=requested, available=available, pip_line=pip_line)


def _not_found(
    requested: str, refs: Sequence[EngineRef], published: Mapping[str, str], hint: str
) -> EngineNotFoundError:
    """Return the error for an unknown name; its text has no full stop at the end."""
    installed = sorted({ref.name for ref in refs})
    near = nearest(requested, {*installed, *published}, count=3, cutoff=0.5)
    text = f"engine {requested!r} is not installed; installed engines: {', '.join(installed)}{hint}"
    meant = [name for name in near if name != requested]
    if meant and requested not in published:
        text += f"; did you mean {' or '.join(map(repr, meant))}?"
    missing = next((name for name in near if name in published and name not in installed), None)
    pip_line = f"pip install {published[missing]}" if missing else None
    if pip_line:
        text += f"; to get {missing!r}: {pip_line}"
    return EngineNotFoundError(
        text, requested=requested, available=installed, nearest=near, pip_line=pip_line
    )
