"""An option that can do nothing where it is given is an error that says so; a default is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import GUIDED, PATIENT, invoke
from ur_admittance.blackboard import list_running

OWN_TIME = "does nothing for a simulated arm, which lives in a time of its own; add --real-time"
REAL = ("--robot", "rtde://127.0.0.1:30104", "--config", "preset:hand-guiding")
SCENE = "is for a simulated arm; a real one has a time and noise of its own, leave it out"
TAKEN = "does nothing with --from, whose poses are taken already; leave it out"


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        ((*GUIDED, "--priority", 50), [f"--priority: {OWN_TIME}"]),
        ((*GUIDED, "--pace", 2, "--cpu", 0), [f"--cpu: {OWN_TIME}"]),
        ((*GUIDED, "--awake"), [f"--awake: {OWN_TIME}"]),
        (
            (*GUIDED, "--strict", "--spin", "--no-awake"),
            [f"--no-awake: {OWN_TIME}", f"--spin: {OWN_TIME}", f"--strict: {OWN_TIME}"],
        ),
        ((*GUIDED, "--force"), ["--force: replaces a recording; there is none, add --record FILE"]),
        (
            ("run", *REAL, "--average"),
            [
                "--average: is for --wrench netft://HOST; the robot knows its own sensor, leave it "
                "out"
            ],
        ),
        (
            ("run", *REAL, "--urcap-port", 50003),
            ["--urcap-port: does nothing where the program is sent in remote control; add --urcap"],
        ),
        (
            ("demo", *REAL[:2], "--seed", 0, "--pace", 2, "--ideal", "--fast"),
            [f"--{name}: {SCENE}" for name in ("pace", "fast", "ideal", "seed")],
        ),
        (("demo", "--fast", "--pace", 2), ["--pace: --fast is --pace 10; leave one of them out"]),
        (
            ("demo", "--ideal", "--seed", 1),
            ["--seed: an --ideal arm has no noise; leave one of them out"],
        ),
        (
            ("calibrate", "--from", "a.csv", "--poses", 12, "--tilt", 75, "--by-hand", "--yes"),
            [f"--{name}: {TAKEN}" for name in ("poses", "tilt", "by-hand", "yes")],
        ),
        (
            ("calibrate", "--robot", "sim", "--by-hand", "--tilt", 60),
            ["--tilt: does nothing with --by-hand, where you move the arm; leave it out"],
        ),
        *(
            (
                ("calibrate", *source, "--arm", "ur5e"),
                [
                    "--arm: is for --from FILE.csv; robots and recordings say which arm they are, "
                    "leave it out"
                ],
            )
            for source in (("--robot", "sim"), ("--from", "a.mcap"))
        ),
        (
            ("cockpit", "--attach", "sim:ur5e", "--config", "preset:touch", "--real-time"),
            [
                f"{name}: is for a simulated arm that the cockpit starts; with --attach it starts "
                "none"
                for name in ("--config", "--real-time")
            ],
        ),
        (
            ("init", "--robot", "sim", "--stay", "--home", *"000000"),
            ["--home: does nothing with --stay; leave one of them out"],
        ),
        (
            ("doctor", "--push", "--listen", 30),
            [
                f"{name}: is for a look at a robot; add --robot URL"
                for name in ("--listen", "--push")
            ],
        ),
        (
            ("tune", "--jobs", 2, "--scheduler", "tcp://127.0.0.1:1"),
            ["--jobs: is for this machine; --scheduler works on others"],
        ),
        (
            ("fake-robot", "--free-ports", "--ports", 0),
            ["--ports: --free-ports takes any; leave one of them out"],
        ),
        (("get", "--force"), ["--force: replaces a file; there is none, add --save FILE"]),
        (
            ("sim-ros2", "--ideal", "--seed", 0),
            ["--seed: an --ideal arm has no noise; leave one of them out"],
        ),
    ],
    ids=lambda words: words[0] if isinstance(words, tuple) else "",
)
def test_it_is_refused_by_the_spelling_that_was_used_and_nothing_starts(
    words: tuple[object, ...], lines: list[str], runtime
) -> None:
    result = invoke(*words)
    assert result.exit_code == 2, result.output
    assert result.stderr.splitlines() == lines
    assert result.stdout == ""
    assert list_running() == []


def test_in_the_time_of_the_clock_they_are_taken(runtime, tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(f"extends: preset:hand-guiding\n{PATIENT}")
    patient = ("run", "--robot", "sim", "--config", tmp_path / "a.yaml")
    result = invoke(*patient, "--real-time", "--seconds", 0.01, "--priority", 0, "--no-awake")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("option", [("--config", "preset:touch"), ("--robot", "sim:ur10e")])
def test_the_cockpit_does_not_show_another_arm_than_it_was_asked_for(option, board) -> None:
    result = invoke("cockpit", *option)
    assert result.exit_code == 2
    assert f"{option[0]}: is for a simulated arm that is started; sim:a runs" in result.stderr
