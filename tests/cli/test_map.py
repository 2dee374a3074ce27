"""`ur-admittance map`: what it writes, prints and refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import invoke


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


def test_map_of_an_arm_that_is_none_leaves_with_2() -> None:
    result = invoke("map", "preset:touch", "--arm", "ur99")
    assert result.exit_code == 2 and "unknown arm 'ur99'" in result.stderr
