"""What clients read agrees with itself and with the arm: poses, forces, speeds, over the wire."""

from __future__ import annotations

import itertools
import struct
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.ur_fake.support import RtdeTalker, Talker, controller
from ur_admittance.model import RobotModel
from ur_admittance.robots.sim.scene import Scene, Tool, table
from ur_fake.server import Controller

_COUNT = itertools.count()


@pytest.fixture
def robot() -> Iterator[Controller]:
    with controller(noise=(0.0, 0.0)) as made:
        yield made


def run(robot: Controller, body: str) -> None:
    """A script through the secondary port, until it has ended."""
    client = Talker(robot, "secondary")
    lines = "\n".join(f"  {line}" for line in body.strip().splitlines())
    name = f"test_{next(_COUNT)}"
    client.send(f"def {name}():\n{lines}\nend\n".encode())
    client.until(lambda: robot.machine.program_name == name)
    client.until(lambda: robot.machine.program_state == "STOPPED")
    client.close()


def read(robot: Controller, names: str, layout: str) -> tuple[float, ...]:
    """One data package."""
    client = RtdeTalker(robot)
    client.outputs(names)
    client.exchange("S")
    values = struct.unpack(">" + layout, client.data())
    client.close()
    robot.step()
    return values


def test_the_pose_is_the_models_under_the_tcp_that_is_set(robot: Controller) -> None:
    run(robot, "set_tcp(p[0.03, -0.02, 0.15, 0.2, 0.1, -0.3])\nmovej([0.4,-1.2,1.4,-1.7,-1.3,0.6])")
    values = np.array(read(robot, "actual_q,actual_TCP_pose,tcp_offset", "18d"))
    q, pose, offset = values[:6], values[6:12], values[12:]
    assert np.allclose(offset, [0.03, -0.02, 0.15, 0.2, 0.1, -0.3])
    X_EP = np.eye(4)
    X_EP[:3, :3] = Rotation.from_rotvec(offset[3:]).as_matrix()
    X_EP[:3, 3] = offset[:3]
    X_WP = RobotModel.ur("ur5e", base="base", X_EP=X_EP).fk(q)
    assert np.allclose(pose[:3], X_WP[:3, 3], atol=1e-9)
    assert np.allclose(Rotation.from_rotvec(pose[3:]).as_matrix(), X_WP[:3, :3], atol=1e-9)


def test_speed_is_the_derivative_of_the_pose(robot: Controller) -> None:
    client = Talker(robot, "secondary")
    client.send(b"def test():\n  speedj([0.3, 0.2, -0.2, 0.1, 0.3, -0.2], 3, 5)\nend\n")
    since = robot.machine.time
    client.until(lambda: robot.machine.time > since + 0.5)
    reader = RtdeTalker(robot)
    reader.outputs("actual_TCP_pose,actual_TCP_speed,actual_qd")
    reader.exchange("S")
    rows = np.array([struct.unpack(">18d", reader.data()) for _ in range(20)])
    measured = np.diff(rows[:, :3], axis=0) / 0.002
    assert np.allclose(measured, (rows[1:, 6:9] + rows[:-1, 6:9]) / 2, atol=2e-3)
    assert np.allclose(rows[-1, 12:], [0.3, 0.2, -0.2, 0.1, 0.3, -0.2], atol=2e-3)
    turns = Rotation.from_rotvec(rows[1:, 3:6]) * Rotation.from_rotvec(rows[:-1, 3:6]).inv()
    assert np.allclose(turns.as_rotvec() / 0.002, rows[1:, 9:12], atol=1e-2)
    client.close()
    reader.close()


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_a_push_along_an_axis_of_the_base_is_felt_along_it(robot: Controller, axis: int) -> None:
    run(robot, "movej([0.4,-1.2,1.4,-1.7,-1.3,0.6])")
    wrench = [0.0] * 6
    wrench[axis] = 20.0
    robot._push(wrench, seconds=10.0)
    for _ in range(50):
        robot.step()
    values = np.array(read(robot, "actual_TCP_force,ft_raw_wrench,actual_TCP_pose", "18d"))
    assert np.allclose(values[:3], wrench[:3], atol=0.5)
    R_WE = Rotation.from_rotvec(values[15:]).as_matrix()  # no TCP: the tool point is the flange
    assert np.allclose(R_WE @ values[6:9], wrench[:3], atol=0.5)


def test_a_table_pushes_up(robot: Controller) -> None:
    """A tool that comes down on a table is pushed along +z of the base, as hard as the contact."""
    surface = robot.machine.actual_TCP_pose[2] - 0.02 - 0.01  # the ball's radius, and a gap
    scene = Scene((table(surface, x=-0.5),))
    with controller(noise=(0.0, 0.0), scene=scene, tool=Tool(mass=0.0)) as other:
        client = Talker(other, "secondary")
        client.send(b"def down():\n  speedl([0, 0, -0.02, 0, 0, 0], 1, 10)\nend\n")
        client.until(lambda: other.machine.actual_TCP_force[2] > 10.0)
        other.machine.stop_program()
        for _ in range(200):
            other.step()
        force = np.array(read(other, "actual_TCP_force", "6d"))
        depth = surface + 0.02 - other.machine.actual_TCP_pose[2]
        assert force[2] == pytest.approx(scene.stiffness * depth, rel=0.2)
        assert np.abs(force[:2]).max() < 0.35 * force[2]
        client.close()


def test_half_the_speed_takes_twice_the_time(robot: Controller) -> None:
    def seconds() -> float:
        run(robot, "movej([0, -1.57, 1.57, -1.57, -1.57, 0])")
        since = robot.machine.time
        run(robot, "movej([0.6, -1.57, 1.57, -1.57, -1.57, 0], a=10, v=0.3)")
        return robot.machine.time - since

    whole = seconds()
    robot.machine.set_speed_slider(0.5)
    assert read(robot, "target_speed_fraction", "d") == (0.5,)
    assert seconds() == pytest.approx(2 * whole, rel=0.1)


def test_a_loop_that_never_waits_is_stopped_and_nobody_notices(robot: Controller) -> None:
    honest = RtdeTalker(robot)
    honest.outputs("timestamp")
    honest.exchange("S")
    first = struct.unpack(">d", honest.data())[0]
    client = Talker(robot, "primary")
    client.send(b"def spin():\n  while True:\n    x = 1\n  end\nend\n")
    client.until(lambda: robot.machine.program_name == "spin")
    client.until(lambda: robot.machine.program_state == "STOPPED")
    times = [first]
    while times[-1] < robot.machine.time - 0.001:
        times.append(struct.unpack(">d", honest.data())[0])
    assert np.allclose(np.diff(times), 0.002, atol=1e-9)
    client.close()
    honest.close()
