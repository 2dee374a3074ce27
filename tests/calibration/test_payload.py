"""Payload calibration: numbers that know how good they are, or a refusal that names the mistake."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.calibration import errors_of
from benchmarks.calibration_cases import FAULTS, Bench, measure, orientations, random_bench
from scipy.optimize import lsq_linear
from scipy.spatial.transform import Rotation

from ur_admittance.calibration.measured import Refused
from ur_admittance.calibration.payload import estimate, lacking


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_mass_centre_and_bias_are_found() -> None:
    bench = Bench()
    found = estimate(measure(bench, rng()))
    assert found.mass == pytest.approx(bench.mass, rel=0.01)
    assert np.linalg.norm(found.center_of_mass - bench.com) < 0.002
    assert found.force_bias == pytest.approx(bench.bias[:3], abs=0.02)
    assert found.torque_bias == pytest.approx(bench.bias[3:], abs=0.002)
    assert found.verdict == "good" and found.condition < 10 and found.unseen == ()


def test_without_outliers_it_is_the_plain_least_squares_solution() -> None:
    """Against SciPy's linear solver on the equations written out anew."""
    rows = measure(Bench(), rng(3), 20)
    found = estimate(rows)
    A, y = [], []
    for one in rows:
        u = one.R_WS.T @ [0, 0, -9.81]
        cross = -np.cross(u, np.eye(3)).T  # h x u = -u x h
        A.append(np.block([[u[:, None], np.zeros((3, 3)), np.eye(3), np.zeros((3, 3))]]))
        A.append(np.block([[np.zeros((3, 1)), cross, np.zeros((3, 3)), np.eye(3)]]))
        y.append(one.samples.mean(axis=0))
    weights = np.tile(np.repeat([1 / 0.1, 1 / 0.005], 3), len(rows))
    x = lsq_linear(np.vstack(A) * weights[:, None], np.concatenate(y) * weights).x
    assert found.mass == pytest.approx(x[0], abs=5e-4)
    assert found.center_of_mass == pytest.approx(x[1:4] / x[0], abs=1e-4)
    assert found.force_bias == pytest.approx(x[4:7], abs=5e-3)


def test_errors_are_as_large_as_the_standard_errors_say() -> None:
    """The slice of `python -m benchmarks.calibration`: 6 of its 200 tools."""
    rows = []
    for n in range(6):
        bench = random_bench(rng(n))
        found = estimate(measure(bench, rng(100 + n)), mounting=True)
        rows.append(errors_of(bench, found))
    sigmas = np.abs(np.array(rows))
    assert (sigmas <= 3).mean() >= 0.97
    assert 0.7 < np.sqrt((sigmas**2).mean()) < 1.3


@pytest.mark.parametrize("what", FAULTS)
def test_each_mistake_is_refused_by_its_own_name(what: str) -> None:
    reason, make, told = FAULTS[what]
    with pytest.raises(Refused) as refused:
        estimate(make(Bench(), rng()), **told)
    assert refused.value.reason == reason
    assert len(str(refused.value)) > 40


def test_there_are_more_than_twenty_mistakes_and_more_than_twenty_reasons() -> None:
    assert len(FAULTS) >= 30 and len({reason for reason, _, _ in FAULTS.values()}) >= 20


def test_a_mounting_that_is_off_is_found_and_its_sign_is_that_of_the_sensor() -> None:
    bench = replace(Bench(), mounting=(0.03, -0.05, 0.02))
    found = estimate(measure(bench, rng()), mounting=True)
    assert found.mounting == pytest.approx(bench.mounting, abs=2e-3)
    with pytest.raises(Refused, match=r"turned by 3\.5 degrees"):
        estimate(measure(bench, rng()))


def test_a_base_that_leans_is_found() -> None:
    lean = Rotation.from_rotvec([0.1, -0.05, 0.0]).as_matrix()
    rows = [replace(one, R_WS=lean.T @ one.R_WS) for one in measure(Bench(), rng())]
    found = estimate(rows, tilt=True)
    assert found.gravity == pytest.approx(lean.T @ [0, 0, -9.81], abs=0.02)
    assert found.mass == pytest.approx(1.2, rel=0.01)


def test_what_stays_unexplained_is_less_than_promised_in_a_hundred_other_poses() -> None:
    for seed in range(3):
        bench = random_bench(rng(seed))
        bench = replace(bench, mounting=(0.0, 0.0, 0.0))
        found = estimate(measure(bench, rng(seed)))
        for R in orientations(rng(seed + 50), 100):
            true = bench.mass * R.T @ [0, 0, -9.81]
            said = found.mass * R.T @ [0, 0, -9.81]
            off = said + found.force_bias - true - bench.bias[:3]
            turn = np.cross(found.center_of_mass, said) - np.cross(bench.com, true)
            turn += found.torque_bias - bench.bias[3:]
            assert np.linalg.norm(off) < found.left_force
            assert np.linalg.norm(turn) < found.left_torque


def test_samples_that_a_filter_made_alike_do_not_make_it_too_sure() -> None:
    """Noise of 20 ms memory: the mean is worse than its samples look."""
    bench, sigmas = Bench(), []
    for seed in range(3):
        random, rows = rng(seed), measure(replace(bench, noise=(1e-6, 1e-7)), rng(seed))
        for one in rows:
            white = random.standard_normal((len(one.samples) + 200, 6)) * np.repeat([0.5, 0.02], 3)
            for n in range(1, len(white)):
                white[n] = 0.9 * white[n - 1] + 0.1 * white[n]
            one.samples[:] += white[200:]
        sigmas.append(errors_of(bench, estimate(rows)))
    assert np.sqrt(np.mean(np.square(sigmas))) < 1.4


def test_noise_asks_for_a_deadband_that_is_felt() -> None:
    found = estimate(measure(replace(Bench(), noise=(0.6, 0.03)), rng()))
    assert found.verdict == "usable" and found.deadband_force > 1.5


def test_the_direction_that_lacks_is_named() -> None:
    about_x = Rotation.from_euler("x", np.linspace(-2, 2, 9)[:, None]).as_matrix()
    assert lacking(about_x)[1] == "x"
    assert lacking(orientations(rng(), 40))[0] > 0.4
    assert lacking(np.empty((0, 3, 3)))[0] == 0.0


def test_without_scipy_it_says_what_to_install() -> None:
    code = """
import sys
sys.modules["scipy"] = None
import ur_admittance.calibration.payload
from ur_admittance.calibration.payload_fit import optimizer
try:
    optimizer()
except Exception as error:
    print(type(error).__name__, error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "CalibrationError" in done.stdout and "ur-admittance[calibrate]" in done.stdout
