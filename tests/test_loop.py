"""The loop, driven by the simulated arm: what it sends, counts, publishes, and how it ends."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import ur_admittance as ua
from ur_admittance import loop, realtime
from ur_admittance.blackboard import Blackboard
from ur_admittance.realtime import Deadlines, Pace, RealTime, prepare, restore, sleep_until
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.run_summary import Histogram
from ur_admittance.stops import PUNCTUAL, reasons_of

PUSH = ScriptedPush([(0.1, 0.6, np.array([0.0, 20.0, 0, 0, 0, 0]))])


def simulated(**options) -> SimRobot:
    return SimRobot("ur5e", **{"ideal": True, "realtime": False, "hand": PUSH, **options})


@pytest.mark.parametrize("mode", ["velocity", "position", "trajectory"])
def test_a_pushed_arm_gives_way_and_the_run_ends_at_rest(mode):
    with simulated() as robot:
        controller = ua.Controller(robot.model, ua.Config.from_dict({"output.mode": mode}))
        start = robot.model.fk(robot.wait().q)[1, 3]
        summary = loop.run(robot, controller, seconds=1.0)
        moved = robot.model.fk(robot.wait().q)[1, 3] - start
    assert summary.mode == "inactive"
    assert not summary.faulted
    assert controller.at_rest
    assert summary.ticks == pytest.approx(500, abs=60)
    assert summary.late == summary.missed == 0
    assert moved > 0.03
    assert 0 < summary.tick.quantile(0.5) < 1.0
    assert summary.period.quantile(0.5) == pytest.approx(0.002, rel=0.1)


def test_a_run_that_the_controller_stops_says_why():
    hard = ScriptedPush([(0.1, 9.0, np.array([0.0, 150.0, 0, 0, 0, 0]))])
    with simulated(hand=hard) as robot:
        config = ua.Config.from_dict({"safety.max_force": 100.0})
        summary = loop.run(robot, ua.Controller(robot.model, config), seconds=5.0)
    assert summary.faulted
    assert summary.seconds < 1.0
    assert any("over_force" in words for words in summary.words)


def test_an_error_in_a_callback_stops_the_arm_and_names_itself():
    def each(state, out):
        if out["tick"] > 200:
            raise ZeroDivisionError("a mistake of mine")

    with simulated() as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with pytest.raises(ua.RobotError, match=r"ZeroDivisionError: a mistake of mine.*stopped"):
            loop.run(robot, controller, each=each)
        for _ in range(300):
            state = robot.wait()
        assert np.abs(state.qd).max() < 1e-3


def test_a_loop_that_is_too_slow_three_times_in_a_row_stops_the_arm():
    with simulated(realtime=True, hand=None) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        summary = loop.run(
            robot, controller, seconds=5.0, each=lambda state, out: time.sleep(0.008)
        )
    assert summary.late >= 3
    assert "missed its cycle 3 times in a row" in summary.too_late
    assert summary.missed > 0 and summary.overruns >= 3
    assert summary.seconds < 4.0
    assert controller.last_stop is not None


class Jittery(SimRobot):
    """Its states come late, again and again, as over a bad network; none is lost."""

    _behind = 0.0

    def wait(self) -> State:
        self._behind += 0.004 * (round(self.time * self.rate) % 10 == 0)
        return super().wait()

    def clock(self) -> float:
        return super().clock() + self._behind


class Bunched(SimRobot):
    """Every tenth of its states comes together with the next, as over a bad network."""

    def wait(self) -> State:
        state = super().wait()
        if state.cycle % 10 == 0:
            state = super().wait()
        state.first_time = state.joint_time
        return state


@pytest.mark.parametrize(("kind", "counter"), [(Jittery, "late"), (Bunched, "missed")])
def test_states_that_come_late_or_together_are_counted_and_do_not_stop_the_arm(kind, counter):
    with kind("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = loop.run(robot, ua.Controller(robot.model, ua.Config()), seconds=1.0)
    assert getattr(summary, counter) > 20
    assert summary.overruns == 0
    assert not summary.faulted and not summary.too_late


class Sleeping(SimRobot):
    """Half a second passes at once while it moves, as when the process was suspended."""

    def __init__(self, *arguments, **options) -> None:
        super().__init__(*arguments, **options)
        self.sent: list[float] = []

    def clock(self) -> float:
        return super().clock() + 0.5 * (self.time > 0.4)

    def send_velocity(self, qd) -> None:
        self.sent.append(float(np.abs(qd).max()))
        super().send_velocity(qd)


def test_a_loop_that_slept_sends_no_old_command_and_does_not_go_on():
    with Sleeping("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = loop.run(robot, ua.Controller(robot.model, ua.Config()), seconds=2.0)
    slept = next(k for k, speed in enumerate(robot.sent) if speed == 0.0 and k > 100)
    assert robot.sent[slept - 1] > 0.05 and not any(robot.sent[slept:])
    assert summary.faulted and "slept for 0.50 s" in summary.too_late


class Waiting(SimRobot):
    """Three of its states have waited for 3 ms when they are seen."""

    last = 202

    def wait(self) -> State:
        state = super().wait()
        if 200 <= state.cycle <= self.last:
            state.joint_time -= 0.003
        return state


@pytest.mark.unjudged(
    "joint acceleration of what sim:ur5e is told",
    reason="after stamps that lie, one tick makes up for 3 ms, though its command comes in time",
)
def test_a_state_that_is_seen_when_the_next_was_due_is_an_overrun():
    with Waiting("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = loop.run(robot, ua.Controller(robot.model, ua.Config()), seconds=5.0)
    assert summary.overruns == 3
    assert summary.faulted
    assert "missed its cycle 3 times in a row" in summary.too_late


class AlwaysWaiting(Waiting):
    """The states after them, too."""

    last = 10**9


def test_a_loop_that_is_late_while_it_brakes_says_the_same_why_and_what_to_do():
    with AlwaysWaiting("ur5e", ideal=True, realtime=False, hand=PUSH) as robot:
        summary = loop.run(robot, ua.Controller(robot.model, ua.Config()), seconds=5.0)
    assert summary.overruns > 3
    (reason,) = reasons_of(summary.words, summary.too_late)
    assert reason == ("the loop missed its cycle 3 times in a row", PUNCTUAL)


class Blank(SimRobot):
    """Its first states have a joint angle that is no number."""

    blank = 0  # states

    def wait(self) -> State:
        state = super().wait()
        if self.blank > 0:
            self.blank -= 1
            state.q[3] = np.nan
        return state


def test_single_joint_angles_that_are_no_numbers_do_not_end_a_start():
    with Blank("ur5e", ideal=True, realtime=False) as arm:
        controller = ua.Controller(arm.model)
        arm.blank = 3
        summary = loop.run(arm, controller, seconds=0.1, checked=True)
    assert not summary.faulted and summary.ticks >= 50


def test_an_arm_whose_joint_angles_are_no_numbers_is_not_started():
    with Blank("ur5e", ideal=True, realtime=False) as arm:
        controller = ua.Controller(arm.model)
        arm.blank = 10_000
        with pytest.raises(ua.RobotError, match=r"not all numbers: \[.*nan.*nothing has moved"):
            loop.run(arm, controller, seconds=0.1, checked=True)
    assert controller.mode == "inactive"


def test_another_arm_than_the_controllers_is_refused_before_anything_moves():
    with simulated() as robot:
        other = ua.RobotModel.from_urdf(
            robot.model.to_urdf().replace("elbow_joint", "knee_joint"), base="base_link"
        )
        with pytest.raises(ua.RobotError, match="knee_joint"):
            loop.run(robot, ua.Controller(other, ua.Config()), seconds=1.0)


def test_every_tick_is_on_the_blackboard_and_changes_come_back_from_it():
    with simulated() as robot:
        config = ua.Config()
        controller = ua.Controller(robot.model, config)
        with Blackboard.create("sim:loop-test", robot.rate, config, controller.params) as board:
            reader = Blackboard.attach("sim:loop-test")
            reader.set({"max_linear_velocity": 0.05})
            summary = loop.run(robot, controller, seconds=1.0, board=board)
            records, _, lost = reader.since(0)
    assert lost == 0
    assert len(records) == summary.ticks
    assert np.all(np.diff(records["tick"]) == 1)
    speeds = np.linalg.norm(records["V_WP_cmd"][:, :3], axis=1)
    assert speeds.max() == pytest.approx(0.05, rel=1e-5)


@pytest.fixture
def hangup() -> Iterator[None]:
    """A closed terminal is heard of, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.usefixtures("hangup")
def test_a_signal_brakes_the_arm_to_rest_and_ends_the_run_cleanly(number):
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.loop_process"],
        cwd=Path(__file__).parent.parent,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline().strip() == "moving"
    process.send_signal(number)
    rest, _ = process.communicate(timeout=120)
    assert rest.strip().endswith("inactive True True")
    assert process.returncode == 0


@pytest.mark.usefixtures("hangup")
def test_a_terminal_that_closes_counts_once_however_often_it_is_said():
    before = signal.getsignal(signal.SIGHUP)
    with loop.signals() as asked:
        for number in (signal.SIGHUP, signal.SIGHUP, signal.SIGTERM):
            signal.raise_signal(number)
    assert asked == [signal.SIGHUP, signal.SIGTERM]
    assert signal.getsignal(signal.SIGHUP) == before


def test_what_the_machine_does_not_grant_is_said_and_the_run_goes_on():
    try:
        refused = prepare(RealTime(priority=0, cpu=100_000, lock_memory=False, awake=False))
        assert len(refused) == 1
        assert "core 100000" in refused[0]
    finally:
        restore()


def test_cores_are_kept_awake_as_long_as_it_runs(tmp_path, monkeypatch):
    file = tmp_path / "cpu_dma_latency"  # a wish counts as long as the file is open
    file.touch()
    monkeypatch.setattr(realtime, "_LATENCY", str(file))

    def is_open() -> bool:
        return any(fd.resolve() == file for fd in Path("/proc/self/fd").iterdir())

    wishes = RealTime(priority=0, lock_memory=False)
    try:
        assert prepare(wishes) == prepare(wishes) == []
        assert file.read_bytes() == bytes(4)  # none of the microseconds it asks about
        assert is_open()
    finally:
        restore()
    assert not is_open()


def test_cores_that_may_fall_asleep_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(realtime, "_LATENCY", str(tmp_path / "is not there"))
    try:
        (line,) = prepare(RealTime(priority=0, lock_memory=False))
    finally:
        restore()
    assert line.startswith("cores may fall asleep ([Errno 2] No such file")


def test_what_is_not_granted_is_told_before_the_first_tick():
    told = []
    with simulated() as robot:
        wishes = RealTime(priority=0, cpu=100_000, lock_memory=False, awake=False)
        controller = ua.Controller(robot.model, ua.Config())
        summary = loop.run(
            robot,
            controller,
            seconds=0.1,
            real_time=wishes,
            tell=lambda line: told.append((line, controller.mode)),
        )
    assert told == [(summary.refused[0], "inactive")]


def test_a_summary_as_plain_values_can_be_written_as_json():
    with simulated() as robot:
        summary = loop.run(robot, ua.Controller(robot.model, ua.Config()), seconds=0.1)
    plain = json.loads(json.dumps(summary.as_dict()))
    assert plain["ticks"] == summary.ticks
    assert plain["asked"] is False
    assert plain["period"]["p50"] == pytest.approx(0.002, rel=0.1)
    assert plain["tick"]["p50"] <= plain["tick"]["p99"] <= plain["tick"]["max"]


class Clock:
    """A monotonic clock that only sleeping moves."""

    def __init__(self, monkeypatch):
        self.now = 100.0
        monkeypatch.setattr("ur_admittance.realtime.time", self)

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_deadlines_stand_a_period_apart_however_late_each_was_met(monkeypatch):
    clock = Clock(monkeypatch)
    deadlines = Deadlines(0.5)
    for k, late in enumerate((0.0, 0.1, 0.4, 0.0), 1):
        assert deadlines.wait() == 100.0 + 0.5 * k
        assert clock.now == pytest.approx(100.0 + 0.5 * k)
        clock.now += late
    assert deadlines.missed == 0


def test_deadlines_that_passed_are_skipped_and_counted_and_never_made_up_for(monkeypatch):
    clock = Clock(monkeypatch)
    deadlines = Deadlines(0.5)
    deadlines.wait()
    clock.now += 1.25  # past 101.0 and 101.5, on the way to 102.0
    assert deadlines.wait() == 101.5
    assert deadlines.missed == 1
    assert clock.now == 101.75  # at once, for the newest
    assert deadlines.wait() == 102.0 == clock.now
    assert deadlines.missed == 1


def test_a_paced_time_passes_as_fast_as_asked_and_waits_for_a_slow_machine(monkeypatch):
    clock = Clock(monkeypatch)
    simulated_time = [7.0]
    pace = Pace(lambda: simulated_time[0], 2.0)
    simulated_time[0] = 8.0
    pace()
    assert clock.now == 100.5
    clock.now += 3.0  # the machine did something else
    pace()
    simulated_time[0] = 9.0
    pace()
    assert clock.now == 104.0


def test_a_deadline_that_has_passed_is_not_waited_for():
    before = time.monotonic()
    sleep_until(before - 1.0, spin=False)
    sleep_until(before + 0.002, spin=True)
    assert before + 0.002 <= time.monotonic() < before + 5.0


def test_a_histogram_knows_its_quantiles_to_six_percent():
    histogram = Histogram()
    samples = np.random.default_rng(0).lognormal(-7, 1, 5000)
    histogram.add(samples[:4000])
    histogram.add(samples[4000:])
    for share in (0.5, 0.9, 0.99):
        assert histogram.quantile(share) == pytest.approx(np.quantile(samples, share), rel=0.08)
    assert histogram.quantile(1.0) == histogram.most == samples.max()


class Broken(SimRobot):
    """Its wire breaks after a while: no state comes any more, or no command gets through."""

    def __init__(self, *arguments, what: str, **options) -> None:
        super().__init__(*arguments, **options)
        self.what, self.sent = what, []

    def wait(self) -> State:
        if self.what == "wait" and self.time > 0.6:
            raise ConnectionError("no state")
        return super().wait()

    def send_velocity(self, qd) -> None:
        self.sent.append(np.array(qd))
        super().send_velocity(qd)


def steps_of(sent: list[np.ndarray], model) -> np.ndarray:
    """By how much each command changed, as a share of what the joints may."""
    return np.abs(np.diff(np.array(sent), axis=0)) / (0.002 * model.qdd_max)


@pytest.mark.parametrize("where", ["each", "board", "wait"])
def test_an_error_anywhere_ends_in_a_braked_stop_with_the_last_two_seconds(where: str) -> None:
    """Nothing steps to zero: neither an error beside the tick nor a robot that falls silent."""

    class Board:
        def publish(self, outputs) -> None:
            if where == "board" and outputs["tick"][0] > 300:
                raise OSError("no memory")

        def take_params(self, params) -> bool:
            return False

        def request(self) -> str:
            return ""

    def each(state, out) -> None:
        if where == "each" and out["tick"] > 300:
            raise ZeroDivisionError("a mistake of mine")

    with Broken("ur5e", what=where, ideal=True, realtime=False, hand=PUSH) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with pytest.raises(loop.RunError, match="the arm was stopped") as caught:
            loop.run(robot, controller, seconds=5.0, each=each, board=Board())
        assert type(caught.value.__cause__).__name__ in (
            "ZeroDivisionError",
            "OSError",
            "ConnectionError",
        )
        assert np.abs(robot.sent[250]).max() > 0.05
        assert not robot.sent[-1].any()
        assert steps_of(robot.sent[:-1], robot.model).max() <= 1.0 + 1e-6
        assert len(caught.value.trace) > 200


def test_an_arm_that_moves_is_not_activated() -> None:
    class Coasting(SimRobot):
        def wait(self) -> State:
            self.send_velocity(np.full(6, 0.05))
            return super().wait()

    with Coasting("ur5e", ideal=True, realtime=False) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        with pytest.raises(ua.RobotError, match="the arm moves: its tool at"):
            loop.run(robot, controller, seconds=1.0)
        assert controller.mode == "inactive"
        with pytest.raises(ua.RobotError, match="activate: the arm moves"):
            controller.activate(robot.model.home, qd=np.full(6, 0.05))
        controller.activate(robot.model.home, qd=np.full(6, 1e-4))


def test_degrees_are_not_taken_for_radians() -> None:
    model = ua.RobotModel.ur("ur5e")
    controller = ua.Controller(model, ua.Config())
    with pytest.raises(ua.RobotError, match=r"cannot be at -90 rad.*are these degrees\?"):
        controller.activate(np.degrees(model.home))
    assert controller.mode == "inactive"


def test_an_arm_that_will_drift_is_told_of_before_it_does() -> None:
    with SimRobot("ur5e", ideal=True, realtime=False, bias=[0, 0, 6.0, 0, 0, 0]) as robot:
        config = ua.Config.preset("hand-guiding").replace({"safety.start_force": 0})
        told: list[str] = []
        loop.run(robot, ua.Controller(robot.model, config), seconds=0.1, tell=told.append)
    assert told == [
        "the sensor feels 6 N that nothing explains, and the deadband takes 2: the arm will drift "
        "at up to 0.067 m/s"
    ]
