"""`report`: a page of a recorded run."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.cli.support import PATIENCE, invoke
from ur_admittance.telemetry.recording import read


@pytest.mark.slow
def test_a_report_is_a_page_beside_the_recording_and_its_numbers_here(recording: Path) -> None:
    result = invoke("report", recording, "--json")
    assert result.exit_code == 0, result.output
    report = json.loads(result.stdout)
    assert report["ticks"] == len(read(recording).records)
    assert Path(report["report"]) == recording.with_suffix("") / "index.html"
    assert Path(report["report"]).is_file()


@pytest.mark.slow
@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONIOENCODING": "ascii"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
)
def test_a_report_is_told_in_any_locale(environment, recording: Path, start) -> None:
    process = start("report", str(recording), env={**os.environ, **environment})
    out, problems = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, problems
    assert "tick" in out and out.isascii()
