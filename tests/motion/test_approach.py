"""A start far from the equilibrium is asked for, and the arm goes there slowly."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.motion.approach import SLOW, SLOW_TURN, travel_of

pytest.importorskip("mujoco")

from ur_admittance.robots.sim import SimRobot

MODEL = ua.RobotModel.ur("ur5e")


def config_at(q) -> ua.Config:
    """With the equilibrium where joints q, rad (6,), bring the tool, and springs to hold it."""
    X = MODEL.fk(q)
    from ur_admittance.kernel.spatial import quaternion_of

    wxyz = list(quaternion_of(np.ascontiguousarray(X[:3, :3])))
    pose = {"position": X[:3, 3].tolist(), "orientation": wxyz}
    return ua.Config.preset("stiff-hold").replace({"equilibrium": pose})


def test_an_equilibrium_nearby_needs_no_asking() -> None:
    assert travel_of(MODEL, ua.Config(), MODEL.home) is None
    assert travel_of(MODEL, config_at(MODEL.home), MODEL.home) is None
    near = MODEL.home + np.array([0.03, 0, 0, 0, 0, 0])
    assert travel_of(MODEL, config_at(near), MODEL.home) is None


@pytest.mark.parametrize("joint", [0, 5], ids=["away", "turned"])
def test_one_that_is_far_in_place_or_turn_is_announced(joint: int) -> None:
    away = MODEL.home.copy()
    away[joint] += 0.5
    travel = travel_of(MODEL, config_at(away), MODEL.home)
    assert travel is not None
    assert travel.radians == pytest.approx(0.5, abs=1e-6)
    assert "0.50 rad from where the arm stands" in travel.words
    assert np.allclose(travel.X_WD, MODEL.fk(away))


def test_the_arm_gets_there_and_is_slow_all_the_way() -> None:
    away = MODEL.home + np.array([0.3, 0, 0, 0, 0, 0.2])
    config = config_at(away)
    travel = travel_of(MODEL, config, MODEL.home)
    assert travel is not None and travel.metres > 0.1
    twists = []

    def each(state, out) -> None:
        twists.append(np.array(out["V_WP_cmd"]))

    with SimRobot(MODEL, realtime=False, ideal=True) as robot:
        run = ua.Run(robot, controller=ua.Controller(MODEL, config), each=each, permit={"travel"})
        run.drive(14.0)
        X = MODEL.fk(robot.wait().q)
    assert np.linalg.norm(X[:3, 3] - travel.X_WD[:3, 3]) < 2e-3
    fastest = [max(np.linalg.norm(V[part]) for V in twists) for part in (LINEAR, ANGULAR)]
    assert 0.9 * SLOW < fastest[0] <= SLOW and fastest[1] <= SLOW_TURN
