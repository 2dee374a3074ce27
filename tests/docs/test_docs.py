"""What the documentation says is so: examples run, pages are fresh, links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import ur_admittance
from ur_admittance.config import Config

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += [ROOT / name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def blocks(page: str, language: str) -> list[str]:
    """The fenced blocks of a page in one language."""
    text = (ROOT / page).read_text("utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def python(*arguments: str, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "COLUMNS": "80", "NO_COLOR": "1"}
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        cwd=folder or ROOT,
        env=environment,
        check=False,
    )


def without_trailing_space(text: str) -> list[str]:
    return [line.rstrip() for line in text.strip().splitlines()]


def anchors(page: Path) -> set[str]:
    """The ids that Markdown gives to the headings of a page."""
    heads = re.findall(r"^#+ (.*)$", page.read_text("utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", head).strip().lower().replace(" ", "-") for head in heads}


def test_the_first_example_of_the_readme_prints_what_the_readme_says():
    result = python("-c", blocks("README.md", "python")[0])
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == blocks("README.md", "text")[0].strip()


def test_the_first_example_of_the_readme_is_ten_lines_or_so():
    lines = [line for line in blocks("README.md", "python")[0].splitlines() if line.strip()]
    assert len(lines) <= 12


def test_the_check_in_the_readme_prints_what_the_readme_says():
    command = blocks("README.md", "sh")[2].split()
    assert command[0] == "ur-admittance"
    code = "from ur_admittance.cli import main; main()"
    result = python("-c", code, *command[1:])
    assert result.returncode == 0, result.stderr
    shown = blocks("README.md", "text")[1]
    assert without_trailing_space(result.stdout) == without_trailing_space(shown)


def test_the_first_push_of_the_docs_runs():
    result = python("-c", blocks("docs/index.md", "python")[0])
    assert result.returncode == 0, result.stderr
    assert "active" in result.stdout


def test_the_simulated_arm_of_the_docs_runs_and_ends_at_rest():
    result = python("-c", blocks("docs/robots.md", "python")[0])
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("inactive")


@pytest.mark.slow
def test_the_commands_that_record_and_replay_work_as_written(tmp_path, monkeypatch):
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path / "runtime"))
    code = "from ur_admittance.cli import main; main()"
    said = []
    for command in blocks("docs/recording.md", "sh")[0].splitlines():
        _, *words = command.split()
        words += ["--pace", "0"] if words[0] == "run" else []  # as written, but without waiting
        result = python("-c", code, *words, folder=tmp_path)
        assert result.returncode == 0, (command, result.stderr)
        said.append(result.stdout)
    assert "ticks recorded" in said[0] and (tmp_path / "push" / "index.html").exists()
    assert "the same, bit for bit" in said[2] and "10 mm apart" in said[3]


def test_the_configuration_of_the_docs_is_accepted():
    Config.loads(blocks("docs/index.md", "yaml")[0], "index.md")


def test_the_generated_pages_are_fresh():
    result = python("docs/generate.py", "--check")
    assert result.returncode == 0, result.stderr


def test_code_that_is_quoted_stands_in_the_file_it_names():
    page, found = "docs/questions.md", 0
    for block in blocks(page, "python"):
        named = re.match(r"# ([\w/]+\.py)\b.*\n", block)
        if not named:
            continue
        source = (ROOT / "src/ur_admittance" / named[1]).read_text("utf-8").splitlines()
        there = [line.strip() for line in source]
        for line in block[named.end() :].splitlines():
            assert line.strip() in (*there, "..."), f"{named[1]} has no line {line.strip()!r}"
        found += 1
    assert found >= 10


def test_the_house_has_every_room_of_the_source():
    page = (ROOT / "docs/how-it-works.md").read_text("utf-8")
    table = page.partition("\n| room |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    named = re.findall(r"`([\w.]+)/?`", " ".join(cells))
    source = (ROOT / "src/ur_admittance").iterdir()
    assert sorted(named) == sorted(f.name for f in source if re.match(r"[a-z0-9]+(\.py)?$", f.name))


def test_there_are_examples():
    assert len(EXAMPLES) >= 3


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=name_of)
def test_an_example_runs_without_hardware_and_saves_one_picture(example, tmp_path):
    result = python(str(example), "--out", str(tmp_path / "picture.png"), folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["picture.png"]
    assert 2 <= len(result.stdout.splitlines()) <= 5


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_to_files_and_headings_that_exist(page):
    broken = []
    for target, anchor in re.findall(r"\]\(([^)#\s]*)#?([^)\s]*)\)", page.read_text("utf-8")):
        of_the_api = anchor.startswith("ur_admittance.")  # the site's own test sees to these
        if target.startswith(("http://", "https://")) or of_the_api:
            continue
        file = (page.parent / target).resolve() if target else page
        if not file.exists() or (anchor and anchor not in anchors(file)):
            broken.append(f"{target}#{anchor}")
    assert not broken


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_are_named_exist(page):
    names = {file.name for file in ROOT.glob("[!.]*/**/*.py")}
    wrong = []
    for name in re.findall(
        r"`((?:[\w.-]+/)*[\w-]+\.(?:py|toml|json)|(?:[\w.-]+/)+)`", page.read_text("utf-8")
    ):
        places = (ROOT / name, ROOT / "src/ur_admittance" / name)
        made_by_bench = name == "benchmarks/results.json"
        if not (any(place.exists() for place in places) or name in names or made_by_bench):
            wrong.append(name)
    assert not wrong


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_nothing_is_claimed_that_does_not_exist(page):
    text = page.read_text("utf-8")
    assert not re.findall(r"(?<![\w.~:/])/(?:home|work|root|tmp|usr)/", text)
    for target in re.findall(r"`make (\w+)`", text):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)


def test_every_picture_is_used_and_small():
    text = "".join(page.read_text("utf-8") for page in PAGES)
    for picture in (ROOT / "docs/images").iterdir():
        assert f"images/{picture.name}" in text
        assert picture.stat().st_size < 250_000


def test_the_table_of_stops_follows_from_the_default_limits():
    a, j = Config().limits.max_linear_acceleration, 50.0
    page = (ROOT / "docs/safety.md").read_text("utf-8")
    number = r"([\d.]+)"
    rows = re.findall(
        rf"^\| {number} m/s.*?\| {number} ms \| {number} mm \| {number} ms \| {number} mm \|$",
        page,
        re.MULTILINE,
    )
    assert len(rows) == 5
    for row in rows:
        v, time, distance, time_j, distance_j = map(float, row)
        assert time == pytest.approx(1e3 * v / a, abs=0.5)
        assert distance == pytest.approx(1e3 * v * v / (2 * a), rel=0.03)
        assert time_j == pytest.approx(1e3 * (v / a + a / j), abs=0.5)
        assert distance_j == pytest.approx(1e3 * (v * v / (2 * a) + v * a / (2 * j)), rel=0.03)
    assert Config().max_linear_velocity == float(rows[-1][0])


def test_the_citation_names_this_version():
    citation = (ROOT / "CITATION.cff").read_text("utf-8")
    assert f"\nversion: {ur_admittance.__version__}\n" in citation
