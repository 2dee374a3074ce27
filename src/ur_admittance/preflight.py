"""What is looked at before an arm moves: does it stand still, and does anything touch the tool?

    F_S = bias + [m g_S; c x m g_S]

is what the sensor must report while nothing touches it. A wrong payload or a sensor that was not
zeroed pushes the arm from the first tick on: what is unexplained may be no more than the deadband
takes away.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from ur_admittance.config import Config
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.kernel.wrench import FULL
from ur_admittance.model import RobotModel

SECONDS, FEWEST = 0.05, 5  # how long the arm is looked at, s, and at how many states at least
STILL, STILL_TURN = 1e-3, 5e-3  # m/s of the tool, rad/s of a joint
_NEAR = 0.5  # rad that a joint may be outside its range: recovery is possible from there
_MOMENT = 0.01  # s
_AT_WALL = 1e-3  # m: a tool that was held at a wall may start again there
_ALONG = np.cos(np.radians(20.0))  # directions within this angle count as the same
_ALIKE = 0.2  # share of a force by which another may differ and still count as the same


def expected(model: RobotModel, params: np.ndarray, q: np.ndarray) -> np.ndarray:
    """The reading at joint angles q, rad (6,): N and Nm (6,) in S axes at S's origin.

    Args:
        params: of the tick, see `packing.pack`: bias, payload and gravity.
    """
    return _explained(params, model.fk(q)[:3, :3])


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


def drift(params: np.ndarray, left: np.ndarray) -> str:
    """How the arm will drift, in words; "" if it will not.

    Args:
        params: of the tick: deadbands, damping and stiffness.
        left: what nothing explains, N and Nm (6,), in S axes at S's origin.
    """
    p = params[0]
    # at P, in its axes: what the law will feel
    f = p["R_PS"] @ left[LINEAR]
    t = p["R_PS"] @ left[ANGULAR] + np.cross(p["p_PS"], f)
    for part, value, deadband, unit, speed in (
        (LINEAR, f, p["deadband_force"], "N", "m/s"),
        (ANGULAR, t, p["deadband_torque"], "Nm", "rad/s"),
    ):
        size = float(np.linalg.norm(value))
        free = (p["stiffness"][part] == 0.0) & (p["enabled"][part] != 0)
        if size > deadband and free.any():
            rate = (size - float(deadband)) / float(p["damping"][part][free].min())
            return (
                f"the sensor feels {size:.3g} {unit} that nothing explains, and the deadband "
                f"takes {float(deadband):g}: the arm will drift at up to {rate:.2g} {speed}"
            )
    return ""


def drift_warning(
    changed: Iterable[str], before: np.ndarray, now: np.ndarray, record: np.record | None
) -> str:
    """See `drift_after`; "" also if neither payload nor bias changed, or no record is there."""
    if record is None or not any(name.startswith("payload.") for name in changed):
        return ""
    return drift_after(before, now, record)


def drift_after(before: np.ndarray, now: np.ndarray, record: np.record) -> str:
    """How a change of payload or bias makes an arm drift that did not, in words; "" if it does not.

    Args:
        before: params of the tick, with the old payload.
        now: likewise, with the new one.
        record: outputs of the last tick, of the pose that the arm has and the force that it feels.
    """
    R_WP, reading = record["X_WP"][:3, :3], record["wrench"]
    once, left = (reading - _explained(params, R_WP) for params in (before, now))
    worse = any(np.linalg.norm(left[p]) > np.linalg.norm(once[p]) for p in (LINEAR, ANGULAR))
    if record["mode"] == bits.INACTIVE or not worse:
        return ""
    return drift(now, left)


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
        f"{1e3 * beyond[axis]:.0f} mm beyond limits.workspace_{key} {'xyz'[axis]} = {wall:g} m; "
        "bring it inside, move the wall, or allow it with --allow-outside: then it can only be "
        "moved inwards"
    )


def impossible(model: RobotModel, q: np.ndarray) -> str:
    """Which joint cannot be where it is said to be, in words; "" if all can. Angles, rad (6,)."""
    for name, angle, low, high in zip(model.joint_names, q, model.q_min, model.q_max, strict=True):
        if not low - _NEAR <= angle <= high + _NEAR:
            return (
                f"{name} cannot be at {angle:g} rad, its range is {low:.3f} to {high:.3f} rad; are "
                "these degrees?"
            )
    return ""


def moving(model: RobotModel, q: np.ndarray, qd: np.ndarray | None) -> str:
    """That the arm moves, in words; "" if it stands, or if its rates, rad/s (6,), are not known."""
    return "" if qd is None else motion(model, q, q + qd * _MOMENT, _MOMENT)


def motion(model: RobotModel, q: np.ndarray, q_now: np.ndarray, seconds: float) -> str:
    """That the arm moves, in words; "" if it stands. Joint angles, rad (6,), so long apart, s."""
    joint = float(np.abs(q_now - q).max()) / seconds
    way = model.fk(q_now)[:3, 3] - model.fk(q)[:3, 3]
    tool = float(np.linalg.norm(way)) / seconds
    if tool <= STILL and joint <= STILL_TURN:
        return ""
    return (
        f"the arm moves: its tool at {1e3 * tool:.1f} mm/s, a joint at {joint:.4f} rad/s; it must "
        f"stand still (at most {1e3 * STILL:g} mm/s and {STILL_TURN:g} rad/s)"
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


def _explained(params: np.ndarray, R_WP: np.ndarray) -> np.ndarray:
    """Bias and weight, N and Nm (6,), in S axes at S's origin."""
    p = params[0]
    weight = p["payload_mass"] * ((R_WP @ p["R_PS"]).T @ p["gravity"])
    return p["bias"] + np.concatenate([weight, np.cross(p["payload_com"], weight)])


def _gravity(model: RobotModel, params: np.ndarray, q: np.ndarray) -> np.ndarray:
    """In S axes, m/s^2 (3,)."""
    return (model.fk(q)[:3, :3] @ params[0]["R_PS"]).T @ params[0]["gravity"]


def listed(values: np.ndarray, digits: int = 3) -> str:
    """Numbers in a sentence, of so many digits each."""
    return "[" + ", ".join(f"{value:.{digits}g}" for value in values) + "]"
