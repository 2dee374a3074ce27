"""The wrench pipeline as a ROS 2 process of its own: raw samples in, what the tool feels out.

    /netft/raw_sensor -> bias, gravity, filter, deadband -> /netft/proc_sensor, /netft/proc_probe

The numbers are the control tick's own: a controller that is never active takes the samples in, and
its `F_S` and `F_P` go out.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from rclpy.qos import QoSProfile
from sensor_msgs.msg import JointState
from std_srvs.srv import Trigger

from ur_admittance.calibration.tare import tare
from ur_admittance.config import Config
from ur_admittance.controller import Controller
from ur_admittance.errors import AdmittanceError, ConfigError
from ur_admittance.faults import words_of
from ur_admittance.kernel import bits
from ur_admittance.model import RobotModel
from ur_admittance.robots.ros2 import topics, wire
from ur_admittance.robots.ros2.hearing import Hearing
from ur_admittance.robots.ros2.readers import JointReader

NAME = "wrench_node"
OUTPUTS = QoSProfile(depth=10)  # reliable: that serves subscribers of either kind
_PATIENCE = 0.05  # s between two looks at the service
_LOOK = 0.002  # s between two looks at the samples, where none wakes it: so that their age is known
_REPEAT, _MANY = 5.0, 100  # s between the same words, and how many different ones are remembered
_PAUSE = 0.05  # s between two looks, beyond which this process could not run
_GRACE = 0.02  # s after that, in which DDS may still hand over what waited meanwhile

# With any of these nothing goes out: whoever listens sees the wrench grow old, and stops. A gap in
# time is over when the tick sees it.
_UNFIT = (bits.HOLDS | bits.STOPS | bits.WRENCH_NOT_FINITE) & ~bits.TIME_GAP


class WrenchNode:
    """Compensates every raw sample as it comes, by the newest joint angles.

    Attributes:
        controller: whose numbers are published; never active.
        published: samples that went out.
        dropped: samples that did not: they, or the joint angles, were not fit to use.
    """

    def __init__(self, node: Any, model: RobotModel, config: Config) -> None:
        """
        Args:
            node: an rclpy node that no executor spins.
            model: the arm, with sensor and probe.
            config: bias and payload, filter and deadband, names of frames, timeouts.
        """
        if config.payload.compensate_inertia:
            raise ConfigError(
                "payload.compensate_inertia: the wrench node does not know what motion is "
                "commanded; set it to false, or let the admittance node take the raw wrench"
            )
        # Too great a force is for the listener to judge, so it must not be cut here.
        uncut = {"safety.max_force": 5000.0, "safety.max_torque": 1000.0}
        self.controller = Controller(model, config.replace(uncut))
        self.published, self.dropped = 0, 0
        self._node, self._ft_frame = node, config.ft_frame
        self._joints = wire.Inbox(node, JointState, topics.JOINT_STATES, raw=True)
        self._raw = wire.Inbox(node, WrenchStamped, topics.NETFT_RAW)
        self._reader = JointReader(model.joint_names)
        self._service = node.create_service(Trigger, topics.TARE, self._tare)
        self._outputs = []
        for field, topic, frame in (
            ("F_S", topics.NETFT_PROC_SENSOR, config.ft_frame),
            ("F_P", topics.NETFT_PROC_PROBE, config.tip),
        ):
            message = WrenchStamped()
            message.header.frame_id = frame
            publisher = node.create_publisher(WrenchStamped, topic, OUTPUTS)
            self._outputs.append((field, message, publisher))
        self._q, self._qd = np.full(6, np.nan), np.empty(6)
        self._joints_arrived, self._stamp = -np.inf, 0
        self._begun, self._started = False, 0.0
        names = (topics.ROBOT_DESCRIPTION, topics.JOINT_STATES, topics.NETFT_RAW)
        self._hearing = Hearing(node, *map(node.resolve_topic_name, names))
        self._said: dict[str, float] = {}  # when, s

    def run(self, seconds: float | None, asked: list[int]) -> None:
        """Process samples until `seconds` have passed, or `asked` is no longer empty.

        Raises:
            Deaf: nothing is heard, though there is something to hear: make the node anew.
        """
        try:
            self._run(seconds, asked)
        finally:
            self._hearing.close()

    def _run(self, seconds: float | None, asked: list[int]) -> None:
        bell = wire.Bell(self._node, self._raw)
        end = np.inf if seconds is None else time.monotonic() + seconds
        next_answer, self._started = 0.0, time.monotonic()
        awake, paused, doubtful = self._started, self._started, -np.inf
        while not asked and time.monotonic() < end:
            bell.wait(_LOOK)
            now = time.monotonic()
            if now - awake > _PAUSE:
                paused, doubtful = awake, now + _GRACE
            awake = now
            before = min(self._raw.emptied, paused) if now <= doubtful else self._raw.emptied
            for joints in self._joints.new():
                if self._reader.read(joints, self._q, self._qd):
                    self._joints_arrived = self._joints.arrived
            for sample in self._raw.new():
                self._process(sample, before)
            if time.monotonic() > next_answer:
                next_answer = time.monotonic() + _PATIENCE
                self._answer()
                self._listen_well()

    def _process(self, sample: Any, before: float) -> None:
        """
        Args:
            before: when it had not come yet, s on the monotonic clock. DDS cannot tell: while this
                process is stopped, it receives nothing either, and some time after.
        """
        stamp = sample.header.stamp.sec * 1_000_000_000 + sample.header.stamp.nanosec
        dt, self._stamp = 1e-9 * (stamp - self._stamp), stamp
        if not self._begun:
            if not np.isfinite(self._q).all():
                why = self._reader.problem or "no joint angles yet"
                self._say(f"nothing published: {topics.JOINT_STATES}: {why}")
                return
            # The tick after an activation takes its sample as it is, without a filter's past.
            self.controller.activate(self._q)
            self.controller.deactivate()
            self._begun = True
        frame = sample.header.frame_id
        if frame not in ("", self._ft_frame):
            self._say(f"{topics.NETFT_RAW} is in {frame!r}, taken for ft_frame {self._ft_frame!r}")
        # What waited while this process could not run must not go out again as if it were new.
        now = time.monotonic()
        wrench = np.array(wire.six_of_wrench(sample.wrench))
        out = self.controller.update(
            self._q, wrench, dt, now - max(before, self._started), now - self._joints_arrived
        )
        unfit = int(out["status"]) & _UNFIT
        if unfit:
            self.dropped += 1
            self._say(f"nothing published: {'; '.join(words_of(unfit))}")
            return
        for field, message, publisher in self._outputs:
            message.header.stamp = sample.header.stamp
            wire.fill_wrench(message.wrench, out[field])
            publisher.publish(message)
        self.published += 1

    def _listen_well(self) -> None:
        resolve = self._node.resolve_topic_name
        inboxes = {topics.JOINT_STATES: self._joints, topics.NETFT_RAW: self._raw}
        self._hearing.check({resolve(name): inbox.count > 0 for name, inbox in inboxes.items()})

    def _say(self, words: str) -> None:
        """Each thing at most once in 5 s."""
        now = time.monotonic()
        if now - self._said.get(words, -np.inf) < _REPEAT:
            return
        if len(self._said) > _MANY:
            self._said.clear()
        self._said[words] = now
        self._node.get_logger().warning(words)

    def _answer(self) -> None:
        """Serve whoever has called, without an executor."""
        with self._service.handle:
            request, header = self._service.handle.service_take_request(Trigger.Request)
        if header is not None:
            self._service.send_response(self._tare(request, Trigger.Response()), header)

    def _tare(self, _: Any, response: Any) -> Any:
        try:
            controller = self.controller
            bias = tare(controller.config, controller.params, controller.trace())
            self.controller.set(bias)
        except AdmittanceError as error:
            response.message = str(error)
            return response
        force, torque = bias.values()
        response.success = True
        response.message = f"bias is now {np.round(force, 3)} N, {np.round(torque, 4)} Nm"
        return response
