"""Robots that are not started: not ready, without a variable, in somebody's hands, another arm."""

from __future__ import annotations

import pytest

from tests.robots.rtde.support import Traced, driven, guided, rtde_robot
from ur_admittance import Config, RobotError
from ur_admittance.robots.rtde.inspection import Expected, NotReady

pytest.importorskip("mujoco")
pytest.importorskip("lark")

PENDANT = {
    "off": "switch the arm on and release its brakes",
    "idle": "switch the arm on and release its brakes",
    "local": "remote control at the top right",
    "safeguard-stop": "close the safeguard",
    "protective-stop": "unlock it on the pendant",
    "emergency-stop": "release the emergency stop",
    "violation": "clear it on the pendant",
}


@pytest.mark.parametrize("state", PENDANT)
@pytest.mark.parametrize("version", ["5.9.0", "5.21.2"])
def test_a_robot_that_is_not_ready_is_refused_with_what_to_press(state: str, version: str):
    """Row 47: local mode, brakes on, no power, in several versions."""
    fake = Traced(states=[state], faults=[f"identity:version={version}"])
    try:
        with pytest.raises(NotReady, match=PENDANT[state]):
            rtde_robot(fake).connect()
        assert fake.machine.program_state == "STOPPED"
    finally:
        fake.close()


def test_reduced_mode_is_no_obstacle():
    """Row 47: the robot is slower then, and says so."""
    with driven(fake={"states": ["reduced"]}) as (robot, fake, controller):
        assert guided(robot, fake, controller, newton=10.0, seconds=1.0).mode == "inactive"


@pytest.mark.parametrize("name", ["actual_qd", "safety_status_bits", "input_double_register_24"])
def test_a_variable_that_the_robot_lacks_is_named(name: str):
    """Row 48: a recipe that is refused."""
    fake = Traced(faults=[f"rtde:refuse={name}"])
    try:
        with pytest.raises(RobotError, match=name):
            rtde_robot(fake).connect()
    finally:
        fake.close()


def test_a_register_in_use_is_named_with_its_likely_owner():
    """Rows 48 and 53: a second client, or a field bus; other registers are free."""
    with driven() as (_, fake, _):
        with pytest.raises(RobotError, match=r"input_int_register_24.* in use.*another run"):
            rtde_robot(fake).connect()
        rtde_robot(fake, registers=32, watch=True).connect()
    fake = Traced(fieldbus=True)
    try:
        with pytest.raises(RobotError, match="PROFINET"):
            rtde_robot(fake, registers=0).connect()
    finally:
        fake.close()


def test_another_arm_is_refused_with_both_values():
    """Row 17: model, serial number, calibration, TCP, payload: all that differs, at once."""
    fake = Traced(faults=["identity:calibration=7", "identity:serial=111"])
    fake.machine.payload = 2.5
    fake.machine.set_tcp([0, 0, 0.2, 0, 0, 0])
    expected = Expected("ur10e", "222", "0-0-0-0-0-0", (0, 0, 0.1, 0, 0, 0))
    config = Config.preset("hand-guiding").replace({"payload.mass": 1.0})
    try:
        with pytest.raises(NotReady) as refused:
            rtde_robot(fake, expected=expected, config=config).connect()
    finally:
        fake.close()
    lines = refused.value.problems
    for what, theirs, ours in (
        ("model", "ur5e", "ur10e"),
        ("serial number", "111", "222"),
        ("kinematic calibration", "-", "0-0-0-0-0-0"),
        ("TCP", "0.2", "0.1"),
        ("payload", "2.5 kg", "1 kg"),
    ):
        line = next(line for line in lines if f" {what}: " in line)
        assert theirs in line and ours in line and "; " in line


def test_a_speed_slider_at_zero_is_said_before_the_start():
    """Row 47: an arm that would not move, whoever pushes it."""
    fake = Traced()
    fake.machine.target_speed_fraction = 0.0
    try:
        with pytest.raises(NotReady, match=r"speed slider: the robot has 0 %.*raise it"):
            rtde_robot(fake).connect()
        fake.machine.set_speed_slider(0.2)
        with rtde_robot(fake) as robot:
            assert robot.found.words.endswith("speed slider at 20 %")
    finally:
        fake.close()
