"""What needs somebody's assent on a robot, and nobody gives it: verb by verb, and from Python,
against the fake controller over real sockets, in its own time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ur_admittance as ua
from tests.cli.support import invoke
from tests.robots.rtde.support import PumpedSocket, Traced, rtde_robot
from ur_admittance import robots
from ur_admittance.kernel.spatial import quaternion_of
from ur_admittance.motion.taught import Path as Taught
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.run.assent import NotPermitted

pytest.importorskip("mujoco")
pytest.importorskip("lark")

URL = "rtde://127.0.0.1"
WAITS = "def mill():\n while True:\n  sync()\n end\nend\n"
MOVES = """\
def mill():
  while True:
    speedj([0.1, 0, 0, 0, 0, 0], 1, 0.5)
    speedj([-0.1, 0, 0, 0, 0, 0], 1, 0.5)
  end
end
"""
RUN = ("run", "--robot", URL, "--priority", "0", "--no-awake", "--seconds", "0.2")
GUIDING = (*RUN, "--config", "preset:hand-guiding")
INIT = ("init", "--robot", URL)
IDENTIFY = ("identify", "--robot", URL)
CALIBRATE = ("calibrate", "--robot", URL)
PLAY = ("play", "path.json", "--robot", URL, "--priority", "0", "--no-awake")
DEMO = ("demo", "--robot", URL)


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> Iterator[Traced]:
    """A controller that every robot of the test is on, whichever command makes it."""
    made, init = Traced(), RtdeRobot.__init__

    def on_it(self: RtdeRobot, host: str, **options: Any) -> None:
        options |= {
            "ports": {name: made.ports[name] for name in ("rtde", "primary", "dashboard")},
            "make": lambda address, seconds: PumpedSocket(made, address),
            "clock": lambda: made.machine.time,
        }
        init(self, host, **options)

    monkeypatch.setattr(RtdeRobot, "__init__", on_it)
    yield made
    made.close()


@pytest.fixture
def folder(runtime: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fake: Traced) -> Path:
    """Where the commands run: with a path of 5 cm to play, and an equilibrium that is far away."""
    monkeypatch.chdir(tmp_path)
    with rtde_robot(fake, watch=True) as robot:
        q = robot.look().q.copy()
        X = robot.model.fk(q)
    wxyz = quaternion_of(np.ascontiguousarray(X[:3, :3]))
    poses = [[X[0, 3], X[1, 3] + 0.05 * n / 10, X[2, 3], *wxyz] for n in range(11)]
    Taught(np.linspace(0.0, 2.0, 11), np.array(poses), q).save("path.json")
    far = {"position": (X[:3, 3] + [0.0, 0.3, 0.0]).tolist(), "orientation": list(wxyz)}
    (tmp_path / "far.yaml").write_text(
        json.dumps({"extends": "preset:stiff-hold", "equilibrium": far})
    )
    return tmp_path


@pytest.fixture
def started(fake: Traced, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The first line of every program that is started on the robot from now on."""
    scripts: list[str] = []
    load = fake.machine.load_script

    def loaded(text: str) -> bool:
        scripts.append(text.partition("\n")[0])
        return load(text)

    monkeypatch.setattr(fake.machine, "load_script", loaded)
    return scripts


def said_by(*arguments: object) -> tuple[int, str]:
    """A command without a terminal: how it left, and its words on one line."""
    result = invoke(*arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.exit_code, " ".join(result.output.split())


@pytest.mark.parametrize(
    ("command", "refused", "way"),
    [
        (INIT, "to lead the arm", "--yes lets it"),
        (CALIBRATE, "to lead the arm", "--yes lets it"),
        (IDENTIFY, "to lead the arm", "--yes lets it"),
        (PLAY, "to play a path or follow a plan", "--yes lets it"),
        (DEMO, "to show what the arm does", "at a terminal it asks"),
        ((*RUN, "--config", "far.yaml"), "to travel to the equilibrium", "--allow-travel lets it"),
        (
            (*RUN, "--config", "preset:constant-force"),
            "to set off by itself to press",
            "--allow-force lets it",
        ),
    ],
    ids=["init", "calibrate", "identify", "play", "demo", "travel", "force"],
)
def test_a_verb_that_moves_an_arm_does_not_without_somebodys_assent(
    command: tuple[str, ...], refused: str, way: str, folder: Path, fake: Traced, started: list[str]
) -> None:
    """Row 71: no terminal, no option: it leaves with 1, and nothing was started on the robot."""
    before, cycles = fake.machine.actual_q.copy(), len(fake.target_qd)
    code, words = said_by(*command)
    assert code == 1, words
    assert f"{command[0]}: " in words
    assert f"not permitted {refused}, nothing has moved; {way}" in words
    assert started == []
    assert not np.abs(fake.target_qd[cycles:]).any()
    np.testing.assert_allclose(fake.machine.actual_q, before, atol=1e-9)


@pytest.mark.parametrize(
    "command",
    [
        (*INIT, "--yes"),
        (*IDENTIFY, "--yes"),
        (*PLAY, "--yes"),
        (*RUN, "--config", "far.yaml", "--allow-travel"),
        (*RUN, "--config", "preset:constant-force", "--allow-force"),
    ],
    ids=["init", "identify", "play", "travel", "force"],
)
def test_with_its_option_it_does(
    command: tuple[str, ...], folder: Path, fake: Traced, started: list[str]
) -> None:
    """Row 71, the other side of it."""
    here = fake.machine.actual_q.copy()
    if command[0] == "init":
        fake.machine.hand_move(here + 0.05)
    code, words = said_by(*command)
    assert code == 0, words
    assert len(started) == 1
    assert np.abs(fake.target_qd).any()


def from_python() -> None:
    robots.connect(URL).close()


def by_a_run() -> None:
    with ua.Run(URL, ua.Config.preset("hand-guiding")) as run:
        run.drive(0.1)


def by_verb(*arguments: str) -> Callable[[], None]:
    def invoked() -> None:
        code, words = said_by(*arguments)
        assert code == 1, words
        raise ua.RobotError(words)

    return invoked


REPLACE = "--replace-program lets it, or stop it on the pendant"
STARTS = {
    "run": (by_verb(*GUIDING), REPLACE),
    "play": (by_verb(*PLAY, "--yes"), REPLACE),
    "init": (by_verb(*INIT, "--yes"), "nothing has moved; stop it on the pendant"),
    "identify": (by_verb(*IDENTIFY, "--yes"), "nothing has moved; stop it on the pendant"),
    "calibrate": (by_verb(*CALIBRATE, "--yes"), "nothing has moved; stop it on the pendant"),
    "connect": (from_python, "start it with a Run, permit={'replace'}"),
    "Run": (by_a_run, "permit={'replace'} lets it, or stop it on the pendant"),
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("script", [WAITS, MOVES], ids=["waits", "moves"])
def test_a_program_that_plays_is_not_thrown_out(
    script: str, start: str, folder: Path, fake: Traced, started: list[str]
) -> None:
    """Row 70: it is named, nothing is sent, and it goes on."""
    played(fake, script)
    started.clear()
    begin, way = STARTS[start]
    with pytest.raises(ua.RobotError) as refused:
        begin()
    words = str(refused.value)
    assert re.search(rf"a program plays on {URL}:\d+ \(mill\.urp\); ", words)
    assert words.endswith(way), words
    assert started == []
    assert fake.dashboard.answer("programState") == "PLAYING mill.urp"
    since = len(fake.target_qd)
    for _ in range(600):
        fake.step()
    assert fake.dashboard.answer("programState") == "PLAYING mill.urp"
    assert (np.abs(fake.target_qd[since:]).max() > 0.05) == (script is MOVES)


def test_a_program_that_is_paused_is_not_thrown_out_either(
    folder: Path, fake: Traced, started: list[str]
) -> None:
    """Row 70: somebody means to go on with it."""
    played(fake, WAITS)
    fake.machine.pause_program()
    started.clear()
    with pytest.raises(NotPermitted, match=r"a program plays on .*mill\.urp"):
        by_a_run()
    assert started == []
    assert fake.dashboard.answer("programState") == "PAUSED mill.urp"


def replaced_by_run() -> None:
    code, words = said_by(*GUIDING, "--replace-program")
    if code:
        raise ua.RobotError(words)


def replaced_from_python() -> None:
    with ua.Run(URL, ua.Config.preset("hand-guiding"), permit={"replace"}) as run:
        run.drive(0.1)


@pytest.mark.parametrize("start", [replaced_by_run, replaced_from_python])
def test_with_leave_it_is_replaced_once_the_arm_stands_still(
    start: Callable[[], None], folder: Path, fake: Traced, started: list[str]
) -> None:
    """Row 70, the other side of it."""
    played(fake, MOVES)
    started.clear()
    with pytest.raises(ua.RobotError, match=r"the arm moves.*nothing was sent"):
        start()
    assert started == []
    assert fake.dashboard.answer("programState") == "PLAYING mill.urp"
    fake.machine.stop_program()
    for _ in range(500):
        fake.step()
    played(fake, WAITS)
    started.clear()
    start()
    assert started == ["def ur_admittance():"]


def test_an_arm_that_is_jogged_gets_no_program(
    folder: Path, fake: Traced, started: list[str]
) -> None:
    """Row 70: no program plays, and somebody moves it from the pendant all the same."""
    played(fake, MOVES)
    fake.machine.runtime_state = type(fake.machine.runtime_state).STOPPED
    started.clear()
    with pytest.raises(ua.RobotError, match=r"the arm moves.*nothing was sent"):
        by_a_run()
    assert started == []


def test_with_the_urcap_it_is_the_program_that_plays_that_fetches_ours(fake: Traced) -> None:
    """Row 70: nothing is refused there."""
    played(fake, WAITS)
    with rtde_robot(fake, urcap=0) as robot:
        assert robot.session.plays() == ""


def played(fake: Traced, script: str) -> None:
    """A person plays a program from the pendant, and it has begun."""
    fake.dashboard.programs["mill.urp"] = script
    fake.dashboard.answer("load mill.urp")
    assert fake.dashboard.answer("play") == "Starting program"
    for _ in range(100):
        fake.step()
