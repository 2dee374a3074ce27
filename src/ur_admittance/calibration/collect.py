"""Readings of an arm at rest: from a robot that stands, or from a long recording of one.

At each pose the arm is waited for, then half a second is taken; what is not still is taken again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ur_admittance.calibration.measured import Measured
from ur_admittance.errors import CalibrationError, RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.motion.joints import JointPath
from ur_admittance.robots.base import Robot
from ur_admittance.run import Run

SECONDS = 0.5  # of readings in a pose
_SETTLE = 0.3  # s at rest before them
_TRIES = 5
_STILL, _STILL_RATE = 0.002, 0.01  # rad that a joint may move meanwhile, rad/s
_FEWEST = 20  # readings in a pose
_FORCE, _TORQUE = 120.0, 20.0  # N, Nm of change on the way, beyond which it has hit something
_APART = 0.1  # rad between two poses of a recording


def sensor_axes(model: RobotModel, q: np.ndarray) -> np.ndarray:
    """R_WS (3, 3) at joint angles q, rad (6,)."""
    return (model.fk(q) @ np.linalg.inv(model.X_EP) @ model.X_ES)[:3, :3]


def gather(robot: Robot, *, seconds: float = SECONDS) -> Measured:
    """Wait for rest, and take the readings of so many seconds.

    Raises:
        CalibrationError: the arm does not come to rest, or no readings come.
    """
    why = ""
    for _ in range(_TRIES):
        _pass(robot, _SETTLE)
        q, samples, began, moved, rate = [], [], robot.clock(), 0.0, 0.0
        last = -np.inf
        while robot.clock() < began + seconds:
            state = robot.wait()
            if robot.stopped_by:
                raise CalibrationError(f"calibrate: {robot.stopped_by}")
            q.append(state.q.copy())
            rate = max(rate, float(np.abs(state.qd).max()))
            if state.wrench_time > last:  # a sensor may be slower than the arm
                samples.append(state.wrench.copy())
                last = state.wrench_time
        moved = float(np.ptp(q, axis=0).max())
        if len(samples) < min(_FEWEST, 0.1 * seconds * robot.rate):
            why = f"only {len(samples)} readings came in {seconds:g} s; "
            why += robot.wrench_problem or (
                "does the sensor run, and has this machine the time? ur-admittance doctor looks at "
                "both"
            )
        elif not (moved <= _STILL and rate <= _STILL_RATE):
            why = f"a joint moved by {moved:.4f} rad, at up to {rate:.3f} rad/s; hold it still"
        else:
            mean = np.mean(q, axis=0)
            return Measured(sensor_axes(robot.model, mean), np.array(samples), robot.clock(), mean)
    raise CalibrationError(f"calibrate: {why}")


def through(
    run: Run,
    ways: Sequence[JointPath],
    taken: Callable[[list[Measured]], None] = lambda measured: None,
) -> list[Measured]:
    """Lead the arm along the ways, and gather at the end of each.

    Args:
        run: gives the limits on the way. Bias and payload need not be known: what stops the arm
            is a change of force of more than 120 N, or of torque of 20 Nm, since the start.
        taken: called with all that is known after each pose.
    """
    robot = run.robot
    words = f"{robot.name} will turn its wrist through {len(ways)} poses"
    run.assent.require("lead", words, simulated=robot.simulated)  # before anything is started on it
    first = gather(robot)
    taken([first])
    reading = first.samples.mean(axis=0)
    safety = run.config.safety
    watched = run.config.replace(
        {
            "payload.mass": 0.0,
            "payload.force_bias": np.clip(reading[LINEAR], -1000, 1000).tolist(),
            "payload.torque_bias": np.clip(reading[ANGULAR], -200, 200).tolist(),
            "safety.max_force": min(safety.max_force, _FORCE),
            "safety.max_torque": min(safety.max_torque, _TORQUE),
        }
    )
    measured = [first]
    for way in ways:
        here = robot.wait().q.copy()
        run.lead(way.begun_at(here), watched, "calibrate")
        measured.append(gather(robot))
        taken(measured)
    return measured


def stretches(time: np.ndarray, R_WS: np.ndarray, wrench: np.ndarray) -> list[Measured]:
    """The poses in a long run of samples: where the orientation stands still for half a second.

    Args:
        time: (n,) s, rising.
        R_WS: (n, 3, 3) orientations of the sensor.
        wrench: (n, 6) readings, N and Nm.

    Raises:
        CalibrationError: the times do not rise.
    """
    if len(time) < 2 or not (np.diff(time) > 0).all():
        row = 0 if len(time) < 2 else int((~(np.diff(time) > 0)).argmax()) + 1
        raise CalibrationError(f"the times must rise from row to row; row {row + 1} does not")
    out: list[Measured] = []
    first = 0
    while first < len(time):
        last = first + 1
        while last < len(time) and angle(R_WS[first], R_WS[last]) <= _STILL:
            last += 1
        if time[last - 1] - time[first] >= 0.9 * SECONDS and last - first >= 2:
            # the last half second of it: the arm had settled
            begin = max(first, int(np.searchsorted(time, time[last - 1] - SECONDS)))
            one = Measured(R_WS[last - 1], wrench[begin:last], float(time[last - 1]))
            if not out or angle(out[-1].R_WS, one.R_WS) > _APART:
                out.append(one)
        first = last
    return out


def angle(A: np.ndarray, B: np.ndarray) -> float:
    """Between two orientations, rad."""
    return float(np.sqrt(max(3.0 - np.trace(A.T @ B), 0.0)))  # of small ones; grows for all


def _pass(robot: Robot, seconds: float) -> None:
    """Let the robot's time pass."""
    until = robot.clock() + seconds
    while robot.clock() < until:
        robot.wait()
        if robot.stopped_by:
            raise RobotError(f"calibrate: {robot.stopped_by}")
