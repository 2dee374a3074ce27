"""The command line: `ur-admittance VERB`. A verb is one function; its work lives elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Annotated

import typer

from ur_admittance._version import __version__
from ur_admittance.cli.bench import bench
from ur_admittance.cli.calibrate import calibrate
from ur_admittance.cli.check import check
from ur_admittance.cli.cockpit import cockpit
from ur_admittance.cli.common import flag
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
from ur_admittance.cli.verb import NumbersVerb, Verb, Verbs
from ur_admittance.cli.watch import watch
from ur_admittance.cli.wrench_ros2 import wrench_ros2
from ur_admittance.live.plain_text import degrade

app = typer.Typer(
    cls=Verbs,
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
        bool, flag("--version", "Print it, and leave.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    """Make a Universal Robots arm give way to force."""


_PANELS: dict[str, dict[str, Callable[..., None]]] = {
    "Without a robot": {
        "demo": demo,
        "cockpit": cockpit,
        "presets": presets,
        "check": check,
        "map": stable_surfaces,
        "tune": tune,
    },
    "Before an arm gives way": {
        "doctor": doctor,
        "calibrate": calibrate,
        "tare": tare,
        "identify": identify,
        "init": init,
    },
    "Giving way": {"run": run, "play": play},
    "While it does, from another terminal": {
        "watch": watch,
        "get": get,
        "set": set_parameter,
        "teach": teach,
        "stop": stop,
    },
    "Afterwards": {"report": report, "replay": replay},
    "For tests and ROS 2": {
        "bench": bench,
        "fake-robot": fake_robot,
        "sim-ros2": sim_ros2,
        "wrench-ros2": wrench_ros2,
    },
}
_SHAPES: dict[str, type[Verb]] = {"run": RunCommand, "play": RunCommand, "set": NumbersVerb}
for panel, verbs in _PANELS.items():
    for name, verb in verbs.items():
        app.command(name, cls=_SHAPES.get(name, Verb), rich_help_panel=panel)(verb)


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
