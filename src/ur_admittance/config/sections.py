"""The sections of a configuration: every parameter with unit, bounds and text."""

from __future__ import annotations

from datetime import date
from typing import Any

from ur_admittance.config.declare import (
    Section,
    choice,
    declare,
    fixed,
    number,
    number_or_none,
    six,
)
from ur_admittance.config.field import BadValue, Field, shown
from ur_admittance.config.validate import suggest

Three = tuple[float, float, float]
Six = tuple[float, float, float, float, float, float]  # [x y z rx ry rz]
Switches = tuple[bool, bool, bool, bool, bool, bool]


# Sensors that can be named instead of typed: greatest reading of each axis, N and Nm, for the
# calibration that the sensor is set to.
RANGES = {
    # ATI, "F/T Sensor, Ethernet Axia" (9610-05-Ethernet Axia-09), table 4.8, of table 15.3
    "ati-axia80-m20-range-0": (500.0, 500.0, 900.0, 20.0, 20.0, 20.0),
    # ATI, "F/T Sensor, Ethernet Axia" (9620-05-C-Ethernet Axia-02), table 5.8
    "ati-axia90-m50-range-0": (1000.0, 1000.0, 2000.0, 50.0, 50.0, 50.0),
}
_SIX = Field("number", "", "N, Nm", (0.0, 1e5), above=True, size=6)


def clean_range(value: Any) -> tuple[float, ...]:
    """Six numbers, or the name of a sensor in their place."""
    if not isinstance(value, str):
        return _SIX.clean(value)
    if value in RANGES:
        return RANGES[value]
    raise BadValue(
        f"must be {_SIX.allowed}, or a sensor of {', '.join(RANGES)}, got "
        f"{shown(value)}{suggest(value, RANGES)}"
    )


def clean_date(value: Any) -> str:
    """A day such as 2026-11-18."""
    try:
        return date.fromisoformat(value).isoformat()
    except (TypeError, ValueError):
        raise BadValue(f"must be a day such as 2026-11-18, got {shown(value)}") from None


def clean_mesh(value: Any) -> str:
    """The path of a mesh, in one of the two kinds that MuJoCo reads."""
    good = isinstance(value, str) and value.isprintable() and len(value) <= 1000
    if not good or not value.lower().endswith((".obj", ".stl")):
        raise BadValue(f"must be the path of an .obj or .stl file, got {shown(value)}")
    return value


class Admittance(Section):
    """The law M a + D v + s K x = F, and the wrench that enters it."""

    frame: str = choice("probe", "base", text="axes of the law: the desired pose's or the base's")
    orientation: Three = number(
        (0,) * 3, "[-6.3, 6.3]", "rad", "turns these axes: rotation vector in `frame`", size=3
    )
    mass: Six = six(8, 0.8, "(0, 1000]", "kg, kg m^2", "virtual mass M")
    stiffness: Six = six(0, 0, "[0, 1e5]", "N/m, Nm/rad", "spring K to the desired pose; 0: free")
    damping: Six | None = number_or_none(
        "[0, 1e5]", "N s/m, Nm s/rad", "damping D; wins over damping_ratio", size=6
    )
    damping_ratio: Six = six(
        0.8, 0.8, "[0, 20]", "", "D = 2 ratio sqrt(M K), with virtual_stiffness where K is 0"
    )
    virtual_stiffness: Six = six(
        300, 20, "(0, 1e5]", "N/m, Nm/rad", "stands for K in the damping of free axes; no spring"
    )
    enabled_axes: Switches = declare("boolean", (True,) * 6, "axes that may give way", size=6)
    integrator: str = choice("exact", "rk4", "semi_implicit_euler", text="how the law is stepped")
    engage_seconds: float = fixed(1, "[0, 60]", "s", "fade-in of the spring at start")
    ramp_seconds: float = number(0.5, "[0, 10]", "s", "how long a live change of gains takes")
    stream_energy: float = number(
        0.5, "[0, 10]", "J", "that streamed stiffness and axes may give away"
    )
    filter_coefficient: float = number(
        0.8,
        "(0, 1]",
        "",
        "share of the new wrench sample in the low-pass, each period; 1: no filter",
    )
    filter_cutoff_hz: float | None = number_or_none(
        "(0, 1000]", "Hz", "cut-off of the wrench low-pass, instead of filter_coefficient"
    )
    min_motion_threshold: float | None = number_or_none(
        "[0, 100]", "N and Nm", "sets both deadbands that are not given"
    )
    deadband_force: float = number(1.5, "[0, 100]", "N", "forces below this do nothing")
    deadband_torque: float = number(1.5, "[0, 100]", "Nm", "torques below this do nothing")
    deadband_kind: str = choice(
        "soft",
        "hard",
        text="soft: continuous at the threshold; hard: full force above it",
        live=True,
    )
    drift_reset_threshold: float = number(
        0.001, "[0, 0.1]", "m/s and rad/s", "speed below which a free axis re-anchors; 0: off"
    )


class Tracking(Section):
    """How the arm follows the commanded pose."""

    velocity_gain: float | Six = number(
        5, "[0, 100]", "1/s", "Kp from pose error to velocity; one or six", size=6, or_scalar=True
    )
    max_joint_lead: float = number(
        0.1, "(0, 1]", "rad", "how far the position reference may lead the measured joints"
    )


class Limits(Section):
    """What the command never exceeds."""

    max_linear_acceleration: float = number(2.5, "[0.05, 50]", "m/s^2", "tool acceleration")
    max_angular_acceleration: float = number(5, "[0.1, 100]", "rad/s^2", "tool acceleration")
    max_contact_braking: float = number(
        15,
        "[0, 50]",
        "m/s^2",
        "how hard the arm slows down against what it touches, with contact.adapt; joints rule",
    )
    max_linear_jerk: float = number(0, "[0, 5000]", "m/s^3", "tool jerk; 0: off")
    max_angular_jerk: float = number(0, "[0, 10000]", "rad/s^3", "tool jerk; 0: off")
    workspace_min: Three = number((-10,) * 3, "[-100, 100]", "m", "lower corner of the box", size=3)
    workspace_max: Three = number((10,) * 3, "[-100, 100]", "m", "upper corner of the box", size=3)
    joint_velocity: float | Six | None = number_or_none(
        "(0, 10]", "rad/s", "joint speeds; none: the arm's own", size=6, or_scalar=True, live=False
    )
    joint_acceleration: float | Six | None = number_or_none(
        "[0.5, 100]",
        "rad/s^2",
        "joint accelerations; none: the arm's own",
        size=6,
        or_scalar=True,
        live=False,
    )
    joint_margin: float = fixed(
        0.0873, "[0, 1]", "rad", "distance kept from the arm's joint limits"
    )


class Contact(Section):
    """What is done about what the tool touches."""

    adapt: bool = declare("boolean", False, "damp by the stiffness of what is touched")
    max_stiffness: float = number(1e5, "[1e3, 1e6]", "N/m", "stiffer is damped no further")
    damping_time: float = number(
        0.03, "[0.005, 0.2]", "s", "damping along the normal, per stiffness; at least arm and delay"
    )
    force_noise: float = number(0.2, "[0.001, 10]", "N", "noise of the force at rest, rms")
    motion_noise: float = number(5e-6, "[1e-8, 1e-3]", "m", "noise of the tool's place, rms")
    monitor: bool = declare("boolean", False, "damp, then stop, what oscillates in contact")


class Force(Section):
    """Axes of the law that press with a force instead of giving way; see the page on it."""

    enabled_axes: Switches = declare("boolean", (False,) * 6, "axes that press", size=6)
    target: Six = six(0, 0, "[-500, 500]", "N, Nm", "what the tool does to the world; 0: no force")
    max_speed: Six = six(0.05, 0.2, "(0, 1]", "m/s, rad/s", "of an axis that presses")
    max_travel: Six = six(0.1, 0.3, "(0, 2]", "m, rad", "how far from the desired pose it goes")
    approach_speed: Six = six(0.01, 0.05, "(0, 0.5]", "m/s, rad/s", "until it touches")
    stiffness: Six = six(
        6e4, 500, "[10, 1e6]", "N/m, Nm/rad", "stiffest that is expected; fitted after the touch"
    )
    stream_timeout: float = number(
        0.5, "(0, 60]", "s", "without a streamed force for this long, it eases to zero"
    )


class Arm(Section):
    """How this arm follows velocity commands; `ur-admittance identify` measures it."""

    lag: float = number(0, "[0, 0.1]", "s", "first-order lag; 0: not known, no lead")
    delay: float = number(0, "[0, 0.1]", "s", "from command to first motion; 0: not known")
    mode_frequency: float = number(0, "[0, 200]", "Hz", "first structural mode; 0: none known")


class Ik(Section):
    """The step from tool velocity to joint velocities."""

    damping: float = number(0.05, "[0.001, 1]", "", "largest damping, at a singularity")
    singularity_threshold: float = number(
        0.03, "[0.001, 0.3]", "", "1 / |J^-1| below which damping begins"
    )


class Payload(Section):
    """What the sensor feels without contact, in sensor axes (gravity: base axes)."""

    mass: float = number(0, "[0, 50]", "kg", "what hangs on the sensor")
    center_of_mass: Three = number((0,) * 3, "[-1, 1]", "m", "of that mass", size=3)
    inertia: Six = six(0, 0, "[-100, 100]", "kg m^2", "ixx iyy izz ixy ixz iyz about that centre")
    force_bias: Three = number((0,) * 3, "[-1000, 1000]", "N", "reading without load", size=3)
    torque_bias: Three = number((0,) * 3, "[-200, 200]", "Nm", "reading without load", size=3)
    gravity: Three = number((0, 0, -9.81), "[-20, 20]", "m/s^2", "gravity at the base", size=3)
    compensate_inertia: bool = declare("boolean", False, "also subtract what acceleration causes")
    verdict: str = choice("none", "good", "usable", text="of the calibration; none: not calibrated")
    left_force: float = fixed(0, "[0, 100]", "N", "that the calibration leaves unexplained at most")
    left_torque: float = fixed(
        0, "[0, 100]", "Nm", "that the calibration leaves unexplained at most"
    )
    noise_force: float = fixed(
        0, "[0, 100]", "N", "rms of a reading, by the calibration; 0: not known"
    )
    noise_torque: float = fixed(
        0, "[0, 100]", "Nm", "rms of a reading, by the calibration; 0: not known"
    )
    date: str | None = declare(
        "text", None, "of the calibration", optional=True, live=False, cleaner=clean_date
    )
    robot: str | None = declare("text", None, "that was calibrated", optional=True, live=False)
    sensor: str | None = declare("text", None, "that was calibrated", optional=True, live=False)


class Tool(Section):
    """What the arm carries: one truth for real, simulated and fake robots."""

    name: str | None = declare("text", None, "what it is called", optional=True, live=False)
    point: Six | None = number_or_none(
        "[-10, 10]",
        "m, rad",
        "tool point in the flange: x y z and rotation vector; none: what the robot says",
        size=6,
        live=False,
    )
    sensor: Six | None = number_or_none(
        "[-10, 10]",
        "m, rad",
        "sensor in the flange: x y z and rotation vector; none: what the robot says",
        size=6,
        live=False,
    )
    mass: float | None = number_or_none(
        "[0, 50]", "kg", "beyond the sensor; payload.mass if that is not given", live=False
    )
    center_of_mass: Three | None = number_or_none(
        "[-1, 1]",
        "m",
        "in sensor axes; payload.center_of_mass if that is not given",
        size=3,
        live=False,
    )
    inertia: Six | None = number_or_none(
        "[-100, 100]",
        "kg m^2",
        "ixx iyy izz ixy ixz iyz about that centre; likewise",
        size=6,
        live=False,
    )
    radius: float = fixed(0.02, "(0, 0.5]", "m", "of the ball at the tool point, or of the capsule")
    length: float = fixed(0, "[0, 2]", "m", "of the capsule that ends at the tool point; 0: a ball")
    mesh: str | None = declare(
        "file",
        None,
        "its shape in flange axes, instead of ball or capsule; beside the configuration file",
        optional=True,
        live=False,
        cleaner=clean_mesh,
    )
    mesh_scale: float = fixed(
        1, "[1e-6, 1e3]", "m", "length of one unit of that file; millimetres: 0.001"
    )


class Safety(Section):
    """When to hold or stop."""

    wrench_timeout: float = number(0.01, "(0, 10]", "s", "no wrench for this long: hold")
    joint_timeout: float = number(0.01, "(0, 10]", "s", "no joint state for this long: hold")
    lost_timeout: float = number(0.1, "(0, 10]", "s", "either missing for this long: latched stop")
    max_force: float = number(200, "(0, 5000]", "N", "force that stops the arm")
    max_torque: float = number(30, "(0, 1000]", "Nm", "torque that stops the arm")
    max_wrench: Six | None = number_or_none(
        "(0, 5000]",
        "N, Nm",
        "likewise, along each axis of the sensor; none: only the sizes count",
        size=6,
    )
    start_force: float = number(
        10, "[0, 5000]", "N", "unexplained, or above the deadband, it forbids a start; 0: any"
    )
    start_torque: float = number(
        1, "[0, 1000]", "Nm", "unexplained, or above the deadband, it forbids a start; 0: any"
    )
    spike_force: float = number(100, "[0, 5000]", "N", "jump dropped as a spike; 0: off")
    spike_torque: float = number(10, "[0, 1000]", "Nm", "jump dropped as a spike; 0: off")
    frozen_samples: int | None = declare(
        "integer",
        None,
        "equal samples after which the sensor counts as frozen; 0: off; none: what the robot says "
        "at the start, 25 for a real sensor and off for a simulated one",
        bounds=(0, 100000),
        optional=True,
    )
    sensor_range: Six | None = number_or_none(
        "(0, 1e5]",
        "N, Nm",
        "greatest reading of each axis of the sensor, or its name if it is one of "
        f"{', '.join(RANGES)}; 95 % stops the arm; none: not known",
        size=6,
        live=False,
        cleaner=clean_range,
    )
    drift_seconds: float = number(
        2,
        "[0, 60]",
        "s",
        "moving so long with nobody there: hold; needs payload.noise_force, noise_torque; 0: off",
    )
    max_tracking_error: float = number(0.05, "(0, 1]", "m", "distance behind that stops the arm")
    max_tracking_rotation: float = number(0.3, "(0, 1.5]", "rad", "likewise, rotation")
    tracking_timeout: float = number(0.2, "[0, 10]", "s", "how long either must last")


class Output(Section):
    """Where the command goes."""

    mode: str = choice(
        "velocity",
        "position",
        "trajectory",
        text="kind of command sent; where none is given, an arm on a ROS 2 graph gets position",
    )
    time_from_start: float = fixed(0.002, "(0, 1]", "s", "time stamp of a trajectory point")
