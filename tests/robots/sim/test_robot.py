"""The simulated arm: the contract, and its time, commands and stops."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from tests.robots.contract import RobotContract
from tests.robots.sim.support import QUIET, block_below, turn_elbow
from tests.support import arm
from ur_admittance import RobotError, RobotModel
from ur_admittance.robots.sim import ScriptedPush, SimRobot, SpringHand
from ur_admittance.robots.sim.scene import Scene

pytest.importorskip("mujoco")

ARMS = RobotModel.arms()


class TestSimKeepsTheContract(RobotContract):
    def make(self):
        return SimRobot(realtime=False)


class TestIdealSimKeepsTheContract(RobotContract):
    def make(self):
        return SimRobot(ideal=True, realtime=False)


def run_once(seed: int) -> np.ndarray:
    scene = Scene((block_below(arm(), gap=0.001),))
    hand = SpringHand(200.0, 5.0, lambda t: (0.5, 0.1 + 0.05 * math.sin(t), 0.45))
    rows = []
    with SimRobot(scene=scene, hand=hand, realtime=False, seed=seed) as robot:
        for n in range(300):
            state = robot.wait()
            robot.send_velocity(0.1 * np.sin(0.02 * n + np.arange(6)))
            rows.append(np.concatenate([state.q, state.qd, state.wrench, [state.joint_time]]))
    return np.array(rows)


def test_the_same_seed_gives_the_same_run_bit_for_bit():
    first = run_once(5)
    assert np.array_equal(first, run_once(5))
    assert not np.array_equal(first, run_once(6))


@pytest.mark.parametrize("ideal", [True, False])
@pytest.mark.parametrize("latency", [0, 1, 2, 5])
def test_a_command_takes_effect_after_exactly_its_latency(ideal, latency):
    def states(command: bool) -> np.ndarray:
        rows = []
        with SimRobot(ideal=ideal, latency=latency, realtime=False) as robot:
            for n in range(20):
                rows.append(robot.wait().q.copy())
                if command and n >= 5:
                    robot.send_velocity(np.full(6, 0.2))
        return np.array(rows)

    differs = (states(True) != states(False)).any(axis=1)
    assert not differs[: 5 + latency + 1].any()
    assert differs[5 + latency + 1 :].all()


@pytest.mark.parametrize("delay", [0, 1, 4])
def test_the_wrench_is_late_by_exactly_the_sensor_delay(delay):
    start = 10  # cycle whose state is the first to have been pushed
    hand = ScriptedPush([(start * 0.002 - 1e-6, 9.0, [0, 0, 5.0, 0, 0, 0])])
    with SimRobot(ideal=True, sensor_delay=delay, hand=hand, realtime=False) as robot:
        felt = [(s.cycle, s.wrench[2] < -4) for s in (robot.wait() for _ in range(20))]
    assert felt == [(n, n >= start + delay) for n in range(1, 21)]


@pytest.mark.parametrize("ideal", [True, False])
def test_the_watchdog_waits_20_ms_of_simulated_time(ideal):
    with SimRobot(ideal=ideal, latency=0, **QUIET) as robot:
        for _ in range(200):
            robot.wait()
            robot.send_velocity(np.full(6, 0.2))
        speeds = np.array([robot.wait().qd[0] for _ in range(200)])
    np.testing.assert_allclose(speeds[:10], 0.2, rtol=1e-3)
    assert speeds[10] < 0.1998 and abs(speeds[-1]) < 1e-3
    if ideal:  # the slope is the joint's greatest acceleration
        slope = (speeds[10] - speeds[14]) / 0.008
        assert slope == pytest.approx(arm().qdd_max[0], rel=1e-6)


@pytest.mark.parametrize("name", ARMS)
def test_the_joints_follow_as_a_first_order_lag(name):
    lag, dt = 1 / (2 * math.pi * 8.0), 0.002
    with SimRobot(name, servo_bandwidth=8.0, latency=0, **QUIET) as robot:
        q, qd = robot.wait().q.copy(), np.zeros(6)
        for n in range(500):
            command = 0.3 * np.sin(2 * math.pi * n * dt + 0.5 * np.arange(6)) * min(1, n / 100)
            robot.send_velocity(command)
            state = robot.wait()
            kept = math.exp(-dt / lag)
            q += command * dt + (qd - command) * lag * (1 - kept)
            qd = command + (qd - command) * kept
            np.testing.assert_allclose(state.q, q, atol=1e-3)


def test_the_speed_slider_scales_velocities():
    with SimRobot(ideal=True, realtime=False) as robot:
        robot.speed_scaling = 0.3
        robot.send_velocity(np.full(6, 0.2))
        np.testing.assert_allclose(robot.wait().qd, 0.06, rtol=1e-12)
        with pytest.raises(RobotError, match="speed_scaling: must be 0 to 1"):
            robot.speed_scaling = 1.5


def test_velocities_beyond_the_joints_are_cut():
    with SimRobot(ideal=True, realtime=False) as robot:
        robot.send_velocity(np.full(6, 100.0))
        np.testing.assert_allclose(robot.wait().qd, arm().qd_max)


def test_in_real_time_states_keep_to_the_wall_clock():
    with SimRobot(rate=100) as robot:
        before = time.monotonic()
        cycle = robot.wait().cycle
        after = time.monotonic()
        for _ in range(20):
            called = time.monotonic()
            state = robot.wait()
            assert robot.clock() - state.joint_time >= 0
            least, most = 100 * (called - after), 100 * (time.monotonic() - before)
            assert least - 2 <= state.cycle - cycle <= most + 2


def test_in_real_time_a_late_caller_finds_the_arm_gone_on_and_braked():
    with SimRobot(ideal=True, rate=500) as robot:
        for _ in range(10):
            before = robot.wait().cycle
            robot.send_velocity(np.full(6, 0.2))
        time.sleep(0.2)
        state = robot.wait()
        assert state.cycle - before >= 95
        np.testing.assert_allclose(state.qd, 0, atol=1e-9)


@pytest.mark.parametrize("ideal", [True, False])
def test_closing_brakes_the_arm_though_a_hand_pushes_and_the_last_state_tells(ideal):
    hand = ScriptedPush([(0.0, 9.0, [0, 0, 20.0, 0, 0, 0])])
    with SimRobot(hand=hand, ideal=ideal, **QUIET) as robot:
        for _ in range(200):
            state = robot.wait()
            robot.send_velocity(np.full(6, 0.5))
        before = state.q.copy()
        np.testing.assert_allclose(state.qd, 0.5, atol=0.05)
    np.testing.assert_allclose(state.qd, 0, atol=1e-4)
    assert (state.q > before).all(), "it cannot stop dead"
    assert (state.q < before + 0.1).all()


def test_closing_after_physics_that_diverged_is_fine(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # where MuJoCo leaves a log of it
    robot = SimRobot(hand=lambda t, X_WP, V_WP: np.full(6, 1e30), **QUIET)
    robot.connect()
    with pytest.raises(RobotError, match=r"protective stop|diverged"):
        turn_elbow(robot, 0.0, 100)
    robot.close()


@pytest.mark.parametrize("ideal", [True, False])
def test_a_joint_beyond_its_range_is_a_protective_stop(ideal):
    q0 = np.array(arm().home)
    q0[2] = arm().q_max[2] - 0.05
    with SimRobot(q0=q0, ideal=ideal, **QUIET) as robot:
        with pytest.raises(RobotError, match=r"protective stop.*elbow_joint is at 3\.14"):
            turn_elbow(robot, 0.5, 500)
        with pytest.raises(RobotError, match="protective stop"):
            robot.wait()
        robot.stop()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"latency": -1}, "latency must be 0 to 1000 whole cycles"),
        ({"sensor_delay": 1.5}, "sensor_delay must be"),
        ({"rate": 5000}, "rate: must be 10 to 2000 Hz"),
        ({"servo_bandwidth": 0}, "servo_bandwidth: must be"),
        ({"noise": (-1, 0)}, "noise must be 0 or more"),
        ({"q0": [0, 0]}, "q0: must be six numbers"),
        ({"hand": lambda t, X, V: [1, 2]}, "wrench: must be six numbers"),
    ],
)
def test_options_out_of_range_say_what_is_allowed(options, words):
    with pytest.raises(RobotError, match=words), SimRobot(realtime=False, **options) as robot:
        robot.wait()
