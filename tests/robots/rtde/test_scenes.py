"""The scenes of the demo through RTDE: the same judges, the same bands of force, as in process.

The scenes are in ROS's frame `base_link`, half a turn about z from the controller's `base`: the
scene is turned for the fake controller, and our controller works in `base_link`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.robots.rtde.support import Traced, rtde_robot
from tests.support import ANGULAR, LINEAR
from ur_admittance import Controller
from ur_admittance.config.validate import pose
from ur_admittance.kernel import layout
from ur_admittance.model import RobotModel
from ur_admittance.robots.sim.scene import Box, Scene
from ur_admittance.run import run
from ur_admittance.scenarios import SCENARIOS
from ur_admittance.scenarios.base import COM, MASS, NOISE, STEERING, TIP, Scenario

pytest.importorskip("lark")
pytest.importorskip("mujoco")

TURN = np.diag([-1.0, -1.0, 1.0, 1.0])  # base to base_link, and back
CYCLE = 0.002  # s


def turned(scene: Scene | None) -> Scene | None:
    """The same scene in the other frame."""

    def other(p: tuple[float, float, float]) -> tuple[float, float, float]:
        return (-p[0], -p[1], p[2])

    if scene is None:
        return None
    shapes = [
        replace(s, center=other(s.center))
        if isinstance(s, Box)
        else replace(s, start=other(s.start), end=other(s.end))  # type: ignore[call-arg]
        for s in scene.shapes
    ]
    return replace(scene, shapes=tuple(shapes))


class Hand:
    """A scene's hand, in the controller's frame, from the moment our controller is active."""

    def __init__(self, scenario: Scenario) -> None:
        self._hand, self.began = scenario.hand, np.inf

    def __call__(self, t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> np.ndarray:
        if self._hand is None or t < self.began:
            return np.zeros(6)
        R = TURN[:3, :3]
        V = np.concatenate([R @ V_WP[LINEAR], R @ V_WP[ANGULAR]])
        wrench = np.asarray(self._hand(t - self.began, TURN @ X_WP, V))
        return np.concatenate([R @ wrench[LINEAR], R @ wrench[ANGULAR]])


def in_base_link(model: RobotModel) -> RobotModel:
    chain = model.X_chain.copy()
    chain[0] = TURN @ chain[0]
    return replace(model, base="base_link", X_chain=chain)


def played(scenario: Scenario) -> np.ndarray:
    """The records of a scene through RTDE."""
    hand = Hand(scenario)
    fake = Traced(
        scene=turned(scenario.scene),
        tool=scenario.tool,
        hand=hand,
        noise=NOISE,
        grip=pose((0.0, 0.0, TIP)),
    )
    fake.machine.set_tcp([0.0, 0.0, TIP, 0.0, 0.0, 0.0])
    fake.machine.payload, fake.machine.payload_cog[:] = MASS, COM
    config = scenario.config().replace(
        {"payload.force_bias": [0.0] * 3, "payload.torque_bias": [0.0] * 3}
    )
    records, due, count = np.empty(15_000, layout.OUTPUTS), [0.0], [0]
    try:
        with rtde_robot(fake, config=config) as robot:
            controller = Controller(in_base_link(robot.model), config)

            def each(state, out) -> None:
                time = float(out["time"])
                hand.began = min(hand.began, fake.machine.time - time)
                records[count[0]] = out
                count[0] += 1
                if time >= due[0] and controller.mode == "active":
                    scenario.steer(controller, time)
                    due[0] = time + STEERING - 0.5 * CYCLE

            run(robot, controller, seconds=scenario.seconds, each=each)
    finally:
        fake.close()
    return records[: count[0]]


FOUR = ("hand-guiding", "surface", "wall", "peg")


@pytest.mark.slow
@pytest.mark.parametrize("scenario", [SCENARIOS[name] for name in FOUR], ids=FOUR)
def test_a_scene_goes_through_rtde_as_it_goes_in_process(scenario: Scenario) -> None:
    findings = scenario.judge(played(scenario))
    assert len(findings) > 2
    assert [finding for finding in findings if not finding.passed] == []
