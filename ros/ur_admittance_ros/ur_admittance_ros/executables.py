"""The executables of this ROS package: each is a command of `ur-admittance` under a node's name."""

from __future__ import annotations

import sys


def admittance_node() -> None:
    """The arm gives way: `ur-admittance run --robot ros2 ...`."""
    _command("run", "--robot", "ros2")


def wrench_node() -> None:
    """The wrench pipeline alone: `ur-admittance wrench-ros2 ...`."""
    _command("wrench-ros2")


def sim_node() -> None:
    """A simulated arm in the place of the robot: `ur-admittance sim-ros2 ...`."""
    _command("sim-ros2")


def _command(*words: str) -> None:
    try:
        from ur_admittance.cli import main
    except ImportError as error:
        sys.exit(
            f"{error}\nThe nodes are in the Python package ur-admittance, which {sys.executable} "
            'does not have: pip install "ur-admittance[sim]"'
        )
    sys.argv[1:1] = words
    main()
