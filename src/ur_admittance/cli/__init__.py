"""The command line: `ur-admittance VERB`. A verb is one function; its work lives elsewhere."""

from __future__ import annotations

import sys

import typer

from ur_admittance.cli.attach import set_parameter, watch
from ur_admittance.cli.bench import bench
from ur_admittance.cli.check import check
from ur_admittance.cli.demo import demo
from ur_admittance.cli.init import init
from ur_admittance.cli.recordings import replay, report
from ur_admittance.cli.run import run
from ur_admittance.cli.sim_ros2 import sim_ros2
from ur_admittance.cli.wrench_ros2 import wrench_ros2

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
for verb in (replay, report, check, bench, sim_ros2, wrench_ros2):
    app.command()(verb)


def main() -> None:
    """Entry point of `ur-admittance`."""
    app(without_ros_arguments(sys.argv[1:]), prog_name="ur-admittance")


def without_ros_arguments(arguments: list[str]) -> list[str]:
    """What is ours. From `--ros-args` to `--` or the end is for ROS, which reads `sys.argv`."""
    if "--ros-args" not in arguments:
        return arguments
    first = arguments.index("--ros-args")
    theirs = arguments[first:]
    after = theirs[theirs.index("--") + 1 :] if "--" in theirs else []
    return arguments[:first] + without_ros_arguments(after)
