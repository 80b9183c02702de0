"""`perdure recall`: the original behind a handle."""

from __future__ import annotations

import json
import sys
from itertools import groupby

import click

from perdure.cli.output import printable


@click.command()
@click.argument("ref")
@click.option("--session", help="Look in this session only; by default in all of them.")
@click.option("--state-dir", help="Where sessions are kept.")
@click.option("--config", "config_file", help="Configuration file.")
@click.option(
    "--json",
    "as_json",
    is_flag=True,
    help="Print the original messages, and what the provider wrote, as JSON.",
)
@click.pass_context
def recall(  # noqa: PLR0913 - one argument per option
    ctx: click.Context,
    ref: str,
    *,
    session: str | None,
    state_dir: str | None,
    config_file: str | None,
    as_json: bool,
) -> None:
    """Show the original behind REF, a handle such as ref:3f9ac2d41b07."""
    ctx.ensure_object(dict)["json"] = as_json
    from perdure import config
    from perdure.blobs import open_blobs
    from perdure.session import state_directory

    directory = state_directory(config.load(config_file).config, state_dir)
    blobs = open_blobs(directory, session)
    try:
        if as_json:
            members = blobs.members(ref)
            messages = [blobs.message(member) for member in members]
            raw = [item for item, _ in groupby(map(blobs.raw, members)) if item is not None]
            found = {"ref": ref, "messages": messages, **({"raw": raw} if raw else {})}
            click.echo(json.dumps(found))
        else:
            text = blobs.text(ref).encode("utf-8", "replace").decode()
            # As it is into a file or a pipe; on a terminal nothing of it may steer that.
            click.echo(printable(text) if sys.stdout.isatty() else text)
    finally:
        blobs.close()
