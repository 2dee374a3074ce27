"""Everything the controller can report, in one table: bit, words, reaction, and how to recover.

The kernel sets the bits, `status_words` reads them, the docs page and the fault tests are generated
from the table. Reactions: `limit` the motion is held back and goes on; `warn` nothing changes;
`hold` the arm brakes, waits and goes on by itself after 50 good cycles; `stop` the arm brakes and
stays stopped until `reset()`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ur_admittance.kernel import bits


class Fault(NamedTuple):
    """One thing the status can say.

    Attributes:
        name: of the bit, in lower case.
        reaction: 'limit', 'warn', 'hold' or 'stop'.
        words: what is so.
        recovery: what to do.
        unit: of the value that broke a limit, where an `Event` has one.
    """

    name: str
    reaction: str
    words: str
    recovery: str
    unit: str = ""

    @property
    def mask(self) -> int:
        """The bit of the status that says it."""
        return getattr(bits, self.name.upper())


@dataclass(frozen=True)
class Event:
    """A fault at the moment it began.

    Attributes:
        name: from `faults.FAULTS`.
        time: s since activation.
        value: what was seen.
        limit: what is allowed.
    """

    name: str
    time: float
    value: float
    limit: float


class StopReason(NamedTuple):
    """Why an arm was stopped: one value, and the same one wherever it is told.

    Attributes:
        code: the name of a fault in `FAULTS`, or of a cause in `CAUSES`.
        text: what happened, with its numbers, as whoever stopped the arm says it.
        advice: what to do; "" only where there is nothing to be done.
    """

    code: str
    text: str
    advice: str

    @classmethod
    def of(cls, code: str, text: str, advice: str = "") -> StopReason:
        """One of `CAUSES`, with the table's advice unless another is given."""
        return cls(code, text, advice or CAUSES[code].advice)

    @classmethod
    def asked(cls, why: str | StopReason) -> StopReason:
        """What whoever calls `stop(why)` means: words of their own are taken whole."""
        return why if isinstance(why, StopReason) else cls.of("asked", str(why))

    def as_dict(self) -> dict[str, str]:
        """The same as plain values, for JSON."""
        return self._asdict()

    def __str__(self) -> str:
        return f"{self.text}; what to do: {self.advice}" if self.advice else self.text


@dataclass(frozen=True)
class Stop:
    """Why the arm was stopped or held, and the last two seconds before it.

    Attributes:
        time: s since activation.
        reason: the same in words.
        reasons: names from `faults.FAULTS`.
        trace: output records, oldest first.
    """

    time: float
    reason: StopReason
    reasons: tuple[str, ...]
    trace: np.ndarray


FAULTS: tuple[Fault, ...] = (
    # limits: the law asks for more than it may have
    Fault("speed_limit", "limit", "the tool's speed is at its limit", "none needed"),
    Fault("acceleration_limit", "limit", "the tool's acceleration is at its limit", "none needed"),
    Fault("jerk_limit", "limit", "the tool's jerk is at its limit", "none needed"),
    Fault(
        "workspace_limit",
        "limit",
        "a workspace wall holds the tool back",
        "move away from the wall",
    ),
    Fault(
        "outside_workspace",
        "limit",
        "the tool is outside the workspace; only inward motion is allowed",
        "push or jog the tool inside",
    ),
    Fault(
        "joint_position_limit",
        "limit",
        "a joint is near the end of its range",
        "move the joint back",
    ),
    Fault("joint_velocity_limit", "limit", "a joint is at its speed limit", "none needed"),
    Fault(
        "joint_acceleration_limit", "limit", "a joint is at its acceleration limit", "none needed"
    ),
    Fault(
        "singularity",
        "limit",
        "the arm is near a singularity; the inverse kinematics is damped",
        "move away; the arm stays compliant",
    ),
    Fault(
        "beyond_acceleration",
        "limit",
        "joint bounds, a wall or a singularity forced more than the tool's acceleration limit",
        "none needed",
    ),
    Fault(
        "lead_limit", "limit", "the commanded pose waits for the arm", "see what holds the arm back"
    ),
    Fault(
        "stopping_distance",
        "limit",
        "the joints slow down while they can still stop before a wall, their end or a speed limit",
        "none needed",
    ),
    Fault("wrench_saturated", "limit", "the wrench was cut to its configured maximum", "push less"),
    Fault(
        "contact_damping",
        "limit",
        "the tool touches something stiff; motion along its normal is damped further",
        "none needed",
    ),
    Fault(
        "contact_braking",
        "limit",
        "the tool brakes against what it touches, beyond its acceleration limit",
        "none needed",
    ),
    Fault(
        "contact_oscillation",
        "limit",
        "the force swings to and fro; the law is damped up to twice as much",
        "more damping, or contact.adapt with arm.lag",
    ),
    # warnings
    Fault(
        "wrench_not_finite",
        "warn",
        "a wrench sample was NaN or infinite; the last good one is used",
        "check the sensor",
    ),
    Fault(
        "wrench_spike",
        "warn",
        "a jump of the wrench was dropped as a spike",
        "check the cable; raise safety.spike_force if contacts are that hard",
    ),
    Fault(
        "joints_implausible",
        "warn",
        "a joint sample was NaN or jumped further than the joint can move; the prediction is used",
        "check the robot's data stream",
    ),
    Fault(
        "bad_dt", "warn", "dt was not in (0, 0.1] s; the nominal period was used", "check the clock"
    ),
    Fault(
        "desired_stale",
        "warn",
        "no new desired pose for 0.1 s while it moved; the last one is held",
        "check the planner",
    ),
    Fault(
        "desired_step",
        "warn",
        "the desired pose jumped by more than 50 mm; it is approached inside the limits",
        "give poses that move, or a twist with them",
    ),
    Fault(
        "joint_outside",
        "warn",
        "a joint is outside its range; only inward motion is allowed",
        "jog the joint inside",
    ),
    Fault(
        "force_travel",
        "warn",
        "an axis that presses has gone as far from the desired pose as force.max_travel allows",
        "bring the desired pose nearer to what is pressed, or raise force.max_travel",
    ),
    Fault(
        "force_lost",
        "warn",
        "an axis that presses has lost what it pressed, and searches slowly",
        "none needed; see what ended there",
    ),
    Fault(
        "stream_stale",
        "warn",
        "no force was streamed for force.stream_timeout; the force eases to zero",
        "check what streams; a new value brings the force back",
    ),
    # holds
    Fault(
        "wrench_stale",
        "hold",
        "no good wrench sample for safety.wrench_timeout",
        "resumes by itself when samples return",
    ),
    Fault(
        "wrench_frozen",
        "hold",
        "the wrench has not changed by one bit for safety.frozen_samples samples",
        "resumes by itself; set frozen_samples to 0 for a noise-free simulation",
    ),
    Fault(
        "joints_stale",
        "hold",
        "no good joint sample for safety.joint_timeout",
        "resumes by itself when samples return",
    ),
    Fault(
        "time_gap", "hold", "more than five periods passed between two ticks", "resumes by itself"
    ),
    Fault(
        "drifting",
        "hold",
        "nobody pushes, and yet the arm moved for safety.drift_seconds: the sensor drifts, or the "
        "payload is wrong",
        "push the tool to go on; then ur-admittance tare, or calibrate",
    ),
    Fault(
        "wrench_slow",
        "hold",
        "the wrench comes less often than 95 % of the loop's rate",
        "resumes by itself; set the sensor to the loop's rate",
    ),
    # stops
    Fault("stop_requested", "stop", "stop() was called", "see why, then start again"),
    Fault(
        "wrench_lost",
        "stop",
        "no good wrench sample for safety.lost_timeout",
        "check the sensor, start again",
        unit="s",
    ),
    Fault(
        "joints_lost",
        "stop",
        "no good joint sample for safety.lost_timeout",
        "check the robot, start again",
    ),
    Fault(
        "over_force",
        "stop",
        "the force exceeded safety.max_force",
        "relieve the tool, start again",
        unit="N",
    ),
    Fault(
        "over_torque",
        "stop",
        "the torque exceeded safety.max_torque",
        "relieve the tool, start again",
        unit="Nm",
    ),
    Fault(
        "not_following",
        "stop",
        "the arm did not follow its command within safety.max_tracking_error",
        "check speed slider, payload and obstacles, start again",
    ),
    Fault(
        "ik_failed",
        "stop",
        "the inverse kinematics gave no finite answer five times in a row",
        "report it with the trace, start again",
    ),
    Fault(
        "contact_unstable",
        "stop",
        "what is touched and the arm shook each other, and more damping did not end it",
        "raise admittance.damping, or set contact.adapt and arm.lag, start again",
    ),
    Fault(
        "sensor_saturated",
        "stop",
        "a reading is beyond 95 % of safety.sensor_range, and does not fall",
        "relieve the tool, start again: then the arm may unload",
    ),
)

BY_NAME = {fault.name: fault for fault in FAULTS}

CAUSES = {  # of a stop that is not the tick's own: what each code means, and its usual advice
    cause.code: cause
    for cause in (
        StopReason(
            "asked",
            "a person, a program or another process asked for it",
            "see that the arm may move, then start again",
        ),
        StopReason("interrupted", "Ctrl-C, SIGTERM or a closed terminal ended the run", ""),
        StopReason(
            "late",
            "the loop missed its cycle, or slept",
            "give the loop a real-time priority ('ur-admittance doctor' says whether it has one, "
            "and how late this machine wakes), or the machine less to do",
        ),
        StopReason(
            "robot",
            "the robot stopped by itself, or must not be commanded any more",
            "see to that, then start again",
        ),
        StopReason(
            "error",
            "an error, in the loop or in what it calls",
            "see what led to it, then start again",
        ),
    )
}


def reason_of(
    status: int,
    reaction: str,
    asked: StopReason | None,
    seen: Callable[[int], tuple[float, float]],
) -> StopReason:
    """Why the tick stopped or holds the arm.

    Args:
        status: what it was, several bits where they came at once; the gravest gives the code.
        reaction: 'stop' or 'hold'.
        asked: what `stop()` was given.
        seen: of a fault's mask, the value that broke a limit, and the limit.
    """
    found = []
    for fault in reversed(FAULTS):
        if fault.reaction != reaction or not int(status) & fault.mask:
            continue
        text = fault.words
        if unit := fault.unit:
            text += " ({:.4g} {unit}, at most {:.4g} {unit})".format(*seen(fault.mask), unit=unit)
        requested = fault.name == "stop_requested" and asked is not None
        found.append(asked if requested else StopReason(fault.name, text, fault.recovery))
    texts = "; ".join(reason.text for reason in found)
    return StopReason(found[0].code, texts, "; ".join({r.advice: "" for r in found if r.advice}))


def words_of(status: int, asked: StopReason | None = None) -> list[str]:
    """What a status says, in words, the most serious first; `asked`: what `stop()` was given."""
    said = {"stop_requested": asked.text} if asked else {}
    found = [f for f in reversed(FAULTS) if int(status) & f.mask]
    return [f"{f.name}: {said.get(f.name, f.words)}" for f in found]


def names_of(status: int) -> list[str]:
    """The names of the bits that are set, the most serious first."""
    return [f.name for f in reversed(FAULTS) if int(status) & f.mask]


def shares(statuses: Mapping[int, int]) -> dict[str, float]:
    """Share of the ticks in which each limit or hold was active, the greatest first; `statuses`
    says how many ticks had which status.
    """
    held = [f for f in FAULTS if f.reaction in ("limit", "hold")]
    counts = {f.name: sum(n for s, n in statuses.items() if int(s) & f.mask) for f in held}
    ordered = sorted(counts.items(), key=lambda item: -item[1])
    return {name: count / sum(statuses.values()) for name, count in ordered if count}
