"""The promise of contact damping, on a slice of the benchmark's random cases."""

from __future__ import annotations

import numpy as np
import pytest
from benchmarks.contact import POSES, config, random_touches, run, share

from ur_admittance import LaggedArm, Noise, RobotModel
from ur_admittance.rollout.touch import Touch, touch


@pytest.fixture(scope="module")
def touches() -> list[Touch]:
    return random_touches(60, seed=5)


def test_a_light_arm_touches_anything_without_chatter(touches) -> None:
    results = run(touches, adapt=True, lag_error=0.1)
    assert share(results) >= 0.98, [r for r in results if not r.calm]


def test_the_same_arm_with_fixed_gains_chatters_on_most_of_it(touches) -> None:
    assert share(run(touches, adapt=False)) < 0.5


def test_a_flexible_arm_does_so_too() -> None:
    assert share(run(random_touches(60, flexible=True, seed=5), adapt=True)) >= 0.95


def test_the_estimate_is_near_the_truth_and_never_far_above_it(touches) -> None:
    stiff = [(t, r) for t, r in zip(touches, run(touches, adapt=True), strict=True)
             if t.stiffness > 10e3 and t.angle < 0.7]  # fmt: skip
    ratio = np.array([r.stiffness / t.stiffness for t, r in stiff])
    assert 0.4 < np.median(ratio) < 1.3
    assert ratio.max() < 4


def test_fixed_gains_that_chatter_are_stopped_by_the_monitor_with_its_reason(touches) -> None:
    free, watched = run(touches, adapt=False), run(touches, False, **{"contact.monitor": True})
    wild = [w for f, w in zip(free, watched, strict=True) if f.lost > 0 and f.ripple > 20]
    assert len(wild) > 15
    assert np.mean([not np.isnan(w.stopped) for w in wild]) > 0.85


def test_the_monitor_leaves_calm_contacts_alone(touches) -> None:
    results = run(touches, True, **{"contact.monitor": True})
    assert all(np.isnan(r.stopped) for r in results)


def test_an_impact_is_softer_than_with_fixed_gains_and_settles_soon() -> None:
    arm, noise = LaggedArm(0.01, 2), Noise(0.2)
    way = Touch(100e3, 0.1, 15.0, POSES[0], arm=arm, noise=noise)
    model = RobotModel.ur("ur5e")
    (light,) = touch(model, config(False), [way])
    (damped,) = touch(model, config(True, **{"arm.lag": 0.01}), [way])
    assert damped.calm and not light.calm
    assert damped.peak < 0.75 * light.peak


def test_the_same_case_gives_the_same_result_whatever_runs_beside_it(touches) -> None:
    some = touches[:3]
    together, alone = run(some, True), run(some[:1], True)
    assert together[0] == alone[0]
