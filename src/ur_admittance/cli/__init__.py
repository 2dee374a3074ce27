"""The command line: `ur-admittance VERB`. A verb is one function; its work lives elsewhere."""

from __future__ import annotations

import typer

from ur_admittance.cli.attach import set_parameter, watch
from ur_admittance.cli.check import check
from ur_admittance.cli.demo import demo
from ur_admittance.cli.init import init
from ur_admittance.cli.recordings import replay, report
from ur_admittance.cli.run import run

app = typer.Typer(
    help="Make a Universal Robots arm give way to force.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)
for verb in (demo, run, init, watch):
    app.command()(verb)
app.command("set", context_settings={"ignore_unknown_options": True})(set_parameter)
for verb in (replay, report, check):
    app.command()(verb)


def main() -> None:
    """Entry point of `ur-admittance`."""
    app(prog_name="ur-admittance")
