"""`run --robot rtde://HOST` as a process, against a controller in the test's own time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import invoke
from tests.robots.rtde.support import Lockstep, Traced
from ur_admittance.blackboard import Blackboard, list_running
from ur_admittance.robots.rtde.script import ASKED, NOTHING_NEW
from ur_admittance.telemetry.recording import read

pytest.importorskip("mujoco")
pytest.importorskip("lark")

pytestmark = pytest.mark.slow

QUICK = """\
extends: preset:hand-guiding
max_linear_velocity: 0.8
"""
PUSH = 45.0  # N
ROOT = Path(__file__).parents[2]
CYCLE, RAMP = 0.002, 6.2  # s, rad/s^2: of a UR5e


@pytest.fixture
def fake() -> Iterator[Traced]:
    """With the real ports, at an address of this machine that no other test has."""
    pid = os.getpid()
    made = Traced(host=f"127.{30 + pid // 65536 % 60}.{pid // 256 % 256}.{pid % 254 + 1}", ports=0)
    yield made
    made.close()


@pytest.fixture
def lead(runtime: None, tmp_path: Path, fake: Traced) -> Iterator[Callable[..., Lockstep]]:
    """Starts a command on the fake, in the fake's time."""
    started: list[subprocess.Popen[str]] = []
    module = (sys.executable, "-m", "tests.robots.rtde.run_process")
    paths = os.pathsep.join((str(ROOT), os.environ.get("PYTHONPATH", "")))

    def begun(verb: str, *arguments: str) -> Lockstep:
        process = subprocess.Popen(
            [*module, verb, "--robot", f"rtde://{fake.host}", *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": paths},
        )
        started.append(process)
        return Lockstep(fake, process)

    yield begun
    for process in started:
        if process.poll() is None:
            process.send_signal(signal.SIGCONT)
            process.kill()
        process.communicate()


@pytest.fixture
def begin(lead: Callable[..., Lockstep], tmp_path: Path) -> Callable[..., Lockstep]:
    """Starts a run so."""
    (tmp_path / "quick.yaml").write_text(QUICK)
    return partial(lead, "run", "--config", "quick.yaml", "--priority", "0")


def ended(lockstep: Lockstep) -> tuple[str, str]:
    """Step until the process has ended; its words."""
    lockstep.until(lambda: lockstep.process.poll() is not None)
    return lockstep.process.communicate()


def pushed(lockstep: Lockstep, speed: float) -> None:
    """Push the arm, once our program runs and the loop ticks, until its tool is so fast, m/s."""
    fake = lockstep.fake

    def plays() -> bool:
        assert lockstep.process.poll() is None, lockstep.process.communicate()
        return fake.machine.program_state == "PLAYING"

    lockstep.until(plays)
    lockstep.until(lambda: 1 in fake.kinds[-1:])
    fake.push(PUSH)
    lockstep.until(lambda: fake.speed >= speed)


def test_a_run_gives_way_is_recorded_and_ends_at_rest(begin, fake: Traced, tmp_path: Path) -> None:
    run = begin("--seconds", "2", "--record", "run.mcap", "--json")
    pushed(run, 0.2)
    out, problems = ended(run)
    assert run.process.returncode == 0, problems
    report = json.loads(out)
    assert report["mode"] == "inactive"
    assert report["recording"]["lost"] == 0
    records = read(tmp_path / "run.mcap").records
    assert len(records) == report["ticks"] and np.abs(records["V_WP_cmd"]).max() > 0.2
    assert fake.machine.program_state == "STOPPED"
    assert np.abs(fake.machine.target_qd).max() < 1e-9
    assert list_running() == []


def test_kill_9_at_half_a_metre_a_second_leaves_the_arm_braked_by_the_robot(
    begin, fake: Traced
) -> None:
    """Row 50 of the faults: 20 ms and the ramp, counted in the robot's own cycles."""
    run = begin()
    pushed(run, 0.5)
    run.process.kill()
    run.process.wait()
    since = fake.machine.cycle
    run.until(lambda: fake.machine.program_state == "STOPPED")
    fastest = float(np.abs(fake.target_qd[since - 1]).max())
    assert fake.braked(since) <= 10 + 2 + np.ceil(fastest / (RAMP * CYCLE))
    jumps = np.abs(np.diff(fake.target_qd, axis=0)).max()
    assert jumps <= RAMP * CYCLE + 1e-9
    assert fake.machine.output_int[26] == NOTHING_NEW
    fake.push(0.0, 0.0)
    again = begin("--seconds", "0.2")
    _, problems = ended(again)
    assert again.process.returncode == 1
    assert "heard nothing new" in problems and "--reset" in problems
    third = begin("--seconds", "0.2", "--reset")
    _, problems = ended(third)
    assert third.process.returncode == 0, problems


def test_a_stopped_process_finds_its_program_ended_and_leaves(begin, fake: Traced) -> None:
    """Row 21 of the faults: SIGSTOP for 200 ms of the robot's time."""
    run = begin()
    pushed(run, 0.2)
    run.process.send_signal(signal.SIGSTOP)
    since = fake.machine.cycle
    for _ in range(100):
        fake.step()
    assert fake.machine.output_int[26] == NOTHING_NEW
    run.process.send_signal(signal.SIGCONT)
    _, problems = ended(run)
    assert run.process.returncode == 1
    assert "heard nothing new" in problems or "slept" in problems, problems
    moved = np.abs(fake.target_qd[since + 100 :]).max(axis=1)
    assert (np.diff(moved) <= 1e-9).all(), "it only ever braked"


def test_a_second_run_is_refused_before_it_says_a_word_to_the_robot(begin, fake: Traced) -> None:
    """Row 53 of the faults."""
    run = begin()
    pushed(run, 0.1)
    fake.push(0.0, 0.0)
    clients = len(fake.rtde.clients)
    second = begin("--seconds", "1")
    run.until(lambda: second.process.poll() is not None)
    _, problems = second.process.communicate()
    assert second.process.returncode == 1
    assert f"already has a controller: rtde://{fake.host} (process {run.process.pid}" in problems
    assert len(fake.rtde.clients) == clients == 1
    assert run.process.poll() is None
    reader = Blackboard.attach(f"rtde://{fake.host}")
    reader.set({"admittance.damping_ratio": [1.5] * 6})
    reader.stop("enough")
    out, problems = ended(run)
    assert run.process.returncode == 0, problems
    assert "enough" in out


def test_ctrl_c_brakes_and_ends_the_program(begin, fake: Traced) -> None:
    run = begin()
    pushed(run, 0.2)
    run.process.send_signal(signal.SIGINT)
    out, problems = ended(run)
    assert run.process.returncode == 0, problems
    assert "the arm is at rest" in out
    assert fake.machine.program_state == "STOPPED"
    assert fake.machine.output_int[26] == ASKED


def test_a_stop_of_the_robot_is_said_with_what_to_do(begin, fake: Traced) -> None:
    run = begin()
    pushed(run, 0.2)
    fake.machine.protective_stop()
    _, problems = ended(run)
    assert run.process.returncode == 1
    assert "the arm was stopped: the robot's safety has stopped it (protective stop)" in problems
    assert "what to do: " in problems and "start again" in problems


def test_init_brings_the_arm_home_and_writes_its_pose(lead, fake: Traced) -> None:
    home = fake.machine.actual_q.copy()
    fake.machine.hand_move(home + np.array([0.1, 0.05, -0.05, 0.0, 0.1, 0.1]))
    init = lead("init", "--yes", "--json")
    out, problems = ended(init)
    assert init.process.returncode == 0, problems
    np.testing.assert_allclose(json.loads(out)["joints"], home, atol=1e-3)
    assert np.abs(np.diff(fake.target_qd, axis=0)).max() <= RAMP * CYCLE + 1e-9
    stay = lead("init", "--stay", "--out", "b.yaml", "--json")
    out, problems = ended(stay)
    assert stay.process.returncode == 0, problems
    position = json.loads(out)["position"]
    np.testing.assert_allclose(position, fake.machine.actual_TCP_pose[:3], atol=1e-4)


def test_identify_compares_the_payload_before_it_moves_anything(
    lead, fake: Traced, tmp_path: Path
) -> None:
    (tmp_path / "heavy.yaml").write_text("payload: {mass: 2.0}\n")
    identify = lead("identify", "--config", "heavy.yaml", "--yes")
    _, problems = ended(identify)
    assert identify.process.returncode == 1
    assert "payload: the robot has 0 kg, payload.mass is 2 kg" in problems
    assert not np.abs(fake.target_qd).any()


def test_demo_on_an_arm_asks_first(runtime, fake: Traced) -> None:
    result = invoke("demo", "--robot", f"rtde://{fake.host}")
    assert result.exit_code == 1
    assert "will give way to your hand" in result.stderr
    assert "nothing has moved; at a terminal it asks" in result.stderr
    assert fake.rtde.clients == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--wrench", "topic"), "--wrench: must be robot, compensated or netft://HOST"),
        (("--sensor-pose", *"000000"), "--sensor-pose: is for --wrench netft://HOST"),
        (("--registers", "60"), "registers: the first must be 0 to 42"),
        (("--push", "0", "1", "0"), "--push: is for a simulated arm"),
    ],
)
def test_an_option_that_makes_no_sense_is_refused_before_the_robot_is_asked(
    options: tuple[str, ...], words: str, runtime
) -> None:
    url = ("--robot", "rtde://127.0.0.1:30104", "--config", "preset:hand-guiding")
    result = invoke("run", *url, *options)
    assert result.exit_code == 2
    assert words in result.stderr


def test_nobody_at_the_address_is_said(runtime) -> None:
    result = invoke("run", "--robot", "rtde://127.0.0.1:30104", "--config", "preset:hand-guiding")
    assert result.exit_code == 1
    assert "has no RTDE interface on port 30104" in result.stderr
