"""What a node's process does all the time: drive the arm while active, else be there."""

from __future__ import annotations

import math
import time
from typing import TYPE_CHECKING

import numpy as np

from ur_admittance.errors import RobotError
from ur_admittance.robots.base import State
from ur_admittance.run import Run
from ur_admittance.run.summary import Summary

if TYPE_CHECKING:
    from ur_admittance.ros2.node import AdmittanceNode

STATES = ("unconfigured", "inactive", "active")
_RETRY = 1.0  # s between two attempts to come up


def come_up(node: AdmittanceNode, state: str, asked: list[int], patience: float) -> None:
    """See `AdmittanceNode.come_up`."""
    until, next_try = time.monotonic() + patience, 0.0
    while not asked and (node.robot is None or (state == "active" and node.robot.missing())):
        if node.robot is None and state != "unconfigured" and time.monotonic() > next_try:
            next_try = time.monotonic() + _RETRY
            node.attempt(node.trigger_configure)
        if time.monotonic() > until:
            missing = [node.robot.missing()] if node.robot is not None else node.refused
            raise RobotError(f"run: {'; '.join(missing)}; waited for {patience:g} s")
        if node.robot is not None:
            node.robot.look(0.0)
        node.spin(0.05)
        look(node)
        node.listen_well()
        node.upkeep.diagnose_every(1.0)


def look(node: AdmittanceNode) -> None:
    """Look at the arm for those who have asked to be active, or for a reset."""
    if node.look_asked is not None:
        found = node.look_around()
        asked, node.look_asked = node.look_asked, None
        asked.set_result(found)
        while node.waiting and node.look_asked is None:  # what was found is true now
            node.spin(0.05)


class Driving:
    """One run of a node, in one thread."""

    def __init__(self, node: AdmittanceNode, run: Run) -> None:
        self._node, self._run = node, run
        self._cycle, self._before = -1, 0.0
        run.each = self._after_command

    def serve(self, asked: list[int], state: str, seconds: float | None, keep_trying: bool) -> None:
        """See `AdmittanceNode.run`."""
        node, end, next_try = self._node, math.inf, 0.0
        while not asked and node.state in STATES and time.monotonic() < end:
            look(node)
            node.close_left()
            if node.state == "active" and not node.stopped:
                if seconds is not None:
                    end = min(end, time.monotonic() + seconds)
                left = end - time.monotonic()
                driven = self._drive(None if end == math.inf else left)
                asked += [0] * (driven.asked or node.arming.played is not None)
            elif state == "active" and not node.stopped and time.monotonic() > next_try:
                next_try = time.monotonic() + _RETRY
                node.attempt(node.trigger_configure)
                node.attempt(node.trigger_activate)
                if node.state == "active":
                    state = "inactive"
                elif not keep_trying:
                    raise RobotError(
                        f"run: {'; '.join(node.refused)}; nothing has moved. Start again when that "
                        "is done (--keep-trying tries each second)"
                    )
            else:
                self._idle()

    def _drive(self, seconds: float | None) -> Summary:
        node = self._node
        self._run.robot, self._run.controller = node.configured("run")
        self._run.follow(node.arming if node.arming.leads else None)
        node.looping = True
        try:
            summary = self._run.drive(seconds, checked=True)  # arming has looked
        except BaseException:
            node.arming.rest()  # what was sent last is no longer what the guard sees
            raise
        finally:
            node.looping = False
        if summary.faulted:
            node.stopped = summary.reason
            node.get_logger().error(f"the arm was stopped: {node.stopped}")
        if node.at_rest is not None:
            node.at_rest.set_result(None)
            node.at_rest = None
            while node.state == "active":
                node.spin(0.05)
        elif not summary.faulted:
            node.trigger_deactivate()
        return summary

    def _after_command(self, state: State, out: np.record) -> None:
        node = self._node
        if node.controller is not None:
            node.monitor(node.controller)
        node.upkeep()

    def _idle(self) -> None:
        """One joint state, or a while, of being there. The tick runs, for taring and diagnostics,
        and commands nothing.
        """
        node = self._node
        if node.robot is None or node.controller is None or node.robot.missing():
            if node.robot is not None:
                node.robot.look(0.0)
            node.listen_well()
            node.spin(0.02)
            node.upkeep.diagnose_every(1.0)
            return
        node.upkeep()
        if node.robot is None:  # cleaned up by what was served just now
            return
        state = node.robot.wait()
        now, controller = time.monotonic(), node.controller
        if controller is None or state.cycle == self._cycle:  # cleaned up meanwhile, or silent
            return
        if node.board is not None:
            node.board.take_params(controller.live)
        dt = state.began - self._before
        self._cycle, self._before = state.cycle, state.began
        if controller.mode == "inactive":
            controller.update(
                state.q, state.wrench, dt, now - state.wrench_time, now - state.joint_time
            )
