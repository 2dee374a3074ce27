"""Joint states and wrenches read from their bytes, in place.

Making Python objects of one joint state and one wrench takes longer than everything else that
happens to them (`benchmarks/ros2.py`). What does not look as expected is read through such objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.serialization import deserialize_message
from sensor_msgs.msg import JointState

from ur_admittance.robots.ros2.wire import six_of_wrench

_STAMP_END = 12  # bytes of a stamped message before its frame_id
_LITTLE_ENDIAN = b"\0\1\0\0"


class WrenchReader:
    """Reads geometry_msgs/WrenchStamped from its bytes: six numbers, which end the message.

    Attributes:
        frame: frame_id of the newest.
        only: the one frame_id to believe; None: any.
    """

    def __init__(self) -> None:
        self.frame = ""
        self.only: str | None = None
        self._head, self._plain = b"", False

    def read(self, data: bytes, wrench: np.ndarray) -> bool:
        """Write [force; torque] into `wrench` (6,), N and N m.

        Returns False, and writes nothing, if it is given in another frame than the one to believe.
        """
        if data[_STAMP_END:-48] != self._head or self._plain:
            return self._learn(data, wrench)
        wrench[:] = np.frombuffer(data, np.float64, 6, len(data) - 48)
        return True

    def _learn(self, data: bytes, wrench: np.ndarray) -> bool:
        message = deserialize_message(data, WrenchStamped)
        self.frame = message.header.frame_id
        if self.only is not None and self.frame != self.only:
            return False
        self._head = data[_STAMP_END:-48]
        wrench[:] = six_of_wrench(message.wrench)
        found = np.frombuffer(data, np.float64, 6, len(data) - 48)
        self._plain = not _as_expected(data, found, wrench)
        return True


class _Layout(NamedTuple):
    """Where the numbers are in joint states of one list of names."""

    head: bytes  # what stands between stamp and positions
    q: int  # byte at which the positions begin
    qd: int  # likewise the velocities; 0: there are none
    count: int  # of joints
    index: np.ndarray | None  # of our joints among them; None: of no use
    problem: str
    plain: bool  # not as expected: make a message object of it


class JointReader:
    """Reads sensor_msgs/JointState from its bytes, by name, whatever order the names come in.

    Where the numbers are is found once for each list of names, and remembered from then on.

    Attributes:
        problem: why the last message was of no use, in words; "" if it was, or was not for us.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.problem = ""
        self._names = tuple(names)
        self._layouts: dict[int, _Layout] = {}  # by size of the message

    def read(self, data: bytes, q: np.ndarray, qd: np.ndarray) -> bool:
        """Write positions [rad] and rates [rad/s] into `q` and `qd` (6,).

        Rates that the message does not have are NaN. Returns False, and writes nothing, if it lacks
        one of the joints. One that lacks all of them is another device's, and no problem.
        """
        layout = self._layouts.get(len(data))
        if layout is None or layout.plain or data[_STAMP_END : layout.q] != layout.head:
            return self._learn(data, q, qd)
        self.problem, index = layout.problem, layout.index
        if index is None:
            return False
        q[:] = np.frombuffer(data, np.float64, layout.count, layout.q)[index]
        if layout.qd:
            qd[:] = np.frombuffer(data, np.float64, layout.count, layout.qd)[index]
        else:
            qd[:] = np.nan
        return True

    def _learn(self, data: bytes, q: np.ndarray, qd: np.ndarray) -> bool:
        message = deserialize_message(data, JointState)
        names = list(message.name)
        self.problem = self._problem_with(message)
        index = None
        if not self.problem and self._names[0] in names:
            index = np.array([names.index(name) for name in self._names])
        at_q, at_qd = _places(data, message)
        plain = False
        if index is not None:
            q[:] = np.array(message.position)[index]
            qd[:] = np.array(message.velocity)[index] if at_qd else np.nan
            found = np.frombuffer(data, np.float64, len(names), at_q)[index]
            plain = not _as_expected(data, found, q)
        head = data[_STAMP_END:at_q]
        self._layouts[len(data)] = _Layout(
            head, at_q, at_qd, len(names), index, self.problem, plain
        )
        return index is not None

    def _problem_with(self, message: Any) -> str:
        names = set(message.name)
        missing = [name for name in self._names if name not in names]
        if missing and len(missing) < len(self._names):
            return f"it lacks {', '.join(missing)}; it has {', '.join(message.name)}"
        if not missing and len(message.position) != len(message.name):
            return f"it has {len(message.name)} names and {len(message.position)} positions"
        return ""


def _places(data: bytes, message: Any) -> tuple[int, int]:
    """Where positions and velocities begin in the bytes of a joint state; 0: there are none.

    A text is its length [4 bytes], its bytes and a zero. Numbers lie at multiples of their size,
    counted from behind the first four bytes.
    """
    at = _STAMP_END
    for text in (message.header.frame_id, None, *message.name):
        at = 4 + _up(at - 4, 4) + (4 if text is None else 4 + len(text.encode()) + 1)
    q = 4 + _up(4 + _up(at - 4, 4) + 4 - 4, 8)
    if not message.position or len(message.velocity) != len(message.name):
        return q, 0
    return q, 4 + _up(q + 8 * len(message.position) + 4 - 4, 8)


def _up(number: int, step: int) -> int:
    return -(-number // step) * step


def _as_expected(data: bytes, found: np.ndarray, expected: np.ndarray) -> bool:
    return data[:4] == _LITTLE_ENDIAN and np.array_equal(found, expected, equal_nan=True)
