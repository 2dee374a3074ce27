"""Which poses are fit to use, and what they say: means, noise, and the noise of a mean."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import lfilter

from ur_admittance.calibration.measured import Measured, Refused, read

N = 400
SPREAD = np.repeat([0.2, 0.01], 3)


def poses(count: int = 8, seed: int = 0) -> list[Measured]:
    """White noise around a mean of its own in each pose."""
    rng = np.random.default_rng(seed)
    return [
        Measured(np.eye(3), rng.normal(n, 1.0, (N, 6)) * SPREAD, 100.0 + 3 * n)
        for n in range(count)
    ]


def changed(rows: list[Measured], n: int, change: Callable[[np.ndarray], np.ndarray]):
    """The same poses, but for the samples of pose `n`."""
    return [replace(one, samples=change(one.samples)) if k == n else one
            for k, one in enumerate(rows)]  # fmt: skip


def test_a_pose_is_its_mean_and_its_time_from_the_first() -> None:
    rows = poses()
    found = read(rows)
    np.testing.assert_allclose(found.wrench, [row.samples.mean(axis=0) for row in rows])
    np.testing.assert_array_equal(found.time, 3.0 * np.arange(8))
    np.testing.assert_array_equal(found.poses, np.arange(8))
    assert found.unsteady == () and len(found) == 8


def test_noise_is_that_of_a_sample_and_of_a_mean() -> None:
    found = read(poses(40))
    np.testing.assert_allclose(found.noise, SPREAD, rtol=0.03)
    np.testing.assert_allclose(found.mean_noise, SPREAD / np.sqrt(N), rtol=0.25)


def test_the_mean_of_samples_that_a_filter_made_alike_is_as_noisy_as_it_is() -> None:
    """A first-order filter with a memory of ten samples: the mean of n hardly gets better by it."""
    rng, rows, means = np.random.default_rng(1), [], []
    for n in range(200):
        white = rng.standard_normal((N + 200, 6))
        noise = np.asarray(lfilter([0.1], [1.0, -0.9], white, axis=0))[200:]
        rows.append(Measured(np.eye(3), noise * SPREAD, float(n)))
        means.append(noise.mean(axis=0) * SPREAD)
    found = read(rows)
    np.testing.assert_allclose(found.mean_noise, np.std(means, axis=0), rtol=0.25)
    white = found.noise / np.sqrt(N)
    assert (found.mean_noise > 3 * white).all()


def test_a_pose_that_was_not_still_is_left_out_and_the_others_stay_in_order() -> None:
    rows = changed(poses(), 3, lambda w: w + np.linspace(0, 3, N)[:, None])
    found = read(rows)
    assert found.unsteady == (3,)
    np.testing.assert_array_equal(found.poses, [0, 1, 2, 4, 5, 6, 7])
    some = found.only(found.poses > 4)
    np.testing.assert_array_equal(some.poses, [5, 6, 7])
    np.testing.assert_array_equal(some.wrench, found.wrench[-3:])
    np.testing.assert_array_equal(some.noise, found.noise)


def end_of_range(axis: int, end: float) -> Callable[[np.ndarray], np.ndarray]:
    def clipped(w: np.ndarray) -> np.ndarray:
        w = w.copy()
        w[:, axis] = end
        return w

    return clipped


def one_nan(w: np.ndarray) -> np.ndarray:
    w = w.copy()
    w[7, 2] = np.nan
    return w


@pytest.mark.parametrize(
    ("n", "change", "reason", "words"),
    [
        (2, one_nan, "not numbers", "pose 3: .*NaN"),
        (2, lambda w: w[:, :5], "not numbers", r"pose 3: readings of shape \(400, 5\)"),
        (2, lambda w: w[:1], "not numbers", "pose 3: readings of shape"),
        (4, lambda w: np.tile(w[0], (N, 1)), "frozen", "pose 5: all 400 readings are equal"),
        (5, end_of_range(4, 0.3), "saturated", "pose 6: torque y stays at 0.3 Nm"),
    ],
)
def test_a_pose_that_says_nothing_is_refused_by_its_number(n, change, reason, words) -> None:
    with pytest.raises(Refused, match=words) as refused:
        read(changed(poses(), n, change))
    assert refused.value.reason == reason


def test_readings_that_come_twice_are_old_ones() -> None:
    rows = poses()
    rows[5] = replace(rows[5], samples=rows[4].samples)
    with pytest.raises(Refused, match="poses 5 and 6 have the same readings") as refused:
        read(rows)
    assert refused.value.reason == "stale"


def test_an_orientation_that_is_none_is_refused() -> None:
    for R in (1.01 * np.eye(3), np.diag([1.0, 1.0, -1.0]), np.full((3, 3), np.nan), np.eye(4)):
        rows = poses()
        rows[1] = replace(rows[1], R_WS=R)
        with pytest.raises(Refused, match="pose 2: its orientation is no rotation") as refused:
            read(rows)
        assert refused.value.reason == "no rotation"


@pytest.mark.parametrize(("peak", "refused"), [(0.94, False), (0.96, True), (-0.96, True)])
def test_near_the_end_of_a_known_range_a_sensor_counts_as_saturated(peak, refused) -> None:
    ends = np.repeat([50.0, 5.0], 3)
    rows = poses()
    rows[2].samples[11, 4] = peak * ends[4]
    if not refused:
        read(rows, sensor_range=ends.tolist())
        return
    with pytest.raises(Refused, match=r"pose 3: torque y reads 4\.8 Nm.*range ends at 5"):
        read(rows, sensor_range=ends.tolist())


def test_too_few_poses_and_too_few_still_ones_are_refused() -> None:
    with pytest.raises(Refused, match="5 poses; at least 6") as refused:
        read(poses(5))
    assert refused.value.reason == "too few"
    rows = poses(12)
    for n in range(7):
        rows = changed(rows, n, lambda w: 30 * w)
    with pytest.raises(Refused, match="only 5 of 12 poses were still") as refused:
        read(rows)
    assert refused.value.reason == "not still"


def test_a_simulated_sensor_may_say_the_same_twice() -> None:
    rows = [replace(one, samples=np.tile(SPREAD, (N, 1))) for one in poses()]
    np.testing.assert_allclose(read(rows, real=False).wrench, np.tile(SPREAD, (8, 1)))
    with pytest.raises(Refused):
        read(rows)
