"""The pictures of README and docs are drawn by code, on machines that can draw."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

from tests.test_layering import imports_of

ROOT = Path(__file__).parents[2]
KERNEL = ROOT / "src/ur_admittance/kernel"
PICTURE, DATAFLOW = ROOT / "docs" / "picture.py", ROOT / "docs" / "dataflow.py"

pytest.importorskip("mujoco")
pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_the_picture_is_drawn_or_it_says_what_is_missing(tmp_path: Path):
    file = tmp_path / "surface.png"
    done = subprocess.run(
        [sys.executable, str(PICTURE), str(file)],
        capture_output=True,
        text=True,
        timeout=300,
    )
    if done.returncode:
        assert "MUJOCO_GL" in done.stderr
        assert "Traceback" not in done.stderr
        pytest.skip("no OpenGL here")
    assert file.read_bytes().startswith(b"\x89PNG")
    assert file.stat().st_size > 50_000


@pytest.fixture(scope="module")
def dataflow() -> dict:
    return runpy.run_path(str(DATAFLOW))


def test_the_picture_of_the_data_flow_is_drawn_and_no_word_covers_another(
    dataflow: dict, tmp_path: Path
):
    places = dataflow["draw"](tmp_path / "dataflow.png")
    assert (tmp_path / "dataflow.png").stat().st_size > 50_000
    assert len(places) > 40
    for n, place in enumerate(places):
        assert not any(place.overlaps(other) for other in places[n + 1 :]), place


def test_the_picture_of_the_data_flow_names_every_step(dataflow: dict):
    shown = {name for *_, files in dataflow["STEPS"] for name in files.split(", ")}
    tables = {"bits", "compile", "spatial"}
    steps = {module.rpartition(".")[2] for module in imports_of(KERNEL / "tick.py")} - tables
    assert {f"{step}.py" for step in steps if (KERNEL / f"{step}.py").exists()} <= shown
    assert all((KERNEL / name).exists() for name in shown)
