"""Taring: what the sensor feels now, with nothing touching the tool, becomes its bias."""

from __future__ import annotations

import numpy as np

from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.errors import RobotError
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots.base import Robot
from ur_admittance.run import preflight

_LOOK = 0.8  # s: somewhat longer, for states that come late
SECONDS = 0.5  # how long the samples last that are averaged
_NOISE = {"force": (LINEAR, 2.0, "N"), "torque": (ANGULAR, 0.2, "Nm")}  # standard deviation
_STILL = 0.002  # rad that a joint may move meanwhile


def watched(robot: Robot, config: Config) -> dict[str, list[float]]:
    """The same for a robot that no controller moves: it is looked at for half a second.

    Raises:
        RobotError: see `tare`.
    """
    controller = Controller(robot.model, config.replace({"control_rate": robot.rate}))
    until = robot.clock() + _LOOK
    while robot.clock() < until:
        state, now = robot.wait(), robot.clock()
        ages = now - state.wrench_time, now - state.joint_time
        controller.update(state.q, state.wrench, 1.0 / robot.rate, *ages)
    if robot.wrench_problem:
        raise RobotError(f"tare: {robot.wrench_problem}")
    return tare(controller.config, controller.params, controller.trace())


def tare(config: Config, params: np.ndarray, records: np.ndarray) -> dict[str, list[float]]:
    """The parameters that make the wrench zero as it was during the last half second.

    Hand them to `Controller.set`, or to the blackboard. Tool weight stays in `payload`.

    Args:
        config: in force.
        params: the record that was made from it.
        records: outputs of the last ticks, oldest first.

    Raises:
        RobotError: there are too few good samples, the arm moves, or something touches the tool.
    """
    count = max(2, round(SECONDS * config.control_rate))
    records = records[-count:]
    if len(records) < count:
        raise RobotError(
            f"tare: {len(records)} samples so far, {count} are needed; try again in {SECONDS} s"
        )
    status = int(np.bitwise_or.reduce(records["status"]))
    if status & (bits.HOLDS | bits.STOPS | bits.WRENCH_NOT_FINITE | bits.WRENCH_SATURATED):
        raise RobotError(
            "tare: joints or wrench were stale, missing or beyond their limits during the last "
            f"{SECONDS} s; try again when they are good"
        )
    moved = float(np.ptp(records["q"], axis=0).max())
    if not moved <= _STILL:
        raise RobotError(
            f"tare: the arm moves, a joint by {moved:.4f} rad within {SECONDS} s; hold it still"
        )
    wrench = records["F_S_comp"]
    for name, (part, allowed, unit) in _NOISE.items():
        noise = float(wrench[:, part].std(axis=0).max())
        if not noise <= allowed:
            raise RobotError(
                f"tare: the {name} is not steady, its standard deviation is {noise:.3g} {unit}, "
                f"allowed is {allowed:g} {unit}; let go of the tool"
            )
    left, safety = wrench.mean(axis=0), config.safety
    # While the law feels it, it is a push. Else it may be a sensor that was never zeroed.
    # Of a calibrated payload the weight is known, so that a contact shows.
    most = (safety.start_force, safety.start_torque)
    if records["mode"][-1] != bits.INACTIVE or config.payload.verdict != "none":
        most = preflight.allowed(config)
    starts = (safety.start_force, safety.start_torque)
    for (name, (part, _, unit)), limit, start in zip(_NOISE.items(), most, starts, strict=True):
        size = float(np.linalg.norm(left[part]))
        if start and not size <= limit:
            raise RobotError(
                f"tare: a steady {name} of {size:.3g} {unit} is not explained by bias and payload, "
                f"at most {limit:g} {unit} is taken for a sensor that drifted; does something "
                "touch the tool? Else correct payload"
            )
    bias = params["bias"][0] + left
    return {
        "payload.force_bias": bias[LINEAR].tolist(),
        "payload.torque_bias": bias[ANGULAR].tolist(),
    }
