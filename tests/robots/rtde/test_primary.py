"""What the primary interface says of the arm, from bytes laid out as its specification has them."""

from __future__ import annotations

import math
import socket
import struct
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.support import arm, pose
from ur_admittance import RobotError, RobotModel
from ur_admittance.robots.rtde.primary import Arm, Primary, chain_of

# UR5e, of the maker's table: a and d in m, alpha in rad
A = (0.0, -0.425, -0.3922, 0.0, 0.0, 0.0)
D = (0.1625, 0.0, 0.0, 0.1333, 0.0997, 0.0996)
ALPHA = (math.pi / 2, 0.0, 0.0, math.pi / 2, -math.pi / 2, 0.0)
DH = np.array([np.zeros(6), A, D, ALPHA])
SUMS = (0x11, 0xAB, 0, 1, 0xDEADBEEF, 7)
TCP = (0.01, -0.02, 0.15, 0.1, 0.2, -0.3)
LIMITS = ((-6.0, 6.0), (3.0, 15.0))  # rad; rad/s and rad/s^2


def packet(kind: int, body: bytes) -> bytes:
    return struct.pack(">iB", 5 + len(body), kind) + body


def state(dh: np.ndarray = DH, robot_type: int = 1, tcp: tuple[float, ...] = TCP) -> bytes:
    """A robot state of a part of each kind that counts, and one that does not."""
    cartesian = struct.pack(">12d", *[9.0] * 6, *tcp)
    kinematics = struct.pack(">6I", *SUMS) + struct.pack(">24d", *dh.ravel()) + b"\0\0\0\1"
    pairs = [pair for limits in LIMITS for pair in [limits] * 6]
    configuration = struct.pack(">24d", *np.ravel(pairs)) + struct.pack(">5d", *[1.0] * 5)
    configuration += struct.pack(">24d", *dh.ravel())
    configuration += struct.pack(">4i", 5, 1, robot_type, 3)
    parts = ((0, b"anything"), (4, cartesian), (5, kinematics), (6, configuration))
    return packet(16, b"".join(packet(kind, body) for kind, body in parts))


def message(kind: int, body: bytes) -> bytes:
    return packet(20, struct.pack(">QbB", 123, 7, kind) + body)


@contextmanager
def primary(*said: bytes) -> Iterator[tuple[Primary, socket.socket]]:
    """A connection to a controller that has said this, and the controller's end of it."""
    here, there = socket.socketpair()
    there.sendall(b"".join(said))
    link = Primary("robot", 30001, make=lambda address, seconds: here)
    with there:
        yield link, there
        link.close()


def said_arm(*said: bytes, cb3: bool = False) -> Arm:
    with primary(*said) as (link, _):
        return link.arm(cb3=cb3)


def forward(dh: np.ndarray, q: np.ndarray) -> np.ndarray:
    """Rz(q + theta) Tz(d) Tx(a) Rx(alpha), joint by joint, by SciPy's rotations."""
    X = np.eye(4)
    for (theta, a, d, alpha), angle in zip(dh.T, q, strict=True):
        X = X @ pose(Rotation.from_euler("z", angle + theta), (0, 0, d))
        X = X @ pose(Rotation.from_euler("x", alpha), (a, 0, 0))
    return X


def test_the_arm_is_told_part_by_part() -> None:
    found = said_arm(message(0, b"hello"), packet(16, packet(0, b"too early")), state())
    assert found.name == "ur5e" and found.checksums == SUMS
    assert found.calibration == "00000011-000000ab-00000000-00000001-deadbeef-00000007"
    np.testing.assert_array_equal(found.dh, DH)
    np.testing.assert_array_equal(found.tcp, TCP)
    np.testing.assert_array_equal(found.q_min, -6.0)
    np.testing.assert_array_equal(found.q_max, 6.0)
    np.testing.assert_array_equal(found.qd_max, 3.0)
    np.testing.assert_array_equal(found.qdd_max, 15.0)


@pytest.mark.parametrize(
    ("number", "cb3", "name"),
    [(1, False, "ur5e"), (2, False, "ur10e"), (3, False, "ur3e"), (4, False, "ur16e"),
     (7, False, "ur20"), (8, False, "ur30"), (1, True, "ur5"), (2, True, "ur10"),
     (3, True, "ur3"), (99, False, ""), (8, True, "")],
)  # fmt: skip
def test_the_number_of_an_arm_is_its_name_by_series(number: int, cb3: bool, name: str) -> None:
    assert said_arm(state(robot_type=number), cb3=cb3).name == name


@given(st.integers(0, 2**32 - 1))
def test_its_model_is_the_table_that_the_factory_measured_and_the_tcp_is_p(seed: int) -> None:
    rng = np.random.default_rng(seed)
    measured = DH + rng.uniform(-1e-3, 1e-3, (4, 6))
    model = said_arm(state(measured)).model()
    X_EP = pose(Rotation.from_rotvec(TCP[3:]), TCP[:3])
    for q in rng.uniform(-3, 3, (5, 6)):
        np.testing.assert_allclose(model.fk(q), forward(measured, q) @ X_EP, atol=1e-12)
    assert model.base == "base" and model.name == "ur5e"
    np.testing.assert_array_equal(model.q_max, np.minimum(arm().q_max, 6.0))
    np.testing.assert_array_equal(model.qd_max, np.minimum(arm().qd_max, 3.0))
    np.testing.assert_array_equal(model.qdd_max, np.minimum(arm().qdd_max, 15.0))
    np.testing.assert_allclose(
        forward(measured, np.zeros(6)), np.linalg.multi_dot(chain_of(measured)), atol=1e-12
    )


def test_the_kinematics_of_another_arm_are_refused() -> None:
    with pytest.raises(RobotError, match=r"put the tool .* m .* those of a ur5e do.*another arm"):
        said_arm(state(DH * [[1], [1.2], [1], [1]])).model()
    with pytest.raises(RobotError, match="those of a ur10e do"):
        said_arm(state()).model("ur10e")


def test_an_arm_that_is_not_known_here_is_as_the_controller_says_if_it_is_named() -> None:
    found = said_arm(state(robot_type=99))
    with pytest.raises(RobotError, match="say it with --model"):
        found.model()
    model = found.model("ur99")
    assert isinstance(model, RobotModel) and model.name == "ur99"
    np.testing.assert_array_equal(model.q_max, 6.0)
    np.testing.assert_array_equal(model.qdd_max, 15.0)


def test_a_state_that_is_too_short_or_none_is_said() -> None:
    short = packet(16, packet(4, b"12") + packet(5, b"34") + packet(6, b"56"))
    with pytest.raises(RobotError, match="shorter than that of any known version"):
        said_arm(short)
    with pytest.raises(RobotError, match=r"a packet of -?\d+ bytes; is it a UR controller\?"):
        said_arm(b"HTTP/1.1 400 Bad Request\r\n")
    with pytest.raises(RobotError, match=r"a packet of 3 bytes"):
        said_arm(struct.pack(">iB", 3, 16))
    here, there = socket.socketpair()
    there.close()
    with pytest.raises(RobotError, match="the robot closed the connection"):
        Primary("robot", make=lambda address, seconds: here).arm()


def test_parts_of_a_state_without_a_size_end_it() -> None:
    body = packet(4, bytes(96)) + struct.pack(">iB", 0, 5) + bytes(50)
    found = said_arm(packet(16, body), state())
    np.testing.assert_array_equal(found.tcp, TCP)


def test_errors_exceptions_and_texts_are_heard_without_waiting_and_the_last_twenty_kept() -> None:
    error = struct.pack(">iiiII", 210, 0, 2, 1, 0) + b"read-only"
    exception = struct.pack(">ii", 12, 3) + b"undefined name"
    said = [message(6, error), message(10, exception), message(0, b" hello "), state()]
    with primary(*said, message(3, b"a version"), message(6, b"short")) as (link, there):
        link.look()
        assert link.said == ["C210A0 read-only", "line 12: undefined name", "hello"]
        link.look()  # nothing has come since
        there.sendall(b"".join(message(0, str(n).encode()) for n in range(30)))
        link.look()
        assert link.said == [str(n) for n in range(10, 30)]
        there.close()
        link.look()
    link.look()  # closed


def test_a_script_is_sent_whole_and_ends_its_line() -> None:
    text = "def program():\n" + "  textmsg(1)\n" * 2000 + "end"
    with primary() as (link, there):
        link.run(text)
        came = b""
        while not came.endswith(b"end\n"):
            came += there.recv(65536)
    assert came.decode() == text + "\n"
