"""The dashboard's answers, and the states in which it refuses."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.ur_fake.support import Talker, controller
from ur_fake.server import Controller

WAIT = "def wait():\n  while True:\n    sync()\n  end\nend\n"


@pytest.fixture(scope="module")
def robot() -> Iterator[Controller]:
    with controller(programs={"wait.urp": WAIT}) as made:
        yield made


@pytest.fixture
def client(robot: Controller) -> Iterator[Talker]:
    robot.machine.set_remote(True)
    robot.machine.stop_program()
    robot.machine.start()
    made = Talker(robot, "dashboard")
    assert made.line() == "Connected: Universal Robots Dashboard Server"
    yield made
    made.close()


def test_who_it_is(client: Talker) -> None:
    assert client.ask("get serial number") == client.robot.machine.identity.serial_number
    assert client.ask("get robot model") == "UR5"
    assert client.ask("PolyscopeVersion").startswith("URSoftware 5.")
    assert client.ask("version").startswith("5.")
    assert client.ask("is in remote control") == "true"


def test_how_it_is(client: Talker) -> None:
    assert client.ask("robotmode") == "Robotmode: RUNNING"
    assert client.ask("safetystatus") == "Safetystatus: NORMAL"
    assert client.ask("safetymode") == "Safetymode: NORMAL"
    assert client.ask("running") == "Program running: false"


def test_what_it_does_not_know_it_says(client: Talker) -> None:
    assert client.ask("make coffee") == "could not understand: 'make coffee'"


def test_power_off_and_on_and_brakes(client: Talker) -> None:
    assert client.ask("power off") == "Powering off"
    assert client.ask("robotmode") == "Robotmode: POWER_OFF"
    assert client.ask("play") == "Failed to execute: play"
    assert client.ask("power on") == "Powering on"
    client.until(lambda: client.ask("robotmode") == "Robotmode: IDLE")
    assert client.ask("brake release") == "Brake releasing"
    client.until(lambda: client.ask("robotmode") == "Robotmode: RUNNING")


def test_a_program_is_loaded_played_paused_and_stopped(client: Talker) -> None:
    assert client.ask("load nothing.urp") == "File not found: nothing.urp"
    assert client.ask("load /programs/wait.urp") == "Loading program: /programs/wait.urp"
    assert client.ask("get loaded program") == "Loaded program: /programs/wait.urp"
    assert client.ask("programState") == "STOPPED wait.urp"
    assert client.ask("pause") == "Failed to execute: pause"
    assert client.ask("play") == "Starting program"
    client.until(lambda: client.ask("programState") == "PLAYING wait.urp")
    assert client.ask("running") == "Program running: true"
    assert client.ask("load wait.urp") == "Error while loading program: wait.urp"
    assert client.ask("pause") == "Pausing program"
    assert client.ask("programState") == "PAUSED wait.urp"
    assert client.ask("play") == "Starting program"
    assert client.ask("programState") == "PLAYING wait.urp"
    assert client.ask("stop") == "Stopped"
    assert client.ask("programState") == "STOPPED wait.urp"


def test_a_protective_stop_is_unlocked_after_five_seconds(client: Talker) -> None:
    machine = client.robot.machine
    machine.protective_stop()
    assert client.ask("safetystatus") == "Safetystatus: PROTECTIVE_STOP"
    assert client.ask("play") == "Failed to execute: play"
    assert client.ask("unlock protective stop").startswith("Cannot unlock protective stop until 5s")
    since = machine.time
    client.until(lambda: machine.time > since + 5.0)
    assert client.ask("unlock protective stop") == "Protective stop releasing"
    assert client.ask("safetystatus") == "Safetystatus: NORMAL"


def test_an_emergency_stop_shows_and_ends(client: Talker) -> None:
    client.robot.machine.emergency_stop()
    assert client.ask("safetystatus") == "Safetystatus: ROBOT_EMERGENCY_STOP"
    assert client.ask("robotmode") == "Robotmode: POWER_OFF"
    client.robot.machine.release_emergency_stop()
    assert client.ask("safetystatus") == "Safetystatus: NORMAL"


def test_a_violation_needs_a_restart_of_the_safety_system(client: Talker) -> None:
    client.robot.machine.safety_violation()
    assert client.ask("safetystatus") == "Safetystatus: VIOLATION"
    assert client.ask("restart safety") == "Restarting safety"
    client.until(lambda: client.ask("safetystatus") == "Safetystatus: NORMAL")


@pytest.mark.parametrize(
    "command", ["play", "stop", "power on", "power off", "brake release", "load wait.urp"]
)
def test_local_control_takes_no_commands(client: Talker, command: str) -> None:
    client.robot.machine.set_remote(False)
    assert client.ask(command) == "Command is not allowed due to safety reasons"
    assert client.ask("is in remote control") == "false"
    assert client.ask("robotmode") == "Robotmode: RUNNING"


def test_popups_are_shown_and_closed(client: Talker) -> None:
    assert client.ask("popup mind the arm") == "showing popup"
    popup = client.robot.machine.popup
    assert popup is not None
    assert popup.text == "mind the arm"
    assert client.ask("close popup") == "closing popup"
    assert client.robot.machine.popup is None


def test_quit_says_goodbye(client: Talker) -> None:
    assert client.ask("quit") == "Disconnected"
    client.until(lambda: client.ended)
