"""A planned joint trajectory above the admittance: followed with give."""

from __future__ import annotations

import numpy as np

import ur_admittance as ua
from tests.chain.support import PUSH, Watched, controller
from tests.support import arm
from ur_admittance.chain import (
    AdmittanceLink,
    ControllerManager,
    TrajectoryPlayer,
    VelocityForward,
)
from ur_admittance.motion.joints import JointPath


def planned(seconds: float = 2.0) -> TrajectoryPlayer:
    """From home, 0.3 rad about the base."""
    turns = np.array([[0.0], [0.3]]) * np.eye(6)[0]
    return TrajectoryPlayer(arm(), JointPath([0.0, seconds], arm().home + turns, np.zeros((2, 6))))


def following(player: TrajectoryPlayer) -> Watched:
    manager = ControllerManager(arm())
    springy = controller(ua.Config(admittance={"stiffness": [300.0] * 3 + [20.0] * 3}))
    manager.load(
        player, AdmittanceLink(springy, joints="trajectory"), VelocityForward("admittance")
    )
    manager.switch(activate=["trajectory", "admittance", "forward"])
    return Watched(manager)


def test_a_plan_is_followed_to_its_end_and_rejoined_after_a_push():
    player = planned()
    loop = following(player)
    loop.run(0.5)
    on_its_way = loop.q[0] - arm().home[0]
    assert 0.01 < on_its_way < 0.1
    loop.run(0.5, PUSH)
    loop.run(4.0)
    assert player.outcome == "reached"
    np.testing.assert_allclose(loop.q, arm().home + 0.3 * np.eye(6)[0], atol=5e-3)


def test_a_plan_from_elsewhere_is_refused():
    path = JointPath([0.0, 1.0], arm().home + np.array([[0.5], [0.6]]) * np.eye(6)[0])
    manager = ControllerManager(arm())
    manager.load(
        TrajectoryPlayer(arm(), path),
        AdmittanceLink(controller(), joints="trajectory"),
        VelocityForward("admittance"),
    )
    manager.switch(activate=["trajectory", "admittance", "forward"])
    loop = Watched(manager)
    loop.run(0.02)
    assert manager.failure is not None and "begins 0.500 rad from where" in manager.failure.why
