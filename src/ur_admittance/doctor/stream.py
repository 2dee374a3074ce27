"""What a robot says in some seconds: its rate and gaps, and all that a sensor's readings show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ur_admittance.calibration.measured import Measured
from ur_admittance.config import Config
from ur_admittance.controller.at_rest import expected
from ur_admittance.controller.packing import pack
from ur_admittance.doctor.finding import OK, WARN, WRONG, Finding, judged
from ur_admittance.errors import RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots.base import FROZEN, Robot
from ur_admittance.run import preflight

AXES = ("fx", "fy", "fz", "tx", "ty", "tz")
_UNITS = ("N",) * 3 + ("Nm",) * 3
_RATE = 0.05  # share by which a rate may differ
_GAP = 5.0  # periods
_DEADBAND = 4.0  # standard deviations
_DRIFT = 0.5, 0.05  # N, Nm a minute
_COARSE = 0.5, 0.05  # N, Nm of a step
_TILTED = 30.0  # degrees
_MARGIN = 0.5  # of the range that should be free at rest


@dataclass(frozen=True)
class Heard:
    """What came."""

    times: np.ndarray  # (n,) of the joint states, s
    q: np.ndarray  # (n, 6) rad
    wrench_times: np.ndarray  # (m,) of the readings, s
    wrench: np.ndarray  # (m, 6) N and Nm
    rate: float  # that the robot should have, Hz


def listen(robot: Robot, seconds: float) -> Heard:
    """Listen, and command nothing.

    Raises:
        RobotError: nothing comes.
    """
    times, q, wrench_times, wrench = [], [], [], []
    until, last, felt = robot.clock() + seconds, -np.inf, -np.inf
    while robot.clock() < until:
        state = robot.wait()
        if state.joint_time > last:
            last = state.joint_time
            times.append(last)
            q.append(state.q.copy())
        if state.wrench_time > felt:
            felt = state.wrench_time
            wrench_times.append(felt)
            wrench.append(state.wrench.copy())
    if len(times) < 2 or len(wrench) < 2:
        raise RobotError(f"{len(times)} joint states and {len(wrench)} wrenches in {seconds:g} s")
    return Heard(np.array(times), np.array(q), np.array(wrench_times), np.array(wrench), robot.rate)


def rates(heard: Heard) -> Iterator[Finding]:
    """Of joint states and of wrenches, with their gaps."""
    for what, times, mend in (
        ("state rate", heard.times, "look at network and load; control_rate must be the robot's"),
        ("wrench rate", heard.wrench_times, "set the sensor to the loop's rate (ROS: its driver)"),
    ):
        span = float(times[-1] - times[0])
        rate = (len(times) - 1) / span if span > 0 else 0.0
        gap = float(np.diff(times).max())
        words = f"{rate:.1f} Hz, longest gap {1e3 * gap:.1f} ms"
        off = abs(rate / heard.rate - 1.0)
        if off > _RATE:
            yield Finding(what, WRONG, words, f"{heard.rate:g} Hz, within 5 %", mend)
        else:
            yield judged(
                what,
                words,
                good=gap <= _GAP / heard.rate,
                should=f"no gap above {1e3 * _GAP / heard.rate:.0f} ms",
                mend=mend,
            )


def sensor(robot: Robot) -> Iterator[Finding]:
    """What a sensor in place of the robot's own says of itself."""
    if (source := robot.sensor) is None:
        return
    said, _, mend = source.problem.rpartition("; ")
    yield judged(
        "sensor",
        said or f"{source.name}, {source.count} good samples",
        good=not source.problem,
        should="no error in its status",
        mend=mend,
        bad=WRONG,
    )


def wrench(
    heard: Heard, config: Config, *, real: bool, ends: np.ndarray | None = None
) -> Iterator[Finding]:
    """Noise against the deadband of `config`, quantisation, frozen bits if the sensor is `real`,
    drift, and saturation if the `ends` (6,) of its range are known, N and Nm.
    """
    w = heard.wrench
    if not np.isfinite(w).all():
        axis = int((~np.isfinite(w)).any(axis=0).argmax())
        yield Finding(
            "readings", WRONG, f"{AXES[axis]} is not a number", "numbers",
            "look at the sensor's cable and status",
        )  # fmt: skip
        return
    t = heard.wrench_times - heard.wrench_times.mean()
    slopes = (t @ w) / max(float(t @ t), 1e-12)
    noise = (w - w.mean(axis=0) - np.outer(t, slopes)).std(axis=0)
    yield _noise(noise, config)
    yield _steps(w)
    yield _frozen(w, real=real)
    error = noise / np.sqrt(max(float(t @ t), 1e-12))
    yield _drift(60.0 * slopes, 60.0 * error)
    if ends is not None:
        share = np.abs(w).max(axis=0) / ends
        axis = int(share.argmax())
        yield judged(
            "saturation",
            f"{AXES[axis]} uses {share[axis]:.0%} of its range at rest",
            good=bool(share[axis] <= _MARGIN),
            should=f"at most {_MARGIN:.0%}",
            mend="zero the sensor in its driver, or take a lighter tool",
            bad=WRONG if share[axis] >= 0.95 else WARN,
        )


def _noise(noise: np.ndarray, config: Config) -> Finding:
    force, torque = (_DEADBAND * float(noise[part].max()) for part in (LINEAR, ANGULAR))
    have = config.effective_deadband()
    words = ", ".join(f"{n} {s:.2g}" for n, s in zip(AXES, noise, strict=True))
    return judged(
        "noise",
        f"{words} (N, Nm rms); a deadband of {force:.2g} N, {torque:.2g} Nm takes it away",
        good=have[0] >= force and have[1] >= torque,
        should=f"below the deadband of {have[0]:g} N, {have[1]:g} Nm",
        mend="raise admittance.deadband_force and deadband_torque, or filter: filter_cutoff_hz",
    )


def _steps(w: np.ndarray) -> Finding:
    """The least difference between two values of an axis: its resolution."""
    steps = np.array([_least(np.unique(column)) for column in w.T])
    coarse = steps > np.repeat(_COARSE, 3)
    axis = int((steps / np.repeat(_COARSE, 3)).argmax())
    return judged(
        "quantisation",
        f"steps of {steps[LINEAR].max():.2g} N, {steps[ANGULAR].max():.2g} Nm",
        good=not coarse.any(),
        should=f"{AXES[axis]} finer than {np.repeat(_COARSE, 3)[axis]:g} {_UNITS[axis]}",
        mend="let the driver send floating-point numbers, or choose a finer calibration",
    )


def _least(values: np.ndarray) -> float:
    return float(np.diff(values).min()) if len(values) > 1 else 0.0


def _frozen(w: np.ndarray, *, real: bool) -> Finding:
    same = (np.diff(w, axis=0) == 0.0).all(axis=1)
    longest, run = 0, 0
    for equal in same.tolist():
        run = run + 1 if equal else 0
        longest = max(longest, run)
    words = f"{longest + 1} equal readings in a row" if longest else "no two equal ones in a row"
    return judged(
        "frozen bits",
        words,
        good=longest < FROZEN or not real,
        should=f"fewer than {FROZEN}",
        mend="start the sensor again; look at who passes its readings on",
        bad=WRONG,
    )


def _drift(a_minute: np.ndarray, error: np.ndarray) -> Finding:
    limits = np.repeat(_DRIFT, 3)
    sure = np.abs(a_minute) - 3.0 * error
    axis = int((sure / limits).argmax())
    return judged(
        "drift",
        f"{AXES[axis]} {a_minute[axis]:+.2g} +- {error[axis]:.1g} {_UNITS[axis]} a minute",
        good=bool((sure <= limits).all()),
        should=f"at most {limits[axis]:g} {_UNITS[axis]} a minute",
        mend="let the sensor warm up for half an hour; then ur-admittance tare",
    )


def gravity(robot: Robot, config: Config, heard: Heard) -> Iterator[Finding]:
    """Whether the arm stands, and whether bias and payload explain what the sensor reads here."""
    moved = float(np.ptp(heard.q, axis=0).max())
    span = float(heard.times[-1] - heard.times[0])
    yield judged(
        "at rest",
        f"joints moved by {moved:.4f} rad in {span:.1f} s",
        good=moved <= 0.002,
        should="still: what follows needs it",
        mend="stop the program on the pendant, and look again",
    )
    if robot.wrench_compensated:
        yield Finding("payload", OK, "taken out of the wrench by the robot itself")
    q, mean = heard.q.mean(axis=0), heard.wrench.mean(axis=0)
    yield _explained("gravity", robot, config, q, mean)


def _explained(what: str, robot: Robot, config: Config, q: np.ndarray, mean: np.ndarray) -> Finding:
    """Whether bias and payload explain a mean reading (6,) at joint angles q."""
    params = pack(config, robot.model)
    left = mean - expected(robot.model, params, q)
    force, torque = np.linalg.norm(left[LINEAR]), np.linalg.norm(left[ANGULAR])
    why = preflight.problem(robot.model, params, config, q, mean)
    most = preflight.allowed(config)
    return judged(
        what,
        f"{force:.2g} N, {torque:.2g} Nm unexplained in this pose",
        good=not why,
        should=f"at most {most[0]:.2g} N, {most[1]:.2g} Nm",
        mend=why.rpartition("; ")[2] + "; else: ur-admittance calibrate",
        bad=WRONG,
    )


def poses(robot: Robot, config: Config, measured: Sequence[Measured]) -> Iterator[Finding]:
    """Whether bias and payload explain the readings in several poses: in one a mistake may hide."""
    for n, one in enumerate(measured, 1):
        if one.q is not None:
            mean = one.samples.mean(axis=0)
            yield _explained(f"gravity, pose {n}", robot, config, one.q, mean)
    axes = np.array([one.R_WS.T @ np.array(config.payload.gravity) for one in measured])
    tilts = np.degrees(np.arccos(np.clip(axes @ axes[0] / (axes[0] @ axes[0]), -1.0, 1.0)))
    yield judged(
        "poses",
        f"gravity turned by up to {tilts.max():.0f} degrees in the sensor",
        good=bool(tilts.max() >= _TILTED),
        should=f"{_TILTED:.0f} degrees or more: similar poses show nothing new",
        mend="tilt the tool further to another side",
    )


def place(robot: Robot, config: Config, heard: Heard) -> Finding:
    """Whether the tool is inside the box."""
    where = robot.model.fk(heard.q[-1])[:3, 3]
    words = ", ".join(f"{x:.3f}" for x in where)
    outside = preflight.outside(config, where)
    return judged(
        "workspace",
        f"tool at {words} m",
        good=not outside,
        should="inside limits.workspace_min and workspace_max",
        mend="bring it inside, or move the wall",
        bad=WARN,
    )


def felt(robot: Robot, config: Config, axis: int, seconds: float) -> Finding:
    """Ask a hand: pushed along +x, +y or +z of the tool, does the sensor say so?"""
    params = pack(config, robot.model)
    until, best = robot.clock() + seconds, np.zeros(3)
    while robot.clock() < until:
        state = robot.wait()
        left = state.wrench - expected(robot.model, params, state.q)
        f = params[0]["R_PS"] @ left[LINEAR]
        if np.linalg.norm(f) > np.linalg.norm(best):
            best = f.copy()
    what, size = f"push +{'xyz'[axis]}", float(np.linalg.norm(best))
    words = f"felt [{', '.join(f'{x:+.1f}' for x in best)}] N"
    if size < 5.0:
        return Finding(what, WARN, words, "a push of 5 N or more", "push harder, and look again")
    most = int(np.abs(best).argmax())
    good = most == axis and best[axis] > 0
    said = f"{'+' if best[most] > 0 else '-'}{'xyz'[most]}"
    return judged(
        what,
        words,
        good=good,
        should=f"along +{'xyz'[axis]}, not {said}",
        mend="put right the sensor's sign or mounting (ft_frame, tool.sensor); calibrate names it",
        bad=WRONG,
    )
