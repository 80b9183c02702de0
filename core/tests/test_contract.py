"""Registration says what is wrong with a plugin instead of failing at three in the morning."""

from __future__ import annotations

import pytest

from perdure.contract import check_engine, check_observer, implemented
from perdure.errors import EngineContractError
from perdure.hookspec import EngineSpec


class Good:
    def compress(self, messages, budget): ...


def refusal(engine: object) -> EngineContractError:
    with pytest.raises(EngineContractError) as caught:
        check_engine(engine, name="acme")
    assert "'acme'" in str(caught.value)
    return caught.value


def test_plain_class_with_compress_is_an_engine():
    check_engine(Good(), name="acme")


def test_default_value_is_refused_since_it_would_never_be_filled():
    class Engine:
        def compress(self, messages, budget=None): ...

    error = refusal(Engine())

    assert "'budget' a default" in str(error)
    assert error.hook == "compress"


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("def compress(self, *, messages): ...", "keyword-only"),
        ("def compress(self, *messages): ...", "starred"),
        ("def compress(self, **kwargs): ...", "double-starred"),
        ("async def compress(self, messages): ...", "async"),
        ("def compress(self, messages): yield", "generator"),
        ("def compress(self, mesages): ...", "did you mean 'messages'"),
        ("compress = 3", "not a method"),
        ("compress = property(lambda self: 1 / 0)", "not a method"),
    ],
)
def test_method_that_cannot_be_called_is_refused(source, found):
    names: dict = {}
    exec(f"class Engine:\n    {source}", names)

    assert found in str(refusal(names["Engine"]()))


@pytest.mark.parametrize(
    ("method", "nearest"),
    [
        ("on_sesion_start", "on_session_start"),
        ("should_compres", "should_compress"),
        ("get_tools_schemas", "get_tool_schemas"),
        ("compress_messages", "compress"),
    ],
)
def test_misspelt_hook_is_refused_with_the_nearest_name(method, nearest):
    engine = type("Engine", (Good,), {method: lambda self: None})()

    error = refusal(engine)

    assert error.declared == method
    assert f"did you mean {nearest!r}" in str(error)


def test_property_with_a_foreign_name_is_neither_evaluated_nor_refused():
    class Engine(Good):
        @property
        def get_ready(self):
            raise AssertionError

    check_engine(Engine(), name="acme")


def test_engine_without_compress_is_refused():
    class Engine:
        def on_session_start(self, history): ...

    assert "no method compress" in str(refusal(Engine()))


def test_methods_inherited_from_the_spec_do_not_count():
    class Engine(EngineSpec): ...

    assert "no method compress" in str(refusal(Engine()))

    class Complete(EngineSpec):
        def compress(self, messages): ...

    check_engine(Complete(), name="acme")
    assert implemented(Complete(), {"compress": (), "get_status": ()}) == ["compress"]


@pytest.mark.parametrize("version", [99, -1, "1"])
def test_engine_for_another_version_of_the_contract_is_refused(version):
    engine = type("Engine", (Good,), {"API_VERSION": version})()

    assert "version" in str(refusal(engine))


def test_engine_that_claims_every_attribute_is_judged_by_what_it_has():
    class Engine(Good):
        def __getattr__(self, name):
            return lambda *args, **kwargs: None

    check_engine(Engine(), name="acme")
    assert implemented(Engine(), {"get_status": ()}) == []


def test_observer_needs_no_hook_but_no_misspelt_one_either():
    class Quiet: ...

    class Misspelt:
        def on_sesion_end(self): ...

    check_observer(Quiet(), name="log")
    with pytest.raises(EngineContractError, match="on_session_end"):
        check_observer(Misspelt(), name="log")
