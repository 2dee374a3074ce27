"""What goes wrong between us and a robot: the rows of the matrix about network and robot, against
the fake controller over real sockets, in its own time.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import ur_admittance
from tests.robots.rtde.support import Traced, driven, guided, rtde_robot
from ur_admittance import Config, Controller, RobotError
from ur_admittance.fake_robot.rtde.fields import OUTPUTS, Output
from ur_admittance.loop import RunError
from ur_admittance.robots.rtde.inspection import Expected, NotReady
from ur_admittance.robots.rtde.script import HOLD, NOTHING_NEW, VELOCITY

pytest.importorskip("mujoco")
pytest.importorskip("lark")

CYCLE, SILENT = 0.002, 10  # s, cycles


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


def test_states_that_cease_stop_the_arm_on_both_sides():
    """Rows 14 and 43: a cable that is pulled. Nobody says so; both sides notice by themselves."""
    cut: list[int] = []

    with driven() as (robot, fake, controller):

        def pull() -> None:
            cut.append(fake.machine.cycle)
            fake.inject("rtde:freeze")

        summary = guided(robot, fake, controller, pull)
        assert summary.mode == "stopped"
        assert any("joints_lost" in line for line in summary.words), summary.words
        assert fake.machine.cycle - cut[0] < 0.2 / CYCLE + 500
        stands_after_its_watchdog(fake, cut[0])
        records = controller.trace()
        stale = records["inputs"]["joint_age"] > 0.02
        assert stale.any()
        assert not np.abs(np.diff(records["qd"][stale], axis=0) > 1e-9).any() or (
            np.abs(records["qd"][stale][-1]).max() <= np.abs(records["qd"][stale][0]).max()
        )


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
        with rtde_robot(fake, permit=lambda words: True) as again:
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
        assert summary.mode == "inactive", summary.words
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
        assert stop in robot.stopped_by, robot.stopped_by
        assert any(stop in line for line in summary.words)
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
        if "fake_robot" in file.parts or file.name == "fake_robot.py":
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
        assert summary.mode == "stopped" and "is paused" in robot.stopped_by
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
            assert robot.stopped_by == ""
    finally:
        fake.close()


PENDANT = {
    "off": "switch the arm on and release its brakes",
    "idle": "switch the arm on and release its brakes",
    "local": "remote control at the top right",
    "safeguard-stop": "close the safeguard",
    "protective-stop": "unlock it on the pendant",
    "emergency-stop": "release the emergency stop",
    "violation": "clear it on the pendant",
}


@pytest.mark.parametrize("state", PENDANT)
@pytest.mark.parametrize("version", ["5.9.0", "5.21.2"])
def test_a_robot_that_is_not_ready_is_refused_with_what_to_press(state: str, version: str):
    """Row 47: local mode, brakes on, no power, in several versions."""
    fake = Traced(states=[state], faults=[f"identity:version={version}"])
    try:
        with pytest.raises(NotReady, match=PENDANT[state]):
            rtde_robot(fake).connect()
        assert fake.machine.program_state == "STOPPED"
    finally:
        fake.close()


def test_reduced_mode_is_no_obstacle():
    """Row 47: the robot is slower then, and says so."""
    with driven(fake={"states": ["reduced"]}) as (robot, fake, controller):
        assert guided(robot, fake, controller, newton=10.0, seconds=1.0).mode == "inactive"


@pytest.mark.parametrize("name", ["actual_qd", "safety_status_bits", "input_double_register_24"])
def test_a_variable_that_the_robot_lacks_is_named(name: str):
    """Row 48: a recipe that is refused."""
    fake = Traced(faults=[f"rtde:refuse={name}"])
    try:
        with pytest.raises(RobotError, match=name):
            rtde_robot(fake).connect()
    finally:
        fake.close()


def test_a_register_in_use_is_named_with_its_likely_owner():
    """Rows 48 and 53: a second client, or a field bus; other registers are free."""
    with driven() as (_, fake, _):
        with pytest.raises(RobotError, match=r"input_int_register_24.* in use.*another run"):
            rtde_robot(fake).connect()
        rtde_robot(fake, registers=32, watch=True).connect()
    fake = Traced(fieldbus=True)
    try:
        with pytest.raises(RobotError, match="PROFINET"):
            rtde_robot(fake, registers=0).connect()
    finally:
        fake.close()


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


def test_another_arm_is_refused_with_both_values():
    """Row 17: model, serial number, calibration, TCP, payload: all that differs, at once."""
    fake = Traced(faults=["identity:calibration=7", "identity:serial=111"])
    fake.machine.payload = 2.5
    fake.machine.set_tcp([0, 0, 0.2, 0, 0, 0])
    expected = Expected("ur10e", "222", "0-0-0-0-0-0", (0, 0, 0.1, 0, 0, 0))
    config = Config.preset("hand-guiding").replace({"payload.mass": 1.0})
    try:
        with pytest.raises(NotReady) as refused:
            rtde_robot(fake, expected=expected, config=config).connect()
    finally:
        fake.close()
    lines = refused.value.problems
    for what, theirs, ours in (
        ("model", "ur5e", "ur10e"),
        ("serial number", "111", "222"),
        ("kinematic calibration", "-", "0-0-0-0-0-0"),
        ("TCP", "0.2", "0.1"),
        ("payload", "2.5 kg", "1 kg"),
    ):
        line = next(line for line in lines if f" {what}: " in line)
        assert theirs in line and ours in line and "; " in line


def test_a_speed_slider_at_zero_is_said_before_the_start():
    """Row 47: an arm that would not move, whoever pushes it."""
    fake = Traced()
    fake.machine.target_speed_fraction = 0.0
    try:
        with pytest.raises(NotReady, match=r"speed slider: the robot has 0 %.*raise it"):
            rtde_robot(fake).connect()
        fake.machine.set_speed_slider(0.2)
        with rtde_robot(fake) as robot:
            assert robot.found.words.endswith("speed slider at 20 %")
    finally:
        fake.close()


def test_another_program_in_the_place_of_ours_stops_us():
    """Row 53: a takeover mid-run."""
    other = "def other():\n while True:\n  sync()\n end\nend\n"
    with driven() as (robot, fake, controller):
        summary = guided(robot, fake, controller, lambda: fake.machine.load_script(other))
        assert summary.mode == "stopped"
        assert "another one runs in its place" in robot.stopped_by
        assert fake.machine.program_name == "other", "it is not ours to end"


def test_the_program_ends_when_another_session_writes():
    """Row 53: the robot's side of it: a client with an old session."""
    with driven() as (robot, fake, _):
        robot.wait()
        robot._session._packet._session += 1
        for _ in range(20):
            robot.send_velocity(np.full(6, 0.1))
            robot.wait()
        assert "another session writes" in robot.stopped_by
        assert np.abs(fake.target_qd).max() == 0.0


def test_after_a_watchdog_stop_the_next_start_needs_a_person():
    """Row 50: a run that was killed is looked at before the next."""
    with driven() as (robot, fake, controller):
        with pytest.raises(RunError):
            guided(robot, fake, controller, lambda: fake.inject("rtde:close"))
        for _ in range(300):
            fake.step()
        fake.heal()
        with pytest.raises(RobotError, match=r"heard nothing new.*--reset"):
            rtde_robot(fake).connect()
        asked: list[str] = []
        with rtde_robot(fake, permit=lambda words: not asked.append(words)) as again:
            again.wait()
        assert "ended by itself" in asked[0]
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
            assert again.stopped_by == ""
