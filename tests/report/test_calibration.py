"""The page of a payload calibration says what was found, pose by pose."""

from __future__ import annotations

import re
import sys
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration_cases import Bench, measure
from matplotlib.image import imread

from ur_admittance import RobotError
from ur_admittance.calibration.measured import Measured
from ur_admittance.calibration.payload import Estimate, estimate
from ur_admittance.report.calibration import write_page


class Tables(HTMLParser):
    """The cells of every table, row by row, and all text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self.text, self._in_cell, self.tags = "", False, set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        self._in_cell = self._in_cell and tag not in ("td", "th")

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._in_cell:
            self.tables[-1][-1][-1] += data


@pytest.fixture(scope="module")
def rows() -> list[Measured]:
    """Twelve poses, the third of which was not still."""
    rng, found = np.random.default_rng(0), []
    for n, one in enumerate(measure(Bench(), rng)):
        samples = one.samples + (n == 2) * np.linspace(0, 20, len(one.samples))[:, None]
        found.append(Measured(one.R_WS, samples, one.time, q=np.full(6, 0.1 * n)))
    return found


@pytest.fixture(scope="module")
def found(rows) -> Estimate:
    return estimate(rows)


def test_every_pose_used_is_in_the_table_with_its_joints_and_what_is_left(
    tmp_path: Path, rows, found
) -> None:
    page = Tables(write_page(tmp_path / "page", found, rows, "a robot").read_text("utf-8"))
    poses = page.tables[0]
    assert [cells[0] for cells in poses[1:]] == [str(n) for n in range(1, 13) if n != 3]
    for cells, pose, residual in zip(poses[1:], found.poses, found.residuals, strict=True):
        assert cells[1] == ", ".join([f"{0.1 * pose:.2f}"] * 6)
        np.testing.assert_allclose([float(x) for x in cells[2:]], residual, atol=6e-4)
    assert "Left out, not still: [3]." in page.text
    errors = {cells[0]: float(cells[1]) for cells in page.tables[1][1:]}
    assert errors.keys() == found.errors.keys()
    for name, error in found.errors.items():
        assert errors[name] == pytest.approx(error, rel=0.01)
    assert f"{found.mass:.4f} kg" in page.text and "good: 11 poses" in page.text


def test_its_pictures_are_in_it_and_beside_it(tmp_path: Path, rows, found) -> None:
    text = write_page(tmp_path, found, rows, "a robot").read_text("utf-8")
    for name in ("residuals", "poses"):
        picture = imread(tmp_path / f"{name}.png")
        assert picture.shape[0] > 200 and picture.std() > 0.05
    assert len(re.findall(r'src="data:image/png;base64,[A-Za-z0-9+/=]{5000,}"', text)) == 2
    assert "http" not in text.replace("http-equiv", "")


def test_the_name_of_a_robot_is_text_and_nothing_else(tmp_path: Path, rows, found) -> None:
    name = '<script>alert("&")</script>'
    page = Tables(write_page(tmp_path, found, rows, name).read_text("utf-8"))
    assert "script" not in page.tags and f"Payload of {name}" in page.text


def test_a_folder_that_cannot_be_written_to_and_a_missing_library_are_said(
    tmp_path: Path, rows, found, monkeypatch
) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(RobotError, match=r"report: .*file cannot be written to: File exists"):
        write_page(tmp_path / "file", found, rows, "a robot")
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(RobotError, match=r'needs matplotlib.*"ur-admittance\[record\]"'):
        write_page(tmp_path / "page", found, rows, "a robot")
    assert not (tmp_path / "page").exists()
