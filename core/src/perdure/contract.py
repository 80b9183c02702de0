"""Checks a plugin's methods against the hookspec when it is registered, and says what is wrong.

Closes the traps that pluggy leaves open: an argument with a default is never filled, a keyword-only
one breaks at call time, `**kwargs` stays empty, a coroutine is never awaited, an undecorated class
registers nothing, and a property is evaluated while looking for hooks.
"""

from __future__ import annotations

import difflib
import inspect
from typing import Any

from perdure.errors import EngineContractError
from perdure.hookspec import API_VERSION, NOTIFICATIONS, EngineSpec, ObserverSpec

HOOK_PREFIXES = ("on_", "should_", "get_", "handle_", "update_", "select_", "compress")
_NOT_FILLED = {
    inspect.Parameter.KEYWORD_ONLY: "is keyword-only",
    inspect.Parameter.VAR_POSITIONAL: "is starred",
    inspect.Parameter.VAR_KEYWORD: "is double-starred",
}


def hooks_of(*specs: type) -> dict[str, tuple[str, ...]]:
    """Return the argument names of every hook that the spec classes declare."""
    return {
        name: tuple(inspect.signature(function).parameters)[1:]
        for spec in specs
        for name, function in vars(spec).items()
        if inspect.isfunction(function) and not name.startswith("_")
    }


ENGINE_HOOKS = hooks_of(EngineSpec)
OBSERVER_HOOKS = hooks_of(ObserverSpec) | {name: ENGINE_HOOKS[name] for name in NOTIFICATIONS}


def implemented(plugin: object, hooks: dict[str, tuple[str, ...]]) -> list[str]:
    """Return the hooks that a plugin has itself; the spec's own methods do not count."""
    return [name for name in hooks if _own_attribute(plugin, name) is not None]


def check_engine(engine: object, *, name: str) -> None:
    """Raise `EngineContractError` unless the object is an engine that can be called safely."""
    wanted = getattr(type(engine), "API_VERSION", API_VERSION)
    if wanted != API_VERSION:
        text = (
            f"engine {name!r} needs version {wanted!r} of the hookspec, this is {API_VERSION}; "
            "install matching versions of the engine and of perdure-core"
        )
        raise EngineContractError(
            text, engine=name, hook="API_VERSION", declared=str(wanted), expected=str(API_VERSION)
        )
    _check_plugin(engine, ENGINE_HOOKS, name=name, kind="engine")
    if "compress" not in implemented(engine, ENGINE_HOOKS):
        text = (
            f"engine {name!r} has no method compress(self, messages, ...); it is the one hook "
            "that every engine must have"
        )
        raise EngineContractError(text, engine=name, hook="compress", expected="a method")


def check_observer(observer: object, *, name: str) -> None:
    """Raise `EngineContractError` unless the object is an observer that can be called safely."""
    _check_plugin(observer, OBSERVER_HOOKS, name=name, kind="observer")


def _check_plugin(
    plugin: object, hooks: dict[str, tuple[str, ...]], *, name: str, kind: str
) -> None:
    for attribute in _public_names(plugin):
        if attribute in hooks:
            if _own_attribute(plugin, attribute) is not None:
                _check_method(plugin, attribute, hooks[attribute], name=name, kind=kind)
        elif attribute.startswith(HOOK_PREFIXES) and _looks_like_hook(plugin, attribute):
            near = _nearest_hook(attribute, hooks)
            text = (
                f"{kind} {name!r} has a method {attribute!r} that is no hook; did you mean "
                f"{near!r}? Start its name with an underscore if it is your own"
            )
            raise EngineContractError(
                text, engine=name, hook=attribute, declared=attribute, expected=near
            )


def _nearest_hook(attribute: str, hooks: dict[str, tuple[str, ...]]) -> str:
    longer = [hook for hook in hooks if attribute.startswith(hook)]
    return (longer or difflib.get_close_matches(attribute, hooks, n=1, cutoff=0.0))[0]


def _check_method(
    plugin: object, hook: str, arguments: tuple[str, ...], *, name: str, kind: str
) -> None:
    found = _own_attribute(plugin, hook)
    expected = f"{hook}(self, {', '.join(arguments)})"

    def refuse(what: str, fix: str) -> EngineContractError:
        text = f"{kind} {name!r}: {hook} {what}; {fix}"
        return EngineContractError(text, engine=name, hook=hook, declared=what, expected=expected)

    if isinstance(found, property) or not callable(getattr(found, "__func__", found)):
        raise refuse("is not a method", f"write it as def {expected}")
    function = inspect.unwrap(getattr(found, "__func__", found))
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        raise refuse("is async", "hooks are plain functions; the host runs them in a thread")
    if inspect.isgeneratorfunction(function):
        raise refuse("is a generator", "return a value instead of yielding")
    for parameter in inspect.signature(getattr(plugin, hook)).parameters.values():
        if parameter.kind in _NOT_FILLED:
            how = _NOT_FILLED[parameter.kind]
            raise refuse(
                f"declares {parameter.name!r}, which {how}", f"name plain arguments of {expected}"
            )
        if parameter.default is not inspect.Parameter.empty:
            raise refuse(
                f"gives {parameter.name!r} a default value, so it would never be filled",
                "remove the default; the argument is always passed",
            )
        if parameter.name not in arguments:
            near = difflib.get_close_matches(parameter.name, arguments, n=1, cutoff=0.0)
            hint = f"did you mean {near[0]!r}?" if near else "it takes no arguments"
            raise refuse(f"asks for {parameter.name!r}, which this hook does not pass", hint)


def _own_attribute(plugin: object, name: str) -> Any:  # noqa: ANN401 - any kind of attribute
    """Return the static attribute, or None where it is missing or inherited from the spec."""
    found = inspect.getattr_static(plugin, name, None)
    inherited = (getattr(EngineSpec, name, None), getattr(ObserverSpec, name, None))
    return None if found is None or found in inherited else found


def _looks_like_hook(plugin: object, name: str) -> bool:
    found = inspect.getattr_static(plugin, name, None)
    return callable(getattr(found, "__func__", found))


def _public_names(plugin: object) -> list[str]:
    names = set(dir(type(plugin))) | set(getattr(plugin, "__dict__", ()))
    return sorted(name for name in names if not name.startswith("_"))
