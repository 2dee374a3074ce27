"""What a page is shown: frames, sentences, the arm."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

from tests.cockpit.conftest import ROBOT
from ur_admittance import Config, Controller, ModelError, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.cockpit import drawing
from ur_admittance.cockpit.frames import Feed, lamps
from ur_admittance.cockpit.pointer import BEAT_SECONDS, MOST_FORCE, Pointer
from ur_admittance.cockpit.scenes import NAMES, drawn, scene_of
from ur_admittance.cockpit.words import nearest_wall, sentence
from ur_admittance.config.validate import pose
from ur_admittance.faults import FAULTS
from ur_admittance.kernel.spatial import LINEAR

DT = 0.002


def driven(wrench, ticks: int = 300, **changes) -> Controller:
    """A controller after some ticks of a steady wrench, on an arm that follows exactly."""
    config = Config.preset("hand-guiding").replace(changes)
    controller = Controller(RobotModel.ur("ur5e"), config)
    q = np.array(controller.model.home)
    controller.activate(q)
    for _ in range(ticks):
        out = controller.update(q, np.asarray(wrench, float), DT)
        q = q + out["qd"] * DT
    return controller


def said(controller: Controller) -> str:
    return sentence(controller.outputs[0], controller.params[0])


def test_a_frame_is_json_of_the_newest_tick(board) -> None:
    reader = Blackboard.attach(ROBOT)
    seen = json.loads(Feed(reader).frame(hand=[0.0] * 6))
    newest = reader.latest()
    assert newest is not None
    assert seen["mode"] == "active" and seen["words"] == "waits for a push"
    assert np.allclose(seen["q"], newest["q"], atol=1e-5)
    assert np.allclose(seen["P"], newest["X_WP"][:3].ravel(), atol=1e-5)
    assert seen["hand"] == [0.0] * 6 and len(json.dumps(seen)) < 2000


def test_a_frame_without_a_number_is_still_json(board) -> None:
    feed = Feed(Blackboard.attach(ROBOT))
    controller = driven([0.0] * 6, 3)
    controller.outputs["F_S_filt"] = np.nan
    board.publish(controller.outputs)
    assert json.loads(feed.frame())["f"] == [None] * 3


def test_the_force_is_shown_in_the_axes_of_the_base() -> None:
    controller = driven([10.0, 0, 0, 0, 0, 0])  # along x of the sensor, which is -y of the base
    with Blackboard.create("other", 500.0, controller.live) as board:
        board.publish(controller.outputs)
        feed = Feed(Blackboard.attach("other"))
        assert np.allclose(json.loads(feed.frame())["f"], [0, -10, 0], atol=0.01)


def test_it_says_that_it_waits_gives_way_and_is_slowed() -> None:
    assert said(driven([0.0] * 6)) == "waits for a push"
    assert said(driven([15.0, 0, 0, 0, 0, 0])) == "gives way"
    fast = driven([60.0, 0, 0, 0, 0, 0], max_linear_velocity=0.1)
    assert said(fast) == "slowed: speed limit, 100 mm/s"


def test_a_wall_is_told_with_its_side_and_distance() -> None:
    y = RobotModel.ur("ur5e").fk(RobotModel.ur("ur5e").home)[1, 3]
    box = {"limits.workspace_min": [-1, y - 0.1, -1], "limits.workspace_max": [1, 1, 1]}
    controller = driven([20.0, 0, 0, 0, 0, 0], 1500, **box)
    side, gap = nearest_wall(controller.outputs[0]["X_WP"][:3, 3], controller.params[0]) or ("", 0)
    assert side == "-y" and 0.0 <= gap < 0.01
    assert said(controller) == f"held back: wall in -y, {1e3 * gap:.0f} mm"
    controller = driven([20.0, 0, 0, 0, 0, 0], 350, **box)
    assert re.fullmatch(r"slowed: wall in -y, \d+ mm", said(controller))


def test_it_says_why_it_stopped() -> None:
    controller = driven([0.0] * 6, 5)
    controller.stop("door open; cell 3")
    controller.update(np.array(controller.model.home), np.zeros(6), DT)
    assert said(controller) == "stopped: stop() was called"
    told = sentence(controller.outputs[0], controller.params[0], reason=controller.reason)
    assert told == "stopped: door open; cell 3"


def test_every_fault_is_a_lamp() -> None:
    assert [lamp["name"] for lamp in lamps()] == [fault.name for fault in FAULTS]


@pytest.mark.parametrize("name", ["ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30"])
def test_an_arm_is_known_by_its_chain_and_tool(name) -> None:
    X_EP = pose((0.01, 0.02, 0.1), 0.1, 0.2, 0.3)
    model = RobotModel.ur(name, X_EP=X_EP, X_ES=np.eye(4))
    params = Controller(model, Config()).params[0]
    found = drawing.model_of(params)
    assert found.name == name
    q = np.array([0.3, -1.0, 1.2, -0.4, 0.9, 0.1])
    assert np.allclose(found.fk(q), model.fk(q), atol=1e-8)
    assert np.allclose(found.X_ES, model.X_ES, atol=1e-8)
    X = np.eye(4)
    for n, link in enumerate(drawing.chain_of(params)):
        c, s = (np.cos(q[n]), np.sin(q[n])) if n < 6 else (1.0, 0.0)
        turn = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
        X = X @ np.reshape(link, (4, 4)) @ turn
    assert np.allclose(X, model.fk(q), atol=1e-8)


def test_an_arm_of_another_kind_is_drawn_but_not_called_a_ur() -> None:
    params = Controller(RobotModel.ur("ur5e"), Config()).params[0].copy()
    params["chain_p"] *= 1.3
    assert drawing.name_of(params) == ""
    with pytest.raises(ModelError, match="not a UR arm"):
        drawing.model_of(params)


def test_an_arm_without_meshes_has_none() -> None:
    assert drawing.looks("ur20") == b"" and drawing.looks("") == b""


def test_meshes_are_thinned_by_less_than_a_pixel() -> None:
    random = np.random.default_rng(0)
    points = random.uniform(-0.1, 0.1, (300, 3))
    normals = np.tile([0.0, 0.0, 1.0], (300, 1))
    at, way, index = drawing._fewer(points, normals)
    assert np.abs(at[index] - points).max() < 0.002 or len(index) < 300
    assert np.allclose(np.linalg.norm(way, axis=1), 1.0)
    same = np.repeat(points[:100], 3, axis=0)  # triangles that are points
    assert len(drawing._fewer(same, normals)[2]) == 0


def test_the_pointer_pulls_like_a_spring_no_harder_than_a_hand_and_lets_go_when_it_is_lost() -> (
    None
):
    """Row 59: the pointer of a page that is not heard of any more."""
    now = [0.0]
    pointer, X, V = Pointer(lambda: now[0]), np.eye(4), np.zeros(6)
    pointer.drag(np.array([0.05, 0.0, 0.0]))
    assert np.allclose(pointer(0.0, X, V), [15.0, 0, 0, 0, 0, 0])
    pointer.drag(np.array([0.0, 2.0, 0.0]))
    assert np.linalg.norm(pointer(0.0, X, V)[LINEAR]) == pytest.approx(MOST_FORCE)
    now[0] = BEAT_SECONDS + 0.01
    assert not pointer(0.0, X, V).any()
    now[0] = 0.0
    assert not pointer(0.0, X, V).any()  # and stays so


def test_a_push_lasts_as_long_as_it_should() -> None:
    pointer, X, V = Pointer(lambda: 0.0), np.eye(4), np.zeros(6)
    pointer.push(np.array([0, 0, 5.0, 0, 0, 1.0]), 1.0)
    forces = [pointer(0.01 * n, X, V)[2] for n in range(100, 300)]
    assert forces[:100] == [5.0] * 100 and forces[100:] == [0.0] * 100


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("side", ["+x", "-x", "+y", "-y", "-z"])
def test_nothing_is_put_where_the_tool_stands(name, side) -> None:
    p_WP = np.array([0.49, 0.13, 0.39])
    scene = scene_of({"name": name, "side": side, "feel": "steel"}, p_WP)
    for shape in drawn(scene):
        if shape["kind"] == "box":
            outside = np.abs(p_WP - shape["center"]) - np.array(shape["size"]) / 2
            assert outside.max() > 0.05
    json.dumps(drawn(scene))
