"""`ur-admittance identify`: it asks, measures, writes, and never over a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import invoke
from ur_admittance import Config


def test_identify_writes_a_configuration_and_never_over_one(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    result = invoke("identify", "--robot", "sim", "--yes", "--out", file, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert Config.load(file).arm.lag == pytest.approx(found["lag"], abs=1e-4)
    again = invoke("identify", "--robot", "sim", "--yes", "--out", file)
    assert again.exit_code == 2 and "--force" in again.stderr


def test_identify_over_ros2_is_refused_as_usage_before_ros_is_asked(tmp_path: Path) -> None:
    result = invoke("identify", "--robot", "ROS2", "--yes", "--out", tmp_path / "arm.yaml")
    assert result.exit_code == 2
    assert "--robot: not over ROS 2 yet" in result.stderr
