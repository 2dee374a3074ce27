"""Faults on purpose do what they say, and nothing else."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

from tests.ur_fake.support import RtdeTalker, Talker, controller
from ur_admittance.errors import ConfigError
from ur_fake.faults import PLACES, BadLine, BadSensor, Fault
from ur_fake.server import Controller

PACKETS = [bytes([i]) * 20 for i in range(250)]


@pytest.fixture(scope="module")
def shared() -> Iterator[Controller]:
    with controller() as made:
        yield made


@pytest.fixture
def robot(shared: Controller) -> Iterator[Controller]:
    yield shared
    shared.heal()


def through(*faults: str) -> list[tuple[float, bytes]]:
    """When each packet comes out, if one goes in every 2 ms."""
    line = BadLine([Fault.parse(f"rtde:{fault}") for fault in faults], seed=1)
    came = []
    for i in range(1000):
        time = 0.002 * i
        if i < len(PACKETS):
            line.push(PACKETS[i], time)
        came += [(time, packet) for packet in line.pop(time)]
    return came


def test_a_line_may_lose_packets() -> None:
    came = [packet for _, packet in through("drop=0.2")]
    assert 150 < len(came) < 240
    assert set(came) < set(PACKETS)


def test_a_line_may_be_late_and_keeps_the_order() -> None:
    came = through("delay=0.01", "jitter=0.05")
    assert [packet for _, packet in came] == PACKETS
    lateness = np.array([time for time, _ in came]) - 0.002 * np.arange(len(PACKETS))
    assert lateness.min() >= 0.01 - 1e-9
    assert 0.03 < lateness.max() < 0.07


def test_a_line_may_double_packets() -> None:
    came = [packet for _, packet in through("duplicate=1")]
    assert came == [packet for packet in PACKETS for _ in range(2)]


def test_a_line_may_cut_packets_short() -> None:
    came = [packet for _, packet in through("truncate=1")]
    assert all(whole.startswith(part) for whole, part in zip(PACKETS, came, strict=True))
    assert sum(map(len, came)) < 20 * len(PACKETS)


def test_a_line_may_turn_one_bit() -> None:
    for sent, (_, got) in zip(PACKETS, through("flip=1"), strict=True):
        difference = int.from_bytes(sent, "big") ^ int.from_bytes(got, "big")
        assert difference.bit_count() == 1


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wire:drop=0.1", "no place 'wire'"),
        ("rtde:melt", "cannot 'melt'"),
        ("rtde:drop", "needs a value"),
        ("rtde:drop=2", "drop is 2"),
        ("rtde:drop=x", "no number"),
        ("rtde:drop=nan", "no number"),
        ("rtde:close=1", "takes no value"),
        ("rtde:close@soon", "no number"),
        ("arm:slow=0.5", "slow is 0.5"),
    ],
)
def test_a_fault_that_makes_no_sense_says_why(text: str, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Fault.parse(text)


def test_every_fault_has_its_line() -> None:
    values = {"refuse": "x", "serial": "1", "model": "ur3e", "version": "5.1", "calibration": "1"}
    for place, known in PLACES.items():
        for what, meaning in known.items():
            value = f"={values.get(what, '1')}" if meaning else ""
            assert Fault.parse(f"{place}:{what}{value}@2").at == 2.0


def reading(*faults: str, time: float = 1.0) -> np.ndarray:
    sensor = BadSensor([Fault.parse(f"sensor:{fault}") for fault in faults])
    return sensor(time, np.array([1.0, -30.0, 3.0, 0.1, -3.0, 0.3]))


def test_a_sensor_may_drift_saturate_and_change_its_sign() -> None:
    assert np.allclose(reading("sign"), [-1, 30, -3, -0.1, 3, -0.3])
    assert np.allclose(reading("saturate=20"), [1, -20, 3, 0.1, -2, 0.3])
    assert np.allclose(reading("drift=2@0.5"), [2, -29, 4, 0.2, -2.9, 0.4])
    assert np.allclose(reading("drift=2@5"), [1, -30, 3, 0.1, -3, 0.3])


def test_a_sensor_may_freeze() -> None:
    sensor = BadSensor([Fault.parse("sensor:freeze@1")])
    assert sensor(0.5, np.ones(6))[0] == 1.0
    assert sensor(1.0, 2 * np.ones(6))[0] == 2.0
    assert sensor(1.5, 3 * np.ones(6))[0] == 2.0


def test_what_the_sensor_says_wrongly_is_what_clients_get(robot: Controller) -> None:
    client = RtdeTalker(robot)
    client.outputs("ft_raw_wrench")
    client.exchange("S")
    robot.inject("sensor:drift=1000")
    since = robot.machine.time
    client.until(lambda: robot.machine.time > since + 0.1)
    client.came.clear()
    assert struct.unpack(">6d", client.data())[0] > 50
    client.close()


def test_a_slow_arm_lags_behind_its_targets(robot: Controller) -> None:
    def lag() -> float:
        robot.machine.load_script("def go():\n  speedj([0.5, 0, 0, 0, 0, 0], 10, 1)\nend\n")
        for _ in range(300):
            robot.step()
        return float(robot.machine.target_q[0] - robot.machine.actual_q[0])

    usual = lag()
    robot.inject("arm:slow=2")
    assert lag() > usual + 0.005
    robot.machine.stop_program()
    robot.heal()
    for _ in range(300):
        robot.step()


def test_a_closed_wire_is_closed_once_and_clients_can_come_back(robot: Controller) -> None:
    client = RtdeTalker(robot)
    robot.inject("rtde:close")
    client.until(lambda: client.ended)
    again = RtdeTalker(robot)
    for _ in range(50):
        again.step()
    assert not again.ended
    again.close()


def test_a_frozen_wire_is_silent_and_open_while_others_are_served(robot: Controller) -> None:
    client = RtdeTalker(robot)
    client.outputs("timestamp")
    client.exchange("S")
    client.data()
    robot.inject("rtde:freeze")
    client.step()
    client.came.clear()
    other = RtdeTalker(robot)
    other.outputs("timestamp")
    other.exchange("S")
    for _ in range(100):
        other.data()
        client.step()
    assert not client.came
    assert not client.ended
    client.close()
    other.close()


def test_a_fault_waits_for_its_time(robot: Controller) -> None:
    client = RtdeTalker(robot)
    when = robot.machine.time + 0.2
    robot.inject(f"rtde:close@{when}")
    client.until(lambda: client.ended)
    assert when <= robot.machine.time < when + 0.01


def test_a_bad_wire_is_bad_for_one_interface_only(robot: Controller) -> None:
    client = RtdeTalker(robot)
    client.outputs("timestamp")
    client.exchange("S")
    client.data()
    robot.inject("rtde:drop=1")
    client.step()
    client.came.clear()
    board = Talker(robot, "dashboard")
    board.line()
    assert board.ask("robotmode") == "Robotmode: RUNNING"
    for _ in range(50):
        client.step()
    assert not client.came
    client.close()
    board.close()


def test_another_controller_is_another_controller() -> None:
    faults = ["identity:serial=20990000001", "identity:model=ur10e", "identity:version=5.11.6"]
    with controller(faults=faults) as robot:
        board = Talker(robot, "dashboard")
        board.line()
        assert board.ask("get serial number") == "20990000001"
        assert board.ask("get robot model") == "UR10"
        assert "5.11.6" in board.ask("PolyscopeVersion")
        client = RtdeTalker(robot)
        assert struct.unpack(">4I", client.exchange("v")) == (5, 11, 6, 0)
        client.close()
        board.close()


def test_two_calibrations_have_two_checksums() -> None:
    sums = []
    for faults in ([], ["identity:calibration=1"], ["identity:calibration=2"]):
        with controller(faults=faults) as robot:
            sums.append(robot.machine.identity.checksums())
    assert len(set(sums)) == 3
