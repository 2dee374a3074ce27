"""What is streamed: bounds, the tank that springs draw on, and a force whose stream ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.kernel.plain import Records, plain, records
from tests.support import free_config
from ur_admittance.kernel import bits

stream, law = plain("stream"), plain("law")
seeds = st.integers(0, 2**31)
GIVEN = {
    "target": np.full(6, 5.0),
    "axes": np.array([0.3, -0.2, 0.1]),
    "mass": np.full(6, 3.0),
    "damping": np.full(6, 40.0),
    "stiffness": np.full(6, 200.0),
}
BITS = dict(zip(GIVEN, (stream.TARGET, stream.AXES, stream.MASS, stream.DAMPING, 16), strict=True))


def write(r: Records, **values: Any) -> int:
    """`write_stream` for what is named, and NaN for all else."""
    full = {name: np.full(len(GIVEN[name]), np.nan) for name in GIVEN} | values
    bit = sum(BITS[name] for name in values)
    return stream.write_stream([r.p], [r.i], bit, *full.values())


def written(**changes: Any) -> Records:
    r = records(free_config(**changes))
    r.i.streams = r.i.stream_count = r.i.target_count = 0
    return r


@pytest.mark.parametrize("name", GIVEN)
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e9])
def test_one_number_out_of_bounds_and_nothing_is_written(name: str, bad: float) -> None:
    for n in range(len(GIVEN[name])):
        r = written()
        before = r.i.tobytes()
        wrong = GIVEN[name].copy()
        wrong[n] = bad
        assert write(r, **{**GIVEN, name: wrong}) == BITS[name]
        assert r.i.tobytes() == before


@pytest.mark.parametrize(("name", "least"), [("mass", 0.0), ("damping", 0.0), ("stiffness", -1e-9)])
def test_no_mass_no_damping_and_less_than_no_spring_are_refused(name: str, least: float) -> None:
    assert write(written(), **{name: np.full(6, least)}) == BITS[name]


def test_only_a_force_renews_the_time_of_forces() -> None:
    r = written()
    write(r, stiffness=GIVEN["stiffness"])
    assert (r.i.stream_count, r.i.target_count) == (1, 0)
    write(r, target=GIVEN["target"])
    assert (r.i.stream_count, r.i.target_count) == (2, 1)


def test_gains_that_are_not_given_stay_and_damping_follows_its_ratio() -> None:
    r = written()
    r.p.damping_ratio[:] = 0.7
    write(r, mass=GIVEN["mass"])
    write(r, stiffness=GIVEN["stiffness"])
    np.testing.assert_array_equal(r.i.mass, GIVEN["mass"])
    np.testing.assert_allclose(r.i.damping, 2 * 0.7 * np.sqrt(3.0 * 200.0), rtol=1e-15)
    write(r, damping=GIVEN["damping"])
    np.testing.assert_array_equal(r.i.damping, GIVEN["damping"])
    np.testing.assert_array_equal(r.i.stiffness, GIVEN["stiffness"])


@given(seeds)
def test_axes_are_the_rotation_vector_that_was_given(seed: int) -> None:
    r, vector = written(), np.random.default_rng(seed).normal(size=3)
    assert write(r, axes=vector) == 0
    turn = Rotation.from_quat(np.roll(r.i.axes, -1))
    assert (turn * Rotation.from_rotvec(vector).inv()).magnitude() < 1e-12


def energy(s: Any) -> float:
    """What masses and springs hold, J, by SciPy's rotation vector."""
    x = np.concatenate([s.x, Rotation.from_quat(np.roll(s.wxyz_offset, -1)).as_rotvec()])
    return 0.5 * float(s.mass @ s.v**2 + s.engaged * s.stiffness @ x**2)


@settings(max_examples=50)
@given(seeds)
def test_whatever_is_streamed_gives_no_more_than_the_tank_holds_and_the_damper_takes(seed) -> None:
    """Gains and axes at random, the law moved on at random in between."""
    rng = np.random.default_rng(seed)
    r = written(**{"admittance.frame": str(rng.choice(["probe", "base"]))})
    most = float(r.p.stream_energy)
    stream.clear_stream(r.p, r.s)
    r.s.engaged, r.s.ramp = 1.0, 1.0
    r.s.mass[:], r.s.damping[:], r.s.stiffness[:] = r.p.mass, r.p.damping, r.p.stiffness
    for _ in range(30):
        r.s.x[:], r.s.v[:] = rng.normal(size=3) * 0.05, rng.normal(size=6) * 0.1
        r.s.wxyz_offset[:] = np.roll(Rotation.from_rotvec(rng.normal(size=3) * 0.2).as_quat(), 1)
        law.command_pose(r.p, r.s)
        gains = {n: 10 ** rng.uniform(0, 3, 6) for n in ("mass", "damping", "stiffness")}
        write(r, **gains, **({"axes": rng.normal(size=3)} if rng.random() < 0.5 else {}))
        stream.take_stream(r.s, r.i)
        held, tank = energy(r.s), float(r.s.tank)
        damped = r.s.dt * float(r.s.damping @ r.s.v**2)
        stream.stream(r.p, r.s)
        assert energy(r.s) <= held + min(tank + damped, most) + 1e-9
        assert -1e-12 <= r.s.tank <= most
        assert energy(r.s) - held <= tank + damped - r.s.tank + 1e-9, "what it gave, it paid for"


def test_a_mass_that_grows_keeps_its_kinetic_energy() -> None:
    r = written()
    r.s.mass[:], r.s.v[:] = 2.0, 0.3
    write(r, mass=np.full(6, 8.0))
    stream.take_stream(r.s, r.i)
    stream.stream(r.p, r.s)
    np.testing.assert_allclose(r.s.v, 0.15, rtol=1e-15)


@pytest.mark.parametrize("pressing", [0, 1])
def test_a_force_whose_stream_ends_eases_to_zero_in_a_second_and_comes_back(pressing: int) -> None:
    r = written()
    stream.clear_stream(r.p, r.s)
    r.p.pressing, r.p.stream_timeout = pressing, 0.1
    write(r, target=GIVEN["target"])

    def after(seconds: float) -> float:
        for _ in range(round(seconds / r.s.dt)):
            r.s.status = 0
            stream.take_stream(r.s, r.i)
            stream.stream(r.p, r.s)
        return float(r.s.force_goal[0])

    assert after(0.1) == 5.0
    assert after(0.5) == pytest.approx(2.5, abs=0.02)
    assert after(0.6) == 0.0
    assert bool(r.s.status & bits.STREAM_STALE) == bool(pressing)
    write(r, target=GIVEN["target"])
    assert after(0.1) == pytest.approx(0.5, abs=0.02)
    assert not r.s.status & bits.STREAM_STALE
