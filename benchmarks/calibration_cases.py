"""Random tools on a sensor, and what goes wrong on the bench: readings for the calibration."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from scipy.spatial.transform import Rotation

from ur_admittance.calibration.measured import Measured

G = np.array([0.0, 0.0, -9.81])  # m/s^2, in W
SAMPLES, PAUSE = 250, 3.0  # readings of half a second at 500 Hz, and s from pose to pose


@dataclass(frozen=True)
class Bench:
    """A tool on a sensor: kg, m, N and Nm, rms of force and torque, rad."""

    mass: float = 1.2
    com: tuple[float, ...] = (0.01, -0.02, 0.08)
    bias: tuple[float, ...] = (6.0, -12.0, 30.0, 0.3, -0.5, 0.2)
    noise: tuple[float, float] = (0.1, 0.005)
    mounting: tuple[float, ...] = (0.0, 0.0, 0.0)


def random_bench(rng: np.random.Generator) -> Bench:
    """0.1 to 5 kg, centre up to 0.25 m, bias up to 100 N, noise 0.05 to 0.5 N, 5 degrees off."""
    com = rng.normal(size=3)
    com *= rng.uniform(0, 0.25) / np.linalg.norm(com)
    axis = rng.normal(size=3)
    axis *= np.radians(rng.uniform(0, 5)) / np.linalg.norm(axis)
    force = rng.normal(size=3)
    force *= rng.uniform(0, 100) / np.linalg.norm(force)
    noise = rng.uniform(0.05, 0.5)
    return Bench(
        float(np.exp(rng.uniform(np.log(0.1), np.log(5.0)))),
        tuple(com),
        (*force, *rng.uniform(-5, 5, 3)),
        (noise, noise / 20),
        tuple(axis),
    )


def sturdy_bench(rng: np.random.Generator) -> Bench:
    """Every mistake shows on it: 0.5 to 4 kg, centre 40 to 200 mm away, up to 0.3 N noise."""
    com = rng.normal(size=3)
    com *= rng.uniform(0.04, 0.2) / np.linalg.norm(com)
    noise = rng.uniform(0.05, 0.3)
    bias = (*rng.uniform(-30, 30, 3), *rng.uniform(-2, 2, 3))
    return Bench(rng.uniform(0.5, 4.0), tuple(com), bias, (noise, noise / 20))


def orientations(rng: np.random.Generator, poses: int) -> np.ndarray:
    """All over (poses, 3, 3)."""
    return Rotation.from_quat(rng.normal(size=(poses, 4))).as_matrix()


def wrench(bench: Bench, R_WS: np.ndarray, g: np.ndarray = G) -> np.ndarray:
    """What the sensor reads, without noise (6,)."""
    force = bench.mass * Rotation.from_rotvec(bench.mounting).as_matrix() @ R_WS.T @ g
    return np.concatenate([force, np.cross(bench.com, force)]) + bench.bias


def measure(
    bench: Bench, rng: np.random.Generator, poses: int = 12, R_WS: np.ndarray | None = None
) -> list[Measured]:
    """Half a second in each of so many poses."""
    R_WS = orientations(rng, poses) if R_WS is None else R_WS
    deviation = np.repeat(bench.noise, 3)
    return [
        Measured(R, wrench(bench, R) + deviation * rng.standard_normal((SAMPLES, 6)), n * PAUSE)
        for n, R in enumerate(R_WS)
    ]


def _changed(measured: list[Measured], change: Callable[[int, np.ndarray], np.ndarray]):
    return [replace(one, samples=change(n, one.samples)) for n, one in enumerate(measured)]


def _all(matrix: np.ndarray):
    return lambda bench, rng: _changed(measure(bench, rng), lambda n, w: w @ matrix.T)


def _block(force: np.ndarray, torque: np.ndarray) -> np.ndarray:
    out = np.zeros((6, 6))
    out[:3, :3], out[3:, 3:] = force, torque
    return out


def _touched(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    push = np.array([3.0, -2.0, 1.0, 0.1, 0.2, 0.0])
    return _changed(measure(bench, rng), lambda n, w: w + push * (n == 5))


def _exchanged(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return _changed(measure(bench, rng), lambda n, w: w[:, [3, 4, 5, 0, 1, 2]])


def _drifting(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    a_minute = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    return _changed(measure(bench, rng), lambda n, w: w + a_minute * n * PAUSE / 60)


def _saturated(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    end = bench.bias[0]
    ends = np.array([end, *(np.inf,) * 5])
    return _changed(measure(bench, rng), lambda n, w: np.minimum(w, ends))


def _loose(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """It tips over by 20 mm to the side that is down."""
    out = []
    for n, R in enumerate(orientations(rng, 12)):
        side = 0.02 * np.sign((R.T @ G)[0])
        tipped = replace(bench, com=(bench.com[0], bench.com[1], bench.com[2] + side))
        noise = np.repeat(bench.noise, 3) * rng.standard_normal((SAMPLES, 6))
        out.append(Measured(R, wrench(tipped, R) + noise, n * PAUSE))
    return out


def _cable(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """A hose that pulls now here, now there, with 2 N."""
    pull = 2.0 * rng.normal(size=(12, 6)) * np.repeat([1.0, 0.1], 3)
    return _changed(measure(bench, rng), lambda n, w: w + pull[n])


def _base_axes(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """As a robot's TCP force: sensor axes turned into base axes."""
    return [
        replace(one, samples=one.samples @ _block(one.R_WS, one.R_WS).T)
        for one in measure(bench, rng)
    ]


def _inverse(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return [replace(one, R_WS=one.R_WS.T) for one in measure(bench, rng)]


def _late(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """Each reading is that of the pose before."""
    rows = measure(bench, rng, 13)
    return [replace(b, samples=a.samples) for a, b in itertools.pairwise(rows)]


def _stale(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    rows = measure(bench, rng)
    rows[6] = replace(rows[6], samples=rows[5].samples)
    return rows


def _frozen(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return _changed(measure(bench, rng), lambda n, w: np.tile(w[0], (SAMPLES, 1)))


def _alike(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return measure(bench, rng, R_WS=np.tile(orientations(rng, 1)[0], (6, 1, 1)))


def _one_axis(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """Tilted by at most 8 degrees about one axis."""
    angles = np.radians(np.linspace(-8, 8, 12))
    return measure(bench, rng, R_WS=Rotation.from_euler("x", angles[:, None]).as_matrix())


def _moving(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """In seven of twelve poses the arm had not come to rest."""
    ramp = np.linspace(0, 5.0, SAMPLES)[:, None] * np.array([1.0, 0, 0, 0, 0, 0])
    swing = np.repeat([4.0, 0.2], 3) * rng.standard_normal((SAMPLES, 6))
    rows = measure(bench, rng)
    return _changed(rows, lambda n, w: w + (ramp + swing) * (n > 4))


def _hanging(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """The arm is mounted on a wall."""
    rows = measure(bench, rng)
    turn = Rotation.from_euler("x", 90, degrees=True).as_matrix()
    return [replace(one, R_WS=turn @ one.R_WS) for one in rows]


def _not_numbers(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    rows = measure(bench, rng)
    rows[3].samples[17, 2] = np.nan
    return rows


def _degrees(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """Quaternions whose numbers are not of length 1."""
    return [replace(one, R_WS=57.3 * one.R_WS) for one in measure(bench, rng)]


def _tall(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    """72 g at 2.59 m: what a fit to a pulling cable has given."""
    return measure(replace(bench, mass=0.072, com=(0.0, 0.0, 2.59)), rng)


def _noisy(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return measure(replace(bench, noise=(4.0, 0.3)), rng)


def _turned(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return measure(replace(bench, mounting=(0.0, 0.0, np.radians(30))), rng)


def _kilonewtons(bench: Bench, rng: np.random.Generator) -> list[Measured]:
    return measure(replace(bench, mass=1e-3 * bench.mass), rng)


_MIRROR = np.diag([1.0, -1.0, 1.0])
_TURN = np.array([[0.0, 1, 0], [-1, 0, 0], [0, 0, 1]])

# what went wrong -> (the reason it must be refused for, the readings, what `estimate` is told)
FAULTS: dict[str, tuple[str, Callable[[Bench, np.random.Generator], list[Measured]], dict]] = {
    "touched during a pose": ("touched", _touched, {}),
    "a cable pulls": ("above noise", _cable, {}),
    "one axis mirrored": ("axes", _all(_block(_MIRROR, _MIRROR)), {}),
    "turned by a quarter": ("axes", _all(_block(_TURN, _TURN)), {}),
    "all axes reversed": ("axes", _all(-np.eye(6)), {}),
    "one torque axis mirrored": ("torque axes", _all(_block(np.eye(3), _MIRROR)), {}),
    "force and torque exchanged": ("swapped", _exchanged, {}),
    "mounted 30 degrees off": ("mounting", _turned, {}),
    "torques in N mm": ("millimetres", _all(_block(np.eye(3), 1e3 * np.eye(3))), {}),
    "readings in mN": ("too heavy", _all(1e3 * np.eye(6)), {}),
    "readings in kN": ("no weight", _kilonewtons, {}),
    "gravity of Mars": ("planet", measure, {"gravity": (0, 0, -3.71)}),
    "six equal poses": ("too similar", _alike, {}),
    "hardly tilted": ("too similar", _one_axis, {}),
    "five poses": ("too few", lambda b, r: measure(b, r, 5), {}),
    "drift of 1 N a minute": ("drift", _drifting, {}),
    "an axis at the end of its range": ("saturated", _saturated, {}),
    "bias near the end of a known range": (
        "saturated",
        lambda b, r: measure(replace(b, bias=(0, 0, 39.0, 0, 0, 0)), r),
        {"sensor_range": (40, 40, 40, 10, 10, 10)},
    ),
    "a loose tool": ("loose", _loose, {}),
    "wrenches in base axes": ("base axes", _base_axes, {}),
    "orientations inverted": ("inverse", _inverse, {}),
    "arm on a wall": ("gravity", _hanging, {}),
    "readings of the pose before": ("late", _late, {}),
    "old readings once more": ("stale", _stale, {}),
    "frozen sensor": ("frozen", _frozen, {}),
    "never at rest": ("not still", _moving, {}),
    "not a number": ("not numbers", _not_numbers, {}),
    "orientations that are none": ("no rotation", _degrees, {}),
    "72 g at 2.59 m": ("outside", _tall, {}),
    "payload subtracted already": ("no weight", lambda b, r: measure(replace(b, mass=0.0), r), {}),
    "another mass on the scale": ("odds", measure, {"known_mass": 9.0}),
    "noise of 4 N": ("too noisy", _noisy, {}),
}
