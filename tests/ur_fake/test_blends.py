"""Moves with a blend radius: the next one begins before the arm is at rest."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ur_fake.scripting import failure, machine_at_rest, play, program, steps
from tests.ur_fake.test_motion import DT, record

JOINTS = "q = get_target_joint_positions()\n"
POSE = "x = get_target_tcp_pose()\n"


def joints(*way: float) -> str:
    """`q` and so much more."""
    return "[" + ", ".join(f"q[{n}] + {w}" for n, w in enumerate(way)) + "]"


TO_A, TO_B = np.array([0.3, 0, 0, 0, 0, 0]), np.array([0.3, 0.3, 0, 0, 0, 0])
A, B = joints(*TO_A), joints(*TO_B)


def corner(rows: dict[str, np.ndarray], at: np.ndarray) -> float:
    """How near the tool comes to a point, m."""
    return float(np.linalg.norm(rows["target_TCP_pose"][:, :3] - at, axis=1).min())


def test_two_moves_of_the_joints_meet_in_a_round_corner():
    body = f"{JOINTS}movej({A}, a=2, v=0.5, r=%s)\nmovej({B}, a=2, v=0.5)"
    sharp, round_ = (record(machine_at_rest(), body % r) for r in (0, 0.05))
    start = sharp["target_q"][0]
    for rows in (sharp, round_):
        np.testing.assert_allclose(rows["target_q"][-1], start + TO_B, atol=1e-12)
    reached = int(np.argmax(sharp["target_q"][:, 1] != start[1])) - 1
    at = sharp["target_TCP_pose"][reached, :3]
    assert corner(sharp, at) < 1e-9
    assert 1e-3 < corner(round_, at) <= 0.05
    assert len(round_["target_q"]) < len(sharp["target_q"]) - 50
    inside = slice(50, -50)
    assert np.abs(round_["target_qd"][inside]).max(axis=1).min() > 0.1  # never at rest
    qdd = np.diff(round_["target_qd"][:-1], axis=0) / DT
    assert np.abs(qdd).max() <= 2 * 2 + 1e-6


def test_on_a_straight_line_a_blend_keeps_the_speed():
    further = joints(0.6, 0, 0, 0, 0, 0)
    body = f"{JOINTS}movej({A}, a=2, v=0.5, r=0.5)\nmovej({further}, a=2, v=0.5)"
    qd = record(machine_at_rest(), body)["target_qd"][:, 0]
    ramp = round(0.5 / 2 / DT)
    np.testing.assert_allclose(qd[ramp + 2 : -ramp - 4], 0.5, atol=0.006)  # 0.004 is a cycle's


def test_a_narrow_radius_makes_a_slow_corner():
    slowest = []
    for radius in (0.002, 0.01, 0.2):
        body = f"{JOINTS}movej({A}, a=1, v=0.5, r={radius})\nmovej({B}, a=1, v=0.5)"
        qd = record(machine_at_rest(), body)["target_qd"]
        slowest.append(np.abs(qd[100:-100]).max(axis=1).min())
    assert 0 < slowest[0] < slowest[1] < slowest[2]


@pytest.mark.parametrize("first", ["movel", "movep"])
def test_two_lines_of_the_tool_meet_in_a_round_corner(first: str):
    """Away from the corner both are straight."""
    body = (
        f"{POSE}{first}(pose_add(x, p[0, 0, -0.1, 0, 0, 0]), a=1, v=0.25, r=0.02)\n"
        "movel(pose_add(x, p[0, 0.1, -0.1, 0, 0, 0]), a=1, v=0.25)"
    )
    p = (rows := record(machine_at_rest(), body))["target_TCP_pose"][:, :3]
    p = p - p[0]
    assert 1e-3 < corner(rows, rows["target_TCP_pose"][0, :3] + [0, 0, -0.1]) <= 0.02
    np.testing.assert_allclose(p[-1], [0, 0.1, -0.1], atol=1e-6)
    assert np.abs(p[p[:, 2] > -0.08][:, :2]).max() < 1e-6
    assert np.abs(p[p[:, 1] > 0.021][:, 2] + 0.1).max() < 1e-5
    assert np.linalg.norm(rows["target_TCP_speed"][60:-60, :3], axis=1).min() > 0.05


def test_a_move_of_the_joints_blends_into_a_circle():
    body = (
        f"{JOINTS}movej({A}, a=2, v=0.5, r=0.03)\nx = get_forward_kin({A})\n"
        "movec(pose_add(x, p[0, 0.05, -0.05, 0, 0, 0]), pose_add(x, p[0, 0, -0.1, 0, 0, 0]), a=1)"
    )
    rows = record(machine_at_rest(), body)
    machine = machine_at_rest()
    end = machine.kinematics.pose(machine.target_q + TO_A)
    np.testing.assert_allclose(
        rows["target_TCP_pose"][-1, :3], np.add(end[:3], [0, 0, -0.1]), atol=1e-6
    )
    assert np.abs(rows["target_qd"][50:-100]).max(axis=1).min() > 0.05


def test_the_program_goes_on_where_the_blend_begins():
    machine = machine_at_rest()
    body = f"{JOINTS}movej({A}, a=2, v=0.5, r=0.05)\ny = get_target_joint_positions()\n"
    play(machine, f"{body}write_output_float_register(0, y[0] - q[0])\nmovej({B})")
    assert 0.2 < machine.output_double[0] < 0.29


def test_a_blend_into_nothing_ends_at_its_point_at_rest():
    machine = machine_at_rest()
    start = machine.target_q.copy()
    play(machine, f"{JOINTS}movej({A}, a=2, v=0.5, r=0.05)\nsleep(1)")
    np.testing.assert_allclose(machine.target_q, start + TO_A, atol=1e-12)


def test_a_blend_into_a_move_without_a_way_ends_at_its_point():
    machine = machine_at_rest()
    start = machine.target_q.copy()
    play(machine, f"{JOINTS}movej({A}, a=2, v=0.5, r=0.05)\nmovej({A})")
    np.testing.assert_allclose(machine.target_q, start + TO_A, atol=1e-12)


def test_a_blend_into_a_speed_or_a_stop_is_left_where_it_is():
    for then in ("stopj(2)", "speedj([0, 0.1, 0, 0, 0, 0], 2, 0.5)\nstopj(2)"):
        machine = machine_at_rest()
        start = machine.target_q[0]
        play(machine, f"{JOINTS}movej({A}, a=2, v=0.5, r=0.05)\n{then}")
        assert 0.2 < machine.target_q[0] - start < 0.32 and machine.safety_mode == 1


@pytest.mark.parametrize("stop", ["pause_program", "protective_stop"])
def test_a_blend_that_is_stopped_goes_on_to_the_end(stop: str):
    machine = machine_at_rest()
    end = machine.target_q + TO_B
    body = f"{JOINTS}movej({A}, a=2, v=0.5, r=0.05)\nmovej({B}, a=2, v=0.5)"
    machine.load_script(program(body))
    for _ in range(1000):
        machine.step()
        if machine.motion.blended is not None:
            break
    steps(machine, 10)
    getattr(machine, stop)()
    steps(machine, 300)
    assert not machine.target_qd.any()
    machine.unlock_protective_stop()
    machine.resume_program()
    steps(machine, 1500)
    assert machine.program is None and machine.safety_mode == 1
    np.testing.assert_allclose(machine.target_q, end, atol=1e-9)


def test_a_negative_radius_is_an_error():
    machine = machine_at_rest()
    play(machine, f"{JOINTS}movej({A}, r=-0.01)")
    assert "radius" in failure(machine)[0]
