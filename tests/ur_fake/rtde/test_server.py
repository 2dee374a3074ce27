"""RTDE as a client sees it."""

from __future__ import annotations

import struct
from collections.abc import Iterator

import numpy as np
import pytest

from tests.ur_fake.support import RtdeTalker, controller
from ur_fake.rtde import frames
from ur_fake.rtde.fields import INPUTS, OUTPUTS
from ur_fake.server import Controller


@pytest.fixture(scope="module")
def robot() -> Iterator[Controller]:
    with controller() as made:
        yield made


@pytest.fixture
def client(robot: Controller) -> Iterator[RtdeTalker]:
    made = RtdeTalker(robot)
    yield made
    made.close()
    for _ in range(100):
        if not robot.rtde.clients:
            return
        robot.step()
    raise AssertionError("a client that left is still there")


def test_versions_one_and_two_are_accepted_and_no_other(robot: Controller) -> None:
    client = RtdeTalker(robot, protocol=0)
    answers = [client.exchange("V", struct.pack(">H", version)) for version in (0, 1, 2, 3)]
    assert answers == [b"\x00", b"\x01", b"\x01", b"\x00"]
    client.close()


def test_the_controller_says_its_version(client: RtdeTalker) -> None:
    version = struct.unpack(">4I", client.exchange("v"))
    assert version == client.robot.machine.identity.version


def test_every_variable_can_be_had_and_has_its_type(client: RtdeTalker) -> None:
    for start in range(0, len(OUTPUTS), 60):
        some = list(OUTPUTS)[start : start + 60]
        number, types = client.outputs(",".join(some) + ",")
        assert number == 1
        assert types.split(",") == [OUTPUTS[name].type for name in some]
        client.exchange("S")
        client.data()
        client.exchange("P")


def test_an_unknown_variable_is_not_found_and_nothing_starts(client: RtdeTalker) -> None:
    assert client.outputs("timestamp,colour") == (0, "DOUBLE,NOT_FOUND")
    assert client.exchange("S") == b"\x00"


def test_names_of_more_than_2048_bytes_are_refused(client: RtdeTalker) -> None:
    assert client.outputs("timestamp," * 220) == (0, "")
    assert client.inputs("input_int_register_24," * 100) == (0, "")
    assert client.outputs("timestamp," * 200)[0] == 1


@pytest.mark.parametrize("hertz", [0.0, -1.0, 501.0, float("nan"), float("inf")])
def test_a_rate_that_no_controller_has_is_refused(client: RtdeTalker, hertz: float) -> None:
    assert client.outputs("timestamp", hertz)[0] == 0


@pytest.mark.parametrize("hertz", [500.0, 125.0, 100.0, 1.0, 300.0])
def test_data_come_as_often_as_asked(client: RtdeTalker, hertz: float) -> None:
    client.outputs("timestamp", hertz)
    client.exchange("S")
    times = [struct.unpack(">d", client.data())[0] for _ in range(7)]
    gaps = np.diff(times)
    assert gaps.mean() == pytest.approx(1 / hertz, abs=0.002 / 6)
    assert np.all(np.abs(gaps - 1 / hertz) < 0.002)
    assert np.allclose(np.round(gaps / 0.002), gaps / 0.002)


def test_at_500_hz_every_cycle_comes_once(client: RtdeTalker) -> None:
    client.outputs("timestamp")
    client.exchange("S")
    times = [struct.unpack(">d", client.data())[0] for _ in range(500)]
    assert np.allclose(np.diff(times), 0.002, atol=1e-9)


def test_pause_stops_the_data_and_start_goes_on(client: RtdeTalker) -> None:
    client.outputs("timestamp")
    client.exchange("S")
    client.data()
    assert client.exchange("P") == b"\x01"
    client.came.clear()
    for _ in range(20):
        client.step()
    assert not client.came
    assert client.exchange("S") == b"\x01"
    client.data()


def test_what_a_client_writes_is_in_the_registers(client: RtdeTalker) -> None:
    names = "input_int_register_24,input_double_register_47,input_bit_register_127"
    number, types = client.inputs(names)
    assert (number, types) == (1, "INT32,DOUBLE,BOOL")
    client.send(frames.frame(frames.DATA, struct.pack(">Bid?", number, -7, 2.5, True)))
    machine = client.robot.machine
    client.until(lambda: machine.input_int[24] == -7)
    assert machine.input_double[47] == 2.5
    assert machine.input_bit[127]
    assert machine.input_seen["input_int_register_24"] > 0
    client.outputs(names)
    client.exchange("S")
    assert struct.unpack(">id?", client.data()) == (-7, 2.5, True)


def test_32_bits_in_one_word_are_32_registers(client: RtdeTalker) -> None:
    number, _ = client.inputs("input_bit_registers32_to_63")
    client.send(frames.frame(frames.DATA, struct.pack(">BI", number, 1 << 31 | 2)))
    bits = client.robot.machine.input_bit
    client.until(lambda: bool(bits[63]))
    assert [i for i, bit in enumerate(bits[32:64]) if bit] == [1, 31]


def test_an_input_belongs_to_the_first_client_until_it_leaves(client: RtdeTalker) -> None:
    assert client.inputs("input_int_register_30")[0] == 1
    assert client.inputs("input_int_register_30,input_int_register_31")[0] == 2  # its own
    other = RtdeTalker(client.robot)
    taken = other.inputs("input_int_register_29,input_int_register_31,nonsense")
    assert taken == (0, "INT32,IN_USE,NOT_FOUND")
    client.sock.close()
    client.sock = other.sock  # what the fixture closes
    other.until(lambda: len(client.robot.rtde.clients) == 1)
    assert other.inputs("input_int_register_31") == (1, "INT32")


def test_a_field_bus_has_the_lower_registers_for_itself(client: RtdeTalker) -> None:
    client.robot.rtde.fieldbus = True
    try:
        lower = "input_int_register_23,input_double_register_0,input_bit_registers0_to_31"
        assert client.inputs(lower) == (0, "IN_USE,IN_USE,IN_USE")
        upper = "input_int_register_24,input_double_register_24,input_bit_register_64"
        assert client.inputs(upper)[0] == 1
    finally:
        client.robot.rtde.fieldbus = False


def test_a_mask_says_which_outputs_are_meant(client: RtdeTalker) -> None:
    machine = client.robot.machine
    names = "standard_digital_output_mask,standard_digital_output"
    number, types = client.inputs(names)
    assert types == "UINT8,UINT8"
    client.send(frames.frame(frames.DATA, struct.pack(">3B", number, 0b101, 0b111)))
    client.until(lambda: machine.actual_digital_output_bits & 0xFF == 0b101)
    client.send(frames.frame(frames.DATA, struct.pack(">3B", number, 0b001, 0b000)))
    client.until(lambda: machine.actual_digital_output_bits & 0xFF == 0b100)


def test_the_speed_slider_obeys_its_mask(client: RtdeTalker) -> None:
    machine = client.robot.machine
    number, _ = client.inputs("speed_slider_mask,speed_slider_fraction,input_int_register_40")
    ignored = frames.frame(frames.DATA, struct.pack(">BIdi", number, 0, 0.25, 1))
    client.send(ignored)
    client.until(lambda: machine.input_int[40] == 1)
    assert machine.target_speed_fraction == 1.0
    client.send(frames.frame(frames.DATA, struct.pack(">BIdi", number, 1, 0.25, 2)))
    client.until(lambda: machine.input_int[40] == 2)
    assert machine.target_speed_fraction == 0.25
    client.send(frames.frame(frames.DATA, struct.pack(">BIdi", number, 1, 1.0, 3)))
    client.until(lambda: machine.input_int[40] == 3)


def test_data_that_fit_no_recipe_change_nothing_and_are_told(client: RtdeTalker) -> None:
    number, _ = client.inputs("input_int_register_41")
    client.send(frames.frame(frames.DATA, bytes([number, 1, 2])))
    kind, words = client.frame()
    assert kind == "M"
    assert b"bytes" in words
    client.send(frames.frame(frames.DATA, bytes([99, 0, 0, 0, 1])))
    assert b"no input recipe 99" in client.frame()[1]
    assert client.robot.machine.input_int[41] == 0


def test_a_client_that_only_talks_nonsense_is_dropped(robot: Controller) -> None:
    client = RtdeTalker(robot)
    client.send(frames.frame(ord("?")) * 300)
    client.until(lambda: client.ended)


def test_a_frame_smaller_than_its_header_ends_the_connection(robot: Controller) -> None:
    client = RtdeTalker(robot)
    client.send(b"\x00\x01V")
    client.until(lambda: client.ended)


def test_version_one_has_neither_rate_nor_numbers(robot: Controller) -> None:
    client = RtdeTalker(robot, protocol=1)
    assert client.exchange("O", b"timestamp,robot_mode") == b"DOUBLE,INT32"
    client.exchange("S")
    kind, payload = client.frame()
    assert kind == "U"
    assert struct.unpack(">di", payload)[1] == 7
    client.close()


def test_a_refused_variable_is_not_found(robot: Controller) -> None:
    client = RtdeTalker(robot)
    robot.inject("rtde:refuse=ft_raw_wrench")
    client.step()
    assert client.outputs("timestamp,ft_raw_wrench") == (0, "DOUBLE,NOT_FOUND")
    robot.heal()
    assert client.outputs("timestamp,ft_raw_wrench") == (1, "DOUBLE,VECTOR6D")
    client.close()


def test_every_input_has_a_type_that_can_be_unpacked() -> None:
    assert {field.type for field in INPUTS.values()} <= set(frames.CODES)
