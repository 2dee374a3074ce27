"""`ur-admittance map` and `identify`: what they write, print and refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import invoke
from ur_admittance import Config


@pytest.mark.slow
def test_map_draws_both_laws_and_says_how_stiff_each_can_touch(tmp_path: Path) -> None:
    picture = tmp_path / "map.png"
    result = invoke("map", "preset:touch", "--out", picture, "--json")
    assert result.exit_code == 0, result.output
    assert picture.read_bytes().startswith(b"\x89PNG")
    stiffest = json.loads(result.stdout)["stiffest"]
    assert stiffest["off"] < 10e3 < 50e3 < stiffest["on"]


def test_map_of_a_file_that_is_none_leaves_with_2(tmp_path: Path) -> None:
    assert invoke("map", tmp_path / "none.yaml").exit_code == 2


def test_identify_does_not_move_without_a_yes(tmp_path: Path) -> None:
    result = invoke("identify", "--robot", "sim", "--out", tmp_path / "arm.yaml")
    assert result.exit_code == 1
    assert not (tmp_path / "arm.yaml").exists()


def test_identify_writes_a_configuration_and_never_over_one(tmp_path: Path) -> None:
    file = tmp_path / "arm.yaml"
    result = invoke("identify", "--robot", "sim", "--yes", "--out", file, "--json")
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout)
    assert Config.load(file).arm.lag == pytest.approx(found["lag"], abs=1e-4)
    again = invoke("identify", "--robot", "sim", "--yes", "--out", file)
    assert again.exit_code == 1 and "--force" in again.stderr
