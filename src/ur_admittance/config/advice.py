"""How a configuration will behave, axis by axis, and what in it is allowed but unwise."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from ur_admittance.config.field import AXES, TRANSLATIONS
from ur_admittance.config.rules import damping_of, gain_problems

if TYPE_CHECKING:
    from ur_admittance.config.schema import Config

OLD_DAYS = 90  # after which sensors and tools have changed


class Axis(NamedTuple):
    """How one axis of the law behaves; None where a number does not apply."""

    axis: str  # 'x' to 'rz'
    enabled: bool  # whether it gives way at all
    mass: float  # kg, kg m^2
    damping: float  # N s/m, Nm s/rad
    stiffness: float  # N/m, Nm/rad
    natural_frequency: float | None  # Hz, with a spring
    damping_ratio: float | None  # with a spring
    time_constant: float | None  # of the slowest motion, s
    steady_speed: float | None  # m/s under 10 N, rad/s under 1 Nm, without a spring
    stiffest_surface: float | None  # damping / loop_delay, N/m, Nm/rad


def axes_of(config: Config) -> list[Axis]:
    """The behaviour of the six axes, from the effective gains."""
    law, result = config.admittance, []
    rows = zip(AXES, law.enabled_axes, law.mass, damping_of(config), law.stiffness, strict=True)
    for axis, enabled, M, D, K in rows:
        surface = D / config.loop_delay if config.loop_delay else None
        if K / M > 1e-12:
            omega, decay = math.sqrt(K / M), D / (2.0 * M)
            slow = decay + math.sqrt(max(decay * decay - K / M, 0.0))
            time = (slow * M / K if decay > omega else 2.0 * M / D) if D else None
            numbers = (omega / math.tau, decay / omega, time, None, surface)
        else:
            push = 10.0 if axis in TRANSLATIONS else 1.0
            numbers = (None, None, M / D if D else None, push / D if D else None, surface)
        finite = (n if n is not None and math.isfinite(n) else None for n in numbers)
        result.append(Axis(axis, enabled, M, D, K, *finite))
    return result


def payload_words(config: Config, today: date) -> str:
    """How the payload is known, in words: calibrated, old, or not at all."""
    payload = config.payload
    what = f"{payload.mass:.4g} kg"
    if payload.verdict == "none":
        return f"{what}, not calibrated: ur-admittance calibrate finds it, and the bias"
    when = ""
    if payload.date is not None:
        days = (today - date.fromisoformat(payload.date)).days
        age = "today" if days == 0 else f"{days} days ago"
        when = f" {age}" + (", that is old: calibrate again" if days > OLD_DAYS else "")
    left = f"at most {payload.left_force:.2g} N and {payload.left_torque:.2g} Nm left"
    return f"{what}, calibrated{when}: {payload.verdict}, {left}"


def payload_warning(config: Config, today: date) -> str:
    """The same where it is old or missing; "" where it is fresh."""
    words = payload_words(config, today)
    return f"payload: {words}" if "not calibrated" in words or "old" in words else ""


def advice_on(config: Config) -> Iterator[str]:
    """What is allowed but unwise: the key, why, and what would be better."""
    law, limits, safety = config.admittance, config.limits, config.safety
    T, delay, speed = 1.0 / config.control_rate, config.loop_delay, config.max_linear_velocity
    axes = [a for a in axes_of(config) if a.enabled]
    shifts = [a for a in axes if a.axis in TRANSLATIONS]

    def which(chosen: Iterable[Axis]) -> str:
        return ", ".join(a.axis for a in chosen)

    if not axes and not any(config.force.enabled_axes):
        yield "admittance.enabled_axes: no axis is enabled, so the arm will not give way"
    if any(config.force.enabled_axes) and config.payload.compensate_inertia:
        yield (
            "payload.compensate_inertia: with force.enabled_axes it feeds the lead of the command "
            "back into the force, which swings; switch it off"
        )
    if names := which(a for a in axes if (a.damping_ratio or 1.0) < 0.5):
        yield f"admittance.damping_ratio: {names} will ring after a push; 0.7 or more settles"
    if names := which(a for a in axes if (a.time_constant or 1.0) < 2.0 * T):
        yield f"admittance.mass: {names} reacts within two ticks, faster than an arm; use more mass"
    if law.integrator == "exact":
        for key, message in gain_problems(config):
            yield f"{key}: {message}; exact stays stable, but an arm cannot follow such gains"
    if names := which(a for a in shifts if (a.steady_speed or 0.0) > speed):
        why = (
            f"10 N on {names} asks for more than {speed:g} m/s; the limiter, not the damping, rules"
        )
        yield f"max_linear_velocity: {why}: raise the damping or the limit"
    if names := which(a for a in shifts if 10.0 / a.mass > limits.max_linear_acceleration):
        why = f"10 N on {names} asks for more than {limits.max_linear_acceleration:g} m/s^2"
        yield f"limits.max_linear_acceleration: {why}: raise the mass or the limit"
    if config.contact.adapt and config.environment_stiffness and not config.arm.lag:
        yield "arm.lag: not known, so the command does not lead it; measure it with 'identify'"
    known = config.arm.lag + config.arm.delay + config.filter_time_constant()
    if (config.arm.lag or config.arm.delay) and delay < 0.9 * known:
        why = f"{delay:g} s, but arm.lag, arm.delay and the filter are {known:.3g} s"
        yield f"loop_delay: {why}: what is said of contact is too good; raise it to {known:.3g}"
    left = config.left_of_lag()
    if config.contact.adapt and config.arm.delay and config.contact.damping_time < 2.0 * left:
        why = f"{config.contact.damping_time:g} s; of delay and lag {left:.3g} s are left"
        yield f"contact.damping_time: {why}: contact may bounce; use {2.5 * left:.2g}"
    if config.contact.adapt and config.control_rate < 250.0:
        yield "contact.adapt: made for 500 Hz; below 250 Hz stiff things are felt too late"
    if not config.contact.adapt and (
        names := which(a for a in shifts if (a.stiffest_surface or math.inf) < 1000.0)
    ):
        why = "can touch nothing stiffer than foam (1000 N/m) without bouncing"
        yield f"admittance.damping: {names} {why}: raise the damping or cut loop_delay"
    if config.accept_contact_instability:
        yield "accept_contact_instability: contact may bounce; raise the damping instead"
    if config.filter_time_constant() > delay:
        why = f"takes {config.filter_time_constant():.3g} s, more than loop_delay {delay:g} s says"
        yield f"admittance.filter_coefficient: {why}: filter less or raise loop_delay"
    if max(config.velocity_gain()) * delay > 0.5:
        most = 0.5 / delay
        yield f"tracking.velocity_gain: may oscillate with {delay:g} s of delay; use < {most:.3g}"
    if max(law.stiffness) > 0.0 and min(config.velocity_gain()) == 0.0:
        yield "tracking.velocity_gain: 0 lets the arm drift away from the spring's home; use 5"
    if law.damping is not None and law.damping_ratio != (0.8,) * 6:
        yield "admittance.damping_ratio: has no effect, because damping is given; remove one"
    for value, most, key in ((law.deadband_force, 10, "force"), (law.deadband_torque, 3, "torque")):
        if value > most:
            yield f"admittance.deadband_{key}: {value:g} hides an ordinary push; use < {most}"
    if speed > 0.25 and not limits.max_linear_jerk:
        yield "limits.max_linear_jerk: off, and faster than 0.25 m/s: starts jolt; try 50"
    if safety.max_force > 500.0:
        yield f"safety.max_force: {safety.max_force:g} N is more than people or tools bear; use 150"
    if min(safety.wrench_timeout, safety.joint_timeout) < 2.0 * T:
        yield "safety.wrench_timeout: one late sample holds the arm; allow five periods"
