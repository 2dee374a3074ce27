"""What is looked at before an arm moves: does it stand still, and does anything touch the tool?

A wrong payload or a sensor that was not zeroed pushes the arm from the first tick on: what is
unexplained may be no more than the deadband takes away.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import listed
from ur_admittance.controller.at_rest import drift, expected, motion
from ur_admittance.errors import RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.kernel.wrench import FULL
from ur_admittance.model import RobotModel
from ur_admittance.robots.base import Robot, State
from ur_admittance.robots.wrench_rate import WrenchRate
from ur_admittance.run.driver import Driver

SECONDS, FEWEST = 0.05, 5  # how long the arm is looked at, s, and at how many states at least
_AT_WALL = 1e-3  # m: a tool that was held at a wall may start again there
_ALONG = np.cos(np.radians(20.0))  # directions within this angle count as the same
_ALIKE = 0.2  # share of a force by which another may differ and still count as the same


class Look:
    """A short look at an arm that should stand still and untouched."""

    def __init__(self, q: np.ndarray, wrench: np.ndarray) -> None:
        """Begins with the first measurement: joint angles, rad (6,), and reading, N and Nm (6,)."""
        self._first, self._q = q.copy(), q.copy()
        self._sum, self._count, self._seconds = wrench.copy(), 1, 0.0

    def add(self, q: np.ndarray, wrench: np.ndarray, seconds: float) -> None:
        """One more, so long after the one before, s."""
        self._q[:] = q
        self._sum += wrench
        self._count += 1
        self._seconds += seconds

    def problem(self, model: RobotModel, params: np.ndarray, config: Config) -> str:
        """Why this arm should not be moved, in words; "" if it may."""
        if not np.isfinite(self._q).all():
            return f"the joint angles are not all numbers: {self._q.tolist()}"
        moves = motion(model, self._first, self._q, self._seconds)
        self._left = self._sum / self._count - expected(model, params, self._q)
        return moves or problem(model, params, config, self._q, self._sum / self._count)

    def drift(self, params: np.ndarray) -> str:
        """How the arm will drift when it is let go, in words; "" if it will not."""
        return drift(params, self._left)


def check(robot: Robot, state: State, driver: Driver, tell: Callable[[str], None]) -> None:
    """See that an arm stands still, untouched, and is heard as often as it should be.

    Args:
        state: its newest.
        tell: takes a line, if it will drift when it is let go.

    Raises:
        RobotError: it must not be moved now.
    """
    look, samples = Look(state.q, state.wrench), WrenchRate(state, robot.rate)
    for _ in range(max(FEWEST, round(SECONDS * robot.rate))):
        state = robot.wait()
        look.add(state.q, state.wrench, 1.0 / robot.rate)
        samples.add(state)
    problem = robot.stopped_by or robot.wrench_problem
    problem = problem or look.problem(driver.model, driver.params, driver.config)
    if not problem and robot.real_sensor and samples.problem():
        samples = WrenchRate(state, robot.rate)
        while not samples.full:  # a second, to be sure
            samples.add(robot.wait())
        problem = robot.stopped_by or samples.problem()
    if problem:
        raise RobotError(f"run: {problem}")
    if words := look.drift(driver.params):
        tell(words)


def outside(config: Config, p_WP: np.ndarray) -> str:
    """That the tool, at p_WP, m (3,), is outside the workspace box, in words; "" if it is inside,
    or at a wall.
    """
    low, high = np.array(config.limits.workspace_min), np.array(config.limits.workspace_max)
    beyond = np.maximum(low - p_WP, p_WP - high)
    if (beyond <= _AT_WALL).all():
        return ""
    axis = int(np.argmax(beyond))
    key, wall = ("min", low[axis]) if p_WP[axis] < low[axis] else ("max", high[axis])
    return (
        f"the tool is at {listed(p_WP)} m, outside the box from {listed(low)} to {listed(high)}: "
        f"{1e3 * beyond[axis]:.0f} mm beyond limits.workspace_{key} {'xyz'[axis]} = {wall:g} m"
    )


def allowed(config: Config) -> tuple[float, float]:
    """The force, N, and torque, Nm, that may be unexplained: what `safety` allows, and no more than
    the deadband takes away, if there is one. Where the payload is calibrated, what that leaves in
    other poses is kept free of it.
    """
    safety, payload = config.safety, config.payload
    (force, torque), calibrated = config.effective_deadband(), payload.verdict != "none"
    most = []
    for start, deadband, left in (
        (safety.start_force, force, payload.left_force),
        (safety.start_torque, torque, payload.left_torque),
    ):
        room = max(deadband - left, left) if calibrated else deadband
        most.append(min(start, deadband, room) if deadband else start)
    return most[0], most[1]


def problem(
    model: RobotModel, params: np.ndarray, config: Config, q: np.ndarray, wrench: np.ndarray
) -> str:
    """Why an arm that feels this at rest should not be moved, in words; "" if it may.

    Args:
        params: see `expected`.
        config: gives `safety.start_force`, `safety.start_torque` and the deadbands.
        q: measured joint angles, rad (6,).
        wrench: the reading, N and Nm (6,), in S axes at S's origin.
    """
    due = expected(model, params, q)
    if full := saturated(config, wrench):
        return full
    for part, name, unit, start, most in zip(
        (LINEAR, ANGULAR),
        ("force", "torque"),
        ("N", "Nm"),
        (config.safety.start_force, config.safety.start_torque),
        allowed(config),
        strict=True,
    ):
        left = float(np.linalg.norm(wrench[part] - due[part]))
        if start == 0.0 and left < math.inf:  # any, but not NaN
            continue
        if not left <= most:
            reason = _reason(
                wrench[LINEAR],
                due[LINEAR],
                _gravity(model, params, q),
                float(params[0]["payload_mass"]),
            )
            what = "the deadband takes" if most < start else f"safety.start_{name} allows"
            if most < start and config.payload.verdict != "none":
                what = "deadband and calibration allow"
            return (
                f"at rest the sensor reports a {name} of {listed(wrench[part])} {unit}, its bias "
                f"and the payload make {listed(due[part])}: {left:.3g} {unit} are unexplained, "
                f"{what} {most:g}; {reason}"
            )
    return ""


def saturated(config: Config, wrench: np.ndarray) -> str:
    """That a reading, N and Nm (6,), is near the end of the sensor's range, in words; or ""."""
    ends = config.safety.sensor_range
    if ends is None:
        return ""
    share = np.abs(wrench) / np.array(ends)
    axis = int(share.argmax())
    if not share[axis] >= FULL:
        return ""
    name, unit = ("force", "N") if axis < 3 else ("torque", "Nm")
    return (
        f"the sensor reports a {name} of {wrench[axis]:.4g} {unit} along {'xyz'[axis % 3]}, "
        f"{share[axis]:.0%} of its range (safety.sensor_range); relieve the tool, zero the sensor, "
        "or take a lighter tool"
    )


def _reason(force: np.ndarray, due: np.ndarray, g_S: np.ndarray, mass: float) -> str:
    """The likeliest cause, and what to do. Forces in N, gravity in m/s^2, the payload in kg."""
    size, left = float(np.linalg.norm(due)), force - due
    if np.linalg.norm(force + due) < _ALIKE * size:
        return "it is the opposite: the sensor reports the reaction, turn its sign"
    if abs(np.linalg.norm(force) - size) < _ALIKE * size:
        return "its size is right, not its direction: check how the sensor is mounted (ft_frame)"
    more = float(left @ g_S) / max(float(g_S @ g_S), 1e-9)  # kg
    if abs(more) * np.linalg.norm(g_S) > _ALONG * np.linalg.norm(left) and mass + more >= 0.0:
        return (
            f"it points along gravity: payload.mass is {mass:g} kg, {mass + more:.2f} kg would "
            "explain it"
        )
    return "does something touch the tool? Else zero the sensor, and check payload and ft_frame"


def _gravity(model: RobotModel, params: np.ndarray, q: np.ndarray) -> np.ndarray:
    """In S axes, m/s^2 (3,)."""
    return (model.fk(q)[:3, :3] @ params[0]["R_PS"]).T @ params[0]["gravity"]
