"""What robots are told is judged: commands that break a limit are found by its name."""

from __future__ import annotations

import numpy as np
import pytest

from tests.oracle.sent import ChainCommands, RobotCommands
from tests.oracle.taps import POSITION, REST, VELOCITY

RATE, QDD, PERIOD = 3.0, 6.0, 0.002
LIMITS = np.array([RATE] * 6 + [QDD] * 6 + [PERIOD])


def told(
    *commands: tuple[int, np.ndarray], every: float = PERIOD, gap: float = 0.0, at: int = 30
) -> dict[str, str]:
    """What is found in commands, one each so many s, with a gap before one of them, s."""
    judge = RobotCommands("it", LIMITS)
    for k, (kind, numbers) in enumerate(commands):
        row = {"time": 1.0 + k * every + gap * (k >= at), "kind": kind, "numbers": numbers}
        judge.command(row)  # type: ignore[arg-type]
    return {name.removesuffix(" of what it is told"): where for name, where in judge.found.items()}


def velocities() -> list[tuple[int, np.ndarray]]:
    """To a third of the speed and back, as hard as the joints may."""
    up = np.arange(84) * QDD * PERIOD
    return [(VELOCITY, np.full(6, rate)) for rate in (*up, *up[::-1])]


def positions() -> list[tuple[int, np.ndarray]]:
    rates = np.array([numbers for _, numbers in velocities()])
    return [(POSITION, q) for q in 0.3 + PERIOD * np.cumsum(rates, axis=0)]


def test_good_commands_pass() -> None:
    assert told(*velocities()) == told(*positions()) == {}
    assert told(*velocities(), (REST, np.zeros(6)), *velocities()) == {}


@pytest.mark.parametrize(
    ("commands", "spoilt", "name"),
    [
        (velocities, np.nan, "command"),
        (velocities, RATE + 0.1, "joint speed"),
        (velocities, 0.5, "joint acceleration"),
        (positions, np.nan, "command"),
        (positions, 0.29, "step of q_ref"),
        (positions, 0.3055, "acceleration of q_ref"),
    ],
)
def test_a_command_that_is_spoilt_is_found_by_its_name(commands, spoilt, name) -> None:
    some = commands()
    some[30] = (some[30][0], np.full(6, spoilt))
    assert name in told(*some)


def test_the_first_velocity_is_from_rest_and_so_is_one_after_a_stop() -> None:
    some = velocities()
    assert "joint acceleration" in told(*some[10:])
    assert "joint acceleration" in told(*some[:60], (REST, np.zeros(6)), *some[60:])


def test_after_silence_nobody_knows_how_fast_the_arm_is() -> None:
    some = velocities()
    assert "joint acceleration" in told(*some[:30], *some[60:])
    assert told(*some[:30], *some[60:], gap=0.1) == {}


def test_late_commands_leave_their_time_to_the_next_few_only() -> None:
    some = velocities()
    late = some[:31] + some[32:]  # one is missing: its change comes with the next
    assert told(*late, gap=PERIOD, at=30) == {}
    assert "joint acceleration" in told(*late, gap=PERIOD, at=20)


def test_so_does_one_that_was_silent_for_so_long_that_an_arm_brakes_by_itself() -> None:
    some = velocities()[:60]
    for k in range(31, 60):  # the state after it is so much newer than that it answered
        some[k] = (VELOCITY, some[k][1] + 0.021 * QDD)
    assert told(*some, gap=0.021, at=30) == {}
    assert "joint acceleration" in told(*some, gap=0.021, at=20)


def test_what_a_chain_sends_is_judged_in_both_kinds() -> None:
    def sent(by_position: bool, name: str = "", value: float = 0.0) -> set[str]:
        judge = ChainCommands(LIMITS[:12].reshape(2, 6))
        for k, ((_, qd), (_, q)) in enumerate(zip(velocities(), positions(), strict=True)):
            row = {"seconds": PERIOD, "by_position": by_position, "qd": qd, "q_ref": q}
            if k == 30 and name:
                row[name] = np.full(6, value)
            judge.cycle(row)  # type: ignore[arg-type]
        return {what.partition(" of what")[0] for what in judge.found}

    assert sent(True) == sent(False) == set()
    assert "joint acceleration" in sent(True, "qd", 0.6)
    assert "step of q_ref" in sent(True, "q_ref", 0.0)
    assert "command" in sent(True, "q_ref", np.nan)
    assert sent(False, "q_ref", np.nan) == set(), "nobody goes by it"
