"""What a value may be: alone, beside the others, and what is allowed but unwise."""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from ur_admittance.errors import ConfigError

if TYPE_CHECKING:
    from ur_admittance.config import Config

AXES = ("x", "y", "z", "rx", "ry", "rz")
"""Names of the six entries of every 6-vector: translations, then rotations."""

TRANSLATIONS = AXES[:3]

_COUNT = {3: "three", 4: "four", 6: "six"}
_NAME = re.compile(r"[A-Za-z_/][\w./-]{0,199}", re.ASCII)
_NUMBER_AND_UNIT = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*([^\d\s].*)?\s*")


class Entry(NamedTuple):
    """One key as the user wrote it, and where (line and column from 1; 0 = not from a file)."""

    name: str
    value: Any
    line: int = 0
    column: int = 0


class Problem(NamedTuple):
    """One thing that is wrong; `line` and `column` as in `Entry`."""

    name: str
    message: str
    line: int = 0
    column: int = 0

    def text(self, file: str) -> str:
        """The line a user reads: file, place, key, what is wrong."""
        place = ":".join(str(part) for part in (file, self.line, self.column) if part)
        name = self.name if self.name.isprintable() else repr(self.name)
        return ": ".join(part for part in (place if file else "", name, self.message) if part)


class BadValue(ValueError):
    """A value that its field refuses; pydantic collects these, users see a `ConfigError`."""


def refuse(problems: Sequence[Problem], file: str = "") -> NoReturn:
    """Raise one `ConfigError` that holds every problem, in the order of the file."""
    ordered = sorted(dict.fromkeys(problems), key=lambda p: p.line or math.inf)
    lines = tuple(problem.text(file) for problem in ordered)
    if len(lines) == 1:
        raise ConfigError(lines[0], lines)
    heading = f"{file or 'configuration'}: {len(lines)} problems"
    raise ConfigError("\n  ".join((heading, *lines)), lines)


def suggest(name: str, known: Iterable[str]) -> str:
    """'; did you mean ...?' for the known names closest to a wrong one, or nothing."""
    names, (head, _, tail) = list(known), name.lower().rpartition(".")
    close = [k for k in names if k.rpartition(".")[2] == tail][:3]
    close = [k for k in close if k.rpartition(".")[0] == head] or close
    for family in ([k for k in names if k.rpartition(".")[0] == head], names):
        tails = {k.rpartition(".")[2]: k for k in family}
        close = close or [tails[k] for k in difflib.get_close_matches(tail, tails, n=1)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


def shown(value: Any, limit: int = 40) -> str:
    """A value as a user would write it, on one line, shortened."""
    if value is None or isinstance(value, bool):
        return {None: "nothing", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        return "a mapping"
    text = "a huge number" if isinstance(value, int) and abs(value) > 1e30 else repr(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


@dataclass(frozen=True)
class Field:
    """One parameter: its meaning and what it may be. Generated texts, forms and checks read this.

    `unit` of a six-vector holds two units, "translation, rotation". `bounds` are (lowest, highest)
    of each number, both allowed unless `above` says that the lowest itself is not.
    """

    kind: str  # number, integer, boolean, choice, text, pose
    text: str
    unit: str = ""
    bounds: tuple[float, float] | None = None
    above: bool = False
    size: int = 0  # 0: one value
    or_scalar: bool = False  # one value is accepted where `size` are
    optional: bool = False  # may be none
    choices: tuple[str, ...] = ()
    live: bool = True  # may change while running
    name: str = ""
    default: Any = None

    @property
    def type(self) -> str:
        """The kind of value, in words."""
        one, many = {
            "number": ("a number", "numbers"),
            "integer": ("a whole number", "whole numbers"),
            "boolean": ("true or false", "of true or false"),
            "choice": (f"one of {', '.join(self.choices)}", ""),
            "text": ("a name of letters, digits and _ / . -", "different names"),
            "pose": ("the path of a YAML file, or position and orientation", ""),
        }[self.kind]
        words = f"{_COUNT[self.size]} {many}" if self.size else one
        return f"{one} or {words}" if self.or_scalar else words

    @property
    def allowed(self) -> str:
        """Everything this field accepts, in words: type, bounds, unit."""
        words = self.type
        if self.bounds:
            low, high = self.bounds
            words += f" {'>' if self.above else '>='} {low:g} and <= {high:g}"
        words += f" ({self.unit})" if self.unit else ""
        return words + (", or none" if self.optional else "")

    def clean(self, value: Any) -> Any:
        """The value in its one canonical form (floats, tuples), or `BadValue` with the reason."""
        if hasattr(value, "tolist"):  # NumPy arrays and scalars
            value = value.tolist()
        if self.optional and (value is None or (isinstance(value, str) and value in ("", "none"))):
            return None
        many = isinstance(value, (list, tuple))
        if self.kind == "pose":
            from ur_admittance.config_file import clean_equilibrium  # it needs this module first

            return clean_equilibrium(value)
        if not self.size or (self.or_scalar and not many):
            return self._one(value, "")
        if not many:
            single = f"the single value {shown(value)}" if _is_number(value) else shown(value)
            self._refuse(f"{single}{self._hint(value)}")
        if len(value) != self.size:
            self._refuse(f"{len(value)}{' names' if self.kind == 'text' else ' values'}")
        values = tuple(self._one(v, f" as value {i}") for i, v in enumerate(value, 1))
        if self.kind == "text" and len(set(values)) < len(values):
            self._refuse(next(f"{v!r} twice" for v in values if values.count(v) > 1))
        return values

    def _one(self, value: Any, where: str) -> Any:
        if self.kind in ("number", "integer"):
            good = _is_number(value) and abs(value) < 1e300  # NaN and infinity fail here
            if good and self.bounds:
                low, high = self.bounds
                good = (low < value if self.above else low <= value) and value <= high
            if good and self.kind == "number":
                return float(value)
            if good and value == int(value):
                return int(value)
        elif (
            (self.kind == "boolean" and isinstance(value, bool))
            or (self.kind == "choice" and isinstance(value, str) and value in self.choices)
            or (self.kind == "text" and isinstance(value, str) and _NAME.fullmatch(value))
        ):
            return value
        self._refuse(shown(value) + where + self._hint(value))

    def _hint(self, value: Any) -> str:
        if self.kind == "boolean" and (_is_number(value) or isinstance(value, str)):
            return "; write true or false"
        if self.kind == "choice" and isinstance(value, str):
            return suggest(value, self.choices)
        if self.kind in ("number", "integer") and isinstance(value, str):
            match = _NUMBER_AND_UNIT.fullmatch(value)
            if match and match[2]:
                return f"; write {match[1]} alone, without a unit"
            return f"; write {match[1]} without quotes" if match else ""
        return ""

    def _refuse(self, got: str) -> NoReturn:
        raise BadValue(f"must be {self.allowed}, got {got}")

    def __get_pydantic_core_schema__(self, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_plain_validator_function(self.clean)

    def __get_pydantic_json_schema__(self, core: Any, handler: Any) -> dict[str, Any]:
        kinds = {"choice": "string", "text": "string", "pose": ["string", "object"]}
        one: dict[str, Any] = {"type": kinds.get(self.kind, self.kind)}
        if self.bounds:
            low, one["maximum"] = self.bounds
            one["exclusiveMinimum" if self.above else "minimum"] = low
        if self.choices:
            one["enum"] = list(self.choices)
        many = {"type": "array", "items": one, "minItems": self.size, "maxItems": self.size}
        options = [many] if self.size else [one]
        options += [one] if self.or_scalar else []
        options += [{"type": "null"}] if self.optional else []
        return {"anyOf": options, "unit": self.unit, "live": self.live}


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


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
    if weak and not config.accept_contact_instability:
        yield (
            ("environment_stiffness", "loop_delay", *gains),
            f"axis {', '.join(weak)}: with {config.loop_delay:g} s of delay, touching "
            f"{config.environment_stiffness:g} N/m takes damping >= {_safe(least, up=True)} N s/m, "
            f"got {min(weak.values()):.4g}; raise it, or set accept_contact_instability: true",
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


class Axis(NamedTuple):
    """How one axis of the law behaves; None where a number does not apply."""

    axis: str
    enabled: bool
    mass: float  # kg, kg m^2
    damping: float  # N s/m, Nm s/rad
    stiffness: float  # N/m, Nm/rad
    natural_frequency: float | None  # Hz, with a spring
    damping_ratio: float | None  # with a spring
    time_constant: float | None  # s, of the slowest motion
    steady_speed: float | None  # m/s under 10 N, rad/s under 1 Nm, without a spring
    stiffest_surface: float | None  # N/m, Nm/rad: damping / loop_delay


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


def advice_on(config: Config) -> Iterator[str]:
    """What is allowed but unwise: the key, why, and what would be better."""
    law, limits, safety = config.admittance, config.limits, config.safety
    T, delay, speed = 1.0 / config.control_rate, config.loop_delay, config.max_linear_velocity
    axes = [a for a in axes_of(config) if a.enabled]
    shifts = [a for a in axes if a.axis in TRANSLATIONS]

    def which(chosen: Iterable[Axis]) -> str:
        return ", ".join(a.axis for a in chosen)

    if not axes:
        yield "admittance.enabled_axes: no axis is enabled, so the arm will not give way"
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
    if names := which(a for a in shifts if (a.stiffest_surface or math.inf) < 1000.0):
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
