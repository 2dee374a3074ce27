"""The protocol of every robot: it gives states at its own rate, and takes joint commands.

    with robots.connect("sim:ur5e") as robot:
        state = robot.wait()
        controller.activate(state.q)
        while running:
            state = robot.wait()                      # blocks: the robot is the clock
            now = robot.clock()
            out = controller.update(state.q, state.wrench, 1 / robot.rate,
                                    now - state.wrench_time, now - state.joint_time)
            robot.send_velocity(out["qd"])            # at most one command a state

All calls come from one thread, the control loop's.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import listed, pose_of
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.faults import StopReason
from ur_admittance.model import RobotModel
from ur_admittance.sensors.base import WrenchSource

FROZEN = 25  # equal samples after which a real sensor counts as frozen


def watched(config: Config, *, real: bool) -> Config:
    """With a watch on samples that never change where the sensor is `real`, unless the file says
    otherwise: real sensors have noise, a dead one has none.
    """
    given = config.safety.frozen_samples is not None
    return config.replace({"safety.frozen_samples": FROZEN}) if real and not given else config


Consent = Callable[[str, str], None]
"""Takes an act and words about it, and raises a RobotError unless somebody agrees."""


def not_permitted(act: str, words: str) -> None:
    """Nobody agrees to anything: so it is with a robot that no `Run` owns."""
    raise RobotError(f"{words}; permitted by nobody: start it with a Run, permit={{{act!r}}}")


def refuse_two_places(sensor: WrenchSource | None, config: Config) -> None:
    """
    Raises:
        ConfigError: the sensor says that it sits elsewhere than `config.tool.sensor` does.
    """
    said = config.tool.sensor
    if sensor is None or sensor.X_ES is None or said is None:
        return
    if not np.allclose(sensor.X_ES, pose_of(said), rtol=0.0, atol=1e-6):
        raise ConfigError(
            f"wrench: where {sensor.name} sits is said twice: by its pose (--sensor-pose), with "
            f"its origin at {listed(sensor.X_ES[:3, 3])} m, and by tool.sensor of the "
            f"configuration, {listed(np.array(said))}; leave the wrong one out"
        )


class State:
    """What the robot last said. One object a robot, overwritten by the next `wait()`.

    Attributes:
        q: (6,) measured joint angles, base to tip, rad.
        qd: (6,) measured joint rates, rad/s.
        wrench: (6,) [force; torque], N and N m, as the sensor reports it: what the world does to
            the tool, in S axes at S's origin.
        joint_time: when q and qd arrived, s on the robot's `clock()`.
        wrench_time: when the wrench arrived, s on the robot's `clock()`.
        cycle: number of this state; a step of more than one means states were missed.
        speed_scaling: 0 to 1, how much of a commanded speed the robot makes (the pendant's slider).
        first_time: when the first of them arrived, if the robot knows; else they are taken to have
            come one period apart.
        wrenches: how many wrenches have come, where the robot counts them; else -1, and a new
            `wrench_time` is a new one.
        tick_time: when the cycle began, where that is not the arrival of the joint state.
    """

    __slots__ = (
        "cycle",
        "first_time",
        "joint_time",
        "q",
        "qd",
        "speed_scaling",
        "tick_time",
        "wrench",
        "wrench_time",
        "wrenches",
    )

    def __init__(self) -> None:
        self.q = np.full(6, np.nan)
        self.qd = np.full(6, np.nan)
        self.wrench = np.full(6, np.nan)
        self.joint_time = -math.inf
        self.wrench_time = -math.inf
        self.cycle = -1
        self.speed_scaling = 1.0
        self.first_time = -math.inf
        self.wrenches = -1
        self.tick_time = -math.inf

    @property
    def began(self) -> float:
        """When the cycle of this state began, s on the robot's `clock()`."""
        return max(self.joint_time, self.tick_time)


class Robot(ABC):
    """A six-joint arm with a wrench sensor: simulated, or at the end of a wire.

    A robot is made, then connected, then closed, each once. Out of that order, every method raises
    RobotError. Only `close()` may be called at any time, and as often as one likes.

    Attributes:
        sensor: the wrench source that stands in for the robot's own sensor; None: nothing does.
    """

    sensor: WrenchSource | None = None
    stopped_by: StopReason | None = None  # why it stopped by itself; the loop then stops, too
    real_sensor = True  # has noise: readings that never change are those of a dead one
    simulated = False  # nobody can be hurt
    led_by = "velocity"  # how `Run.lead` commands it
    spin = False  # wait actively for the last 300 us of a cycle; for robots paced by a timer
    assent: Consent = staticmethod(not_permitted)
    _life = "not connected"

    @property
    def connected(self) -> bool:
        """Whether it has been connected, and not closed."""
        return self._life == "connected"

    @abstractmethod
    def connect(self) -> None:
        """Open the connection. The arm stays where it is, at rest."""

    @abstractmethod
    def wait(self) -> State:
        """Block until the next state, and return it: a view that the next call overwrites.

        A caller that comes late gets the newest state, not a queue of old ones.
        """

    def look(self) -> State:
        """The state now. Unlike `wait`, it starts nothing, and need not be called again; a robot
        whose states start nothing waits for the next.
        """
        return self.wait()

    @abstractmethod
    def send_velocity(self, qd: ArrayLike) -> None:
        """Turn the joints at `qd` (6,) rad/s, until the next command.

        The robot has a watchdog: without a new command it decelerates to rest and holds.
        """

    @abstractmethod
    def send_position(self, q_ref: ArrayLike) -> None:
        """Be at `q_ref` (6,) rad one cycle from now; without a new command, hold there."""

    @abstractmethod
    def send_trajectory(self, q_ref: ArrayLike, qd: ArrayLike, time_from_start: float) -> None:
        """Be at `q_ref` (6,) rad with the rates `qd` (6,) rad/s after `time_from_start` s.

        A new point replaces the one before; without one, the arm holds at `q_ref`.
        """

    @abstractmethod
    def stop(self) -> None:
        """Decelerate to rest and hold. A later command moves the arm again."""

    @abstractmethod
    def close(self) -> None:
        """Stop, and let go of the robot. May be called twice."""

    @property
    @abstractmethod
    def name(self) -> str:
        """What to call it in messages, such as "sim:ur5e"."""

    @property
    @abstractmethod
    def model(self) -> RobotModel:
        """Its kinematics, limits, tool and sensor."""

    @property
    @abstractmethod
    def rate(self) -> float:
        """States a second, Hz."""

    @property
    def wrench_frame(self) -> str:
        """Name of S, the frame in which `State.wrench` is given."""
        return self.sensor.frame if self.sensor else "sensor"

    @property
    def wrench_compensated(self) -> bool:
        """Whether tool weight and bias have been taken out of the wrench already."""
        return self.sensor is not None and self.sensor.compensated

    @property
    def wrench_problem(self) -> str:
        """What is wrong with the sensor in place of its own, in words, what to do behind the last
        semicolon; "" if nothing is. Its wrench grows old meanwhile.
        """
        return self.sensor.problem if self.sensor else ""

    def trouble(self) -> StopReason | None:
        """What stands against leading the arm any further; None if nothing does. It may be asked in
        every cycle.
        """
        return self.stopped_by

    def rivals(self) -> StopReason | None:
        """Who else sends what the robot alone should send, since this was last asked; None if
        nobody does, or nobody can.
        """
        return None

    def keep_frame(self) -> None:  # noqa: B027  nothing to do, unless anybody may send a wrench
        """From now on believe only wrenches in the frame of the last one."""

    def clock(self) -> float:
        """Now, in s, on the clock that stamps the states: `time.monotonic()` unless the robot
        lives in a time of its own.
        """
        return time.monotonic()

    def __enter__(self) -> Self:
        if self._life == "not connected":
            self.connect()
        self._require("connected", "with")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def _take_sensor(self, sensor: WrenchSource | None) -> None:
        """Let it stand in for the robot's own sensor, if there is one."""
        if sensor is not None:
            self.sensor, self.real_sensor = sensor, sensor.real

    def _with_sensor(self, model: RobotModel) -> RobotModel:
        """The model with S where the sensor says, if it does."""
        X_ES = None if self.sensor is None else self.sensor.X_ES
        return model if X_ES is None else model.with_tool(X_ES=X_ES)

    def _feel(self, state: State, now: float) -> None:
        """Write the wrench of the sensor into the state, if there is one."""
        if self.sensor is not None:
            state.wrench_time = self.sensor.newest(state.wrench, now)
            state.wrenches = self.sensor.count

    def _require(self, life: str, method: str) -> None:
        if self._life != life:
            hint = {
                "not connected": "call connect() first",
                "connected": "it is connected already",
                "closed": "make a new one",
            }[self._life]
            raise RobotError(f"{method}: robot {self.name} is {self._life}; {hint}")
