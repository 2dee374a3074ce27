"""The documentation as a site: it builds without a warning and without a network, and is whole."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ur_admittance

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src/ur_admittance"
DATA = {  # that are no functions
    *("__version__", "AXES", "DESIRED", "MODES", "SCENARIOS", "SPIN_SECONDS", "TASKS"),
    *("TRACE_SECONDS", "Hand"),
}
INNER = {  # rooms in which there is nothing for a user of the library
    *("bench", "cli", "cockpit", "live"),  # commands, and what they show
}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The built site. A proxy that nobody serves stands for the network."""
    folder = tmp_path_factory.mktemp("site")
    nowhere = {name: "http://127.0.0.1:9" for name in ("http_proxy", "https_proxy")}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, **nowhere, "NO_MKDOCS_2_WARNING": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return folder


def test_every_page_is_there(site: Path):
    for page in (ROOT / "docs").rglob("*.md"):
        assert (site / page.relative_to(ROOT / "docs")).with_suffix(".html").exists()


def test_nothing_is_loaded_from_elsewhere(site: Path):
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        for tag in re.findall(r"<(?:script|link|img|iframe|source)\b[^>]*>", text):
            address = re.search(r"(?:src|href)=[\"']?([^\"' >]+)", tag)
            canonical = "canonical" in tag
            assert canonical or not (address and address[1].startswith(("http", "//"))), tag
    for style in site.rglob("*.css"):
        assert not re.search(r"url\([\"']?(?:https?:)?//", style.read_text("utf-8"))


def test_no_docstring_turns_into_a_quotation(site: Path):
    """As `>>>` does in Markdown: code in docstrings is indented by four."""
    for page in (site / "api").glob("*.html"):
        assert "<blockquote" not in page.read_text("utf-8"), page.name


@pytest.fixture(scope="module")
def reference(site: Path) -> set[str]:
    """Every name that the pages of the package explain, with its room."""
    pages = [page.read_text("utf-8") for page in (site / "api").glob("*.html")]
    return {name for page in pages for name in re.findall(r'id="ur_admittance\.([\w.]+)"', page)}


def test_every_public_name_has_its_place_in_the_api_reference(reference: set[str]):
    there = {name.rpartition(".")[2] for name in reference}
    rooms = [file for file in PACKAGE.rglob("__init__.py") if "__all__" in file.read_text("utf-8")]
    rooms = [room.parent.relative_to(PACKAGE.parent) for room in rooms]
    assert len(rooms) > 8
    for room in rooms:
        if room.name == "urscript":  # inside the fake robot
            continue
        names = set(importlib.import_module(".".join(room.parts)).__all__) - DATA
        assert not names - there, f"{room}: not in docs/api: {names - there}"


def test_every_room_has_its_place_in_the_api_reference(reference: set[str]):
    rooms = [file.stem for file in PACKAGE.iterdir() if re.match(r"[a-z]\w*(\.py)?$", file.name)]
    top = [getattr(ur_admittance, name) for name in ur_admittance.__all__ if name in reference]
    there = {name.partition(".")[0] for name in reference}
    there |= {thing.__module__.removeprefix("ur_admittance.").split(".")[0] for thing in top}
    assert set(rooms) - there == INNER


def test_a_method_that_overrides_says_what_its_base_says(site: Path):
    page = (site / "api/robots.html").read_text("utf-8")
    for robot in ("sim.SimRobot", "rtde.robot.RtdeRobot", "ros2.robot.Ros2Robot"):
        assert f'id="ur_admittance.robots.{robot}.send_position"' in page


def test_every_part_of_the_kernel_is_on_its_page(site: Path):
    page = (ROOT / "docs/api/kernel.md").read_text("utf-8")
    shown = set(re.findall(r"^::: ur_admittance\.kernel\.(\w+)$", page, re.MULTILINE))
    tick = (PACKAGE / "kernel/tick.py").read_text("utf-8")
    steps = set(re.findall(r"^from ur_admittance\.kernel\.(\w+) import", tick, re.MULTILINE))
    assert steps - shown == {"compile"}
