"""One conversation: who the robot is, our program on it, a command for each state, and its end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.robots.rtde.support import PumpedSocket, controller
from ur_admittance import Config
from ur_admittance.robots.rtde.inspection import Expected, NotReady
from ur_admittance.robots.rtde.script import HOLD, VELOCITY
from ur_admittance.robots.rtde.session import ZERO, Session
from ur_admittance.robots.sim import Tool
from ur_fake.server import Controller


@contextmanager
def session(
    expected: Expected | None = None, fake: dict[str, Any] | None = None, **options: Any
) -> Iterator[tuple[Session, Controller]]:
    """A session that has looked, with a controller that steps when it waits."""
    with controller(**(fake or {})) as made:
        one = Session(
            "127.0.0.1",
            ports={name: made.ports[name] for name in ("rtde", "primary", "dashboard")},
            make=lambda address, seconds: PumpedSocket(made, address),
            clock=lambda: made.machine.time,
            **options,
        )
        try:
            one.connect(Config(), expected or Expected(), own_sensor=True)
            yield one, made
        finally:
            one.client.close()


def commanded(one: Session, cycles: int, kind: int = VELOCITY, values: Any = ZERO) -> None:
    """A command for every state."""
    for _ in range(cycles):
        if one.next():
            one.send(kind, values)


def test_looking_tells_who_it_is_and_starts_nothing() -> None:
    with session() as (one, fake):
        assert one.found is not None and one.found.arm is not None
        assert (one.model.name, one.model.base, one.rate) == ("ur5e", "base", 500.0)
        assert one.differences(Expected(), Config(), own_sensor=True) == []
        assert not one.engaged and fake.machine.program_state == "STOPPED"
        assert one.first > 0.0 and one.speed == pytest.approx(0.0, abs=1e-3)


def test_all_that_differs_is_said_together_and_nothing_is_started() -> None:
    wrong = Expected(model="ur10e", serial="1")
    with (
        pytest.raises(NotReady, match=r"model: .*serial number: ") as caught,
        session(wrong),
    ):
        raise AssertionError("it should not have got here")
    assert len(caught.value.problems) == 2


def test_our_program_is_seen_to_run_and_takes_a_command_for_every_state() -> None:
    with session() as (one, fake):
        one.engage()
        assert one.engaged and one.runs and one.problem() is None
        commanded(one, 100, VELOCITY, np.full(6, 0.1))
        assert one.runs and one.problem() is None
        np.testing.assert_allclose(one.states.qd, 0.1, atol=0.02)
        assert one.speed == pytest.approx(0.1, abs=0.02)
        assert fake.machine.program_state == "PLAYING"


def test_commands_that_come_no_more_end_the_program_and_the_next_session_is_told_why() -> None:
    with session() as (one, fake):
        one.engage()
        commanded(one, 20, VELOCITY, np.full(6, 0.1))
        for _ in range(60):
            one.next()
        assert not one.runs and "program" in str(one.problem())
        assert fake.machine.program_state == "STOPPED"
        again = Session(
            "127.0.0.1",
            ports={name: fake.ports[name] for name in ("rtde", "primary", "dashboard")},
            make=lambda address, seconds: PumpedSocket(fake, address),
            clock=lambda: fake.machine.time,
        )
        one.client.close()
        again.connect(Config(), Expected(), own_sensor=True)
        assert "ended by itself: " in again.last_end()
        again.client.close()


def test_commands_that_nobody_takes_are_noticed() -> None:
    """Another program runs, and what ours said of itself last still stands in its registers."""
    with session() as (one, fake):
        one.engage()
        commanded(one, 20, HOLD)
        fake.machine.load_script("def other():\n  while True:\n    sync()\n  end\nend\n")
        commanded(one, 2, HOLD)
        assert one.runs and one.problem() is None
        commanded(one, 60, HOLD)
        assert one.runs and "another one runs in its place" in str(one.problem())


def test_a_robot_that_stops_itself_is_a_problem_with_what_to_do() -> None:
    with session() as (one, fake):
        one.engage()
        commanded(one, 20, HOLD)
        fake.machine.protective_stop()
        commanded(one, 5, HOLD)
        assert not one.runs and "unlock it on the pendant" in str(one.problem())


def test_who_only_watches_sends_nothing_and_starts_nothing() -> None:
    with session(Expected(model="ur10e"), watch=True) as (one, fake):
        assert one.model.name == "ur5e"  # what is there, whatever was expected
        one.engage()
        for _ in range(20):
            assert one.next() >= 0
        assert fake.machine.program_state == "STOPPED" and one.problem() is None
        assert one.last_end() == ""


def test_the_robot_zeroes_its_sensor_and_its_states_are_paused_again() -> None:
    fake = {"tool": Tool(mass=0.5), "noise": (0.0, 0.0)}
    with session(fake=fake, compensated=True) as (one, made):
        one.resume()
        assert np.abs(one.states.wrench[:3]).max() > 4.0
        one.client.pause()
        one.zero()
        one.resume()
        assert np.abs(one.states.wrench[:3]).max() < 0.1
        assert made.machine.program_state == "STOPPED"
