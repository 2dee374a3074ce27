"""What the documentation says is so: examples run, pages are fresh, links lead somewhere."""

from __future__ import annotations

import os
import re
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
import typer

import ur_admittance
from tests.test_layering import room_of
from ur_admittance import RobotModel
from ur_admittance.config import Config
from ur_admittance.kernel import layout
from ur_admittance.kernel.spatial import quaternion_of
from ur_admittance.motion.taught import Path as Taught

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


def text_of(page: Path) -> str:
    return page.read_text("utf-8")


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


def test_the_run_of_the_docs_is_recorded_and_plays_a_path(tmp_path, monkeypatch):
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path / "runtime"))
    code = next(block for block in blocks("docs/robots.md", "python") if "ua.Run(" in block)
    assert len(code.strip().splitlines()) <= 10
    model = RobotModel.ur("ur5e")
    X = model.fk(model.home)
    wxyz = quaternion_of(np.ascontiguousarray(X[:3, :3]))
    poses = [[X[0, 3], X[1, 3] + 0.02 * n / 10, X[2, 3], *wxyz] for n in range(11)]
    Taught(np.linspace(0.0, 1.0, 11), np.array(poses), model.home).save(tmp_path / "wave.json")
    made = 'ua.robots.make("sim:ur5e", realtime=False)'  # as written, but without waiting
    result = python("-c", code.replace('"sim:ur5e"', made), folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert result.stdout.startswith("reached") and "lost=0" in result.stdout


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
    found = 0
    for page in PAGES:
        for block in blocks(name_of(page), "python"):
            named = re.match(r"# ([\w/]+\.py)\b.*\n", block)
            if not named:
                continue
            source = text_of(ROOT / "src/ur_admittance" / named[1])
            there = [line.strip() for line in source.splitlines()]
            for line in block[named.end() :].splitlines():
                assert line.strip() in (*there, "..."), f"{named[1]} has no line {line.strip()!r}"
            function = re.search(r": in (?:\w+\.)?(\w+)", named[0])
            assert not function or f"def {function[1]}(" in source, named[0]
            found += 1
    assert found >= 15


def rooms_of_the_house() -> list[str]:
    """The files and folders that the table of the house names, row by row."""
    page = (ROOT / "docs/how-it-works.md").read_text("utf-8")
    table = page.partition("\n| room |")[2].partition("\n\n")[0]
    cells = [line.split("|")[1] for line in table.splitlines()[2:]]
    return re.findall(r"`([\w.]+)/?`", " ".join(cells))


def test_the_house_has_every_room_of_the_source():
    source = [file.name for file in (ROOT / "src/ur_admittance").iterdir()]
    rooms = [name for name in source if re.fullmatch(r"[a-z][a-z0-9_]*(\.py)?", name)]
    assert sorted(rooms_of_the_house()) == sorted(rooms)


def test_the_house_is_in_the_order_in_which_rooms_may_import():
    named = [name.removesuffix(".py") for name in rooms_of_the_house()]
    places = [room_of(f"ur_admittance.{name}") for name in named]
    assert [named[n] for n in range(1, len(named)) if places[n] < places[n - 1]] == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_what_is_said_to_stand_in_a_file_stands_there(page):
    """Wherever a page says that a name is in a file, as "`limit` in `limiter.py`"."""
    wrong, ours = [], list((ROOT / "src/ur_admittance").rglob("*.py"))
    names_in_a_file = r"((?:`(?!\w+\.py`)\w[\w.]*`,? (?:and )?)+)in `([\w/]+\.py)`"
    for names, file in re.findall(names_in_a_file, text_of(page)):
        files = [ROOT / file] if file.startswith("tests/") else ours
        source = "\n".join(text_of(place) for place in files if str(place).endswith(f"/{file}"))
        for name in re.findall(r"`(?:\w+\.)*(\w+)`", names):
            if not re.search(rf"^ *(def|class) {name}\b|^{name} = ", source, re.MULTILINE):
                wrong.append(f"{name} in {file}")
    assert not wrong


def test_the_records_are_as_large_as_the_questions_say():
    said = re.search(
        r"([\d.]+) kB of parameters, ([\d.]+) kB of state, ([\d.]+) kB of inputs, "
        r"([\d.]+) kB of outputs",
        text_of(ROOT / "docs/questions.md"),
    )
    assert said
    records = (layout.PARAMS, layout.STATE, layout.INPUTS, layout.OUTPUTS)
    for kilobytes, record in zip(said.groups(), records, strict=True):
        assert 1000 * float(kilobytes) == pytest.approx(record.itemsize, rel=0.05)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_commands_that_are_shown_exist_with_their_options(page):
    verbs = runpy.run_path(str(ROOT / "docs/commands.py"))
    known = {name: options_of(verbs, name) for name in verbs["verbs"]()}
    text, wrong = text_of(page), []
    shown = re.findall(r"^(?:\$ )?ur-admittance +(.*)$", text, re.MULTILINE)
    shown += re.findall(r"`ur-admittance +([^`]*)`", text)
    for line in shown:
        words = re.split(r" (?:#|&)| --ros-args", line)[0].split()
        if words[0] in ("VERB", "--version"):
            continue
        options = {word.partition("=")[0] for word in words[1:] if word.startswith("--")}
        if words[0] not in known or options - known[words[0]] - {"--help"}:
            wrong.append(line)
    assert not wrong


def options_of(verbs: dict, name: str) -> set[str]:
    """Every option that a verb can take, on any robot."""
    function, kinds = verbs["verbs"]()[name]
    functions = [function, *(verbs["KINDS"].values() if kinds else ())]
    pages = [row for one in functions for row in verbs["rows"](one)[1]]
    return {word for row in pages for word in re.findall(r"--[\w-]+", row[0])}


def verb(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="What to read.", metavar="FILE")],
    speed: Annotated[float, typer.Option(help="How fast [m/s].", min=0.1, max=1)] = 0.25,
    turns: Annotated[tuple[float, float] | None, typer.Option(help="How [rad].")] = None,
    wrench: Annotated[str, typer.Option(help="Or rtde://HOST.", metavar="TOPIC")] = "robot",
    quick: Annotated[bool, typer.Option("--quick", help="As with --speed 1.")] = False,
    stay_awake: Annotated[bool, typer.Option(help="Less late.")] = True,
) -> None:
    """A verb that is none of ours."""


def test_the_page_of_commands_says_what_a_verb_takes():
    arguments, options = runpy.run_path(str(ROOT / "docs/commands.py"))["rows"](verb)
    assert arguments == [("`FILE`", "required", "What to read.")]
    assert options == [
        ("`--speed`", "number, 0.1 to 1", "`0.25`", "How fast [m/s]."),
        ("`--turns`", "2 numbers", "", "How [rad]."),
        ("`--wrench`", "`TOPIC`", "`robot`", "Or `rtde://HOST`."),
        ("`--quick`", "", "", "As with `--speed` 1."),
        ("`--stay-awake` `--no-stay-awake`", "", "`--stay-awake`", "Less late."),
    ]


def test_nobody_is_told_to_install_what_is_not_published():
    for page in PAGES:
        assert not re.search(r'pip install "?ur-admittance', text_of(page)), page


def test_every_page_is_in_the_table_of_the_readme():
    table = text_of(ROOT / "README.md").partition("\n## Documentation\n")[2].partition("\n## ")[0]
    linked = set(re.findall(r"\]\(docs/([\w/-]+\.md)\)", table))
    assert {page.name for page in (ROOT / "docs").glob("*.md")} - linked == set()


def test_every_preset_is_in_the_table_of_presets():
    rows = re.findall(r"^\| `([\w-]+)` \|", text_of(ROOT / "docs/tuning.md"), re.MULTILINE)
    assert sorted(rows) == sorted(ur_admittance.presets())


def test_every_picture_has_the_command_that_draws_it():
    page = text_of(ROOT / "CONTRIBUTING.md")
    for picture in (ROOT / "docs/images").iterdir():
        assert f"docs/images/{picture.name}" in page


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
        places = (ROOT / name, ROOT / "src" / name, ROOT / "src/ur_admittance" / name)
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
