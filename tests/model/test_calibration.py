"""The factory calibration of an arm: how it is read, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from tests.model.support import calibration, message
from ur_admittance.model import RobotModel

ARMS = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")

LINKS = ("shoulder", "upper_arm", "forearm", "wrist_1", "wrist_2", "wrist_3")

UR5E = dict(
    zip(
        LINKS,
        [
            (0, 0, 0.1625, 0, 0, 0),
            (0, 0, 0, math.pi / 2, 0, 0),
            (-0.425, 0, 0, 0, 0, 0),
            (-0.3922, 0, 0.1333, 0, 0, 0),
            (0, -0.0997, 0, math.pi / 2, 0, 0),
            (0, 0.0996, 0, -math.pi / 2, 0, 0),
        ],
        strict=True,
    )
)


def test_a_calibration_is_read_from_text_path_and_file_name(tmp_path: Path) -> None:
    shifted = UR5E | {"wrist_3": (0.001, 0.0996, 0.002, -math.pi / 2, 0, 0)}
    file = tmp_path / "calibration.yaml"
    file.write_text(calibration(shifted))
    nominal = RobotModel.ur("ur5e")
    expected = nominal.with_calibration(calibration(shifted)).fk(nominal.home)
    assert 0.002 < np.linalg.norm((expected - nominal.fk(nominal.home))[:3, 3]) < 0.003
    for source in (file, str(file)):
        calibrated = RobotModel.ur("ur5e", calibration=source)
        np.testing.assert_array_equal(calibrated.fk(nominal.home), expected)
        assert calibrated.links and (calibrated.qd_max == nominal.qd_max).all()


def test_a_calibration_serves_an_arm_read_from_a_urdf_too() -> None:
    nominal = RobotModel.ur("ur5e")
    urdf = nominal.to_urdf()
    for prefix in ("", "left_"):
        named = urdf
        for word in ("base_link", "_joint"):
            named = named.replace(f'"{word}', f'"{prefix}{word}')
        for joint in nominal.joint_names:
            named = named.replace(f'"{joint}"', f'"{prefix}{joint}"')
        model = RobotModel.from_urdf(named, base=f"{prefix}base_link")
        assert model.joint_names[0] == f"{prefix}shoulder_pan_joint"
        np.testing.assert_allclose(model.home, nominal.home)
        calibrated = model.with_calibration(calibration(UR5E))
        q = np.arange(6.0)
        np.testing.assert_allclose(calibrated.fk(q), nominal.fk(q), atol=1e-12)


def test_numbers_that_yaml_takes_for_words_are_numbers() -> None:
    text = calibration(UR5E).replace("z: 0\n", "z: 1e-12\n")
    assert "1e-12" in text
    RobotModel.ur("ur5e").with_calibration(text)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("no_such_file.yaml", "'no_such_file.yaml': cannot be read (No such file"),
        (Path("no_such_file.yaml"), "cannot be read"),
        (".", "cannot be read"),
        ("nul\0l", "cannot be read"),
        (7, "cannot be read"),
        ("a: [1\n", "this is no YAML"),
        ("[" * 5000 + "\n", "this is no YAML"),
        ("- 1\n- 2\n", "calibration: expected a mapping with 'kinematics', got [1, 2]"),
        ("{}", "calibration: 'kinematics' is missing; there is nothing"),
        ("joints:\n  a: 1\n", "'kinematics' is missing; there is joints"),
        ("kinematics:\n  shoulder: 5\n", "kinematics.shoulder: expected a mapping with 'x', got 5"),
        (calibration(UR5E).replace("forearm", "fore_arm"), "kinematics: 'forearm' is missing"),
        (calibration(UR5E).replace("    yaw: 0\n", "", 1), "kinematics.shoulder: 'yaw' is missing"),
        (
            calibration(UR5E).replace("0.1333", "far"),
            "kinematics.wrist_1.z: must be a number, got 'far'",
        ),
        (calibration(UR5E).replace("0.1333", ".nan"), "every number must be"),
        (calibration(UR5E).replace("0.1333", "true"), "kinematics.wrist_1.z: must be a number"),
        (calibration(UR5E).replace("0.1333", "[1]"), "kinematics.wrist_1.z: must be a number"),
        (calibration(UR5E).replace("0.1333", "0.2"), "Is it the file of another arm?"),
    ],
)
def test_a_calibration_that_cannot_be_used_says_why(source, expected: str) -> None:
    assert expected in message(RobotModel.ur("ur5e").with_calibration, source)


def test_the_calibration_of_another_arm_is_refused() -> None:
    for name in set(ARMS) - {"ur5e"}:
        assert "another arm" in message(RobotModel.ur, name, calibration=calibration(UR5E))


def test_only_a_ur_arm_can_have_a_ur_calibration() -> None:
    renamed = RobotModel.ur("ur5e").to_urdf().replace("elbow_joint", "knee_joint")
    said = message(RobotModel.from_urdf(renamed).with_calibration, calibration(UR5E))
    assert "knee_joint" in said and "elbow_joint" in said
    moved = RobotModel.ur("ur5e").to_urdf().replace("base_link", "world")
    said = message(RobotModel.from_urdf(moved, base="world").with_calibration, calibration(UR5E))
    assert "'world'" in said and "base_link" in said
