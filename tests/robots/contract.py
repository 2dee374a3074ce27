"""What every robot backend must do. A backend's test file subclasses `RobotContract`."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from ur_admittance import RobotError, RobotModel
from ur_admittance.robots.base import Robot

STILL = np.zeros(6)


class RobotContract:
    """Subclasses say how to make a robot: at rest, free to move, nothing pushing it."""

    SPEED = 0.2  # rad/s, slow enough for any arm
    SETTLE = 0.5  # s, by which a command has certainly had its effect

    def make(self) -> Robot:
        raise NotImplementedError

    @pytest.fixture
    def robot(self):
        with self.make() as robot:
            yield robot

    def run(self, robot: Robot, seconds: float, qd: np.ndarray | None = None) -> np.ndarray:
        """Wait through `seconds`, sending `qd` every cycle if there is one; the last q."""
        state = robot.wait()
        for _ in range(max(1, round(seconds * robot.rate))):
            if qd is not None:
                robot.send_velocity(qd)
            state = robot.wait()
        return state.q.copy()

    def test_it_says_who_it_is(self, robot):
        assert isinstance(robot.model, RobotModel)
        assert robot.name and robot.wrench_frame
        assert 10 <= robot.rate <= 2000
        assert isinstance(robot.wrench_compensated, bool)

    def test_a_state_is_six_finite_numbers_of_each(self, robot):
        state = robot.wait()
        for values in (state.q, state.qd, state.wrench):
            assert values.shape == (6,) and values.dtype == np.float64
            assert np.isfinite(values).all()
        assert (state.q >= robot.model.q_min).all() and (state.q <= robot.model.q_max).all()

    def test_a_look_before_the_first_wait_is_a_whole_state_of_an_arm_that_stands(self, robot):
        seen = robot.look().q.copy()
        assert np.isfinite(robot.look().wrench).all()
        np.testing.assert_allclose(robot.wait().q, seen, atol=1e-4)

    def test_as_long_as_nothing_is_wrong_nothing_stands_against_leading_it(self, robot):
        robot.wait()
        robot.keep_frame()
        assert np.isfinite(robot.wait().wrench).all()
        assert robot.trouble() is robot.rivals() is None

    def test_states_arrive_at_the_rate_with_times_that_only_grow(self, robot):
        times, cycles = [], []
        for _ in range(50):
            state = robot.wait()
            assert state.joint_time <= robot.clock() and state.wrench_time <= robot.clock()
            times.append(state.joint_time)
            cycles.append(state.cycle)
        assert all(b > a for a, b in pairwise(times))
        assert all(b > a for a, b in pairwise(cycles))
        seconds_a_cycle = (times[-1] - times[0]) / (cycles[-1] - cycles[0])
        assert seconds_a_cycle == pytest.approx(1 / robot.rate, rel=0.1)

    def test_it_stands_still_until_told_otherwise(self, robot):
        before = robot.wait().q.copy()
        np.testing.assert_allclose(self.run(robot, 0.1), before, atol=1e-4)

    @pytest.mark.parametrize("joint", range(6))
    @pytest.mark.parametrize("sign", [1, -1])
    def test_a_velocity_turns_that_joint_that_way(self, robot, joint, sign):
        qd = STILL.copy()
        qd[joint] = sign * self.SPEED
        before = robot.wait().q.copy()
        moved = self.run(robot, self.SETTLE, qd) - before
        assert 0.5 * self.SETTLE * self.SPEED < sign * moved[joint] < 1.1 * self.SETTLE * self.SPEED
        moved[joint] = 0
        np.testing.assert_allclose(moved, 0, atol=2e-3)

    def test_a_velocity_is_reached(self, robot):
        qd = np.array([0.5, -0.3, 0.4, 1, -1, 0.8]) * self.SPEED
        self.run(robot, self.SETTLE, qd)
        np.testing.assert_allclose(robot.wait().qd, qd, atol=0.05 * self.SPEED)

    def test_a_position_that_creeps_is_followed_and_held(self, robot):
        start, way = robot.wait().q.copy(), np.full(6, 0.05)
        cycles = round(self.SETTLE * robot.rate)
        for n in range(cycles):
            robot.send_position(start + way * (n + 1) / cycles)
            robot.wait()
        np.testing.assert_allclose(self.run(robot, self.SETTLE), start + way, atol=1e-3)
        np.testing.assert_allclose(robot.wait().qd, 0, atol=1e-3)

    def test_a_trajectory_point_is_reached_in_its_time_and_held(self, robot):
        goal = robot.wait().q + 0.1
        robot.send_trajectory(goal, STILL, self.SETTLE)
        halfway = self.run(robot, self.SETTLE / 2)
        assert (goal - halfway > 0.02).all()
        np.testing.assert_allclose(self.run(robot, self.SETTLE), goal, atol=1e-3)
        np.testing.assert_allclose(robot.wait().qd, 0, atol=1e-3)

    def test_stop_comes_to_rest_and_holds(self, robot):
        self.run(robot, self.SETTLE, np.full(6, self.SPEED))
        robot.stop()
        at_rest = self.run(robot, self.SETTLE)
        np.testing.assert_allclose(robot.wait().qd, 0, atol=1e-3)
        np.testing.assert_allclose(self.run(robot, 0.1), at_rest, atol=1e-4)

    def test_after_a_stop_a_command_moves_it_again(self, robot):
        robot.stop()
        before = self.run(robot, 0.1)
        assert (self.run(robot, self.SETTLE, np.full(6, self.SPEED)) > before + 0.01).all()

    def test_silence_trips_the_watchdog_and_it_comes_to_rest(self, robot):
        self.run(robot, self.SETTLE, np.full(6, self.SPEED))
        self.run(robot, self.SETTLE)
        np.testing.assert_allclose(robot.wait().qd, 0, atol=1e-3)

    def test_a_short_silence_is_bridged(self, robot):
        self.run(robot, self.SETTLE, np.full(6, self.SPEED))
        for _ in range(max(1, round(0.008 * robot.rate))):
            state = robot.wait()
        np.testing.assert_allclose(state.qd, self.SPEED, atol=0.1 * self.SPEED)

    @pytest.mark.parametrize("wrong", [np.zeros(5), np.zeros((6, 1)), 1.0, "fast", None])
    def test_wrong_shapes_are_refused(self, robot, wrong):
        for send in (robot.send_velocity, robot.send_position):
            with pytest.raises(RobotError, match="six numbers"):
                send(wrong)
        with pytest.raises(RobotError, match="six numbers"):
            robot.send_trajectory(wrong, STILL, 1.0)

    @pytest.mark.parametrize("wrong", [np.nan, np.inf])
    def test_numbers_that_are_none_are_refused(self, robot, wrong):
        with pytest.raises(RobotError, match="finite"):
            robot.send_velocity([0, 0, wrong, 0, 0, 0])
        for seconds in (wrong, 0.0, -1.0, 3601.0, "soon", None):
            with pytest.raises(RobotError, match="time_from_start: must be above 0 and at most"):
                robot.send_trajectory(robot.wait().q, STILL, seconds)

    def test_a_command_may_be_changed_by_its_owner_after_sending(self, robot):
        qd = np.full(6, self.SPEED)
        before = robot.wait().q.copy()
        for _ in range(round(self.SETTLE * robot.rate)):
            qd[:] = self.SPEED
            robot.send_velocity(qd)
            qd[:] = -self.SPEED
            state = robot.wait()
        assert (state.q > before).all()

    def test_closing_twice_is_fine_and_using_it_after_is_not(self):
        robot = self.make()
        robot.connect()
        robot.wait()
        robot.close()
        robot.close()
        for use in (
            robot.wait,
            robot.stop,
            robot.connect,
            lambda: robot.send_velocity(STILL),
            lambda: robot.send_position(STILL),
            lambda: robot.send_trajectory(STILL, STILL, 1.0),
        ):
            with pytest.raises(RobotError, match="closed"):
                use()

    def test_it_must_be_connected_once_before_use(self):
        robot = self.make()
        with pytest.raises(RobotError, match="call connect"):
            robot.wait()
        with pytest.raises(RobotError, match="call connect"):
            robot.send_velocity(STILL)
        robot.connect()
        with pytest.raises(RobotError, match="already"):
            robot.connect()
        robot.close()
