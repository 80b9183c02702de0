"""`perdure engines`: what is installed, and what one of them is."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from perdure.discovery import EngineRef


@click.group()
def engines() -> None:
    """List the engines that are installed, or show one."""


@engines.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_engines(*, as_json: bool) -> None:
    """List installed engines; nothing is imported."""
    from perdure import discovery

    found = [_facts(ref) for ref in discovery.discover()]
    if as_json:
        click.echo(json.dumps(found))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("engine", "distribution", "version", "factory", box=None)
    for facts in found:
        table.add_row(facts["name"], facts["distribution"], facts["version"], facts["factory"])
    Console().print(table)


@engines.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def show_engine(ctx: click.Context, name: str, *, as_json: bool) -> None:
    """Import engine NAME and show its hooks and options."""
    ctx.ensure_object(dict)["json"] = as_json
    from perdure import discovery, resolver

    is_own_only = discovery.is_own_only()
    found = discovery.discover()
    ref = resolver.resolve(name, found, on_error="raise", is_own_only=is_own_only).chosen
    factory = discovery.load(ref)
    facts = {**_facts(ref), "hooks": _hooks(factory), "options": _options(factory)}
    if as_json:
        click.echo(json.dumps(facts))
        return
    click.echo(f"{ref.name}  ({ref.distribution} {ref.version}, {ref.value})")
    click.echo(f"hooks: {', '.join(facts['hooks'])}")
    for option in facts["options"]:
        click.echo(f"  {option['name']} = {option['default']!r}  {option['description']}")


def _facts(ref: EngineRef) -> dict[str, Any]:
    return {
        "name": ref.name,
        "distribution": ref.distribution,
        "version": ref.version,
        "factory": ref.value,
    }


def _hooks(factory: object) -> list[str]:
    from perdure import contract

    return [name for name in contract.ENGINE_HOOKS if callable(getattr(factory, name, None))]


def _options(factory: object) -> list[dict[str, Any]]:
    model = getattr(factory, "Options", None)
    fields = getattr(model, "model_fields", {})
    return [
        {
            "name": name,
            "default": field.get_default(call_default_factory=True),
            "description": field.description or "",
        }
        for name, field in fields.items()
    ]
