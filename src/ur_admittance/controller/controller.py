"""The controller: a robot model, a configuration, and one tick at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance import faults
from ur_admittance.config import Config
from ur_admittance.config.validate import (
    FARTHEST,
    as_numbers,
    desired_pose,
    quaternion_of,
    sample,
    seconds,
    transform,
)
from ur_admittance.controller.at_rest import impossible, moving
from ur_admittance.controller.live import LiveParameters
from ur_admittance.controller.packing import Change
from ur_admittance.controller.streaming import WISHES, Streaming, compiled_stream
from ur_admittance.errors import AdmittanceError, ConfigError, ModelError, RobotError
from ur_admittance.faults import Event, Stop, StopReason
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.compile import announced, entry_point
from ur_admittance.kernel.tick import STOPPED_NOW, WRONG_Q, WRONG_WRENCH, update
from ur_admittance.model import RobotModel

TRACE_SECONDS = 2.0
MODES = ("inactive", "active", "holding", "stopped", "leaving")
_FLOAT64 = np.dtype(np.float64)
_SLOWEST = 0.01  # share of its speed that an arm makes at least


class Controller(Streaming):
    """Turns joint positions and a wrench into joint commands, one tick at a time.

        controller = Controller(RobotModel.ur("ur5e"), Config.preset("hand-guiding"))
        controller.activate(q)
        out = controller.update(q, wrench, dt)
        out["qd"], out["q_ref"]

    One controller belongs to one thread. `update` never raises for what a sensor or a robot may
    send (NaN, stale samples, odd times): it holds or stops, and says so in `out["status"]`. It does
    raise for a caller's mistake, such as an array of the wrong length, and then nothing has
    changed.

    Attributes:
        live: its parameters, for a `Blackboard` to show.
        sends: what the robot is to be sent: 'velocity', 'position' or 'trajectory'.
        last_stop: reason and trace of the last hold or stop; None before the first.
    """

    def __init__(
        self,
        model: RobotModel,
        config: Config | None = None,
        *,
        live: LiveParameters | None = None,
    ) -> None:
        """`live`: parameters of `config` and `model` that others see already."""
        if not isinstance(model, RobotModel):
            raise AdmittanceError(
                f"model: expected a RobotModel, such as RobotModel.ur('ur5e'), got {model!r:.100}"
            )
        config = Config() if config is None else config
        if not isinstance(config, Config):
            raise ConfigError(
                "config: expected a Config, such as Config.preset('hand-guiding'), "
                f"got {config!r:.100}"
            )
        self.model = model
        self.live = LiveParameters(config, model) if live is None else live
        self.sends = config.output.mode
        self.last_stop: Stop | None = None
        self._asked: StopReason | None = None  # what `stop` was given
        self._equilibrium = config.equilibrium_pose()
        self._params = self.live.record
        self._state = layout.new_state()
        self._mode = self._state["mode"].data  # views that are quicker to read than NumPy's
        self._at_rest = self._state["at_rest"].data
        self._inputs = layout.new_inputs()
        self._measured_rates = self._inputs["qd"][0]  # a view
        self._scaling = 1.0
        self._outputs = layout.new_outputs()
        self._trace = np.zeros(max(2, round(TRACE_SECONDS * config.control_rate)), layout.OUTPUTS)
        self._trace.view(np.uint8)[:] = 0  # every page is there before the first tick
        self._records = (self._params, self._state, self._inputs, self._outputs, self._trace)
        self._out = self._outputs[0]
        self._clear()
        self._warm_up()

    # --- life cycle ---

    def activate(
        self, q: ArrayLike, X_WD: ArrayLike | None = None, *, qd: ArrayLike | None = None
    ) -> None:
        """Start at rest where the arm is. The first command is exactly zero, whatever was before.

        Args:
            q: measured joint angles, rad (6,). The arm must stand still.
            X_WD: desired pose of the probe (4, 4), approached inside the limits. Default: the
                configured equilibrium, else the measured pose.
            qd: measured joint rates, rad/s (6,), if they are known: an arm that moves is refused.
        """
        q = as_numbers(q, "q", (6,), unit="rad")
        rates = None if qd is None else as_numbers(qd, "qd", (6,), unit="rad/s")
        if found := impossible(self.model, q) or moving(self.model, q, rates):
            raise RobotError(f"activate: {found}")
        goal = self._goal(X_WD)
        self._clear()
        state = self._state[0]
        state.mode = bits.ACTIVE
        state.seeding = bits.SEED_ALL
        state.q[:] = self._inputs[0].q_start[:] = q
        if goal is not None:
            self._write_goal(goal, np.zeros(6))

    def update(
        self,
        q: ArrayLike,
        wrench: ArrayLike,
        dt: float,
        wrench_age: float = 0.0,
        joint_age: float = 0.0,
    ) -> np.record:
        """One tick. Returns the outputs record: a view that the next tick overwrites.

        Args:
            q: measured joint angles, rad (6,).
            wrench: what the sensor reports, N and Nm (6,), in S axes at S's origin: what the world
                does to the tool.
            dt: time since the last tick, s.
            wrench_age: time since the wrench arrived, s.
            joint_age: time since the joint angles arrived, s.
        """
        if (
            type(q) is not np.ndarray
            or q.dtype is not _FLOAT64
            or q.ndim != 1
            or type(wrench) is not np.ndarray
            or wrench.dtype is not _FLOAT64
            or wrench.ndim != 1
            or type(dt) is not float
            or type(wrench_age) is not float
            or type(joint_age) is not float
        ):
            q, wrench, dt = sample("q", q), sample("wrench", wrench), seconds("dt", dt)
            wrench_age = seconds("wrench_age", wrench_age)
            joint_age = seconds("joint_age", joint_age)
        if self._scaling != 1.0 and self._mode[0] == bits.ACTIVE:
            dt *= self._scaling
        if code := self._tick(*self._records, q, wrench, dt, wrench_age, joint_age):
            self._after(code, q, wrench)
        return self._out

    def bind(self, q: np.ndarray, wrench: np.ndarray) -> Callable[[float, float, float], None]:
        """`update` for arrays that stay where they are, checked once, and so a little quicker.

        The caller writes q and wrench before every call of the function that this returns, which
        takes `dt`, `wrench_age` and `joint_age`, each a float, s.
        """
        for name, array in (("q", q), ("wrench", wrench)):
            if type(array) is not np.ndarray or array.dtype != _FLOAT64 or array.shape != (6,):
                raise RobotError(
                    f"bind: {name} must be an array of six float64, got {array!r:.100}"
                )
        tick = partial(self._tick, *self._records, q, wrench)

        def update(dt: float, wrench_age: float, joint_age: float) -> None:
            if code := tick(dt, wrench_age, joint_age):
                self._after(code, q, wrench)

        return update

    def repeat(self, recorded: np.record) -> np.record:
        """Do a tick again from the outputs record it once gave, which holds all its inputs.

        Fed with a run from its first tick on, this gives the same outputs bit for bit; with another
        configuration it gives what that one would have commanded. Changes of parameters are not in
        there: `set` them when `recorded["inputs"]["generation"]` says that they came.
        """
        inputs = recorded["inputs"]
        if recorded["tick"] == 1:
            self._clear()
            if inputs["mode"] != bits.INACTIVE:
                self.activate(inputs["q_start"])
        if inputs["mode"] in (bits.INACTIVE, bits.LEAVING):
            self._state[0].mode = inputs["mode"]
        for name in WISHES:
            self._inputs[name] = inputs[name]
        return self.update(
            inputs["q"],
            inputs["wrench"],
            float(inputs["dt"]),
            float(inputs["wrench_age"]),
            float(inputs["joint_age"]),
        )

    def stop(self, why: str | StopReason = "asked for") -> None:
        """Brake to rest inside the limits from the next tick on, and stay there until `reset()`.
        Of several calls the first says why.
        """
        self._asked = self._asked or StopReason.asked(why)
        self._inputs["stop"] |= bits.STOP_REQUESTED

    def reset(self) -> None:
        """After a stop, with the arm at rest: go on from where the arm is, as after `activate`."""
        state = self._state[0]
        if state.mode != bits.STOPPED:
            raise RobotError(f"reset: nothing to reset, the controller is {self.mode}")
        if not state.at_rest:
            raise RobotError(
                "reset: the arm is still braking; keep calling update() until at_rest is True"
            )
        self.activate(np.array(state.q))

    def deactivate(self) -> None:
        """Brake to rest during the next ticks, then command nothing (`mode` becomes 'inactive')."""
        if self._state[0].mode != bits.INACTIVE:
            self._state[0].mode = bits.LEAVING

    # --- what it is told ---

    def set_desired(self, X_WD: ArrayLike, V_WD: ArrayLike | None = None) -> None:
        """Give the desired pose of the probe and its twist, as a planner would every cycle.

        A pose that is far away is approached inside the limits, never jumped to. With a twist the
        pose goes on moving between calls, for at most 0.1 s.

        Args:
            X_WD: pose in W (4, 4).
            V_WD: twist in W axes, m/s and rad/s (6,). Default: at rest.
        """
        if self._state[0].mode == bits.INACTIVE:
            raise RobotError("set_desired: the controller is inactive; call activate(q) first")
        X = desired_pose(X_WD)
        V = np.zeros(6) if V_WD is None else as_numbers(V_WD, "V_WD", (6,))
        if np.abs(V).max() > FARTHEST:
            raise ModelError(f"V_WD: at most {FARTHEST:g} m/s and rad/s, got {V.tolist()}")
        self._write_goal(X, V)

    def set(self, changes: Mapping[str, Any] | None = None, /, **more: Any) -> Change:
        """Change parameters while running: `set({"admittance.mass": [4, 4, 4, .4, .4, .4]})`.

        All or nothing: if one value is wrong, nothing has changed. Takes effect at the next tick;
        gains reach their new values over `admittance.ramp_seconds`, rising damping first, so that
        no change kicks the arm. On a blackboard it shows like any other; limits may be loosened.
        """
        change = self.live.set({**(changes or {}), **more}, self._out)
        self._end_streams(change.recomputed)
        return change

    def observe(self, qd: np.ndarray, speed_scaling: float) -> None:
        """What else a robot says of itself: joint rates, rad/s (6,), and how much of a commanded
        speed it makes, 0 to 1. The tick needs the rates where it was paused, and the arm may have
        begun to brake. While the arm is slowed (the pendant's slider), the law's time passes as
        much more slowly, so that nothing winds up; a hold or a stop keeps full time.
        """
        self._measured_rates[:] = qd
        self._scaling = min(1.0, speed_scaling) if speed_scaling >= _SLOWEST else _SLOWEST

    def wrench_is_slow(self, slow: bool) -> None:
        """Hold while the wrench comes too seldom, as whoever counts its samples says."""
        self._inputs["stop"] = self._inputs["stop"] & ~bits.WRENCH_SLOW | slow * bits.WRENCH_SLOW

    # --- what it says ---

    @property
    def config(self) -> Config:
        """What is in force, whoever changed it last."""
        return self.live.config

    @property
    def mode(self) -> str:
        """'inactive', 'active', 'holding' (goes on by itself), 'stopped' (until reset) or
        'leaving'.
        """
        return MODES[self._mode[0]]

    @property
    def at_rest(self) -> bool:
        """Whether the last command was exactly zero."""
        return bool(self._at_rest[0])

    @property
    def reason(self) -> StopReason | None:
        """Why the arm was stopped; None unless it is. `events()` tells what came after."""
        return self.last_stop.reason if self.last_stop and self.mode == "stopped" else None

    def status_words(self) -> list[str]:
        """What the status of the last tick says, in words; and after a stop also why."""
        state = self._state[0]
        words = faults.words_of(state.status, self._asked)
        if state.mode in (bits.HOLDING, bits.STOPPED):
            words += [w for w in faults.words_of(state.reasons, self._asked) if w not in words]
        return words

    def events(self) -> list[Event]:
        """The last faults, oldest first: name, time, value and limit of each."""
        state = self._state[0]
        first = max(0, state.event_count - layout.EVENTS)
        rows = [state.events[k % layout.EVENTS] for k in range(first, state.event_count)]
        names = {fault.mask: fault.name for fault in faults.FAULTS}
        return [
            Event(names[1 << int(r.bit)], float(r.time), float(r.value), float(r.limit))
            for r in rows
        ]

    def trace(self) -> np.ndarray:
        """The output records of the last two seconds, oldest first."""
        size, ticks = len(self._trace), int(self._state[0].ticks)
        # As bytes: a copy field by field takes milliseconds, in the very tick that brakes.
        rows, first = self._trace.view(np.uint8).reshape(size, -1), (ticks + 1) % size
        if ticks < size:
            kept = rows[1 : ticks + 1].copy()
        else:
            kept = np.concatenate((rows[first:], rows[:first]))
        return kept.reshape(-1).view(layout.OUTPUTS)

    @property
    def params(self) -> np.ndarray:
        """The record that the tick reads, as an array of one; `set` is the way to change it."""
        return self._params

    @property
    def outputs(self) -> np.ndarray:
        """The record that `update` returns, as an array of one, for whoever copies it whole."""
        return self._outputs

    @property
    def inputs(self) -> np.ndarray:
        """Wishes for the next tick, an array of one: for compiled code that writes them itself."""
        return self._inputs

    @property
    def state(self) -> np.ndarray:
        """What the tick remembers, likewise."""
        return self._state

    # --- inside ---

    def _clear(self) -> None:
        self._state[:] = layout.new_state()
        self._inputs[:] = layout.new_inputs()
        self._inputs["stop"] = self._inputs["goal_count"] = 0
        self._outputs[:] = layout.new_outputs()
        self._outputs["qd"] = self._outputs["status"] = 0
        self._outputs["mode"] = bits.INACTIVE
        self._asked = None

    def _warm_up(self) -> None:
        """Compile (or load) the tick now, not on the robot, and from then on never again."""
        strided = np.zeros((6, 2))[:, 0]  # so that the compiled code takes any stride
        with announced("the control kernel", update):
            update(*self._records, strided, strided, 1.0 / self.config.control_rate, 0.0, 0.0)
        self._tick = entry_point(update)
        self._write_stream = compiled_stream()
        self._clear()

    def _after(self, code: int, q: Any, wrench: Any) -> None:
        if code == WRONG_Q:
            raise RobotError(f"update: q must be six joint angles in rad, got {np.shape(q)}")
        if code == WRONG_WRENCH:
            raise RobotError(
                f"update: wrench must be six numbers [force; torque], got {np.shape(wrench)}"
            )
        if code == STOPPED_NOW:
            state = self._state[0]
            reaction = "stop" if state.mode == bits.STOPPED else "hold"
            reason = faults.reason_of(state.reasons, reaction, self._asked, self._seen)
            names = tuple(faults.names_of(state.reasons))
            self.last_stop = Stop(float(state.time), reason, names, self.trace())

    def _seen(self, mask: int) -> tuple[float, float]:
        """Value and limit of the newest event of a fault; quick, for the tick that brakes."""
        rows, count = self._state["events"][0], int(self._state["event_count"][0])
        for k in range(count - 1, max(count - layout.EVENTS, 0) - 1, -1):
            row = rows[k % layout.EVENTS]
            if 1 << int(row["bit"]) == mask:
                return float(row["value"]), float(row["limit"])
        return np.nan, np.nan

    def _goal(self, X_WD: ArrayLike | None) -> np.ndarray | None:
        if X_WD is not None:
            return desired_pose(X_WD)
        if self._equilibrium is None:
            return None
        return transform(self._equilibrium.position, self._equilibrium.orientation)

    def _write_goal(self, X: np.ndarray, V: np.ndarray) -> None:
        inputs = self._inputs[0]
        inputs.goal_p[:], inputs.goal_wxyz[:] = X[:3, 3], quaternion_of(X)
        inputs.goal_V[:] = V
        inputs.goal_count += 1
