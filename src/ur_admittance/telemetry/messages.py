"""Outputs as ROS 2 messages: their definitions, and their bytes (CDR), many ticks at a time.

A message whose texts stay the same has the same size every time. Its bytes are then constant but
for some numbers, and a batch of them is one NumPy array into which the numbers are written.
"""

from __future__ import annotations

import functools
import json
import re
import struct

import numpy as np

from ur_admittance import faults
from ur_admittance.config import Config
from ur_admittance.config.validate import quaternions_of
from ur_admittance.controller import MODES
from ur_admittance.model import RobotModel

JOINT_STATE = "sensor_msgs/msg/JointState"
WRENCH = "geometry_msgs/msg/WrenchStamped"
POSE = "geometry_msgs/msg/PoseStamped"
TWIST = "geometry_msgs/msg/TwistStamped"
DIAGNOSTICS = "diagnostic_msgs/msg/DiagnosticArray"
STRING = "std_msgs/msg/String"
BYTES = "std_msgs/msg/UInt8MultiArray"

TICK, STATUS, PARAMETERS = "/tick", "/status", "/parameters"

TOPICS = {
    "/joint_states": JOINT_STATE,
    "/wrench_raw": WRENCH,
    "/wrench_compensated": WRENCH,
    "/wrench_probe": WRENCH,
    "/measured_pose": POSE,
    "/commanded_pose": POSE,
    "/desired_pose": POSE,
    "/cartesian_velocity_command": TWIST,
    "/joint_command": JOINT_STATE,
    TICK: BYTES,
    STATUS: DIAGNOSTICS,
    PARAMETERS: STRING,
}

_HEADER = "std_msgs/Header header"
_FIELDS = {
    "builtin_interfaces/Time": "int32 sec\nuint32 nanosec",
    "std_msgs/Header": "builtin_interfaces/Time stamp\nstring frame_id",
    "std_msgs/String": "string data",
    "std_msgs/MultiArrayDimension": "string label\nuint32 size\nuint32 stride",
    "std_msgs/MultiArrayLayout": "std_msgs/MultiArrayDimension[] dim\nuint32 data_offset",
    "std_msgs/UInt8MultiArray": "std_msgs/MultiArrayLayout layout\nuint8[] data",
    "geometry_msgs/Vector3": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Point": "float64 x\nfloat64 y\nfloat64 z",
    "geometry_msgs/Quaternion": "float64 x\nfloat64 y\nfloat64 z\nfloat64 w",
    "geometry_msgs/Pose": "geometry_msgs/Point position\ngeometry_msgs/Quaternion orientation",
    "geometry_msgs/Twist": "geometry_msgs/Vector3 linear\ngeometry_msgs/Vector3 angular",
    "geometry_msgs/Wrench": "geometry_msgs/Vector3 force\ngeometry_msgs/Vector3 torque",
    "geometry_msgs/PoseStamped": f"{_HEADER}\ngeometry_msgs/Pose pose",
    "geometry_msgs/TwistStamped": f"{_HEADER}\ngeometry_msgs/Twist twist",
    "geometry_msgs/WrenchStamped": f"{_HEADER}\ngeometry_msgs/Wrench wrench",
    "sensor_msgs/JointState": (
        f"{_HEADER}\nstring[] name\nfloat64[] position\nfloat64[] velocity\nfloat64[] effort"
    ),
    "diagnostic_msgs/KeyValue": "string key\nstring value",
    "diagnostic_msgs/DiagnosticStatus": (
        "byte OK=0\nbyte WARN=1\nbyte ERROR=2\nbyte STALE=3\nbyte level\nstring name\n"
        "string message\nstring hardware_id\ndiagnostic_msgs/KeyValue[] values"
    ),
    "diagnostic_msgs/DiagnosticArray": f"{_HEADER}\ndiagnostic_msgs/DiagnosticStatus[] status",
}
_OK, _WARN, _ERROR = 0, 1, 2
_LEVELS = {"limit": _WARN, "warn": _WARN, "hold": _ERROR, "stop": _ERROR}


def definition(kind: str) -> str:
    """The definition of a message such as 'std_msgs/msg/String', with all that it is made of."""
    needed = [kind.replace("/msg/", "/")]
    for name in needed:  # grows while it is walked
        for line in _FIELDS[name].splitlines():
            inner = line.split()[0].removesuffix("[]")
            if inner in _FIELDS and inner not in needed:
                needed.append(inner)
    first, *others = needed
    rule = "=" * 80
    return _FIELDS[first] + "".join(f"\n{rule}\nMSG: {name}\n{_FIELDS[name]}" for name in others)


class Message:
    """The bytes of one message in CDR (little endian), with holes for numbers."""

    def __init__(self) -> None:
        self.data = bytearray(b"\0\1\0\0")  # alignment counts from behind these four
        self._holes: dict[str, tuple[np.dtype, int]] = {}

    def number(self, form: str, value: int) -> Message:
        """A number that stays, in a format of `struct`."""
        self._align(struct.calcsize(form))
        self.data += struct.pack(f"<{form}", value)
        return self

    def text(self, text: str) -> Message:
        data = text.encode() + b"\0"
        self.number("I", len(data))
        self.data += data
        return self

    def hole(self, name: str, kind: str, count: int) -> Message:
        """So many numbers of a NumPy type, to be filled in later."""
        form = np.dtype((kind, (count,)))
        self._align(form.base.itemsize)
        self._holes[name] = form, len(self.data)
        self.data += bytes(form.itemsize)
        return self

    def filled(self, count: int, **numbers: np.ndarray) -> np.ndarray:
        """`count` such messages, a row of bytes each."""
        forms, offsets = zip(*self._holes.values(), strict=True)
        kind = np.dtype(
            {
                "names": list(self._holes),
                "formats": forms,
                "offsets": offsets,
                "itemsize": len(self.data),
            }
        )
        rows = np.empty((count, len(self.data)), np.uint8)
        rows[:] = np.frombuffer(self.data, np.uint8)
        for name, values in numbers.items():
            rows.view(kind)[:, 0][name] = values
        return rows

    def _align(self, size: int) -> None:
        self.data += bytes(-(len(self.data) - 4) % size)


def _stamped(frame: str) -> Message:
    return Message().hole("stamp", "<u4", 2).text(frame)


def _joints(names: tuple[str, ...], *given: str) -> Message:
    message = _stamped("").number("I", len(names))
    for name in names:
        message.text(name)
    for part in ("position", "velocity", "effort"):
        message.number("I", len(names) if part in given else 0)
        if part in given:
            message.hole(part, "<f8", len(names))
    return message


def _vectors(frame: str, count: int) -> Message:
    return _stamped(frame).hole("numbers", "<f8", count)


class Encoder:
    """Turns outputs records into the messages of the topics that have one each tick."""

    def __init__(self, model: RobotModel, config: Config) -> None:
        sensor, probe, world = config.ft_frame, config.tip, model.base
        self._measured = _joints(model.joint_names, "position")
        self._commanded = _joints(model.joint_names, "position", "velocity")
        self._sensor, self._probe = _vectors(sensor, 6), _vectors(probe, 6)
        self._pose, self._twist = _vectors(world, 7), _vectors(world, 6)
        self._first: dict[str, np.ndarray] = {}

    def encode(self, records: np.ndarray, stamps: np.ndarray) -> dict[str, np.ndarray]:
        """One row of bytes a tick, by topic. `stamps`: ns since 1970."""
        n = len(records)
        stamp = np.stack(np.divmod(stamps, 1_000_000_000), axis=1)

        def six(message: Message, field: str) -> np.ndarray:
            return message.filled(n, stamp=stamp, numbers=records[field])

        def seven(field: str) -> np.ndarray:
            X = records[field]
            wxyz = self._steady(field, quaternions_of(X[:, :3, :3]))
            numbers = np.concatenate([X[:, :3, 3], wxyz[:, 1:], wxyz[:, :1]], axis=1)  # ROS: xyzw
            return self._pose.filled(n, stamp=stamp, numbers=numbers)

        return {
            "/joint_states": self._measured.filled(n, stamp=stamp, position=records["inputs"]["q"]),
            "/wrench_raw": six(self._sensor, "wrench"),
            "/wrench_compensated": six(self._sensor, "F_S_comp"),
            "/wrench_probe": six(self._probe, "F_P"),
            "/measured_pose": seven("X_WP"),
            "/commanded_pose": seven("X_WC"),
            "/desired_pose": seven("X_WD"),
            "/cartesian_velocity_command": six(self._twist, "V_WP_cmd"),
            "/joint_command": self._commanded.filled(
                n, stamp=stamp, position=records["q_ref"], velocity=records["qd"]
            ),
            TICK: _raw(records),
        }

    def _steady(self, field: str, wxyz: np.ndarray) -> np.ndarray:
        """Of q and -q, which are one rotation, the one nearer to the first: plots do not jump."""
        first = self._first.setdefault(field, wxyz[0].copy())
        return np.where((wxyz @ first < 0.0)[:, None], -wxyz, wxyz)


def _raw(records: np.ndarray) -> np.ndarray:
    """The records themselves, each an array of bytes without a layout."""
    size = records.dtype.itemsize
    message = Message().number("I", 0).number("I", 0).number("I", size).hole("data", "u1", size)
    data = np.ascontiguousarray(records).view(np.uint8).reshape(len(records), size)
    return message.filled(len(records), data=data)


def raw_of(message: memoryview) -> memoryview:
    """The record in a message made by `_raw`."""
    return message[16:]


def string(text: str) -> bytes:
    """A std_msgs/msg/String."""
    return bytes(Message().text(text).data)


def string_of(message: memoryview) -> str:
    """The text in a std_msgs/msg/String."""
    (size,) = struct.unpack_from("<I", message, 4)
    return bytes(message[8 : 7 + size]).decode()


def parameters(generation: int, text: str) -> bytes:
    """A std_msgs/msg/String with a configuration as YAML, each parameter on its own lines."""
    if text.startswith("{"):  # JSON, as changes are sent: a hundred times quicker to take apart
        values = json.loads(text).items()
        text = "{\n" + ",\n".join(f"{json.dumps(k)}: {json.dumps(v)}" for k, v in values) + "\n}"
    return string(f"# generation {generation}\n{text}")


def parameters_of(text: str) -> tuple[int, str]:
    """The generation and the YAML in what `parameters` made."""
    match = re.match(r"# generation (-?\d+)\n", text)
    return (int(match[1]), text[match.end() :]) if match else (0, text)


def diagnostics(stamp: int, robot: str, mode: int, status: int) -> bytes:
    """A diagnostic_msgs/msg/DiagnosticArray that says what the status says. `stamp`: ns since 1970.

    Every fault has a value, 0 or 1, so that plots show when it was there.
    """
    seconds, rest = divmod(stamp, 1_000_000_000)
    message = _diagnostics(robot, mode, status)
    return message[:4] + struct.pack("<iI", seconds, rest) + message[12:]


@functools.lru_cache(1024)
def _diagnostics(robot: str, mode: int, status: int) -> bytes:
    reasons = [fault for fault in faults.FAULTS if status & fault.mask]
    level = max((_LEVELS[fault.reaction] for fault in reasons), default=_OK)
    words = "; ".join([MODES[mode], *faults.words_of(status)])
    message = _stamped("").number("I", 1).number("B", level)
    message.text("ur_admittance").text(words).text(robot)
    message.number("I", 2 + len(faults.FAULTS))
    message.text("mode").text(MODES[mode]).text("status").text(str(status))
    for fault in faults.FAULTS:
        message.text(fault.name).text(str(int(fault in reasons)))
    return bytes(message.data)
