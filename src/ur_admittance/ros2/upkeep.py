"""What the node does beside the loop, a little after each command: serve, guard, tell.

The slow things are spread over the ticks of a second, so that none delays a joint state.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from ur_admittance.controller import Controller
from ur_admittance.faults import words_of
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots.ros2 import topics
from ur_admittance.robots.ros2.robot import Ros2Robot
from ur_admittance.robots.ros2.tf import Transforms
from ur_admittance.ros2.desired import Desired
from ur_admittance.ros2.frames import Frames
from ur_admittance.ros2.monitor import Monitor
from ur_admittance.ros2.planned import Planned
from ur_admittance.ros2.streams import Streams

if TYPE_CHECKING:
    from ur_admittance.ros2.node import AdmittanceNode

SPIN_SECONDS = 0.04  # between two looks at services: a look takes half a millisecond
_QUIET = 5.0  # s before the same warning is given again


class Upkeep:
    """Called after every command, and while there is nothing to command."""

    def __init__(
        self,
        node: AdmittanceNode,
        io: Any,
        transforms: Transforms,
        monitor: Monitor,
        task_frame: str,
    ) -> None:
        self._told: dict[str, float] = {}
        self._node, self._transforms, self._monitor = node, transforms, monitor
        self._desired = Desired(io, node.real, node.parameters.config.base_link, self.warn)
        self.frames = Frames(transforms, self.warn, node.parameters.config, task_frame)
        streams = node.assent.permits("stream")
        self._streams = Streams(io, node.real, self.warn, self.frames, permitted=streams)
        self.planned = Planned(node, io, self.warn)
        self._ticks, self._diagnosed = 0, 0.0
        self._looping, self._lost = False, 0

    def __call__(self) -> None:
        node = self._node
        robot, controller = node.configured("run")
        self._count(robot)
        driven = controller if node.looping else None
        if self._desired.hand_to(driven):
            node.arming.hand_over()
            self.planned.end("a desired pose or twist came")
        self._transforms.look()
        self._streams.hand_to(driven)
        if self.planned.hand_to(driven):
            node.arming.hand_over()
        self._ticks += 1
        if robot.strange and node.looping and controller.mode != "stopped":
            controller.stop(robot.strange)
        second, every = max(1, round(robot.rate)), max(1, round(SPIN_SECONDS * robot.rate))
        turn = self._ticks % second
        if turn % every == 0:
            node.spin(0.0)
        if turn == 1:
            self.diagnose()
        if turn == 2:
            node.parameters.follow()  # changed through the blackboard, or with others
        if turn % every == every // 2 and node.looping:
            self._guard(robot, controller, once=turn == every // 2)

    def warn(self, words: str) -> None:
        """Log a warning, unless the same was logged a moment ago."""
        now = time.monotonic()
        if now - self._told.get(words, -_QUIET) >= _QUIET:
            self._told[words] = now
            self._node.get_logger().warning(words)

    def diagnose_every(self, seconds: float) -> None:
        """Diagnose, if the last time is so long ago."""
        if time.monotonic() - self._diagnosed > seconds:
            self.diagnose()

    def diagnose(self) -> None:
        """Publish how the node is."""
        node, self._diagnosed = self._node, time.monotonic()
        values: dict[str, object] = {"state": node.state}
        status = 0
        if node.controller is not None and node.robot is not None:
            out = node.controller.outputs[0]
            status, slow = int(out["status"]), node.robot.slow_states
            values |= {
                "mode": node.controller.mode,
                "force [N]": f"{np.linalg.norm(out['F_P'][LINEAR]):.2f}",
                "torque [Nm]": f"{np.linalg.norm(out['F_P'][ANGULAR]):.3f}",
                "speed [mm/s]": f"{1e3 * np.linalg.norm(out['V_WP_cmd'][LINEAR]):.1f}",
                "trajectory": self.planned.words,
                "joint states": f"predicted from {slow:.0f} Hz" if slow else "as they come",
                "late states": int(out["timing"]["late"]),
                "missed states": int(out["timing"]["missed"]),
                "lost messages": self._lost,
            }
        level, words = "ok", node.state
        if node.stopped:
            level, words = "error", f"stopped: {node.stopped}; {node.how_to_go_on}"
            values |= {"stopped by": node.stopped.code, "what to do": node.stopped.advice}
        elif node.looping:
            said = words_of(status)
            level = "error" if status & (bits.HOLDS | bits.STOPS) else "warn" if said else "ok"
            words = "; ".join(said) or "active"
        elif any(node.refused):
            level, words = "warn", f"{node.state}: {'; '.join(node.refused)}"
        self._monitor.diagnose(level, words, values)

    def _count(self, robot: Ros2Robot) -> None:
        """Count lost messages while the loop runs: to prepare it takes a while, and to end it."""
        if self._node.looping:
            if not self._looping:
                robot.count_lost_anew()
            self._lost = robot.joints.lost + robot.wrenches.lost
        self._looping = self._node.looping

    def _guard(self, robot: Ros2Robot, controller: Controller, once: bool) -> None:
        """Stop where the graph says so; `once` a second also look at what takes longer."""
        if robot.problem:
            where = robot.resolve(topics.JOINT_STATES)
            self.warn(f"{where}: a message is of no use: {robot.problem}")
        reason = self._node.arming.stops(robot)
        guard = self._node.arming.guard
        while guard is not None and guard.said:
            self.warn(f"the guard says: {guard.said.pop(0)}")
        if once and not reason:
            reason = robot.commands.others(controller.sends) or robot.rivals()
        if reason and controller.mode != "stopped":
            controller.stop(reason)
