"""An ATI Net F/T and its stand-in: scale, gaps, order, status, silence."""

from __future__ import annotations

import select
import socket
import struct
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from tests.robots.rtde.support import WIRE, Traced, rtde_robot, until
from ur_admittance import Config, Controller, RobotError
from ur_admittance.run import loop
from ur_admittance.sensors.netft import NetFt
from ur_fake.netft import FakeNetFt

pytest.importorskip("lark")
pytest.importorskip("mujoco")

_SO_PEEK_OFF = 42  # not among the names of `socket`
PUSH = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3])


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
        sensor.newest(np.zeros(6))
        device.send(np.zeros(6))
        until(lambda: sensor.newest(np.zeros(6)) and sensor._sequence == device.sequence)
    return sensor


def read(sensor: NetFt, times: int = 1) -> np.ndarray:
    """The wrench once so many packets more have come, good or not."""
    wrench, seen = np.zeros(6), _seen(sensor)

    def came() -> bool:
        sensor.newest(wrench)
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


def test_a_sample_arrives_in_newtons(device):
    sensor = connect(device, NetFt(device.address))
    device.send(PUSH)
    np.testing.assert_allclose(read(sensor), PUSH, atol=1e-6)
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
        first = sensor.newest(wrench)
        assert first > 0 and wrench[0] == pytest.approx(due)
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
    until(lambda: sensor.newest(wrench) and sensor._sequence == 0)
    assert sensor.lost == lost


@pytest.mark.parametrize("status", [1 << 31, 1 << 30, 1 << 17])
def test_a_sample_whose_status_is_bad_is_not_believed(device, status):
    sensor = connect(device, NetFt(device.address))
    device.send(PUSH)
    read(sensor)
    arrived = sensor._arrived
    device.status = status
    device.send(9 * PUSH)
    np.testing.assert_allclose(read(sensor), PUSH, atol=1e-6)
    assert sensor._arrived == arrived, "it grows old"
    assert sensor.status == status


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


def test_an_arm_gives_way_to_its_force_and_stops_when_it_ceases(device):
    """With the robot's joints and the sensor's wrench: row 2 of the faults, with a real source."""
    noise, phase = np.random.default_rng(0), ["connecting"]

    class Both(Traced):
        """The sensor sends a sample a cycle."""

        def step(self) -> None:
            if phase[0] in ("still", "pushed"):
                force = np.array([15.0 * (phase[0] == "pushed"), 0.0, 0.0])
                device.send([*(force + noise.normal(0, 0.05, 3)), 0, 0, 0])
                assert sensor._sock and select.select([sensor._sock], [], [], WIRE)[0]
            super().step()

    fake, fastest = Both(), [0.0]
    sensor = NetFt(device.address, clock=lambda: fake.machine.time)

    def each(state, out) -> None:
        if out["tick"] == 50:
            phase[0] = "pushed"
        elif out["tick"] == 500:
            phase[0] = "silent"
        fastest[0] = max(fastest[0], fake.speed)

    try:
        with connect(device, rtde_robot(fake, sensor=sensor)) as robot:
            phase[0] = "still"
            controller = Controller(robot.model, Config.preset("hand-guiding"))
            summary = loop.run(robot, controller, seconds=20.0, each=each)
    finally:
        fake.close()
    assert fastest[0] > 0.1
    assert summary.mode == "stopped"
    assert summary.reason and summary.reason.code == "wrench_lost", summary.reason


def test_the_layout_of_a_packet_is_the_documented_one(device):
    """36 bytes: two sequence numbers, status, six counts, big-endian."""
    sensor = connect(device, NetFt(device.address))
    after = sensor._sequence + 1
    device.raw(struct.pack(">IIIiiiiii", after, 7, 0, 1_000_000, -2_000_000, 0, 0, 0, 5))
    np.testing.assert_allclose(read(sensor), [1, -2, 0, 0, 0, 5e-6], atol=1e-9)
