"""Mistakes by name, on many tools; and none where there is none."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.calibration_cases import (
    FAULTS,
    PAUSE,
    Bench,
    G,
    measure,
    orientations,
    random_bench,
    sturdy_bench,
)
from scipy.spatial.transform import Rotation

from ur_admittance.calibration.diagnosis import explain, judge_residuals, signed_permutations
from ur_admittance.calibration.measured import Measured, Refused, read
from ur_admittance.calibration.payload import estimate
from ur_admittance.calibration.payload_fit import fit


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def judged(rows: list[Measured], *, mounting: bool = False) -> None:
    """All that is looked for, on readings as they came."""
    readings = read(rows)
    found = fit(readings, G, mounting=mounting)
    explain(readings, found, G, tilt=False)
    judge_residuals(readings, found)


def changed(rows: list[Measured], change: Callable[[int, np.ndarray], np.ndarray]):
    return [replace(one, samples=change(n, one.samples)) for n, one in enumerate(rows)]


@pytest.mark.parametrize("seed", range(25))
def test_a_tool_with_nothing_wrong_is_accused_of_nothing(seed: int) -> None:
    bench = random_bench(rng(seed))
    judged(measure(bench, rng(seed + 500)), mounting=True)
    judged(measure(replace(bench, mounting=(0.0, 0.0, 0.0)), rng(seed + 900)))


@pytest.mark.parametrize(
    "what",
    [
        *("one axis mirrored", "all axes reversed", "one torque axis mirrored"),
        *("force and torque exchanged", "wrenches in base axes", "orientations inverted"),
        *("readings of the pose before", "arm on a wall", "touched during a pose"),
    ],
)
def test_a_mistake_is_refused_on_every_tool_and_by_its_name_on_nearly_every(what: str) -> None:
    reason, make, _ = FAULTS[what]
    names = []
    for seed in range(20):
        with pytest.raises(Refused) as refused:
            judged(make(sturdy_bench(rng(seed)), rng(seed)))
        names.append(refused.value.reason)
    assert names.count(reason) >= 19, names


def test_of_the_48_ways_to_exchange_and_reverse_axes_each_but_one_is_named() -> None:
    ways = list(signed_permutations())
    assert len(ways) == 48 and len({way.tobytes() for way in ways}) == 48
    rows = measure(Bench(), rng())
    for n, Q in enumerate(ways):
        both = np.kron(np.eye(2), Q)
        turned = [replace(one, samples=one.samples @ both.T) for one in rows]
        if n == 0:
            assert estimate(turned).verdict == "good"
            continue
        with pytest.raises(Refused) as refused:
            estimate(turned)
        assert refused.value.reason == "axes"
        if not (-np.eye(3) == Q).all():
            row = next(k for k in range(3) if Q[k, k] != 1)
            axis = int(np.abs(Q[row]).argmax())
            said = f"force {'xyz'[row]} is really {'+' if Q[row, axis] > 0 else '-'}{'xyz'[axis]}"
            assert said in str(refused.value)


@pytest.mark.parametrize("axis", range(6))
def test_a_drift_is_told_with_its_axis_and_its_size(axis: int) -> None:
    size = 2.0 if axis < 3 else 0.2  # N or Nm a minute
    push = np.eye(6)[axis] * size * PAUSE / 60
    rows = changed(measure(Bench(), rng(3), 20), lambda n, w: w + n * push)
    with pytest.raises(Refused) as refused:
        judged(rows)
    name, unit = f"{'force' if axis < 3 else 'torque'} {'xyz'[axis % 3]}", "N" if axis < 3 else "Nm"
    assert refused.value.reason == "drift"
    said = str(refused.value).split(" drifts by ")
    assert said[0] == name and said[1].split()[1] == unit
    assert float(said[1].split()[0]) == pytest.approx(size, rel=0.4)


@pytest.mark.parametrize("pose", [0, 5, 11])
def test_one_pose_that_was_touched_is_told_by_its_number(pose: int) -> None:
    push = np.array([0.0, 3.0, 0.0, 0.0, 0.0, 0.0])
    rows = changed(measure(Bench(), rng(4)), lambda n, w: w + push * (n == pose))
    with pytest.raises(Refused, match=rf"pose {pose + 1}: force y is off by \+(2|3)") as refused:
        judged(rows)
    assert refused.value.reason == "touched"


def test_with_the_mounting_free_a_small_turn_is_no_mistake_and_a_great_one_is() -> None:
    for degrees, fine in ((10, True), (25, False)):
        bench = replace(Bench(), mounting=(0.0, np.radians(degrees), 0.0))
        rows = measure(bench, rng(5))
        if fine:
            judged(rows, mounting=True)
            continue
        with pytest.raises(Refused, match="turned by 25") as refused:
            judged(rows, mounting=True)
        assert refused.value.reason == "mounting"


def test_a_base_that_leans_is_told_with_the_gravity_that_would_explain_it() -> None:
    lean = Rotation.from_euler("x", 40, degrees=True).as_matrix()
    rows = measure(Bench(), rng(6), R_WS=orientations(rng(6), 16))
    rows = [replace(one, R_WS=lean @ one.R_WS) for one in rows]
    with pytest.raises(Refused, match="weight pulls 40 degrees off") as refused:
        judged(rows)
    assert refused.value.reason == "gravity"
    said = str(refused.value).partition("payload.gravity: [")[2].partition("]")[0]
    np.testing.assert_allclose([float(x) for x in said.split(",")], lean @ G, atol=0.1)
