"""An arm on a ROS 2 graph: joint states and wrenches come in as topics, commands go out as one.

The joint states are the clock, or a timer is (`pacing.py`). Nothing here spins an executor:
messages are taken when the loop asks for them.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import ExitStack
from typing import Any

import numpy as np
from geometry_msgs.msg import WrenchStamped
from numpy.typing import ArrayLike
from sensor_msgs.msg import JointState

from ur_admittance.config import Config
from ur_admittance.config.validate import as_sign, as_time_from_start, six
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel
from ur_admittance.robots.base import Robot, State
from ur_admittance.robots.ros2 import hearing, topics, wire
from ur_admittance.robots.ros2.commands import Commands
from ur_admittance.robots.ros2.pacing import ByJointStates, ByTimer, paced
from ur_admittance.robots.ros2.readers import JointReader, WrenchReader

_PATIENCE = 5.0  # s, for everything to arrive when connecting
_MATCHING = 2.0  # s for the other side to find our publisher
_TROUBLE = 0.1  # s between two looks at who else is on the graph
_MEANWHILE = 0.04  # s between two calls of what is done meanwhile


class Ros2Robot(Robot):
    """The arm behind `/joint_states` and a command topic.

        with robots.connect("ros2", model="ur5e") as robot:
            state = robot.wait()
            robot.send_velocity(np.zeros(6))

    A state that does not come is not waited for for ever: after five periods `wait` returns the old
    one, whose age tells the controller to brake.

    Attributes:
        joints, wrenches: where the messages arrive.
        commands: where ours go out.
        pace: what the loop waits for.
        heard: joint states of use so far, those that were lost included.
        problem: why the last joint state was of no use, in words; "" if it was.
        senders: who sent joint states and wrenches of use, by topic, since it was last emptied.
        strange: why a wrench was not believed since `keep_frame`; or None.
        told: called with every velocity before it is sent, rad/s (6,).
        resolve: makes the real name of a topic, where names are remapped.
        meanwhile: called now and then by a `look` that takes its time.
    """

    def __init__(
        self,
        *,
        model: str | RobotModel | None = None,
        config: Config | None = None,
        wrench: str = topics.WRIST_FT,
        sign: int = 1,
        watch: bool = False,
        node: Any = None,
        resolve: Callable[[str], str] = str,
        name: str = "ros2",
    ) -> None:
        """
        Args:
            model: an arm, the name of one, or a URDF file; default: what `/robot_description` says.
            config: gives names of joints and frames, rate and kind of command.
            wrench: topic of the wrench. What comes on `/netft/proc_probe` is taken as compensated,
                and as given at the probe.
            sign: -1 for a sensor that reports the reaction.
            watch: only to look at the arm; else `connect` sees to it that somebody listens to the
                commands, and that nobody else gives any.
            node: an rclpy node that no executor spins; default: one of its own.
            resolve: makes the real name of a topic, where names are remapped.
            name: of this robot, in messages and on the blackboard.
        """
        self.config = Config() if config is None else config
        self.led_by = "velocity" if self.config.output.mode == "velocity" else "position"
        wire.refuse_places(self.config)
        self.problem, self.strange = "", None
        self._given = wire.model_named(model, self.config) if isinstance(model, str) else model
        self._wrench_topic, self._sign, self._name, self._watch = (
            wrench,
            as_sign("Ros2Robot", sign),
            name,
            watch,
        )
        self._node, self.resolve = node, resolve
        self._owned, self._own_participant = ExitStack(), False
        self._state = State()
        self._state.wrenches = 0
        self._q, self._qd, self._q_before = np.full((3, 6), np.nan)
        self._count = self._felt = self.heard = 0
        self.senders: dict[str, set[bytes]] = {topics.JOINT_STATES: set(), wrench: set()}
        self.told: Callable[[np.ndarray], None] | None = None
        self.meanwhile: Callable[[], None] | None = None
        self._next_look = self._next_meanwhile = 0.0

    # --- the protocol ---

    def connect(self) -> None:
        """As every robot: waits for the description, if it needs it, a joint state and a wrench."""
        self._require("not connected", "connect")
        try:
            try:
                self._hear()
            except hearing.Deaf:  # it has said so
                self._owned.close()
                self._node, self._life = None, "not connected"
                self._hear()
            self.see_sensor()
            if not self._watch and (found := self.claim(self.config.output.mode)):
                raise RobotError(f"connect: {found}")
        except BaseException:
            self.close()
            raise

    def listen(self) -> None:
        """Open the connection, and wait for nothing but the description, if that is needed."""
        self._require("not connected", "listen")
        if self._node is None:
            self._own_participant = not wire.rclpy.ok()
            self._owned.enter_context(wire.started())
            self._node = wire.rclpy.create_node(
                "ur_admittance", start_parameter_services=False, enable_rosout=False
            )
            self._owned.callback(self._node.destroy_node)
            self.resolve = self._node.resolve_topic_name
        self._model = self._given or self._described()
        names = self._model.joint_names
        self._joint_reader, self._wrench_reader = JointReader(names), WrenchReader()
        self.joints = self._inbox(JointState, topics.JOINT_STATES)
        self.wrenches = self._inbox(WrenchStamped, self._wrench_topic)
        self._bell = wire.Bell(self._node, self.joints)
        self.pace = paced(self.config.clock, self.rate, self._bell, self._take)
        self.commands = Commands(self._node, names, self.resolve)
        self._life = "connected"

    def wait(self) -> State:
        self._require("connected", "wait")
        state = self._state
        self.pace.wait(state, self.spin)
        if self.slow_states and math.isfinite(state.joint_time):
            state.q[:] = self._q + (state.tick_time - state.joint_time) * self._qd
        return state

    @property
    def slow_states(self) -> float:
        """How often joint states come, Hz, if they are predicted in between; else 0."""
        return self.pace.slow if isinstance(self.pace, ByTimer) else 0.0

    def send_velocity(self, qd: ArrayLike) -> None:
        """As every robot. How long it lasts is up to the controller on the other side: ROS's
        `forward_velocity_controller` has no watchdog.
        """
        self._require("connected", "send_velocity")
        rates = six("send_velocity", "qd", "rad/s", qd)
        if self.told is not None:
            self.told(rates)
        self.commands.send("velocity", rates.tolist())

    def send_position(self, q_ref: ArrayLike) -> None:
        self._require("connected", "send_position")
        self.commands.send("position", six("send_position", "q_ref", "rad", q_ref).tolist())

    def send_trajectory(self, q_ref: ArrayLike, qd: ArrayLike, time_from_start: float) -> None:
        self._require("connected", "send_trajectory")
        seconds = as_time_from_start(time_from_start)
        angles = six("send_trajectory", "q_ref", "rad", q_ref).tolist()
        rates = six("send_trajectory", "qd", "rad/s", qd).tolist()
        self.commands.send_trajectory(angles, rates, seconds)

    def stop(self) -> None:
        """As every robot: a velocity of zero. Positions and trajectories hold where they are."""
        self._require("connected", "stop")
        if self.commands.publishes("velocity"):
            self.send_velocity(np.zeros(6))

    def close(self) -> None:
        if self._life == "connected":
            self.stop()
            self.release()
            self.joints.close()
            self.wrenches.close()
        self._owned.close()
        self._life = "closed"

    @property
    def name(self) -> str:
        return self._name

    @property
    def model(self) -> RobotModel:
        return self._model

    @property
    def rate(self) -> float:
        return self.config.control_rate

    @property
    def wrench_frame(self) -> str:
        return self._wrench_reader.frame

    @property
    def wrench_compensated(self) -> bool:
        return self._wrench_topic == topics.NETFT_PROC_PROBE

    # --- what only a graph has ---

    def claim(self, mode: str) -> str:
        """Become the publisher of the command topic for `output.mode` `mode`.

        Returns what stands against it, in words; "" if it is ours.
        """
        found = str(self.commands.others(mode) or "")
        if not found:
            publisher, deadline = self.commands.publisher(mode), time.monotonic() + _MATCHING
            while not publisher.get_subscription_count() and time.monotonic() < deadline:
                self.look(0.02)
            if not publisher.get_subscription_count():
                found = (
                    f"nobody listens on {self.commands.topic(mode)}; load and activate that "
                    "controller, or choose another output.mode"
                )
            found = found or str(
                self.commands.others(mode) or ""
            )  # whoever claimed it at the same moment
        if found:
            self.release()
        return found

    def release(self) -> None:
        """Command the arm no more, and believe wrenches in any frame again."""
        self.commands.release()
        self._wrench_reader.only = self.strange = None

    def keep_frame(self) -> None:
        """From now on believe only wrenches in the frame of the last one, until `release`."""
        self._wrench_reader.only, self.strange = self._wrench_reader.frame, None

    @property
    def wrench_topic(self) -> str:
        """Full name of the topic that the wrench comes on."""
        return self.resolve(self._wrench_topic)

    def see_sensor(self) -> None:
        """Find out whether anybody but the simulated arm sends the wrench: `real_sensor`. It takes
        a moment, and is not for the loop.
        """
        senders = wire.others_on(self._node, self.wrench_topic)
        self.real_sensor = not senders or any(name != f"/{topics.SIM_ARM}" for name in senders)

    def rivals(self) -> StopReason | None:
        """Which topic several nodes have sent on since this was last asked; or None."""
        found = None
        for topic, senders in self.senders.items():
            if len(senders) > 1:
                words = f"{len(senders)} publishers send on {self.resolve(topic)}"
                found = StopReason.of("robot", words, "keep one")
            senders.clear()
        return found

    def trouble(self) -> StopReason | None:
        """Who else commands the arm, or sends joint states or wrenches; or None. Looked at ten
        times a second, however often it is asked.
        """
        if time.monotonic() < self._next_look:
            return None
        self._next_look = time.monotonic() + _TROUBLE
        return self.strange or self.commands.others(self.config.output.mode) or self.rivals()

    def look(self, seconds: float = 0.0) -> State:
        """Take what arrives within a time, s, and return the newest."""
        deadline = time.monotonic() + seconds
        self._take()
        while (left := deadline - time.monotonic()) > 0.0:
            if self.meanwhile is not None and time.monotonic() >= self._next_meanwhile:
                self._next_meanwhile = time.monotonic() + _MEANWHILE
                self.meanwhile()
            self._bell.wait(min(left, _MEANWHILE))
            self._take()
        return self._state

    def count_lost_anew(self) -> None:
        """Count lost messages from now on; what has piled up before is taken."""
        self.look(0.0)
        self.joints.lost = self.wrenches.lost = 0

    def missing(self) -> str:
        """What has not come yet, in words; "" if all has."""
        if not self.heard:
            why = f" ({self.problem})" if self.problem else ""
            return f"no joint states on {self.resolve(topics.JOINT_STATES)}{why}"
        if self._state.wrench_time < 0:
            return f"no wrench on {self.wrench_topic}"
        return ""

    # --- inside ---

    def _hear(self) -> None:
        """Listen until a joint state and a wrench have come."""
        self.listen()
        deadline = time.monotonic() + _PATIENCE
        while missing := self.missing():
            if time.monotonic() > deadline:
                if not (self.joints.count or self.wrenches.count):
                    joints, wrench = self.resolve(topics.JOINT_STATES), self.wrench_topic
                    self._doubt(hearing.kinds(joints=joints, wrench=wrench))
                raise RobotError(f"connect: {missing} for {_PATIENCE:g} s; does its node run?")
            self.look(0.05)

    def _doubt(self, unheard: dict[str, Any]) -> None:
        """Whether the silence is our own; only a participant of our own can be made anew."""
        if self._own_participant:
            hearing.ask_another(self._node, unheard, _PATIENCE)

    def _take(self) -> bool:
        """Take all that has arrived, and say whether a joint state was among it."""
        state, fresh = self._state, False
        for data in self.joints.new():
            if self._joint_reader.read(data, self._q, self._qd):
                if not fresh and isinstance(self.pace, ByJointStates):
                    state.first_time = self.joints.arrived
                self._update_joints()
                self.senders[topics.JOINT_STATES].add(self.joints.sender)
                fresh = True
            self.problem = self._joint_reader.problem
        for data in self.wrenches.new():
            self.senders[self._wrench_topic].add(self.wrenches.sender)
            if not self._wrench_reader.read(data, state.wrench):
                words = f"a wrench on {self.wrench_topic} is given in {self.wrench_frame!r}, those "
                words += f"before in {self._wrench_reader.only!r}; it is not believed"
                self.strange = self.strange or StopReason.of("robot", words, "see who sends it")
                continue
            if self._sign < 0:
                np.negative(state.wrench, out=state.wrench)
            state.wrench_time = self.wrenches.arrived
            self._felt += 1
            state.wrenches = self._felt + self.wrenches.lost
        return fresh

    def _update_joints(self) -> None:
        state, now = self._state, self.joints.arrived
        if np.isnan(self._qd[0]) and now > state.joint_time:  # a source without velocities
            self._qd[:] = (self._q - self._q_before) / (now - state.joint_time)
        state.q[:], state.qd[:], self._q_before[:] = self._q, self._qd, self._q
        state.joint_time = now
        self._count += 1
        self.heard = self._count + self.joints.lost
        if isinstance(self.pace, ByJointStates):
            state.cycle = self.heard

    def _inbox(self, kind: Any, topic: str) -> wire.Inbox:
        return wire.Inbox(self._node, kind, self.resolve(topic), raw=True)

    def _described(self) -> RobotModel:
        topic = self.resolve(topics.ROBOT_DESCRIPTION)
        description, deadline = wire.Description(self._node, topic), time.monotonic() + _PATIENCE
        while not description.look():
            if time.monotonic() > deadline:
                self._doubt(hearing.kinds(description=topic))
                raise RobotError(
                    f"connect: nothing on {topic} for {_PATIENCE:g} s; does the driver run? A "
                    "model may be given instead"
                )
            time.sleep(0.01)
        return wire.model_from(description.text, self.config)
