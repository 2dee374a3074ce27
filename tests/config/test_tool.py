"""The `tool` section: one truth for every robot, in a file of its own if one likes."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import invoke
from ur_admittance import Config, ConfigError, RobotError, RobotModel
from ur_admittance.config.advice import payload_warning, payload_words
from ur_admittance.controller.packing import carrying
from ur_admittance.robots.base import FROZEN, watched
from ur_admittance.robots.sim.carried import tool_of
from ur_admittance.run import preflight


def test_a_tool_may_have_a_file_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "probe.yaml").write_text("name: probe\nmass: 1.2\nlength: 0.1\n")
    (tmp_path / "a.yaml").write_text("tool: probe.yaml\n")
    config = Config.load(tmp_path / "a.yaml")
    assert (config.tool.name, config.tool.mass, config.tool.length) == ("probe", 1.2, 0.1)
    (tmp_path / "probe.yaml").write_text("tool:\n  mass: 0.5\n")
    assert Config.load(tmp_path / "a.yaml").payload.mass == 0.5


def test_a_calibration_goes_into_any_configuration(tmp_path: Path) -> None:
    """It keeps what it extends, and has the payload and the sensor's mounting of the file."""
    found = "payload:\n  mass: 1.2\n  verdict: good\ntool:\n  sensor: [0, 0, 0, 0, 0, 0.1]\n"
    (tmp_path / "payload.yaml").write_text(found)
    head = "extends: preset:hand-guiding\npayload: payload.yaml\n"
    (tmp_path / "a.yaml").write_text(head + "tool: {mass: 1.0}\n")
    config = Config.load(tmp_path / "a.yaml")
    assert config.payload.mass == 1.2 and config.payload.verdict == "good"
    assert config.tool.sensor == (0, 0, 0, 0, 0, 0.1) and config.tool.mass == 1.0
    assert config.admittance == Config.preset("hand-guiding").admittance
    (tmp_path / "a.yaml").write_text(head + "tool: {sensor: [0, 0, 0, 0, 0, 0]}\n")
    with pytest.raises(ConfigError, match=r"payload\.yaml:5: tool\.sensor is given beside it"):
        Config.load(tmp_path / "a.yaml")


def test_what_is_wrong_in_that_file_is_said_with_its_place(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("tool: probe.yaml\n")
    with pytest.raises(ConfigError, match=r"probe\.yaml: no such file"):
        Config.load(tmp_path / "a.yaml")
    (tmp_path / "probe.yaml").write_text("name: probe\nmas: 1.2\n")
    with pytest.raises(ConfigError, match=r"probe\.yaml:2: .*tool\.mass"):
        Config.load(tmp_path / "a.yaml")


def test_what_the_tool_weighs_the_sensor_feels_unless_the_payload_says_otherwise() -> None:
    config = Config.from_dict({"tool.mass": 1.2, "tool.center_of_mass": [0, 0, 0.1]})
    assert config.payload.mass == 1.2 and config.payload.center_of_mass == (0, 0, 0.1)
    assert Config.from_dict({"tool.mass": 1.2, "payload.mass": 1.19}).payload.mass == 1.19


def test_a_tool_that_is_changed_is_felt_unless_the_payload_was_given() -> None:
    """As a ROS 2 node does it, whose parameters come over those of its configuration."""
    plain = Config.preset("hand-guiding")
    heavy = plain.replace({"tool.mass": 1.2, "tool.inertia": [0.1, 0.1, 0.1, 0, 0, 0]})
    assert heavy.payload.mass == 1.2 and heavy.payload.inertia == (0.1, 0.1, 0.1, 0, 0, 0)
    assert heavy.replace({"tool.mass": 2}).payload.mass == 2.0
    assert heavy.replace({"tool.mass": None}).payload.mass == 0.0
    assert heavy.replace({"tool.mass": 2, "payload.mass": 1.9}).payload.mass == 1.9
    measured = plain.replace({"payload.mass": 1.19})
    assert measured.replace({"tool.mass": 2}).payload.mass == 1.19
    assert heavy.replace({"tool.center_of_mass": [0, 0, 0.1]}).payload.mass == 1.2


def test_the_simulated_arm_carries_it() -> None:
    config = Config.from_dict({"tool.mass": 1.2, "payload.mass": 1.0, "tool.length": 0.2})
    assert tool_of(config).mass == 1.2 and tool_of(config).length == 0.2
    assert tool_of(Config.from_dict({"payload.mass": 1.0})).mass == 1.0


def test_tool_point_and_sensor_are_those_of_the_section() -> None:
    model = RobotModel.ur("ur5e")
    config = Config.from_dict({"tool.point": [0, 0, 0.1, 0, 0, np.pi / 2]})
    carried = carrying(model, config)
    assert carried.X_EP[:3, 3] == pytest.approx([0, 0, 0.1])
    assert carried.X_EP[:3, 0] == pytest.approx([0, 1, 0], abs=1e-12)
    assert np.array_equal(carried.X_ES, np.eye(4)), (
        "the sensor stays at the flange, as on real arms"
    )
    turned = Config.from_dict({"tool.sensor": [0, 0, 0.02, 0, 0, 0]})
    assert carrying(model, turned).X_ES[2, 3] == 0.02
    assert carrying(model, Config()) is model


def test_an_arm_on_a_graph_that_says_tool0_has_its_sensor_nowhere_else(tmp_path: Path) -> None:
    pytest.importorskip("rclpy")
    (tmp_path / "a.yaml").write_text("tool: {sensor: [0, 0, 0.02, 0, 0, 0]}\n")
    refused = invoke("sim-ros2", "--config", tmp_path / "a.yaml")
    assert refused.exit_code == 2 and "sim-ros2 has its sensor in tool0" in refused.stderr


def test_on_a_ros2_graph_the_description_says_where_the_tool_is() -> None:
    pytest.importorskip("rclpy")
    from ur_admittance.robots.ros2.robot import Ros2Robot

    with pytest.raises(RobotError, match=r"tool\.point: on a ROS 2 graph"):
        Ros2Robot(config=Config.from_dict({"tool.point": [0, 0, 0.1, 0, 0, 0]}))


def test_a_payload_that_is_old_or_missing_is_named() -> None:
    day = date(2026, 11, 18)
    assert "not calibrated" in payload_warning(Config(), day)
    fresh = {"payload.verdict": "good", "payload.date": "2026-11-10", "payload.mass": 1.2}
    assert payload_warning(Config.from_dict(fresh), day) == ""
    assert "8 days ago: good" in payload_words(Config.from_dict(fresh), day)
    old = {**fresh, "payload.date": "2026-01-10"}
    assert "312 days ago, that is old" in payload_warning(Config.from_dict(old), day)


def test_frozen_samples_are_looked_for_where_the_sensor_is_real_unless_the_file_says() -> None:
    assert watched(Config(), real=True).safety.frozen_samples == FROZEN
    assert watched(Config(), real=False).safety.frozen_samples is None
    for given in (0, 7):
        config = Config.from_dict({"safety.frozen_samples": given})
        assert watched(config, real=True).safety.frozen_samples == given


@pytest.mark.parametrize("shape", ["plain", "ros2"])
def test_what_a_simulated_run_saves_does_not_switch_the_watch_off_on_a_real_arm(shape: str) -> None:
    saved = watched(Config(), real=False).to_yaml(shape)
    assert "frozen_samples" not in saved
    assert watched(Config.loads(saved), real=True).safety.frozen_samples == FROZEN


def test_a_mesh_is_beside_the_file_that_names_it(tmp_path: Path) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/probe.yaml").write_text("name: probe\nmesh: probe.stl\nmesh_scale: 0.001\n")
    (tmp_path / "run.yaml").write_text("tool: tools/probe.yaml\n")
    tool = Config.load(tmp_path / "run.yaml").tool
    assert tool.mesh == str(tmp_path / "tools/probe.stl") and tool.mesh_scale == 0.001
    (tmp_path / "own.yaml").write_text("tool:\n  mesh: ../probe.OBJ\n")
    (tmp_path / "more.yaml").write_text("extends: own.yaml\n")
    assert Config.load(tmp_path / "more.yaml").tool.mesh == str(tmp_path / "../probe.OBJ")
    with pytest.raises(ConfigError, match=r"must be the path of an \.obj or \.stl file, got"):
        Config.from_dict({"tool.mesh": "probe.step"})


def test_a_sensor_may_be_named_instead_of_its_range() -> None:
    """ATI's table for the Axia80-M20: 500 N across, 900 N along, 20 Nm."""
    named = Config.loads("safety: {sensor_range: ati-axia80-m20-range-0}")
    assert named.safety.sensor_range == (500, 500, 900, 20, 20, 20)
    assert Config.loads(named.to_yaml()) == named
    with pytest.raises(ConfigError, match=r"or a sensor of ati-.*did you mean ati-axia80-m20"):
        Config.from_dict({"safety.sensor_range": "ati-axia80-m20"})


def test_the_start_check_is_as_tight_as_the_calibration_allows() -> None:
    """Deadband less what the calibration leaves, not safety.start_force."""
    known = {"payload.verdict": "good", "payload.left_force": 0.2, "payload.left_torque": 0.05}
    assert preflight.allowed(Config.from_dict(known)) == pytest.approx((1.3, 1.0))
    rough = {**known, "payload.left_force": 1.4}
    assert preflight.allowed(Config.from_dict(rough))[0] == pytest.approx(1.4)
    assert preflight.allowed(Config()) == (1.5, 1.0)
