"""The oracle: what must be true of every trace, and a watch on every controller that a test runs.

What it checks, tick by tick, also while the arm brakes and faults:

- I1: every output is finite.
- I2: joint speed and joint acceleration; the tool's speed, turning, acceleration and, where they
  are configured, its jerk; `V_WP_cmd` is `J qd`. In position mode also `q_ref`, which is the
  command there: its steps are within the joint speed, their change within the acceleration.
- Joint range, walls of the workspace, the lead of `q_ref` over the measured joints.
- I3: no step where the state changes: the above holds across every change of mode, and a hold ends
  at rest, with `q_ref` where the arm is.
- I4: a stopped arm that stands stays at exactly zero; an inactive controller commands nothing.
- I5: every fault is one event, in the tick that sees it; a stop or a hold bit is never ignored.

Where the status says `contact_braking`, the tool's acceleration is held to the limit of that.

What it does not: the tool's acceleration where the status says `beyond_acceleration` (joint bounds,
a wall or a singularity forced it); jerk where the status names what holds the arm back harder, or a
turn at full speed or acceleration; range and walls for an arm that does not do what it is told.
After a limit was changed live, the tool's limits are judged again from the next rest on.
"""

from __future__ import annotations

from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from ur_admittance import Controller, RobotModel
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits, layout

LINEAR, ANGULAR = slice(0, 3), slice(3, 6)
KNOWN = sum(fault.mask for fault in FAULTS)
AS_THEY_CAME = ("wrench", "inputs", "timing")  # may hold what is no number
HELD_HARDER = (  # what may need more than the jerk limit, and says so
    bits.SPEED_LIMIT  # a turn at full speed
    | bits.WORKSPACE_LIMIT
    | bits.OUTSIDE_WORKSPACE
    | bits.JOINT_POSITION_LIMIT
    | bits.JOINT_VELOCITY_LIMIT
    | bits.JOINT_ACCELERATION_LIMIT
    | bits.SINGULARITY
    | bits.BEYOND_ACCELERATION
    | bits.STOPPING_DISTANCE
    | bits.CONTACT_BRAKING
)
FULL_TURN = bits.ACCELERATION_LIMIT | bits.JERK_LIMIT  # both: a turn at full acceleration


class Limits(NamedTuple):
    """What a trace is held to: SI units, rad."""

    v: float
    w: float
    a: float
    alpha: float
    braking: float  # where the status says `contact_braking`, of the arm
    lag: float  # s, by which the command may lead the arm then
    jerk: float  # 0 = none
    angular_jerk: float
    box: tuple[tuple[float, ...], tuple[float, ...]]
    lead: float
    qd: tuple[float, ...]
    qdd: tuple[float, ...]
    q: tuple[tuple[float, ...], tuple[float, ...]]
    by_position: bool

    @classmethod
    def of(cls, controller: Controller) -> Limits:
        """From the configuration and the arm's own."""
        config, model = controller.config, controller.model
        limits, margin = config.limits, config.limits.joint_margin
        qd = model.qd_max if limits.joint_velocity is None else limits.joint_velocity
        qdd = model.qdd_max if limits.joint_acceleration is None else limits.joint_acceleration
        return cls(
            config.max_linear_velocity,
            config.max_angular_velocity,
            limits.max_linear_acceleration,
            limits.max_angular_acceleration,
            max(limits.max_linear_acceleration, limits.max_contact_braking),
            config.arm.lag,
            limits.max_linear_jerk,
            limits.max_angular_jerk,
            (tuple(limits.workspace_min), tuple(limits.workspace_max)),
            config.tracking.max_joint_lead,
            tuple(np.broadcast_to(qd, 6).tolist()),
            tuple(np.broadcast_to(qdd, 6).tolist()),
            (tuple(model.q_min + margin), tuple(model.q_max - margin)),
            config.output.mode != "velocity",
        )

    @classmethod
    def in_force(cls, controller: Controller) -> Limits:
        """From the record that the tick reads, which may have come through the blackboard."""
        p = controller.params[0]
        return cls(
            float(p.v_max),
            float(p.w_max),
            float(p.a_max),
            float(p.alpha_max),
            max(float(p.a_max), float(p.contact_braking)),
            float(p.arm_lag),
            float(p.jerk_max),
            float(p.angular_jerk_max),
            (tuple(p.workspace_min.tolist()), tuple(p.workspace_max.tolist())),
            float(p.max_joint_lead),
            tuple(p.qd_max.tolist()),
            tuple(p.qdd_max.tolist()),
            (tuple(p.q_min.tolist()), tuple(p.q_max.tolist())),
            controller.config.output.mode != "velocity",
        )


def lengths(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=-1)


def oracle(history: np.ndarray, controller: Controller) -> None:
    """Hold the output records of one run to all of it.

    In the order of their ticks, all under the same limits, from an arm inside them.
    """
    limits = Limits.of(controller)
    tool = np.ones(len(history), bool)
    q, p_WP = history["q"][0], history["X_WP"][0, :3, 3]
    inside = np.full(len(history), bool(((q >= limits.q[0]) & (q <= limits.q[1])).all()))
    within = np.full(len(history), bool(((p_WP >= limits.box[0]) & (p_WP <= limits.box[1])).all()))
    found = broken(history, limits, controller.model, tool, inside, within)
    assert not found, found


def broken(
    rows: np.ndarray,
    limits: Limits,
    model: RobotModel,
    tool: np.ndarray,
    inside: np.ndarray,
    within: np.ndarray,
    first: int = 0,
) -> dict[str, str]:
    """What is wrong with output records: what was broken -> where, and by how much.

    Args:
        tool: rows whose tool is held to speed, acceleration and jerk.
        inside: rows whose joints must be in their range.
        within: rows whose tool must be within the walls.
        first: the row to begin with; those before it were judged already.
    """
    found: dict[str, str] = {}
    new = np.arange(len(rows)) >= first

    def check(name: str, excess: np.ndarray, where: np.ndarray) -> None:
        """`excess` is by how much each row is beyond; where it is judged it must be <= 0."""
        bad = where & ~(excess <= 0)
        if bad.any() and name not in found:
            k = int(np.argmax(bad))
            found[name] = (
                f"tick {int(rows['tick'][k])} at {rows['time'][k]:.4f} s: {excess[k]:.3g} beyond "
                f"({int(bad.sum())} ticks)"
            )

    def after(values: np.ndarray, ticks: int = 1) -> np.ndarray:
        """One value a row, of which the first `ticks` have nothing before them."""
        return np.concatenate([np.zeros(ticks, values.dtype), values])

    for name in layout.OUTPUTS.names or ():
        if name not in AS_THEY_CAME:
            sound = np.isfinite(rows[name]).reshape(len(rows), -1).all(axis=1)
            check(f"{name} is not finite", np.where(sound, 0.0, np.inf), new)
    if found:
        return found
    status, mode, tick, dt = rows["status"], rows["mode"], rows["tick"], rows["dt"]
    qd, V, q, q_ref = rows["qd"], rows["V_WP_cmd"], rows["q"], rows["q_ref"]
    qd_max, qdd_max = np.array(limits.qd), np.array(limits.qdd)
    follows = after(np.diff(tick) == 1)
    steady = follows & after(follows[:-1])  # two ticks before it are known, too
    moves = new & follows

    check("a status bit without a name", ((status & ~KNOWN) != 0).astype(float), new)
    check("joint speed", (np.abs(qd) - qd_max * (1 + 1e-9)).max(axis=1), new)
    change = np.abs(np.diff(qd, axis=0)) - qdd_max * dt[1:, None] * (1 + 1e-6) - 1e-12
    check("joint acceleration", after(change.max(axis=1, initial=-np.inf)), moves)

    # braking in contact, the limit is the arm's: the command may lead it by 0.8 of its lag
    braking = limits.braking * (1 + 0.8 * limits.lag / np.maximum(dt, 1e-9))
    a_linear = np.where(status & bits.CONTACT_BRAKING, braking, limits.a)[1:]
    for part, v, a, jerk, word in (
        (LINEAR, limits.v, a_linear, limits.jerk, ""),
        (ANGULAR, limits.w, limits.alpha, limits.angular_jerk, " of the rotation"),
    ):
        check(f"speed{word}", lengths(V[:, part]) - v * (1 + 1e-5) - 1e-9, new & tool)
        step = np.diff(V[:, part], axis=0)
        beyond = lengths(step) - a * dt[1:] * (1 + 1e-5) - 1e-9
        free = (status & bits.BEYOND_ACCELERATION) == 0
        check(f"acceleration{word}", after(beyond), moves & tool & free)
        if jerk and len(rows) > 2:
            turn = lengths(np.diff(step / dt[1:, None], axis=0))
            beyond = turn - jerk * dt[2:] * (1 + 1e-5) - 1e-6
            free = ((status & HELD_HARDER) == 0) & ((status & FULL_TURN) != FULL_TURN)
            free = free & after(free[:-1])
            check(f"jerk{word}", after(beyond, 2), new & steady & tool & free)
    for k in np.flatnonzero(new)[::50]:
        off = np.abs(model.jacobian(q[k]) @ qd[k] - V[k]).max() - 1e-9
        check("V_WP_cmd is not J qd", np.where(np.arange(len(rows)) == k, off, 0.0), new)

    beyond_range = np.maximum(limits.q[0] - q, q - limits.q[1]).max(axis=1) - 1e-6
    check("joint range", beyond_range, new & inside)
    p_WP = rows["X_WP"][:, :3, 3]
    beyond_wall = np.maximum(limits.box[0] - p_WP, p_WP - limits.box[1]).max(axis=1) - 1e-4
    check("wall", beyond_wall, new & within)

    zero = (qd == 0).all(axis=1)
    moving = (mode == bits.ACTIVE) | ~zero
    check("lead", np.abs(q_ref - q).max(axis=1) - limits.lead - 1e-9, new & moving)
    if limits.by_position:
        seeded = zero & (q_ref == q).all(axis=1)  # at the end of a hold, and while inactive
        going = moves & ~seeded
        step = np.diff(q_ref, axis=0)
        beyond = np.abs(step) - qd_max * dt[1:, None] * (1 + 1e-6) - 1e-9
        check("step of q_ref", after(beyond.max(axis=1, initial=-np.inf)), going)
        if len(rows) > 2:
            rate = step / dt[1:, None]
            beyond = np.abs(np.diff(rate, axis=0)) - qdd_max * dt[2:, None] * (1 + 1e-6) - 1e-6
            before = after(~seeded[:-1])
            check("acceleration of q_ref", after(beyond.max(axis=1), 2), going & before & steady)

    check("an inactive controller moves the arm", 1.0 * ~zero, new & (mode == bits.INACTIVE))
    active = new & (mode == bits.ACTIVE)
    check("a stop bit is ignored", 1.0 * (status & bits.STOPS != 0), active)
    check("a hold bit is ignored", 1.0 * (status & bits.HOLDS != 0), active)
    stays = (mode == bits.STOPPED) & after((mode == bits.STOPPED)[:-1])
    stood = after(zero[:-1])
    check("a stopped arm moves", 1.0 * ~zero, moves & stays & stood)
    return found


class Watch:
    """Keeps what one controller says, and judges it from time to time."""

    MOST = 2000  # ticks between two judgements

    def __init__(self, controller: Controller, tick: Any) -> None:
        self.controller, self._tick = controller, tick
        self.found: dict[str, str] = {}
        self._rows: list[bytes] = []
        self._events: list[int] = []
        self._outputs = controller.outputs.view(np.uint8).data
        self._generation = controller.params["generation"].data
        self._event_count = controller.state["event_count"].data
        self._limits, self._seen = Limits.in_force(controller), self._generation[0]
        self._before = np.zeros(0, layout.OUTPUTS)
        self._tool = self._inside = self._within = True
        self._noted = 0  # events so far

    def __call__(self, *arguments: Any) -> int:
        """One tick, noted."""
        if self._generation[0] != self._seen:
            self.judge()
            limits = Limits.in_force(self.controller)
            if limits != self._limits:
                self._tool = self._inside = self._within = False  # until the arm stands
            self._limits, self._seen = limits, self._generation[0]
        code = self._tick(*arguments)
        if code in (0, 3):
            self._rows.append(bytes(self._outputs))
            self._events.append(self._event_count[0])
            if len(self._rows) >= self.MOST:
                self.judge()
        return code

    def judge(self) -> None:
        """Look at all that came since the last time."""
        if not self._rows:
            return
        fresh = np.frombuffer(b"".join(self._rows), layout.OUTPUTS)
        first, rows = len(self._before), np.concatenate([self._before, fresh])
        events = np.array([0] * first + self._events)
        self._rows, self._events = [], []
        self._before = rows[-2:].copy()
        tool, inside, within = self._judged(rows, first)
        found = broken(rows, self._limits, self.controller.model, tool, inside, within, first)
        found |= self._unnoted(rows, events, first)
        self.found = found | self.found

    def _judged(self, rows: np.ndarray, first: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Which rows are held to the tool's limits, to the joint range, and to the walls.

        From an activation, or a rest after a change, on: range and walls for an arm that was inside
        then and goes exactly where it is told to.
        """
        limits, q, qd, dt = self._limits, rows["q"], rows["qd"], rows["dt"]
        p_WP = rows["X_WP"][:, :3, 3]
        inside = np.all((q >= limits.q[0]) & (q <= limits.q[1]), axis=1)
        within = np.all((p_WP >= limits.box[0]) & (p_WP <= limits.box[1]), axis=1)
        moved = np.diff(q, axis=0)
        exact = np.zeros(len(rows), bool)
        for seconds in (dt[:-1], dt[1:]):  # told at the end of one tick, or seen at the next
            exact[1:] |= (np.abs(moved - qd[:-1] * seconds[:, None]) < 1e-9).all(axis=1)
        exact &= rows["mode"] != bits.INACTIVE
        results = np.zeros((3, len(rows)), bool)
        still = (qd == 0).all(axis=1)
        for k in range(first, len(rows)):
            starts = k == 0 or rows["tick"][k] != rows["tick"][k - 1] + 1
            if starts or still[k]:
                self._tool = True
            if starts or (still[k] and not exact[k]):
                self._inside, self._within = bool(inside[k]), bool(within[k])
            elif not exact[k]:
                self._inside = self._within = False
            elif still[k]:
                self._inside, self._within = self._inside or inside[k], self._within or within[k]
            results[:, k] = self._tool, self._inside, self._within
        return results[0], results[1], results[2]

    def _unnoted(self, rows: np.ndarray, events: np.ndarray, first: int) -> dict[str, str]:
        """I5: new faults and new events, tick by tick."""
        said = rows["status"] & ~bits.LIMITS
        for k in range(first, len(rows)):
            starts = k == 0 or rows["tick"][k] != rows["tick"][k - 1] + 1
            before = 0 if starts else int(said[k - 1])
            noted = 0 if starts else self._noted
            self._noted = int(events[k])
            if (int(said[k]) & ~before).bit_count() != self._noted - noted:
                return {"a fault is not one event": f"tick {int(rows['tick'][k])}"}
        return {}


class Watches:
    """All controllers that tests run."""

    def __init__(self) -> None:
        self._of_this_test: list[Watch] = []
        self._alive: WeakSet[Watch] = WeakSet()  # some live through several tests

    def begin(self, controller: Controller) -> None:
        """From now on, everything this controller says is noted."""
        for watch in self._of_this_test:
            watch.judge()  # so that a test of many short runs does not keep them all
        watch = Watch(controller, controller._tick)
        controller._tick = watch
        self._of_this_test.append(watch)
        self._alive.add(watch)

    def end(self) -> dict[str, str]:
        """What was broken since the last end."""
        found: dict[str, str] = {}
        for watch in {*self._of_this_test, *self._alive}:
            watch.judge()
            found |= watch.found
            watch.found = {}
        self._of_this_test.clear()
        return found
