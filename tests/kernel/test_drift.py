"""Hands off, and yet the arm moves: when that is said, and of what it is not said."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.kernel.plain import Records, plain, records
from ur_admittance.kernel import bits

drift = plain("drift")
SECONDS, DEADBAND, QUIET = 2.0, 1.0, 0.1  # s, N, N
ALONG = np.array([2.0, -1.0, 2.0]) / 3.0
Force = Callable[[float], float]


def crept(force: Force, *, seconds: float = 5.0, toward: float = 1.0, speed: float = 1e-3) -> float:
    """When an arm that creeps under a force, N at a time, is said to drift, s; inf: never."""
    return told_of(watched(), force, seconds, toward, speed)


def watched(**params: Any) -> Records:
    r = records(seeding=bits.SEED_ALL)
    values = {"drift_seconds": SECONDS, "deadband_force": DEADBAND, "quiet_force": QUIET}
    for name, value in {**values, "deadband_torque": 1e3, "quiet_torque": 0.01, **params}.items():
        setattr(r.p, name, value)
    return r


def told_of(r: Records, force: Force, seconds: float, toward: float, speed: float) -> float:
    for k in range(round(seconds / r.s.dt)):
        r.s.F_S_filt[:3] = force(k * r.s.dt) * ALONG
        r.s.v[:3] = r.s.V_cmd[:3] = 0.0
        r.s.v[0] = speed
        r.s.V_cmd[:3] = toward * speed * (r.s.R_WP @ r.p.R_PS @ ALONG)
        r.s.status = 0
        drift.watch_drift(r.p, r.s)
        r.s.seeding = bits.SEED_NOTHING
        if r.s.status & bits.DRIFTING:
            return (k + 1) * r.s.dt
    return np.inf


def test_an_arm_that_creeps_under_a_steady_force_is_said_to_drift_after_the_time() -> None:
    assert crept(lambda t: DEADBAND + 0.05) == pytest.approx(SECONDS)


def test_a_force_that_grows_no_faster_than_a_sensor_drifts_is_nobodys() -> None:
    grown = lambda t: DEADBAND + 0.8 * drift.DRIFT * t  # noqa: E731
    assert crept(grown) == pytest.approx(SECONDS, abs=0.5)
    assert crept(lambda t: DEADBAND + 20 * drift.DRIFT * t) == np.inf, "that is a hand"


@pytest.mark.parametrize(
    ("what", "force", "how"),
    [
        ("an arm at rest", DEADBAND + 0.05, {"speed": 1e-4}),
        ("a force that the deadband takes", DEADBAND - 2 * QUIET, {}),
        ("a force no drift could have grown to", DEADBAND + 2 * drift.DRIFT * SECONDS, {}),
        ("an arm that moves against it", DEADBAND + 0.05, {"toward": -1.0}),
    ],
)
def test_what_is_no_drift(what: str, force: float, how: dict[str, float]) -> None:
    assert crept(lambda t: force, **how) == np.inf, what


def test_a_hand_is_never_as_steady_as_a_sensor() -> None:
    hand = lambda t: DEADBAND + 0.25 + 0.3 * np.sin(2 * np.pi * 0.7 * t)  # noqa: E731
    assert crept(hand, seconds=20.0) == np.inf


def test_it_may_be_switched_off() -> None:
    assert told_of(watched(drift_seconds=0.0), lambda t: DEADBAND + 0.05, 5.0, 1.0, 1e-3) == np.inf


def test_a_hold_lasts_until_somebody_pushes_and_then_the_same_force_counts_as_known() -> None:
    r = watched()
    told_of(r, lambda t: DEADBAND + 0.05, 5.0, 1.0, 1e-3)
    r.s.mode = bits.HOLDING
    assert told_of(r, lambda t: DEADBAND + 0.05, 0.1, 0.0, 0.0) < np.inf, "nobody has pushed"
    assert r.s.drift_force == pytest.approx(0.05, abs=1e-3)
    for _ in range(200):
        r.s.F_S_filt[:3] = 10.0 * ALONG
        r.s.status = 0
        drift.watch_drift(r.p, r.s)
    assert not r.s.status & bits.DRIFTING
    assert r.s.drift_time == 0.0
