"""What whoever can reach the process may change while the arm gives way: every live parameter.

They may make the arm slower and more careful, and tune its gains near those the run began with;
nothing else. Where neither way is the safe one, nothing may change.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from ur_admittance.config.field import AXES, Problem, refuse
from ur_admittance.config.schema import Config

LESS, MORE, FIXED = "lowered", "raised", "fixed"
ON, OFF = "switched on", "switched off"
OFF_AT_ZERO = "lowered, not to 0"  # which switches the check off
CLOSER = "brought closer to 0"
NEAR = "moved a little"

_TAKEN: dict[str, Callable[[Any, Any], bool]] = {
    LESS: operator.ge,
    OFF: operator.ge,
    MORE: operator.le,
    ON: operator.le,
    OFF_AT_ZERO: lambda old, new: new != 0 and (old == 0 or new <= old),
    CLOSER: lambda old, new: abs(new) <= abs(old) and old * new >= 0,
    FIXED: lambda old, new: False,
}


class Held(NamedTuple):
    """Which way a parameter may change, and why no other."""

    way: str
    why: str


_FELT = "with another one the arm feels a force that is not there"
_STOPS_LATER = "with less the arm stops later, with more harder"

HELD = {
    "max_linear_velocity": Held(LESS, "faster hits harder"),
    "max_angular_velocity": Held(LESS, "faster hits harder"),
    "environment_stiffness": Held(MORE, "it says how much damping contact needs"),
    "accept_contact_instability": Held(OFF, "gains that bounce shake whoever holds the arm"),
    "loop_delay": Held(MORE, "it says how much damping contact needs"),
    "admittance.orientation": Held(FIXED, "it turns the direction of every force and spring"),
    "admittance.mass": Held(NEAR, "light trembles in a hand, heavy goes on when it is let go"),
    "admittance.stiffness": Held(NEAR, "a spring that is tense pulls at whoever holds it"),
    "admittance.damping": Held(NEAR, "with little it bounces, with much it is stuck"),
    "admittance.damping_ratio": Held(NEAR, "it makes the damping"),
    "admittance.virtual_stiffness": Held(NEAR, "it makes the damping of free axes"),
    "admittance.enabled_axes": Held(FIXED, "an axis goes rigid in a hand, or comes loose"),
    "admittance.ramp_seconds": Held(MORE, "gains that jump kick"),
    "admittance.stream_energy": Held(LESS, "it bounds what streamed springs give away"),
    "admittance.filter_coefficient": Held(FIXED, "less filter shakes, more comes late"),
    "admittance.filter_cutoff_hz": Held(FIXED, "less filter shakes, more comes late"),
    "admittance.min_motion_threshold": Held(NEAR, "it sets the deadbands"),
    "admittance.deadband_force": Held(NEAR, "small lets the arm drift, large hides a push"),
    "admittance.deadband_torque": Held(NEAR, "small lets the arm drift, large hides a push"),
    "admittance.deadband_kind": Held(FIXED, "the force that is felt would jump"),
    "tracking.velocity_gain": Held(FIXED, "more may swing, less lets the arm drift"),
    "tracking.max_joint_lead": Held(LESS, "an arm that is held pushes on by as much"),
    "limits.max_linear_acceleration": Held(FIXED, _STOPS_LATER),
    "limits.max_angular_acceleration": Held(FIXED, _STOPS_LATER),
    "limits.max_contact_braking": Held(FIXED, _STOPS_LATER),
    "limits.max_linear_jerk": Held(FIXED, _STOPS_LATER),
    "limits.max_angular_jerk": Held(FIXED, _STOPS_LATER),
    "limits.workspace_min": Held(MORE, "beyond it may be a person"),
    "limits.workspace_max": Held(LESS, "beyond it may be a person"),
    "contact.adapt": Held(ON, "it damps what is stiff"),
    "contact.max_stiffness": Held(MORE, "stiffer is damped no further"),
    "contact.damping_time": Held(MORE, "it makes the damping of what is touched"),
    "contact.force_noise": Held(FIXED, "by it contact is told from nothing"),
    "contact.motion_noise": Held(FIXED, "by it contact is told from nothing"),
    "contact.monitor": Held(ON, "it stops an arm that shakes"),
    "force.enabled_axes": Held(FIXED, "an axis begins to press, or lets go"),
    "force.target": Held(CLOSER, "more, or the other way, presses where nobody expects it"),
    "force.max_speed": Held(LESS, "faster hits harder"),
    "force.max_travel": Held(LESS, "further may be a person"),
    "force.approach_speed": Held(LESS, "faster hits harder"),
    "force.stiffness": Held(MORE, "what is stiffer than expected is hit too fast"),
    "force.stream_timeout": Held(LESS, "so long presses a policy that has died"),
    "arm.lag": Held(FIXED, "a command that leads by another one overshoots"),
    "arm.delay": Held(FIXED, "a path that leads by another one runs ahead"),
    "ik.damping": Held(FIXED, "less is fast near a singularity, more leaves the way"),
    "ik.singularity_threshold": Held(FIXED, "less is fast near a singularity, more leaves the way"),
    "payload.mass": Held(FIXED, _FELT),
    "payload.center_of_mass": Held(FIXED, _FELT),
    "payload.inertia": Held(FIXED, _FELT),
    "payload.force_bias": Held(FIXED, _FELT),
    "payload.torque_bias": Held(FIXED, _FELT),
    "payload.gravity": Held(FIXED, _FELT),
    "payload.compensate_inertia": Held(FIXED, _FELT),
    "safety.wrench_timeout": Held(LESS, "so long the arm goes on by an old force"),
    "safety.joint_timeout": Held(LESS, "so long the arm goes on by old joints"),
    "safety.lost_timeout": Held(LESS, "so long the arm may go on by itself"),
    "safety.max_force": Held(LESS, "so much presses before the arm stops"),
    "safety.max_torque": Held(LESS, "so much presses before the arm stops"),
    "safety.max_wrench": Held(LESS, "so much presses before the arm stops"),
    "safety.start_force": Held(OFF_AT_ZERO, "so much may be unexplained at a start"),
    "safety.start_torque": Held(OFF_AT_ZERO, "so much may be unexplained at a start"),
    "safety.spike_force": Held(FIXED, "small drops a real contact, large feels a spike"),
    "safety.spike_torque": Held(FIXED, "small drops a real contact, large feels a spike"),
    "safety.frozen_samples": Held(OFF_AT_ZERO, "so long the arm goes on by a dead sensor"),
    "safety.drift_seconds": Held(OFF_AT_ZERO, "so long the arm moves with nobody there"),
    "safety.max_tracking_error": Held(LESS, "so far behind an obstacle goes unnoticed"),
    "safety.max_tracking_rotation": Held(LESS, "so far behind an obstacle goes unnoticed"),
    "safety.tracking_timeout": Held(LESS, "so long an obstacle goes unnoticed"),
}
"""Every parameter that may change while running and could hurt: the way that is the careful one."""

FREE = {
    "admittance.drift_reset_threshold": "nothing pulls at a free axis, wherever its home is",
    "arm.mode_frequency": "only `tune` reads it",
}
"""All others that may change while running, and why they hurt nobody whatever they are."""

_GAINS = tuple(f"admittance.{key}" for key in ("mass", "damping", "damping_ratio", "stiffness"))
_GAINS += ("admittance.virtual_stiffness",)
_THRESHOLD = "admittance.min_motion_threshold"


class Share(NamedTuple):
    """How much of what it was when the run began a number of the params record may be.

    Attributes:
        least, most: of that.
        by: parameters that make it, the one to blame first.
    """

    least: float
    most: float
    by: tuple[str, ...]


SHARES = {
    "mass": Share(0.25, 4.0, _GAINS[:1]),
    "damping": Share(0.25, 4.0, (*_GAINS[1:3], *_GAINS)),
    "stiffness": Share(0.25, 2.0, ("admittance.stiffness",)),
    "virtual_stiffness": Share(0.25, 4.0, ("admittance.virtual_stiffness",)),
    "deadband_force": Share(0.25, 4.0, (_THRESHOLD, "admittance.deadband_force")),
    "deadband_torque": Share(0.25, 4.0, (_THRESHOLD, "admittance.deadband_torque")),
}
"""Likewise `mass` over `damping`: no longer than four times as long does the arm go on."""

_SLACK = 1e-9


def refuse_looser(old: Config, new: Config, began: np.record, now: np.record) -> None:
    """See that `new` is as careful as `old`, or more so.

    Args:
        began: params of the tick when the run began.
        now: likewise, of `new`.

    Raises:
        ConfigError: it is not, with every parameter that is looser.
    """
    before, after = old.flat(), new.flat()
    looser = [
        Problem(name, _refusal(_rule(held.way), f"{_shown(before[name])} -> {_shown(after[name])}"))
        for name, held in HELD.items()
        if held.way != NEAR and not _careful(held.way, before[name], after[name])
    ]
    changed = {name for name in HELD if before[name] != after[name]}
    looser += [
        Problem(name, _refusal(rule, got))
        for names, rule, got in _far(began, now)
        for name in [name for name in names if name in changed][:1]
    ]
    if looser:
        refuse(looser)


def _careful(way: str, old: Any, new: Any) -> bool:
    if old == new:
        return True
    if way == FIXED or new is None:
        return False
    if old is None:
        return True
    pairs = zip(old, new, strict=True) if isinstance(old, tuple) else [(old, new)]
    return all(_TAKEN[way](a, b) for a, b in pairs)


def _far(began: np.record, now: np.record) -> Iterator[tuple[tuple[str, ...], str, str]]:
    """What is too far from where the run began: parameters that make it, rule, numbers."""
    for name, share in SHARES.items():
        one, other = np.atleast_1d(began[name]), np.atleast_1d(now[name])
        near = (other >= share.least * one * (1 - _SLACK)) & (
            other <= share.most * one * (1 + _SLACK)
        )
        if not near.all():
            axis = int(np.argmin(near))
            along = f" along {AXES[axis]}" if len(one) > 1 else ""
            words = name.replace("_", " ")
            got = f"{one[axis]:g} -> {other[axis]:g}{along}"
            yield share.by, _within(words, f"{share.least:g} to {share.most:g}"), got
    long = now["mass"] * began["damping"], 4.0 * began["mass"] * now["damping"] * (1 + _SLACK)
    if not (long[0] <= long[1]).all():
        axis = int(np.argmin(long[0] <= long[1]))
        times = [float(p["mass"][axis] / max(p["damping"][axis], 1e-9)) for p in (began, now)]
        yield (
            _GAINS,
            _within("mass / damping", "4"),
            f"{times[0]:.3g} -> {times[1]:.3g} s along {AXES[axis]}",
        )


def _within(what: str, times: str) -> str:
    return f"may only make the {what} {times} times what it was when the run began,"


def _rule(way: str) -> str:
    return "may not change" if way == FIXED else f"may only be {way}"


def _refusal(rule: str, got: str) -> str:
    return f"{rule} from outside, got {got}; start it with that value, or with --allow-loosening"


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value:g}" if isinstance(value, float) else str(value)
