"""From a configuration and a robot model to the params record that the tick reads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import pose_of, quaternion_of
from ur_admittance.errors import ConfigError
from ur_admittance.kernel import bits, layout
from ur_admittance.model import RobotModel

_FRAMES = {"probe": bits.PROBE, "base": bits.BASE}
_INTEGRATORS = {
    "exact": bits.EXACT,
    "rk4": bits.RK4,
    "semi_implicit_euler": bits.SEMI_IMPLICIT_EULER,
}
_QUIET = 0.1, 0.01  # N, Nm: no hand is as steady
_LEAK = 1.0  # 1/s; in velocity mode nothing corrects q_ref, so it forgets slowly


@dataclass(frozen=True)
class Change:
    """What a change of parameters did.

    Attributes:
        values: before and now, by the name of each parameter that changed.
        recomputed: parts of the params record that were made anew.
        ramp_seconds: how long the gains take to get there, s.
        warning: what the arm will do that was hardly meant, in words; "" if nothing.
    """

    values: Mapping[str, tuple[Any, Any]]
    recomputed: tuple[str, ...]
    ramp_seconds: float
    warning: str = ""


def pack(config: Config, model: RobotModel) -> np.ndarray:
    """One params record, ready to run.

    Raises:
        ConfigError: a limit that this arm does not have.
    """
    params = layout.new_params()
    params["generation"] = 0
    _pack_arm(params[0], config, model)
    for pack_part in _PACKERS.values():
        pack_part(params[0], config)
    return params


def repack(params: np.ndarray, config: Config, changed: Iterable[str]) -> tuple[str, ...]:
    """Bring a record up to date in the parts that these live parameters make; their names."""
    parts = tuple(part for part in _PACKERS if any(_part_of(name) == part for name in changed))
    for part in parts:
        _PACKERS[part](params[0], config)
    return parts


def _part_of(name: str) -> str:
    if name.startswith(("admittance.filter", "admittance.deadband", "admittance.min_motion")):
        return "wrench"
    section = name.partition(".")[0]
    return {
        "payload": "wrench",
        "admittance": "law",
        "tracking": "law",
        "limits": "limits",
        "max_linear_velocity": "limits",
        "max_angular_velocity": "limits",
        "ik": "limits",
        "contact": "contact",
        "arm": "contact",
        "force": "law",
        "safety": "safety",
    }.get(section, "")


def carrying(model: RobotModel, config: Config) -> RobotModel:
    """The arm with the tool point and the sensor that `tool` places; where it does not, its own: a
    tool point that is moved leaves the sensor where it is, at the flange.
    """
    point, sensor = config.tool.point, config.tool.sensor
    if point is None and sensor is None:
        return model
    return model.with_tool(
        X_EP=None if point is None else pose_of(point),
        X_ES=model.X_ES if sensor is None else pose_of(sensor),
    )


def _pack_arm(p, config: Config, model: RobotModel) -> None:
    p.period = 1.0 / config.control_rate
    p.chain_R[:] = model.chain_R
    p.chain_p[:] = model.chain_p
    p.reach = float(np.linalg.norm(model.chain_p[1:], axis=1).sum())
    X_PS = np.linalg.inv(model.X_EP) @ model.X_ES
    if np.array_equal(model.X_EP, model.X_ES):
        X_PS = np.eye(4)
    p.R_PS[:] = X_PS[:3, :3]
    p.p_PS[:] = X_PS[:3, 3]
    limits = config.limits
    p.q_min[:] = model.q_min + limits.joint_margin
    p.q_max[:] = model.q_max - limits.joint_margin
    p.start_bias[:] = [*config.payload.force_bias, *config.payload.torque_bias]
    p.qd_max[:] = _joint_limit(
        "limits.joint_velocity", limits.joint_velocity, model.qd_max, "rad/s"
    )
    p.qdd_max[:] = _joint_limit(
        "limits.joint_acceleration", limits.joint_acceleration, model.qdd_max, "rad/s^2"
    )
    if not np.all(p.q_min < p.q_max):
        raise ConfigError(
            f"limits.joint_margin: {limits.joint_margin} rad leaves no room in the range of "
            f"{model.joint_names[int(np.argmin(p.q_max - p.q_min))]}; give a smaller margin"
        )


def _joint_limit(name: str, given, own: np.ndarray, unit: str) -> np.ndarray:
    if given is None:
        return own
    wanted = np.broadcast_to(np.asarray(given, float), (6,))
    if np.any(wanted > own * (1 + 1e-9)):
        joint = int(np.argmax(wanted - own))
        raise ConfigError(
            f"{name}: {wanted[joint]:g} {unit} for joint {joint + 1} is more than the arm's own "
            f"{own[joint]:g} {unit}; give at most that"
        )
    return wanted


def _pack_wrench(p, config: Config) -> None:
    payload, admittance = config.payload, config.admittance
    p.bias[:] = [*payload.force_bias, *payload.torque_bias]
    p.payload_mass = payload.mass
    p.payload_com[:] = payload.center_of_mass
    p.payload_inertia[:] = payload.inertia
    p.gravity[:] = payload.gravity
    p.compensate_inertia = payload.compensate_inertia
    p.filter_time_constant = config.filter_time_constant()
    p.deadband_force, p.deadband_torque = config.effective_deadband()
    p.deadband_hard = admittance.deadband_kind == "hard"


def _pack_law(p, config: Config) -> None:
    admittance = config.admittance
    p.frame = _FRAMES[admittance.frame]
    p.wxyz_task[:] = quaternion_of(pose_of((0.0, 0.0, 0.0, *admittance.orientation)))
    p.integrator = _INTEGRATORS[admittance.integrator]
    p.mass[:] = admittance.mass
    p.damping[:] = config.effective_damping()
    p.stiffness[:] = admittance.stiffness
    p.damping_ratio[:] = admittance.damping_ratio if admittance.damping is None else [-1.0] * 6
    p.virtual_stiffness[:] = admittance.virtual_stiffness
    p.stream_energy = admittance.stream_energy
    force = config.force
    p.force_axes[:] = force.enabled_axes
    p.pressing = any(force.enabled_axes)
    p.stream_timeout = force.stream_timeout
    p.force_target[:] = force.target
    p.force_speed[:] = force.max_speed
    p.force_travel[:] = force.max_travel
    p.force_approach[:] = force.approach_speed
    p.force_stiffness[:] = force.stiffness
    p.enabled[:] = np.logical_or(admittance.enabled_axes, force.enabled_axes)
    p.engage_seconds = admittance.engage_seconds
    p.ramp_seconds = admittance.ramp_seconds
    p.drift_reset_threshold = admittance.drift_reset_threshold
    p.velocity_gain[:] = config.velocity_gain()
    p.max_joint_lead = config.tracking.max_joint_lead
    p.leak = _LEAK if config.output.mode == "velocity" else 0.0


def _pack_limits(p, config: Config) -> None:
    limits = config.limits
    p.v_max = config.max_linear_velocity
    p.w_max = config.max_angular_velocity
    p.a_max = limits.max_linear_acceleration
    p.alpha_max = limits.max_angular_acceleration
    p.contact_braking = limits.max_contact_braking
    p.jerk_max = limits.max_linear_jerk
    p.angular_jerk_max = limits.max_angular_jerk
    p.workspace_min[:] = limits.workspace_min
    p.workspace_max[:] = limits.workspace_max
    p.ik_damping = config.ik.damping
    p.singularity_threshold = config.ik.singularity_threshold


def _pack_contact(p, config: Config) -> None:
    contact = config.contact
    p.adapt = contact.adapt
    p.monitor = contact.monitor
    p.max_touch = contact.max_stiffness
    p.damping_time = contact.damping_time
    p.force_noise = contact.force_noise
    p.motion_noise = contact.motion_noise
    p.arm_lag = config.arm.lag


def _pack_safety(p, config: Config) -> None:
    safety = config.safety
    p.wrench_timeout = safety.wrench_timeout
    p.joint_timeout = safety.joint_timeout
    p.lost_timeout = safety.lost_timeout
    p.max_force = safety.max_force
    p.max_torque = safety.max_torque
    p.max_wrench[:] = safety.max_wrench or [math.inf] * 6
    p.spike_force = safety.spike_force
    p.spike_torque = safety.spike_torque
    p.frozen_samples = safety.frozen_samples or 0
    p.max_lead = safety.max_tracking_error
    p.max_lead_angle = safety.max_tracking_rotation
    p.max_lead_cosine = math.cos(0.5 * safety.max_tracking_rotation)
    p.tracking_timeout = safety.tracking_timeout
    p.per_range[:] = [1.0 / end for end in safety.sensor_range or [math.inf] * 6]
    noise = config.payload.noise_force, config.payload.noise_torque
    p.drift_seconds = safety.drift_seconds if min(noise) > 0.0 else 0.0
    p.quiet_force = max(noise[0], _QUIET[0])
    p.quiet_torque = max(noise[1], _QUIET[1])


_PACKERS = {
    "wrench": _pack_wrench,
    "law": _pack_law,
    "limits": _pack_limits,
    "contact": _pack_contact,
    "safety": _pack_safety,
}
