"""Whatever drives an arm is watched, however its process was started and however it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import PATIENT, SCRIPT
from tests.oracle import taps, watched

ROOT = Path(__file__).parents[2]
RUN = ("run", "--robot", "sim", "--config", "preset:hand-guiding", "--pace", "0", "--seconds", "1")
PUSHED = (*RUN, "--push", "0", "20", "0", "--json")
CODE = "import sys; from ur_admittance.cli import main; main()"
COMMAND = "ur_admittance_command"


def start(*command: str, **options: Any) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*command], stdout=pipe, stderr=pipe, text=True, **options)


def python(code: str, *arguments: str, **options: Any) -> subprocess.Popen[str]:
    return start(sys.executable, "-c", code, *arguments, **options)


def ended(process: subprocess.Popen[str]) -> str:
    output, errors = process.communicate()
    assert process.returncode == 0, errors
    watched.watches.look()
    return output


# --- everything is seen ---


@pytest.mark.parametrize(
    "way",
    [(SCRIPT,), (sys.executable, "-m", COMMAND), (sys.executable, "-P", "-c", CODE)],
    ids=["the installed command", "a module", "a program"],
)
def test_every_tick_of_a_run_is_seen_however_it_was_started(runtime, way: tuple[str, ...]) -> None:
    process = start(*way, *PUSHED)
    report = json.loads(ended(process))
    assert watched.watches.ticks[process.pid] == report["ticks"] > 400
    assert watched.watches.commands[process.pid] > report["ticks"]  # and what it was told at last


LED = "--home -1.5 -1.6 1.5 -1.4 -1.5 0.1"


@pytest.mark.slow
def test_a_motion_that_nobody_controls_is_seen_too(runtime, tmp_path: Path) -> None:
    (tmp_path / "patient.yaml").write_text(PATIENT)
    words = ("init", "--robot", "sim", "--config", "patient.yaml", *LED.split(), "--json")
    process = start(SCRIPT, *words, cwd=tmp_path)
    ended(process)
    assert watched.watches.ticks[process.pid] == 0
    assert watched.watches.commands[process.pid] > 500


CONTROL = """
import os, signal, sys
import numpy as np
from ur_admittance import Config, Controller, RobotModel
import ur_admittance.controller.controller as module

def control(ticks, spoil=lambda outputs: None):
    entry = module.entry_point
    def spoilt(update):
        tick = entry(update)
        def ticked(*arguments):
            code = tick(*arguments)
            spoil(arguments[3])
            return code
        return ticked
    module.entry_point = spoilt
    controller = Controller(RobotModel.ur("ur5e"), Config())
    q = controller.model.home
    controller.activate(q)
    for _ in range(ticks):
        out = controller.update(q, np.array([10.0, 0, 0, 0, 0, 0]), 0.002)
        q = q + out["qd"] * 0.002
    return controller
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_process_that_is_killed_takes_nothing_with_it(number: int) -> None:
    process = python(f"{CONTROL}\ncontrol(137)\nos.kill(os.getpid(), {int(number)})")
    process.communicate()
    assert process.returncode == -number or number == signal.SIGINT
    watched.watches.look()
    assert watched.watches.ticks[process.pid] == 137


def test_a_copy_of_a_process_writes_nothing_for_it() -> None:
    copied = "controller = control(100)\nchild = os.fork()\nout = controller.update"
    go_on = "(controller.model.home, np.zeros(6), 0.002)\nif child: os.wait()"
    process = python(f"{CONTROL}\n{copied}{go_on}")
    ended(process)
    assert watched.watches.ticks[process.pid] == 101


def written_by_others() -> set[Path]:
    """Not by this process, which may write the end of what an earlier test drove at any time."""
    own = f"{os.getpid()}-"
    return {path for path in watched.watches.folder.iterdir() if not path.name.startswith(own)}


def test_a_process_that_drives_nothing_writes_nothing() -> None:
    before = written_by_others()
    process = python("import ur_admittance")
    assert process.communicate() and process.returncode == 0
    assert written_by_others() == before


def test_what_is_being_written_is_not_read_before_it_is_whole(tmp_path: Path) -> None:
    file = tmp_path / "1-x.0"
    whole = taps.HEAD.pack(taps.FOUND, 0, 9) + b"what\nhere"
    file.write_bytes(whole + whole[:20])
    assert len(list(watched.records(file, 0))) == 1
    file.write_bytes(whole + whole)
    ((kind, source, data, after),) = watched.records(file, len(whole))
    assert (kind, source, data, after) == (taps.FOUND, 0, b"what\nhere", 2 * len(whole))


# --- and judged ---


def found_in(code: str) -> dict[str, str]:
    ended(python(f"{CONTROL}\n{code}"))
    return watched.watches.end()


def test_a_good_run_is_found_to_be_good() -> None:
    assert found_in("control(300)") == {}


def test_what_another_process_breaks_is_found_with_its_command() -> None:
    leap = "def leap(o):\n    if o['tick'][0] == 100: o['qd'][0] += 0.1\ncontrol(300, leap)"
    found = found_in(leap)
    assert found["joint acceleration"].startswith("tick 100 at 0.2000 s: ")
    assert f"in {sys.executable} -c" in found["joint acceleration"]


def test_a_tick_without_a_number_is_found_also_if_the_process_dies_of_it() -> None:
    nan = "def nan(o):\n    if o['tick'][0] == 50: o['qd'][0] = np.nan"
    process = python(f"{CONTROL}\n{nan}\ncontrol(50, nan)\nos.abort()")
    process.communicate()
    assert process.returncode == -signal.SIGABRT
    watched.watches.look()
    assert "is not finite" in watched.watches.end()


def test_a_chain_in_another_process_is_judged() -> None:
    chain = """
from ur_admittance.chain import ControllerManager, Link, positions
manager = ControllerManager(RobotModel.ur("ur5e"))
manager.activate(manager.model.home)
manager.update(manager.model.home, np.zeros(6), 0.002)
manager._guard._memory[0] += 1.0  # it forgets where it was
manager._guard.outputs["qd"] = 1.0
import ur_admittance.chain.manager as module
manager._finish = lambda seconds: 0
manager.update(manager.model.home, np.zeros(6), 0.002)
"""
    assert "joint acceleration of what a chain's robot is told" in found_in(chain)


def test_a_motion_that_is_led_in_another_process_is_judged() -> None:
    led = """
import ur_admittance.calibration.identify as module
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import Run
excitation = module.excitation
module.excitation = lambda *arguments: excitation(*arguments).round(1) * 20
with SimRobot("ur5e", ideal=True, realtime=False) as robot:
    try:
        module.identify(Run(robot), max_force=1e9)
    except module.CalibrationError:
        pass
"""
    assert "joint acceleration of what sim:ur5e is told" in found_in(led)


def test_a_rollout_in_another_process_is_judged() -> None:
    rolled = """
module = sys.modules["ur_admittance.rollout.rollout"]
from ur_admittance import LaggedArm
pack = module.pack
module.pack = lambda config, model: loosened(pack(config, model))
def loosened(params):
    params["qdd_max"] *= 3.0
    params["a_max"] *= 10.0
    return params
module.rollout(RobotModel.ur("ur5e"), Config(), np.tile([0, 60.0, 0, 0, 0, 0], (200, 1)))
"""
    assert {"acceleration", "joint acceleration"} & set(found_in(rolled))


# --- and a test fails of it ---

FAILING = """
import subprocess, sys
import pytest

CODE = '''{code}'''

@pytest.fixture
def process():
    started = subprocess.Popen([sys.executable, "-c", CODE], stdin=subprocess.PIPE)
    yield started
    started.communicate()

def test_it(process):
    {wait}
"""


@pytest.mark.parametrize(
    ("wait", "outcome"), [("process.communicate()", "1 failed"), ("pass", "1 error")]
)
def test_the_test_that_started_it_fails_also_if_it_ends_later(tmp_path, wait, outcome) -> None:
    leap = "def leap(o): o['qd'][0] += 0.1 * (o['tick'][0] == 100)"
    code = f"{CONTROL}\n{leap}\nsys.stdin.read()\ncontrol(300, leap)"
    file = tmp_path / "test_it.py"
    file.write_text(FAILING.format(code=code, wait=wait))
    words = ("-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", str(file))
    done = subprocess.run(
        [sys.executable, *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert outcome in done.stdout, done.stdout
    assert "'joint acceleration': 'tick 100" in done.stdout
