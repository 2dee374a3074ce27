"""`/tf` and `/tf_static`, where the user's ROS has tf2_msgs: for a sensor frame the URDF lacks."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from typing import Any

from rclpy.serialization import deserialize_message

from ur_admittance.config import Config
from ur_admittance.errors import ModelError
from ur_admittance.model import RobotModel
from ur_admittance.ros2 import topics, wire
from ur_admittance.ros2.frames import SensorFrame
from ur_admittance.transforms import transform


class Transforms:
    """Listens to the transforms, but only when the sensor frame has to come from there."""

    def __init__(self, io: Any, resolve: Callable[[str], str]) -> None:
        """
        Args:
            io: a node that no executor spins.
            resolve: makes the real name of a topic.
        """
        self._io, self._resolve = io, resolve
        self._inboxes: list[tuple[wire.Inbox, bool]] = []
        self._kind: Any = None

    def model_from(self, text: str, config: Config) -> tuple[RobotModel, SensorFrame | None]:
        """As `wire.model_from`; for a sensor frame that is no link of it, the sensor is placed at
        the tip, and the second value says where it really is.
        """
        if f'"{config.ft_frame}"' in text or config.ft_frame == config.tip:
            return wire.model_from(text, config), None
        self._listen(config.ft_frame)
        sensor = SensorFrame(config.tip, config.ft_frame)
        return wire.model_from(text, config.replace({"ft_frame": config.tip})), sensor

    def look(self, sensor: SensorFrame) -> None:
        """Hand over the transforms that have arrived and may matter."""
        for inbox, static in self._inboxes:
            for data in inbox.new():
                if sensor.mentioned(data):
                    self._read(data, sensor, static)

    def _read(self, data: bytes, sensor: SensorFrame, static: bool) -> None:
        for stamped in deserialize_message(data, self._kind).transforms:
            p, o = stamped.transform.translation, stamped.transform.rotation
            sensor.put(
                stamped.header.frame_id,
                stamped.child_frame_id,
                transform([p.x, p.y, p.z], [o.w, o.x, o.y, o.z]),
                time.monotonic(),
                static=static,
            )

    def _listen(self, frame: str) -> None:
        if self._inboxes:
            return
        try:
            self._kind = importlib.import_module("tf2_msgs.msg").TFMessage
        except ImportError:
            raise ModelError(
                f"ft_frame: {frame!r} is no link of it, and this ROS has no tf2_msgs to hear of it "
                "on /tf; name a link, or install tf2_msgs"
            ) from None
        for topic, static in ((topics.TF, False), (topics.TF_STATIC, True)):
            name, quality = self._resolve(topic), wire.MANY_LATCHED if static else wire.MANY
            inbox = wire.Inbox(self._io, self._kind, name, quality, raw=True)
            self._inboxes.append((inbox, static))
