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
        ("rtde://", "no address"),
        ("rtde:192.168.1.10", "rtde://192.168.1.10"),
        ("rtde://192.168.1.10:rtde", "port"),
        ("simm", "there are sim, sim:ur3e.*did you mean sim"),
        ("sim:ur5", "there are ur3e.*did you mean ur5e"),
        ("", "unknown kind"),
        (None, "must be text"),
    ],
)
def test_an_address_that_leads_nowhere_says_what_there_is(url, words):
    with pytest.raises(RobotError, match=words):
        robots.connect(url)


@pytest.mark.parametrize(("module", "url"), [("mujoco", "sim"), ("rclpy", "ros2")])
def test_the_package_does_without_a_library_until_its_robot_is_asked_for(module, url):
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "import ur_admittance\n"
        "from ur_admittance import robots, RobotError\n"
        f"try: robots.connect({url!r})\n"
        "except RobotError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f'pip install "ur-admittance[{url}]"' in run.stdout
