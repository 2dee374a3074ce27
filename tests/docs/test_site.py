"""The documentation as a site: it builds without a warning and without a network, and is whole."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[2]
ROOMS = ("", ".config", ".blackboard", ".chain", ".model", ".robots", ".robots.sim", ".rollout")
DATA = {"__version__", "AXES", "DESIRED", "SCENARIOS", "Hand"}  # names that are not functions


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


def test_every_public_name_has_its_place_in_the_api_reference(site: Path):
    text = "".join(page.read_text("utf-8") for page in (site / "api").glob("*.html"))
    there = set(re.findall(r'id="ur_admittance[\w.]*?\.?(\w+)"', text))
    for room in ROOMS:
        names = set(importlib.import_module(f"ur_admittance{room}").__all__) - DATA
        assert not names - there, f"ur_admittance{room}: not in docs/api: {names - there}"
