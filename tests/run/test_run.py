"""The loop, driven by the simulated arm: what it sends, counts, publishes, and how it starts."""

from __future__ import annotations

import json

import numpy as np
import pytest

import ur_admittance as ua
from tests.run.support import simulated
from ur_admittance.blackboard import Blackboard
from ur_admittance.realtime import RealTime
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import ScriptedPush, SimRobot


@pytest.mark.parametrize("mode", ["velocity", "position", "trajectory"])
def test_a_pushed_arm_gives_way_and_the_run_ends_at_rest(mode):
    with simulated() as robot:
        controller = ua.Controller(robot.model, ua.Config.from_dict({"output.mode": mode}))
        start = robot.model.fk(robot.wait().q)[1, 3]
        summary = ua.run(robot, controller, seconds=1.0)
        moved = robot.model.fk(robot.wait().q)[1, 3] - start
    assert summary.mode == "inactive"
    assert not summary.faulted
    assert controller.at_rest
    assert summary.ticks == pytest.approx(500, abs=60)
    assert summary.late == summary.missed == 0
    assert moved > 0.03
    assert 0 < summary.tick.quantile(0.5) < 1.0
    assert summary.period.quantile(0.5) == pytest.approx(0.002, rel=0.1)


def test_a_run_that_the_controller_stops_says_why():
    hard = ScriptedPush([(0.1, 9.0, np.array([0.0, 150.0, 0, 0, 0, 0]))])
    with simulated(hand=hard) as robot:
        config = ua.Config.from_dict({"safety.max_force": 100.0})
        summary = ua.run(robot, ua.Controller(robot.model, config), seconds=5.0)
    assert summary.faulted
    assert summary.seconds < 1.0
    assert summary.reason and summary.reason.code == "over_force"


class Blank(SimRobot):
    """Its first states have a joint angle that is no number."""

    blank = 0  # states

    def wait(self) -> State:
        state = super().wait()
        if self.blank > 0:
            self.blank -= 1
            state.q[3] = np.nan
        return state


def test_single_joint_angles_that_are_no_numbers_do_not_end_a_start():
    with Blank("ur5e", ideal=True, realtime=False) as arm:
        controller = ua.Controller(arm.model)
        arm.blank = 3
        summary = ua.run(arm, controller, seconds=0.1, checked=True)
    assert not summary.faulted and summary.ticks >= 50


def test_an_arm_whose_joint_angles_are_no_numbers_is_not_started():
    with Blank("ur5e", ideal=True, realtime=False) as arm:
        controller = ua.Controller(arm.model)
        arm.blank = 10_000
        with pytest.raises(ua.RobotError, match=r"not all numbers: \[.*nan.*nothing has moved"):
            ua.run(arm, controller, seconds=0.1, checked=True)
    assert controller.mode == "inactive"


def test_another_arm_than_the_controllers_is_refused_before_anything_moves():
    with simulated() as robot:
        other = ua.RobotModel.from_urdf(
            robot.model.to_urdf().replace("elbow_joint", "knee_joint"), base="base_link"
        )
        with pytest.raises(ua.RobotError, match="knee_joint"):
            ua.run(robot, ua.Controller(other, ua.Config()), seconds=1.0)


def test_every_tick_is_on_the_blackboard_and_changes_come_back_from_it():
    with simulated() as robot:
        config = ua.Config()
        controller = ua.Controller(robot.model, config)
        with Blackboard.create("sim:loop-test", robot.rate, controller.live) as board:
            reader = Blackboard.attach("sim:loop-test")
            reader.set({"max_linear_velocity": 0.05})
            summary = ua.run(robot, controller, seconds=1.0, board=board)
            records, _, lost = reader.since(0)
    assert lost == 0
    assert len(records) == summary.ticks
    assert np.all(np.diff(records["tick"]) == 1)
    speeds = np.linalg.norm(records["V_WP_cmd"][:, :3], axis=1)
    assert speeds.max() == pytest.approx(0.05, rel=1e-5)


def test_what_is_not_granted_is_told_before_the_first_tick():
    told = []
    with simulated() as robot:
        wishes = RealTime(priority=0, cpu=100_000, lock_memory=False, awake=False)
        controller = ua.Controller(robot.model, ua.Config())
        summary = ua.run(
            robot,
            controller,
            seconds=0.1,
            real_time=wishes,
            tell=lambda line: told.append((line, controller.mode)),
        )
    assert told == [(summary.refused[0], "inactive")]


def test_a_summary_as_plain_values_can_be_written_as_json():
    with simulated() as robot:
        summary = ua.run(robot, ua.Controller(robot.model, ua.Config()), seconds=0.1)
    plain = json.loads(json.dumps(summary.as_dict()))
    assert plain["ticks"] == summary.ticks
    assert plain["asked"] is False
    assert plain["period"]["p50"] == pytest.approx(0.002, rel=0.1)
    assert plain["tick"]["p50"] <= plain["tick"]["p99"] <= plain["tick"]["max"]


def test_an_arm_that_moves_is_not_activated() -> None:
    class Coasting(SimRobot):
        def wait(self) -> State:
            self.send_velocity(np.full(6, 0.05))
            return super().wait()

    with Coasting("ur5e", ideal=True, realtime=False) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with pytest.raises(ua.RobotError, match="the arm moves: its tool at"):
            ua.run(robot, controller, seconds=1.0)
        assert controller.mode == "inactive"
        with pytest.raises(ua.RobotError, match="activate: the arm moves"):
            controller.activate(robot.model.home, qd=np.full(6, 0.05))
        controller.activate(robot.model.home, qd=np.full(6, 1e-4))


def test_degrees_are_not_taken_for_radians() -> None:
    model = ua.RobotModel.ur("ur5e")
    controller = ua.Controller(model, ua.Config())
    with pytest.raises(ua.RobotError, match=r"cannot be at -90 rad.*are these degrees\?"):
        controller.activate(np.degrees(model.home))
    assert controller.mode == "inactive"


def test_an_arm_that_will_drift_is_told_of_before_it_does() -> None:
    with SimRobot("ur5e", ideal=True, realtime=False, bias=[0, 0, 6.0, 0, 0, 0]) as robot:
        config = ua.Config.preset("hand-guiding").replace({"safety.start_force": 0})
        told: list[str] = []
        ua.run(robot, ua.Controller(robot.model, config), seconds=0.1, tell=told.append)
    assert told == [
        "the sensor feels 6 N that nothing explains, and the deadband takes 2: the arm will drift "
        "at up to 0.067 m/s"
    ]
