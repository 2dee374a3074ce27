"""What a sensor may feel before the arm moves: compared with the simulator and the tick."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance import Config, Controller, RobotModel, loop
from ur_admittance.calibration import untouched
from ur_admittance.transforms import transform

X_EP, X_ES = transform([0, 0, 0.1], [1, 0, 0, 0]), transform([0, 0, 0.02], [0.8, 0, 0, 0.6])
MODEL = RobotModel.ur("ur5e", X_EP=X_EP, X_ES=X_ES)
PAYLOAD = {
    "payload.mass": 2.0,
    "payload.center_of_mass": [0.01, -0.02, 0.05],
    "payload.force_bias": [0.5, -1.0, 2.0],
    "payload.torque_bias": [0.05, 0.0, -0.1],
}
CONFIG = Config.from_dict(PAYLOAD)


def expected(controller: Controller, q: np.ndarray) -> np.ndarray:
    return untouched.expected(controller.model, controller.params, q)


def problem(controller: Controller, q: np.ndarray, wrench: np.ndarray) -> str:
    model, params, config = controller.model, controller.params, controller.config
    return untouched.problem(model, params, config, q, wrench)


def poses(count: int) -> np.ndarray:
    return np.random.default_rng(0).uniform(-np.pi, np.pi, (count, 6))


def test_the_reading_it_expects_leaves_nothing_after_compensation():
    controller = Controller(MODEL, CONFIG)
    for q in poses(20):
        controller.activate(q)
        out = controller.update(q, expected(controller, q), 0.002)
        np.testing.assert_allclose(out["F_S_comp"], 0.0, atol=1e-12)


@pytest.mark.parametrize(
    ("felt", "words"),
    [
        ({"mass": 3.3}, "payload.mass is 2 kg, 3.30 kg would explain it"),
        ({"mass": 0.7}, "payload.mass is 2 kg, 0.70 kg would explain it"),
        ({"turn": -1.0}, "reports the reaction, turn its sign"),
        ({"mounted": True}, "check how the sensor is mounted"),
        ({"push": [0, 0, 0, 3.0, 0, 0]}, "reports a torque of"),
        ({"push": [9, 9, 9, 0, 0, 0], "lying": True}, "does something touch the tool?"),
    ],
)
def test_what_is_unexplained_is_refused_with_its_likely_cause(felt: dict, words: str):
    bias = {name: [0, 0, 0] for name in ("payload.force_bias", "payload.torque_bias")}
    controller = Controller(MODEL, CONFIG.replace(bias))
    for q in poses(5) if not felt.get("lying") else [MODEL.home]:
        weight = expected(controller, q)
        reading = weight * felt.get("mass", 2.0) / 2.0 * felt.get("turn", 1.0)
        reading += np.array(felt.get("push", np.zeros(6)))
        if felt.get("mounted"):  # a quarter turn about an axis across the weight
            axis = np.cross(weight[:3], [1.0, 2.0, 3.0])
            reading[:3] = np.cross(axis / np.linalg.norm(axis), weight[:3])
        said = problem(controller, q, reading)
        assert words in said
        assert "safety.start_" in said


def test_a_little_unexplained_is_allowed_and_the_check_can_be_turned_off():
    q, push = MODEL.home, np.array([9.0, 0, 0, 0, 0.9, 0])
    controller = Controller(MODEL, CONFIG)
    due = expected(controller, q)
    assert problem(controller, q, due + push) == ""
    assert problem(controller, q, due + 2.0 * push) != ""
    assert problem(controller, q, np.full(6, np.nan)) == ""
    off = Controller(MODEL, CONFIG.replace({"safety.start_force": 0, "safety.start_torque": 0}))
    assert problem(off, q, due + 9.0 * push) == ""


def test_an_arm_whose_tool_is_not_in_the_configuration_does_not_start():
    pytest.importorskip("mujoco")
    from ur_admittance.robots.scene import Tool
    from ur_admittance.robots.sim import SimRobot

    tool = Tool(mass=2.5, com=(0.0, 0.0, 0.03))
    with SimRobot("ur5e", tool=tool, realtime=False, seed=0) as robot:
        controller = Controller(robot.model, Config.preset("hand-guiding"))
        before = robot.wait().q.copy()
        with pytest.raises(ua.RobotError, match=r"mass is 0 kg, 2\.(49|5\d) kg would explain"):
            loop.run(robot, controller, seconds=1.0)
        assert controller.mode == "inactive"
        np.testing.assert_allclose(robot.wait().q, before, atol=1e-3)
        known = Config.preset("hand-guiding").replace(
            {"payload.mass": 2.5, "payload.center_of_mass": [0.0, 0.0, 0.03]}
        )
        assert not loop.run(robot, Controller(robot.model, known), seconds=0.2).faulted
