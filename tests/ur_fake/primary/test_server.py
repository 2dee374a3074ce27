"""Ports 30001 to 30003 as clients see them."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

from tests.ur_fake.primary.reading import next_message, next_packet, next_state
from tests.ur_fake.support import Talker, controller
from ur_admittance.model import RobotModel
from ur_fake.primary import realtime
from ur_fake.server import Controller


@pytest.fixture(scope="module")
def robot() -> Iterator[Controller]:
    with controller(faults=["identity:calibration=3"]) as made:
        yield made


@pytest.fixture(autouse=True)
def remote(robot: Controller) -> None:
    robot.machine.set_remote(True)
    robot.step()


@pytest.mark.parametrize("port", ["primary", "secondary"])
def test_the_first_packet_says_the_version(robot: Controller, port: str) -> None:
    client = Talker(robot, port)
    packet = next_packet(client)
    kind, content = packet.message()
    assert (packet.kind, kind) == (20, 3)
    name, rest = content[1 : 1 + content[0]], content[1 + content[0] :]
    assert name == b"URControl"
    assert struct.unpack_from(">BBii", rest) == robot.machine.identity.version
    client.close()


def test_state_comes_ten_times_a_second(robot: Controller) -> None:
    client = Talker(robot, "secondary")
    stamps = []
    for _ in range(3):
        stamps.append(struct.unpack_from(">Q", next_state(client)[0])[0])
    assert np.diff(stamps).tolist() == [100_000, 100_000]  # us
    client.close()


def test_joints_and_tool_point_are_those_of_the_arm(robot: Controller) -> None:
    client = Talker(robot, "primary")
    parts = next_state(client)
    joints = [struct.unpack_from(">3d4fB", parts[1], 41 * i) for i in range(6)]
    machine = robot.machine
    assert np.allclose([joint[0] for joint in joints], machine.actual_q, atol=1e-6)
    assert {joint[7] for joint in joints} == {253}
    cartesian = struct.unpack(">12d", parts[4])
    assert np.allclose(cartesian[:6], machine.actual_TCP_pose, atol=1e-6)
    assert np.allclose(cartesian[6:], machine.tcp_offset)
    client.close()


def test_the_calibrated_table_gives_the_pose_that_the_arm_reports(robot: Controller) -> None:
    """The table of the kinematics info, put into the textbook formula, is the arm's own."""
    client = Talker(robot, "primary")
    parts = next_state(client)
    checksums, table = struct.unpack_from(">6I", parts[5]), struct.unpack_from(">24d", parts[5], 24)
    theta, a, d, alpha = np.reshape(table, (4, 6))
    X = np.eye(4)
    for i in range(6):
        c, s = (
            np.cos(robot.machine.actual_q[i] + theta[i]),
            np.sin(robot.machine.actual_q[i] + theta[i]),
        )
        ca, sa = np.cos(alpha[i]), np.sin(alpha[i])
        X = X @ np.array(
            [
                [c, -s * ca, s * sa, a[i] * c],
                [s, c * ca, -c * sa, a[i] * s],
                [0, sa, ca, d[i]],
                [0, 0, 0, 1],
            ]
        )
    assert np.allclose(X[:3, 3], robot.machine.actual_TCP_pose[:3], atol=1e-6)
    assert checksums == robot.machine.identity.checksums()
    nominal = RobotModel.ur("ur5e", base="base").fk(robot.machine.actual_q)
    assert 1e-5 < np.linalg.norm(X[:3, 3] - nominal[:3, 3]) < 0.01
    client.close()


def test_the_nominal_table_is_in_the_configuration(robot: Controller) -> None:
    client = Talker(robot, "primary")
    data = next_state(client)[6]
    a, d, alpha, theta = np.reshape(struct.unpack_from(">24d", data, 29 * 8), (4, 6))
    assert np.allclose(a, [0, -0.425, -0.3922, 0, 0, 0], atol=1e-9)
    assert np.allclose(d, [0.1625, 0, 0, 0.1333, 0.0997, 0.0996], atol=1e-9)
    assert np.allclose(alpha, [np.pi / 2, 0, 0, np.pi / 2, -np.pi / 2, 0], atol=1e-9)
    assert np.allclose(theta, 0, atol=1e-9)
    assert struct.unpack_from(">4i", data, 53 * 8)[2] == 1  # a UR5
    client.close()


def test_real_time_packets_come_every_cycle(robot: Controller) -> None:
    client = Talker(robot, "realtime")
    times = []
    for _ in range(10):
        packet = client.take(realtime.SIZE)
        assert struct.unpack_from(">i", packet)[0] == realtime.SIZE
        times.append(struct.unpack_from(">d", packet, 4)[0])
    assert np.allclose(np.diff(times), 0.002, atol=1e-9)
    q_actual = struct.unpack_from(">6d", packet, 252)
    assert np.allclose(q_actual, robot.machine.actual_q, atol=1e-6)
    assert struct.unpack_from(">d", packet, 756)[0] == 7.0  # robot mode
    assert struct.unpack_from(">d", packet, 1052)[0] == 1.0  # program stopped
    client.close()


def test_what_the_machine_says_is_heard_on_the_primary_port(robot: Controller) -> None:
    client = Talker(robot, "primary")
    machine = robot.machine
    machine.say("text", "hello")
    machine.say("error", "not so", code=4, argument=2, level=3)
    machine.say("key", "thing", title="PROGRAM_XXX_STARTED")
    machine.say("popup", "look", title="Title", warning=True)
    machine.say("exception", "no such name", line=3, column=7)
    assert next_message(client, 0) == b"hello"
    error = next_message(client, 6)
    assert struct.unpack_from(">3i", error) == (4, 2, 3)
    assert error.endswith(b"not so")
    key = next_message(client, 7)
    assert key[8] == len("PROGRAM_XXX_STARTED")
    assert key.endswith(b"PROGRAM_XXX_STARTEDthing")
    popup = next_message(client, 2)
    assert struct.unpack_from(">IB???", popup) == (0, 0, True, False, False)
    assert popup.endswith(b"\x05Titlelook")
    raised = next_message(client, 10)
    assert struct.unpack_from(">ii", raised) == (3, 7)
    client.close()


def test_a_change_of_the_safety_mode_is_told(robot: Controller) -> None:
    client = Talker(robot, "primary")
    robot.machine.safeguard_stop(True)
    assert struct.unpack_from(">iiB", next_message(client, 5))[2] == 5
    robot.machine.safeguard_stop(False)
    assert struct.unpack_from(">iiB", next_message(client, 5))[2] == 1
    client.close()


def test_the_arm_is_switched_off_and_on_by_lines_that_are_no_scripts(robot: Controller) -> None:
    client = Talker(robot, "primary")
    machine = robot.machine
    client.send(b"power off\n")
    client.until(lambda: machine.robot_mode == 3)
    client.send(b"power on\n")
    client.until(lambda: machine.robot_mode == 5)
    client.send(b"set robotmode run\n")
    client.until(lambda: machine.robot_mode == 7)
    client.close()


def test_a_connection_made_in_local_control_can_only_read(robot: Controller) -> None:
    """And stays so when control goes back to remote, until it connects anew."""
    machine = robot.machine
    machine.set_remote(False)
    client = Talker(robot, "primary")
    for _ in range(2):
        client.send(b"def forbidden():\n  textmsg(1)\nend\n")
        code, *_ = struct.unpack_from(">3i", next_message(client, 6))
        assert code == 210
        machine.set_remote(True)
    assert machine.program_name != "forbidden"
    client.close()


def test_going_to_local_control_closes_the_connections(robot: Controller) -> None:
    client = Talker(robot, "primary")
    robot.machine.set_remote(False)
    client.until(lambda: client.ended)


def test_a_script_that_never_ends_coming_is_dropped(robot: Controller) -> None:
    client = Talker(robot, "secondary")
    client.send(b"def endless():\n" + b"  x = 1\n" * 200_000)
    client.until(lambda: client.ended)


def test_a_line_that_never_ends_is_dropped(robot: Controller) -> None:
    client = Talker(robot, "realtime")
    client.send(b"x" * 500_000)
    client.until(lambda: client.ended)
