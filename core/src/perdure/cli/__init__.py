"""The `perdure` command. Sub-commands are imported when they are called."""

from __future__ import annotations

import os
import sys

from perdure.cli.main import cli


def main() -> None:
    """Run the command line; the entry point of the `perdure` script."""
    try:
        cli(standalone_mode=True)
    except BrokenPipeError:
        # Whoever read our output has gone; nobody is left to tell. The descriptor is replaced so
        # that the interpreter's last flush stays quiet too.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)


__all__ = ["cli", "main"]
