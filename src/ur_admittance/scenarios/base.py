"""What a scenario is, how it is played, and what its judge looks at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import pose
from ur_admittance.controller import Controller
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.motion.curves import Curve
from ur_admittance.robots.base import State
from ur_admittance.robots.sim import Hand, SimRobot
from ur_admittance.robots.sim.scene import Cylinder, Scene, Tool
from ur_admittance.run import owner
from ur_admittance.run.summary import Summary

STEERING = 0.02  # s between two desired poses, as from a planner
NOISE = (0.2, 0.01)  # N and Nm, standard deviation
BIAS = (1.5, -2.0, 3.0, 0.05, -0.1, 0.02)  # N and Nm
TIP = 0.1  # m from the flange, where the sensor sits, to P
MASS, COM = 0.8, (0.0, 0.0, 0.05)  # kg, and m from the sensor: what the sensor weighs
LOOP_DELAY = 0.035  # s: 2 cycles of latency, 1 of the sensor, servos of 8 Hz, filter of 20 Hz


@cache
def arm() -> RobotModel:
    """The UR5e of all scenarios."""
    return RobotModel.ur("ur5e", X_EP=pose((0.0, 0.0, TIP)), X_ES=np.eye(4))


@cache
def home() -> np.ndarray:
    """(4, 4) X_WP at the start: the tool points down."""
    return arm().fk(arm().home)


def lying_cylinder(x: float, y: float, top: float, radius: float) -> Cylinder:
    """One of 0.3 m along y, whose crown is at (x, y, top), m."""
    return Cylinder((x, y - 0.15, top - radius), (x, y + 0.15, top - radius), radius)


def through(*knots: tuple[float, float, float, float]) -> Curve:
    """The way through knots (s; x, y, z in m), with a rest at each: halfway between two 1.875 times
    as fast as on average.
    """
    table = np.array(knots)
    return Curve.resting(table[:, 0], table[:, 1:])


@dataclass(frozen=True)
class Finding:
    """One thing that must be true of a run."""

    what: str  # it, in a few words
    passed: bool  # whether it is
    words: str  # what was measured, and what is allowed


class Scenario(ABC):
    """A scene, a script, and what they must lead to. It keeps nothing of a run."""

    name: str  # as on the command line
    title: str  # for people
    text: str  # likewise
    seconds: float  # how long it takes
    settings: dict[str, Any]  # the configuration, less the payload
    scene: Scene | None = None  # see `SimRobot`. The hand's time is that of the controller.
    tool: Tool = Tool(radius=0.015, mass=MASS, com=COM)  # likewise
    hand: Hand | None = None  # likewise
    path: Curve | None = None  # where the desired pose goes, m, if anywhere, and its orientation
    R_WD: np.ndarray = home()[:3, :3]  # likewise

    def robot(self, *, ideal: bool = False, realtime: bool = True, seed: int = 0) -> SimRobot:
        """The arm in its scene, not yet connected; see `SimRobot` for the arguments."""
        return SimRobot(
            arm(),
            scene=self.scene,
            tool=self.tool,
            hand=self.hand,
            bias=BIAS,
            noise=(0.0, 0.0) if ideal else NOISE,
            ideal=ideal,
            realtime=realtime,
            seed=seed,
        )

    def config(self) -> Config:
        """The settings, and the payload that the sensor feels."""
        payload = {
            "loop_delay": LOOP_DELAY,
            "payload.mass": MASS,
            "payload.center_of_mass": COM,
            "payload.force_bias": BIAS[:3],
            "payload.torque_bias": BIAS[3:],
        }
        return Config.from_dict({**payload, **self.settings})

    def steer(self, controller: Controller, time: float) -> None:
        """Give the controller the desired pose of this moment, s since activation, if it has one.

        `play` calls this 50 times a second.
        """
        if self.path is not None:
            X_WD, V_WD = np.eye(4), np.zeros(6)
            X_WD[:3, :3] = self.R_WD
            X_WD[:3, 3], V_WD[LINEAR] = self.path.at(time)
            controller.set_desired(X_WD, V_WD)

    def judge(self, records: np.ndarray, *, ideal: bool = False) -> list[Finding]:
        """What must be true of a whole run.

        Args:
            records: its output records, in order.
            ideal: whether the arm did at once what it was told; bounds are tighter then.
        """
        stopped, held = records["mode"] == bits.STOPPED, records["mode"] == bits.HOLDING
        end = float(records["time"][-1])
        found = [
            Finding(
                "neither stopped nor held",
                not (stopped | held).any(),
                f"{stopped.sum()} and {held.sum()} of {len(records)} ticks",
            ),
            Finding(
                "played to its end", end >= self.seconds - 0.1, f"{end:.1f} of {self.seconds:g} s"
            ),
        ]
        if all(finding.passed for finding in found):
            found += self.findings(Run(records), 0.0 if ideal else LOOP_DELAY)
        return found

    @abstractmethod
    def findings(self, run: Run, lag: float) -> list[Finding]:
        """What this scenario must lead to, with an arm that is `lag` s behind."""


class Run:
    """The records of a run as a judge wants them, in W axes."""

    def __init__(self, records: np.ndarray) -> None:
        self.t = records["time"]  # (n,) s since activation
        self.X = records["X_WP"]  # (n, 4, 4) measured pose of P
        self.V = records["V_WP_cmd"]  # (n, 6) commanded twist, m/s and rad/s
        self.p = self.X[:, :3, 3]  # (n, 3) m, its origin
        # (n, 3) N, what the world does to the tool, without bias and weight, not filtered; sensor
        # and probe have the same axes
        self.f = np.einsum("nij,nj->ni", self.X[:, :3, :3], records["F_S_comp"][:, LINEAR])
        self.force = np.linalg.norm(self.f, axis=1)  # (n,) N
        self.torque = np.linalg.norm(records["F_P"][:, ANGULAR], axis=1)  # (n,) Nm, at P

    def during(self, start: float, end: float) -> np.ndarray:
        """(n,) whether a record is of that time."""
        return (self.t >= start) & (self.t <= end)


def play(
    scenario: Scenario,
    robot: SimRobot,
    controller: Controller,
    *,
    each: Callable[[State, np.record], None] | None = None,
    seconds: float | None = None,
    run: owner.Run | None = None,
    **options: Any,
) -> Summary:
    """Drive the robot with the scenario's steering, for its length unless `seconds` says less.

    `run` is one that was begun already; else `options` are those of `ua.run`. The hand acts by the
    controller's time; the arm's own began when it was connected.
    """
    hand, began, due = robot.hand, 0.0, 0.0

    def push(t: float, X_WP: np.ndarray, V_WP: np.ndarray) -> ArrayLike:
        return hand(t - began, X_WP, V_WP) if hand else np.zeros(6)

    def after(state: State, out: np.record) -> None:
        nonlocal began, due
        time = float(out["time"])
        if robot.hand is None and hand is not None:
            began, robot.hand = robot.time - time, push
        if time >= due and controller.mode == "active":
            scenario.steer(controller, time)
            due = time + STEERING - 0.5 / robot.rate
        if each is not None:
            each(state, out)

    robot.hand = None
    try:
        run = run or owner.Run(robot, controller=controller, permit=("travel",), **options)
        run.each = after
        return run.drive(scenario.seconds if seconds is None else seconds)
    finally:
        robot.hand = hand
