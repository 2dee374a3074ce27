"""Two fits against motion that other people's solvers made."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lsim

from ur_admittance.kernel import layout
from ur_admittance.report.admittance_fit import arm_response, identify, passed

RATE = 500.0
H = 1 / RATE


def swings(ticks: int, seed: int = 0, highest: float = 12.0) -> np.ndarray:
    """(ticks, 6) smooth random motion, of up to so many Hz."""
    rng, t = np.random.default_rng(seed), np.arange(ticks) * H
    total = np.zeros((ticks, 6))
    for hertz in np.linspace(0.4, highest, 25):
        total += np.sin(2 * np.pi * hertz * t[:, None] + rng.uniform(0, 6, 6)) / (1 + hertz)
    return total


def run_of(qd: np.ndarray, delay: float, lag: float, gain: float, noise: float = 0.0) -> np.ndarray:
    """Records of an arm that makes `qd` late: the lag by SciPy, on a grid ten times as fine."""
    fine = 10
    t, t_fine = np.arange(len(qd)) * H, np.arange(len(qd) * fine) * H / fine
    records = np.zeros(len(qd), layout.OUTPUTS)
    records["tick"], records["dt"], records["qd"] = np.arange(1, len(qd) + 1), H, qd
    rng = np.random.default_rng(1)
    for n in range(6):
        held = qd[np.clip(np.floor((t_fine - delay) / H + 1e-9).astype(int), 0, None), n]
        held = np.where(t_fine >= delay, held, 0.0)
        system = ([gain], [lag, 1.0, 0.0]) if lag else ([gain], [1.0, 0.0])
        _, q, _ = lsim(system, held, t_fine, interp=False)
        records["q"][:, n] = np.asarray(q)[::fine] + noise * rng.standard_normal(len(t))
    return records


@pytest.mark.parametrize(
    ("delay", "lag", "gain"),
    [(0.0, 0.0, 1.0), (0.004, 0.02, 1.0), (0.01, 0.0, 0.5), (0.002, 0.06, 0.8), (0.03, 0.01, 1.0)],
)
def test_delay_lag_and_gain_of_an_arm_are_found(delay: float, lag: float, gain: float) -> None:
    found = arm_response(run_of(swings(6000), delay, lag, gain), RATE)
    assert found is not None
    assert found.delay == pytest.approx(delay, abs=5e-4)
    assert found.lag == pytest.approx(lag, abs=1e-3, rel=0.03)
    assert found.gain == pytest.approx(gain, rel=0.02)
    assert found.late == found.delay + found.lag
    assert found.explained > 0.98


def test_encoder_noise_lowers_what_is_explained_and_hardly_what_is_found() -> None:
    quiet = arm_response(run_of(swings(6000), 0.006, 0.02, 1.0), RATE)
    noisy = arm_response(run_of(swings(6000), 0.006, 0.02, 1.0, noise=2e-5), RATE)
    assert quiet is not None and noisy is not None
    assert noisy.explained < quiet.explained
    assert noisy.late == pytest.approx(0.026, abs=2e-3)


def test_ticks_that_were_not_recorded_are_no_motion() -> None:
    records = run_of(swings(6000), 0.006, 0.02, 1.0)
    holes = np.ones(len(records), bool)
    holes[2000:2060] = holes[4100:4500] = False
    found = arm_response(records[holes], RATE)
    assert found is not None
    assert found.late == pytest.approx(0.026, abs=1e-3) and found.explained > 0.95


def test_an_arm_that_stood_or_was_hardly_seen_tells_nothing() -> None:
    assert arm_response(run_of(np.zeros((3000, 6)), 0.0, 0.0, 1.0), RATE) is None
    assert arm_response(run_of(swings(80), 0.0, 0.0, 1.0), RATE) is None
    lost = run_of(swings(3000), 0.0, 0.0, 1.0)
    lost["q"][::50] = np.nan
    assert arm_response(lost, RATE) is None


def test_time_passes_by_the_robots_clock_where_it_was_noted() -> None:
    records = run_of(swings(10), 0.0, 0.0, 1.0)
    np.testing.assert_array_equal(passed(records), H)
    records["timing"]["arrived"] = 5.0 + 0.004 * np.arange(10)
    np.testing.assert_allclose(passed(records), 0.004)


def motion(M: float, D: float, K: float, force: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position at each tick and mean velocity in each interval of M x'' + D x' + K x = F, the force
    standing still in between.
    """
    t = np.arange(len(force) + 1) * H
    held = np.append(force, force[-1])
    _, x, _ = lsim(([1.0], [M, D, K]), held, t, interp=False)
    x = np.asarray(x)
    return x[:-1], np.diff(x) / H


@pytest.mark.parametrize(
    ("M", "D", "K"), [(8.0, 80.0, 0.0), (8.0, 80.0, 300.0), (2.0, 30.0, 500.0), (0.5, 4.0, 10.0)]
)
def test_mass_damping_and_stiffness_of_a_motion_are_found(M: float, D: float, K: float) -> None:
    force = 20.0 * swings(4000, seed=3, highest=4.0)[:, 0]
    x, rate = motion(M, D, K, force)
    usable, h = np.ones(len(force), bool), np.full(len(force), H)
    found = identify(usable, h, rate, force, x if K else None)
    np.testing.assert_allclose(np.array(found, float), [M, D, K], rtol=0.03, atol=1e-9)


def test_intervals_that_do_not_count_are_left_out() -> None:
    force = 20.0 * swings(6000, seed=3, highest=4.0)[:, 0]
    _, rate = motion(8.0, 80.0, 0.0, force)
    usable, h = np.ones(len(force), bool), np.full(len(force), H)
    usable[2000:2400] = False
    rate[3000:3100] = np.nan  # not recorded
    force[2000:2400], force[5000] = 900.0, np.nan  # not by the law, and no number
    M, D, _ = identify(usable, h, rate, force, None)
    assert pytest.approx(8.0, rel=0.03) == M and pytest.approx(80.0, rel=0.03) == D


def test_what_the_motion_does_not_tell_is_not_told() -> None:
    usable, h = np.ones(4000, bool), np.full(4000, H)
    slow = np.full(4000, 10.0)  # a steady push: the damping alone
    _, rate = motion(8.0, 80.0, 0.0, slow)
    M, D, _ = identify(usable, h, rate, slow, None)
    assert M is None and pytest.approx(80.0, rel=0.02) == D
    nobody = (None, None, None)
    assert identify(usable, h, np.zeros(4000), np.zeros(4000), None) == nobody
    assert identify(usable, h, np.zeros(4000), slow, None) == nobody
    noise = np.random.default_rng(0).normal(size=(2, 4000))
    assert identify(usable, h, noise[0], 10 * noise[1], None) == nobody
    short = slice(0, 150)
    assert identify(usable[short], h[short], rate[short], slow[short], None) == nobody
    assert identify(usable[:0], h[:0], rate[:0], slow[:0], None) == nobody
