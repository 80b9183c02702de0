"""Entry points to sorted records, from metadata alone; only `load` imports anything."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perdure.errors import EngineLoadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ENGINES = "perdure.engines"
DISABLE_VARIABLE = "PERDURE_DISABLE_PLUGINS"
OWN_DISTRIBUTIONS = frozenset(
    """
    perdure perdure-core perdure-compressor perdure-lcm perdure-providers perdure-gateway
    perdure-hermes perdure-langchain perdure-openai-agents perdure-pydantic-ai
    """.split()  # noqa: SIM905 - ten quoted words would be harder to read
)
"""Listed one by one: a name that only begins like ours may be anybody's."""


@dataclass(frozen=True, kw_only=True, slots=True, order=True)
class EngineRef:
    """One entry point, found but not loaded.

    Attributes:
        name: Name that the configuration uses.
        value: `module:attribute` of the factory.
        distribution: Normalised name of the distribution that offers it.
        origin: Path of the distribution's metadata.
    """

    name: str
    distribution: str
    version: str
    value: str
    group: str = ENGINES
    origin: str = ""

    @property
    def source(self) -> str:
        """Distribution with its version."""
        return f"{self.distribution} {self.version}"


def discover(
    group: str = ENGINES,
    *,
    path: Iterable[str] | None = None,
    environ: Mapping[str, str] | None = None,
) -> tuple[EngineRef, ...]:
    """Return the entry points of a group, sorted; imports no plugin.

    A distribution that is found twice on the path counts once, the first one wins, as in imports.

    Args:
        group: Entry-point group.
        path: Directories to look in; by default `sys.path`.
        environ: Environment; `PERDURE_DISABLE_PLUGINS=1` leaves this project's own distributions.
    """
    # The backport, so that one implementation serves every Python version. It costs 40 ms.
    from importlib_metadata import MetadataPathFinder, distributions

    own_only = is_own_only(environ)
    MetadataPathFinder().invalidate_caches()
    found = distributions() if path is None else distributions(path=list(path))
    seen: set[str] = set()
    refs: list[EngineRef] = []
    for distribution in found:
        name, offered = _offers(distribution, group)
        if name and name not in seen:
            seen.add(name)
            refs += offered if not own_only or name in OWN_DISTRIBUTIONS else []
    return tuple(sorted(set(refs)))


def is_own_only(environ: Mapping[str, str] | None = None) -> bool:
    """Return whether the environment leaves out engines of other projects."""
    environ = os.environ if environ is None else environ
    return environ.get(DISABLE_VARIABLE, "").lower() not in ("", "0", "false", "no", "off")


def _offers(distribution: Any, group: str) -> tuple[str, list[EngineRef]]:  # noqa: ANN401
    """Return the name of a distribution and its entry points; no name where it is damaged."""
    try:
        origin = getattr(distribution, "_path", None)
        metadata = distribution.metadata
        name = _normalised(str(metadata.get("Name") or ""))
        if getattr(origin, "name", "").startswith("~"):
            return "", []  # what pip left behind when it was interrupted
        refs = [
            EngineRef(
                name=point.name,
                value=point.value,
                group=group,
                distribution=name,
                version=str(metadata.get("Version") or "unknown"),
                origin=str(origin or ""),
            )
            for point in distribution.entry_points.select(group=group)
        ]
    except Exception:  # noqa: BLE001 - one damaged distribution must not hide the others
        return "", []
    return name, refs


def _normalised(name: str) -> str:
    """Return a distribution's name as PEP 503 compares it."""
    return "-".join(filter(None, name.lower().replace("_", "-").replace(".", "-").split("-")))


def load(ref: EngineRef) -> Any:  # noqa: ANN401 - whatever the entry point names
    """Import what an entry point names.

    Modules that a failed import left half done are taken out again.

    Raises:
        EngineLoadError: The import failed in any way, also by leaving the interpreter.
    """
    from importlib_metadata import EntryPoint

    before = set(sys.modules)
    try:
        value: Any = EntryPoint(name=ref.name, value=ref.value, group=ref.group).load()
    except (Exception, SystemExit) as error:
        package = ref.value.partition(":")[0].partition(".")[0].strip()
        for name in set(sys.modules) - before:
            if name.partition(".")[0] == package:
                del sys.modules[name]
        text = (
            f"{ref.group.rpartition('.')[2].rstrip('s')} {ref.name!r} of {ref.source} could not be "
            f"imported from {ref.value!r}: {type(error).__name__}: {error}. Reinstall or upgrade "
            f"{ref.distribution}, or select another one."
        )
        raise EngineLoadError(text, engine=ref.name, distribution=ref.source) from error
    return value


def version_of(distribution: str) -> str:
    """Return the installed version of a distribution, or `unknown`."""
    from importlib_metadata import PackageNotFoundError, version

    try:
        return str(version(distribution))
    except PackageNotFoundError:
        return "unknown"
