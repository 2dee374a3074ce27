"""`ur-admittance run` as a user meets it: how it starts, what it says, and how it ends."""

from __future__ import annotations

import ctypes
import json
import re
import resource
import signal
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import GUIDED, PUSHED, Terminal, attached, invoke, until
from ur_admittance import RobotModel
from ur_admittance.blackboard import Blackboard, list_running
from ur_admittance.live.glance import Glance

BRIEF = ("--pace", "0", "--seconds", "0.5")


def told(problems: str) -> list[str]:
    """All lines but those of the kernel, which a new machine compiles first."""
    return [line for line in problems.splitlines() if not line.startswith("ur-admittance: compil")]


def moving(reader) -> bool:
    latest = reader.latest()
    return latest is not None and bool(np.linalg.norm(latest["V_WP_cmd"]) > 0.05)


def test_a_run_ends_when_its_time_is_up_and_says_how_it_was(runtime) -> None:
    result = invoke(*GUIDED, *BRIEF)
    assert result.exit_code == 0, result.output
    first, second, third = result.stdout.splitlines()
    assert first == "sim:ur5e gives way from now on; Ctrl-C ends it"
    assert " 0 late, 0 missed; the arm is at rest" in second
    assert "99.9 %" in third and "from force to command" in third
    assert list_running() == []


def test_json_is_one_object_and_nothing_else(runtime) -> None:
    result = invoke(*GUIDED, *BRIEF, "--json")
    report = json.loads(result.stdout)
    assert result.exit_code == 0
    assert report["mode"] == "inactive"
    assert report["ticks"] >= 250
    assert report["tick"]["p50"] <= report["tick"]["p99.9"] <= report["tick"]["max"]
    assert report["recording"] is None


def test_a_start_outside_the_box_is_refused_unless_it_is_allowed(runtime, tmp_path: Path) -> None:
    model = RobotModel.ur("ur5e")
    wall = round(float(model.fk(model.home)[0, 3]) + 0.05, 3)
    (tmp_path / "a.yaml").write_text(f"limits:\n  workspace_min: [{wall}, -5.0, -5.0]\n")
    command = ("run", "--robot", "sim", "--config", tmp_path / "a.yaml", *BRIEF)
    result = invoke(*command)
    assert result.exit_code == 1
    assert f"50 mm beyond limits.workspace_min x = {wall:g} m" in result.stderr
    assert "gives way" not in result.stdout
    result = invoke(*command, "--allow-outside")
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("equilibrium: nowhere.yaml\n", "nowhere.yaml: no such file"),
        ("equilibrium: bad.yaml\n", "orientation: is missing"),
        ("admittance:\n  mas: 1\n", "did you mean admittance.mass?"),
    ],
)
def test_a_configuration_that_cannot_be_used_fails_before_a_robot_is_asked(
    text: str, words: str, tmp_path: Path, runtime
) -> None:
    (tmp_path / "bad.yaml").write_text("position: [0.4, 0, 0.4]\n")
    (tmp_path / "a.yaml").write_text(text)
    result = invoke("run", "--robot", "sim:no-such-arm", "--config", tmp_path / "a.yaml")
    assert result.exit_code == 2
    assert words in result.stderr
    assert "no-such-arm" not in result.stderr


@pytest.mark.parametrize(
    ("more", "code", "words"),
    [
        (("--robot", "sim:ur6e"), 1, "unknown arm 'ur6e'"),
        (("--robot", "ros2", "--push", "0", "1", "0"), 2, "--push: is for a simulated arm"),
        (("--guard",), 2, "--guard: is for an arm on a ROS 2 graph, got --robot sim"),
        (("--no-guard",), 2, "--no-guard: is for an arm on a ROS 2 graph, got --robot sim"),
        (("--config", "missing.yaml"), 2, "missing.yaml: no such file"),
        (("--config", "preset:nope"), 2, "the presets are"),
        (("--seconds", "nan"), 2, "--seconds: must be 0 or more"),
        (("--pace", "-1"), 2, "--pace: must be 0 or more"),
        (("--pace", "1", "--real-time"), 2, "leave --pace out"),
        (("--record", "no/where.mcap"), 2, "is no folder that can be written to"),
        (("--record", "."), 2, "exists already"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_starts(more, code, words, runtime) -> None:
    result = invoke(*GUIDED, *more)
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stdout == ""


def test_a_stop_that_nobody_asked_for_leaves_with_one_and_says_what_to_do(
    tmp_path: Path, runtime
) -> None:
    (tmp_path / "a.yaml").write_text("safety:\n  max_force: 15\n")
    options = ("--config", tmp_path / "a.yaml", "--push", 0, 20, 0, "--pace", 0, "--seconds", 9)
    result = invoke("run", "--robot", "sim", *options)
    assert result.exit_code == 1
    lines = told(result.stderr)
    assert re.fullmatch(
        r"the arm was stopped: the force exceeded safety.max_force \([\d.]+ N, at most 15 N\)",
        lines[0],
    )
    assert lines[1] == "what to do: relieve the tool, start again"
    assert "--record FILE" in lines[2]
    assert "the arm is at rest" in result.stdout


def test_the_end_says_what_held_the_arm_back_for_most_of_the_run(tmp_path: Path, runtime) -> None:
    file = tmp_path / "a.yaml"
    file.write_text("limits: {workspace_min: [-1, 0.4, 0], workspace_max: [1, 0.9, 1]}\n")
    run = ("run", "--robot", "sim", "--config", file, "--allow-outside", *BRIEF)
    held = invoke(*run)
    assert held.exit_code == 0, held.output
    assert "% of the time by outside_workspace" in held.stdout
    assert "outside_workspace: the tool is outside the workspace" in held.stdout
    report = json.loads(invoke(*run, "--json").stdout)
    assert report["held"]["outside_workspace"] > 0.9
    free = invoke(*GUIDED, *BRIEF)
    assert "held back" not in free.stdout


@pytest.mark.parametrize(
    "number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.slow)]
)
def test_a_signal_while_the_arm_moves_brakes_it_to_rest_and_leaves_with_zero(number, start) -> None:
    process = start(*PUSHED)
    reader = attached(process)
    until(lambda: moving(reader))
    process.send_signal(number)
    out, problems = process.communicate(timeout=120)
    assert process.returncode == 0, problems
    assert "the arm is at rest" in out
    assert reader.state == "ended"
    last = reader.latest()
    assert last is not None
    assert Glance.at(last.reshape(1)).mode == "inactive"
    assert not last["qd"].any()


def test_a_second_controller_is_refused_by_the_name_of_the_first(start) -> None:
    first = start(*PUSHED)
    attached(first)
    second = invoke("run", "--robot", "sim:ur5e", *GUIDED[3:], *BRIEF)
    assert second.exit_code == 1
    assert f"sim:ur5e already has a controller: sim:ur5e (process {first.pid}," in second.stderr
    assert second.stdout == ""
    assert first.poll() is None
    first.kill()
    first.wait()
    third = invoke(*GUIDED, *BRIEF)  # what a dead process left is no hindrance
    assert third.exit_code == 0, third.output


def without_rights() -> None:
    """In a child: no real-time priority and no locked memory, root or not."""
    libc = ctypes.CDLL(None)
    for capability in (14, 23):  # CAP_IPC_LOCK, CAP_SYS_NICE
        libc.prctl(24, capability, 0, 0, 0)  # PR_CAPBSET_DROP
    resource.setrlimit(resource.RLIMIT_RTPRIO, (0, 0))
    resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))


@pytest.mark.slow
def test_real_time_that_is_not_granted_is_told_line_by_line(start) -> None:
    process = start(*GUIDED, "--real-time", "--seconds", "0.1", preexec_fn=without_rights)
    _, problems = process.communicate(timeout=120)
    lines = told(problems)
    assert lines[0].startswith("warning: no real-time priority")
    assert lines[1].startswith("warning: memory not locked")


@pytest.mark.slow
def test_strict_does_not_move_without_real_time(start) -> None:
    process = start(
        *GUIDED, "--real-time", "--seconds", "0.1", "--strict", preexec_fn=without_rights
    )
    _, problems = process.communicate(timeout=120)
    assert process.returncode == 1
    assert "--strict: no real-time priority" in problems
    assert "nothing has moved" in problems


@pytest.mark.slow
def test_the_live_line_is_drawn_on_a_terminal_until_the_run_ends(start) -> None:
    terminal = Terminal()
    process = start(*PUSHED, **terminal.options)
    until(lambda: terminal.shows("mm/s") and terminal.shows("active"))
    until(lambda: terminal.shows(" Nm ") and terminal.shows("late 0"))
    process.send_signal(signal.SIGINT)
    assert process.wait(120) == 0
    until(lambda: terminal.shows("the arm is at rest"))
    line, summary = terminal.text.rindex("mm/s"), terminal.text.index("the arm is at rest")
    assert line < summary


@pytest.mark.slow
def test_the_terminal_is_usable_after_the_controller_was_killed(start) -> None:
    terminal = Terminal()
    process = start(*PUSHED, **terminal.options)
    until(lambda: terminal.shows("mm/s"))
    reader = Blackboard.attach("sim:ur5e")
    process.kill()
    process.wait()
    assert reader.state == "gone"
    until(lambda: terminal.text.count("\x1b[?25h") or terminal.shows("\x1b[?25h"))  # the cursor
