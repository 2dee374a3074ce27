"""A policy that may fall silent, and a link of one's own."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from tests.chain.support import DT, PUSH, Watched, Wired, compliant
from tests.support import arm, moved
from ur_admittance.chain import (
    DESIRED,
    Desired,
    PolicyLink,
)

HOME = arm().fk(arm().home)

FAR = moved(HOME, [0.1, -0.15, 0.05], [0.0, 0.3, 0.2])


def test_a_policy_that_falls_silent_is_held_at_its_last_pose_and_the_arm_stays_compliant():
    V = np.array([0.0, 0.0, 0.1, 0.0, 0.0, 0.0])

    def policy(t, q, wrench):
        return Desired(moved(HOME, V[:3] * t), V) if t < 1.0 else None

    link = PolicyLink(policy, staleness=0.05)
    config = ua.Config.from_dict({"admittance.stiffness": [300] * 3 + [20] * 3})
    loop = Watched(compliant(link, config=config))
    out = loop.run(1.0)
    assert not link.stale
    np.testing.assert_allclose(out["V_WD"], V, atol=1e-3)
    out = loop.run(0.5)
    assert link.stale
    assert not out["V_WD"].any()
    assert out["X_WD"][2, 3] == pytest.approx(moved(HOME, V[:3])[2, 3], abs=1e-3)
    assert loop.manager.failure is None
    out = loop.run(0.5, PUSH)
    assert np.linalg.norm(out["error"][:3]) < 0.05
    assert np.linalg.norm((out["X_WP"] - out["X_WD"])[:3, 3]) > 0.03


def test_what_is_too_old_is_not_followed():
    link = PolicyLink(lambda t, q, wrench: Desired(FAR, age=0.2), staleness=0.1)
    loop = Watched(compliant(link))
    out = loop.run(0.5)
    assert link.stale
    np.testing.assert_allclose(out["X_WP"], HOME, atol=1e-6)


def test_a_policy_sees_time_joints_and_wrench_and_may_answer_with_plain_lists():
    seen = []

    def policy(t, q, wrench):
        seen.append((t, q.copy(), wrench.copy()))
        return HOME.tolist() if len(seen) % 2 else [0.0] * 6

    loop = Watched(compliant(PolicyLink(policy)))
    loop.run(0.02, PUSH)
    assert loop.manager.failure is None
    assert seen[0][0] == 0.0
    assert seen[5][0] == pytest.approx(5 * DT)
    np.testing.assert_array_equal(seen[0][1], arm().home)
    np.testing.assert_array_equal(seen[3][2], PUSH)


def test_a_rotation_that_was_rounded_is_put_right_and_one_that_is_none_is_refused():
    rounded = np.round(FAR, 4)
    loop = Watched(compliant(PolicyLink(lambda t, q, wrench: rounded)))
    np.testing.assert_allclose(loop.run(3.0)["X_WP"], FAR, atol=1e-3)
    for wrong in (2 * FAR, np.full((4, 4), np.nan), np.eye(3), "left", np.diag([1, 1, -1, 1.0])):
        loop = Watched(compliant(PolicyLink(lambda t, q, wrench, wrong=wrong: wrong)))
        loop.run(0.1)
        assert loop.manager.failure is not None
        assert loop.manager.failure.link == "policy"


def test_a_link_of_ones_own_needs_only_what_it_uses():
    link = Wired("mine", exports=DESIRED)
    loop = Watched(compliant(link))
    loop.run(0.1, PUSH)
    assert link.calls[:3] == ["configure", "activate", "update"]
