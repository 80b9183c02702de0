"""The hookspec is the manual: its examples run, and everything it promises is in it."""

from __future__ import annotations

import doctest
import inspect

import pytest

from perdure import hookspec
from perdure.contract import ENGINE_HOOKS, OBSERVER_HOOKS, check_engine, check_observer
from perdure.hookspec import EngineSpec, ObserverSpec

HOOKS = [
    pytest.param(function, id=name)
    for spec in (EngineSpec, ObserverSpec)
    for name, function in vars(spec).items()
    if inspect.isfunction(function)
]


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_has_an_example_that_runs_and_registers(hook):
    [example] = doctest.DocTestFinder(recurse=False).find(hook, hook.__name__)
    runner = doctest.DocTestRunner()
    names: dict[str, object] = {}
    example.globs = names

    runner.run(example, clear_globs=False)

    assert example.examples, "a hook without an example"
    assert runner.failures == 0
    if hook.__qualname__.startswith("EngineSpec"):
        check_engine(names["Engine"](), name="example")
    else:
        check_observer(names["Observer"](), name="example")


@pytest.mark.parametrize("hook", HOOKS)
def test_every_hook_says_since_when_it_exists(hook):
    assert "Added in:" in (hook.__doc__ or "")


def test_module_example_is_a_whole_engine():
    [example] = doctest.DocTestFinder(recurse=False).find(hookspec, "hookspec")
    names: dict[str, object] = {}
    example.globs = names

    doctest.DocTestRunner().run(example, clear_globs=False)

    check_engine(names["Window"](None), name="window")


def test_every_hook_may_ask_for_the_session():
    assert all("session" in arguments for arguments in ENGINE_HOOKS.values())
    assert all("session" in arguments for arguments in OBSERVER_HOOKS.values())


def test_no_hook_passes_credentials():
    forbidden = ("key", "token", "secret", "credential", "password")
    names = {argument for arguments in ENGINE_HOOKS.values() for argument in arguments}

    assert not [n for n in names if any(f in n for f in forbidden) and n != "prompt_tokens"]
