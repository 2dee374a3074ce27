"""The pictures of README and docs are drawn by code, on machines that can draw."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
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


def test_the_picture_of_the_data_flow_is_drawn_and_names_files_that_exist(tmp_path: Path):
    script, file = runpy.run_path(str(DATAFLOW)), tmp_path / "dataflow.png"
    script["draw"](file)
    assert file.stat().st_size > 50_000
    for *_, files in script["STEPS"]:
        for name in files.split(", "):
            assert (ROOT / "src/ur_admittance/kernel" / name).exists()
