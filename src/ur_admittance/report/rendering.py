"""Rendered against ideal: what M, D and K would have done, what the tool did, and why they differ.

    ideal      M a + D v + s K x = F, solved anew under the force that the law felt
    measured   the motion of P, in the axes of the law
    measured - ideal = what limits took + what tracking added + what the arm made of its commands

One interval per tick: interval k goes from record k to record k + 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import quaternions_of
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.report.admittance_fit import ArmResponse, arm_response, identify, passed

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording

AXES = ("x", "y", "z", "rx", "ry", "rz")
CAUSES = ("arm", "limits", "tracking")
_MOVES = (0.005,) * 3 + (0.02,) * 3  # m/s, rad/s: an axis that stays below says nothing
_BLOCK = 20_000  # ticks that are prepared at once, for the sake of memory
_AVERAGED = 0.01  # s
_SETTLES = 0.5  # s after a limit, in which the motion still remembers it


@dataclass(frozen=True)
class AxisFit:
    """One axis of the law."""

    name: str
    configured: tuple[float, float, float]  # M, D, K: kg, N s/m, N/m or kg m^2, Nm s/rad, Nm/rad
    # the same of the measured motion; None where the motion does not tell
    rendered: tuple[float | None, float | None, float | None]
    difference: float  # of measured and ideal motion: its root mean square over that of the ideal
    causes: dict[str, float]  # the same for each part of the difference, by `CAUSES`
    # the same for what filter and deadband took before the law felt the force; it is no part of the
    # difference
    filtering: float


@dataclass(frozen=True)
class Rendering:
    """Ideal and measured motion of a whole recording."""

    ideal: np.ndarray  # (ticks, 6) m/s and rad/s in the law's axes, NaN where no law ruled
    measured: np.ndarray  # likewise
    parts: dict[str, np.ndarray]  # by `CAUSES`, (ticks, 6); their sum is `measured - ideal`
    # those that moved. Where gains changed, `configured` and `rendered` are those of the longest
    # stretch; the difference is that of the whole, each tick by its own gains.
    axes: tuple[AxisFit, ...]
    response: ArmResponse | None  # how the arm follows; None if it moved too little to tell
    limited: float  # share of the time in which the law ruled and a limit held it back
    deadband: float  # share of the force that the deadband took away
    filter_seconds: float  # time constant of the low-pass
    # first and last tick of that stretch, as indices; None if gains never changed
    stretch: tuple[int, int] | None = None


def rendering(recording: Recording) -> Rendering:
    """Solve the law anew for every stretch in which it ruled, and compare."""
    r, n = recording.records, len(recording.records)
    config = recording.config
    follows = np.zeros(n + 1, bool)  # record k on record k - 1
    follows[1:n] = np.diff(r["tick"]) == 1
    active = r["mode"] == bits.ACTIVE
    # Where the law begins anew its state is taken from the record, and the interval left out.
    begins = active & ~(follows[:n] & np.roll(active, 1))
    rules = active & ~begins
    compared = rules & follows[1:]
    h = np.append(r["dt"][1:], r["dt"][-1:])
    M, D, K, on, kp = gains(recording, begins)

    R_lawW = np.swapaxes(r["X_WD"][:, :3, :3], 1, 2).copy()
    if config.admittance.frame == "base":
        R_lawW[:] = np.eye(3)
    R_lawP = R_lawW @ r["X_WP"][:, :3, :3]
    felt = _turned(R_lawP, r["F_P"])
    K_now = K * r["engagement"][:, None]
    law = begins, rules, h, M, D, K_now, on, r["offset"], r["offset_rate"]
    means, ends = _respond(law, felt, _turned(R_lawP, force_at_probe(recording)))
    (mean, unfiltered), end = np.moveaxis(means, 1, 0), ends[:, 0]

    planned = _turned(R_lawW, _planned(r, config))
    tracking = _turned(R_lawW, _correction(r, kp, config))
    commanded = _turned(R_lawW, r["V_WP_cmd"])
    measured = _turned(R_lawW, measured_twist(r))
    ideal = planned + mean
    limits = commanded - tracking - planned - end
    parts = {"arm": measured - ideal - limits - tracking, "limits": limits, "tracking": tracking}
    for series in (ideal, measured, *parts.values()):
        series[~compared] = np.nan

    limited = (r["status"] & bits.LIMITS) != 0
    steady = compared & ~_lately(limited, round(_SETTLES * recording.rate))
    first, last = _longest(np.concatenate([M, D, K, on], axis=1), compared)
    steady[:first] = steady[last + 1 :] = False
    offset = _turned(R_lawW, pose_difference(r["X_WP"], r["X_WD"]))
    axes = []
    for a in range(6):
        if not compared.any() or not on[last, a] or np.nanmax(np.abs(ideal[:, a])) < _MOVES[a]:
            continue
        size = _rms(ideal[:, a], recording.rate)
        spring = r["engagement"] * offset[:, a] if K[last, a] > 0 else None
        rate = measured[:, a] - planned[:, a]
        axes.append(
            AxisFit(
                AXES[a],
                (float(M[last, a]), float(D[last, a]), float(K[last, a])),
                identify(steady, h, rate, felt[:, a], spring),
                _rms(measured[:, a] - ideal[:, a], recording.rate) / size,
                {name: _rms(part[:, a], recording.rate) / size for name, part in parts.items()},
                _rms((unfiltered - mean)[compared, a], recording.rate) / size,
            )
        )
    before, left = (
        np.linalg.norm(r[F][rules][:, LINEAR], axis=1).sum() for F in ("F_S_filt", "F_S")
    )
    return Rendering(
        ideal,
        measured,
        parts,
        tuple(axes),
        arm_response(r, recording.rate),
        float(limited[rules].mean()) if rules.any() else 0.0,
        float(1 - left / before) if before > 0 else 0.0,
        config.filter_time_constant(),
        None if last - first == n - 1 else (first, last),
    )


def _longest(rows: np.ndarray, counts: np.ndarray) -> tuple[int, int]:
    """First and last index of the stretch of equal rows in which most of what counts lies."""
    if not len(rows):
        return 0, -1
    edges = np.flatnonzero(np.any(np.diff(rows, axis=0) != 0.0, axis=1)) + 1
    firsts = np.concatenate([[0], edges])
    lasts = np.concatenate([edges, [len(rows)]]) - 1
    best = int(np.argmax(np.add.reduceat(counts.astype(int), firsts)))
    return int(firsts[best]), int(lasts[best])


def gains(recording: Recording, begins: np.ndarray) -> tuple[np.ndarray, ...]:
    """M, D, K, the enabled axes and Kp at every tick, each (ticks, 6), live changes faded in."""
    r, n = recording.records, len(recording.records)
    M, D, K, on, kp = (np.zeros((n, 6)) for _ in range(5))
    for k, config in configurations(recording):
        law, seconds = config.admittance, config.admittance.ramp_seconds
        share = np.ones(n - k) if k == 0 else np.cumsum(r["dt"][k:]) / max(seconds, 1e-9)
        share[np.cumsum(begins[k:]) > 0] = 1.0  # a law that begins anew begins with what is set
        share = np.minimum(share, 1.0)[:, None]
        rising = np.array(config.effective_damping()) > D[k - 1]
        early, late = (2 * share).clip(max=1), (2 * share - 1).clip(min=0)  # as the kernel's gains
        for gain, to, fade in (
            (M, law.mass, share),
            (D, config.effective_damping(), np.where(rising, early, late)),
            (K, law.stiffness, share),
        ):
            before = gain[k - 1].copy()
            gain[k:] = before + fade * (np.array(to) - before)
        on[k:], kp[k:] = law.enabled_axes, config.velocity_gain()
    return M, D, K, on, kp


def configurations(recording: Recording) -> list[tuple[int, Config]]:
    """Each configuration that was in force, with the index of its first record."""
    generation = recording.records["inputs"]["generation"]
    begins = np.flatnonzero(np.diff(generation)) + 1
    known, found = dict(recording.changes), [(0, recording.config)] if len(generation) else []
    return found + [
        (k, known[number])
        for k, number in zip(begins.tolist(), generation[begins].tolist(), strict=True)
        if number in known
    ]


def force_at_probe(recording: Recording) -> np.ndarray:
    """(ticks, 6) the wrench at P in P axes, before filter and deadband, N and Nm."""
    X_PS = np.linalg.inv(recording.model.X_EP) @ recording.model.X_ES
    F = _turned(X_PS[None, :3, :3], recording.records["F_S_comp"])
    F[:, ANGULAR] += np.cross(X_PS[:3, 3], F[:, LINEAR])
    return F


def measured_twist(records: np.ndarray) -> np.ndarray:
    """(ticks, 6) the mean twist of P from each record to the next, in W axes, m/s and rad/s."""
    V, X = np.full((len(records), 6), np.nan), records["X_WP"]
    V[:-1] = pose_difference(X[1:], X[:-1]) / passed(records)[:, None]
    V[:-1][np.diff(records["tick"]) != 1] = np.nan
    return V


def pose_difference(X_WA: np.ndarray, X_WB: np.ndarray) -> np.ndarray:
    """(n, 6) from poses B to A, in W axes, m and rad; turns are at most half a turn."""
    out = np.empty((len(X_WA), 6))
    out[:, LINEAR] = X_WA[:, :3, 3] - X_WB[:, :3, 3]
    R = X_WA[:, :3, :3] @ np.swapaxes(X_WB[:, :3, :3], 1, 2)
    out[:, ANGULAR] = _rotation_vectors(R)
    return out


def _rotation_vectors(R: np.ndarray) -> np.ndarray:
    """(n, 3) rad of (n, 3, 3) rotations."""
    wxyz = quaternions_of(R)
    wxyz *= np.where(wxyz[:, :1] < 0, -1, 1)
    n = np.linalg.norm(wxyz[:, 1:], axis=1)
    angle = 2 * np.arctan2(n, wxyz[:, 0])
    return wxyz[:, 1:] * (angle / np.maximum(n, 1e-300))[:, None]


def _rms(values: np.ndarray, rate: float) -> float:
    """Of (ticks,) speeds, averaged over 10 ms first, lest it be that of the encoders' noise."""
    known = np.isfinite(values)
    if not known.any():
        return 0.0
    window = np.ones(max(1, round(_AVERAGED * rate)))
    smooth = np.convolve(np.where(known, values, 0.0), window / len(window), "same")
    return float(np.sqrt((smooth[known] ** 2).mean()))


def _lately(flags: np.ndarray, ticks: int) -> np.ndarray:
    """True from each flag until `ticks` after it."""
    last = np.maximum.accumulate(np.where(flags, np.arange(len(flags)), -ticks - 1))
    return np.arange(len(flags)) - last <= ticks


def _turned(R: np.ndarray, six: np.ndarray) -> np.ndarray:
    """R on both parts of (n, 6) vectors."""
    out = np.empty((len(six), 6))
    out[:, LINEAR] = np.einsum("nij,nj->ni", R, six[:, LINEAR])
    out[:, ANGULAR] = np.einsum("nij,nj->ni", R, six[:, ANGULAR])
    return out


def _planned(r: np.ndarray, config: Config) -> np.ndarray:
    """(ticks, 6) what a moving D alone makes of P, in W axes: its twist, and the offset swung by
    it.
    """
    V = r["V_WD"].copy()
    if config.admittance.frame == "probe":
        V[:, LINEAR] += np.cross(V[:, ANGULAR], r["X_WC"][:, :3, 3] - r["X_WD"][:, :3, 3])
    else:
        R_offset = r["X_WC"][:, :3, :3] @ np.swapaxes(r["X_WD"][:, :3, :3], 1, 2)
        V[:, ANGULAR] = np.einsum("nij,nj->ni", R_offset, V[:, ANGULAR])
    return V


def _correction(r: np.ndarray, kp: np.ndarray, config: Config) -> np.ndarray:
    """(ticks, 6) what pose tracking added, in W axes: `Kp error`, no faster than can brake."""
    V, dt = kp * r["error"], r["dt"]
    limits = config.limits
    accelerations = limits.max_linear_acceleration, limits.max_angular_acceleration
    for part, most in zip((LINEAR, ANGULAR), accelerations, strict=True):
        distance = np.linalg.norm(r["error"][:, part], axis=1)
        fastest = 2 * distance / (dt + np.sqrt(dt**2 + 2 * distance / most))
        speed = np.linalg.norm(V[:, part], axis=1)
        V[:, part] *= np.minimum(1.0, fastest / np.maximum(speed, 1e-12))[:, None]
    return V


def _respond(law: tuple[np.ndarray, ...], *forces: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ideal motion under each of the forces, (ticks, forces, 6): its mean velocity in each
    interval, and its velocity at the interval's end.
    """
    begins, rules, h, M, D, K, on, offset, rate = law
    F = np.nan_to_num(np.stack(forces, axis=1))
    steps, end = np.zeros(F.shape), np.zeros(F.shape)
    x, v = np.zeros(F.shape[1:]), np.zeros(F.shape[1:])
    turns_back = K[:, ANGULAR].any()
    for first in range(0, len(h), _BLOCK):
        block = slice(first, first + _BLOCK)
        given = on[block] * _increments(M[block], D[block], K[block], h[block, None])
        xx, xv, xF, vx, vv, vF = given[:, :, None]
        x_pushed, v_pushed = xF * F[block], vF * F[block]
        for i in range(len(xx)):
            k = first + i
            if begins[k]:
                x[:], v[:] = offset[k], rate[k]
            if not rules[k]:
                continue
            step = xx[i] * x + xv[i] * v + x_pushed[i]
            v = v + vx[i] * x + vv[i] * v + v_pushed[i]
            steps[k], end[k] = step, v
            if turns_back:
                for phi, turn in zip(x[:, ANGULAR], step[:, ANGULAR], strict=True):
                    turn[:] = _added_rotation(*phi.tolist(), *turn.tolist())
            x = x + step
    return steps / h[:, None, None], end


def _increments(m: np.ndarray, d: np.ndarray, k: np.ndarray, h: np.ndarray) -> np.ndarray:
    """(6, ticks, 6) what x, v and F add to x and to v in h seconds of `m a + d v + k x = F`.

    The Taylor series of the solution for a piece of h that is short against the time constants,
    then doubled as often as it takes: two pieces in a row are one piece twice as long.
    """
    pieces = (4 * h * (d / m + np.sqrt(k / m))).max(initial=1.0)
    doublings = math.ceil(math.log2(pieces))
    h = h / 2.0**doublings
    term_x, term_v = np.zeros((3, *m.shape)), np.zeros((3, *m.shape))
    term_x[0] = term_v[1] = 1.0
    x, v = np.zeros_like(term_x), np.zeros_like(term_v)
    for n in range(1, 13):
        pushed = np.array([0.0, 0.0, n == 1])[:, None, None]
        term_x, term_v = h / n * term_v, h / n * (pushed - d * term_v - k * term_x) / m
        x += term_x
        v += term_v
    for _ in range(doublings):
        x, v = 2 * x + x[0] * x + x[1] * v, 2 * v + v[0] * x + v[1] * v
    return np.concatenate([x, v])


def _added_rotation(
    x: float, y: float, z: float, dx: float, dy: float, dz: float
) -> tuple[float, float, float]:
    """How much the rotation vector (x, y, z) grows by a small turn (dx, dy, dz) after it, rad.

    The inverse left Jacobian of SO(3): `d - phi x d / 2 + c phi x (phi x d)`.
    """
    ax, ay, az = y * dz - z * dy, z * dx - x * dz, x * dy - y * dx
    bx, by, bz = y * az - z * ay, z * ax - x * az, x * ay - y * ax
    angle = math.sqrt(x * x + y * y + z * z)
    c = 1 / 12
    if angle > 1e-2:
        c = (1 - angle / (2 * math.tan(angle / 2))) / angle**2
    return dx - ax / 2 + c * bx, dy - ay / 2 + c * by, dz - az / 2 + c * bz
