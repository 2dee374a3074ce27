"""`/tf` and `/tf_static`, where the user's ROS has tf2_msgs: for a sensor frame the URDF lacks, and
for frames in which a force or the law's axes are given.
"""

from __future__ import annotations

import importlib
import struct
import time
from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import numpy as np
from rclpy.serialization import deserialize_message

from ur_admittance.config import Config
from ur_admittance.config.validate import transform
from ur_admittance.errors import ModelError
from ur_admittance.model import RobotModel
from ur_admittance.model.urdf_parser import parse
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.relation import Relation
from ur_admittance.robots.ros2.sensor_frame import SensorFrame

_FIRST = 1.0  # s for the first transforms, after beginning to listen
_QUIET = 5.0  # s before the next warning
_R = TypeVar("_R", bound=Relation)
_SIZE, _NUMBERS = struct.Struct("<I"), struct.Struct("<7d")


class Transforms:
    """Listens to the transforms, but only when a frame has to come from there."""

    def __init__(self, io: Any, resolve: Callable[[str], str], logger: Any) -> None:
        """
        Args:
            io: a node that no executor spins.
            resolve: makes the real name of a topic.
            logger: of the node, to tell of a transform that is of no use.
        """
        self._io, self._resolve, self._logger = io, resolve, logger
        self._inboxes: list[tuple[wire.Inbox, bool]] = []
        self._kind: Any = None
        self._sensor: SensorFrame | None = None
        self._relations: list[Relation] = []
        self._statics: dict[str, tuple[str, np.ndarray]] = {}  # by child: parent, and its pose

    def model_from(self, text: str, config: Config) -> RobotModel:
        """As `wire.model_from`; a sensor frame that is no link is looked for among the transforms.

        Raises:
            ModelError: as `wire.model_from`; or the sensor frame is neither here nor there.
        """
        frame = config.ft_frame
        model = wire.model_from(text, config.replace({"ft_frame": config.tip}))
        if frame == config.tip or frame in {body.name for body in parse(text).bodies}:
            return wire.model_from(text, config)
        if self._sensor is None:
            try:
                self._sensor = self.follow(SensorFrame(config.tip, frame))
            except ModelError as error:
                raise ModelError(
                    f"ft_frame: {frame!r} is no link of it, and {error}; or name a link"
                ) from None
            deadline = time.monotonic() + _FIRST
            while self._sensor.X is None and time.monotonic() < deadline:
                time.sleep(0.01)
                self.look()
        self.look()
        X_ES = self._sensor.fixed()
        if X_ES is None:
            raise ModelError(f"ft_frame: {frame!r} is no link of it, and {self.problem()}")
        return model.with_tool(X_ES=X_ES)

    def follow(self, relation: _R) -> _R:
        """Keep two frames' relation up to date from now on.

        Raises:
            ModelError: this ROS has no transforms.
        """
        self._listen()
        for child, (parent, X) in self._statics.items():  # they came once, and may be long gone
            relation.put(parent, child, X, 0.0, static=True)
        self._relations.append(relation)
        return relation

    def look(self) -> None:
        """Take in the transforms that have arrived and may matter. Never waits."""
        for inbox, static in self._inboxes:
            for data in inbox.new():
                if static or any(relation.mentioned(data) for relation in self._relations):
                    self._read(data, inbox.arrived, static)

    def problem(self, *, moving: bool = False) -> str:
        """See `SensorFrame.problem`; "" where the model says where the sensor is."""
        sensor = self._sensor
        return "" if sensor is None else sensor.problem(time.monotonic(), moving=moving)

    def _read(self, data: bytes, arrived: float, static: bool) -> None:
        try:
            entries = list(entries_of(data, self._kind))
        except struct.error:
            self._warn(f"a message of {len(data)} bytes ends too early; it is of no use", static)
            return
        for parent, child, (*position, x, y, z, w) in entries:
            concerned = [each for each in self._relations if each.wanted(child)]
            if not (static or concerned):
                continue
            try:
                X = transform(position, [w, x, y, z])
            except ModelError as error:
                self._warn(f"the transform of {child} is of no use: {error}", static)
                continue
            if static:
                self._statics[child] = parent, X
            for relation in concerned:
                relation.put(parent, child, X, arrived, static=static)

    def _warn(self, words: str, static: bool) -> None:
        topic = self._resolve(topics.TF_STATIC if static else topics.TF)
        self._logger.warning(f"{topic}: {words}", throttle_duration_sec=_QUIET)

    def _listen(self) -> None:
        if self._inboxes:
            return
        try:
            self._kind = importlib.import_module("tf2_msgs.msg").TFMessage
        except ImportError:
            raise ModelError(
                "this ROS has no tf2_msgs to hear of it on /tf; install tf2_msgs"
            ) from None
        for topic, static in ((topics.TF, False), (topics.TF_STATIC, True)):
            name, quality = self._resolve(topic), wire.MANY_LATCHED if static else wire.MANY
            inbox = wire.Inbox(self._io, self._kind, name, quality, raw=True)
            self._inboxes.append((inbox, static))


def entries_of(data: bytes, kind: Any) -> Iterator[tuple[str, str, tuple[float, ...]]]:
    """Each transform in the bytes of a message: parent, child, and (x, y, z, qx, qy, qz, qw).

    They are read in place, as in `readers.py`: to make Python objects of a hundred of them takes
    milliseconds. Numbers lie at multiples of their size, counted from behind the first four bytes.
    """
    if data[:2] != b"\0\1":  # the other end first
        for stamped in deserialize_message(data, kind).transforms:
            p, o = stamped.transform.translation, stamped.transform.rotation
            numbers = (p.x, p.y, p.z, o.x, o.y, o.z, o.w)
            yield stamped.header.frame_id.lstrip("/"), stamped.child_frame_id.lstrip("/"), numbers
        return
    (count,), at = _SIZE.unpack_from(data, 4), 8
    for _ in range(count):
        at += -at % 4 + 8  # the stamp
        names = []
        for _ in range(2):
            at += -at % 4
            (size,) = _SIZE.unpack_from(data, at)
            names.append(data[at + 4 : at + 3 + size].decode(errors="replace").lstrip("/"))
            at += 4 + size
        at += (4 - at) % 8
        yield names[0], names[1], _NUMBERS.unpack_from(data, at)
        at += _NUMBERS.size
