"""Which way limits, safety and payload may change from outside while the arm gives way.

Whoever can reach the process may make the arm slower and more careful, and nothing else. Where
neither way is the safe one, nothing may change: with less acceleration the arm stops later, with
another payload it feels another force.
"""

from __future__ import annotations

from typing import Any

from ur_admittance.config.field import Problem, refuse
from ur_admittance.config.schema import Config

LESS, MORE, FIXED = "lowered", "raised", "fixed"
OFF_AT_ZERO = "lowered, not to 0"  # which switches the check off

TIGHTER = {
    "max_linear_velocity": LESS,
    "max_angular_velocity": LESS,
    "limits.max_linear_acceleration": FIXED,
    "limits.max_angular_acceleration": FIXED,
    "limits.max_contact_braking": FIXED,
    "limits.max_linear_jerk": FIXED,
    "limits.max_angular_jerk": FIXED,
    "limits.workspace_min": MORE,
    "limits.workspace_max": LESS,
    "force.enabled_axes": FIXED,
    "force.max_speed": LESS,
    "force.max_travel": LESS,
    "force.approach_speed": LESS,
    "payload.mass": FIXED,
    "payload.center_of_mass": FIXED,
    "payload.inertia": FIXED,
    "payload.force_bias": FIXED,
    "payload.torque_bias": FIXED,
    "payload.gravity": FIXED,
    "payload.compensate_inertia": FIXED,
    "safety.wrench_timeout": LESS,
    "safety.joint_timeout": LESS,
    "safety.lost_timeout": LESS,
    "safety.max_force": LESS,
    "safety.max_torque": LESS,
    "safety.max_wrench": LESS,
    "safety.start_force": OFF_AT_ZERO,
    "safety.start_torque": OFF_AT_ZERO,
    "safety.spike_force": FIXED,
    "safety.spike_torque": FIXED,
    "safety.frozen_samples": OFF_AT_ZERO,
    "safety.drift_seconds": OFF_AT_ZERO,
    "safety.max_tracking_error": LESS,
    "safety.max_tracking_rotation": LESS,
    "safety.tracking_timeout": LESS,
}
"""Every parameter of these that may change while running, and the way that is the tighter one."""


def refuse_looser(old: Config, new: Config) -> None:
    """See that `new` is as tight as `old`, or tighter.

    Raises:
        ConfigError: it is not, with every parameter that is looser.
    """
    before, now = old.flat(), new.flat()
    looser = [
        Problem(name, _refusal(way, before[name], now[name]))
        for name, way in TIGHTER.items()
        if name in now and not _tighter(way, before[name], now[name])
    ]
    if looser:
        refuse(looser)


def _tighter(way: str, old: Any, new: Any) -> bool:
    if old == new:
        return True
    if way == FIXED or new is None:
        return False
    if old is None:
        return True
    pairs = zip(old, new, strict=True) if isinstance(old, tuple) else [(old, new)]
    if way == OFF_AT_ZERO:
        return all(b != 0 and (a == 0 or b <= a) for a, b in pairs)
    return all(b <= a if way == LESS else b >= a for a, b in pairs)


def _refusal(way: str, old: Any, new: Any) -> str:
    rule = "may not change" if way == FIXED else f"may only be {way}"
    return (
        f"{rule} from outside while the arm gives way, got {_shown(old)} -> {_shown(new)}; change "
        "it while the controller is inactive, or start it with --allow-loosening"
    )


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return f"{value:g}" if isinstance(value, float) else str(value)
