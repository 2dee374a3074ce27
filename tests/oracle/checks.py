"""All that is checked, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tests.oracle.piece import ANGULAR, LINEAR, Piece, lengths, turns
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits, layout

KNOWN = sum(fault.mask for fault in FAULTS)
AS_THEY_CAME = ("wrench", "inputs", "timing")  # may hold what is no number
JOINTS = bits.JOINT_POSITION_LIMIT | bits.JOINT_VELOCITY_LIMIT | bits.JOINT_ACCELERATION_LIMIT
HELD_HARDER = (  # what may need more than the jerk limit, and says so
    JOINTS
    | bits.OUTSIDE_WORKSPACE
    | bits.SINGULARITY
    | bits.BEYOND_ACCELERATION
    | bits.STOPPING_DISTANCE
    | bits.CONTACT_BRAKING
)
HARD_WALL = bits.WORKSPACE_LIMIT | bits.JERK_LIMIT  # both: the speed is clipped
GOOD = 50  # ticks at rest without a fault, after which a hold ends


Check = Callable[[Piece], tuple[np.ndarray, np.ndarray]]
CHECKS: dict[str, Check] = {}
"""By name: by how much each row is beyond, which must be <= 0, and in which rows that counts."""


def check(name: str) -> Callable[[Check], Check]:
    def enter(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return enter


@check("is not finite")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    sound = np.ones(len(t), bool)
    for name in layout.OUTPUTS.names or ():
        if name not in AS_THEY_CAME:
            sound &= np.isfinite(t[name]).reshape(len(t), -1).all(axis=1)
    return np.where(sound, 0.0, np.inf), t.new


@check("a status bit without a name")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * ((t["status"] & ~KNOWN) != 0), t.new


@check("joint speed")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return (np.abs(t["qd"]) - np.array(t.limits.qd) * (1 + 1e-9)).max(axis=1), t.new


@check("joint acceleration")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    most = np.array(t.limits.qdd) * t["dt"][1:, None] * (1 + 1e-6) + 1e-12
    return t.after((np.abs(np.diff(t["qd"], axis=0)) - most).max(axis=1)), t.new & t.own


def _speed(t: Piece, part: slice, most: float) -> tuple[np.ndarray, np.ndarray]:
    return lengths(t["V_WP_cmd"][:, part]) - most * (1 + 1e-5) - 1e-9, t.new & t.tool


@check("speed")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _speed(t, LINEAR, t.limits.v)


@check("speed of the rotation")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _speed(t, ANGULAR, t.limits.w)


def _acceleration(t: Piece, part: slice, most: Any) -> tuple[np.ndarray, np.ndarray]:
    step = np.diff(t["V_WP_cmd"][:, part], axis=0)
    beyond = lengths(step) - (np.broadcast_to(most, len(t)) * t["dt"])[1:] * (1 + 1e-5) - 1e-9
    free = (t["status"] & bits.BEYOND_ACCELERATION) == 0
    return t.after(beyond), t.new & t.own & t.tool & free


@check("acceleration")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    # braking in contact, the limit is the arm's: the command may lead it by 0.8 of its lag
    braking = t.limits.braking * (1 + 0.8 * t.limits.lag / np.maximum(t["dt"], 1e-9))
    most = np.where(t["status"] & bits.CONTACT_BRAKING, braking, t.limits.a)
    return _acceleration(t, LINEAR, most)


@check("acceleration of the rotation")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _acceleration(t, ANGULAR, t.limits.alpha)


def _jerk(t: Piece, part: slice, v: float, a: float, jerk: float) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    if not jerk or n < 3:
        return np.zeros(n), np.zeros(n, bool)
    V, dt = t["V_WP_cmd"][:, part], t["dt"]
    rate = np.diff(V, axis=0) / dt[1:, None]
    size = lengths(rate)
    both = np.minimum(size[1:], size[:-1]) >= a * (1 - 1e-3)  # a turn at full acceleration
    arrives = size[1:] <= 1e-3 * a
    room = np.where(both | arrives, 1.25, 1 + 1e-5)
    beyond = lengths(np.diff(rate, axis=0)) - room * jerk * dt[2:] - 1e-6
    status = t["status"] | t.after(t["status"][:-1])
    free = (status & HELD_HARDER) == 0
    free &= (status & HARD_WALL) != HARD_WALL
    free &= lengths(V) < v * (1 - 1e-6)
    free &= t.after(free[:-1], False)
    return t.after(beyond, 0.0, 2), t.new & t.steady & t.tool & free


@check("jerk")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _jerk(t, LINEAR, t.limits.v, t.limits.a, t.limits.jerk)


@check("jerk of the rotation")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _jerk(t, ANGULAR, t.limits.w, t.limits.alpha, t.limits.angular_jerk)


@check("V_WP_cmd is not J qd")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    _, _, J = t.kinematics()
    return np.abs((J @ t["qd"][..., None])[..., 0] - t["V_WP_cmd"]).max(axis=1) - 1e-9, t.new


@check("X_WP is not where the joints are")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    R, p, _ = t.kinematics()
    off = np.abs(t["X_WP"][:, :3, :3] - R).max(axis=(1, 2))
    return np.maximum(off, np.abs(t["X_WP"][:, :3, 3] - p).max(axis=1)) - 1e-9, t.new


@check("joint range")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    q, (low, high) = t["q"], t.limits.q
    return np.maximum(low - q, q - high).max(axis=1) - 1e-6, t.new & t.inside


@check("wall")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    p_WP, (low, high) = t["X_WP"][:, :3, 3], t.limits.box
    return np.maximum(low - p_WP, p_WP - high).max(axis=1) - 1e-4, t.new & t.within


@check("lead")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    beyond = (np.abs(t["q_ref"] - t["q"]) - t.strayed).max(axis=1) - t.limits.lead - 1e-9
    return beyond, t.new


@check("step of q_ref")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    most = np.array(t.limits.qd) * t["dt"][1:, None] * (1 + 1e-6) + 1e-9
    beyond = t.after((np.abs(np.diff(t["q_ref"], axis=0)) - most).max(axis=1))
    inactive = t["mode"] == bits.INACTIVE
    return beyond, t.new & t.own & ~t.seeded & ~inactive & t.limits.by_position


@check("acceleration of q_ref")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    if n < 3:
        return np.zeros(n), np.zeros(n, bool)
    rate = np.diff(t["q_ref"], axis=0) / t["dt"][1:, None]
    most = np.array(t.limits.qdd) * t["dt"][2:, None] * (1 + 1e-6) + 1e-6
    beyond = t.after((np.abs(np.diff(rate, axis=0)) - most).max(axis=1), 0.0, 2)
    going = t.steady & ~t.seeded & (t["mode"] != bits.INACTIVE)
    going &= t.after(~t.seeded[:-1] & (t["mode"][:-1] != bits.INACTIVE), False)
    return beyond, t.new & going & t.limits.by_position


@check("a start that moves")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    rests = t.still & (t["q_ref"] == t["q"]).all(axis=1)
    return 1.0 * ~rests, t.new & t.seeded


@check("an inactive controller moves the arm")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * ~t.still, t.new & (t["mode"] == bits.INACTIVE)


@check("a stop bit is ignored")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * (t["status"] & bits.STOPS != 0), t.new & (t["mode"] == bits.ACTIVE)


@check("a hold bit is ignored")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * (t["status"] & bits.HOLDS != 0), t.new & (t["mode"] == bits.ACTIVE)


@check("a stopped arm moves")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    stopped = t["mode"] == bits.STOPPED
    stood = t.after(stopped[:-1] & t.still[:-1], False)
    return 1.0 * ~t.still, t.new & t.follows & stopped & stood


@check("a stop ends without a reset")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    goes_on = (t["mode"] == bits.ACTIVE) | (t["mode"] == bits.HOLDING)
    stopped = t.after(t["mode"][:-1] == bits.STOPPED, False)
    return 1.0 * goes_on, t.new & t.follows & stopped


@check("a hold ends too soon")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    good = (t["mode"] == bits.HOLDING) & t.still & (t["status"] & bits.HOLDS == 0) & t.follows
    bad = np.maximum.accumulate(np.where(good, -1, np.arange(len(t))))  # the last that was not
    waited = np.arange(len(t)) - bad
    ends = (t["mode"] == bits.ACTIVE) & t.after(t["mode"][:-1] == bits.HOLDING, False)
    return 1.0 * (GOOD - t.after(waited[:-1])), t.new & t.follows & ends


@check("the arm does not come to rest")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return t.late, t.new & ~t.still


@check("the arm gets faster while it brakes")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return t.rises, t.new


@check("a fault is not one event")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * t.unnoted, t.new


@check("an event is not of its fault")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    wrong = np.zeros(len(t))
    for k, event in t.events:
        wrong[k] += not fits(event, t.said[k], t.params)
    return wrong, t.new


@check("the law makes energy")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    beyond = np.full(n, -np.inf)
    if n < 2:
        return beyond, t.new
    F, K = (part[1:] for part in t.law())
    x, v, M = t["offset"], t["offset_rate"], t.params["mass"]
    way = np.hstack([np.diff(x[:, LINEAR], axis=0), turns(x[:-1, ANGULAR], x[1:, ANGULAR])])
    stored = 0.5 * (M * np.diff(v**2, axis=0) + K * np.diff(x**2, axis=0))
    work = F * way
    for part in (LINEAR, ANGULAR):
        if part == ANGULAR and np.ptp(t.params["stiffness"][part]) > 0.0:
            continue
        made = (stored - work)[:, part].sum(axis=1)
        room = 1e-9 + 1e-6 * np.abs(work[:, part]).sum(axis=1)
        beyond[1:] = np.maximum(beyond[1:], made - room)
    return beyond, t.new & t.law_alone() & (t["status"] & bits.LIMITS == 0)


@check("limits make the law faster")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    beyond = np.full(n, -np.inf)
    if n < 2:
        return beyond, t.new
    F, K = (part[1:] for part in t.law())
    x, v, h = t["offset"][:-1], t["offset_rate"], t["dt"][1:, None]
    alone = stepped(x, v[:-1], F, t.params["mass"], t.params["damping"], K, h)
    low, high = np.minimum(alone, 0.0), np.maximum(alone, 0.0)
    room = 1e-9 + 1e-6 * (np.abs(alone) + np.abs(v[:-1]))
    beyond[1:] = (np.maximum(low - v[1:], v[1:] - high) - room).max(axis=1)
    return beyond, t.new & t.law_alone()


def stepped(
    x: np.ndarray,
    v: np.ndarray,
    F: np.ndarray,
    M: np.ndarray,
    D: np.ndarray,
    K: np.ndarray,
    h: np.ndarray,
) -> np.ndarray:
    """The velocity after a step of `M a + D v + K x = F`, axis by axis: a series of its powers."""
    dx, dv = v, (F - D * v - K * x) / M  # the derivatives that the terms are made of
    new = v.copy()
    for k in range(1, 30):
        new = new + dv * h
        dx, dv = dv * h / (k + 1), (-D * dv - K * dx) / M * h / (k + 1)
        if not np.abs(dv * h).max(initial=0.0) > 1e-16:
            break
    return new


@check("the account of energy")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    beyond = np.full(n, -np.inf)
    if n < 2:
        return beyond, t.new
    R_WP, _, J = t.kinematics()
    R = R_WP @ t.params["R_PS"]
    F = np.hstack([(R @ t["F_S_comp"][:, part, None])[..., 0] for part in (LINEAR, ANGULAR)])
    way = (J[1:] @ np.diff(t["q"], axis=0)[..., None])[..., 0]
    at_S = way[:, LINEAR] + np.cross(way[:, ANGULAR], (R_WP @ t.params["p_PS"])[1:])
    work = 0.5 * (F[1:] + F[:-1]) * np.hstack([at_S, way[:, ANGULAR]])
    off = np.abs(np.diff(t["energy"]) - work.sum(axis=1))
    room = 1e-9 + 1e-9 * (np.abs(t["energy"][1:]) + np.abs(work).sum(axis=1))
    given = np.maximum(t["energy_given"][:-1], -t["energy"][1:])
    off = np.maximum(off, np.abs(t["energy_given"][1:] - given))
    beyond[1:] = off - room
    return beyond, t.new & t.own


# --- I5: what an event says ---


def fits(event: Any, said: Any, p: Any) -> bool:
    """Whether an event is of its tick, with a limit that is in force and a value that breaks it."""
    mask = 1 << int(event["bit"])
    value, limit = float(event["value"]), float(event["limit"])
    if event["time"] != said["time"] or not int(said["status"]) & mask:
        return False
    if mask == bits.BAD_DT:
        return limit == 0.1 and not 0.0 < value <= limit
    if mask == bits.JOINT_OUTSIDE:
        return value < limit if limit in p["q_min"] else value > limit and limit in p["q_max"]
    if mask == bits.JOINTS_LOST and limit != p["lost_timeout"]:  # they leapt
        return limit > 0.0 and not value < limit
    if mask in NO_NUMBER:
        return value == limit == 0.0
    if mask == bits.WRENCH_NOT_FINITE:  # since the last good one: it holds when that is too long
        return value >= 0.0 and limit == p["wrench_timeout"]
    if mask == bits.WRENCH_STALE and said["tick"] == 1:  # none since the start
        return value >= 0.0 and limit == p["wrench_timeout"]
    known = LIMITS_OF.get(mask)
    if known is not None and not np.isclose(limit, known(p), rtol=1e-12, atol=0.0).any():
        return False
    return value >= limit - 1e-9 or (mask == bits.JOINTS_IMPLAUSIBLE and np.isnan(value))


NO_NUMBER = {bits.STOP_REQUESTED, bits.WRENCH_SLOW, bits.FORCE_LOST, bits.FORCE_TRAVEL}
LIMITS_OF: dict[int, Callable[[Any], Any]] = {
    bits.TIME_GAP: lambda p: 5.0 * p["period"],
    bits.WRENCH_STALE: lambda p: p["wrench_timeout"],
    bits.WRENCH_LOST: lambda p: p["lost_timeout"],
    bits.WRENCH_FROZEN: lambda p: p["frozen_samples"],
    bits.WRENCH_SPIKE: lambda p: (p["spike_force"], p["spike_torque"]),
    bits.JOINTS_STALE: lambda p: p["joint_timeout"],
    bits.JOINTS_LOST: lambda p: p["lost_timeout"],
    bits.OVER_FORCE: lambda p: (p["max_force"], *p["max_wrench"][LINEAR]),
    bits.OVER_TORQUE: lambda p: (p["max_torque"], *p["max_wrench"][ANGULAR]),
    bits.NOT_FOLLOWING: lambda p: p["tracking_timeout"],
    bits.DESIRED_STALE: lambda p: 0.1,
    bits.DESIRED_STEP: lambda p: 0.05,
    bits.STREAM_STALE: lambda p: p["stream_timeout"],
    bits.CONTACT_UNSTABLE: lambda p: 4.0,
    bits.SENSOR_SATURATED: lambda p: 0.95,
    bits.DRIFTING: lambda p: p["drift_seconds"],
    bits.IK_FAILED: lambda p: 5.0,
}
