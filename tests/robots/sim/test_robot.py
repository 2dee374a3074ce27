"""The simulated arm: the contract, and physics against what can be said without a simulator."""

from __future__ import annotations

import math
import time

import numpy as np
import pytest

from tests.robots.contract import RobotContract
from tests.support import ANGULAR, LINEAR, arm, free_config, random_pose
from ur_admittance import Config, Controller, RobotError, RobotModel
from ur_admittance.robots.sim import ScriptedPush, SimRobot, SpringHand
from ur_admittance.robots.sim.scene import Box, Scene, Tool

pytest.importorskip("mujoco")

ARMS = RobotModel.arms()
QUIET = {"realtime": False, "noise": (0.0, 0.0)}
STILL = np.zeros(6)
G = 9.81


class TestSimKeepsTheContract(RobotContract):
    def make(self):
        return SimRobot(realtime=False)


class TestIdealSimKeepsTheContract(RobotContract):
    def make(self):
        return SimRobot(ideal=True, realtime=False)


def block_below(model: RobotModel, gap: float, radius: float = 0.02) -> Box:
    """A block whose top is `gap` m below the ball at P, with the arm at home."""
    x, y, z = model.fk(model.home)[:3, 3]
    return Box((x, y, z - radius - gap - 0.02), (0.2, 0.2, 0.04))


def lower(robot: SimRobot, speed: float, cycles: int) -> None:
    for _ in range(cycles):
        state = robot.wait()
        twist = [0, 0, -speed, 0, 0, 0]
        robot.send_velocity(np.linalg.solve(robot.model.jacobian(state.q), twist))


def turn_elbow(robot: SimRobot, speed: float, cycles: int) -> None:
    for _ in range(cycles):
        robot.wait()
        robot.send_velocity([0, 0, speed, 0, 0, 0])


def wrench_in_W_at_P(robot: SimRobot, wrench: np.ndarray) -> np.ndarray:
    """What the sensor says, moved from S to P and turned into W axes: the test's own algebra."""
    X_WP = robot.X_WP
    X_WS = X_WP @ np.linalg.inv(robot.model.X_EP) @ robot.model.X_ES
    force, torque = X_WS[:3, :3] @ wrench[LINEAR], X_WS[:3, :3] @ wrench[ANGULAR]
    return np.concatenate([force, torque + np.cross(X_WS[:3, 3] - X_WP[:3, 3], force)])


# --- the sensor ---


@pytest.mark.parametrize("ideal", [True, False])
@pytest.mark.parametrize("name", ["ur3e", "ur30"])
def test_the_sensor_feels_weight_and_bias_as_the_configuration_describes_them(name, ideal):
    rng = np.random.default_rng(2)
    bias = rng.uniform(-5, 5, 6)
    model = RobotModel.ur(name, X_EP=random_pose(rng, 0.1), X_ES=random_pose(rng, 0.1))
    tool = Tool(mass=1.7, com=(0.01, -0.02, 0.06))
    for q0 in rng.uniform(-1.5, 1.5, (4, 6)):
        with SimRobot(model, tool=tool, bias=bias, q0=q0, ideal=ideal, **QUIET) as robot:
            state = robot.wait()
            R_SW = (model.fk(q0) @ np.linalg.inv(model.X_EP) @ model.X_ES)[:3, :3].T
            weight = R_SW @ [0, 0, -1.7 * G]
            expected = np.concatenate([weight, np.cross(tool.com, weight)]) + bias
            np.testing.assert_allclose(state.wrench, expected, atol=1e-6)


def test_the_controller_takes_weight_and_bias_out_again():
    config = free_config(
        **{
            "payload.mass": 1.2,
            "payload.center_of_mass": [0.0, 0.01, 0.05],
            "payload.force_bias": [1.0, -2.0, 3.0],
            "payload.torque_bias": [0.1, 0.2, -0.3],
        }
    )
    tool, bias = Tool(mass=1.2, com=(0.0, 0.01, 0.05)), [1, -2, 3, 0.1, 0.2, -0.3]
    with SimRobot(tool=tool, bias=bias, ideal=True, **QUIET) as robot:
        controller = Controller(robot.model, config)
        state = robot.wait()
        controller.activate(state.q)
        out = controller.update(state.q, state.wrench, 0.002)
        np.testing.assert_allclose(out["F_P"], 0, atol=1e-9)


@pytest.mark.parametrize("ideal", [True, False])
def test_a_push_is_felt_as_what_the_world_does_to_the_tool(ideal):
    rng = np.random.default_rng(3)
    model = RobotModel.ur("ur5e", X_EP=random_pose(rng, 0.1), X_ES=random_pose(rng, 0.1))
    push = np.array([10.0, -4.0, 7.0, 0.5, -0.3, 0.2])
    hand = ScriptedPush([(0.0, 9.0, push)])
    with SimRobot(model, hand=hand, ideal=ideal, **QUIET) as robot:
        for _ in range(500):
            state = robot.wait()
        np.testing.assert_allclose(wrench_in_W_at_P(robot, state.wrench), push, atol=1e-3)


def test_the_sensor_feels_the_inertia_of_the_tool():
    """Turning the base from rest with a tool of 2 kg: f = -m a, against the motion."""
    with SimRobot(tool=Tool(mass=2.0), ideal=True, **QUIET) as robot:
        at_rest = robot.wait().wrench.copy()
        model, acceleration = robot.model, 1.0
        robot.send_velocity([acceleration / robot.rate, 0, 0, 0, 0, 0])
        felt = robot.wait().wrench - at_rest
        p = model.fk(model.home)[:3, 3]
        force = model.fk(robot.wait().q)[:3, :3] @ felt[LINEAR]
        expected = -2.0 * np.cross([0, 0, acceleration], p)
        np.testing.assert_allclose(force, expected, atol=1e-3)


def test_noise_has_the_size_asked_for_and_bias_is_its_mean():
    bias = np.array([3.0, 0, 0, 0, 0, -0.2])
    with SimRobot(realtime=False, noise=(0.5, 0.02), bias=bias, seed=4) as robot:
        wrenches = np.array([robot.wait().wrench.copy() for _ in range(2000)])
    np.testing.assert_allclose(wrenches.std(0), [0.5] * 3 + [0.02] * 3, rtol=0.1)
    np.testing.assert_allclose(wrenches.mean(0), bias, atol=0.05)


# --- contact ---


@pytest.mark.parametrize("name", ARMS)
@pytest.mark.parametrize("ideal", [True, False])
def test_contact_is_felt_with_the_right_sign_and_size(name, ideal):
    model, stiffness = arm(name), 15_000.0
    scene = Scene((block_below(model, gap=0.001),), stiffness=stiffness, friction=0.0)
    with SimRobot(model, scene=scene, ideal=ideal, **QUIET) as robot:
        assert not robot.contact_wrench.any()
        lower(robot, 0.01, 150)
        robot.stop()
        for _ in range(400):
            state = robot.wait()
        depth = model.fk(model.home)[2, 3] - 0.001 - robot.X_WP[2, 3]
        assert 0.001 < depth < 0.003
        np.testing.assert_allclose(robot.contact_wrench[2], stiffness * depth, rtol=1e-3)
        felt = wrench_in_W_at_P(robot, state.wrench)
        np.testing.assert_allclose(felt, robot.contact_wrench, atol=0.05)
        np.testing.assert_allclose(state.qd, 0, atol=1e-4)


@pytest.mark.parametrize("name", ARMS)
def test_pressing_hard_stays_bounded_and_quiet(name):
    model = arm(name)
    scene = Scene((block_below(model, gap=0.002),), stiffness=100_000.0, damping=500.0)
    with SimRobot(model, scene=scene, **QUIET) as robot:
        lower(robot, 0.02, 300)
        robot.send_velocity(STILL)
        for _ in range(500):
            robot.wait()
        pressed = np.array(
            [[robot.wait().wrench[2], abs(robot.contact_wrench[2])] for _ in range(50)]
        )
    assert 50 < pressed[0, 1] < 2000
    np.testing.assert_allclose(
        pressed, np.tile([-pressed[0, 1], pressed[0, 1]], (50, 1)), rtol=0.01
    )


def test_friction_drags_against_the_motion():
    model = arm()
    scene = Scene((block_below(model, gap=-0.001),), friction=0.5)
    with SimRobot(model, scene=scene, ideal=True, **QUIET) as robot:
        for _ in range(100):
            state = robot.wait()
            J = model.jacobian(state.q)
            robot.send_velocity(np.linalg.solve(J, [0.05, 0, 0, 0, 0, 0]))
        drag, _, press = robot.contact_wrench[LINEAR]
    assert press > 10
    assert drag == pytest.approx(-0.5 * press, rel=0.02)


# --- time ---


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
        with pytest.raises(RobotError, match="speed_scaling must be 0 to 1"):
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


# --- hands and the controller ---


def test_a_scripted_push_moves_the_controlled_arm_as_the_law_says():
    """10 N on a free axis of 8 kg and 80 N s/m: x = F/D (t - T (1 - exp(-t/T))), T = M/D."""
    for axis in range(3):
        push = np.zeros(6)
        push[axis] = 10.0
        config = free_config(**{"admittance.frame": "base"})
        with SimRobot(ideal=True, realtime=False, hand=ScriptedPush([(0, 9, push)])) as robot:
            controller = Controller(robot.model, config)
            state = robot.wait()
            controller.activate(state.q)
            start, began = robot.X_WP, robot.time
            while robot.time - began < 1.0 - 1e-9:
                out = controller.update(state.q, state.wrench, 1 / robot.rate)
                robot.send_velocity(out["qd"])
                state = robot.wait()
            shift, t, T = robot.X_WP[:3, 3] - start[:3, 3], robot.time - began, 0.1
        expected = 10 / 80 * (t - T * (1 - math.exp(-t / T)))
        assert shift[axis] == pytest.approx(expected, rel=0.01)
        shift[axis] = 0
        np.testing.assert_allclose(shift, 0, atol=1e-4)


@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur20"])
def test_a_hand_leads_a_realistic_arm_along_its_path(name):
    config = Config.preset("hand-guiding")
    model = arm(name)
    p = model.fk(model.home)[:3, 3]
    hand = SpringHand(300.0, 20.0, lambda t: p + np.array([0, 0.1 * min(t, 1.0), 0]))
    with SimRobot(model, hand=hand, realtime=False) as robot:
        controller = Controller(model, config)
        state = robot.wait()
        controller.activate(state.q)
        for _ in range(1500):
            out = controller.update(state.q, state.wrench, 1 / robot.rate)
            robot.send_velocity(out["qd"])
            state = robot.wait()
        assert controller.mode == "active", controller.status_words()
        # the soft deadband leaves a rest of a few newtons, so of a centimetre
        np.testing.assert_allclose(robot.X_WP[:3, 3], p + np.array([0, 0.1, 0]), atol=0.025)


def test_a_hand_that_is_taken_away_pushes_no_more():
    hand = ScriptedPush([(0.0, 9.0, [0, 0, 5.0, 0, 0, 0])])
    for ideal in (True, False):
        with SimRobot(hand=hand, ideal=ideal, **QUIET) as robot:
            for _ in range(100):
                robot.wait()
            assert abs(robot.wait().wrench[2]) > 4
            robot.hand = None
            for _ in range(100):
                robot.wait()
            assert abs(robot.wait().wrench[2]) < 0.05


# --- the end ---


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


# --- errors ---


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"latency": -1}, "latency must be 0 to 1000 whole cycles"),
        ({"sensor_delay": 1.5}, "sensor_delay must be"),
        ({"rate": 5000}, "rate must be 10 to 2000 Hz"),
        ({"servo_bandwidth": 0}, "servo_bandwidth must be"),
        ({"noise": (-1, 0)}, "noise must be 0 or more"),
        ({"q0": [0, 0]}, "q0: must be six numbers"),
        ({"hand": lambda t, X, V: [1, 2]}, "wrench: must be six numbers"),
    ],
)
def test_options_out_of_range_say_what_is_allowed(options, words):
    with pytest.raises(RobotError, match=words), SimRobot(realtime=False, **options) as robot:
        robot.wait()
