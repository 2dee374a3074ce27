"""What must hold between the values of a configuration."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from ur_admittance.config.field import AXES, TRANSLATIONS

if TYPE_CHECKING:
    from ur_admittance.config.schema import Config


def damping_of(config: Config) -> list[float]:
    """Damping [N s/m, Nm s/rad]: as given, else 2 zeta sqrt(M K), with K_virtual where K = 0."""
    law = config.admittance
    if law.damping is not None:
        return list(law.damping)
    rows = zip(law.damping_ratio, law.mass, law.stiffness, law.virtual_stiffness, strict=True)
    return [2.0 * zeta * math.sqrt(M * (K or K_virtual)) for zeta, M, K, K_virtual in rows]


def _enabled(config: Config) -> Iterator[tuple[str, int, float, float, float]]:
    """Name, index, M, D and K of every enabled axis."""
    law = config.admittance
    rows = zip(AXES, law.mass, damping_of(config), law.stiffness, law.enabled_axes, strict=True)
    for index, (axis, M, D, K, enabled) in enumerate(rows):
        if enabled:
            yield axis, index, M, D, K


def _safe(value: float, *, up: bool) -> str:
    """Four digits rounded to the safe side, so that the value suggested is itself accepted."""
    if not 1e-200 < value < 1e200:
        return f"{value:g}"
    step = 10.0 ** (math.floor(math.log10(value)) - 3)
    steps = math.ceil(value / step) if up else math.floor(value / step)
    return f"{float(f'{steps * step:.4g}'):g}"


def gain_problems(config: Config) -> list[tuple[str, str]]:
    """Axes outside a = D T/M in (0, 1], b = K T^2/M <= (4 - 2a)/2: half the region in which a
    discrete step of the law is stable (Jury: 0 < a < 2, 0 < b < 4 - 2a)."""
    law, T = config.admittance, 1.0 / config.control_rate
    key = "damping_ratio" if law.damping is None else "damping"
    found: dict[tuple[str, str], list[str]] = {}
    for axis, i, M, D, K in _enabled(config):
        a, b = D * T / M, K * T * T / M
        if D == 0.0 or (a <= 1.0 + 1e-9 and b <= 2.0 - a + 1e-9):
            continue
        if law.damping is None:  # D follows M and K: bound s = T sqrt(K/M), where a = 2 zeta s
            zeta, spring = law.damping_ratio[i], K or law.virtual_stiffness[i]
            s = min(0.5 / zeta, math.sqrt(zeta * zeta + 2.0) - zeta if K else math.inf)
            least_mass, most_K, most_D = spring * (T / s) ** 2, M * (s / T) ** 2, zeta / a
        else:
            least_mass, most_K = max(D * T, (K * T + D) * T / 2.0), M * (2.0 - a) / (T * T)
            most_D = M / T
        ways = [f"mass >= {_safe(least_mass, up=True)}"]
        if a > 1.0 + 1e-9:
            name, rule = key, f"D T/M = {a:.4g} must be <= 1"
            if b < 2.0:
                ways.append(f"{key} <= {_safe(most_D * min(1.0, 2.0 - b), up=False)}")
        else:
            name = "stiffness"
            rule = f"K T^2/M = {b:.4g} must be <= (4 - 2 D T/M)/2 = {2.0 - a:.4g}"
            ways.append(f"stiffness <= {_safe(most_K, up=False)}")
        problem = (f"admittance.{name}", f"{rule}; use {' or '.join(ways)}")
        found.setdefault(problem, []).append(axis)
    return [(name, f"axis {', '.join(axes)}: {rule}") for (name, rule), axes in found.items()]


def rule_problems(config: Config) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is wrong between values: the keys involved, the one to blame first, and a sentence."""
    law, limits, safety, payload = config.admittance, config.limits, config.safety, config.payload
    T = 1.0 / config.control_rate
    gains = ("admittance.damping_ratio", "admittance.damping", "admittance.mass")
    gains += ("admittance.stiffness", "admittance.virtual_stiffness", "admittance.enabled_axes")
    if loose := ", ".join(axis for axis, _, _, D, _ in _enabled(config) if not D > 0.0):
        key = gains[0] if law.damping is None else gains[1]
        message = f"axis {loose}: effective damping must be > 0, or nothing stops the arm, got 0"
        yield (key, *gains), f"{message}; raise it or disable the axis"
    if law.integrator != "exact":
        for name, message in gain_problems(config):
            advice = f"{message}, or integrator exact (now {law.integrator})"
            yield (name, *gains, "admittance.integrator", "control_rate"), advice
    least = config.environment_stiffness * config.loop_delay
    weak = {axis: D for axis, _, _, D, _ in _enabled(config) if axis in TRANSLATIONS and least > D}
    adapts = config.contact.adapt and config.environment_stiffness <= config.contact.max_stiffness
    if weak and not adapts and not config.accept_contact_instability:
        yield (
            ("environment_stiffness", "loop_delay", *gains),
            f"axis {', '.join(weak)}: with {config.loop_delay:g} s of delay, touching "
            f"{config.environment_stiffness:g} N/m takes damping >= {_safe(least, up=True)} N s/m, "
            f"got {min(weak.values()):.4g}; raise it, set contact.adapt: true, or set "
            "accept_contact_instability: true",
        )
    if law.filter_cutoff_hz is not None and not law.filter_cutoff_hz < 0.5 / T:
        message = f"must be < {0.5 / T:g} Hz, half of control_rate, got {law.filter_cutoff_hz:g}"
        yield ("admittance.filter_cutoff_hz", "control_rate"), message
    names = ("limits.workspace_min", "limits.workspace_max")
    for axis, low, high in zip("xyz", limits.workspace_min, limits.workspace_max, strict=True):
        if not low < high:
            yield names, f"axis {axis}: must be < workspace_max {high:g} m, got {low:g} m"
    for name in ("wrench_timeout", "joint_timeout"):
        value, full = getattr(safety, name), f"safety.{name}"
        if value < T * (1.0 - 1e-9):
            message = f"must be at least one period, {T:.4g} s at {config.control_rate:g} Hz"
            yield (full, "control_rate"), f"{message}, got {value:g} s"
        if not value < safety.lost_timeout:
            message = f"must be longer than {name} {value:g} s, got {safety.lost_timeout:g} s"
            yield ("safety.lost_timeout", full), message
    xx, yy, zz, xy, xz, yz = payload.inertia
    if min(xx, yy, zz) < 0.0 or xy * xy > xx * yy or xz * xz > xx * zz or yz * yz > yy * zz:
        message = "is no inertia: ixx, iyy, izz must be >= 0 and, squared, ixy <= ixx iyy and so on"
        yield ("payload.inertia",), message
