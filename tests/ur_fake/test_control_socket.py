"""What only a person at the robot can do, by JSON lines."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from tests.ur_fake.support import Talker, controller
from ur_fake.server import Controller


@pytest.fixture(scope="module")
def robot() -> Iterator[Controller]:
    with controller() as made:
        yield made


@pytest.fixture
def client(robot: Controller) -> Iterator[Talker]:
    made = Talker(robot, "control")
    yield made
    made.close()


def test_the_emergency_stop_can_be_pulled_and_released(client: Talker) -> None:
    assert client.control("emergency_stop") == {"ok": True}
    assert client.control("state")["safety_mode"] == "ROBOT_EMERGENCY_STOP"
    client.control("release_emergency_stop")
    client.control("start")
    state = client.control("state")
    assert (state["safety_mode"], state["robot_mode"]) == ("NORMAL", "RUNNING")


def test_the_safeguard_and_the_reduced_mode_have_switches(client: Talker) -> None:
    client.control("safeguard_stop", active=True)
    assert client.control("state")["safety_mode"] == "SAFEGUARD_STOP"
    client.control("safeguard_stop", active=False)
    client.control("set_reduced", reduced=True)
    assert client.control("state")["safety_mode"] == "REDUCED"
    client.control("set_reduced", reduced=False)


def test_control_goes_from_remote_to_local(client: Talker) -> None:
    client.control("set_remote", remote=False)
    assert client.control("state")["remote_control"] is False
    client.control("set_remote", remote=True)


def test_a_hand_pushes_the_arm_and_the_sensor_feels_it(client: Talker) -> None:
    client.control("push", wrench=[0, 0, -30, 0, 0, 0], seconds=0.5)
    for _ in range(25):
        client.step()
    force = client.control("state")["actual_TCP_force"]
    assert force[2] == pytest.approx(-30, abs=3)
    for _ in range(300):
        client.step()
    assert abs(client.control("state")["actual_TCP_force"][2]) < 3


def test_a_hand_puts_the_arm_elsewhere(client: Talker) -> None:
    q = [0.1, -1.4, 1.3, -1.5, -1.6, 0.2]
    client.control("power_off")
    client.control("hand_move", q=q)
    assert np.allclose(client.control("state")["actual_q"], q, atol=1e-3)
    client.control("start")


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        ("off", ("POWER_OFF", "NORMAL")),
        ("idle", ("IDLE", "NORMAL")),
        ("reduced", ("RUNNING", "REDUCED")),
        ("safeguard-stop", ("RUNNING", "SAFEGUARD_STOP")),
        ("protective-stop", ("RUNNING", "PROTECTIVE_STOP")),
        ("emergency-stop", ("POWER_OFF", "ROBOT_EMERGENCY_STOP")),
        ("violation", ("POWER_OFF", "VIOLATION")),
    ],
)
def test_it_starts_in_the_state_that_is_asked_for(state: str, shown: tuple[str, str]) -> None:
    with controller(states=[state]) as robot:
        for _ in range(1000):
            robot.step()
        now = robot.state()
        assert (now["robot_mode"], now["safety_mode"]) == shown


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "[]",
        '{"do": "explode"}',
        '{"do": "hand_move"}',
        '{"do": "hand_move", "q": [1, 2]}',
        '{"do": "hand_move", "q": [1, 2, 3, 4, 5, "x"]}',
        '{"do": "push", "wrench": [NaN, 0, 0, 0, 0, 0]}',
        '{"do": "state", "more": 1}',
        '{"do": "fault", "fault": "nowhere:nothing"}',
        '{"do": ["state"]}',
        "[" * 5000,
    ],
)
def test_what_makes_no_sense_is_refused_in_words(client: Talker, line: str) -> None:
    answer = client.ask(line)
    assert '"ok": false' in answer
    assert client.control("state")["ok"]
