"""The manager of a chain: every cycle it runs the links in order, and hands on their command.

It has the surface of `Controller` that a run needs, so a chain drives a robot as a controller
does: `manager.run(robot)`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.chain.admittance import AdmittanceLink
from ur_admittance.chain.compiled import compiled
from ur_admittance.chain.lifecycle import Lifecycle
from ur_admittance.chain.switching import Switch
from ur_admittance.config import Config
from ur_admittance.config.validate import as_numbers, sample
from ur_admittance.controller import Controller, LiveParameters
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel
from ur_admittance.robots.base import Robot
from ur_admittance.run import run
from ur_admittance.run.summary import Summary

_SIX = (6,)
_FLOAT64 = np.dtype(np.float64)
_NO_LAW = {"safety.start_force": 0, "safety.start_torque": 0}  # then no force moves the arm


class ControllerManager(Lifecycle):
    """Runs links in the order in which they use each other's references, in one thread.

    Whatever links write, raise or leave out, the joint command stays inside the arm's limits of
    speed, acceleration and range. Joints that no active link commands are braked to rest.

    Attributes:
        interfaces: all named numbers; a robot that knows more than positions and wrench writes it
            to `measured_velocity` and `speed_scaling`.
        measured_velocity: (6,) rad/s, state `<joint>/velocity`.
        speed_scaling: (1,) 0 to 1, state `speed_scaling`.
        failure: why the chain brakes, or None.
    """

    def __init__(self, model: RobotModel, *, rate: float = 500.0, **limits: ArrayLike) -> None:
        """
        Args:
            model: the arm.
            rate: cycles a second, Hz.
            limits: `joint_velocity`, rad/s (6,), and `joint_acceleration`, rad/s^2 (6,); default:
                the arm's.
        """
        super().__init__(model, rate=rate, **limits)
        self._period = 1.0 / rate
        self._out = self._guard.outputs[0]
        self._values = self.interfaces.values
        self._finite, self._measured = compiled().finite, compiled().measured
        self._without_law = LiveParameters(Config.from_dict(_NO_LAW), model)

    # --- what a loop calls, as it calls `Controller` ---

    def activate(self, q: ArrayLike, X_WD: ArrayLike | None = None) -> None:
        """Start at rest at the measured joints `q` (6,) rad: all links that were switched on."""
        if X_WD is not None:
            self.set_desired(X_WD)
        q = as_numbers(q, "q", _SIX)
        if self.failure is not None and self._guard.halted:
            raise RobotError(f"activate: {self.failure.words}")
        for link in self._registry.running():
            link.deactivate()
            link.state = "inactive"
        self._registry.reconfigure()
        self.failure = None
        self._q[:] = q
        self.measured_velocity[:] = 0.0
        self._times[:] = 0.0
        self._stopping = []
        self._guard.begin(q)
        self._running, self._leaving = True, False
        self._rewire()
        self._begin(Switch([], self._wanted, self.interfaces.joints, at_rest=True))

    def update(
        self,
        q: ArrayLike,
        wrench: ArrayLike,
        dt: float,
        wrench_age: float = 0.0,
        joint_age: float = 0.0,
    ) -> np.record:
        """One cycle of the chain. Arguments as for `Controller.update`.

        Returns:
            The outputs record of the admittance link, with the command that is really sent; a view
            that the next cycle overwrites.
        """
        if not self._running:
            raise RobotError("update: the chain is not running; call activate(q) first")
        if (
            type(q) is not np.ndarray
            or q.dtype is not _FLOAT64
            or q.ndim != 1
            or type(wrench) is not np.ndarray
            or wrench.dtype is not _FLOAT64
            or wrench.ndim != 1
        ):
            q, wrench = sample("q", q), sample("wrench", wrench)
        seconds = self._measured(self._values, q, wrench, dt, wrench_age, joint_age, self._period)
        if not seconds:
            raise RobotError(
                f"update: q and wrench must be six numbers each, got {len(q)} and {len(wrench)}"
            )
        if self._attention:
            self._between_cycles(seconds)
        step = seconds
        if self._pacer is not None:
            pace = self._pacer(seconds)
            self._times[0] *= pace
            step *= pace
        finite = self._finite
        for link, update, exports in self._steps:
            if link.state == "error":  # by the failure of one before it, in this very cycle
                continue
            try:
                wrong = update(step)
            except Exception as error:
                wrong = error
            if wrong is None and exports is not None and not finite(exports):
                wrong = self._not_finite(link)
            if wrong is not None:
                self._fail(link, wrong)
        code = self._finish(seconds)
        if code:
            self._bad_command(code - 1)
        return self._out

    def run(self, robot: Robot, **options: Any) -> Summary:
        """Drive a robot with the chain, as `ua.run` does with a controller.

        Ends after `seconds`, by a signal, or when a link fails: then the summary's `mode` is
        'stopped', its `reason` says why, and `recover()` makes the chain fit for another run.

        Args:
            robot: connected, and at rest.
            options: those of `ua.run`, such as `seconds` and `board`.
        """
        try:
            return run(robot, self, **options)
        finally:
            self._speaker.speak()

    def set_desired(self, X_WD: ArrayLike, V_WD: ArrayLike | None = None) -> None:
        """Refused: a chain is told where to go by its links."""
        raise RobotError("set_desired: a chain is told where to go by its links")

    def observe(self, qd: np.ndarray, speed_scaling: float) -> None:
        """What else the robot says of itself, for the links: joint rates, rad/s (6,), and how much
        of a commanded speed it makes, 0 to 1.
        """
        self.measured_velocity[:] = qd
        self.speed_scaling[0] = speed_scaling

    def wrench_is_slow(self, slow: bool) -> None:
        """Let the law hold while the wrench comes too seldom."""
        law = self._law()
        if law is not None:
            law.wrench_is_slow(slow)

    # --- what it says, as `Controller` does ---

    @property
    def mode(self) -> str:
        """'inactive', 'active', 'holding' (goes on by itself), 'stopped' (until `recover`),
        'leaving'.
        """
        if self._guard.halted:
            return "stopped"
        if self._leaving or not self._running:
            return "leaving" if self._switch is not None else "inactive"
        modes = {link.mode for link in self._registry.running()}
        return next((mode for mode in ("stopped", "holding") if mode in modes), "active")

    @property
    def sends(self) -> str:
        """What the robot is to be sent: 'velocity' (`outputs["qd"]`) or 'position' (`q_ref`)."""
        return "position" if self._guard.by_position else "velocity"

    @property
    def limited(self) -> int:
        """In how many cycles a link's command had to be cut to the joint limits."""
        return self._guard.limited

    @property
    def reason(self) -> StopReason | None:
        """Why the arm was stopped; None unless it is."""
        if self.failure is not None and self._guard.halted:
            return self.failure.reason
        reasons = (link.reason for link in self._registry.running())
        return next((reason for reason in reasons if reason), None)

    def status_words(self) -> list[str]:
        """What failed and how to recover, and what the links say of themselves."""
        words = [] if self.failure is None else [self.failure.words]
        for link in self._registry.running():
            words += [f"{link.name}: {word}" for word in link.words()]
        return words

    @property
    def outputs(self) -> np.ndarray:
        """The record that `update` returns, as an array of one: what a blackboard publishes."""
        return self._guard.outputs

    @property
    def live(self) -> LiveParameters:
        """The parameters of the admittance link."""
        law = self._law()
        return law.live if law else self._without_law

    @property
    def params(self) -> np.ndarray:
        """Their record, as an array of one."""
        return self.live.record

    @property
    def config(self) -> Config:
        """What they were made from."""
        return self.live.config

    def trace(self) -> np.ndarray:
        """All interfaces (columns: `interfaces.names`) of the last two seconds, oldest first."""
        return self._guard.trace()

    def _law(self) -> Controller | None:
        """The controller that runs or is about to."""
        links = (*self._wanted, *self._registry.running())
        laws = [link.controller for link in links if isinstance(link, AdmittanceLink)]
        return laws[-1] if laws else None
