"""The command line: `ur-admittance VERB`. A verb is one function; its work lives elsewhere."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from ur_admittance._version import __version__
from ur_admittance.cli.bench import bench
from ur_admittance.cli.calibrate import calibrate
from ur_admittance.cli.check import check
from ur_admittance.cli.cockpit import cockpit
from ur_admittance.cli.demo import demo
from ur_admittance.cli.doctor import doctor
from ur_admittance.cli.fake_robot import fake_robot
from ur_admittance.cli.get import get
from ur_admittance.cli.identify import identify
from ur_admittance.cli.init import init
from ur_admittance.cli.interrupts import remembered
from ur_admittance.cli.kinds import RunCommand
from ur_admittance.cli.map import stable_surfaces
from ur_admittance.cli.play import play
from ur_admittance.cli.presets import presets
from ur_admittance.cli.replay import replay
from ur_admittance.cli.report import report
from ur_admittance.cli.run import run
from ur_admittance.cli.set import set_parameter
from ur_admittance.cli.sim_ros2 import sim_ros2
from ur_admittance.cli.stop import stop
from ur_admittance.cli.tare import tare
from ur_admittance.cli.teach import teach
from ur_admittance.cli.tune import tune
from ur_admittance.cli.watch import watch
from ur_admittance.cli.wrench_ros2 import wrench_ros2
from ur_admittance.live.plain_text import degrade

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"ur-admittance {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option("--version", help="Print it, and leave.", callback=_version, is_eager=True),
    ] = False,
) -> None:
    """Make a Universal Robots arm give way to force."""


app.command()(demo)
_ANY = {"allow_extra_args": True, "ignore_unknown_options": True}  # those of a kind of robot
app.command(cls=RunCommand, context_settings=_ANY)(run)
for verb in (init, cockpit, watch, get):
    app.command()(verb)
app.command("set", context_settings={"ignore_unknown_options": True})(set_parameter)
app.command("map")(stable_surfaces)
app.command(cls=RunCommand, context_settings=_ANY)(play)
for verb in (
    doctor,
    calibrate,
    tare,
    teach,
    identify,
    stop,
    replay,
    report,
    presets,
    check,
    tune,
    bench,
    fake_robot,
    sim_ros2,
    wrench_ros2,
):
    app.command()(verb)


def main() -> None:
    """The command line, from its arguments to its exit code."""
    degrade(sys.stdout, sys.stderr)
    with remembered():
        app(without_ros_arguments(sys.argv[1:]), prog_name="ur-admittance")


def without_ros_arguments(arguments: list[str]) -> list[str]:
    """What is ours. From `--ros-args` to `--` or the end is for ROS, which reads `sys.argv`."""
    if "--ros-args" not in arguments:
        return arguments
    first = arguments.index("--ros-args")
    theirs = arguments[first:]
    after = theirs[theirs.index("--") + 1 :] if "--" in theirs else []
    return arguments[:first] + without_ros_arguments(after)
