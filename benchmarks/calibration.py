"""Payload calibration: `python -m benchmarks.calibration`.

Random tools, to see that standard errors are honest; everything that goes wrong on a bench, to see
that it is refused by its name; and the simulated arm, whose sensor is MuJoCo's, from the poses it
chooses itself to a hundred others.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.calibration_cases import (
    FAULTS,
    Bench,
    measure,
    random_bench,
    sturdy_bench,
)
from ur_admittance import Config, RobotModel
from ur_admittance.calibration.collect import gather, sensor_axes, through
from ur_admittance.calibration.measured import Refused
from ur_admittance.calibration.payload import Estimate, estimate
from ur_admittance.calibration.poses import choose
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots import connect
from ur_admittance.run import Run


@dataclass(frozen=True)
class Honest:
    """How the errors of many estimates compare with their own standard errors.

    Attributes:
        runs: tools.
        refused: reasons, with how many tools were refused for each.
        within: share of all parameters of all runs that are within three standard errors.
        worst: that share for the parameter with the lowest.
        deviation: rms of error by standard error: 1 is honest, below is cautious.
    """

    runs: int
    refused: dict[str, int]
    within: float
    worst: float
    deviation: float


def errors_of(bench: Bench, found: Estimate) -> np.ndarray:
    """Error by standard error of every parameter (13,)."""
    truth = [bench.mass, *bench.com, *bench.bias, *bench.mounting]
    got = [
        found.mass,
        *found.center_of_mass,
        *found.force_bias,
        *found.torque_bias,
        *found.mounting,
    ]
    return (np.array(got) - truth)[: len(found.errors)] / list(found.errors.values())


def honest(runs: int, seed: int = 0, poses: int = 12) -> Honest:
    """Random tools, their readings made by the model with noise; the mounting is found, too."""
    refused, rows = Counter(), []
    for n in range(runs):
        rng = np.random.default_rng([seed, n])
        bench = random_bench(rng)
        try:
            rows.append(errors_of(bench, estimate(measure(bench, rng, poses), mounting=True)))
        except Refused as reason:
            refused[reason.reason] += 1
    return summary(np.array(rows), refused)


def summary(rows: np.ndarray, refused: Counter[str]) -> Honest:
    """Of errors by standard errors (runs, parameters)."""
    inside = np.abs(rows) <= 3.0
    return Honest(
        len(rows) + refused.total(),
        dict(refused),
        float(inside.mean()),
        float(inside.mean(axis=0).min()),
        float(np.sqrt((rows**2).mean())),
    )


def weighed(runs: int, seed: int = 4, poses: int = 12) -> Honest:
    """Random tools again, weighed by MuJoCo's sensor on the simulated arm, which is turned by the
    mounting that is to be found. The arm is put into its poses, not led.
    """
    model, refused, rows = RobotModel.ur("ur5e"), Counter(), []
    for n in range(runs):
        rng = np.random.default_rng([seed, n])
        bench = random_bench(rng)
        config = Config.from_dict(
            {**_carried(bench), "tool.sensor": [0, 0, 0, *-np.array(bench.mounting)]}
        )
        measured = []
        for k in range(poses):
            q = model.home + rng.uniform(-1.0, 1.0, 6) * [1, 0.5, 0.5, 3, 3, 3]
            how = {"realtime": False, "noise": bench.noise, "seed": n * poses + k}
            with connect("sim", config=config, q0=q, **how) as arm:
                one = gather(arm)
            assert one.q is not None
            R_WS = sensor_axes(model, one.q)  # as one who does not know the mounting has it
            measured.append(replace(one, R_WS=R_WS, time=3.0 * k))
        try:
            rows.append(errors_of(bench, estimate(measured, mounting=True, real=False)))
        except Refused as reason:
            refused[reason.reason] += 1
    return summary(np.array(rows), refused)


def _carried(bench: Bench) -> dict[str, Any]:
    """What a simulated arm carries, as a configuration."""
    return {
        "payload.mass": bench.mass,
        "payload.center_of_mass": bench.com,
        "payload.force_bias": bench.bias[:3],
        "payload.torque_bias": bench.bias[3:],
    }


def precise(runs: int, seed: int = 1) -> dict[str, float]:
    """At 0.1 N noise and 12 poses: greatest error of mass (share) and of centre (m)."""
    mass, center = 0.0, 0.0
    for n in range(runs):
        rng = np.random.default_rng([seed, n])
        bench = replace(random_bench(rng), noise=(0.1, 0.005))
        found = estimate(measure(bench, rng), mounting=True)
        mass = max(mass, abs(found.mass / bench.mass - 1))
        center = max(center, float(np.linalg.norm(found.center_of_mass - bench.com)))
    return {"runs": runs, "mass": mass, "center": center}


def faults(runs: int, seed: int = 2) -> dict[str, dict[str, int]]:
    """What each mistake is refused for, on so many tools; '' where a number came out."""
    table: dict[str, dict[str, int]] = {}
    for name, (_, make, told) in FAULTS.items():
        said: Counter[str] = Counter()
        for n in range(runs):
            rng = np.random.default_rng([seed, n])
            try:
                estimate(make(sturdy_bench(rng), rng), **told)
                said[""] += 1
            except Refused as reason:
                said[reason.reason] += 1
        table[name] = dict(said)
    return table


def simulated(tools: int, others: int, seed: int = 3) -> dict[str, float]:
    """The simulated arm calibrates itself; then it stands in so many other poses.

    Returns:
        The greatest share of what was promised to be left that is left, of force and of torque;
        below 1 the promise was kept in every pose of every tool.
    """
    model, worst = RobotModel.ur("ur5e"), np.zeros(2)
    for n in range(tools):
        rng = np.random.default_rng([seed, n])
        bench = replace(random_bench(rng), mounting=(0.0, 0.0, 0.0))
        config = Config.from_dict(_carried(bench))
        carries = {"config": config, "realtime": False, "noise": bench.noise, "seed": n}
        with connect("sim", **carries) as arm:
            ways = choose(model, Config(), arm.wait().q.copy())
            found = estimate(through(Run(arm), ways), real=False)
        for _ in range(others):
            q = model.home + rng.uniform(-1.0, 1.0, 6) * [1, 0.5, 0.5, 3, 3, 3]
            with connect("sim", q0=q, **carries) as arm:
                here = gather(arm)
            left = here.samples.mean(axis=0) - predicted(found, here.R_WS)
            sizes = [np.linalg.norm(left[part]) for part in (LINEAR, ANGULAR)]
            worst = np.maximum(worst, sizes / np.array([found.left_force, found.left_torque]))
    return {"tools": tools, "poses": others, "force": worst[0], "torque": worst[1]}


def predicted(found: Estimate, R_WS: np.ndarray) -> np.ndarray:
    """What the sensor reads in this orientation, by the estimate, N and Nm (6,)."""
    weight = found.mass * R_WS.T @ found.gravity
    torque = np.cross(found.center_of_mass, weight) + found.torque_bias
    return np.concatenate([weight + found.force_bias, torque])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of it")
    parser.add_argument("--json", type=Path, help="file to write the results to")
    options = parser.parse_args()
    runs = 20 if options.quick else 200
    results: dict[str, Any] = {}

    for name, found, by in (
        ("honest", honest(runs), "the model and noise"),
        ("weighed", weighed(runs), "MuJoCo's sensor"),
    ):
        results[name] = vars(found)
        print(
            f"{found.runs} random tools by {by}, 12 poses, mounting found: {found.within:.2%} of "
            f"the errors within three standard errors, {found.worst:.1%} of the worst parameter; "
            f"rms {found.deviation:.2f} standard errors; refused {found.refused or 'none'}"
        )
    results["precise"] = precise(runs)
    print(
        f"at 0.1 N: mass within {results['precise']['mass']:.2%}, centre within "
        f"{1e3 * results['precise']['center']:.2f} mm"
    )
    results["faults"] = faults(2 if options.quick else 20)
    print("\nwhat went wrong                      refused for")
    for name, said in results["faults"].items():
        reason, own = FAULTS[name][0], said.get(FAULTS[name][0], 0)
        others = {k or "a number": v for k, v in said.items() if k != reason}
        print(f"{name:36} {reason}: {own} of {sum(said.values())} {others or ''}")
    results["simulated"] = simulated(*(1, 5) if options.quick else (5, 100))
    kept = results["simulated"]
    print(
        f"\nsimulated arm, {kept['tools']} tools, {kept['poses']} other poses each: at most "
        f"{kept['force']:.0%} of the force and {kept['torque']:.0%} of the torque that were "
        "promised to be left"
    )
    if options.json:
        options.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
