"""The wire between us and a robot: cut, closed, late, lossy, garbled; against the fake controller
over real sockets, in its own time.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.robots.rtde.support import Traced, driven, guided, rtde_robot
from ur_admittance import Controller
from ur_admittance.robots.rtde.script import NOTHING_NEW, VELOCITY
from ur_admittance.run.assent import Assent
from ur_admittance.run.loop import RunError

pytest.importorskip("mujoco")
pytest.importorskip("lark")

CYCLE, SILENT = 0.002, 10  # s, cycles
TICK = 5 * CYCLE  # s: for so long a state is waited for


def ramp(fake: Traced, since: int) -> int:
    """Cycles that the fastest joint takes to rest, at the arm's own deceleration."""
    fastest = float(np.abs(fake.target_qd[since]).max())
    return int(np.ceil(fastest / (6.2 * CYCLE))) + 1


def stands_after_its_watchdog(fake: Traced, since: int) -> None:
    """20 ms and the ramp, counted in the robot's cycles, no joint beyond its acceleration."""
    while fake.machine.cycle < since + 500:
        fake.step()
    assert fake.braked(since) <= SILENT + 2 + ramp(fake, since)
    jumps = np.abs(np.diff(fake.target_qd[since - 1 :], axis=0)).max()
    assert jumps <= 6.2 * CYCLE + 1e-9
    assert fake.machine.output_int[26] == NOTHING_NEW
    assert fake.machine.program_state == "STOPPED"


def brakes_as_it_may(controller: Controller) -> None:
    """From the tick on that misses its joints: once the jerk limit has let the deceleration build
    up, the tool only slows down, to rest, no joint beyond its acceleration.
    """
    records, limits = controller.trace(), controller.config.limits
    held = records[records["inputs"]["joint_age"] > controller.config.safety.joint_timeout]
    speeds, times = np.linalg.norm(held["V_WP_cmd"], axis=1), held["time"]
    fastest = int(np.argmax(speeds))
    building = limits.max_linear_acceleration / limits.max_linear_jerk
    assert times[fastest] - times[0] <= building
    assert (np.diff(speeds[fastest:]) <= 0.0).all() and speeds[0] > 0.1 and speeds[-1] == 0.0
    rest = times[int(np.argmin(speeds))] - times[0]
    slowing = speeds.max() / limits.max_linear_acceleration + 2.0 * building
    assert rest <= slowing + 3 * TICK  # as far as ticks of this length can tell
    steps = np.abs(np.diff(held["qd"], axis=0))
    assert (steps <= controller.model.qdd_max * np.diff(times)[:, None] * (1 + 1e-9)).all()


def test_states_that_cease_stop_the_arm_on_both_sides():
    """Rows 14 and 43: a cable that is pulled. Nobody says so; both sides notice by themselves."""
    cut: list[int] = []

    with driven() as (robot, fake, controller):

        def pull() -> None:
            cut.append(fake.machine.cycle)
            fake.inject("rtde:freeze")

        summary = guided(robot, fake, controller, pull)
        assert summary.mode == "stopped"
        assert summary.reason and summary.reason.code == "joints_lost", summary.reason
        assert fake.machine.cycle - cut[0] < 0.2 / CYCLE + 500
        stands_after_its_watchdog(fake, cut[0])
        brakes_as_it_may(controller)


def test_a_closed_connection_ends_the_run_in_that_cycle_and_the_robot_brakes():
    """Row 42: TCP reset or FIN mid-motion. Connecting again moves nothing."""
    cut: list[int] = []

    with driven() as (robot, fake, controller):

        def close() -> None:
            cut.append(fake.machine.cycle)
            fake.inject("rtde:close")

        with pytest.raises(RunError, match="connection to the robot has ended"):
            guided(robot, fake, controller, close)
        assert fake.machine.cycle - cut[0] <= 10e-3 / CYCLE
        stands_after_its_watchdog(fake, cut[0])
        fake.heal()
        fake.push(0.0, 0.0)
        before = fake.machine.target_q.copy()
        again = rtde_robot(fake)
        again.assent = Assent(permit={"recover"}).require
        with again:
            for _ in range(100):
                again.wait()
        np.testing.assert_array_equal(fake.machine.target_q, before)


@pytest.mark.parametrize("cycles", [50, 100, 1000])
def test_a_process_that_slept_finds_the_arm_stopped_and_does_not_go_on(cycles: int):
    """Row 21: a long pause, such as SIGSTOP or a laptop's lid."""
    slept: list[int] = []

    with driven() as (robot, fake, controller):

        def sleep() -> None:
            slept.append(fake.machine.cycle)
            for _ in range(cycles):
                fake.step()

        summary = guided(robot, fake, controller, sleep)
        assert summary.mode == "stopped"
        stands_after_its_watchdog(fake, slept[0])
        woken = slept[0] + cycles
        assert VELOCITY not in fake.kinds[woken + 2 :], "an old command was sent"
        assert not np.abs(fake.target_qd[slept[0] + 300 :]).any()


@pytest.mark.parametrize("fault", ["rtde:jitter=0.004", "rtde:jitter=0.008", "rtde:drop=0.001"])
def test_a_little_jitter_and_loss_are_bridged(fault: str):
    """Row 44: states up to five cycles late, or one in a thousand lost: the arm goes on."""
    with driven() as (robot, fake, controller):
        summary = guided(robot, fake, controller, lambda: fake.inject(fault), newton=10.0)
        assert summary.mode == "inactive", summary.reason
        assert summary.late > 0
        assert fake.machine.program_state == "PLAYING"


@pytest.mark.parametrize("fault", ["rtde:delay=0.03", "rtde:jitter=0.03", "rtde:drop=0.05"])
def test_much_jitter_and_loss_end_at_rest_at_worst(fault: str):
    """Row 44: up to 30 ms and 5 %: whatever happens, it happens inside the limits."""
    with driven() as (robot, fake, controller):
        guided(robot, fake, controller, lambda: fake.inject(fault), newton=10.0)
        jumps = np.abs(np.diff(fake.target_qd, axis=0)).max()
        assert jumps <= 6.2 * CYCLE + 1e-9
    for _ in range(500):
        fake.machine.step()
    assert np.abs(fake.machine.target_qd).max() < 1e-9


@pytest.mark.parametrize("fault", ["rtde:flip=0.5", "rtde:truncate=0.3"])
def test_packets_without_sense_stop_the_arm_inside_its_limits(fault: str):
    """Row 49: they are dropped and counted, and three in a second are a stop."""
    with driven() as (robot, fake, controller):
        summary = guided(robot, fake, controller, lambda: fake.inject(fault), newton=10.0)
        assert summary.mode == "stopped"
        assert robot.session.client.stream.bad >= 1
        for _ in range(500):
            fake.step()
        assert np.abs(fake.target_qd[-1]).max() < 1e-9
        assert np.abs(np.diff(fake.target_qd, axis=0)).max() <= 6.2 * CYCLE + 1e-9
