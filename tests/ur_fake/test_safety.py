"""Stops and limits: what trips them, and what brings the arm back."""

from __future__ import annotations

import numpy as np
import pytest

from tests.ur_fake.scripting import machine_at_rest, play, program, said, steps
from ur_fake.machine import Machine
from ur_fake.modes import JointMode, RobotMode, SafetyBit, SafetyMode


def running(body: str = "sleep(100)") -> Machine:
    machine = machine_at_rest()
    machine.load_script(program(body))
    machine.step()
    return machine


def bits(machine: Machine) -> set[SafetyBit]:
    return {bit for bit in SafetyBit if machine.safety_status_bits >> bit & 1}


# --- power ---


def test_an_arm_is_powered_and_released_step_by_step():
    machine = Machine()
    assert (machine.robot_mode, machine.robot_status_bits) == (RobotMode.POWER_OFF, 0)
    assert machine.joint_mode == [JointMode.POWER_OFF] * 6
    machine.power_on()
    machine.step()
    assert machine.robot_mode == RobotMode.POWER_ON
    steps(machine, 300)
    assert machine.robot_mode == RobotMode.IDLE and machine.joint_mode == [JointMode.IDLE] * 6
    machine.brake_release()
    steps(machine, 600)
    assert machine.robot_mode == RobotMode.RUNNING and machine.robot_status_bits == 1
    machine.power_off()
    machine.step()
    assert machine.robot_mode == RobotMode.POWER_OFF


def test_brake_release_powers_the_arm_too():
    machine = Machine()
    machine.brake_release()
    seen = []
    for _ in range(600):
        machine.step()
        if machine.robot_mode not in seen:
            seen.append(machine.robot_mode)
    assert seen == [RobotMode.POWER_ON, RobotMode.IDLE, RobotMode.RUNNING]


def test_no_program_starts_without_power():
    machine = Machine()
    machine.load_script(program("sleep(1)"))
    assert machine.program is None and "cannot run" in said(machine, "error")[0]


# --- protective stop ---


@pytest.mark.parametrize(
    "body",
    [
        "speedj([4, 0, 0, 0, 0, 0], a=40, t=1)",
        "speedj([1e6, 0, 0, 0, 0, 0], a=1e9, t=1)",
        "speedl([2, 0, 0, 0, 0, 0], a=40, t=1)",
        "q = get_joint_positions()\nq[0] = q[0] + 1\nwhile True:\n servoj(q, gain=2000)\nend",
        "while True:\n direct_torque([900, 0, 0, 0, 0, 0])\nend",
    ],
    ids=["joint speed", "absurd speed", "tool speed", "jump", "torque"],
)
def test_a_client_that_goes_too_fast_stops_the_arm(body):
    machine = running(body)
    limits = machine.safety.limits
    for _ in range(700):
        machine.step()
        assert (abs(machine.target_qd) <= 1.07 * limits.joint_speed).all()
        assert np.linalg.norm(machine.target_TCP_speed[:3]) <= 1.07 * limits.tcp_speed
    assert machine.safety_mode == SafetyMode.PROTECTIVE_STOP
    assert machine.program_state == "PAUSED" and not machine.target_qd.any()
    assert len(said(machine, "error")) == 1
    assert bits(machine) == {SafetyBit.PROTECTIVE_STOP, SafetyBit.STOPPED_DUE_TO_SAFETY}


def test_a_move_that_is_told_to_be_too_fast_is_only_as_fast_as_it_may_be():
    machine = machine_at_rest()
    end = (machine.target_q + np.array([1.5, 0, 0, 0, 0, 0])).tolist()
    machine.load_script(program(f"movej({end}, a=30, v=100)"))
    fastest = 0.0
    while machine.program is not None:
        machine.step()
        fastest = max(fastest, float(np.linalg.norm(machine.target_TCP_speed[:3])))
    assert machine.safety_mode == SafetyMode.NORMAL
    assert 1.0 < fastest <= 1.07 * machine.safety.limits.tcp_speed


def test_a_joint_limit_stops_the_arm_before_it():
    machine = running("speedj([0, 0, 1.5, 0, 0, 0], a=5, t=9)")
    steps(machine, 1500)
    assert machine.safety_mode == SafetyMode.PROTECTIVE_STOP
    assert np.pi - 0.1 < machine.actual_q[2] <= np.pi


def test_an_unlocked_arm_waits_for_play_and_then_goes_on():
    machine = running("sleep(0.1)\nwrite_output_integer_register(0, 7)")
    machine.protective_stop("test")
    assert not machine.resume_program()
    assert machine.unlock_protective_stop() and not machine.unlock_protective_stop()
    steps(machine, 100)
    assert machine.program_state == "PAUSED" and machine.safety_mode == SafetyMode.NORMAL
    assert machine.resume_program()
    steps(machine, 100)
    assert machine.output_int[0] == 7 and machine.program is None


def test_a_move_goes_on_after_a_protective_stop():
    machine = machine_at_rest()
    end = machine.target_q + np.array([0.4, 0, 0, 0, 0, 0])
    machine.load_script(program(f"movej({end.tolist()}, v=0.5)"))
    steps(machine, 200)
    machine.protective_stop("test")
    steps(machine, 100)
    assert not machine.target_qd.any()
    machine.unlock_protective_stop()
    machine.resume_program()
    steps(machine, 1000)
    np.testing.assert_allclose(machine.target_q, end)


def test_a_script_can_stop_itself_protectively():
    machine = running("protective_stop()\nsleep(1)")
    steps(machine, 3)
    assert machine.safety_mode == SafetyMode.PROTECTIVE_STOP


def test_an_arm_that_cannot_follow_is_stopped():
    machine = machine_at_rest(
        hand=lambda t, X, V: [4000.0, 0, 0, 0, 0, 0] if t > 0.2 else [0.0] * 6
    )
    steps(machine, 500)
    assert machine.safety_mode == SafetyMode.PROTECTIVE_STOP
    assert "deviates" in said(machine, "error")[0]


# --- other stops ---


def test_a_safeguard_stop_pauses_the_program_and_ends_with_its_cause():
    machine = running("speedj([0.3, 0, 0, 0, 0, 0], a=2, t=1)")
    steps(machine, 200)
    machine.safeguard_stop()
    steps(machine, 300)
    assert machine.safety_mode == SafetyMode.SAFEGUARD_STOP and machine.program_state == "PAUSED"
    assert not machine.target_qd.any()
    machine.safeguard_stop(False)
    steps(machine, 200)
    assert machine.safety_mode == SafetyMode.NORMAL and machine.program_state == "PLAYING"
    assert machine.target_qd[0] == pytest.approx(0.3)


@pytest.mark.parametrize(
    ("system", "mode"),
    [(False, SafetyMode.ROBOT_EMERGENCY_STOP), (True, SafetyMode.SYSTEM_EMERGENCY_STOP)],
)
def test_an_emergency_stop_ends_the_program_and_takes_the_power(system, mode):
    machine = running("speedj([0.5, 0, 0, 0, 0, 0], a=2, t=5)")
    steps(machine, 300)
    machine.emergency_stop(system)
    steps(machine, 100)
    assert machine.safety_mode == mode and machine.robot_mode == RobotMode.POWER_OFF
    assert machine.program_state == "STOPPED" and abs(machine.actual_qd).max() < 0.01
    assert SafetyBit.EMERGENCY_STOP in bits(machine)
    machine.brake_release()
    steps(machine, 600)
    assert machine.robot_mode == RobotMode.POWER_OFF  # the button is still in
    machine.release_emergency_stop()
    machine.brake_release()
    steps(machine, 600)
    assert machine.robot_mode == RobotMode.RUNNING and machine.safety_mode == SafetyMode.NORMAL


def test_a_violation_needs_a_restart_of_the_safety_system():
    machine = running()
    assert not machine.restart_safety()
    machine.safety_violation()
    assert machine.safety_mode == SafetyMode.VIOLATION
    assert machine.restart_safety() and machine.safety_mode == SafetyMode.NORMAL
    assert machine.robot_mode == RobotMode.POWER_OFF


def test_reduced_mode_halves_the_limits():
    machine = machine_at_rest()
    machine.set_reduced()
    assert machine.safety_mode == SafetyMode.REDUCED and SafetyBit.REDUCED in bits(machine)
    play(machine, "speedj([1.2, 0, 0, 0, 0, 0], a=5, t=0.5)\nstopj(5)")
    assert machine.safety_mode == SafetyMode.REDUCED
    machine.load_script(program("speedj([2, 0, 0, 0, 0, 0], a=5, t=1)"))
    steps(machine, 500)
    assert machine.safety_mode == SafetyMode.PROTECTIVE_STOP


# --- hands ---


def test_freedrive_gives_way_to_a_hand_and_holds_without_one():
    machine = machine_at_rest(
        hand=lambda t, X, V: [30.0, 0, 0, 0, 0, 0] if 0.1 < t < 1.0 else [0.0] * 6
    )
    machine.set_freedrive()
    x = machine.actual_TCP_pose[0]
    steps(machine, 400)
    assert machine.actual_TCP_pose[0] - x > 0.03
    steps(machine, 200)
    still = machine.actual_q.copy()
    steps(machine, 300)
    np.testing.assert_allclose(machine.actual_q, still, atol=1e-3)


def test_an_arm_without_freedrive_does_not_give_way():
    machine = machine_at_rest(hand=lambda t, X, V: [30.0, 0, 0, 0, 0, 0])
    x = machine.actual_TCP_pose[0]
    steps(machine, 400)
    assert abs(machine.actual_TCP_pose[0] - x) < 0.01
