"""The group of commands: what there is, how failures are shown, and with which exit code.

The modules of the commands import click only; what a command needs it imports when it runs.
"""

from __future__ import annotations

import errno
import json
import sys
from typing import Any

import click

from perdure import errors
from perdure.cli.compress import compress
from perdure.cli.config import config
from perdure.cli.engines import engines
from perdure.cli.output import OutputError
from perdure.cli.recall import recall

EXIT_CODES: dict[type[errors.PerdureError], int] = {
    errors.InputError: 3,
    errors.ConfigError: 4,
    errors.EngineNotFoundError: 5,
    errors.EngineConflictError: 5,
    errors.EngineLoadError: 5,
    errors.EngineContractError: 5,
    errors.InvariantError: 6,
    errors.EngineCallError: 6,
    errors.ContextOverflowError: 6,
    errors.SummarizerError: 6,
    errors.StoreError: 7,
}

EPILOG = """\b
Exit codes:
  0  done, or nothing to do
  2  the command line is wrong
  3  the input cannot be read
  4  the configuration cannot be used
  5  the engine cannot be had
  6  the result would not be valid or does not fit the window, or the engine failed
  7  a store or the output cannot be read or written
"""


class Failure(click.ClickException):
    """An error of ours on its way to the terminal."""

    def __init__(self, error: errors.PerdureError, *, as_json: bool = False) -> None:
        """Take the error and how it is to be shown."""
        super().__init__(str(error))
        self.error = error
        self.as_json = as_json
        self.exit_code = next(  # type: ignore[misc]  # click declares it for the class
            (code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), 1
        )

    def show(self, file: Any = None) -> None:  # noqa: ANN401 - click's own signature
        """Print one line for people, or one object for programs."""
        if self.as_json:
            facts = self.error.facts()
            kind = type(self.error).__name__
            click.echo(json.dumps({"error": kind, "message": self.message, **facts}))
        else:
            click.echo(f"perdure: {self.message}", err=True, file=file)


class Commands(click.Group):
    """Core's commands, and those that other packages add through entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands."""
        return sorted({*super().list_commands(ctx), *_added()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; a package's is imported only when it is asked for by name."""
        own = super().get_command(ctx, cmd_name)
        ref = None if own else _added().get(cmd_name)
        if ref is None:
            return own
        from perdure import discovery

        return discovery.load(ref)  # type: ignore[no-any-return]

    def invoke(self, ctx: click.Context) -> object:
        """Run a command and turn our errors into messages with exit codes."""
        try:
            done = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()  # a full disk shows here, not when the interpreter ends
        except errors.PerdureError as error:
            raise Failure(error, as_json=bool((ctx.obj or {}).get("json"))) from error
        except OSError as error:
            if error.errno == errno.EPIPE:
                raise
            raise OutputError(error.filename or "standard output", error) from error
        return done


def _added() -> dict[str, Any]:
    from perdure import discovery

    return {ref.name: ref for ref in discovery.discover("perdure.commands")}


@click.command(
    cls=Commands, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(package_name="perdure-core", prog_name="perdure")
@click.pass_context
def cli(ctx: click.Context) -> None:
    """Keep long-running LLM agents from forgetting."""
    ctx.ensure_object(dict)


for command in (compress, config, engines, recall):
    cli.add_command(command)
