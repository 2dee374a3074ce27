"""What a trace is held to."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ur_admittance import Controller


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
