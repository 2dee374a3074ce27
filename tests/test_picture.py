"""The picture for the README is drawn by code, on machines that can draw."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco")
pytest.importorskip("matplotlib")


@pytest.mark.slow
def test_the_picture_is_drawn_or_it_says_what_is_missing(tmp_path: Path):
    file = tmp_path / "surface.png"
    done = subprocess.run(
        [sys.executable, "-m", "ur_admittance.picture", str(file)],
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
