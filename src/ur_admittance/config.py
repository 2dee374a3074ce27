"""Every parameter of the controller: typed, checked, with unit, bounds and text."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping
from typing import Any

import pydantic

from ur_admittance import config_check as check
from ur_admittance import config_file
from ur_admittance.config_check import Field, Problem
from ur_admittance.config_file import Pose

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]  # [x y z rx ry rz]
Names = tuple[str, str, str, str, str, str]
Switches = tuple[bool, bool, bool, bool, bool, bool]

UR_JOINTS = ("shoulder_pan_joint", "shoulder_lift_joint", "elbow_joint")
UR_JOINTS += ("wrist_1_joint", "wrist_2_joint", "wrist_3_joint")


def _declare(kind: str, default: Any, text: str, **more: Any) -> Any:
    """A pydantic field whose checks and metadata are one `Field`."""
    field = Field(kind, text, **more)
    field = dataclasses.replace(field, default=field.clean(default))
    info = pydantic.Field(default=field.default, description=text)
    info.metadata.append(field)
    return info


def _number(default: Any, interval: str, unit: str, text: str, **more: Any) -> Any:
    """Numbers inside an interval such as '(0, 10]'."""
    low, high = (float(end) for end in interval[1:-1].split(","))
    above = interval[0] == "("
    return _declare("number", default, text, unit=unit, bounds=(low, high), above=above, **more)


def _six(linear: float, angular: float, interval: str, unit: str, text: str) -> Any:
    """Six numbers; the default is the same for the three translations, and the three rotations."""
    return _number((linear,) * 3 + (angular,) * 3, interval, unit, text, size=6)


def _choice(*choices: str, text: str, live: bool = False) -> Any:
    """One of some words; the first is the default."""
    return _declare("choice", choices[0], text, choices=choices, live=live)


class _Section(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(frozen=True, extra="forbid")

    def __init__(self, **values: Any) -> None:
        try:
            super().__init__(**values)
        except pydantic.ValidationError as error:
            problems = []
            for e in error.errors():
                name = str(e["loc"][0])
                unknown = f"unknown key{check.suggest(name, type(self).model_fields)}"
                problems.append(Problem(name, str(e.get("ctx", {}).get("error", unknown))))
            check.refuse(problems)


class Admittance(_Section):
    """The law M a + D v + s K x = F, and the wrench that enters it."""

    frame: str = _choice("probe", "base", text="axes of the law: the desired pose's or the base's")
    mass: Six = _six(8, 0.8, "(0, 1000]", "kg, kg m^2", "virtual mass M")
    stiffness: Six = _six(0, 0, "[0, 1e5]", "N/m, Nm/rad", "spring K to the desired pose; 0: free")
    damping: Six | None = _number(
        None,
        "[0, 1e5]",
        "N s/m, Nm s/rad",
        "damping D; wins over damping_ratio",
        size=6,
        optional=True,
    )
    damping_ratio: Six = _six(
        0.8, 0.8, "[0, 20]", "", "D = 2 ratio sqrt(M K), with virtual_stiffness where K is 0"
    )
    virtual_stiffness: Six = _six(
        300, 20, "(0, 1e5]", "N/m, Nm/rad", "stands for K in the damping of free axes; no spring"
    )
    enabled_axes: Switches = _declare("boolean", (True,) * 6, "axes that may give way", size=6)
    integrator: str = _choice("exact", "rk4", "semi_implicit_euler", text="how the law is stepped")
    engage_seconds: float = _number(1, "[0, 60]", "s", "fade-in of the spring at start", live=False)
    ramp_seconds: float = _number(0.5, "[0, 10]", "s", "how long a live change of gains takes")
    filter_coefficient: float = _number(
        0.8,
        "(0, 1]",
        "",
        "share of the new wrench sample in the low-pass, each period; 1: no filter",
    )
    filter_cutoff_hz: float | None = _number(
        None,
        "(0, 1000]",
        "Hz",
        "cut-off of the wrench low-pass, instead of filter_coefficient",
        optional=True,
    )
    min_motion_threshold: float | None = _number(
        None, "[0, 100]", "N and Nm", "sets both deadbands that are not given", optional=True
    )
    deadband_force: float = _number(1.5, "[0, 100]", "N", "forces below this do nothing")
    deadband_torque: float = _number(1.5, "[0, 100]", "Nm", "torques below this do nothing")
    deadband_kind: str = _choice(
        "soft",
        "hard",
        text="soft: continuous at the threshold; hard: full force above it",
        live=True,
    )
    drift_reset_threshold: float = _number(
        0.001, "[0, 0.1]", "m/s and rad/s", "speed below which a free axis re-anchors; 0: off"
    )


class Tracking(_Section):
    """How the arm follows the commanded pose."""

    velocity_gain: float | Six = _number(
        5, "[0, 100]", "1/s", "Kp from pose error to velocity; one or six", size=6, or_scalar=True
    )
    max_joint_lead: float = _number(
        0.1, "(0, 1]", "rad", "how far the position reference may lead the measured joints"
    )


class Limits(_Section):
    """What the command never exceeds."""

    max_linear_acceleration: float = _number(2.5, "[0.05, 50]", "m/s^2", "tool acceleration")
    max_angular_acceleration: float = _number(5, "[0.1, 100]", "rad/s^2", "tool acceleration")
    max_linear_jerk: float = _number(0, "[0, 5000]", "m/s^3", "tool jerk; 0: off")
    max_angular_jerk: float = _number(0, "[0, 10000]", "rad/s^3", "tool jerk; 0: off")
    workspace_min: Three = _number(
        (-10,) * 3, "[-100, 100]", "m", "lower corner of the box", size=3
    )
    workspace_max: Three = _number((10,) * 3, "[-100, 100]", "m", "upper corner of the box", size=3)
    joint_velocity: float | Six | None = _number(
        None,
        "(0, 10]",
        "rad/s",
        "joint speeds; none: the arm's own",
        size=6,
        or_scalar=True,
        optional=True,
        live=False,
    )
    joint_acceleration: float | Six | None = _number(
        None,
        "[0.5, 100]",
        "rad/s^2",
        "joint accelerations; none: the arm's own",
        size=6,
        or_scalar=True,
        optional=True,
        live=False,
    )
    joint_margin: float = _number(
        0.0873, "[0, 1]", "rad", "distance kept from the arm's joint limits", live=False
    )


class Ik(_Section):
    """The step from tool velocity to joint velocities."""

    damping: float = _number(0.05, "[0.001, 1]", "", "largest damping, at a singularity")
    singularity_threshold: float = _number(
        0.03, "[0.001, 0.3]", "", "1 / |J^-1| below which damping begins"
    )


class Payload(_Section):
    """What the sensor feels without contact, in sensor axes (gravity: base axes)."""

    mass: float = _number(0, "[0, 50]", "kg", "what hangs on the sensor")
    center_of_mass: Three = _number((0,) * 3, "[-1, 1]", "m", "of that mass", size=3)
    inertia: Six = _six(0, 0, "[-100, 100]", "kg m^2", "ixx iyy izz ixy ixz iyz about that centre")
    force_bias: Three = _number((0,) * 3, "[-1000, 1000]", "N", "reading without load", size=3)
    torque_bias: Three = _number((0,) * 3, "[-200, 200]", "Nm", "reading without load", size=3)
    gravity: Three = _number((0, 0, -9.81), "[-20, 20]", "m/s^2", "gravity at the base", size=3)
    compensate_inertia: bool = _declare("boolean", False, "also subtract what acceleration causes")


class Safety(_Section):
    """When to hold or stop."""

    wrench_timeout: float = _number(0.01, "(0, 10]", "s", "no wrench for this long: hold")
    joint_timeout: float = _number(0.01, "(0, 10]", "s", "no joint state for this long: hold")
    lost_timeout: float = _number(0.1, "(0, 10]", "s", "either missing for this long: latched stop")
    max_force: float = _number(200, "(0, 5000]", "N", "force that stops the arm")
    max_torque: float = _number(30, "(0, 1000]", "Nm", "torque that stops the arm")
    start_force: float = _number(10, "[0, 5000]", "N", "unexplained, it forbids a start; 0: any")
    start_torque: float = _number(1, "[0, 1000]", "Nm", "unexplained, it forbids a start; 0: any")
    spike_force: float = _number(100, "[0, 5000]", "N", "jump dropped as a spike; 0: off")
    spike_torque: float = _number(10, "[0, 1000]", "Nm", "jump dropped as a spike; 0: off")
    frozen_samples: int = _declare(
        "integer",
        0,
        "equal samples after which the sensor counts as frozen; 0: off",
        bounds=(0, 100000),
    )
    max_tracking_error: float = _number(0.05, "(0, 1]", "m", "distance behind that stops the arm")
    max_tracking_rotation: float = _number(0.3, "(0, 1.5]", "rad", "likewise, rotation")
    tracking_timeout: float = _number(0.2, "[0, 10]", "s", "how long either must last")


class Output(_Section):
    """Where the command goes."""

    mode: str = _choice("velocity", "position", "trajectory", text="kind of command sent")
    time_from_start: float = _number(
        0.002, "(0, 1]", "s", "time stamp of a trajectory point", live=False
    )


class Config(_Section):
    """All parameters of a controller, checked as a whole, and never changed.

    Built from keywords, nested or dotted: `Config(control_rate=250, admittance={"mass": [4] * 6})`.
    Every error is a `ConfigError` that lists all problems.
    """

    joints: Names = _declare("text", UR_JOINTS, "joint names, base to tool", size=6, live=False)
    base_link: str = _declare("text", "base_link", "frame of the robot base", live=False)
    ft_frame: str = _declare("text", "tool0", "frame of the force/torque sensor", live=False)
    tip: str = _declare("text", "tool0", "frame of the tool point", live=False)
    control_rate: float = _number(500, "[20, 2000]", "Hz", "ticks each second", live=False)
    dynamic_parameters: bool = _declare(
        "boolean", True, "false: nothing may change while running", live=False
    )
    max_linear_velocity: float = _number(0.5, "(0, 5]", "m/s", "tool speed")
    max_angular_velocity: float = _number(1, "(0, 10]", "rad/s", "tool speed")
    environment_stiffness: float = _number(
        0, "[0, 1e7]", "N/m", "stiffest surface the tool will touch; 0: unknown"
    )
    accept_contact_instability: bool = _declare(
        "boolean", False, "allow gains that may bounce on that surface"
    )
    loop_delay: float = _number(0.02, "[0, 0.5]", "s", "total delay from force to motion")
    equilibrium: str | Pose | None = _declare(
        "pose", None, "desired pose at start; none: where the arm stands", optional=True, live=False
    )
    admittance: Admittance = Admittance()
    tracking: Tracking = Tracking()
    limits: Limits = Limits()
    ik: Ik = Ik()
    payload: Payload = Payload()
    safety: Safety = Safety()
    output: Output = Output()

    def __init__(self, **values: Any) -> None:
        source = config_file.given(values, _SCHEMA)
        self._settle(*config_file.collect(source, _SCHEMA))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """A configuration from nested keys, dotted keys, or both."""
        return cls._of(config_file.given(values, _SCHEMA))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Config:
        """The configuration in a YAML file, plain or in the shape of a ROS 2 parameter file."""
        return cls._of(config_file.read(path, _SCHEMA))

    @classmethod
    def loads(cls, text: str, name: str = "<text>") -> Config:
        """The configuration in a YAML text; `name` stands for the file in messages."""
        return cls._of(config_file.parse(text, name, _SCHEMA))

    @classmethod
    def preset(cls, name: str) -> Config:
        """A configuration that comes with the package; `presets` lists them."""
        return cls._of(config_file.read_preset(name, _SCHEMA))

    @staticmethod
    def presets() -> tuple[str, ...]:
        """Names of the configurations that come with the package."""
        return config_file.preset_names()

    @staticmethod
    def fields() -> tuple[Field, ...]:
        """Every parameter under its full name, in schema order."""
        return tuple(_SCHEMA.fields.values())

    def get(self, name: str) -> Any:
        """The value of a parameter by its full name, such as 'admittance.mass'."""
        if name not in _SCHEMA.fields:
            check.refuse([Problem(str(name), _SCHEMA.unknown(str(name)))])
        section, _, key = name.rpartition(".")
        return getattr(getattr(self, section) if section else self, key)

    def flat(self) -> dict[str, Any]:
        """Every parameter by its full name, in schema order; `from_dict` takes it back."""
        values = {name: self.get(name) for name in _SCHEMA.fields}
        pose = values["equilibrium"]
        return {**values, "equilibrium": pose._asdict() if isinstance(pose, Pose) else pose}

    def to_yaml(self, shape: str = "plain") -> str:
        """All parameters as YAML, 'plain' or 'ros2'; loading it gives an equal configuration."""
        return config_file.dump(self.flat(), shape)

    def replace(self, changes: Mapping[str, Any], *, live: bool = False) -> Config:
        """A copy with some parameters changed, checked as a whole.

        With `live`, only what may change while running is accepted. Where two keys set one thing
        (cut-off or coefficient, threshold or deadbands), the key that is changed now rules.
        """
        new, source = config_file.collect(config_file.given(changes, _SCHEMA), _SCHEMA)
        for name in source.places if live else ():
            if not self.dynamic_parameters:
                source.problems.append(Problem(name, "is frozen: dynamic_parameters is false"))
            elif not _SCHEMA.fields[name].live:
                message = "cannot change while running; stop the controller first"
                source.problems.append(Problem(name, message))
        old = {**self.flat(), "equilibrium": self.equilibrium}
        if _COEFFICIENT in new and _CUTOFF not in new:
            old[_CUTOFF] = None
        if {**old, **new}[_CUTOFF] is not None:
            del old[_COEFFICIENT]
        if new.get(_THRESHOLD) is not None:
            del old[_DEADBANDS[0]], old[_DEADBANDS[1]]
        copy = type(self).__new__(type(self))
        copy._settle({**old, **new}, source)
        return copy

    def effective_damping(self) -> list[float]:
        """Damping D of the six axes as the law uses it [N s/m, Nm s/rad]."""
        return check.damping_of(self)

    def effective_deadband(self) -> tuple[float, float]:
        """Deadbands of force [N] and torque [Nm]."""
        return self.admittance.deadband_force, self.admittance.deadband_torque

    def filter_time_constant(self) -> float:
        """Time constant of the wrench low-pass [s]; 0 without filter."""
        if self.admittance.filter_cutoff_hz is not None:
            return 1.0 / (2.0 * math.pi * self.admittance.filter_cutoff_hz)
        alpha = self.admittance.filter_coefficient
        return 0.0 if alpha == 1.0 else -1.0 / (self.control_rate * math.log1p(-alpha))

    def velocity_gain(self) -> list[float]:
        """Tracking gain Kp of the six axes [1/s]."""
        gain = self.tracking.velocity_gain
        return list(gain) if isinstance(gain, tuple) else [gain] * 6

    def equilibrium_pose(self) -> Pose | None:
        """The equilibrium, read from its file if one is named; None if there is none."""
        where = self.equilibrium
        return config_file.load_equilibrium(where) if isinstance(where, str) else where

    @classmethod
    def _of(cls, source: config_file.Source) -> Config:
        config = cls.__new__(cls)
        config._settle(*config_file.collect(source, _SCHEMA))
        return config

    def _settle(self, values: dict[str, Any], source: config_file.Source) -> None:
        """Become these values, or raise with every problem, those between values included."""
        problems = source.problems
        if values.get(_THRESHOLD) is not None:
            values = {name: values[_THRESHOLD] for name in _DEADBANDS} | values
        if (cutoff := values.get(_CUTOFF)) is not None:
            rate = values.get("control_rate", _SCHEMA.fields["control_rate"].default)
            alpha = max(-math.expm1(-2.0 * math.pi * cutoff / rate), 1e-12)
            if not math.isclose(values.get(_COEFFICIENT, alpha), alpha, rel_tol=1e-9):
                message = f"says the same as {_COEFFICIENT}; keep one of the two"
                problems.append(Problem(_CUTOFF, message, source.line(_CUTOFF)))
            values = {**values, _COEFFICIENT: alpha}
        parts: dict[str, dict[str, Any]] = {section: {} for section in ("", *_SCHEMA.sections)}
        for name, value in values.items():
            section, _, key = name.rpartition(".")
            parts[section][key] = value
        top = parts.pop("")
        built = {name: _SECTIONS[name].model_construct(**part) for name, part in parts.items()}
        super().__init__(**top, **built)
        bad = {p.name for p in problems}
        bad |= {name.partition(".")[0] for name in bad if name not in _SCHEMA.fields}
        for names, message in check.rule_problems(self):
            if bad.isdisjoint(names) and bad.isdisjoint(n.partition(".")[0] for n in names):
                problems.append(Problem(names[0], message, source.line(*names)))
        if problems:
            check.refuse(problems, source.file)


_COEFFICIENT, _CUTOFF = "admittance.filter_coefficient", "admittance.filter_cutoff_hz"
_THRESHOLD = "admittance.min_motion_threshold"
_DEADBANDS = ("admittance.deadband_force", "admittance.deadband_torque")
_SECTIONS: dict[str, type[_Section]] = {
    name: type(info.default)
    for name, info in Config.model_fields.items()
    if isinstance(info.default, _Section)
}
_SCHEMA = config_file.Schema(
    Config.model_fields, {name: section.model_fields for name, section in _SECTIONS.items()}
)
