"""An ATI Net F/T and its stand-in, over real sockets: the contract, and scale, gaps, order, status,
silence.
"""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from tests.robots.rtde.support import WIRE, Traced, rtde_robot, until
from tests.sensors.contract import PUSH, SourceContract
from ur_admittance import CalibrationError, Config, Controller, RobotError
from ur_admittance.calibration import tare
from ur_admittance.calibration.collect import gather
from ur_admittance.calibration.identify import identify
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import Run, run
from ur_admittance.sensors.netft import NetFt
from ur_fake.netft import FakeNetFt

pytest.importorskip("lark")
pytest.importorskip("mujoco")

_SO_PEEK_OFF = 42  # not among the names of `socket`
SATURATED = 1 << 31 | 1 << 17


@pytest.fixture
def device() -> Iterator[FakeNetFt]:
    with FakeNetFt() as made:
        yield made


def connect(device: FakeNetFt, sensor: Any) -> Any:
    """Both sides of a first sample, which a sensor, or a robot that has one, waits for."""
    answering = threading.Event()

    def answer() -> None:
        while not answering.wait(0.002):
            device.send(np.zeros(6))

    thread = threading.Thread(target=answer)
    thread.start()
    try:
        sensor.connect()
    finally:
        answering.set()
        thread.join()
    if isinstance(sensor, NetFt):  # what came meanwhile is taken, and then one more
        sensor.newest(np.zeros(6), 0.0)
        device.send(np.zeros(6))
        until(lambda: sensor.newest(np.zeros(6), 0.0) == 0 and sensor._sequence == device.sequence)
    return sensor


def read(sensor: NetFt, times: int = 1) -> np.ndarray:
    """The wrench once so many packets more have come, good or not."""
    wrench, seen = np.zeros(6), _seen(sensor)

    def came() -> bool:
        sensor.newest(wrench, 0.0)
        return _seen(sensor) - seen >= times

    until(came)
    return wrench


def wait_for(sock: socket.socket, count: int) -> None:
    """Return when so many packets can be read, and leave them there."""
    sock.setsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF, 0)  # each look is at the next
    for _ in range(count):
        until(lambda: looked_at(sock))
    sock.setsockopt(socket.SOL_SOCKET, _SO_PEEK_OFF, -1)


def looked_at(sock: socket.socket) -> bool:
    try:
        return bool(sock.recv(64, socket.MSG_PEEK))
    except BlockingIOError:
        return False


def _seen(sensor: NetFt) -> int:
    return sensor._sequence - sensor.lost + sensor.old + sensor.bad


def arrive(device: FakeNetFt, sensor: NetFt, wrench: Any) -> None:
    """One sample, that is there when this returns."""
    device.send(wrench)
    assert sensor._sock and select.select([sensor._sock], [], [], WIRE)[0]


class TestNetFt(SourceContract):
    @pytest.fixture(autouse=True)
    def at(self, device: FakeNetFt) -> None:
        self.device, self.address = device, f"netft://{device.address}"

    def connected(self, source: Any) -> Any:
        return connect(self.device, source)

    def send(self, source: Any, wrench: np.ndarray, *, sick: bool = False) -> None:
        self.device.status = SATURATED if sick else 0
        arrive(self.device, source, wrench)


def test_a_sensor_that_is_let_go_of_is_told_to_stop(device):
    sensor = connect(device, NetFt(device.address))
    sensor.close()
    until(lambda: device.poll() or device.client is None)


@pytest.mark.parametrize(
    ("units", "force", "torque"),
    [(("N", "Nm"), 1, 1), (("lbf", "lbf-in"), 4.4482216, 0.11298483), (("kN", "Nmm"), 1e3, 1e-3)],
)
def test_other_units_of_the_device_are_converted(units, force, torque):
    with FakeNetFt((1000.0, 2000.0), units) as device:
        sensor = connect(device, NetFt(device.address))
        np.testing.assert_allclose(
            sensor.scale, [1000 / force] * 3 + [2000 / torque] * 3, rtol=1e-6
        )


def test_a_sensor_that_reports_the_reaction_is_turned(device):
    sensor = connect(device, NetFt(device.address, sign=-1))
    device.send(PUSH)
    np.testing.assert_allclose(read(sensor), -PUSH, atol=1e-6)


def test_the_newest_counts_or_the_mean_when_asked(device):
    for average, due in ((False, 3.0), (True, 2.0)):
        sensor = connect(device, NetFt(device.address, average=average))
        for force in (1.0, 2.0, 3.0):
            device.send([force, 0, 0, 0, 0, 0])
        wrench = np.zeros(6)
        wait_for(sensor._sock, 3)
        assert sensor.newest(wrench, 1.0) == 1.0 and wrench[0] == pytest.approx(due)
        sensor.close()


def test_gaps_are_counted_and_old_samples_dropped(device):
    sensor = connect(device, NetFt(device.address))
    lost = sensor.lost
    device.sequence += 4
    device.send(PUSH)
    read(sensor)
    assert sensor.lost == lost + 4
    device.sequence -= 3
    device.send(10 * PUSH)
    np.testing.assert_allclose(read(sensor), PUSH, atol=1e-6)
    assert sensor.old >= 1


def test_a_sequence_that_wraps_is_no_gap(device):
    device.sequence = 2**32 - 3
    sensor = connect(device, NetFt(device.address))
    lost = sensor.lost
    sensor._sequence = device.sequence = 2**32 - 1
    device.send(PUSH)
    wrench = np.zeros(6)
    until(lambda: sensor.newest(wrench, 1.0) and sensor._sequence == 0)
    assert sensor.lost == lost


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (1 << 31, "an error (status 0x80000000)"),
        (1 << 30, "force or torque out of range"),
        (1 << 28, "simulated error"),
        (1 << 17, "saturated strain gauge"),
        (1 << 31 | 1 << 16, "a monitor condition that is latched"),
        (1 << 31 | 1 << 24 | 1 << 14, "settings that are not valid, a watchdog that ran out"),
    ],
)
def test_a_bad_status_is_put_in_words_and_forbids_a_start(device, status, words):
    sensor = connect(device, NetFt(device.address))
    device.status = status
    device.send(9 * PUSH)
    read(sensor)
    assert words in sensor.problem and "; relieve the tool" in sensor.problem
    assert sensor.status == status
    with pytest.raises(RobotError) as refused:
        connect(device, NetFt(device.address))
    assert words in str(refused.value)


def test_what_has_piled_up_meanwhile_does_not_count_as_new(device):
    sensor = connect(device, NetFt(device.address))
    for _ in range(1000):  # more than the system keeps, and than is taken at once
        device.send(PUSH)
    wrench = np.zeros(6)
    assert sensor.newest(wrench, 1.0) == 0.0
    device.send(2 * PUSH)
    until(lambda: sensor.newest(wrench, 20.0) == 20.0)
    np.testing.assert_allclose(wrench, 2 * PUSH, atol=1e-6)


@pytest.mark.parametrize("noise", [b"", b"x", b"x" * 35, b"x" * 37, b"x" * 60])
def test_packets_of_another_size_are_dropped(device, noise):
    sensor = connect(device, NetFt(device.address))
    bad = sensor.bad
    device.raw(noise)
    device.send(PUSH)
    np.testing.assert_allclose(read(sensor, 2), PUSH, atol=1e-6)
    assert sensor.bad == bad + 1


def test_what_is_not_there_is_said():
    with pytest.raises(RobotError, match="scale factors cannot be read"):
        NetFt("127.0.0.1:1:1").connect()
    with pytest.raises(RobotError, match="write it as netft://192"):
        NetFt("").connect()


def test_a_page_without_factors_is_said():
    with FakeNetFt(units=("stone", "Nm")) as device, pytest.raises(RobotError, match="'stone'"):
        NetFt(device.address).connect()


class Felt:
    """A hand at the sensor of an arm that is controlled: still, pushed, and then as it may be."""

    def __init__(self, device: FakeNetFt) -> None:
        self.device, self.noise, self.phase = device, np.random.default_rng(0), "connecting"
        self.sensor = NetFt(device.address)

    def sample(self) -> None:
        """The one of a cycle."""
        if self.phase in ("still", "pushed", "sick"):
            self.device.status = SATURATED if self.phase == "sick" else 0
            force = np.array([15.0 * (self.phase == "pushed"), 0.0, 0.0])
            arrive(
                self.device, self.sensor, [*(force + self.noise.normal(0, 0.05, 3)), 0.0, 0.0, 0.0]
            )

    def run(self, robot: Any, then: str) -> Any:
        """Push it for 450 ticks; its fastest joint, rad/s, and the run."""
        fastest = [0.0]

        def each(state: State, out: Any) -> None:
            if out["tick"] == 50:
                self.phase = "pushed"
            elif out["tick"] == 500:
                self.phase = then
            fastest[0] = max(fastest[0], float(np.abs(state.qd).max()))

        with connect(self.device, robot) as arm:
            self.phase = "still"
            controller = Controller(arm.model, Config.preset("hand-guiding"))
            summary = run(arm, controller, seconds=20.0, each=each)
        return fastest[0], summary


def test_an_arm_gives_way_to_its_force_and_stops_when_it_ceases(device):
    """With the robot's joints and the sensor's wrench: row 2 of the faults, with a real source."""
    felt = Felt(device)

    class Both(Traced):
        """The sensor sends a sample a cycle."""

        def step(self) -> None:
            felt.sample()
            super().step()

    fake = Both()
    try:
        fastest, summary = felt.run(rtde_robot(fake, sensor=felt.sensor), "silent")
    finally:
        fake.close()
    assert fastest > 0.1
    assert summary.mode == "stopped"
    assert summary.reason and summary.reason.code == "wrench_lost", summary.reason


def test_a_simulated_arm_does_the_same_and_its_stop_names_what_the_sensor_says(device):
    felt = Felt(device)

    def cycle(*_: object) -> np.ndarray:
        felt.sample()
        return np.zeros(6)

    arm = SimRobot(realtime=False, hand=cycle, sensor=felt.sensor)
    fastest, summary = felt.run(arm, "sick")
    assert fastest > 0.1
    assert summary.mode == "stopped"
    reason = summary.reason
    assert reason and reason.code == "wrench_lost" and "saturated strain gauge" in reason.text
    assert reason.advice == "check the sensor, start again"


@pytest.mark.parametrize(
    ("verb", "error"),
    [
        (lambda arm: tare.watched(arm, Config()), RobotError),
        (gather, CalibrationError),
        (lambda arm: identify(Run(arm)), RobotError),
    ],
    ids=["tare", "calibrate", "identify"],
)
def test_a_verb_without_a_controller_takes_its_readings_and_names_what_is_wrong(
    verb: Callable[[Any], Any], error: type[Exception], device
) -> None:
    felt = Felt(device)

    def cycle(*_: object) -> np.ndarray:
        felt.sample()
        return np.zeros(6)

    with connect(device, SimRobot(realtime=False, hand=cycle, sensor=felt.sensor)) as arm:
        felt.phase = "still"
        arm.wait()
        assert verb(arm)
        felt.phase = "sick"
        arm.wait()
        with pytest.raises(error, match="saturated strain gauge"):
            verb(arm)


def test_the_layout_of_a_packet_is_the_documented_one(device):
    """36 bytes: two sequence numbers, status, six counts, big-endian."""
    sensor = connect(device, NetFt(device.address))
    after = sensor._sequence + 1
    device.raw(struct.pack(">IIIiiiiii", after, 7, 0, 1_000_000, -2_000_000, 0, 0, 0, 5))
    np.testing.assert_allclose(read(sensor), [1, -2, 0, 0, 0, 5e-6], atol=1e-9)
