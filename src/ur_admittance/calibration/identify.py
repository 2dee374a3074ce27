"""How an arm follows velocity commands: its lag, its delay, and its first structural mode.

All joints are moved a little by one sine whose pitch rises, in free space. From the command u to
the measured joint rate the arm is taken as

    H(s) = exp(-s T) / (1 + s tau)

which is fitted, joint by joint, to the measured frequency response. A tool that hangs on the sensor
feels the structure swing; where its force answers far more than elsewhere, there is a mode. Noise
is what is measured before anything moves.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ur_admittance.errors import CalibrationError
from ur_admittance.kernel.spatial import LINEAR
from ur_admittance.run import Run

REST = 0.6  # s, at rest before and after
SECONDS = 6.0  # of motion
LOWEST, HIGHEST = 0.5, 40.0  # Hz
RATE = 0.06  # rad/s, at most
ACCELERATION = 0.5  # share of the joints' own
_WRENCH_AGE = 0.1  # s, at most while it moves
_MODE_LOWEST = 5.0  # Hz
_PEAK = 3.0  # times the median, of a mode
_SURE = 0.8  # share of that answer that is no noise, of a mode


@dataclass(frozen=True)
class Response:
    """How an arm answers."""

    lag: float  # tau, s
    lag_error: float  # standard deviation between the joints, s
    delay: float  # T, s
    delay_error: float  # likewise, s
    fit: float  # share of the joints' motion that lag and delay explain, 0 to 1
    mode_frequency: float  # first structural mode, Hz; 0: none seen
    mode_confidence: float  # share of the answer there that is no noise, 0 to 1
    force_noise: float  # at rest, N rms
    motion_noise: float  # of the tool's place at rest, m rms


def excitation(rate: float, qdd_max: float) -> np.ndarray:
    """The joint rate of every cycle, rad/s: a sine of rising pitch, faded in and out."""
    t = np.arange(round(SECONDS * rate)) / rate
    growth = math.log(HIGHEST / LOWEST) / SECONDS
    pitch = LOWEST * np.exp(growth * t)
    phase = math.tau * LOWEST * (np.exp(growth * t) - 1) / growth
    size = np.minimum(RATE, ACCELERATION * qdd_max / (math.tau * pitch))
    fade = np.minimum(1.0, np.minimum(t, t[::-1]) / 0.2)
    return size * fade * np.sin(phase)


def identify(run: Run, *, max_force: float = 50.0) -> Response:
    """Move the arm a little, and say how it follows.

    Args:
        run: of an arm at rest, in free space.
        max_force: more than this beyond the rest, N, ends it.

    Raises:
        CalibrationError: the arm does not answer.
        RobotError: it was ended, the wrench ceased, or it was not permitted.
    """
    robot = run.robot
    rest = round(REST * robot.rate)
    move = excitation(robot.rate, float(robot.model.qdd_max.min()))
    told = np.concatenate([np.zeros(rest), move, np.zeros(rest)])

    def problem(q: np.ndarray, wrench: np.ndarray, age: float) -> str:
        if not np.isfinite(q[-1]).all():
            return "identify: the joint angles are no numbers"
        if len(q) > rest and not age <= _WRENCH_AGE:
            why = robot.wrench_problem or "is the sensor on?"
            return f"identify: no wrench for {age:.2f} s; {why}"
        begun = wrench[: max(1, min(len(wrench) - 1, rest)), LINEAR].mean(axis=0)
        force = np.linalg.norm(wrench[-1, LINEAR] - begun)
        if not force <= max_force:
            return (
                f"identify: {force:.0f} N while moving freely, allowed are {max_force:.0f} N; "
                "take the tool off what it touches, or a heavy tool off the arm"
            )
        return ""

    q, wrench = run.shake(told, problem)
    return response(told, q, wrench, robot.rate, robot.model.jacobian(q[0]))


def response(
    told: np.ndarray, q: np.ndarray, wrench: np.ndarray, rate: float, J: np.ndarray
) -> Response:
    """What recorded commands (n,), joints (n, 6) and wrenches (n, 6) say of the arm.

    Raises:
        CalibrationError: the joints do not answer the command.
    """
    rest = round(REST * rate)
    rates = np.diff(q, axis=0) * rate
    u = told[:-1]
    f = np.fft.rfftfreq(len(u), 1 / rate)
    U = np.fft.rfft(u)
    used = (
        (f > LOWEST) & (f < min(0.8 * HIGHEST, 0.2 * rate)) & (np.abs(U) > 0.01 * np.abs(U).max())
    )
    fits = [_lag(f[used], np.fft.rfft(rates[:, n])[used] / U[used], rate) for n in range(6)]
    explained = float(np.median([fit for _, _, fit in fits]))
    if not explained > 0.5:
        raise CalibrationError(
            f"identify: the joints do not answer the command (explained: {explained:.0%}); is the "
            "speed slider at 100 %, and the arm free to move?"
        )
    taus, delays = np.array([tau for tau, _, _ in fits]), np.array([T for _, T, _ in fits])
    mode, confidence = _mode(u, wrench[:-1, :3], rest, rate)
    noise = (q[:rest] - q[:rest].mean(axis=0)) @ J[LINEAR].T
    return Response(
        float(np.median(taus)),
        float(taus.std()),
        float(np.median(delays)),
        float(delays.std()),
        explained,
        mode,
        confidence,
        float(wrench[:rest, :3].std(axis=0).max()),
        float(noise.std(axis=0).max()),
    )


def _lag(f: np.ndarray, H: np.ndarray, rate: float) -> tuple[float, float, float]:
    """Lag and delay of a measured response, s, and the share of it that they explain."""
    s = 2j * math.pi * f
    best = (0.0, 0.0, math.inf)
    taus, delays = np.linspace(0, 0.1, 41), np.linspace(0, 0.05, 26)
    for _ in range(4):  # ever finer grids
        for tau in taus:
            model = np.exp(-np.outer(delays, s)) / (1 + s * tau)
            costs = np.sum(np.abs(model - H) ** 2, axis=1)
            k = int(np.argmin(costs))
            if costs[k] < best[2]:
                best = (float(tau), float(delays[k]), float(costs[k]))
        wide, long = (taus[1] - taus[0]), (delays[1] - delays[0])
        taus = np.maximum(0, best[0] + np.linspace(-wide, wide, 15))
        delays = np.maximum(0, best[1] + np.linspace(-long, long, 15))
    return best[0], best[1], 1 - best[2] / float(np.sum(np.abs(H) ** 2))


def _mode(u: np.ndarray, force: np.ndarray, rest: int, rate: float) -> tuple[float, float]:
    """The pitch at which the force answers acceleration most, Hz, and the share of it that is no
    noise; zeros where no pitch stands out.
    """
    n = len(u)
    f = np.fft.rfftfreq(n, 1 / rate)
    near = np.ones(max(3, round(n / rate)))  # pitches within 1 Hz count together
    a = np.abs(np.fft.rfft(np.gradient(u) * rate)) ** 2
    b = np.sum(np.abs(np.fft.rfft(force - force[:rest].mean(axis=0), axis=0)) ** 2, axis=1)
    asked, answered = np.convolve(a, near, "same"), np.convolve(b, near, "same")
    noise = n * float(force[:rest].var(axis=0).sum()) * len(near)
    band = (f >= _MODE_LOWEST) & (f <= 0.8 * HIGHEST)
    answer = np.sqrt(answered / np.maximum(asked, 1e-12 * asked.max()))
    k = int(np.flatnonzero(band)[np.argmax(answer[band])])
    sure = 1 - noise / answered[k] if answered[k] > 0 else 0.0
    if answer[k] > _PEAK * np.median(answer[band]) and sure > _SURE:
        return float(f[k]), float(sure)
    return 0.0, 0.0


def to_yaml(found: Response, name: str) -> str:
    """A configuration with what was found, to be named after `extends:` or merged by hand."""
    noise = max(0.02, round(found.force_noise, 3))
    return (
        f"# How {name} follows velocity commands, measured in free space.\n"
        f"# lag {found.lag * 1e3:.1f} +- {found.lag_error * 1e3:.1f} ms, delay "
        f"{found.delay * 1e3:.1f} +- {found.delay_error * 1e3:.1f} ms, explains {found.fit:.0%}\n"
        "arm:\n"
        f"  lag: {min(found.lag, 0.1):.4f}                # s\n"
        f"  delay: {min(found.delay, 0.1):.4f}              # s\n"
        f"  mode_frequency: {found.mode_frequency:.1f}        # Hz; 0: none seen\n"
        "contact:\n"
        f"  force_noise: {noise:g}           # N rms, at rest\n"
        f"  motion_noise: {max(1e-6, found.motion_noise):.2g}       # m rms, at rest\n"
    )
