"""The sections: their defaults, what may change while running, and each alone."""

from __future__ import annotations

import pytest

from ur_admittance.config import Config
from ur_admittance.config.sections import Admittance, Safety
from ur_admittance.errors import ConfigError

FIELDS = Config.fields()


def test_defaults_are_those_of_the_documents() -> None:
    config = Config()
    assert config.admittance.mass == (8, 8, 8, 0.8, 0.8, 0.8)
    assert config.admittance.stiffness == (0,) * 6
    assert config.admittance.damping_ratio == (0.8,) * 6
    assert config.admittance.filter_coefficient == 0.8
    assert config.effective_deadband() == (1.5, 1.5)
    assert config.admittance.drift_reset_threshold == 0.001
    assert (config.max_linear_velocity, config.max_angular_velocity) == (0.5, 1.0)
    assert (config.control_rate, config.output.time_from_start) == (500.0, 0.002)
    assert config.joints[0] == "shoulder_pan_joint"
    assert config.joints[5] == "wrist_3_joint"


def test_what_must_not_change_while_running_is_marked() -> None:
    fixed = {field.name for field in FIELDS if not field.live}
    assert fixed == {
        *("joints", "base_link", "ft_frame", "tip", "control_rate", "dynamic_parameters"),
        *("clock", "monitor_rate"),
        *("equilibrium", "admittance.frame", "admittance.integrator", "admittance.engage_seconds"),
        *("limits.joint_velocity", "limits.joint_acceleration", "limits.joint_margin"),
        *("output.mode", "output.time_from_start"),
        *(f"payload.{key}" for key in ("verdict", "left_force", "left_torque")),
        *("payload.noise_force", "payload.noise_torque", "safety.sensor_range"),
        *(f"payload.{key}" for key in ("date", "robot", "sensor")),
        *(field.name for field in FIELDS if field.name.startswith("tool.")),
    }


def test_sections_alone_raise_our_error_too() -> None:
    with pytest.raises(ConfigError, match="mass: must be six"):
        Admittance(mass=[1, 2])  # type: ignore
    with pytest.raises(ConfigError, match="max_forc: unknown key; did you mean max_force"):
        Safety(max_forc=3)  # type: ignore
    with pytest.raises(ConfigError, match="admittance: must be a section"):
        Config(admittance=5)
    with pytest.raises(ConfigError, match="must be a mapping"):
        Config.from_dict([("tip", "tool0")])  # type: ignore
