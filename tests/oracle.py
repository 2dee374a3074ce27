"""The oracle: what must be true of every trace of every controller that a test runs, anywhere.

What it checks, tick by tick, also while the arm brakes and faults; `CHECKS` has all of it by name:

- I1: every output is finite, and `X_WP` and `V_WP_cmd` are what `q` and `qd` make of them.
- I2: joint speed and joint acceleration; the tool's speed, turning, acceleration and, where they
  are configured, its jerk. In position mode also `q_ref`, which is the command there: its steps are
  within the joint speed, their change within the acceleration.
- Joint range, walls of the workspace, the lead of `q_ref` over the measured joints.
- I3: no step where the state changes: the above holds across every change of mode; a start and the
  end of a hold are at rest, with `q_ref` where the arm is, and so no farther from where it was than
  its lead and what others moved the arm by.
- I4: an arm that brakes comes to rest, in the time that its limits need, and never gets faster on
  the way. Then it stays at exactly zero: a stop until a reset, a hold for 50 good cycles. An
  inactive controller commands nothing.
- I5: every fault is one event, in the tick that sees it, with that tick's time, the limit that was
  broken and a value that breaks it; a stop or a hold bit is never ignored.
- I7: the law is passive at its port. While nothing holds it back, mass and spring never store more
  than force times way has brought; what limits and damping do to its velocity only shortens what
  its equation gives. `energy` and `energy_given` are what force and motion make of them.

What it does not, and why:

- Tool acceleration where the status says `beyond_acceleration`: a joint's end, a wall or a
  singularity needs more, and that comes first. Where it says `contact_braking`, the limit is that.
- Jerk where joints, singularities, the distance to stop in, or what is touched hold the arm back;
  where a hard wall clips the speed; at exactly full speed, which is a cut; and a quarter more at
  full acceleration and on arrival, where the two limits meet.
- After a limit was changed live: the tool's limits until the next rest, braking as if it began
  then, range and walls until the arm has rested.
- Range and walls for an arm that goes where it was not told to: that is pushed, blocked, slowed or
  moved by hand. An arm that lags by up to 60 ms is held to them as an ideal one.
- In a chain the law's own time stands still while the robot is paused, and it starts anew from
  rest: that tick is none of its own. What the chain sends meanwhile is judged (`tests/sent.py`).
- The law's energy while its gains are ramped, while it is streamed to or presses with a force
  (energy is theirs to give), in a contact that damping follows, where the force is taken ahead or
  late, of integrators that are not exact, and of a rotational spring that differs between axes,
  which has no potential.
- The way in which an arm brakes is not held to a straight line: weak joints may get faster by a
  tenth of what they brake from.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ur_admittance import Config, Controller, RobotModel
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits, layout
from ur_admittance.packing import pack

LINEAR, ANGULAR = slice(0, 3), slice(3, 6)
KNOWN = sum(fault.mask for fault in FAULTS)
NAMES = {fault.mask: fault.name for fault in FAULTS}
AS_THEY_CAME = ("wrench", "inputs", "timing")  # may hold what is no number
JOINTS = bits.JOINT_POSITION_LIMIT | bits.JOINT_VELOCITY_LIMIT | bits.JOINT_ACCELERATION_LIMIT
HELD_HARDER = (  # what may need more than the jerk limit, and says so
    JOINTS
    | bits.OUTSIDE_WORKSPACE
    | bits.SINGULARITY
    | bits.BEYOND_ACCELERATION
    | bits.STOPPING_DISTANCE
    | bits.CONTACT_BRAKING
)
HARD_WALL = bits.WORKSPACE_LIMIT | bits.JERK_LIMIT  # both: the speed is clipped
GOOD = 50  # ticks at rest without a fault, after which a hold ends
KEPT = GOOD + 2  # rows that are looked back on
LAG, SLIP = 0.06, 2e-3  # s and rad by which an arm may be behind, and still does as it is told
WALL_SHARE = 0.577  # of its acceleration, with which the tool brakes along each axis near walls

ROW = np.dtype([("said", layout.OUTPUTS), ("events", np.int64), ("seeding", np.int64)])
"""What is known of a tick: its outputs, the events so far, and what it took from the measurement,
see `bits.SEED_NOTHING`.
"""


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
    def in_force(cls, p: Any) -> Limits:
        """From the record that the tick reads, which may have come through the blackboard."""
        return cls(
            float(p["v_max"]),
            float(p["w_max"]),
            float(p["a_max"]),
            float(p["alpha_max"]),
            max(float(p["a_max"]), float(p["contact_braking"])),
            float(p["arm_lag"]),
            float(p["jerk_max"]),
            float(p["angular_jerk_max"]),
            (tuple(p["workspace_min"].tolist()), tuple(p["workspace_max"].tolist())),
            float(p["max_joint_lead"]),
            tuple(p["qd_max"].tolist()),
            tuple(p["qdd_max"].tolist()),
            (tuple(p["q_min"].tolist()), tuple(p["q_max"].tolist())),
            float(p["leak"]) == 0.0,  # in velocity mode q_ref forgets
        )


def lengths(vectors: np.ndarray) -> np.ndarray:
    return np.linalg.norm(vectors, axis=-1)


def oracle(history: np.ndarray, controller: Controller) -> None:
    """Hold the output records of one run to all of it, but for its events.

    In the order of their ticks, all under the same limits.
    """
    judge = Judge(controller.params[0], Limits.of(controller))
    judge.take(rows_of(history), None)
    assert not judge.found, judge.found


def of_rollout(
    model: RobotModel, configs: Config | Sequence[Config], outputs: np.ndarray
) -> dict[str, str]:
    """What is wrong with any of many runs, (runs, ticks): as `Judge.found`."""
    configs = [configs] if isinstance(configs, Config) else configs
    found: dict[str, str] = {}
    params = [pack(config, model)[0] for config in configs]
    for k, history in enumerate(outputs):
        judge = Judge(params[k % len(params)])
        judge.take(rows_of(history), None)
        found = {name: f"run {k}, {where}" for name, where in judge.found.items()} | found
    return found


def rows_of(history: np.ndarray) -> np.ndarray:
    """Rows of which the outputs are all that is known."""
    rows = np.zeros(len(history), ROW)
    rows["said"] = history
    return rows


# --- one stretch of a trace ---


class Piece:
    """Some rows of a trace, one after the other, and what is known of each of them.

    Attributes:
        said: their outputs.
        new: those that were not judged before.
        follows: there is a row of the tick before.
        seeded: those that took the arm's place for their own: a start, the end of a hold.
        own: as `follows`, and the law's time went on in between.
        tool: those whose tool is held to speed, acceleration and jerk.
        inside, within: those whose joints must be in their range, whose tool within the walls.
        strayed: rad, by which others have moved each joint since it rests.
        late, rises: s, by which an arm that brakes is later than it may be, and gets faster.
        free: those whose gains are the parameters'.
        unnoted: those with more or fewer events than faults.
        events: of each that has any.
    """

    def __init__(self, rows: np.ndarray, first: int, params: Any, limits: Limits) -> None:
        said, n = rows["said"], len(rows)
        self.said, self.params, self.limits = said, params, limits
        self.new = np.arange(n) >= first
        mode = said["mode"]
        self.start = self.after(np.diff(said["tick"]) != 1, True)
        self.follows = ~self.start
        before = self.after(mode[:-1], bits.INACTIVE)
        woken = (mode == bits.ACTIVE) & (before == bits.HOLDING)
        self.seeded = (said["tick"] == 1) | (rows["seeding"] != 0) | woken
        self.own = self.follows & (rows["seeding"] == 0)
        self.still = (said["qd"] == 0).all(axis=1)
        self.tool = np.ones(n, bool)
        self.inside, self.within = np.zeros((2, n), bool)
        self.strayed = np.zeros((n, 6))
        self.late, self.rises = np.full((2, n), -np.inf)
        self.free, self.unnoted = np.zeros((2, n), bool)
        self.events: list[tuple[int, Any]] = []
        self._J: np.ndarray | None = None
        self._X: tuple[np.ndarray, np.ndarray] | None = None

    def __len__(self) -> int:
        return len(self.said)

    def __getitem__(self, name: str) -> np.ndarray:
        return self.said[name]

    def after(self, values: np.ndarray, first: Any = 0, ticks: int = 1) -> np.ndarray:
        """One value a row, of which the first `ticks` have nothing before them."""
        shape = (min(ticks, len(self.said)), *values.shape[1:])
        return np.concatenate([np.full(shape, first, values.dtype), values])

    @property
    def steady(self) -> np.ndarray:
        """Rows with two ticks before them, all of one time."""
        return self.own & self.after(self.own[:-1], False)

    def kinematics(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """R_WP, p_WP and J of each row, by products of transforms."""
        if self._J is None:
            p, q, n = self.params, self["q"], len(self)
            R, t = np.broadcast_to(np.eye(3), (n, 3, 3)), np.zeros((n, 3))
            axes, origins = np.zeros((6, n, 3)), np.zeros((6, n, 3))
            for k in range(7):
                t = t + R @ p["chain_p"][k]
                R = R @ p["chain_R"][k]
                if k == 6:
                    break
                axes[k], origins[k] = R[:, :, 2], t
                c, s = np.cos(q[:, k])[:, None], np.sin(q[:, k])[:, None]
                x, y = R[:, :, 0], R[:, :, 1]
                R = np.stack([c * x + s * y, c * y - s * x, R[:, :, 2]], axis=2)
            J = np.concatenate([np.cross(axes, t - origins), axes], axis=2)
            self._X, self._J = (R, t), np.moveaxis(J, 0, 2)
        assert self._X is not None
        return *self._X, self._J

    def law(self) -> tuple[np.ndarray, np.ndarray]:
        """Force and torque in the axes of the law, (n, 6); the stiffness in force, (n, 6)."""
        p, R_WP, R = self.params, self["X_WP"][:, :3, :3], matrix(self.params["wxyz_task"])
        if p["frame"] == bits.PROBE:
            R = self["X_WD"][:, :3, :3] @ R
        R_LP = np.swapaxes(np.broadcast_to(R, R_WP.shape), 1, 2) @ R_WP
        F = self["F_P"]
        F_law = np.hstack([(R_LP @ F[:, part, None])[..., 0] for part in (LINEAR, ANGULAR)])
        return F_law, self["engagement"][:, None] * p["stiffness"]

    def law_alone(self) -> np.ndarray:
        """Rows in which the law goes on from the last one, by gains that are known."""
        p, active = self.params, self["mode"] == bits.ACTIVE
        if p["pressing"] or p["integrator"] != bits.EXACT:
            return np.zeros(len(self), bool)
        goes_on = self.own & active & self.after(active[:-1], False) & ~self.seeded & self.free
        goes_on &= self["contact_stiffness"] == 0.0
        return goes_on & (self["inputs"]["stream_count"] == 0)


def matrix(wxyz: np.ndarray) -> np.ndarray:
    """The rotation of a quaternion, (3, 3)."""
    w, x, y, z = wxyz
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def turns(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """The rotation vectors (n, 3) that lead from the first (n, 3) to the second."""
    a, b = quaternions(first), quaternions(second)
    a[:, 1:] *= -1.0
    w = b[:, 0] * a[:, 0] - (b[:, 1:] * a[:, 1:]).sum(axis=1)
    v = b[:, :1] * a[:, 1:] + a[:, :1] * b[:, 1:] + np.cross(b[:, 1:], a[:, 1:])
    size = lengths(v)
    angle = 2.0 * np.arctan2(size, np.abs(w)) * np.where(w < 0, -1.0, 1.0)
    return v * np.divide(angle, size, out=np.full(len(v), 2.0), where=size > 1e-12)[:, None]


def quaternions(vectors: np.ndarray) -> np.ndarray:
    """Of rotation vectors (n, 3): wxyz (n, 4)."""
    half = 0.5 * lengths(vectors)
    return np.hstack([np.cos(half)[:, None], 0.5 * np.sinc(half / np.pi)[:, None] * vectors])


# --- the checks ---

Check = Callable[[Piece], tuple[np.ndarray, np.ndarray]]
CHECKS: dict[str, Check] = {}
"""By name: by how much each row is beyond, which must be <= 0, and in which rows that counts."""


def check(name: str) -> Callable[[Check], Check]:
    def enter(function: Check) -> Check:
        CHECKS[name] = function
        return function

    return enter


@check("is not finite")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    sound = np.ones(len(t), bool)
    for name in layout.OUTPUTS.names or ():
        if name not in AS_THEY_CAME:
            sound &= np.isfinite(t[name]).reshape(len(t), -1).all(axis=1)
    return np.where(sound, 0.0, np.inf), t.new


@check("a status bit without a name")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * ((t["status"] & ~KNOWN) != 0), t.new


@check("joint speed")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return (np.abs(t["qd"]) - np.array(t.limits.qd) * (1 + 1e-9)).max(axis=1), t.new


@check("joint acceleration")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    most = np.array(t.limits.qdd) * t["dt"][1:, None] * (1 + 1e-6) + 1e-12
    return t.after((np.abs(np.diff(t["qd"], axis=0)) - most).max(axis=1)), t.new & t.own


def _speed(t: Piece, part: slice, most: float) -> tuple[np.ndarray, np.ndarray]:
    return lengths(t["V_WP_cmd"][:, part]) - most * (1 + 1e-5) - 1e-9, t.new & t.tool


@check("speed")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _speed(t, LINEAR, t.limits.v)


@check("speed of the rotation")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _speed(t, ANGULAR, t.limits.w)


def _acceleration(t: Piece, part: slice, most: Any) -> tuple[np.ndarray, np.ndarray]:
    step = np.diff(t["V_WP_cmd"][:, part], axis=0)
    beyond = lengths(step) - (np.broadcast_to(most, len(t)) * t["dt"])[1:] * (1 + 1e-5) - 1e-9
    free = (t["status"] & bits.BEYOND_ACCELERATION) == 0
    return t.after(beyond), t.new & t.own & t.tool & free


@check("acceleration")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    # braking in contact, the limit is the arm's: the command may lead it by 0.8 of its lag
    braking = t.limits.braking * (1 + 0.8 * t.limits.lag / np.maximum(t["dt"], 1e-9))
    most = np.where(t["status"] & bits.CONTACT_BRAKING, braking, t.limits.a)
    return _acceleration(t, LINEAR, most)


@check("acceleration of the rotation")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _acceleration(t, ANGULAR, t.limits.alpha)


def _jerk(t: Piece, part: slice, v: float, a: float, jerk: float) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    if not jerk or n < 3:
        return np.zeros(n), np.zeros(n, bool)
    V, dt = t["V_WP_cmd"][:, part], t["dt"]
    rate = np.diff(V, axis=0) / dt[1:, None]
    size = lengths(rate)
    both = np.minimum(size[1:], size[:-1]) >= a * (1 - 1e-3)  # a turn at full acceleration
    arrives = size[1:] <= 1e-3 * a
    room = np.where(both | arrives, 1.25, 1 + 1e-5)
    beyond = lengths(np.diff(rate, axis=0)) - room * jerk * dt[2:] - 1e-6
    status = t["status"] | t.after(t["status"][:-1])
    free = (status & HELD_HARDER) == 0
    free &= (status & HARD_WALL) != HARD_WALL
    free &= lengths(V) < v * (1 - 1e-6)
    free &= t.after(free[:-1], False)
    return t.after(beyond, 0.0, 2), t.new & t.steady & t.tool & free


@check("jerk")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _jerk(t, LINEAR, t.limits.v, t.limits.a, t.limits.jerk)


@check("jerk of the rotation")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return _jerk(t, ANGULAR, t.limits.w, t.limits.alpha, t.limits.angular_jerk)


@check("V_WP_cmd is not J qd")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    _, _, J = t.kinematics()
    return np.abs((J @ t["qd"][..., None])[..., 0] - t["V_WP_cmd"]).max(axis=1) - 1e-9, t.new


@check("X_WP is not where the joints are")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    R, p, _ = t.kinematics()
    off = np.abs(t["X_WP"][:, :3, :3] - R).max(axis=(1, 2))
    return np.maximum(off, np.abs(t["X_WP"][:, :3, 3] - p).max(axis=1)) - 1e-9, t.new


@check("joint range")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    q, (low, high) = t["q"], t.limits.q
    return np.maximum(low - q, q - high).max(axis=1) - 1e-6, t.new & t.inside


@check("wall")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    p_WP, (low, high) = t["X_WP"][:, :3, 3], t.limits.box
    return np.maximum(low - p_WP, p_WP - high).max(axis=1) - 1e-4, t.new & t.within


@check("lead")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    beyond = (np.abs(t["q_ref"] - t["q"]) - t.strayed).max(axis=1) - t.limits.lead - 1e-9
    return beyond, t.new


@check("step of q_ref")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    most = np.array(t.limits.qd) * t["dt"][1:, None] * (1 + 1e-6) + 1e-9
    beyond = t.after((np.abs(np.diff(t["q_ref"], axis=0)) - most).max(axis=1))
    inactive = t["mode"] == bits.INACTIVE
    return beyond, t.new & t.own & ~t.seeded & ~inactive & t.limits.by_position


@check("acceleration of q_ref")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    if n < 3:
        return np.zeros(n), np.zeros(n, bool)
    rate = np.diff(t["q_ref"], axis=0) / t["dt"][1:, None]
    most = np.array(t.limits.qdd) * t["dt"][2:, None] * (1 + 1e-6) + 1e-6
    beyond = t.after((np.abs(np.diff(rate, axis=0)) - most).max(axis=1), 0.0, 2)
    going = t.steady & ~t.seeded & (t["mode"] != bits.INACTIVE)
    going &= t.after(~t.seeded[:-1] & (t["mode"][:-1] != bits.INACTIVE), False)
    return beyond, t.new & going & t.limits.by_position


@check("a start that moves")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    rests = t.still & (t["q_ref"] == t["q"]).all(axis=1)
    return 1.0 * ~rests, t.new & t.seeded


@check("an inactive controller moves the arm")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * ~t.still, t.new & (t["mode"] == bits.INACTIVE)


@check("a stop bit is ignored")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * (t["status"] & bits.STOPS != 0), t.new & (t["mode"] == bits.ACTIVE)


@check("a hold bit is ignored")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * (t["status"] & bits.HOLDS != 0), t.new & (t["mode"] == bits.ACTIVE)


@check("a stopped arm moves")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    stopped = t["mode"] == bits.STOPPED
    stood = t.after(stopped[:-1] & t.still[:-1], False)
    return 1.0 * ~t.still, t.new & t.follows & stopped & stood


@check("a stop ends without a reset")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    goes_on = (t["mode"] == bits.ACTIVE) | (t["mode"] == bits.HOLDING)
    stopped = t.after(t["mode"][:-1] == bits.STOPPED, False)
    return 1.0 * goes_on, t.new & t.follows & stopped


@check("a hold ends too soon")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    good = (t["mode"] == bits.HOLDING) & t.still & (t["status"] & bits.HOLDS == 0) & t.follows
    bad = np.maximum.accumulate(np.where(good, -1, np.arange(len(t))))  # the last that was not
    waited = np.arange(len(t)) - bad
    ends = (t["mode"] == bits.ACTIVE) & t.after(t["mode"][:-1] == bits.HOLDING, False)
    return 1.0 * (GOOD - t.after(waited[:-1])), t.new & t.follows & ends


@check("the arm does not come to rest")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return t.late, t.new & ~t.still


@check("the arm gets faster while it brakes")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return t.rises, t.new


@check("a fault is not one event")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    return 1.0 * t.unnoted, t.new


@check("an event is not of its fault")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    wrong = np.zeros(len(t))
    for k, event in t.events:
        wrong[k] += not fits(event, t.said[k], t.params)
    return wrong, t.new


@check("the law makes energy")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    beyond = np.full(n, -np.inf)
    if n < 2:
        return beyond, t.new
    F, K = (part[1:] for part in t.law())
    x, v, M = t["offset"], t["offset_rate"], t.params["mass"]
    way = np.hstack([np.diff(x[:, LINEAR], axis=0), turns(x[:-1, ANGULAR], x[1:, ANGULAR])])
    stored = 0.5 * (M * np.diff(v**2, axis=0) + K * np.diff(x**2, axis=0))
    work = F * way
    for part in (LINEAR, ANGULAR):
        if part == ANGULAR and np.ptp(t.params["stiffness"][part]) > 0.0:
            continue
        made = (stored - work)[:, part].sum(axis=1)
        room = 1e-9 + 1e-6 * np.abs(work[:, part]).sum(axis=1)
        beyond[1:] = np.maximum(beyond[1:], made - room)
    return beyond, t.new & t.law_alone() & (t["status"] & bits.LIMITS == 0)


@check("limits make the law faster")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    beyond = np.full(n, -np.inf)
    if n < 2:
        return beyond, t.new
    F, K = (part[1:] for part in t.law())
    x, v, h = t["offset"][:-1], t["offset_rate"], t["dt"][1:, None]
    alone = stepped(x, v[:-1], F, t.params["mass"], t.params["damping"], K, h)
    low, high = np.minimum(alone, 0.0), np.maximum(alone, 0.0)
    room = 1e-9 + 1e-6 * (np.abs(alone) + np.abs(v[:-1]))
    beyond[1:] = (np.maximum(low - v[1:], v[1:] - high) - room).max(axis=1)
    return beyond, t.new & t.law_alone()


def stepped(
    x: np.ndarray,
    v: np.ndarray,
    F: np.ndarray,
    M: np.ndarray,
    D: np.ndarray,
    K: np.ndarray,
    h: np.ndarray,
) -> np.ndarray:
    """The velocity after a step of `M a + D v + K x = F`, axis by axis: a series of its powers."""
    dx, dv = v, (F - D * v - K * x) / M  # the derivatives that the terms are made of
    new = v.copy()
    for k in range(1, 30):
        new = new + dv * h
        dx, dv = dv * h / (k + 1), (-D * dv - K * dx) / M * h / (k + 1)
        if not np.abs(dv * h).max(initial=0.0) > 1e-16:
            break
    return new


@check("the account of energy")
def _(t: Piece) -> tuple[np.ndarray, np.ndarray]:
    n = len(t)
    beyond = np.full(n, -np.inf)
    if n < 2:
        return beyond, t.new
    R_WP, _, J = t.kinematics()
    R = R_WP @ t.params["R_PS"]
    F = np.hstack([(R @ t["F_S_comp"][:, part, None])[..., 0] for part in (LINEAR, ANGULAR)])
    way = (J[1:] @ np.diff(t["q"], axis=0)[..., None])[..., 0]
    at_S = way[:, LINEAR] + np.cross(way[:, ANGULAR], (R_WP @ t.params["p_PS"])[1:])
    work = 0.5 * (F[1:] + F[:-1]) * np.hstack([at_S, way[:, ANGULAR]])
    off = np.abs(np.diff(t["energy"]) - work.sum(axis=1))
    room = 1e-9 + 1e-9 * (np.abs(t["energy"][1:]) + np.abs(work).sum(axis=1))
    given = np.maximum(t["energy_given"][:-1], -t["energy"][1:])
    off = np.maximum(off, np.abs(t["energy_given"][1:] - given))
    beyond[1:] = off - room
    return beyond, t.new & t.own


# --- I5: what an event says ---


def fits(event: Any, said: Any, p: Any) -> bool:
    """Whether an event is of its tick, with a limit that is in force and a value that breaks it."""
    mask = 1 << int(event["bit"])
    value, limit = float(event["value"]), float(event["limit"])
    if event["time"] != said["time"] or not int(said["status"]) & mask:
        return False
    if mask == bits.BAD_DT:
        return limit == 0.1 and not 0.0 < value <= limit
    if mask == bits.JOINT_OUTSIDE:
        return value < limit if limit in p["q_min"] else value > limit and limit in p["q_max"]
    if mask == bits.JOINTS_LOST and limit != p["lost_timeout"]:  # they leapt
        return limit > 0.0 and not value < limit
    if mask in NO_NUMBER:
        return value == limit == 0.0
    if mask == bits.WRENCH_NOT_FINITE:  # since the last good one: it holds when that is too long
        return value >= 0.0 and limit == p["wrench_timeout"]
    if mask == bits.WRENCH_STALE and said["tick"] == 1:  # none since the start
        return value >= 0.0 and limit == p["wrench_timeout"]
    known = LIMITS_OF.get(mask)
    if known is not None and not np.isclose(limit, known(p), rtol=1e-12, atol=0.0).any():
        return False
    return value >= limit - 1e-9 or (mask == bits.JOINTS_IMPLAUSIBLE and np.isnan(value))


NO_NUMBER = {bits.STOP_REQUESTED, bits.WRENCH_SLOW, bits.FORCE_LOST, bits.FORCE_TRAVEL}
LIMITS_OF: dict[int, Callable[[Any], Any]] = {
    bits.TIME_GAP: lambda p: 5.0 * p["period"],
    bits.WRENCH_STALE: lambda p: p["wrench_timeout"],
    bits.WRENCH_LOST: lambda p: p["lost_timeout"],
    bits.WRENCH_FROZEN: lambda p: p["frozen_samples"],
    bits.WRENCH_SPIKE: lambda p: (p["spike_force"], p["spike_torque"]),
    bits.JOINTS_STALE: lambda p: p["joint_timeout"],
    bits.JOINTS_LOST: lambda p: p["lost_timeout"],
    bits.OVER_FORCE: lambda p: (p["max_force"], *p["max_wrench"][LINEAR]),
    bits.OVER_TORQUE: lambda p: (p["max_torque"], *p["max_wrench"][ANGULAR]),
    bits.NOT_FOLLOWING: lambda p: p["tracking_timeout"],
    bits.DESIRED_STALE: lambda p: 0.1,
    bits.DESIRED_STEP: lambda p: 0.05,
    bits.STREAM_STALE: lambda p: p["stream_timeout"],
    bits.CONTACT_UNSTABLE: lambda p: 4.0,
    bits.SENSOR_SATURATED: lambda p: 0.95,
    bits.DRIFTING: lambda p: p["drift_seconds"],
    bits.IK_FAILED: lambda p: 5.0,
}


# --- a whole trace, piece by piece ---


class _Braking(NamedTuple):
    """An arm on its way to rest."""

    passed: float  # s
    allowed: float  # s
    least: float  # s, what it needs to come to rest, at least so far
    longest: float  # s, of the cycles so far
    room: float  # s, by which that may rise


class Judge:
    """Holds all that one controller says to the oracle.

    Attributes:
        found: what was broken -> where first, and by how much.
        ticks: how many were looked at.
    """

    def __init__(self, params: Any, limits: Limits | None = None) -> None:
        """
        Args:
            params: the record that the tick reads.
            limits: by default those in it.
        """
        self.found: dict[str, str] = {}
        self.ticks = 0
        self._params = params
        self._limits = Limits.in_force(params) if limits is None else limits
        self._kept = np.zeros(0, ROW)
        self._tool, self._away, self._inside, self._within = True, False, False, False
        self._off, self._place = np.zeros((2, 6))
        self._braking: _Braking | None = None
        self._ramping = 0.0  # s, for which gains are still on their way

    def change(self, params: Any) -> None:
        """From here on the tick reads these."""
        limits = Limits.in_force(params)
        if limits != self._limits:
            self._tool, self._away = False, True  # until the arm has rested
            self._braking = None
        self._params, self._limits = params, limits

    def take(self, rows: np.ndarray, events: dict[int, np.ndarray] | None) -> None:
        """The next rows.

        Args:
            rows: `ROW`, in the order of their ticks.
            events: those of each row that has any, by its place; None: they are not known.
        """
        if not len(rows):
            return
        self.ticks += len(rows)
        first = len(self._kept)
        rows = np.concatenate([self._kept, rows])
        self._kept = rows[-KEPT:].copy()
        t = Piece(rows, first, self._params, self._limits)
        self._follow(t, first)
        self._rest(t, first)
        self._brake(t, first)
        self._ramp(t, first)
        if events is not None:
            self._note(t, rows["events"], first, events)
        for name, function in CHECKS.items():
            beyond, where = function(t)
            bad = where & ~(beyond <= 0.0)
            if bad.any():
                k = int(np.argmax(bad))
                self.found.setdefault(
                    name,
                    f"tick {int(t['tick'][k])} at {t['time'][k]:.4f} s: {beyond[k]:.3g} beyond "
                    f"({int(bad.sum())} ticks)",
                )
                if name == "is not finite":
                    return

    def _rest(self, t: Piece, first: int) -> None:
        """The tool's limits count again once an arm rests; what others have moved it by since."""
        n = len(t)
        begins = (t.start | t.still)[first:]
        counts: Any = np.maximum.accumulate(begins) | self._tool
        t.tool[first:], self._tool = counts, bool(counts[-1])
        comes = t.start | (t.still & ~t.after(t.still[:-1], False))  # the first row of each rest
        last = np.maximum.accumulate(np.where(comes, np.arange(n), -1))[first:]
        q = t["q"][first:]
        place = np.where((last >= 0)[:, None], t["q"][last], self._place)
        t.strayed[first:] = np.abs(q - place) * t.still[first:, None]
        self._place = place[-1]

    def _follow(self, t: Piece, first: int) -> None:
        """Which rows are held to the joint range, and to the walls: those of an arm that was inside
        when it last rested, and has gone since where it was told to.
        """
        n, limits = len(t), self._limits
        q, qd, dt, p_WP = t["q"], t["qd"], t["dt"], t["X_WP"][:, :3, 3]
        moved, told = np.diff(q, axis=0), qd[:-1]
        off = moved - told * dt[1:, None]
        exact = (np.abs(off) < 1e-9).all(axis=1)  # told at the end of one tick, or seen at the next
        exact |= (np.abs(moved - told * dt[:-1, None]) < 1e-9).all(axis=1)
        off = t.after(off * ~exact[:, None])
        off[t.start] = 0.0
        moves = np.maximum.accumulate(np.where(t.still, -1, np.arange(n)))
        rested = np.arange(n) - moves  # rows
        anew = (t.start | (rested >= GOOD) | (t["mode"] == bits.INACTIVE))[first:]
        fresh = np.arange(n - first)
        last = np.maximum.accumulate(np.where(anew, fresh, -1))
        known = last >= 0
        whole = self._off + np.cumsum(off[first:], axis=0)
        behind = np.abs(whole - np.where(known[:, None], whole[last], 0.0))
        fastest = recent(np.abs(qd), GOOD)[first:]
        away = (behind > LAG * fastest + SLIP).any(axis=1) & ~anew
        strayed = np.maximum.accumulate(np.where(away, fresh, -1)) > last
        strayed |= self._away & ~known
        inside = np.all((q >= limits.q[0]) & (q <= limits.q[1]), axis=1)[first:]
        within = np.all((p_WP >= limits.box[0]) & (p_WP <= limits.box[1]), axis=1)[first:]
        inside, within = (
            np.where(known, now[last], before)
            for now, before in ((inside, self._inside), (within, self._within))
        )
        counts = ~strayed & ~anew
        t.inside[first:], t.within[first:] = inside & counts, within & counts
        self._off = whole[-1] - (whole[last[-1]] if known[-1] else 0.0)
        self._away = bool(strayed[-1])
        self._inside, self._within = bool(inside[-1]), bool(within[-1])

    def _brake(self, t: Piece, first: int) -> None:
        """How far an arm that brakes is from what its limits need for that."""
        limits, V, dt = self._limits, t["V_WP_cmd"], t["dt"]
        v, w = lengths(V[:, LINEAR]), lengths(V[:, ANGULAR])
        joints = (np.abs(t["qd"]) / np.array(limits.qdd)).max(axis=1)
        needs = np.max([v / limits.a, w / limits.alpha, joints], axis=0)
        slowly = np.max([v / (WALL_SHARE * limits.a), w / limits.alpha, joints], axis=0)
        pairs = ((limits.a, limits.jerk), (limits.alpha, limits.angular_jerk))
        build = max(a / jerk if jerk else 0.0 for a, jerk in pairs)  # s, to full acceleration
        brakes = (t["mode"] == bits.HOLDING) | (t["mode"] >= bits.STOPPED)
        k = first
        while k < len(t):
            if not brakes[k]:
                self._braking = None
                k += 1
                continue
            if t.start[k] or self._braking is None:
                before = needs[k - 1], slowly[k - 1]
                if t.start[k]:
                    before = needs[k], slowly[k]
                allowed = 1.5 * before[1] + 2.5 * build
                room = 0.1 * before[0] + 0.5 * build + 1e-4
                self._braking = _Braking(0.0, allowed, before[0], 0.0, room)
            ends = np.flatnonzero((~brakes | t.start)[k + 1 :])
            end = k + 1 + int(ends[0]) if len(ends) else len(t)
            b, part = self._braking, slice(k, end)
            passed = b.passed + np.cumsum(dt[part])
            longest = np.maximum(np.maximum.accumulate(dt[part]), b.longest)
            least = np.minimum.accumulate(np.concatenate([[b.least], needs[part]]))
            t.late[part] = passed - b.allowed - 3.0 * longest
            t.rises[part] = needs[part] - least[:-1] - b.room
            self._braking = b._replace(passed=passed[-1], least=least[-1], longest=longest[-1])
            k = end

    def _ramp(self, t: Piece, first: int) -> None:
        """Whose gains are these parameters', and have had the time to get there."""
        generation = t["inputs"]["generation"]
        changes = t.after(np.diff(generation) != 0, False)[first:]
        active = (t["mode"] == bits.ACTIVE)[first:]
        passed = np.cumsum(np.where(active, t["dt"][first:], 0.0))
        last = np.maximum.accumulate(np.where(changes, np.arange(len(changes)), -1))
        left = np.where(last >= 0, self._params["ramp_seconds"] + passed[last], self._ramping)
        left -= passed
        seeded = np.maximum.accumulate(np.where(t.seeded[first:], np.arange(len(left)), -1))
        there = (left < -1e-6) | (seeded > last) | ((last < 0) & (self._ramping == 0.0))
        t.free[first:] = there & (generation[first:] == self._params["generation"])
        self._ramping = 0.0 if there[-1] else float(left[-1])

    def _note(
        self, t: Piece, counts: np.ndarray, first: int, events: dict[int, np.ndarray]
    ) -> None:
        """New faults and new events, tick by tick."""
        said = t["status"] & ~bits.LIMITS
        fresh = said & ~np.where(t.start, 0, t.after(said[:-1]))
        wanted = np.array([int(faults).bit_count() for faults in fresh])
        noted = counts - np.where(t.start, 0, t.after(counts[:-1]))
        t.unnoted[:] = (wanted != noted) & (t.follows | (t["tick"] == 1))
        for k in np.flatnonzero(noted[first:]):
            ring, number = events.get(int(k)), int(noted[first + k])
            if ring is None or not 0 < number <= len(ring):
                continue  # more than it holds: counted above
            last = int(counts[first + k])
            some = [ring[n % len(ring)] for n in range(last - number, last)]
            t.events += [(first + int(k), event) for event in some]
            named = {1 << int(event["bit"]) for event in some}
            if sum(named) != int(fresh[first + k]):
                t.unnoted[first + k] = True


def recent(values: np.ndarray, count: int) -> np.ndarray:
    """The greatest of the last `count` rows, row by row."""
    padded = np.concatenate([np.zeros((count - 1, *values.shape[1:])), values])
    return np.lib.stride_tricks.sliding_window_view(padded, count, axis=0).max(axis=-1)
