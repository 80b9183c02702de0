"""Entry points to sorted records, from metadata alone; only `load` imports anything."""

from __future__ import annotations

import importlib
import os
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perdure.errors import EngineLoadError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

ENGINES = "perdure.engines"
DISABLE_VARIABLE = "PERDURE_DISABLE_PLUGINS"
OWN_DISTRIBUTIONS = frozenset({"perdure-core", "perdure-compressor", "perdure-lcm", "perdure"})


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

    environ = os.environ if environ is None else environ
    own_only = environ.get(DISABLE_VARIABLE, "") not in ("", "0")
    MetadataPathFinder.invalidate_caches()
    found = distributions() if path is None else distributions(path=list(path))
    seen: set[str] = set()
    refs: list[EngineRef] = []
    for distribution in found:
        name = _normalised(_metadata_name(distribution))
        if not name or name in seen:
            continue
        seen.add(name)
        if own_only and name not in OWN_DISTRIBUTIONS:
            continue
        refs += [
            EngineRef(
                name=point.name,
                value=point.value,
                group=group,
                distribution=name,
                version=distribution.version or "unknown",
                origin=str(getattr(distribution, "_path", "")),
            )
            for point in _entry_points(distribution, group)
        ]
    return tuple(sorted(set(refs)))


def _metadata_name(distribution: Any) -> str:  # noqa: ANN401 - a backport's class, untyped here
    """Return the name, or nothing for leftovers of an interrupted install."""
    try:
        return str(distribution.metadata["Name"] or "")
    except Exception:  # noqa: BLE001 - one damaged distribution must not hide the others
        return ""


def _entry_points(distribution: Any, group: str) -> list[Any]:  # noqa: ANN401
    try:
        return list(distribution.entry_points.select(group=group))
    except Exception:  # noqa: BLE001 - a damaged entry_points.txt offers nothing
        return []


def _normalised(name: str) -> str:
    """Return a distribution's name as PEP 503 compares it."""
    return "-".join(filter(None, name.lower().replace("_", "-").replace(".", "-").split("-")))


def load(ref: EngineRef) -> Any:  # noqa: ANN401 - whatever the entry point names
    """Import what an entry point names.

    Modules that a failed import left half done are taken out again.

    Raises:
        EngineLoadError: The import failed in any way, also by leaving the interpreter.
    """
    module, _, attribute = ref.value.partition(":")
    before = set(sys.modules)
    try:
        value: Any = importlib.import_module(module.strip())
        for part in filter(None, attribute.split("[")[0].strip().split(".")):
            value = getattr(value, part)
    except (Exception, SystemExit) as error:
        for name in set(sys.modules) - before:
            if name.split(".")[0] == module.split(".")[0].strip():
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
