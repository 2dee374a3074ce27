"""Touching things with a light arm: `python -m benchmarks.contact`.

Closed loops of the whole UR5e: tick, inverse kinematics, all limits, a delayed and lagging arm,
noise. With contact damping, and with fixed gains on the same cases.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import ur_admittance as ua
from benchmarks import workload as workloads
from benchmarks.tick import Records, replay_ticks
from ur_admittance.rollout.random_touches import POSES, in_words, random_touches
from ur_admittance.rollout.touch import ALONE, DT, Touch, Touched, touch

MASS, DAMPING = 8.0, 80.0
LIGHT: dict[str, Any] = {
    "admittance.mass": [MASS] * 3 + [0.8] * 3,
    "admittance.damping": [DAMPING] * 3 + [8.0] * 3,
    **ALONE,
}


def config(adapt: bool, **more: Any) -> ua.Config:
    """M = 8 kg, D = 80 N s/m, with or without contact damping."""
    return ua.Config.from_dict({**LIGHT, "contact.adapt": adapt, **more})


def run(touches: list[Touch], adapt: bool, lag_error: float = 0.0, **more: Any) -> list[Touched]:
    """All of them; the controller knows each arm's lag, but for an error."""
    rng = np.random.default_rng(1)
    configs = [
        config(adapt, **{"arm.lag": t.arm.time_constant * (1 + lag_error * rng.uniform(-1, 1))})
        for t in touches
    ]
    configs = [c.replace(more) for c in configs] if more else configs
    return touch(ua.RobotModel.ur("ur5e"), configs, touches)


def share(results: list[Touched]) -> float:
    return float(np.mean([r.calm for r in results]))


def summary(results: list[Touched]) -> dict[str, Any]:
    return {
        "cases": len(results),
        "calm": share(results),
        "causes": dict(Counter(r.cause for r in results if not r.calm)),
        "ripple_median": float(np.nanmedian([r.ripple for r in results])),
        "ripple_99": float(np.nanquantile([r.ripple for r in results], 0.99)),
        "peak_median": float(np.median([r.peak for r in results])),
        "energy_given_99": float(np.quantile([r.energy_given for r in results], 0.99)),
    }


# --- free space ---


def feel(hand: float, adapt: bool, seconds: float = 3.0) -> dict[str, float]:
    """Mass and damping that a hand of so many N/m feels, leading the tool to and fro at up to 0.3
    m/s: a least-squares fit of the force on the tool to its motion.
    """
    model, lag, delay = ua.RobotModel.ur("ur5e"), 0.01, 2
    controller = ua.Controller(
        model, config(adapt, **{"arm.lag": lag, "admittance.deadband_force": 0})
    )
    rng, ticks = np.random.default_rng(3), round(seconds / DT)
    q, qd, told = model.home.copy(), np.zeros(6), [np.zeros(6)] * delay
    controller.activate(q)
    start = model.fk(q)
    reach, rate = 0.12, 0.3 / 0.12  # m, rad/s: at most 0.3 m/s
    keep, force, extra = math.exp(-DT / lag), np.zeros(ticks), np.zeros(ticks)
    x, v = np.zeros(ticks), np.zeros(ticks)
    grip = 2 * 0.3 * math.sqrt(hand * MASS)  # N s/m
    for k in range(ticks):
        X = model.fk(q)
        v[k] = float((model.jacobian(q) @ qd)[1])
        x[k] = X[1, 3] - start[1, 3]
        wish, wish_rate = reach * math.sin(rate * k * DT), reach * rate * math.cos(rate * k * DT)
        force[k] = hand * (wish - x[k]) + grip * (wish_rate - v[k])
        wrench = np.zeros(6)
        wrench[:3] = X[:3, :3].T @ (np.array([0, force[k], 0]) + rng.normal(0, 0.2, 3))
        out = controller.update(q + rng.normal(0, 4e-6, 6), wrench, DT)
        extra[k] = out["contact_damping"]
        told.append(np.array(out["qd"]))
        now = told.pop(0)
        q = q + now * DT + (qd - now) * lag * (1 - keep)
        qd = now + (qd - now) * keep
    some = slice(round(0.5 / DT), None)
    a = np.gradient(v, DT)
    (mass, damping), *_ = np.linalg.lstsq(np.c_[a, v][some], force[some], rcond=None)
    return {"mass": mass, "damping": damping, "added_damping": float(extra[some].mean())}


# --- impact ---


def impact(joints: float | None, braking: float, lag: float = 0.01, delay: float = 0.004) -> dict:
    """100 mm/s on 100 kN/m, straight down at home: the peak, beside the bounds of physics.

    `K (v T + v^2 / 2a)` for the acceleration that the arm has without turning the tool, for a
    command that must go through the lag as well, and for joints that may turn the tool.

    Args:
        joints: what each joint accelerates, rad/s^2; none: the arm's own.
        braking: `limits.max_contact_braking`, m/s^2.
    """
    model, K, v = ua.RobotModel.ur("ur5e"), 1e5, 0.1
    if joints is not None:
        model = replace(model, qdd_max=np.full(6, joints))
    way = Touch(K, v, 15.0, POSES[0], arm=ua.LaggedArm(lag, delay / DT), noise=ua.Noise(0.2))
    more = {"arm.lag": lag, "limits.max_contact_braking": braking}
    (adapted,) = touch(model, config(True, **more), [way])
    (fixed,) = touch(model, config(False), [way])
    J = model.jacobian(np.array(POSES[0]))
    command = 1 / float(np.max(np.abs(np.linalg.inv(J)[:, 2]) / model.qdd_max))
    a, turning = min(braking, command), min(braking, float(np.abs(J[2]) @ model.qdd_max))
    T = delay + 0.5 * DT
    return {
        "acceleration": a,
        "bound": K * (v * T + v**2 / (2 * a)),
        "bound_with_lag": K * (v * T + stopping_way(v, command, a, lag)),
        "bound_turning": K * (v * T + v**2 / (2 * turning)),
        "peak": adapted.peak,
        "settled": adapted.settled,
        "arm_braking": adapted.braking,
        "fixed_peak": fixed.peak,
        "fixed_settled": fixed.settled,
    }


def stopping_way(speed: float, command: float, a: float, lag: float) -> float:
    """How far an arm runs on whose command changes by no more than `command`, m/s^2, and that
    follows through its lag, itself braking no harder than `a`: m.
    """
    h, told, v, way = 1e-5, speed, speed, 0.0
    while v > 0:
        told = max(told - command * h, v - a * lag)
        v += (told - v) * h / lag
        way += v * h
    return way


# --- cost ---


def cost(rounds: int = 60) -> dict[str, float]:
    """Time of a tick, in the kernel, without and with all of it, s: the best of many short rounds,
    in turns, so that a busy machine slows both or neither.
    """
    free = workloads.free()
    both = []
    for on in (False, True):
        records = Records.of(free)
        records.params["adapt"] = records.params["monitor"] = on
        records.params["arm_lag"] = 0.01
        both.append(records)
    samples, qd = (free.q, free.wrench, free.dt), np.empty_like(free.q)
    best = [math.inf, math.inf]
    for _ in range(rounds):
        for n, records in enumerate(both):
            begun = time.perf_counter()
            replay_ticks(*records.four(), records.begin, *samples, 1, qd)
            best[n] = min(best[n], (time.perf_counter() - begun) / len(free.q))
    return {"off": best[0], "on": best[1], "ratio": best[1] / best[0]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--cases", type=int, default=2000, help="random cases, and half as many with a mode"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the cases (default: 0)")
    parser.add_argument("--json", type=Path, help="write all numbers there, too")
    options = parser.parse_args()
    results: dict[str, Any] = {}
    for name, flexible in (("rigid", False), ("flexible", True)):
        touches = random_touches(options.cases // (2 if flexible else 1), flexible, options.seed)
        for way, adapt in (("fixed gains", False), ("contact damping", True)):
            outcome = run(touches, adapt, lag_error=0.1)
            results[f"{name}, {way}"] = row = summary(outcome)
            print(f"{name} arm, {way}: {row['calm']:.1%} of {row['cases']} without chatter", end="")
            print(f"; ripple {row['ripple_median']:.2f} N (median), {row['causes']}")
            if adapt:
                for t, r in zip(touches, outcome, strict=True):
                    if not r.calm:
                        print(f"    {r.cause}: {_case(t, r)}")
    for hand in (300.0, 600.0, 1000.0):
        for way, adapt in (("fixed gains", False), ("contact damping", True)):
            results[f"feel {hand:g}, {way}"] = felt = feel(hand, adapt)
            print(f"hand of {hand:g} N/m, {way}: " + _numbers(felt))
    for joints, braking in ((None, 15.0), (40.0, 15.0), (250.0, 15.0)):
        results[f"impact {joints} {braking}"] = hit = impact(joints, braking)
        print(
            f"impact, joints {joints or 'its own'} rad/s^2, braking {braking:g}: " + _numbers(hit)
        )
    results["cost"] = spent = cost()
    print(
        f"tick: {spent['off'] * 1e6:.2f} us off, {spent['on'] * 1e6:.2f} on: {spent['ratio']:.2f}"
    )
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


def _numbers(values: dict[str, float]) -> str:
    return ", ".join(f"{name} {value:.3g}" for name, value in values.items())


def _case(t: Touch, r: Touched) -> str:
    return f"{in_words(t)}; ripple {r.ripple:.2f} N, peak {r.peak:.0f} N"


if __name__ == "__main__":
    main()
