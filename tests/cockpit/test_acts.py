"""What pages may ask for, on a blackboard whose loop stands still between the steps of a test."""

from __future__ import annotations

import time

import numpy as np
import pytest

from tests.cockpit.conftest import ROBOT, hear, tell
from ur_admittance import ConfigError, Controller, RobotError, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.cockpit.acts import (
    MERGE_SECONDS,
    Folder,
    Tuning,
    for_station,
    plain_name,
    tared,
)
from ur_admittance.cockpit.form import form, live_changes, values_of
from ur_admittance.cockpit.paths import Paths
from ur_admittance.config import Config
from ur_admittance.errors import AdmittanceError
from ur_admittance.motion.taught import Path

MASS = "admittance.mass"


@pytest.fixture
def tuning(board) -> Tuning:
    now = [0.0]
    made = Tuning(Blackboard.attach(ROBOT), lambda: now[0])
    made.now = now  # type: ignore[attr-defined]
    return made


def test_a_hundred_changes_are_one_and_one_step_back(board, tuning) -> None:
    """Row 60: merged."""
    before = board.config()
    for n in range(100):
        tuning.want({MASS: [4.0 + 0.01 * n] * 6})
    generation = int(Blackboard.attach(ROBOT).params()["generation"])
    told = tuning.send()
    assert told is not None and told["values"][MASS][0] == pytest.approx(4.99)
    assert told["generation"] == generation + 1
    assert tuning.send() is None
    assert tuning.undo()["changed"] == {}
    assert board.config() == before


def test_a_slider_that_is_dragged_is_one_step_back_and_a_second_drag_another(tuning) -> None:
    first = tuning.base[MASS]
    for n in range(20):
        tuning.now[0] += 0.1
        tuning.want({MASS: [5.0 + n] * 6})
        tuning.send()
    tuning.now[0] += 5.0
    tuning.want({MASS: [2.0] * 6})
    assert tuning.send()["undo"] == 2
    assert tuning.undo()["values"][MASS] == (24.0,) * 6
    assert tuning.undo()["values"][MASS] == first
    with pytest.raises(ConfigError, match="nothing was changed"):
        tuning.undo()


def test_a_wrong_value_changes_nothing_and_says_what_would_be_right(board, tuning) -> None:
    before = board.config()
    tuning.want({MASS: [-1.0] * 6, "max_linear_velocity": 0.1})
    with pytest.raises(ConfigError, match="mass"):
        tuning.send()
    assert board.config() == before and tuning.send() is None
    with pytest.raises(ConfigError, match="did you mean"):
        tuning.want({"admittance.mas": [1.0] * 6})
    with pytest.raises(ConfigError, match="name: value"):
        tuning.want([1])


def test_damping_by_its_ratio_is_undone_to_damping_by_its_number(tuning) -> None:
    before = tuning.base
    tuning.want({"admittance.damping_ratio": [1.5] * 6})
    told = tuning.send()
    assert told["values"]["admittance.damping"] is None
    assert tuning.undo()["values"]["admittance.damping"] == before["admittance.damping"]


@pytest.mark.parametrize("name", Config.presets())
def test_every_preset_can_be_taken_over_and_taken_back(board, tuning, name) -> None:
    before = board.config()
    told = tuning.preset(name)
    assert told["values"][MASS] == Config.preset(name).admittance.mass
    if told["changed"]:
        tuning.undo()
    assert board.config() == before


def test_a_page_sees_what_another_terminal_changes(board, served, page) -> None:
    link = page()
    hear(link, "hello")
    board.set({MASS: [7.0] * 6})
    told = hear(link, "config", generation=1)
    assert told["values"][MASS] == [7.0] * 6 and MASS in told["changed"]


def test_a_slider_of_a_page_changes_the_controllers_parameter_and_is_undone(
    board, served, page
) -> None:
    """Row 60: many changes a second are a few; row 29 ramps them."""
    link = page(served.access.token)
    first = hear(link, "config")["values"][MASS]
    begun = time.monotonic()
    for n in range(50):
        tell(link, do="set", changes={MASS: [5.0 + 0.1 * n] * 6})
    told = hear(link, "config")
    while told["values"][MASS] != [5.0 + 0.1 * 49] * 6:
        told = hear(link, "config")
    assert told["generation"] <= 1 + (time.monotonic() - begun) / MERGE_SECONDS
    assert board.config().admittance.mass == (5.0 + 0.1 * 49,) * 6
    while told["changed"]:  # on a slow machine they came as more than one drag
        tell(link, do="undo")
        told = hear(link, "config")
    assert told["values"][MASS] == first
    tell(link, do="set", changes={MASS: "heavy"})
    assert "mass" in hear(link, "refused", do="set")["why"]


def test_taring_takes_the_wrench_of_now_for_zero(board) -> None:
    changes = tared(Blackboard.attach(ROBOT))
    assert set(changes) == {"payload.force_bias", "payload.torque_bias"}
    assert np.allclose(changes["payload.force_bias"], 0.0)


def test_only_a_simulated_arm_is_pushed_or_reset_from_a_page(served, page) -> None:
    link = page(served.access.token)
    for do in ("drag", "push", "scene"):
        tell(link, do=do, point=[0, 0, 0], name="wall", wrench=[0] * 6)
        assert "not simulated" in hear(link, "refused", do=do)["why"]
    tell(link, do="reset", confirmed=True)
    assert "start it again where it stands" in hear(link, "refused", do="reset")["why"]


@pytest.mark.parametrize(
    "message",
    [
        {"do": "drag"},
        {"do": "drag", "point": [0, 0]},
        {"do": "drag", "point": [float("nan"), 0, 0]},
        {"do": "drag", "point": [100, 0, 0]},
        {"do": "push", "wrench": "hard"},
        {"do": "push", "wrench": [1] * 6, "seconds": 60},
        {"do": "push", "wrench": [1] * 6, "seconds": float("nan")},
    ],
)
def test_a_push_that_is_none_is_refused(message) -> None:
    with pytest.raises(AdmittanceError):
        for_station(message)


@pytest.mark.parametrize(
    "name",
    ["", "..", "../x", "a/b", "a\nb", "-x", "x" * 41, "<b>", "é", ".hidden", None, 3, "a\0b"],
)
def test_a_name_that_is_no_plain_name_is_refused(name, tmp_path) -> None:
    """Row 62: in the names of recordings and paths; and row 57, a script in a name."""
    with pytest.raises(ConfigError, match="letters"):
        plain_name(name)
    with pytest.raises(ConfigError):
        Folder(tmp_path).new(name)
    assert not list(tmp_path.iterdir())


def test_no_recording_is_ever_replaced(tmp_path) -> None:
    folder = Folder(tmp_path)
    folder.new("first push").touch()
    with pytest.raises(RobotError, match="already"):
        folder.new("first push")
    assert [each["name"] for each in folder.listed()] == ["first push"]


def test_the_form_has_every_parameter_with_its_unit_bounds_and_text() -> None:
    controls = {control["name"]: control for control in form()}
    assert list(controls) == [field.name for field in Config.fields()]
    for control in controls.values():
        assert control["text"] and control["allowed"]
        for slider in control.get("slider", ()):
            low, high = control["bounds"]
            assert low <= slider["low"] < slider["high"] <= high, control["name"]
            assert slider["low"] > 0 or not slider["log"]
    mass = controls[MASS]
    assert mass["units"] == ["kg", "kg m^2"] and mass["live"] and mass["slider"][0]["log"]


def test_what_a_preset_cannot_change_while_running_is_named() -> None:
    changes, left = live_changes(Config.preset("hand-guiding"), Config.preset("velocity-law"))
    assert "admittance.frame" in left and "admittance.frame" not in changes


def test_the_page_is_told_the_damping_in_force_and_the_stiffest_surface() -> None:
    told = values_of(Config.preset("hand-guiding"))
    assert told["axes"][0]["damping"] == 60.0
    assert told["axes"][0]["stiffest_surface"] == pytest.approx(60.0 / told["loop_delay"])


def test_a_path_is_taught_from_a_page_listed_and_never_replaced(board, served, page) -> None:
    link = page(served.access.token)
    assert hear(link, "paths") == {"kind": "paths", "list": [], "teaching": ""}
    tell(link, do="teach_end")
    assert "no path is being taught" in hear(link, "refused", do="teach_end")["why"]
    tell(link, do="teach", name="../away")
    assert "letters" in hear(link, "refused", do="teach")["why"]
    tell(link, do="teach", name="first")
    assert hear(link, "paths")["teaching"] == "first"
    tell(link, do="teach", name="second")
    assert "end it first" in hear(link, "refused", do="teach")["why"]
    lead(board)
    tell(link, do="teach_end")
    told = hear(link, "paths", teaching="")["list"]
    assert [each["name"] for each in told] == ["first"] and 0.05 < told[0]["metres"] < 0.2
    assert Path.load(served.folder / "first.path.json").metres == pytest.approx(
        told[0]["metres"], abs=1e-3
    )
    tell(link, do="teach", name="first")
    assert "there is a 'first' already" in hear(link, "refused", do="teach")["why"]
    tell(link, do="play", name="first")
    refused = hear(link, "refused", do="play")["why"]
    file = served.folder / "first.path.json"
    assert f"end that run, then: ur-admittance play {file} --robot" in refused
    tell(link, do="teach", name="still")
    tell(link, do="teach_end")
    assert "not been seen for long enough" in hear(link, "refused", do="teach_end")["why"]


@pytest.mark.slow
def test_the_report_of_a_recording_of_an_arm_that_run_controls_opens(board, served, page) -> None:
    pytest.importorskip("mcap")
    link = page(served.access.token)
    assert not hear(link, "hello")["simulated"]
    tell(link, do="record", name="attached")
    while not hear(link, "recordings")["recording"].get("ready"):
        pass
    tell(link, do="mark", text="here")
    assert "marked at" in hear(link, "done", do="mark")["words"]
    lead(board)
    tell(link, do="record_end")
    assert hear(link, "done", do="record")["words"] == "attached: 250 ticks"  # and no past
    tell(link, do="report", name="attached")
    path = hear(link, "report")["path"]
    answer = served.get(path)
    assert answer.startswith(b"HTTP/1.1 200") and b"<h1>attached</h1>" in answer


def lead(board: Blackboard) -> None:
    """Half a second of ticks, in which a push moves the arm."""
    controller = Controller(RobotModel.ur("ur5e"), Config.preset("hand-guiding"))
    q = np.array(controller.model.home)
    controller.activate(q)
    for _ in range(250):
        out = controller.update(q, np.array([30.0, 0, 0, 0, 0, 0]), 0.002)
        q = q + 0.002 * out["qd"]
        board.publish(controller.outputs)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ({"name": "other"}, "no path 'other'"),
        ({"name": "../first"}, "letters"),
        ({"name": "first", "speed": "fast"}, "speed must be a number"),
        ({"name": "first", "speed": True}, "speed must be a number"),
    ],
)
def test_what_cannot_be_played_is_refused_before_the_arm_is_told(tmp_path, message, why) -> None:
    poses = np.array([[0.4, 0.1, z, 1, 0, 0, 0] for z in (0.3, 0.4)])
    Path(np.array([0.0, 1.0]), poses).save(tmp_path / "first.path.json")
    paths = Paths(Folder(tmp_path), lambda **_: None)
    with pytest.raises(AdmittanceError, match=why):
        paths.wanted(message)
    told, path = paths.wanted({"name": "first", "speed": 2, "back": True})
    assert told["play"]["speed"] == 2.0 and told["play"]["back"] and path.seconds == 1.0
