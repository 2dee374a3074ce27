"""The report's page: stands alone, trusts nobody, and there is one for every run."""

from __future__ import annotations

import dataclasses
import re
import shutil
from pathlib import Path

import pytest

from tests.telemetry.runs import Run
from ur_admittance import RobotError
from ur_admittance.report.write import write_report

pytest.importorskip("mujoco")
from tests.report.support import faulty, free, guided


def test_the_page_stands_alone_and_trusts_nobody(tmp_path):
    nasty = "<script>alert('x')</script>"
    findings = [("it moves", True, "as due & more"), (nasty, False, "not <so>")]
    recording = dataclasses.replace(faulty(), robot=nasty, version=nasty)
    path = write_report(recording, tmp_path / "a" / "b", nasty, findings)
    assert path == tmp_path / "a" / "b" / "index.html"
    page = path.read_text("utf-8")
    assert "<script" not in page and "http" not in page
    assert re.findall(r'(?:src|href)="(?!data:image/png;base64,)', page) == []
    assert page.count("data:image/png;base64,") == len(list(path.parent.glob("*.png"))) == 5
    assert "as due &amp; more" in page and "✗" in page and "push.mcap" in page
    assert "somewhere" not in page and str(tmp_path) not in page
    assert "over_force" in page and "75 N" in page and "60 N" in page and "cut off" in page
    assert "max_force: 60" in page
    for png in path.parent.glob("*.png"):
        assert png.read_bytes().startswith(b"\x89PNG")


def test_the_example_of_the_docs_runs_on_a_real_file(run: Run, tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shutil.copy(run.path, tmp_path / "push.mcap")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    written, cause = capsys.readouterr().out.splitlines()
    page = Path(written).read_text("utf-8")
    assert cause.startswith("The tool's motion differs")
    assert "admittance.mass" in page and "wrench_not_finite" in page and "stop_requested" in page
    assert str(tmp_path) not in page


@pytest.mark.parametrize("ticks", [0, 1, 3])
def test_tiny_recordings_have_a_page(ticks, tmp_path):
    recording = free(latency=2, servo_bandwidth=8.0)
    recording = dataclasses.replace(recording, records=recording.records[:ticks], finished=False)
    page = write_report(recording, tmp_path).read_text("utf-8")
    assert f"{ticks} ticks" in page and "<h1>push</h1>" in page
    assert ("too few ticks" in page) == (ticks < 3)


def test_a_folder_that_cannot_be_written_to_is_an_error_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    recording = dataclasses.replace(guided(), records=guided().records[:1])
    with pytest.raises(RobotError, match="cannot be written to"):
        write_report(recording, tmp_path / "file" / "report")
