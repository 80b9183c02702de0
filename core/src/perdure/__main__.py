"""`python -m perdure` is the command `perdure`."""

from perdure.cli import cli

cli(prog_name="perdure")
