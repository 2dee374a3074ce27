"""Rendered against ideal: the report's numbers against what is known of the run."""

from __future__ import annotations

import dataclasses
import math
import re

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from tests.support import arm, controller_of, free_config, q_after
from tests.support import run as drive
from ur_admittance import Controller
from ur_admittance.kernel import bits
from ur_admittance.report.page import page
from ur_admittance.report.rendering import AXES, CAUSES, rendering
from ur_admittance.report.write import summarise
from ur_admittance.robots.sim import SimRobot
from ur_admittance.run import run

pytest.importorskip("mujoco")
from tests.report.support import PUSHES, RATE, free, guided, recording_of, simulated

SPRINGS = {
    "admittance.stiffness": [300.0, 300.0, 300.0, 10.0, 10.0, 10.0],
    "admittance.damping": [60.0, 80.0, 90.0, 3.0, 3.0, 3.0],
}


@pytest.mark.parametrize("frame", ["probe", "base"])
@pytest.mark.parametrize("springs", [{}, SPRINGS], ids=["free", "springs"])
def test_an_ideal_arm_renders_the_law_within_one_percent(frame, springs):
    config = free_config(**springs, **{"admittance.frame": frame})
    rendered = rendering(simulated(config, ideal=True))
    assert [fit.name for fit in rendered.axes] == list(AXES)
    for fit in rendered.axes:
        assert fit.difference < 0.01
        assert fit.causes["limits"] < 1e-6
        for found, configured in zip(fit.rendered, fit.configured, strict=True):
            assert found == pytest.approx(configured, rel=0.02)
    moved = np.nansum(rendered.measured, axis=0) / RATE
    ideal = np.nansum(rendered.ideal, axis=0) / RATE
    furthest = np.nanmax(np.abs(np.nancumsum(rendered.ideal, axis=0)), axis=0) / RATE
    assert (np.abs(moved - ideal) < 0.01 * furthest).all()


def test_the_ideal_motion_is_the_analytic_one():
    """Held against SciPy: the matrix exponential for the axes, rotations composed one by one."""
    config = free_config(**SPRINGS)
    recording = simulated(config, seconds=3.0)
    r, ideal = recording.records, rendering(recording).ideal
    h, m = 1 / RATE, np.array(config.admittance.mass)
    d, k = np.array(config.effective_damping()), np.array(config.admittance.stiffness)
    step = [expm(np.array([[0, 1, 0], [-b / a, -c / a, 1 / a], [0, 0, 0]]) * h)
            for a, b, c in zip(m, k, d, strict=True)]  # fmt: skip
    x, v, turn = np.zeros(6), np.zeros(6), Rotation.identity()
    for n in range(1, len(r) - 1):
        if r["mode"][n] != bits.ACTIVE:
            break
        R = r["X_WD"][n, :3, :3].T @ r["X_WP"][n, :3, :3]
        force = np.concatenate([R @ r["F_P"][n, :3], R @ r["F_P"][n, 3:]])
        x[3:] = turn.as_rotvec()
        after = np.array([step[a] @ [x[a], v[a], force[a]] for a in range(6)])
        moved, v = after[:, 0] - x, after[:, 1]
        np.testing.assert_allclose(ideal[n], moved / h, atol=2e-6)
        x, turn = after[:, 0], Rotation.from_rotvec(moved[3:]) * turn
    assert n > 1400


@pytest.mark.parametrize(("latency", "bandwidth"), [(2, 8.0), (5, 20.0), (0, 4.0)])
def test_the_delay_of_a_lagged_arm_is_found_and_named(latency, bandwidth):
    recording = free(latency=latency, servo_bandwidth=bandwidth)
    summary = summarise(recording)
    late = latency / RATE + 1 / (2 * math.pi * bandwidth)
    assert summary["arm"]["late"] == pytest.approx(late, rel=0.12)
    assert summary["arm"]["gain"] == pytest.approx(1.0, abs=0.03)
    for fit in summary["admittance"]:
        assert 0.02 < fit["difference"] < 0.3
        assert fit["causes"]["arm"] == pytest.approx(fit["difference"], rel=1e-6)
        assert fit["causes"]["limits"] < 1e-6 and fit["causes"]["tracking"] < 1e-6
    said = re.search(r"follows its commands (\d+) ms late", summary["cause"])
    assert said and float(said[1]) == pytest.approx(1e3 * late, rel=0.15)
    assert "limits" not in summary["cause"] and "tracking" not in summary["cause"]


def test_a_delay_is_felt_as_mass():
    """(M s + D) (1 + s T) = D + (M + D T) s + ...: the damping, late, acts like a mass."""
    recording = free(latency=2, servo_bandwidth=8.0)
    late = 0.004 + 1 / (2 * math.pi * 8)
    fits = {fit.name: fit for fit in rendering(recording).axes}
    for axis in "xyz":
        assert fits[axis].rendered[0] == pytest.approx(8.0 + 80.0 * late, rel=0.05)


def test_an_arm_that_is_slowed_down_at_the_pendant_is_recognised():
    config = free_config()
    records = []
    with SimRobot(hand=PUSHES, realtime=False) as robot:
        robot.speed_scaling = 0.6
        controller = Controller(robot.model, config)
        run(robot, controller, seconds=3.0, each=lambda _, out: records.append(out.copy()))
    summary = summarise(recording_of(np.array(records), config))
    assert summary["arm"]["gain"] == pytest.approx(0.6, abs=0.03)
    assert re.search(r"at (5\d|6\d)% of their speed", summary["cause"])


def test_the_causes_add_up_and_a_wall_is_one():
    config = free_config(**{"limits.workspace_max": [9, arm().fk(arm().home)[1, 3] + 0.02, 9]})
    recording = simulated(config, ideal=True, seconds=1.5)
    rendered = rendering(recording)
    total = sum(rendered.parts[name] for name in CAUSES)
    np.testing.assert_allclose(total, rendered.measured - rendered.ideal, atol=1e-12)
    walled = max(rendered.axes, key=lambda fit: fit.difference)
    assert walled.difference > 0.3
    assert walled.causes["limits"] == pytest.approx(walled.difference, rel=0.05)
    text = summarise(recording)["cause"]
    assert re.search(r"limits held it back \d+ % of the time", text) and "late" not in text


def test_filter_and_deadband_are_told_apart_from_the_difference():
    text = summarise(guided())["cause"]
    assert "the filter delays the force by 7.96 ms" in text
    assert re.search(r"the deadband takes \d+ % of it", text)
    assert all(fit.filtering > 0.1 for fit in rendering(guided()).axes)


def test_gains_that_were_changed_live_are_faded_in():
    changes = []

    def retune(controller: Controller, out) -> None:
        if int(out["tick"]) == 800:
            controller.set({"admittance.damping": [40, 160, 90, 2, 6, 3]})
            changes.append((int(controller.params[0]["generation"]), controller.config))

    recording = simulated(free_config(), each=retune, ideal=True)
    recording = dataclasses.replace(recording, changes=tuple(changes))
    for fit in rendering(recording).axes:
        assert fit.difference < 0.01
        assert fit.configured[1] == [40, 160, 90, 2, 6, 3][AXES.index(fit.name)], "the longer part"
    first, last = summarise(recording)["stretch"]
    assert first == pytest.approx(1.6, abs=0.02 + recording.config.admittance.ramp_seconds)
    assert last == pytest.approx(4.0, abs=0.1)
    (change,) = summarise(recording)["changes"]
    assert change["name"] == "admittance.damping" and change["now"][1] == 160
    assert change["time"] == pytest.approx(1.6, abs=0.01)


def test_gains_changed_near_the_end_are_not_shown_for_the_whole_run():
    """What was in force for most of the run is what its motion is held against."""
    changes = []

    def retune(controller: Controller, out) -> None:
        if int(out["tick"]) == 1800:  # of some 2000
            controller.set({"admittance.mass": [40, 40, 40, 4, 4, 4]})
            changes.append((int(controller.params[0]["generation"]), controller.config))

    recording = simulated(free_config(), each=retune, ideal=True)
    recording = dataclasses.replace(recording, changes=tuple(changes))
    fits = rendering(recording).axes
    assert fits and all(fit.configured[0] in (8.0, 0.8) for fit in fits)
    for fit in fits:
        assert fit.rendered[0] == pytest.approx(fit.configured[0], rel=0.05)
    summary = summarise(recording)
    assert summary["stretch"][0] == 0.0 and summary["stretch"][1] == pytest.approx(3.6, abs=0.02)
    text = page(recording, summary, "t", (), {"rendered_and_ideal": b""})
    assert "from 3.598 s" in text or "from 3.600 s" in text
    assert "the longest stretch without a change, 0.00 to 3.60 s" in text


def test_a_planned_motion_is_part_of_the_ideal_one():
    """D slides along y while a push bends its way: both are there, and an ideal arm makes both."""
    controller = controller_of(free_config(**SPRINGS))
    X, q, acts = arm().fk(arm().home), arm().home, []
    for k in range(60):
        X_k = X.copy()
        X_k[1, 3] += 0.05 * 0.02 * k
        controller.set_desired(X_k, [0, 0.05, 0, 0, 0, 0])
        acts.append(drive(controller, q, np.array([0, 0, 8.0 * (k > 20), 0, 0, 0]), 10))
        q = q_after(acts[-1])
    rendered = rendering(recording_of(np.concatenate(acts), controller.config))
    fits = {fit.name: fit for fit in rendered.axes}
    assert set(fits) == {"x", "z"}  # the base's y is the tool's -x
    assert np.nanmean(rendered.ideal[:, 0]) == pytest.approx(-0.05, rel=0.01)
    assert fits["x"].rendered == (None, None, None) and fits["x"].causes["arm"] < 0.001
    assert fits["z"].difference < 0.01
