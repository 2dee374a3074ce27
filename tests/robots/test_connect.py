"""Robots by their address, and the package without the libraries that robots need."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ur_admittance import RobotError, robots


def test_robots_are_addressed_by_url():
    pytest.importorskip("mujoco")
    with robots.connect("sim", realtime=False) as robot:
        assert robot.name == "sim:ur5e"
        robot.wait()
    with robots.connect("SIM:ur10e", ideal=True, realtime=False) as robot:
        assert robot.model.name == "ur10e"


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("rtde://192.168.1.10", "no backend for a real arm over RTDE yet"),
        ("ros2", "no backend for a ROS 2 graph yet"),
        ("simm", "there are sim, sim:ur3e.*Did you mean 'sim'"),
        ("sim:ur5", "there are ur3e.*Did you mean 'ur5e'"),
        ("", "unknown kind"),
        (None, "must be text"),
    ],
)
def test_an_address_that_leads_nowhere_says_what_there_is(url, words):
    with pytest.raises(RobotError, match=words):
        robots.connect(url)


def test_the_package_does_without_mujoco_until_a_simulation_is_made():
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        "import ur_admittance\n"
        "from ur_admittance import robots, RobotError\n"
        "try: robots.connect('sim')\n"
        "except RobotError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert 'pip install "ur-admittance[sim]"' in run.stdout
