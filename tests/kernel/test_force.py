"""Axes that press: the law against an independent one, and what must never happen beside it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.signal import cont2discrete

from tests.support import arm, oracle, run
from ur_admittance import Config, Controller
from ur_admittance.kernel import bits
from ur_admittance.kernel.force import APPROACH, HOLD

DT = 0.002
Z = [False, False, True, False, False, False]


def config(target: float = 10.0, /, **more: Any) -> Config:
    """Presses along z of the tool, which looks down at home; all else stays where it is."""
    values = {
        "admittance.enabled_axes": [False] * 6,
        "force.enabled_axes": Z,
        "force.target": [0, 0, target, 0, 0, 0],
        "force.approach_speed": [0.02] * 6,
        "contact.force_noise": 0.05,
        "contact.motion_noise": 1e-7,
    }
    return Config.from_dict({**values, **more})


def surface(stiffness: float, gap: float = 0.004, axes: int = 2, sign: float = 1.0) -> Any:
    """The wrench of a spring that the tool meets `gap` m along an axis of the tool."""
    model = arm()
    start = model.fk(model.home)

    def wrench(_: int, q: np.ndarray) -> np.ndarray:
        X = model.fk(q)
        depth = sign * (start[:3, axes] @ (X[:3, 3] - start[:3, 3])) - gap
        felt = np.zeros(6)
        felt[axes] = -sign * max(0.0, stiffness * depth)
        return felt

    return wrench


def started(settings: Config) -> Controller:
    controller = Controller(arm(), settings)
    controller.activate(arm().home)
    return controller


def pressed(history: np.ndarray) -> np.ndarray:
    return -history["wrench"][:, 2]


@pytest.mark.parametrize("stiffness", [1e3, 1e4, 5e4])
def test_it_approaches_touches_and_holds_its_force(stiffness: float) -> None:
    controller = started(config())
    history = run(controller, arm().home, surface(stiffness), 1000)
    oracle(history, controller)
    phase, v = history["force_phase"][:, 2], history["offset_rate"][:, 2]
    assert phase[5] == APPROACH and phase[-1] == HOLD
    assert v[phase == APPROACH].max() == pytest.approx(0.02)
    np.testing.assert_allclose(pressed(history)[-200:], 10.0, atol=0.05)
    assert pressed(history).max() < 15


def test_it_approaches_no_faster_than_the_joints_can_brake_on_the_stiffest_surface() -> None:
    lag, stiffest = 0.01, 8e4
    more = {"arm.lag": lag, "force.stiffness": [stiffest] * 6, "force.approach_speed": [0.1] * 6}
    controller = started(config(10.0, **more))
    history = run(controller, arm().home, surface(stiffest, gap=1.0), 200)
    v = history["offset_rate"][-1, 2]
    J, qdd = arm().jacobian(arm().home), arm().qdd_max
    rates = np.linalg.solve(J, np.r_[arm().fk(arm().home)[:3, 2], 0, 0, 0])
    a = 0.5 * np.min(qdd / np.abs(rates))
    # until it stands it goes so deep, and presses with 5 N more than it should
    depth = v * (0.002 + 0.3 * lag) + v * v / (2 * a)
    assert depth * stiffest == pytest.approx(15.0, rel=0.02)
    assert 0.01 < v < 0.02


def test_the_law_is_the_transfer_function_it_says() -> None:
    # the arm is held still, so that nothing is fitted and the loop stays open: e in, v out
    settings = config(**{"force.stiffness": [5e4] * 6, "force.max_speed": [1.0] * 6})
    controller, rng = started(settings), np.random.default_rng(2)
    force = 11.0 + np.cumsum(rng.normal(size=300)) * 0.05
    rows = []
    for k in range(300):
        wrench = np.array([0, 0, -force[k], 0, 0, 0])
        rows.append(controller.update(arm().home, wrench, DT).copy())
    v = np.array([row["offset_rate"][2] for row in rows])
    ref = np.array([row["force_target"][2] for row in rows])
    assert rows[-1]["force_phase"][2] == HOLD
    felt = np.empty(300)
    last = force[1]
    for k in range(1, 300):  # the first tick seeds, the second one begins
        last += DT / (DT + 1.2e-3) * (force[k] - last)
        felt[k] = last
    g, begun = 70.0 / 5e4, 25  # integrals begin 0.05 s after the touch
    # v / e = g (1 + 24 / s + 0.4 24^2 / s^2), by SciPy
    A, B = np.array([[0, 1.0], [0, 0]]), np.array([[24 * g], [0.4 * 24**2 * g]])
    discrete: Any = cont2discrete((A, B, np.eye(2), np.zeros((2, 1))), DT)
    A, B = discrete[0], discrete[1]
    x, expected = np.zeros(2), np.empty(300)
    for k in range(1, 300):
        e = ref[k] - felt[k]
        expected[k] = g * e + x[0]
        if k >= begun:
            x = A @ x + B[:, 0] * e
    # the kernel steps the two integrals one after the other, by Euler
    np.testing.assert_allclose(v[2:], expected[2:], atol=1e-3)


def test_the_reference_goes_to_the_target_from_what_is_felt() -> None:
    history = run(started(config()), arm().home, surface(2e4), 700)
    hold = np.flatnonzero(history["force_phase"][:, 2] == HOLD)
    ref = history["force_target"][hold, 2]
    assert ref[0] < 3.0 and ref[-1] == pytest.approx(10.0)
    assert (np.diff(ref) >= 0).all()


def test_pulling_in_the_other_direction_is_the_mirror_image() -> None:
    push = run(started(config(10.0)), arm().home, surface(2e4), 500)
    pull = run(started(config(-10.0)), arm().home, surface(2e4, sign=-1.0), 500)
    np.testing.assert_allclose(pull["offset"][-1, 2], -push["offset"][-1, 2], atol=1e-4)
    assert pull["wrench"][-1, 2] == pytest.approx(10.0, abs=0.05)


def test_base_axes_press_along_the_base() -> None:
    # the tool looks down at home: down is -z of the base
    controller = started(config(-10.0, **{"admittance.frame": "base"}))
    history = run(controller, arm().home, surface(2e4), 700)
    assert pressed(history)[-1] == pytest.approx(10.0, abs=0.05)


def test_the_other_axes_keep_their_law() -> None:
    soft = {"admittance.enabled_axes": [True, False, False, False, False, False]}
    slow = {"admittance.deadband_force": 0.0, "force.approach_speed": [1e-4] * 6}
    gives = config(**soft, **slow)
    alone = gives.replace({"force.enabled_axes": [False] * 6})
    push = np.array([8.0, 0, 0, 0, 0, 0])
    both = run(started(gives), arm().home, push, 200)
    law = run(started(alone), arm().home, push, 200)
    np.testing.assert_allclose(both["offset"][:, 0], law["offset"][:, 0], atol=1e-6)


def test_a_torque_is_held_as_a_force_is() -> None:
    rx = [False, False, False, True, False, False]
    turning = config(**{
        "force.enabled_axes": rx,
        "force.target": [0, 0, 0, 1.0, 0, 0],
        "force.stiffness": [6e4] * 3 + [200.0] * 3,
        "force.approach_speed": [0.02] * 3 + [0.1] * 3,
    })  # fmt: skip
    model, start = arm(), arm().fk(arm().home)[:3, :3]

    def spring(_: int, q: np.ndarray) -> np.ndarray:
        R = start.T @ model.fk(q)[:3, :3]
        angle = np.arctan2(R[2, 1], R[1, 1])
        return np.array([0, 0, 0, -max(0.0, 100.0 * (angle - 0.01)), 0, 0])

    history = run(started(turning), arm().home, spring, 1500)
    assert history["wrench"][-1, 3] == pytest.approx(-1.0, abs=0.02)
    np.testing.assert_allclose(history["X_WP"][-1, :3, 3], history["X_WP"][0, :3, 3], atol=1e-5)


def test_zero_force_gives_way_at_once_and_goes_nowhere_by_itself() -> None:
    free = run(started(config(0.0)), arm().home, np.zeros(6), 200)
    assert np.abs(free["qd"]).max() < 1e-12
    pushed = run(started(config(0.0)), arm().home, np.array([0, 0, 5.0, 0, 0, 0]), 100)
    assert pushed["offset"][-1, 2] > 1e-3


def test_a_bias_of_the_sensor_is_not_mistaken_for_a_touch_and_nothing_lunges() -> None:
    controller = started(config(20.0))
    history = run(controller, arm().home, np.array([0, 0, -2.0, 0, 0, 0]), 1500)
    oracle(history, controller)
    assert history["V_WP_cmd"][:, :3].min() > -0.0201
    assert {APPROACH, HOLD} <= set(history["force_phase"][:, 2])


def test_it_goes_no_further_than_its_travel_and_says_so() -> None:
    controller = started(config(**{"force.max_travel": [0.01] * 6}))
    history = run(controller, arm().home, np.zeros(6), 700)
    oracle(history, controller)
    assert history["offset"][:, 2].max() < 0.0101
    assert history["status"][-1] & bits.FORCE_TRAVEL
    assert np.abs(history["V_WP_cmd"][-1]).max() < 1e-3


def test_nothing_lunges_when_what_is_pressed_goes_away() -> None:
    controller = started(config())
    touch = surface(2e4)
    held = run(controller, arm().home, touch, 500)
    q = held["q"][-1]
    gone = run(controller, q, np.zeros(6), 300)
    oracle(gone, controller)
    v = gone["offset_rate"][:, 2]
    assert v.max() <= 0.02 and v[-1] == pytest.approx(0.02 / 3)
    assert gone["status"][-1] & bits.FORCE_LOST


def test_a_wall_of_the_workspace_winds_nothing_up() -> None:
    start = arm().fk(arm().home)[:3, 3]
    box = {"limits.workspace_min": [-10, -10, start[2] - 0.002]}
    controller = started(config(**box))
    stuck = run(controller, arm().home, np.array([0, 0, -4.0, 0, 0, 0]), 1000)
    oracle(stuck, controller)
    v = run(controller, stuck["q"][-1], np.array([0, 0, -12.0, 0, 0, 0]), 20)["offset_rate"][:, 2]
    assert v[-1] < 0.0, "2 N too many: it backs off at once"


def test_switched_off_live_it_gives_way_again_without_a_kick() -> None:
    controller = started(config(**{"admittance.stiffness": [500.0] * 3 + [20.0] * 3}))
    held = run(controller, arm().home, surface(2e4), 500)
    controller.set({"force.enabled_axes": [False] * 6, "admittance.enabled_axes": Z})
    after = run(controller, held["q"][-1], np.zeros(6), 400)
    assert (after["force_phase"] == 0).all()
    assert np.abs(np.diff(after["V_WP_cmd"][:, 2])).max() < 1e-3


def test_values_of_force_do_nothing_while_no_axis_presses() -> None:
    plain = Config.preset("surface-following")
    push = np.array([3.0, -2, -6, 0.1, 0, 0])
    other = plain.replace({"force.target": [5.0] * 6, "force.stiffness": [1e3] * 6})
    a, b = (run(started(c), arm().home, push, 200) for c in (plain, other))
    assert a.tobytes() == b.tobytes()
