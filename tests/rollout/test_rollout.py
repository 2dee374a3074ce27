"""A rollout is the controller in closed loop: its ticks, with arms and sensors as they are said."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation
from scipy.stats import kstest

from tests.support import ANGULAR, LINEAR, arm, free_config, pose, random_pose, turned
from ur_admittance import Config, Controller, LaggedArm, Noise, RobotModel, rollout

DT = 0.002
TOLD = ("qd", "q_ref", "V_WP_cmd", "X_WP", "X_WC", "X_WD", "offset", "q", "F_P", "energy")
# Where the jerk just builds up the acceleration limit, rounding decides which of the two is said.
NO_JERK_LIMIT = {"limits.max_linear_jerk": 0.0, "limits.max_angular_jerk": 0.0}
STANDS = {"admittance.enabled_axes": [False] * 6}


def tool_and_sensor() -> RobotModel:
    """The sensor is neither at the flange nor at the probe."""
    rng = np.random.default_rng(3)
    return RobotModel.ur("ur5e", X_EP=random_pose(rng, 0.1), X_ES=random_pose(rng, 0.1))


def pushes(ticks: int, seed: int = 0) -> np.ndarray:
    """Smooth, on all axes, in N and Nm."""
    rng = np.random.default_rng(seed)
    phase, rate = rng.uniform(0, 6, 6), rng.uniform(0.02, 0.1, 6)
    return np.sin(rate * np.arange(ticks)[:, None] + phase) * [20, 20, 20, 2, 2, 2]


def felt(model: RobotModel, config: Config, q: np.ndarray, F_P: np.ndarray) -> np.ndarray:
    """What a sensor says of `F_P`, a weight and a bias: statics from the textbook."""
    X_SP = np.linalg.inv(model.X_ES) @ model.X_EP
    force = X_SP[:3, :3] @ F_P[LINEAR]
    torque = X_SP[:3, :3] @ F_P[ANGULAR] + np.cross(X_SP[:3, 3], force)
    R_SW = (model.fk(q) @ np.linalg.inv(model.X_EP) @ model.X_ES)[:3, :3].T
    load = config.payload
    weight = R_SW @ np.multiply(load.mass, load.gravity)
    torque = torque + np.cross(load.center_of_mass, weight) + load.torque_bias
    return np.concatenate([force + weight + load.force_bias, torque])


def in_closed_loop(model, config, q, wrenches, dts, world: bool) -> np.ndarray:
    """What `rollout` promises, said with `Controller.update`."""
    controller = Controller(model, config)
    controller.activate(q)
    records = []
    for wrench, dt in zip(wrenches, dts, strict=True):
        F_P = turned(model.fk(q)[:3, :3].T, wrench) if world else wrench
        out = controller.update(q, felt(model, config, q, F_P), dt)
        records.append(out.copy())
        q = q + out["qd"] * out["dt"]
    return np.array(records)


@pytest.mark.parametrize("axes", ["probe", "world"])
def test_each_run_is_the_controller_in_closed_loop_tick_by_tick(axes: str) -> None:
    model, ticks = tool_and_sensor(), 150
    configs = [
        Config.preset("pose-law").replace(
            {
                "payload.mass": 1.3,
                "payload.center_of_mass": [0.01, -0.02, 0.06],
                "payload.force_bias": [1.0, -2.0, 3.0],
                "payload.torque_bias": [0.1, 0.2, -0.3],
            }
        ),
        Config.preset("hand-guiding").replace(NO_JERK_LIMIT),
        free_config(**{"admittance.frame": "base"}),
    ]
    q0 = model.home + np.random.default_rng(4).uniform(-0.2, 0.2, (3, 6))
    W = np.stack([pushes(ticks, seed) for seed in range(3)])
    dts = np.random.default_rng(5).uniform(0.001, 0.004, ticks)
    rolled = rollout(model, configs, W, q0=q0, dt=dts, wrench_axes=axes)
    assert rolled.ticks == 3 * ticks and rolled.outputs.shape == (3, ticks)
    for run, config in enumerate(configs):
        one = in_closed_loop(model, config, q0[run], W[run], dts, axes == "world")
        for name in TOLD:
            np.testing.assert_allclose(rolled[name][run], one[name], atol=1e-9, err_msg=name)
        np.testing.assert_array_equal(rolled["status"][run], one["status"])
        np.testing.assert_array_equal(rolled["tick"][run], np.arange(1, ticks + 1))
    assert np.ptp(rolled["q"], axis=1).max() > 0.01, "the arms should have moved"


def test_one_tick_of_so_many_is_kept_and_the_last() -> None:
    W = pushes(50)
    whole = rollout(arm(), free_config(), W)
    for every, kept in ((1, range(50)), (7, [*range(6, 50, 7), 49]), (10, range(9, 50, 10))):
        some = rollout(arm(), free_config(), W, every=every)
        assert some.ticks == 50
        np.testing.assert_array_equal(some.outputs[0], whole.outputs[0, list(kept)])
        np.testing.assert_array_equal(some.contact[0], whole.contact[0, list(kept)])
    assert rollout(arm(), free_config(), W, every=1000).outputs.shape == (1, 1)


def made_of(qd: np.ndarray, q0: np.ndarray, lag: float, delay: float) -> np.ndarray:
    """Where a joint is at the start of each tick: dq/dt = v, lag dv/dt = u(t - delay) - v, by the
    matrix exponential on eighths of a tick.
    """
    pieces, (ticks, _) = 8, qd.shape
    told = np.repeat(qd, pieces, axis=0)
    late = round(delay * pieces)
    told = np.vstack([np.zeros((late, 6)), told])[: ticks * pieces]
    q, places = np.array(q0), []
    if lag == 0.0:
        moved = np.cumsum(np.vstack([np.zeros(6), told]), axis=0) * DT / pieces
        return q0 + moved[: ticks * pieces : pieces]
    system = np.zeros((3, 3))
    system[0, 1], system[1, 1:] = 1.0, [-1.0 / lag, 1.0 / lag]
    step = expm(system * DT / pieces)
    v = np.zeros(6)
    for n, u in enumerate(told):
        if n % pieces == 0:
            places.append(q)
        q, v, _ = step @ np.stack([q, v, u])
    return np.array(places)


@pytest.mark.parametrize("lag", [0.0, 0.013, 0.08])
@pytest.mark.parametrize("delay", [0, 1, 2.25, 5, 0.5, 62.875])
def test_an_arm_follows_its_commands_through_its_delay_and_lag(lag: float, delay: float) -> None:
    late = LaggedArm(lag, delay)
    rolled = rollout(arm(), free_config(), pushes(200), arm=late)
    expected = made_of(rolled["qd"][0], arm().home, lag, delay)
    np.testing.assert_allclose(rolled["q"][0], expected, atol=1e-12)
    assert np.ptp(expected, axis=0).max() > 1e-3


def test_each_run_has_its_own_arm() -> None:
    arms = [LaggedArm(0.02, 2), LaggedArm(0.0, 0), LaggedArm(0.05, 6)]
    together = rollout(arm(), free_config(), pushes(80), arm=arms)
    for run, one in enumerate(arms):
        alone = rollout(arm(), free_config(), pushes(80), arm=one)
        np.testing.assert_array_equal(together.outputs[run], alone.outputs[0])
    np.testing.assert_array_equal(
        together.outputs[1], rollout(arm(), free_config(), pushes(80)).outputs[0]
    )


def test_noise_is_normal_of_the_size_given_and_new_at_every_tick() -> None:
    noise = Noise(force=0.4, torque=0.03, joints=2e-5)
    rolled = rollout(arm(), free_config(**STANDS), np.zeros((20_000, 6)), noise=noise)
    for name, truth, sizes in (
        ("wrench", 0.0, [0.4] * 3 + [0.03] * 3),
        ("q", arm().home, [2e-5] * 6),
    ):
        samples = (rolled[name][0] - truth) / sizes
        for one in samples.T:
            assert kstest(one, "norm").pvalue > 1e-4
            assert abs(np.corrcoef(one[1:], one[:-1])[0, 1]) < 0.03
        assert np.abs(np.corrcoef(samples.T) - np.eye(6)).max() < 0.03


def test_the_seed_gives_the_noise_and_each_run_has_another() -> None:
    def noisy(runs: int, seed: int, threads: int | None = None) -> np.ndarray:
        wrenches = np.zeros((runs, 30, 6))
        return rollout(arm(), free_config(), wrenches, noise=Noise(seed=seed), threads=threads)[
            "wrench"
        ]

    five = noisy(5, seed=7)
    np.testing.assert_array_equal(five, noisy(5, seed=7, threads=1))
    np.testing.assert_array_equal(five[:2], noisy(2, seed=7))
    np.testing.assert_array_equal(five[3], noisy(1, seed=10)[0])
    assert len({run.tobytes() for run in five}) == 5


def test_a_sensor_without_noise_says_nothing_but_the_truth() -> None:
    rolled = rollout(arm(), free_config(), np.zeros((5, 6)))
    assert not rolled["wrench"].any() and not rolled["qd"].any()
    np.testing.assert_array_equal(rolled["q"][0], np.tile(arm().home, (5, 1)))


def test_a_planner_turns_the_tool_too() -> None:
    """A desired pose that turns at a constant rate, as poses and as the twist between them."""
    ticks, rate = 600, 0.3
    first = arm().fk(arm().home)
    turns = Rotation.from_rotvec(rate * DT * np.arange(ticks)[:, None] * [0, 0, 1])
    X = np.array([pose(turn.as_matrix() @ first[:3, :3], first[:3, 3]) for turn in turns])
    V = np.tile([0, 0, 0, 0, 0, rate], (ticks, 1))
    rolled = rollout(arm(), Config(), np.zeros((ticks, 6)), desired=(X, V))
    np.testing.assert_allclose(rolled["X_WP"][0, -1], X[-1], atol=2e-3)
