"""A robot that stops, pauses, is moved by hand or taken over, and the start after that: against the
fake controller over real sockets, in its own time.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import ur_admittance
from tests.robots.rtde.support import Traced, driven, guided, rtde_robot
from ur_admittance import Config, Controller, RobotError
from ur_admittance.robots.rtde.script import HOLD
from ur_admittance.run.loop import RunError
from ur_fake.rtde.fields import OUTPUTS, Output

pytest.importorskip("mujoco")
pytest.importorskip("lark")

CYCLE = 0.002  # s
STOPS = {
    "protective stop": lambda machine: machine.protective_stop(),
    "safeguard stop": lambda machine: machine.safeguard_stop(True),
    "robot emergency stop": lambda machine: machine.emergency_stop(),
    "system emergency stop": lambda machine: machine.emergency_stop(system=True),
    "violation": lambda machine: machine.safety_violation(),
    "power off": lambda machine: machine.power_off(),
    "moved by hand": lambda machine: machine.set_freedrive(),
}


@pytest.mark.parametrize("stop", STOPS)
def test_a_stop_of_the_robot_is_ours_in_that_cycle_and_stays(stop: str):
    """Row 45: command zero within a cycle, latched; nothing moves when a person has cleared it."""
    when: list[int] = []

    with driven() as (robot, fake, controller):
        machine = fake.machine

        def act() -> None:
            when.append(machine.cycle)
            STOPS[stop](machine)

        summary = guided(robot, fake, controller, act)
        assert summary.mode == "stopped"
        assert robot.stopped_by and stop in robot.stopped_by.text, robot.stopped_by
        assert summary.reason == robot.stopped_by
        after = fake.kinds[when[0] + 2 :]
        assert set(after) == {HOLD}, "zero, from the cycle after the one that said so"
        fake.push(0.0, 0.0)
        machine.set_freedrive(False)
        machine.unlock_protective_stop()
        machine.safeguard_stop(False)
        machine.release_emergency_stop()
        machine.restart_safety()
        machine.start()
        machine.resume_program()
        for _ in range(50):
            robot.wait()  # what a hand had set in motion comes to rest
        here = machine.actual_q.copy()
        for _ in range(200):
            robot.wait()
            robot.send_velocity(np.full(6, 0.3))
        np.testing.assert_allclose(machine.actual_q, here, atol=1e-3)


def test_nothing_of_ours_unlocks_powers_on_or_releases_brakes():
    """Row 45: that is for a person at the robot."""
    root = Path(ur_admittance.__file__).parent
    forbidden = re.compile(
        r"unlock protective|brake release|power on\b|power off\\n|set robotmode|restart safety"
        r"|close safety popup|unlock_protective_stop|brake_release|\bplay\\n",
        re.IGNORECASE,
    )
    for file in [*root.rglob("*.py"), *root.rglob("*.script")]:
        if file.name == "fake_robot.py":
            continue
        for line in file.read_text().splitlines():
            sends = "send" in line or '"' in line
            found = forbidden.search(line)
            assert not (found and sends and not _only_words(line)), f"{file.name}: {line}"


def _only_words(line: str) -> bool:
    """A name of a mode in a table of words, not something to send."""
    return bool(re.fullmatch(r'\s*\d+: "[a-z ]+",', line))


def test_a_pause_a_hand_on_the_arm_and_a_resume_do_not_make_it_jump():
    """Row 46: the run ends with the pause; the next one begins from the measured joints."""
    with driven() as (robot, fake, controller):
        machine = fake.machine
        summary = guided(robot, fake, controller, machine.pause_program)
        assert summary.mode == "stopped" and "is paused" in str(robot.stopped_by)
        fake.push(0.0, 0.0)
        for _ in range(300):
            robot.wait()
        moved = machine.actual_q + 0.4
        machine.hand_move(moved)
        machine.resume_program()
        for _ in range(300):
            robot.wait()
            np.testing.assert_allclose(machine.actual_q, moved, atol=1e-3)
        robot.close()
        with rtde_robot(fake) as again:
            state = again.wait()
            np.testing.assert_allclose(state.q, moved, atol=1e-3)
            fresh = Controller(again.model, Config.preset("hand-guiding"))
            fresh.activate(state.q)
            out = fresh.update(state.q, state.wrench, CYCLE)
            assert not out["qd"].any()


def test_in_position_mode_a_hand_on_a_paused_arm_is_not_undone():
    """Row 46: servoj would go back to its last target, far from where a hand has put the arm."""
    with driven() as (robot, fake, _):
        q = robot.wait().q.copy()
        for _ in range(50):
            robot.send_position(q)
            robot.wait()
        fake.machine.pause_program()
        for _ in range(5):
            fake.step()  # the process does not notice at once
        moved = q + 0.4
        fake.machine.hand_move(moved)
        fake.machine.resume_program()
        for _ in range(100):
            robot.wait()
            robot.send_position(q)
        np.testing.assert_allclose(fake.machine.actual_q, moved, atol=0.02)


def test_a_first_state_of_all_zeros_is_not_believed(monkeypatch):
    """Row 46: what a controller sends before it knows its joints."""

    def early(machine):
        return [0.0] * 6 if machine.cycle < 400 else machine.actual_q.tolist()

    monkeypatch.setitem(OUTPUTS, "actual_q", Output("VECTOR6D", early))
    fake = Traced()
    try:
        with rtde_robot(fake) as robot:
            assert fake.machine.cycle > 400
            np.testing.assert_allclose(robot.wait().q, fake.machine.actual_q, atol=1e-4)
            assert robot.stopped_by is None
    finally:
        fake.close()


def test_another_program_in_the_place_of_ours_stops_us():
    """Row 53: a takeover mid-run."""
    other = "def other():\n while True:\n  sync()\n end\nend\n"
    with driven() as (robot, fake, controller):
        summary = guided(robot, fake, controller, lambda: fake.machine.load_script(other))
        assert summary.mode == "stopped"
        assert "another one runs in its place" in str(robot.stopped_by)
        assert fake.machine.program_name == "other", "it is not ours to end"


def test_the_program_ends_when_another_session_writes():
    """Row 53: the robot's side of it: a client with an old session."""
    with driven() as (robot, fake, _):
        robot.wait()
        robot._session._packet._session += 1
        for _ in range(20):
            robot.send_velocity(np.full(6, 0.1))
            robot.wait()
        assert "another session writes" in str(robot.stopped_by)
        assert np.abs(fake.target_qd).max() == 0.0


def test_after_a_watchdog_stop_the_next_start_needs_a_person():
    """Row 50: a run that was killed is looked at before the next."""
    with driven() as (robot, fake, controller):
        with pytest.raises(RunError):
            guided(robot, fake, controller, lambda: fake.inject("rtde:close"))
        fake.heal()
        assert fake.machine.program_state == "PLAYING", "ours, which ends within half a second"
        with pytest.raises(RobotError, match=r"heard nothing new.*permit=.'recover'"):
            rtde_robot(fake).connect()
        asked: list[tuple[str, str]] = []
        again = rtde_robot(fake)
        again.assent = lambda act, words: asked.append((act, words))
        with again:
            again.wait()
        assert asked[0][0] == "recover" and "ended by itself" in asked[0][1]
        with rtde_robot(fake) as third:  # the last one ended as it should have
            third.wait()


def test_after_a_run_that_ended_at_rest_the_next_start_needs_nobody():
    """Row 50, the other side of it: between the run and the goodbye a recording is written."""
    with driven() as (robot, fake, controller):
        assert guided(robot, fake, controller, seconds=1.0).mode == "inactive"
        for _ in range(300):
            fake.step()
        fake.push(0.0, 0.0)
        robot.close()
        with rtde_robot(fake) as again:
            again.wait()
            assert again.stopped_by is None
