"""Rows 43 and 44 over a real cable: a network namespace, TCP of the kernel, packets that are lost.

Skipped where this machine or user may not have one. What is judged is counted in the robot's own
cycles, or is an outcome: a busy machine makes the wire worse, never the test.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import numpy as np
import pytest

from tests.robots.rtde.cable import Cable, NotPermitted
from tests.robots.rtde.far import Far
from tests.robots.rtde.robots_time import live_in
from tests.robots.rtde.support import until
from tests.support import LINEAR
from ur_admittance import Config, Controller, RobotError
from ur_admittance.robots.rtde.connection import give_up_after
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.robots.rtde.script import NOTHING_NEW
from ur_admittance.run import run
from ur_admittance.run.loop import RunError
from ur_admittance.run.summary import Summary

pytest.importorskip("mujoco")
pytest.importorskip("lark")
pytestmark = pytest.mark.slow

CYCLE, RAMP, SILENT = 0.002, 6.2, 10  # s, rad/s^2 of a UR5e, cycles
PATIENT = {
    "safety.wrench_timeout": 9.0,
    "safety.joint_timeout": 9.0,
    "safety.lost_timeout": 10.0,
}  # s; fmt: skip


@pytest.fixture
def cable() -> Iterator[Cable]:
    made = Cable()
    try:
        made.__enter__()
    except NotPermitted as why:
        pytest.skip(str(why))
    yield made
    made.__exit__()


class Wire:
    """A robot at the far end of a cable, and what happens to that once the arm moves.

    Until then its controller waits for this process, and this one lives in the robot's time: a
    busy machine makes neither late. From then on both go by the clock on the wall.

    Attributes:
        spoilt: whether it has happened.
    """

    def __init__(self, cable: Cable, far: Far, config: Config) -> None:
        self.robot, self.far, self.spoilt = RtdeRobot(cable.far, config=config), far, False
        self._cable, self._config = cable, config
        live_in(self.robot.session)

    def drive(self, seconds: float, **how: float) -> Summary:
        """Push the arm; once it is told to move at 0.1 m/s, the cable is spoilt."""
        controller = Controller(self.robot.model, self._config)

        def each(state: Any, out: Any) -> None:
            if out["tick"] == 2:
                self.far.push(15.0)
            if not self.spoilt and np.linalg.norm(out["V_WP_cmd"][LINEAR]) > 0.1:
                self.spoilt = True
                self._cable.set(**how)
                self._be_on_the_wall()
                self.far.free()

        return run(self.robot, controller, seconds=seconds, each=each)

    def _be_on_the_wall(self) -> None:
        session = self.robot.session
        ahead = session.clock() - time.monotonic()
        session.clock = lambda: time.monotonic() + ahead
        give_up_after(session.client._socket, 5 / session.rate)  # as every client's


def test_a_pulled_cable_leaves_no_side_waiting_for_the_other(cable: Cable) -> None:
    """Row 43: half-open. The robot stops by its watchdog; we give up, long before TCP would."""
    config = Config.preset("hand-guiding").replace(PATIENT)
    with Far(cable) as far:
        wire = Wire(cable, far, config)

        def until_it_ends() -> None:
            summary = wire.drive(60.0, loss=1.0)
            assert summary.mode == "stopped", "at rest before we gave up"
            while True:
                wire.robot.wait()

        with pytest.raises(RobotError, match="connection to the robot has ended"), wire.robot:
            until_it_ends()
        seen = far.report()
        assert wire.spoilt and seen["then"] > 0.05, "it moved when the cable was pulled"
        assert seen["speed"] == 0.0 and seen["state"] == "STOPPED"
        assert seen["why"] == NOTHING_NEW
        assert seen["braked"] <= SILENT + 2 + np.ceil(seen["then"] / (RAMP * CYCLE))
        assert seen["jump"] <= RAMP * CYCLE + 1e-9
        cable.set()
        with pytest.raises(RobotError, match=r"in use|heard nothing new"):
            RtdeRobot(cable.far, config=config).connect()
        assert far.report()["speed"] == 0.0


@pytest.mark.parametrize(
    "how",
    [{"delay": 0.001, "loss": 0.001}, {"delay": 0.005, "jitter": 0.01, "loss": 0.01},
     {"delay": 0.03, "loss": 0.05}],
    ids=lambda how: ", ".join(f"{name} {value}" for name, value in how.items()),
)  # fmt: skip
def test_whatever_a_bad_cable_does_the_arm_stays_inside_its_limits(cable: Cable, how) -> None:
    """Row 44: 1 to 30 ms and 0.1 to 5 %; whether it goes on or stops, it ends at rest."""
    with Far(cable) as far:
        wire = Wire(cable, far, Config.preset("hand-guiding"))
        with wire.robot, suppress(RunError):
            wire.drive(2.0, **how)
        cable.set()
        until(lambda: far.report()["state"] != "PLAYING")
        seen = far.report()
        assert wire.spoilt and seen["fastest"] > 0.05, "it moved when the cable was spoilt"
        assert seen["speed"] == 0.0
        assert seen["jump"] <= RAMP * CYCLE + 1e-9
