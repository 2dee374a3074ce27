"""The demo's scenarios, played and judged: by their judges, by the limits' oracle, by MuJoCo."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.robots.sim.support import contact_wrench
from tests.support import LINEAR, arm, free_config, lengths, oracle
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.config.advice import advice_on
from ur_admittance.kernel import layout
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.run import run
from ur_admittance.scenarios import SCENARIOS, play
from ur_admittance.scenarios.base import Scenario
from ur_admittance.scenarios.surface import STOP

pytest.importorskip("mujoco")

STRIDE = 5  # ticks
ROOT = Path(__file__).parents[2]
each_scenario = pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS)


def played(
    scenario: Scenario,
    config: Config | None = None,
    *,
    ideal: bool = False,
    seed: int = 0,
    seconds: float | None = None,
) -> tuple[np.ndarray, Controller, np.ndarray]:
    """Output records, the controller, and every 10 ms the true contact force (n, 3) in W, N."""
    records = np.empty(15_000, layout.OUTPUTS)
    contact = []
    with scenario.robot(ideal=ideal, realtime=False, seed=seed) as robot:
        controller = Controller(robot.model, config or scenario.config())

        def keep(state, out):
            n = int(out["tick"]) - 1
            records[n] = out
            if n % STRIDE == 0:
                contact.append(contact_wrench(robot)[LINEAR])

        ticks = play(scenario, robot, controller, each=keep, seconds=seconds).ticks
    return records[:ticks], controller, np.array(contact)


@each_scenario
def test_its_configuration_needs_no_advice(scenario):
    assert list(advice_on(scenario.config())) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("ideal", "seed"), [(True, 0), (False, 1), (False, 2)], ids=["ideal", "seed 1", "seed 2"]
)
@each_scenario
def test_it_does_what_it_says(scenario, ideal, seed):
    records, controller, contact = played(scenario, ideal=ideal, seed=seed)
    findings = scenario.judge(records, ideal=ideal)
    assert len(findings) > 2
    assert [f for f in findings if not f.passed] == []
    oracle(records, controller)
    if scenario.name == "surface":
        touched = np.nonzero(contact[:, 2] > 0)[0]
        stroke = slice(touched[0], np.searchsorted(records["time"][::STRIDE], STOP))
        assert (contact[stroke, 2] > 0).all(), "the tool bounced"
    if scenario.name == "peg":
        assert lengths(contact).max() < 15.0


@pytest.mark.slow
def test_a_stiff_arm_would_force_the_peg():
    """So that it is the compliance that gets it in gently, not luck."""
    peg = SCENARIOS["peg"]
    stiff = peg.config().replace({"admittance.enabled_axes": [False, False, True] + [False] * 3})
    records, _, _ = played(peg, stiff)
    failed = {finding.what for finding in peg.judge(records) if not finding.passed}
    assert "pushes no harder than its spring and damping" in failed


@pytest.mark.slow
def test_a_lively_arm_would_bounce_on_the_surface():
    """A third of the damping that the contact rule asks for: the judge must notice."""
    surface = SCENARIOS["surface"]
    lively = surface.config().replace(
        {
            "admittance.damping": [60.0] * 3 + [5.0] * 3,
            "admittance.mass": [2.0] * 3 + [0.5] * 3,
            "accept_contact_instability": True,
        }
    )
    records, _, _ = played(surface, lively)
    assert not all(finding.passed for finding in surface.judge(records))


@each_scenario
def test_a_run_that_was_cut_short_is_not_judged_as_a_whole_one(scenario):
    records, controller, _ = played(scenario, seconds=0.3)
    findings = scenario.judge(records)
    assert [finding.passed for finding in findings] == [True, False]
    oracle(records, controller)


def test_the_hand_acts_by_the_controllers_clock():
    """An arm that stood for a while before the run is pushed no earlier."""
    scenario = SCENARIOS["hand-guiding"]
    with scenario.robot(ideal=True, realtime=False) as robot:
        for _ in range(2000):
            robot.wait()
        controller = Controller(robot.model, scenario.config())
        seen = []
        play(
            scenario,
            robot,
            controller,
            seconds=4.0,
            each=lambda state, out: seen.append((out["time"], np.abs(out["F_S_comp"]).max())),
        )
    felt = np.array(seen)
    assert felt[felt[:, 0] < 1.0, 1].max() < 0.1
    assert felt[felt[:, 0] > 1.5, 1].max() > 2.0


@pytest.mark.slow
def test_two_processes_with_one_seed_do_the_same_bit_for_bit():
    def fingerprint(name: str, seed: int) -> str:
        command = [sys.executable, "-m", "tests.scenarios.fingerprint", name, str(seed)]
        return subprocess.run(
            command, cwd=ROOT, check=True, capture_output=True, text=True, timeout=300
        ).stdout

    first = fingerprint("surface", 3)
    assert len(first.strip()) == 64
    assert fingerprint("surface", 3) == first
    assert fingerprint("surface", 4) != first


def test_a_pure_force_at_the_tip_turns_nothing_though_the_sensor_is_at_the_flange():
    """20 N at P, 0.1 m in front of the sensor, with the deadbands of the preset hand-guiding."""
    model = RobotModel.ur("ur5e", X_EP=_shifted(0.1), X_ES=np.eye(4))
    hand = ScriptedPush([(0.1, 9.0, [0, 20.0, 0, 0, 0, 0])])
    config = free_config(**{"admittance.deadband_force": 2.0, "admittance.deadband_torque": 0.3})
    with SimRobot(model, hand=hand, ideal=True, realtime=False) as robot:
        controller = Controller(model, config)
        run(robot, controller, seconds=1.0)
        R = arm().fk(arm().home)[:3, :3].T @ robot.X_WP[:3, :3]
    np.testing.assert_allclose(R, np.eye(3), atol=1e-3)


def _shifted(z: float) -> np.ndarray:
    X = np.eye(4)
    X[2, 3] = z
    return X
