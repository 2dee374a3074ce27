"""A UR arm over RTDE: its packets are the clock, our program on it takes a command a packet."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config import Config
from ur_admittance.config.validate import as_time_from_start, pose_of, six
from ur_admittance.controller.at_rest import STILL_TURN
from ur_admittance.errors import RobotError
from ur_admittance.faults import StopReason
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.realtime import SPIN_SECONDS
from ur_admittance.robots.base import Robot, State, refuse_two_places
from ur_admittance.robots.rtde.inspection import Expected, Found
from ur_admittance.robots.rtde.script import END, HOLD, POSITION, RUNS, VELOCITY
from ur_admittance.robots.rtde.session import ZERO, Session
from ur_admittance.robots.rtde.way import Way
from ur_admittance.robots.rtde.wrench import COMPENSATED, Turn
from ur_admittance.sensors.base import WrenchSource

_QUIET = 5  # cycles without a command, after which a velocity ends
_REST = 1e-3  # rad/s
_BRAKING = 2.0  # s that closing may wait for the arm to stand
_BYE = 0.5  # s that closing may wait for the program to end


class RtdeRobot(Robot):
    """The arm at an address.

        with RtdeRobot("192.168.1.10") as robot:
            state = robot.wait()
            robot.send_velocity(np.zeros(6))

    `connect` reads who the robot is and compares; the first `wait` starts our program on it, and
    from then on `wait` must be called in every cycle. A caller that sends nothing is not dead: an
    arm that was given speeds comes to rest, one that was given positions holds them. A process that
    does not call `wait` for 20 ms, or is no more, ends the program.

    W is the controller's frame `base`, P the TCP that is set on the pendant.
    """

    def __init__(
        self,
        host: str,
        *,
        config: Config | None = None,
        expected: Expected | None = None,
        sensor: WrenchSource | None = None,
        watch: bool = False,
        **options: Any,
    ) -> None:
        """
        Args:
            host: name or address of the robot.
            config: payload and gravity are compared with the robot's.
            expected: what else is compared.
            sensor: see `Robot`; where it does not say where it sits, and `config.tool` does not
                either, it is at the flange.
            watch: only to look at the arm: no program is started, commands are refused.
            options: to `Session`:
                ports: of "rtde", "primary" and "dashboard", where they are not the usual ones;
                registers: first of six general purpose registers of each kind, 0 to 42;
                compensated: take the wrench less payload even where there is a raw one;
                urcap: port on which the External Control URCap asks for our program, 0 for any;
                default: it is sent, which needs remote control;
                tell: takes a line for a person, such as what to press on the pendant;
                make, clock: how sockets and time are made, for tests.
        """
        self.stopped_by = None
        self._session = Session(host, watch=watch, **options)
        self._config, self._expected = config or Config(), expected or Expected()
        refuse_two_places(sensor, self._config)
        self._take_sensor(sensor)
        self._watch, self._replace = watch, False
        states, self._state = self._session.states, State()
        self._state.q, self._state.qd = states.q, states.qd  # views: one copy a state
        if sensor is None:
            self._state.wrench = states.wrench
        self._turn: Turn | None = None
        self._sent, self._doing, self._last, self._quiet = False, HOLD, ZERO, 0
        self._way: Way | None = None

    # --- the protocol ---

    def connect(self) -> None:
        """As every robot: reads who it is, and compares.

        Raises:
            NotReady: something differs, or the robot is not ready; says all of it, and what to do.
            RobotError: nobody answers; or another program plays on the robot, or the last one
                ended by itself, and nobody permits a start.
        """
        self._require("not connected", "connect")
        session = self._session
        try:
            session.connect(self._config, self._expected, own_sensor=self.sensor is None)
            if words := session.last_end():
                self.assent("recover", words)
            if words := session.plays():
                self.assent("replace", words)
                self._replace = True
            if self.sensor is None and session.source == COMPENSATED:
                self._model = session.model
                self._turn = Turn(self._model)
            else:
                self._model = session.model.with_tool(X_ES=np.eye(4))
            if self._config.tool.sensor is not None:
                self._model = self._model.with_tool(X_ES=pose_of(self._config.tool.sensor))
            if self.sensor is not None:
                self.sensor.connect()
                self._model = self._with_sensor(self._model)
        except BaseException:
            self.close()
            raise
        self._life = "connected"

    def wait(self) -> State:
        self._require("connected", "wait")
        session, state = self._session, self._state
        if not session.engaged:
            session.engage(replace=self._replace)
        if not self._sent:
            self._beat()
        self._sent = False
        period = 1.0 / session.rate
        came = session.next(state.joint_time + period - SPIN_SECONDS if self.spin else 0.0)
        self._take(came)
        if not self.stopped_by and (why := session.problem()):
            self._stopped(why)
        return state

    def look(self) -> State:
        """The state of the robot now. Unlike `wait`, it starts nothing, and need not be called
        again.
        """
        self._require("connected", "look")
        session = self._session
        if session.engaged:
            return self.wait()
        session.resume()
        self._take(1)
        session.client.pause()
        return self._state

    def send_velocity(self, qd: ArrayLike) -> None:
        """As every robot. After 10 ms without a new one the joints decelerate to rest; should this
        process die, after 20 ms (CB3: 40).
        """
        self._require("connected", "send_velocity")
        self._command(VELOCITY, _numbers("send_velocity", "qd", "rad/s", qd))

    def send_position(self, q_ref: ArrayLike) -> None:
        self._require("connected", "send_position")
        self._command(POSITION, _numbers("send_position", "q_ref", "rad", q_ref))

    def send_trajectory(self, q_ref: ArrayLike, qd: ArrayLike, time_from_start: float) -> None:
        self._require("connected", "send_trajectory")
        seconds = as_time_from_start(time_from_start)
        goal = six("send_trajectory", "q_ref", "rad", q_ref)
        rates = six("send_trajectory", "qd", "rad/s", qd)
        start = np.array(self._last) if self._doing == POSITION else self._state.q.copy()
        rate = self._way.rate if self._way else np.zeros(6)
        way = Way(start, rate, goal, rates, seconds, 1.0 / self._session.rate)
        self._command(POSITION, way.next())
        self._way = way

    def stop(self) -> None:
        """As every robot. Where the connection has ended, the program has stopped the arm."""
        self._require("connected", "stop")
        with contextlib.suppress(RobotError):
            self._command(HOLD, ZERO)

    def close(self) -> None:
        """As every robot: brings the arm to rest, and ends the program on it."""
        if self._life == "connected" and self._session.engaged and not self._watch:
            with contextlib.suppress(RobotError):
                self._take_leave()
        self._session.client.close()
        if self.sensor is not None:
            self.sensor.close()
        self._life = "closed"

    @property
    def name(self) -> str:
        return self._session.name

    @property
    def model(self) -> RobotModel:
        return self._model

    @property
    def rate(self) -> float:
        return self._session.rate

    @property
    def wrench_frame(self) -> str:
        if self.sensor is not None:
            return super().wrench_frame
        return "tcp" if self.wrench_compensated else "tool0"

    @property
    def wrench_compensated(self) -> bool:
        if self.sensor is not None:
            return super().wrench_compensated
        return self._session.source == COMPENSATED

    def clock(self) -> float:
        return self._session.clock()

    # --- what only this robot has ---

    @property
    def session(self) -> Session:
        """The conversation, with what was found and counted in it."""
        return self._session

    @property
    def found(self) -> Found:
        """What the robot said of itself when it was connected."""
        if self._session.found is None:
            raise RobotError(f"found: robot {self.name} is {self._life}; call connect() first")
        return self._session.found

    def differences(self) -> list[str]:
        """What was not as expected when it was connected, also where it is only looked at: a line
        each, with what to do.
        """
        own = self.sensor is None
        return self._session.differences(self._expected, self._config, own_sensor=own)

    def zero(self) -> None:
        """Let the robot zero its own sensor (`zero_ftsensor`): before the first `wait`, at rest,
        with nothing touching the tool. It acts on the compensated wrench alone.

        Raises:
            RobotError: the arm moves, something touches the tool, or the wrench is not that one.
        """
        state, safety = self.look(), self._config.safety
        if self._session.engaged or not self.wrench_compensated:
            raise RobotError(
                f"zero: {self.name} zeroes its compensated wrench, before a run; for the raw one "
                "set payload.force_bias and payload.torque_bias"
            )
        speed, force = self._session.speed, float(np.linalg.norm(state.wrench[LINEAR]))
        torque = float(np.linalg.norm(state.wrench[ANGULAR]))
        if not speed <= STILL_TURN:
            raise RobotError(f"zero: the arm moves, a joint at {speed:.3f} rad/s; hold it still")
        if not (force <= safety.start_force and torque <= safety.start_torque):
            raise RobotError(
                f"zero: the sensor feels {force:.3g} N and {torque:.3g} Nm, at most "
                f"{safety.start_force:g} N and {safety.start_torque:g} Nm (safety.start_force, "
                "safety.start_torque) is taken for a sensor that drifted; does something touch the "
                "tool? Else correct the payload on the pendant"
            )
        self._session.zero()

    # --- inside ---

    def _take(self, came: int) -> None:
        """Complete the state, after so many have come."""
        state, session = self._state, self._session
        now = session.clock()
        self._feel(state, now)
        if not came:
            return
        states = session.states
        if self._turn is not None:
            self._turn(states.q, states.wrench)
        state.joint_time = now
        state.first_time = now if session.client.waited else now - (came - 1) / session.rate
        state.cycle = round((states.time - session.first) * session.rate)
        state.speed_scaling = states.scaling
        if self.sensor is None:
            state.wrench_time = now

    def _stopped(self, why: StopReason) -> None:
        """Latch why, and command nothing but rest, from this cycle on."""
        self.stopped_by = why
        if not self._watch:
            self._command(HOLD, ZERO)
            self._sent = False

    def _command(self, kind: int, values: Any) -> None:
        if self._watch:
            raise RobotError(f"{self.name}: connected only to look; it takes no commands")
        if self.stopped_by:
            kind, values = HOLD, ZERO
        self._sent, self._doing, self._last, self._quiet = True, kind, values, 0
        self._way = None
        self._session.send(kind, values)

    def _beat(self) -> None:
        """The caller has sent nothing since the last state; our program must hear that it lives."""
        if self._watch:
            return
        if self._way is not None:
            way = self._way
            self._command(POSITION, way.next())
            self._way = None if way.over else way
        elif self._doing != VELOCITY:
            self._command(self._doing, self._last)
        else:
            self._quiet += 1
            if self._quiet >= _QUIET:
                self._command(HOLD, ZERO)

    def _take_leave(self) -> None:
        session, status = self._session, lambda: self._session.states.status
        deadline = session.clock() + _BRAKING
        while session.clock() < deadline and status().fine:
            session.send(HOLD, ZERO)
            if session.next() and session.speed < _REST:
                break
        deadline = session.clock() + _BYE
        while session.clock() < deadline and status().fine and status().program == RUNS:
            session.send(END, ZERO)
            session.next()


def _numbers(method: str, name: str, unit: str, value: Any) -> list[float]:
    """Six finite numbers: quickly, where they are what the controller gives."""
    if type(value) is np.ndarray and value.dtype == np.float64 and value.shape == (6,):
        values = value.tolist()
        if math.isfinite(sum(values)):
            return values
    return six(method, name, unit, value).tolist()
