"""How the arm moves when a script says so."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ur_fake.scripting import machine_at_rest, play, program, said, steps
from ur_fake.arm.paths import Profile
from ur_fake.machine import Machine

DT = 0.002


def record(machine: Machine, body: str, cycles: int = 5000) -> dict[str, np.ndarray]:
    """Targets and readings of every cycle of a program."""
    names = ("target_q", "target_qd", "actual_q", "target_TCP_pose", "target_TCP_speed")
    rows: dict[str, list] = {name: [getattr(machine, name).copy()] for name in names}
    assert machine.load_script(program(body))
    for _ in range(cycles):
        machine.step()
        for name in names:
            rows[name].append(getattr(machine, name).copy())
        if machine.program is None:
            break
    assert said(machine, "exception") == [] and said(machine, "error") == []
    return {name: np.array(values) for name, values in rows.items()}


# --- the profile on a path ---


@given(st.floats(1e-6, 10), st.floats(0.01, 50), st.floats(0.01, 5))
def test_a_profile_starts_and_ends_at_rest_inside_its_limits(way, a, v):
    profile = Profile(way, a, v)
    t = np.linspace(0, profile.duration, 400)
    s = np.array([profile.at(x) for x in t])
    assert s[0] == 0 and s[-1] == way
    rate = np.diff(s) / np.diff(t)
    assert rate.min() >= -1e-9 and rate.max() <= v * (1 + 1e-6) + 1e-9
    assert np.abs(np.diff(rate)).max() <= a * (t[1] - t[0]) * (1 + 1e-4) + 1e-9
    full = way / v + v / a if v * v <= a * way else 2 * math.sqrt(way / a)
    assert profile.duration == pytest.approx(full)


@given(st.floats(1e-3, 3), st.floats(0.1, 20), st.floats(0.1, 20))
def test_a_profile_with_a_duration_takes_just_so_long(way, a, duration):
    profile = Profile(way, a, 1.0, duration)
    assert profile.duration == pytest.approx(duration)
    assert profile.at(duration) == pytest.approx(way)


# --- moves ---


def test_movej_takes_the_time_of_its_leading_axis_and_the_others_go_along():
    machine = machine_at_rest()
    way, a, v = np.array([0.6, -0.3, 0.1, 0, 0, 0.2]), 1.4, 0.5
    start = machine.target_q.copy()
    rows = record(machine, f"movej({(start + way).tolist()}, a={a}, v={v})")
    q = rows["target_q"]
    np.testing.assert_allclose(q[-1], start + way, atol=1e-12)
    duration = 0.6 / v + v / a
    assert len(q) - 2 == math.ceil(duration / DT)
    t = DT * np.arange(len(q) - 1)
    ramp, top = v / a, 0.6 - v * v / (2 * a)
    s = np.where(t < ramp, a * t**2 / 2, v * (t - ramp / 2))
    s = np.where(t > duration - ramp, 0.6 - a * np.maximum(duration - t, 0) ** 2 / 2, s)
    np.testing.assert_allclose(q[:-1, 0] - start[0], s, atol=1e-9)
    np.testing.assert_allclose((q - start)[:, 1], -0.5 * (q - start)[:, 0], atol=1e-12)
    assert top > 0.1
    assert np.abs(rows["actual_q"] - q).max() < 5e-3  # the arm follows


def test_movej_with_a_time_takes_that_time():
    machine = machine_at_rest()
    end = (machine.target_q + 0.2).tolist()
    assert len(record(machine, f"movej({end}, t=1.5)")["target_q"]) - 2 == 750


def test_movel_goes_straight_at_its_speed():
    machine = machine_at_rest()
    body = "x = get_target_tcp_pose()\nmovel(pose_add(x, p[0.1, 0.1, -0.1, 0, 0, 0]), a=0.5, v=0.1)"
    rows = record(machine, body)
    p = rows["target_TCP_pose"][:, :3]
    way, length = p[-1] - p[0], 0.1 * math.sqrt(3)
    np.testing.assert_allclose(way, [0.1, 0.1, -0.1], atol=1e-6)
    off = (p - p[0]) - np.outer((p - p[0]) @ way / length**2, way)
    assert np.abs(off).max() < 1e-6
    speed = np.linalg.norm(rows["target_TCP_speed"][:, :3], axis=1)
    assert speed.max() == pytest.approx(0.1, rel=1e-3)
    assert len(p) - 2 == math.ceil((length / 0.1 + 0.1 / 0.5) / DT)


def test_movec_keeps_its_distance_from_the_centre():
    machine = machine_at_rest()
    body = "x = get_target_tcp_pose()\nvia = pose_add(x, p[0.1, 0.1, 0, 0, 0, 0])\n"
    body += "movec(via, pose_add(x, p[0.2, 0, 0, 0, 0, 0]), v=0.2)"
    p = record(machine, body)["target_TCP_pose"][:, :3]
    centre = p[0] + [0.1, 0, 0]
    np.testing.assert_allclose(np.linalg.norm(p - centre, axis=1), 0.1, atol=1e-6)
    np.testing.assert_allclose(p[-1], p[0] + [0.2, 0, 0], atol=1e-6)
    assert (p[:, 1] - p[0, 1]).max() == pytest.approx(0.1, abs=1e-4)


def test_a_move_to_where_the_arm_is_takes_one_cycle():
    machine = machine_at_rest()
    assert play(machine, "movej(get_target_joint_positions())") == 2
    assert play(machine, "movel(get_target_tcp_pose())") == 2


# --- speeds ---


def test_speedj_accelerates_to_its_speed_and_returns_there():
    machine = machine_at_rest()
    rows = record(machine, "speedj([0.5, 0, 0, -0.25, 0, 0], a=1)")
    qd = rows["target_qd"]
    np.testing.assert_allclose(qd[1:251, 0], 0.002 * np.arange(1, 251), atol=1e-12)
    np.testing.assert_allclose(qd[:, 3], -0.5 * qd[:, 0], atol=1e-12)
    assert len(qd) - 2 == 250


def test_speedj_holds_its_speed_for_its_time_and_then_the_arm_comes_to_rest():
    machine = machine_at_rest()
    machine.load_script(program("speedj([0.5, 0, 0, 0, 0, 0], a=2, t=1)\nsleep(1)"))
    steps(machine, 500)
    assert machine.target_qd[0] == pytest.approx(0.5)
    steps(machine, 60)
    assert machine.target_qd[0] == 0.0 and machine.program_state == "PLAYING"


def test_speedl_moves_the_tool_point_in_base_axes():
    machine = machine_at_rest()
    before = machine.target_TCP_pose.copy()
    rows = record(machine, "speedl([0.05, 0, -0.02, 0, 0, 0.1], a=1, t=1)")
    np.testing.assert_allclose(rows["target_TCP_speed"][-2], [0.05, 0, -0.02, 0, 0, 0.1], atol=1e-4)
    assert rows["target_TCP_pose"][-2][0] - before[0] == pytest.approx(
        0.05 * (1 - 0.05), rel=2e-3
    )  # both parts take the 0.1 s that the turn needs


def test_stopj_and_stopl_decelerate_as_told():
    machine = machine_at_rest()
    body = "speedj([0.5, 0, 0, 0, 0, 0], a=5, t=0.5)\nstopj(1)"
    assert play(machine, body) == 250 + 250 + 1
    body = "speedl([0.1, 0, 0, 0, 0, 0], a=5, t=0.5)\nstopl(0.5)"
    assert play(machine, body) == pytest.approx(250 + 100 + 1, abs=2)


def test_servoj_follows_a_ramp_late_by_its_lookahead_time():
    machine = machine_at_rest()
    body = "q = get_target_joint_positions()\nn = 0\nwhile n < 500:\n q[0] = q[0] + 0.0004\n"
    body += " servoj(q, t=0.002, lookahead_time=0.1, gain=300)\n n = n + 1\nend"
    rows = record(machine, body)
    behind = 0.0004 * 500 - (rows["target_q"][-2, 0] - rows["target_q"][0, 0])
    assert behind == pytest.approx(0.2 * 0.1, rel=0.05)
    assert rows["target_qd"][-2, 0] == pytest.approx(0.2, rel=1e-3)


def test_servoj_with_a_higher_gain_is_less_late():
    late = []
    for gain in (300, 1200):
        machine = machine_at_rest()
        body = "q = get_target_joint_positions()\nq[0] = q[0] + 0.01\nn = 0\nwhile n < 25:\n"
        play(machine, f"{body} servoj(q, lookahead_time=0.1, gain={gain})\n n = n + 1\nend")
        late.append(0.01 - machine.target_q[0])
    assert late[1] < 0.6 * late[0]


def test_a_program_that_ends_in_motion_leaves_the_arm_to_brake():
    machine = machine_at_rest()
    play(machine, "speedj([0.5, 0, 0, 0, 0, 0], a=5, t=0.5)")
    steps(machine, 100)
    assert not machine.target_qd.any() and abs(machine.actual_qd).max() < 1e-2


# --- speed scaling, pauses ---


def test_the_speed_slider_stretches_a_move():
    machine = machine_at_rest()
    end = (machine.target_q + np.array([0.5, 0, 0, 0, 0, 0])).tolist()
    full = play(machine, f"movej({end}, v=0.5)")
    back = (machine.target_q - np.array([0.5, 0, 0, 0, 0, 0])).tolist()
    machine.speed_slider_mask, machine.speed_slider_fraction = 1, 0.5
    steps(machine, 200)
    assert play(machine, f"movej({back}, v=0.5)") == pytest.approx(2 * full, abs=3)
    assert machine.speed_scaling == machine.target_speed_fraction == 0.5


def test_the_speed_slider_slows_speedj():
    machine = machine_at_rest()
    machine.set_speed_slider(0.25)
    machine.load_script(program("speedj([0.4, 0, 0, 0, 0, 0], a=5, t=2)"))
    steps(machine, 400)
    assert machine.target_qd[0] == pytest.approx(0.1)


def test_a_pause_brings_the_arm_to_rest_on_its_path_and_play_goes_on():
    machine = machine_at_rest()
    end = machine.target_q + np.array([0.5, 0.25, 0, 0, 0, 0])
    start = machine.target_q.copy()
    machine.load_script(program(f"movej({end.tolist()}, v=0.5)"))
    steps(machine, 300)
    machine.pause_program()
    steps(machine, 300)
    assert machine.program_state == "PAUSED" and not machine.target_qd.any()
    way = machine.target_q - start
    assert 0 < way[0] < 0.5 and way[1] == pytest.approx(0.5 * way[0])
    assert machine.resume_program()
    steps(machine, 900)
    np.testing.assert_allclose(machine.target_q, end)
    assert machine.program is None


def test_an_arm_moved_by_hand_while_paused_jumps_no_further_than_the_safety_allows():
    machine = machine_at_rest()
    body = "q = get_target_joint_positions()\nwhile True:\n"
    machine.load_script(program(f"{body} servoj(q, gain=2000, lookahead_time=0.03)\nend"))
    steps(machine, 50)
    machine.pause_program()
    steps(machine, 200)
    moved = machine.actual_q + np.array([1.0, 0, 0, 0, 0, 0])
    machine.hand_move(moved)
    machine.resume_program()
    steps(machine, 300)
    assert machine.safety_mode == 3  # the script asked for a jump: a protective stop
    assert machine.target_q[0] == pytest.approx(moved[0], abs=0.3)


def test_a_move_that_is_paused_and_moved_by_hand_begins_again_from_there():
    machine = machine_at_rest()
    end = machine.target_q + np.array([0.5, 0, 0, 0, 0, 0])
    machine.load_script(program(f"movej({end.tolist()}, v=0.5)"))
    steps(machine, 100)
    machine.pause_program()
    steps(machine, 200)
    machine.hand_move(machine.actual_q + np.array([0, 0.2, 0, 0, 0, 0]))
    machine.resume_program()
    steps(machine, 2000)
    assert machine.program is None and machine.safety_mode == 1
    np.testing.assert_allclose(machine.target_q, end, atol=1e-9)


def test_direct_torque_turns_a_joint_the_way_it_pushes():
    machine = machine_at_rest()
    play(machine, "n = 0\nwhile n < 100:\n direct_torque([5, 0, 0, 0, 0, 0])\n n = n + 1\nend")
    assert machine.actual_q[0] > 0.005 and machine.safety_mode == 1


def test_a_line_near_a_singularity_is_as_fast_as_its_joints_allow():
    machine = machine_at_rest()
    play(machine, "movej([-1.57, -1.6, 1.6, -0.7, 0.7, 0.2], v=3, a=6)")
    goal = "p[-0.0203, 0.363, 0.559, 0.68, -1.083, -2.076]"
    rows = record(machine, f"movel({goal}, a=4, v=1.5)")
    share = (np.abs(rows["target_qd"]) / machine.model.qd_max).max()
    assert 0.8 < share <= 1.0 + 1e-9
    np.testing.assert_allclose(rows["target_TCP_pose"][-1][:3], [-0.0203, 0.363, 0.559], atol=1e-6)
