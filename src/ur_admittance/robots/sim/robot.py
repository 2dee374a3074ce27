"""A simulated arm (MuJoCo): late, lagging and noisy as a real one, or ideal; and hands to push it.

A cycle: take the command that is `latency` cycles old, move the joint reference by it, let the
physics follow in steps of at most 1 ms, read the sensor.
"""

from __future__ import annotations

import math
import time
from collections import deque
from contextlib import suppress

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config.validate import as_numbers, as_time_from_start, six, within
from ur_admittance.errors import RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.model import RobotModel
from ur_admittance.realtime import sleep_until
from ur_admittance.robots.base import Robot, State
from ur_admittance.robots.sim.hands import Hand
from ur_admittance.robots.sim.mjcf import PROBE, STEP, TOOL, build, load_mujoco
from ur_admittance.robots.sim.scene import Scene, Tool
from ur_admittance.robots.sim.servo import Servo
from ur_admittance.sensors.base import WrenchSource

_NOISE_BLOCK = 512  # cycles of noise drawn at once
_BRAKING, _AT_REST = 2.0, 1e-4  # s, rad/s: how long closing may take, and when it is done
_GIVE_UP = 1.0  # s behind real time: then the simulation has been paused, and goes on from now


class SimRobot(Robot):
    """An arm in MuJoCo.

        with SimRobot("ur5e", hand=ScriptedPush([(1, 2, [10, 0, 0, 0, 0, 0])])) as robot:
            state = robot.wait()
            robot.send_velocity(np.zeros(6))

    The same arguments and commands give the same states, bit for bit. In real time a caller that
    comes late finds the arm where it has gone meanwhile, as with a real one.
    """

    real_sensor, simulated = False, True

    def __init__(
        self,
        model: str | RobotModel = "ur5e",
        *,
        scene: Scene | None = None,
        tool: Tool | None = None,
        hand: Hand | None = None,
        q0: ArrayLike | None = None,
        rate: float = 500.0,
        realtime: bool = True,
        ideal: bool = False,
        latency: int | None = None,
        sensor_delay: int | None = None,
        servo_bandwidth: float | None = None,
        noise: tuple[float, float] | None = None,
        bias: ArrayLike = (0.0,) * 6,
        seed: int = 0,
        looks: bool = False,
        sensor: WrenchSource | None = None,
    ) -> None:
        """
        Args:
            model: an arm, or the name of one.
            scene: what stands around the arm; default: nothing.
            tool: its shape, and the mass and centre of mass that the sensor weighs; default: a
                massless ball at P.
            hand: what pushes the tool, see `Hand`.
            q0: joints at the start, rad (6,); default: `model.home`.
            rate: states a second, Hz.
            realtime: pace by `time.monotonic()`; else as fast as it goes, `clock()` being
                simulated time.
            ideal: the joints do exactly what they are told and nothing pushes them off; the
                defaults of what follows are then 0, 0, infinite and (0, 0).
            latency: whole cycles between a command and its first effect; default 2.
            sensor_delay: whole cycles by which the wrench is old when it arrives; default 1.
            servo_bandwidth: of the joints' first-order lag, Hz; default 8.
            noise: standard deviation of force and torque, N and N m; default (0.2, 0.01).
            bias: what the sensor adds to every wrench, N and N m (6,), S axes.
            seed: of the noise.
            looks: give the model its meshes, for pictures of it; the motion is the same.
            sensor: see `Robot`. What it feels, the simulated tool does not, nor the other way
                round; a real one lives in real time, and so must the arm.
        """
        self._mj = load_mujoco()
        self._take_sensor(sensor)
        arm = model if isinstance(model, RobotModel) else RobotModel.ur(model)
        self._model = self._with_sensor(arm)
        self._rate = within("SimRobot: rate", rate, 10.0, 2000.0, "Hz")
        self._realtime, self._ideal = bool(realtime), bool(ideal)
        latency = (0 if ideal else 2) if latency is None else latency
        sensor_delay = (0 if ideal else 1) if sensor_delay is None else sensor_delay
        for name, cycles in (("latency", latency), ("sensor_delay", sensor_delay)):
            if not (isinstance(cycles, int) and 0 <= cycles <= 1000):
                raise RobotError(
                    f"SimRobot: {name} must be 0 to 1000 whole cycles, got {cycles!r:.100}"
                )
        if servo_bandwidth is None:
            servo_bandwidth = math.inf if ideal else 8.0
        bandwidth = within("SimRobot: servo_bandwidth", servo_bandwidth, 0.1, math.inf, "Hz")
        noise = ((0.0, 0.0) if ideal else (0.2, 0.01)) if noise is None else noise
        two = as_numbers(noise, "SimRobot: noise", (2,), unit="N, N m", error=RobotError)
        deviation = np.repeat(two, 3)
        if not (deviation >= 0).all():
            raise RobotError(f"SimRobot: noise must be 0 or more, got {noise}")

        self._cycle = 1.0 / self._rate
        steps = 1 if ideal else max(1, math.ceil(self._cycle / STEP - 1e-9))
        built = build(self._model, tool=tool, scene=scene, step=self._cycle / steps, looks=looks)
        q = self._model.home if q0 is None else six("SimRobot", "q0", "rad", q0)
        self._steps = range(steps)
        self._m, self._d = built.model, self._mj.MjData(built.model)
        self._d.qpos[:] = q
        self._servo = Servo(self._model, q, self._cycle, steps, bandwidth)
        self._rate_gain = built.kd / built.kp
        # Where the torque has long reached its greatest, being further ahead pushes no harder.
        self._lead = 2.0 * built.model.actuator_forcerange[:, 1] / built.kp
        self._probe, self._tool = self._m.site(PROBE).id, self._m.body(TOOL).id

        self.hand = hand
        self._pending: tuple | None = None
        self._commands: deque[tuple | None] = deque([None] * latency)
        self._wrenches = np.zeros((sensor_delay + 1, 6))
        self._bias = six("SimRobot", "bias", "N, N m", bias)
        self._random, self._deviation = np.random.default_rng(seed), deviation
        self._noise = np.zeros((_NOISE_BLOCK, 6))
        self._state, self._count, self._deadline = State(), 0, 0.0
        self._X_WP, self._V_WP, self._twist = np.eye(4), np.zeros(6), np.zeros(6)
        self._X_WP[:] = self._model.fk(q)

    # --- the protocol ---

    def connect(self) -> None:
        self._require("not connected", "connect")
        if self.sensor is not None:
            self.sensor.connect()
        self._begin()
        self._deadline = time.monotonic()
        self._life = "connected"

    def wait(self) -> State:
        self._require("connected", "wait")
        self._advance(self._pending)
        self._pending = None
        if self._realtime:
            self._pace()
        self._protect()
        return self._tell()

    def send_velocity(self, qd: ArrayLike) -> None:
        """As every robot. Cut to the greatest speed of each joint; after 20 ms of simulated time
        without a new one, the joints decelerate to rest.
        """
        self._require("connected", "send_velocity")
        self._pending = (Servo.velocity, six("send_velocity", "qd", "rad/s", qd))

    def send_position(self, q_ref: ArrayLike) -> None:
        self._require("connected", "send_position")
        self._pending = (Servo.position, six("send_position", "q_ref", "rad", q_ref))

    def send_trajectory(self, q_ref: ArrayLike, qd: ArrayLike, time_from_start: float) -> None:
        self._require("connected", "send_trajectory")
        seconds = as_time_from_start(time_from_start)
        q_ref = six("send_trajectory", "q_ref", "rad", q_ref)
        self._pending = (
            Servo.trajectory,
            q_ref,
            six("send_trajectory", "qd", "rad/s", qd),
            seconds,
        )

    def stop(self) -> None:
        self._require("connected", "stop")
        self._pending = (Servo.stop,)

    def close(self) -> None:
        """As every robot: the arm comes to rest first, at once on the wall's clock, and the last
        state says where.
        """
        if self._life == "connected":
            with suppress(RobotError):  # physics that diverged have nothing left to brake
                self._come_to_rest()
        if self.sensor is not None:
            self.sensor.close()
        self._life = "closed"

    @property
    def name(self) -> str:
        return f"sim:{self._model.name}"

    @property
    def model(self) -> RobotModel:
        return self._model

    @property
    def rate(self) -> float:
        return self._rate

    def clock(self) -> float:
        return time.monotonic() if self._realtime else self.time

    # --- what only a simulation knows ---

    @property
    def time(self) -> float:
        """Simulated time since `connect()`, s."""
        return self._count * self._cycle

    @property
    def X_WP(self) -> np.ndarray:
        """(4, 4) true pose of the probe."""
        return self._model.fk(self._d.qpos)

    @property
    def speed_scaling(self) -> float:
        """The slider on the pendant, 0 to 1: velocity commands are multiplied by it."""
        return self._servo.speed_scaling

    @speed_scaling.setter
    def speed_scaling(self, value: float) -> None:
        self._servo.speed_scaling = within("SimRobot: speed_scaling", value, 0.0, 1.0)

    # --- one cycle ---

    def _advance(self, command: tuple | None) -> None:
        """Take a command (or none), and live through one cycle."""
        self._commands.append(command)
        due = self._commands.popleft()
        servo, d = self._servo, self._d
        if due is None:
            servo.silent()
        else:
            due[0](servo, *due[1:])
        if self._ideal:
            servo.advance()
            d.qacc[:] = (servo.qd - d.qvel) / self._cycle
            d.qpos[:], d.qvel[:] = servo.q, servo.qd
            self._count += 1
            self._push()
            self._mj.mj_inverse(self._m, d)
        else:
            self._push()
            for _ in self._steps:
                servo.advance()
                d.ctrl[:] = servo.q + self._rate_gain * servo.qd
                self._mj.mj_step(self._m, d)
            if not math.isfinite(d.qacc.sum()):
                raise RobotError(
                    f"wait: the simulation of {self.name} diverged at {self.time:.3f} s; lower the "
                    "scene's stiffness or damping, or the hand's"
                )
            servo.keep_near(d.qpos, self._lead)
            self._count += 1
        self._sense()

    def _tell(self) -> State:
        """The state as it is now."""
        state = self._state
        state.q[:], state.qd[:] = self._d.qpos, self._d.qvel
        now = state.joint_time = state.wrench_time = self.clock()
        self._feel(state, now)
        state.cycle = self._count
        state.speed_scaling = self._servo.speed_scaling
        return state

    def _protect(self) -> None:
        """What the safety of a real arm would stop at."""
        q, model = self._d.qpos, self._model
        if ((q >= model.q_min) & (q <= model.q_max)).all():
            return
        n = int(np.argmax((q < model.q_min) | (q > model.q_max)))
        raise RobotError(
            f"wait: protective stop of {self.name} at {self.time:.3f} s: {model.joint_names[n]} is "
            f"at {q[n]:.4g} rad, allowed is {model.q_min[n]:.4g} to {model.q_max[n]:.4g} rad; keep "
            "away from it with limits.joint_margin"
        )

    def _come_to_rest(self) -> None:
        """Brake, with nobody pushing any more."""
        self.hand, self._pending = None, (Servo.stop,)
        for n in range(round(_BRAKING * self._rate)):
            self._advance(self._pending)
            self._pending = None
            if n >= len(self._commands) and np.abs(self._d.qvel).max() < _AT_REST:
                break
        self._tell()

    def _push(self) -> None:
        """Let the hand act on the tool; MuJoCo wants its wrench at the centre of mass."""
        if self.hand is None:
            self._d.xfrc_applied[self._tool] = 0.0
            return
        mj, m, d = self._mj, self._m, self._d
        mj.mj_kinematics(m, d)
        mj.mj_comPos(m, d)
        mj.mj_comVel(m, d)
        self._X_WP[:3, :3] = d.site_xmat[self._probe].reshape(3, 3)
        self._X_WP[:3, 3] = d.site_xpos[self._probe]
        mj.mj_objectVelocity(m, d, mj.mjtObj.mjOBJ_SITE, self._probe, self._twist, 0)
        # MuJoCo says [angular; linear]
        self._V_WP[LINEAR], self._V_WP[ANGULAR] = self._twist[ANGULAR], self._twist[LINEAR]
        wrench = six("hand", "wrench", "N, N m", self.hand(self.time, self._X_WP, self._V_WP))
        arm = d.site_xpos[self._probe] - d.xipos[self._tool]
        applied = d.xfrc_applied[self._tool]
        applied[LINEAR] = wrench[LINEAR]
        mj.mju_cross(applied[ANGULAR], arm, wrench[LINEAR])
        applied[ANGULAR] += wrench[ANGULAR]

    def _sense(self) -> None:
        """The wrench of this cycle into the line, the one that is `sensor_delay` old out of it.

        MuJoCo gives what the wrist does to the tool. We want what the world does to it: the
        opposite at rest, and less the tool's inertia in motion.
        """
        n = self._count % _NOISE_BLOCK
        if n == 0:
            self._draw_noise()
        line, size = self._wrenches, len(self._wrenches)
        np.subtract(self._noise[n], self._d.sensordata, out=line[self._count % size])
        self._state.wrench[:] = line[(self._count + 1) % size]

    def _draw_noise(self) -> None:
        self._random.standard_normal(out=self._noise)
        self._noise *= self._deviation
        self._noise += self._bias

    def _begin(self) -> None:
        """Before the first cycle the arm has stood, and the sensor felt the tool, for long."""
        self._d.ctrl[:] = self._servo.q
        (self._mj.mj_inverse if self._ideal else self._mj.mj_forward)(self._m, self._d)
        self._draw_noise()
        self._wrenches[:] = self._noise[0] - self._d.sensordata

    def _pace(self) -> None:
        """Sleep until this cycle is over, or catch up with cycles whose time has passed."""
        self._deadline += self._cycle
        late = time.monotonic() - self._deadline
        if late > _GIVE_UP:
            self._deadline += late
        while late >= self._cycle and late <= _GIVE_UP:
            self._advance(None)
            self._deadline += self._cycle
            late = time.monotonic() - self._deadline
        sleep_until(self._deadline, self.spin)
