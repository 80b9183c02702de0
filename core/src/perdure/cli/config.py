"""`perdure config`: is it right, and what is in force."""

from __future__ import annotations

import json

import click


@click.group()
def config() -> None:
    """Check the configuration, or show what is in force."""


@config.command("check")
@click.argument("file", required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def check(ctx: click.Context, file: str | None, *, as_json: bool) -> None:
    """Check FILE, or the configuration that would be used here, with the engine's options."""
    ctx.ensure_object(dict)["json"] = as_json
    from perdure import config as configs
    from perdure.session import check_engine

    loaded = configs.load(file)
    notes = [*loaded.notes, *check_engine(loaded)]
    if as_json:
        click.echo(json.dumps({"valid": True, "origin": loaded.origin, "notes": notes}))
        return
    for note in notes:
        click.echo(f"note: {note}")
    click.echo(f"{loaded.origin}: valid")


@config.command("show")
@click.option("--config", "file", help="Configuration file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
@click.pass_context
def show(ctx: click.Context, file: str | None, *, as_json: bool) -> None:
    """Show every effective value and where it came from."""
    ctx.ensure_object(dict)["json"] = as_json
    from perdure import config as configs

    loaded = configs.load(file)
    rows = configs.effective(loaded)
    if as_json:
        click.echo(json.dumps([row._asdict() for row in rows], default=str))
        return
    from rich.console import Console
    from rich.table import Table

    table = Table("key", "value", "from", box=None)
    for row in rows:
        table.add_row(row.key, json.dumps(row.value, default=str), row.source)
    Console().print(table)
