"""Where the controller wants the arm to go: the command under way, stops, compliance.

The targets `q` and `qd` are the machine's `target_q` and `target_qd`, less what compliance added.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ur_admittance.kernel.spatial import LINEAR
from ur_fake.arm import poses
from ur_fake.arm.arm import CYCLE
from ur_fake.arm.commands import Command
from ur_fake.arm.compliance import Compliance, led
from ur_fake.modes import RobotMode, RuntimeState
from ur_fake.urscript.tree import ScriptError

_REST = np.zeros(6)
_RAMP = 5.0  # 1/s: how fast the speed scaling changes


class Motion:
    """The targets of the joints.

    Attributes:
        q, qd: (6,) rad and rad/s, without what compliance adds.
        compliance: force mode.
        blended: the path that comes to its end while the next one begins; see `paths`.
        brake_rate: rad/s^2, when nobody says how to stop.
    """

    def __init__(self, machine: Any) -> None:
        self._machine = machine
        self.q, self.qd = machine.target_q.copy(), np.zeros(6)
        self.compliance = Compliance()
        self.brake_rate = float(machine.model.qdd_max.min())
        self.torque_limit = machine.model.tau_max
        self.blended: Any = None
        self._command: Command | None = None
        self._owner: Any = None
        self._scale, self._halted, self._stale = 1.0, False, False
        self._offset, self._offset_rate = np.zeros(6), np.zeros(6)
        self._before, self._accepted = np.zeros(6), np.zeros((3, 6))
        self._slowed = 1.0

    # --- what a program does ---

    def begin(self, owner: Any, command: Command) -> None:
        """Let a thread move the arm."""
        active = self._command
        if active is not None and not active.done and self._owner is not owner:
            raise ScriptError("Another thread is already controlling the robot")
        command.start(self)
        if not command.blends:
            self.blended = None
        self._command, self._owner = command, owner

    def release(self, owner: Any) -> None:
        """A thread ends (None: all do): the arm decelerates, unless another moves it."""
        if owner is None or owner is self._owner:
            self._command = self._owner = self.blended = None

    def end_modes(self) -> None:
        """A program ends: so do force mode and freedrive."""
        self.compliance.end()
        self._machine.freedrive = False

    def waypoint(self) -> poses.Pose6:
        """The pose at which the command under way ends."""
        command = self._command
        if command is None or command.done:
            return tuple(self._machine.target_TCP_pose.tolist())
        return self._machine.kinematics.pose(command.end(self))

    # --- what the safety system does ---

    def halt(self) -> None:
        """Brake hard; the command begins again when the program goes on."""
        self._halted = self._stale = True
        self.blended = None

    def freeze(self) -> None:
        """The targets are where the arm is, at rest: brakes, or a hand moved it."""
        self._fold()
        self.q[:] = self._machine.actual_q
        self.qd[:] = 0.0
        self._stale, self.blended = True, None
        self._write()

    def reject(self) -> None:
        """The targets of this cycle must not be: brake from those of the last."""
        self.q[:], self.qd[:], self._offset[:] = self._accepted
        self._offset_rate[:] = 0.0
        self.approach(_REST, self._machine.safety.brake)
        self._write()

    def refuse(self, why: str) -> None:
        """The command cannot go on."""
        self._machine.protective_stop(why, 0, 0)

    # --- one cycle ---

    def advance(self) -> None:
        machine = self._machine
        if machine.robot_mode != RobotMode.RUNNING:
            if self.qd.any() or self._offset_rate.any():
                self.freeze()
            return
        np.copyto(self._before, machine.target_qd)
        accepted = self._accepted
        accepted[0], accepted[1], accepted[2] = self.q, self.qd, self._offset
        stopped = machine.safety.stopped
        paused = stopped or machine.runtime_state == RuntimeState.PAUSED
        wanted = 0.0 if paused else machine.target_speed_fraction
        if self._scale != wanted:
            step = _RAMP * CYCLE
            self._scale += min(step, max(-step, wanted - self._scale))
            if stopped and self._halted:
                self._scale = 0.0
        machine.speed_scaling = self._scale
        command = self._command
        if self._halted:
            self.approach(_REST, self._machine.safety.brake)
            self._halted = paused
        elif machine.freedrive and not stopped:
            if not self.move_tcp(led(machine.actual_TCP_force)):
                self.brake()
        elif command is None or (command.done and self.blended is not command):
            self.brake()
        elif not paused or (self._scale > 0.0 and not self._stale):
            if self._stale:
                command.start(self)
                self._stale = False
            command.advance(self, self._scale)
        else:
            self.brake()
        self._comply(paused)
        self._write()

    def _comply(self, paused: bool) -> None:
        machine = self._machine
        if not self.compliance.active or paused:
            if self._offset_rate.any():
                self._offset_rate[:] = 0.0
                self._fold()
            return
        rate = self._rates(self.compliance.twist(machine.actual_TCP_force))
        if rate is not None:
            self._offset_rate[:] = rate
            self._offset += rate * CYCLE

    def _fold(self) -> None:
        """What compliance added becomes part of the target."""
        self.q += self._offset
        self._offset[:] = 0.0

    def _write(self) -> None:
        machine = self._machine
        np.add(self.q, self._offset, out=machine.target_q)
        np.add(self.qd, self._offset_rate, out=machine.target_qd)
        np.subtract(machine.target_qd, self._before, out=machine.target_qdd)
        machine.target_qdd /= CYCLE

    # --- what commands use ---

    @property
    def joint_speed(self) -> np.ndarray:
        """(6,) greatest speeds, rad/s."""
        return self._machine.safety.limits.joint_speed

    @property
    def tcp_speed(self) -> float:
        """Greatest speed of the tool, m/s."""
        return self._machine.safety.limits.tcp_speed

    def slow_down(self, most: float = 1.0) -> float:
        """Of the time of a path: 1, or less where the tool, or a joint (`most`), were too fast."""
        V = self._machine.target_TCP_speed[LINEAR].tolist()
        speed = (V[0] * V[0] + V[1] * V[1] + V[2] * V[2]) ** 0.5
        limit = 0.95 * self.tcp_speed
        self._slowed = min(most, 1.05 * self._slowed)
        if speed > limit:
            self._slowed *= limit / speed
        return self._slowed

    def joint_share(self, q: np.ndarray) -> float:
        """How fast the joints would be on the way to `q` in this cycle, 1 being their limit."""
        return float((np.abs(q - self.q) / self.joint_speed).max()) / CYCLE

    def approach(self, qd: np.ndarray, a: float) -> bool:
        """Change the speeds towards `qd`, `a` rad/s^2 for the leading one. True: there."""
        change = qd - self.qd
        largest = float(np.abs(change).max())
        there = largest <= a * CYCLE
        if there:
            self.qd[:] = qd
        else:
            self.qd += change * (a * CYCLE / largest)
        self.q += self.qd * CYCLE
        return there

    def brake(self) -> None:
        """Nobody says otherwise: come to rest."""
        if self.qd.any():
            self.approach(_REST, self.brake_rate)

    def pose(self, q: np.ndarray | None = None) -> poses.Pose6:
        """Of the TCP, at `q` or else at the targets."""
        return self._machine.kinematics.pose(self.q if q is None else q)

    def distance(self, q: Sequence[float] | np.ndarray) -> float:
        """From where the TCP is, at the targets, to where it is at `q`, m."""
        end = self._machine.kinematics.pose(q)
        return math.dist(end[LINEAR], self.pose()[LINEAR])

    def twist(self) -> np.ndarray:
        """Of the TCP, at the targets."""
        _, _, J = self._machine.kinematics.update(self.q)
        return J @ self.qd

    def move_tcp(self, V: np.ndarray) -> bool:
        """Move the TCP at V for a cycle (midpoint rule). False: a singularity is in the way."""
        rate = self._rates(V)
        if rate is None:
            return False
        middle = self._rates(V, self.q + 0.5 * CYCLE * rate)
        if middle is None:
            return False
        self.qd[:] = middle
        self.q += middle * CYCLE
        return True

    def _rates(self, V: np.ndarray, q: np.ndarray | None = None) -> np.ndarray | None:
        _, _, J = self._machine.kinematics.update(self.q if q is None else q)
        try:
            rates = np.linalg.solve(J, V)
        except np.linalg.LinAlgError:
            return None
        return rates if np.abs(rates).max() < 100.0 else None

    def follow(self, pose: Sequence[float], q: np.ndarray, steps: int = 4) -> bool:
        """Move `q` to where the TCP is at `pose`, a little way off."""
        machine = self._machine
        return machine.inverse.follow(pose, q, machine.kinematics.tcp, steps)

    def joints_for(self, pose: Sequence[float]) -> poses.Pose6 | None:
        machine = self._machine
        return machine.inverse.solve(pose, self.q, machine.kinematics.tcp)
