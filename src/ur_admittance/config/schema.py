"""A whole configuration: read, checked between its values, changed, written."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from typing import Any

from ur_admittance.config import rules, yaml_file
from ur_admittance.config.collect import Schema, Source, collect, given
from ur_admittance.config.declare import Section, choice, declare, fixed, number
from ur_admittance.config.field import Field, Problem, refuse
from ur_admittance.config.pose import Pose, clean_equilibrium
from ur_admittance.config.sections import (
    Admittance,
    Arm,
    Contact,
    Force,
    Ik,
    Limits,
    Output,
    Payload,
    Safety,
    Tool,
    Tracking,
)
from ur_admittance.model.ur_arms import UR_JOINTS

Names = tuple[str, str, str, str, str, str]


class Config(Section):
    """All parameters of a controller, checked as a whole, and never changed.

    Built from keywords, nested or dotted: `Config(control_rate=250, admittance={"mass": [4] * 6})`.
    Every error is a `ConfigError` that lists all problems.
    """

    joints: Names = declare("text", UR_JOINTS, "joint names, base to tool", size=6, live=False)
    base_link: str = declare("text", "base_link", "frame of the robot base", live=False)
    ft_frame: str = declare("text", "tool0", "frame of the force/torque sensor", live=False)
    tip: str = declare("text", "tool0", "frame of the tool point", live=False)
    control_rate: float = fixed(500, "[20, 2000]", "Hz", "ticks each second")
    clock: str = choice(
        *("joint_states", "timer"),
        text="what paces a ROS 2 node: each joint state, or a timer at control_rate",
    )
    monitor_rate: float = fixed(
        50, "[1, 2000]", "Hz", "how often a ROS 2 node tells what it does, at most each tick"
    )
    dynamic_parameters: bool = declare(
        "boolean", True, "false: nothing may change while running", live=False
    )
    max_linear_velocity: float = number(0.5, "(0, 5]", "m/s", "tool speed")
    max_angular_velocity: float = number(1, "(0, 10]", "rad/s", "tool speed")
    environment_stiffness: float = number(
        0, "[0, 1e7]", "N/m", "stiffest surface the tool will touch; 0: unknown"
    )
    accept_contact_instability: bool = declare(
        "boolean", False, "allow gains that may bounce on that surface"
    )
    loop_delay: float = number(0.02, "[0, 0.5]", "s", "total delay from force to motion")
    equilibrium: str | Pose | None = declare(
        "pose",
        None,
        "desired pose at start; none: where the arm stands",
        optional=True,
        live=False,
        cleaner=clean_equilibrium,
    )
    admittance: Admittance = Admittance()
    tracking: Tracking = Tracking()
    limits: Limits = Limits()
    contact: Contact = Contact()
    force: Force = Force()
    arm: Arm = Arm()
    ik: Ik = Ik()
    payload: Payload = Payload()
    tool: Tool = Tool()
    safety: Safety = Safety()
    output: Output = Output()

    def __init__(self, **values: Any) -> None:
        source = given(values, _SCHEMA)
        self._settle(*collect(source, _SCHEMA))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Config:
        """A configuration from nested keys, dotted keys, or both."""
        return cls._of(given(values, _SCHEMA))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Config:
        """The configuration in a YAML file, plain or in the shape of a ROS 2 parameter file."""
        return cls._of(yaml_file.read(path, _SCHEMA))

    @classmethod
    def loads(cls, text: str, name: str = "<text>") -> Config:
        """The configuration in a YAML text; `name` stands for the file in messages."""
        return cls._of(yaml_file.parse(text, name, _SCHEMA))

    @classmethod
    def preset(cls, name: str) -> Config:
        """A configuration that comes with the package; `presets` lists them."""
        return cls._of(yaml_file.read_preset(name, _SCHEMA))

    @staticmethod
    def presets() -> tuple[str, ...]:
        """Names of the configurations that come with the package."""
        return yaml_file.preset_names()

    @staticmethod
    def preset_text(name: str) -> str:
        """The YAML of such a configuration, with its comments."""
        return yaml_file.preset_text(name)

    @staticmethod
    def fields() -> tuple[Field, ...]:
        """Every parameter under its full name, in schema order."""
        return tuple(_SCHEMA.fields.values())

    def get(self, name: str) -> Any:
        """The value of a parameter by its full name, such as 'admittance.mass'."""
        if name not in _SCHEMA.fields:
            refuse([Problem(str(name), _SCHEMA.unknown(str(name)))])
        section, _, key = name.rpartition(".")
        return getattr(getattr(self, section) if section else self, key)

    def flat(self) -> dict[str, Any]:
        """Every parameter by its full name, in schema order; `from_dict` takes it back."""
        values = {name: self.get(name) for name in _SCHEMA.fields}
        pose = values["equilibrium"]
        return {**values, "equilibrium": pose._asdict() if isinstance(pose, Pose) else pose}

    def to_yaml(self, shape: str = "plain") -> str:
        """All parameters as YAML, 'plain' or 'ros2'; loading it gives an equal configuration."""
        return yaml_file.dump(self.flat(), shape)

    def replace(self, changes: Mapping[str, Any], *, live: bool = False) -> Config:
        """A copy with some parameters changed, checked as a whole.

        With `live`, only what may change while running, and has an effect, is accepted. Where two
        keys set one thing (cut-off or coefficient, threshold or deadbands, damping or damping
        ratio), the key that is changed now rules.
        """
        new, source = collect(given(changes, _SCHEMA), _SCHEMA)
        for name in source.places if live else ():
            if not self.dynamic_parameters:
                source.problems.append(Problem(name, "is frozen: dynamic_parameters is false"))
            elif not _SCHEMA.fields[name].live:
                message = "cannot change while running; stop the controller first"
                source.problems.append(Problem(name, message))
        old = {**self.flat(), "equilibrium": self.equilibrium}
        values = _overruled(old, new)
        idle = live and _VIRTUAL in new and new[_VIRTUAL] != old[_VIRTUAL] and _DAMPING not in new
        if idle and values[_DAMPING] is not None:
            message = f"has no effect while {_DAMPING} is given; set that, or {_RATIO} with this"
            source.problems.append(Problem(_VIRTUAL, message))
        copy = type(self).__new__(type(self))
        copy._settle(values, source)
        return copy

    def effective_damping(self) -> list[float]:
        """Damping D of the six axes as the law uses it [N s/m, Nm s/rad]."""
        return rules.damping_of(self)

    def effective_deadband(self) -> tuple[float, float]:
        """Deadbands of force [N] and torque [Nm]."""
        return self.admittance.deadband_force, self.admittance.deadband_torque

    def filter_time_constant(self) -> float:
        """Time constant of the wrench low-pass [s]; 0 without filter."""
        if self.admittance.filter_cutoff_hz is not None:
            return 1.0 / (2.0 * math.pi * self.admittance.filter_cutoff_hz)
        alpha = self.admittance.filter_coefficient
        return 0.0 if alpha == 1.0 else -1.0 / (self.control_rate * math.log1p(-alpha))

    def left_of_lag(self) -> float:
        """What is left of the arm's delay and lag when the command leads it [s].

        `arm.delay`, or what `loop_delay` leaves for it, and a fifth of `arm.lag`.
        """
        delay = self.arm.delay or max(0.0, self.loop_delay - self.arm.lag)
        return delay + 0.2 * self.arm.lag

    def velocity_gain(self) -> list[float]:
        """Tracking gain Kp of the six axes [1/s]."""
        gain = self.tracking.velocity_gain
        return list(gain) if isinstance(gain, tuple) else [gain] * 6

    def equilibrium_pose(self) -> Pose | None:
        """The equilibrium, read from its file if one is named; None if there is none."""
        where = self.equilibrium
        return yaml_file.load_equilibrium(where) if isinstance(where, str) else where

    @classmethod
    def _of(cls, source: Source) -> Config:
        config = cls.__new__(cls)
        config._settle(_collected(source), source)
        return config

    def _settle(self, values: dict[str, Any], source: Source) -> None:
        """Become these values, or raise with every problem, those between values included."""
        problems = source.problems
        if values.get(_THRESHOLD) is not None:
            values = {name: values[_THRESHOLD] for name in _DEADBANDS} | values
        for tool, payload in _WEIGHT:  # what the tool weighs, the sensor feels
            if values.get(tool) is not None:
                values = {payload: values[tool]} | values
        if (cutoff := values.get(_CUTOFF)) is not None:
            rate = values.get("control_rate", _SCHEMA.fields["control_rate"].default)
            alpha = max(-math.expm1(-2.0 * math.pi * cutoff / rate), 1e-12)
            if not math.isclose(values.get(_COEFFICIENT, alpha), alpha, rel_tol=1e-9):
                message = f"says the same as {_COEFFICIENT}; keep one of the two"
                problems.append(source.problem(message, _CUTOFF))
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
        for names, message in rules.rule_problems(self):
            if bad.isdisjoint(names) and bad.isdisjoint(n.partition(".")[0] for n in names):
                problems.append(source.problem(message, *names))
        if problems:
            refuse(problems, source.file)


def _collected(source: Source) -> dict[str, Any]:
    """Checked values of a source, over those of what it extends."""
    values, _ = collect(source, _SCHEMA)
    if source.base is None:
        return values
    below = _collected(source.base)
    source.problems += map(source.below, source.base.problems)
    return _overruled(below, values)


def _overruled(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Values with later ones over them. Where two keys set one thing, the later one rules."""
    values = {**old, **new}
    if _COEFFICIENT in new and _CUTOFF not in new:
        values[_CUTOFF] = None
    elif values.get(_CUTOFF) is not None and _COEFFICIENT not in new:
        values.pop(_COEFFICIENT, None)
    if new.get(_THRESHOLD) is not None:
        for name in _DEADBANDS:
            if name not in new:
                values.pop(name, None)
    if _RATIO in new and _DAMPING not in new:
        values[_DAMPING] = None
    for tool, payload in _WEIGHT:
        before = old.get(tool)
        before = _SCHEMA.fields[payload].default if before is None else before
        if tool in new and payload not in new and values.get(payload) == before:
            values.pop(payload, None)  # nobody gave it: it follows the tool
    return values


_COEFFICIENT, _CUTOFF = "admittance.filter_coefficient", "admittance.filter_cutoff_hz"
_THRESHOLD = "admittance.min_motion_threshold"
_DEADBANDS = ("admittance.deadband_force", "admittance.deadband_torque")
_DAMPING, _RATIO = "admittance.damping", "admittance.damping_ratio"
_VIRTUAL = "admittance.virtual_stiffness"
_WEIGHT = [(f"tool.{key}", f"payload.{key}") for key in ("mass", "center_of_mass", "inertia")]
_SECTIONS: dict[str, type[Section]] = {
    name: type(info.default)
    for name, info in Config.model_fields.items()
    if isinstance(info.default, Section)
}
_SCHEMA = Schema(
    Config.model_fields, {name: section.model_fields for name, section in _SECTIONS.items()}
)
