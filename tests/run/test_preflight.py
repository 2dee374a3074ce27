"""What a sensor may feel before the arm moves: compared with the simulator and the tick."""

from __future__ import annotations

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.config.validate import transform
from ur_admittance.controller import at_rest
from ur_admittance.run import preflight

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
    return at_rest.expected(controller.model, controller.params, q)


def problem(controller: Controller, q: np.ndarray, wrench: np.ndarray) -> str:
    model, params, config = controller.model, controller.params, controller.config
    return preflight.problem(model, params, config, q, wrench)


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
        ({"mirrored": True}, "check how the sensor is mounted"),
        ({"mass": 2000.0}, "payload.mass is 2 kg, 2000.00 kg would explain it"),  # mN for N
        ({"swapped": True}, "N are unexplained"),
        ({"push": [0, 0, 0, 3.0, 0, 0]}, "reports a torque of"),
        ({"push": [9, 9, 9, 0, 0, 0], "lying": True}, "does something touch the tool?"),
    ],
)
def test_what_is_unexplained_is_refused_with_its_likely_cause(felt: dict, words: str):
    """Rows 8 and 13: another tool, another mounting, a sign, units, force for torque."""
    bias = {name: [0, 0, 0] for name in ("payload.force_bias", "payload.torque_bias")}
    controller = Controller(MODEL, CONFIG.replace(bias))
    for q in poses(5) if not felt.get("lying") else [MODEL.home]:
        weight = expected(controller, q)
        reading = weight * felt.get("mass", 2.0) / 2.0 * felt.get("turn", 1.0)
        reading += np.array(felt.get("push", np.zeros(6)))
        if felt.get("mounted"):  # a quarter turn about an axis across the weight
            axis = np.cross(weight[:3], [1.0, 2.0, 3.0])
            reading[:3] = np.cross(axis / np.linalg.norm(axis), weight[:3])
        if felt.get("mirrored"):  # along the axis that feels most of the weight
            reading[np.argmax(np.abs(reading[:3]))] *= -1.0
        if felt.get("swapped"):
            reading = np.roll(reading, 3)
        said = problem(controller, q, reading)
        assert words in said
        assert "the deadband takes 1.5" in said or "safety.start_torque allows 1;" in said


def test_what_the_deadband_takes_is_allowed_and_the_check_can_be_turned_off():
    q, push = MODEL.home, np.array([1.4, 0, 0, 0, 0.9, 0])
    controller = Controller(MODEL, CONFIG)
    due = expected(controller, q)
    assert problem(controller, q, due + push) == ""
    assert "the deadband takes 1.5" in problem(controller, q, due + 1.1 * push)
    assert problem(controller, q, np.full(6, np.nan)) != ""
    off = Controller(MODEL, CONFIG.replace({"safety.start_force": 0, "safety.start_torque": 0}))
    assert problem(off, q, due + 9.0 * push) == ""
    assert problem(off, q, np.full(6, np.nan)) != ""


def test_an_arm_whose_tool_is_not_in_the_configuration_does_not_start():
    pytest.importorskip("mujoco")
    from ur_admittance.robots.sim import SimRobot
    from ur_admittance.robots.sim.scene import Tool

    tool = Tool(mass=2.5, com=(0.0, 0.0, 0.03))
    with SimRobot("ur5e", tool=tool, realtime=False, seed=0) as robot:
        controller = Controller(robot.model, Config.preset("hand-guiding"))
        before = robot.wait().q.copy()
        with pytest.raises(ua.RobotError, match=r"mass is 0 kg, 2\.(49|5\d) kg would explain"):
            ua.run(robot, controller, seconds=1.0)
        assert controller.mode == "inactive"
        np.testing.assert_allclose(robot.wait().q, before, atol=1e-3)
        known = Config.preset("hand-guiding").replace(
            {"payload.mass": 2.5, "payload.center_of_mass": [0.0, 0.0, 0.03]}
        )
        assert not ua.run(robot, Controller(robot.model, known), seconds=0.2).faulted


LOOSE = Config.from_dict(
    {
        "payload.mass": 2.0,
        "admittance.damping": [80.0] * 3 + [4.0] * 3,
        "admittance.enabled_axes": [True] * 3 + [False] * 3,
        "admittance.deadband_force": 2.0,
    }
)


def test_a_payload_changed_live_that_makes_the_arm_drift_is_told_with_its_speed():
    """Untouched, and half a kilogram too much: the arm rises, at the speed that was told."""
    controller, truth = Controller(MODEL, LOOSE), Controller(MODEL, LOOSE)
    q = MODEL.home.copy()
    controller.activate(q)
    controller.update(q, expected(truth, q), 0.002)
    assert controller.set({"payload.mass": 2.1}).warning == "", "0.98 N, and the deadband takes 2"
    warning = controller.set({"payload.mass": 2.5}).warning
    rate = (0.5 * 9.81 - 2.0) / 80.0
    assert warning == (
        "the sensor feels 4.91 N that nothing explains, and the deadband takes 2: the arm will "
        f"drift at up to {rate:.2g} m/s"
    )
    for _ in range(1000):
        out = controller.update(q, expected(truth, q), 0.002)
        q = q + out["qd"] * 0.002
    assert np.linalg.norm(out["V_WP_cmd"][:3]) == pytest.approx(rate, rel=0.02)
    assert controller.set({"payload.mass": 2.0}).warning == "", "put right again"


def test_a_change_of_payload_is_judged_through_the_blackboard_too(tmp_path, monkeypatch):
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path / "runtime"))
    controller = Controller(MODEL, LOOSE)
    with Blackboard.create("sim", 500.0, controller.live) as board:
        reader = Blackboard.attach("sim")
        assert reader.set({"payload.mass": 3.0}).warning == "", "nothing moves yet"
        board.take_params(controller.live)
        controller.activate(MODEL.home)
        controller.update(MODEL.home, expected(controller, MODEL.home), 0.002)
        board.publish(controller.outputs)
        assert reader.set({"admittance.mass": [9.0] * 6}).warning == ""
        for send in (reader.set, board.set):
            assert "will drift at up to" in send({"payload.mass": 4.0}).warning
            assert send({"payload.mass": 3.0}).warning == ""


def test_an_inactive_arm_does_not_drift():
    controller = Controller(MODEL, CONFIG)
    assert controller.set({"payload.mass": 9.0}).warning == ""


def test_a_tool_outside_the_box_is_named_with_its_place_wall_and_distance():
    home = np.array([-0.817, -0.133, 0.191])
    config = Config.from_dict({"limits.workspace_max": [0.5, -0.2, 1.0]})
    words = preflight.outside(config, home)
    assert "at [-0.817, -0.133, 0.191] m, outside the box from" in words
    assert "67 mm beyond limits.workspace_max y = -0.2 m" in words
    assert preflight.outside(config, np.array([0.0, -0.1995, 0.5])) == "", "held at the wall"
    assert "beyond limits.workspace_min z" in preflight.outside(
        Config.from_dict({"limits.workspace_min": [-5, -5, 0.3]}), home
    )


def test_no_run_starts_outside_the_box_unless_it_may_and_then_it_moves_only_inwards():
    pytest.importorskip("mujoco")
    from ur_admittance.robots.sim import ScriptedPush, SimRobot

    for force, way in ((30.0, 0.0), (-30.0, -1.0)):  # out of the box, into it
        push = ScriptedPush([(0.2, 5.0, [0, force, 0, 0, 0, 0])])
        with SimRobot("ur5e", realtime=False, hand=push) as robot:
            y = robot.model.fk(robot.wait().q)[1, 3]
            config = Config.from_dict({"limits.workspace_max": [9.0, y - 0.05, 9.0]})
            controller = Controller(robot.model, config)
            with pytest.raises(ua.RobotError, match=r"50 mm beyond limits\.workspace_max y"):
                ua.run(robot, controller, seconds=1.0)
            assert controller.mode == "inactive", "nothing has moved"
            rates: list[float] = []
            ua.run(
                robot,
                controller,
                seconds=1.0,
                permit={"outside"},
                each=lambda state, out, rates=rates: rates.append(out["V_WP_cmd"][1]),
            )
        assert max(rates) <= 1e-9
        assert (min(rates) < -0.01) == (way < 0)
