"""What a policy streams: in force at once, inside its bounds, repeated bit for bit, and passive."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.support import ANGULAR, LINEAR, arm, free_config, oracle, run, turned
from ur_admittance import Config, ConfigError, Controller
from ur_admittance.kernel import bits

DT = 0.002
HOME = arm().home
SPRINGS = {
    "admittance.mass": [8, 4, 2, 0.8, 0.4, 0.4],
    "admittance.stiffness": [100, 200, 300, 5, 10, 15],
}
TURN = [0.4, -0.9, 1.3]


def active(config: Config) -> Controller:
    controller = Controller(arm(), config)
    controller.activate(HOME)
    return controller


def test_the_law_in_turned_axes_is_the_law_seen_from_them() -> None:
    push = np.array([0.3, -0.2, 0.4, 0.02, 0.01, -0.03])
    R = Rotation.from_rotvec(TURN).as_matrix()
    plain = run(active(free_config(**SPRINGS)), HOME, push, 300)
    axes = free_config(**SPRINGS, **{"admittance.orientation": TURN})
    seen = run(active(axes), HOME, turned(R, push), 300)
    np.testing.assert_allclose(seen["offset"], plain["offset"], atol=2e-6)
    moved = plain["X_WC"][-1, :3, 3] - plain["X_WD"][-1, :3, 3]
    there = seen["X_WC"][-1, :3, 3] - seen["X_WD"][-1, :3, 3]
    R_WD = plain["X_WD"][-1, :3, :3]
    np.testing.assert_allclose(there, R_WD @ R @ R_WD.T @ moved, atol=2e-6)


@pytest.mark.parametrize("frame", ["probe", "base"])
def test_axes_that_are_turned_live_leave_the_commanded_pose_alone(frame: str) -> None:
    controller = active(free_config(**SPRINGS, **{"admittance.frame": frame}))
    push = np.array([4, 3, 2, 0.2, -0.1, 0.1])
    before = run(controller, HOME, push, 200)
    controller.stream(orientation=TURN)
    after = run(controller, before["q"][-1] + before["qd"][-1] * DT, push, 3)
    poses = np.concatenate([before["X_WC"][-3:], after["X_WC"]])
    steps = np.diff(poses[:, :3, 3], axis=0)
    assert np.abs(np.diff(steps, axis=0)).max() < 2e-5
    R = Rotation.from_rotvec(TURN).as_matrix()
    assert not np.allclose(before["offset"][-1, LINEAR], after["offset"][0, LINEAR], atol=1e-4)
    np.testing.assert_allclose(
        before["offset"][-1, LINEAR], R @ after["offset"][0, LINEAR], atol=1e-4
    )
    np.testing.assert_allclose(
        before["offset"][-1, ANGULAR], R @ after["offset"][0, ANGULAR], atol=5e-3
    )


def test_gains_are_in_force_at_the_next_tick_and_damping_follows_its_ratio() -> None:
    ratio = Config.from_dict({"admittance.damping_ratio": [0.7] * 6})
    controller = active(ratio)
    run(controller, HOME, np.zeros(6), 2)
    controller.stream(stiffness=[400.0] * 3 + [20.0] * 3)
    run(controller, HOME, np.zeros(6), 1)
    state = controller.state[0]
    assert state.stiffness.tolist() == [400.0] * 3 + [20.0] * 3
    np.testing.assert_allclose(state.damping[:3], 2 * 0.7 * np.sqrt(400 * 8.0))
    controller.stream(damping=[55.0] * 6)
    run(controller, HOME, np.zeros(6), 1)
    assert state.damping.tolist() == [55.0] * 6 and state.stiffness[0] == 400.0


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("mass", [0.0] * 6, "mass must be six numbers > 0"),
        ("stiffness", np.full(6, np.nan), "stiffness must be"),
        ("damping", [1e6] * 6, "damping must be"),
        ("target", [501.0] * 6, "target must be six numbers of at most 500"),
        ("orientation", [9.0, 0, 0], "rotation vector"),
        ("mass", [1.0] * 5, "mass"),
    ],
)
def test_what_is_out_of_bounds_is_refused_and_nothing_changes(name, value, words) -> None:
    controller = active(Config())
    before = controller.inputs.tobytes()
    with pytest.raises(Exception, match=words):
        controller.stream(**{name: value})
    assert controller.inputs.tobytes() == before


def test_only_the_exact_integrator_takes_gains() -> None:
    with pytest.raises(ConfigError, match="exact only"):
        active(Config.from_dict({"admittance.integrator": "rk4"})).stream(mass=[9.0] * 6)


def test_set_ends_what_is_streamed() -> None:
    controller = active(Config.from_dict({"admittance.ramp_seconds": 0.0}))
    controller.stream(mass=[20.0] * 6)
    run(controller, HOME, np.zeros(6), 2)
    assert controller.state[0].mass[0] == 20.0
    controller.set({"admittance.mass": [5.0] * 6})
    run(controller, HOME, np.zeros(6), 2)
    assert controller.state[0].mass[0] == 5.0


def test_a_run_with_streams_is_repeated_bit_for_bit() -> None:
    controller, rng, rows, q = active(Config.from_dict(SPRINGS)), np.random.default_rng(1), [], HOME
    for k in range(200):
        if k % 5 == 3:
            controller.stream(stiffness=rng.uniform(100, 900, 6), mass=rng.uniform(2, 9, 6))
        if k % 40 == 7:
            controller.stream(orientation=rng.normal(size=3) * 0.3)
        rows.append(controller.update(q, rng.normal(size=6) * 5, DT).copy())
        q = q + rows[-1]["qd"] * DT
    again = active(Config.from_dict(SPRINGS))
    for row in rows:
        assert again.repeat(row).tobytes() == row.tobytes()


def test_random_stiffness_at_100_hz_in_contact_gives_no_energy_away_beyond_its_bound() -> None:
    """A tool pressed on a surface by a spring to a pose behind it, gains changed all the time."""
    bound = 0.05
    config = Config.from_dict({
        "admittance.stiffness": [300.0] * 3 + [20.0] * 3,
        "admittance.stream_energy": bound,
        "admittance.engage_seconds": 0.0,
        "contact.adapt": True,
        "contact.force_noise": 0.05,
    })  # fmt: skip
    controller, rng, start = active(config), np.random.default_rng(6), arm().fk(HOME)
    rows, q, given, stored, most = [], HOME, 0.0, 0.0, 0.0
    for k in range(1500):
        if k % 5 == 0:
            controller.stream(stiffness=np.r_[rng.uniform(100, 900, 3), [20.0] * 3])
        X = arm().fk(q)
        depth = start[2, 3] - X[2, 3] - 0.002
        up = 5e3 * max(0.0, depth)
        hand = np.array([6 * np.sin(k * 0.02), 4 * np.cos(k * 0.013), up - 8.0])
        wrench = np.r_[X[:3, :3].T @ hand, np.zeros(3)]
        row = controller.update(q, wrench, DT).copy()
        before, rows, q = stored, [*rows, row], q + row["qd"] * DT
        # the spring, from outside: what it holds may rise by the work of its own force only
        K, x = controller.state[0].stiffness[:3].copy(), row["offset"][:3]
        stored = float(0.5 * K @ (x * x))
        given = max(given, -float(row["energy"]))
        most = max(most, stored - before)
    history = np.array(rows)
    oracle(history, controller)
    assert given < bound, "what came out is less than what went in and the tank"
    assert (history["tank"] >= -1e-12).all() and history["tank"].min() < bound
    assert np.abs(np.diff(history["V_WP_cmd"][:, :3], axis=0)).max() <= 2.5 * DT * 1.001


@pytest.mark.parametrize("gains", [False, True])
def test_a_force_that_is_streamed_is_held_and_eases_to_zero_when_the_stream_ends(gains) -> None:
    config = Config.from_dict({
        "admittance.enabled_axes": [False] * 6,
        "force.enabled_axes": [False, False, True, False, False, False],
        "force.stream_timeout": 0.3,
    })  # fmt: skip
    controller, q, rows = active(config), HOME, []
    start = arm().fk(HOME)
    for k in range(1400):
        if k < 500 and k % 10 == 0:  # 50 Hz
            controller.stream(target=[0, 0, 8.0 if k < 300 else 5.0, 0, 0, 0])
        if gains and k % 10 == 0:  # they go on
            controller.stream(mass=config.admittance.mass)
        X = arm().fk(q)
        pressed = max(0.0, 2e4 * (start[2, 3] - X[2, 3] - 0.001))
        rows.append(controller.update(q, np.array([0, 0, -pressed, 0, 0, 0]), DT).copy())
        q = q + rows[-1]["qd"] * DT
    history = np.array(rows)
    oracle(history, controller)
    force = -history["wrench"][:, 2]
    assert force[290:300] == pytest.approx(8.0, abs=0.1)
    assert force[480:640] == pytest.approx(5.0, abs=0.1), "held for 0.3 s after the last"
    assert not history["status"][630] & bits.STREAM_STALE
    assert history["status"][700] & bits.STREAM_STALE
    assert force[-1] == pytest.approx(0.0, abs=0.3)
    assert np.abs(history["V_WP_cmd"][660:, 2]).max() < 2e-3
