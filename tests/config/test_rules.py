"""Rules between values, and the damping in force."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ur_admittance.config import Config
from ur_admittance.config.advice import advice_on
from ur_admittance.errors import ConfigError

STEPPED = ("rk4", "semi_implicit_euler")


def only_x(M: float, D: float | None, K: float, zeta: float, integrator: str) -> dict[str, object]:
    """A law whose x axis has these gains and whose other axes are off."""
    gains: dict[str, object] = {"mass": [M] * 6, "stiffness": [K] * 6, "integrator": integrator}
    gains |= {"damping_ratio": [zeta] * 6, "enabled_axes": [True] + [False] * 5}
    gains |= {"damping": [D] * 6} if D is not None else {}
    return gains


def test_damping_given_wins_over_the_ratio() -> None:
    law = {"damping": [1, 2, 3, 4, 5, 6], "damping_ratio": [2] * 6, "stiffness": [9] * 6}
    assert Config(admittance=law).effective_damping() == [1, 2, 3, 4, 5, 6]


def test_damping_follows_spring_or_virtual_stiffness() -> None:
    law = {"mass": [4] * 6, "stiffness": [100, 0, 0, 0, 0, 0], "damping_ratio": [0.5] * 6}
    law["virtual_stiffness"] = [1, 25, 1, 1, 1, 1]
    assert Config(admittance=law).effective_damping()[:2] == [20.0, 10.0]
    assert Config().effective_damping()[0] == pytest.approx(2 * 0.8 * math.sqrt(8 * 300))


def test_an_enabled_axis_must_be_damped() -> None:
    law = {"damping": [50, 50, 0, 5, 5, 5]}
    with pytest.raises(ConfigError, match="axis z: effective damping must be > 0"):
        Config(admittance=law)
    with pytest.raises(ConfigError, match=r"damping_ratio: axis x, y, z, rx, ry, rz: effective"):
        Config(admittance={"damping_ratio": [0] * 6})
    Config(admittance=law | {"enabled_axes": [True, True, False, True, True, True]})


@pytest.mark.parametrize("integrator", STEPPED)
def test_gains_too_fast_for_a_stepped_law_are_refused_with_the_bound(integrator: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config(admittance=only_x(1.0, 1000.0, 0.0, 1.0, integrator))
    assert caught.value.problems == (
        "admittance.damping: axis x: D T/M = 2 must be <= 1; use mass >= 2 or damping <= 500, "
        f"or integrator exact (now {integrator})",
    )
    with pytest.raises(ConfigError) as caught:
        Config(control_rate=100, admittance=only_x(1.0, 90.0, 20000.0, 1.0, integrator))
    assert "K T^2/M = 2 must be <= (4 - 2 D T/M)/2 = 1.1; use mass >= 1.45 or" in str(caught.value)
    assert "stiffness <= 11000" in str(caught.value)


def test_the_exact_integrator_takes_any_gains_and_check_advises() -> None:
    config = Config(admittance=only_x(1.0, 1000.0, 0.0, 1.0, "exact"))
    assert any("an arm cannot follow" in line for line in advice_on(config))


def is_stable(M: float, D: float, K: float, T: float) -> bool:
    """Whether the semi-implicit step of M a + D v + K x = 0 shrinks: |eigenvalues| < 1."""
    a, b = D * T / M, K * T * T / M
    step = np.array([[1.0 - b, 1.0 - a], [-b, 1.0 - a]])  # state (x, v T)
    return bool(np.abs(np.linalg.eigvals(step)).max() < 1.0 + (1e-12 if K == 0.0 else 0.0))


@settings(max_examples=200, deadline=None)
@given(
    M=st.floats(0.01, 100),
    D=st.one_of(st.none(), st.floats(1.0, 1e5)),
    K=st.one_of(st.just(0.0), st.floats(1.0, 1e5)),
    zeta=st.floats(0.01, 20),
    rate=st.sampled_from([100.0, 500.0, 1000.0]),
)
def test_what_is_accepted_is_stable_and_what_is_suggested_is_accepted(
    M: float, D: float | None, K: float, zeta: float, rate: float
) -> None:
    law = only_x(M, D, K, zeta, "semi_implicit_euler")
    try:
        config = Config(control_rate=rate, admittance=law)
    except ConfigError as error:
        (problem,) = error.problems
        suggestions = re.findall(r"(\w+) [<>]= ([\d.e+-]*\d)", problem.partition("; use ")[2])
        assert suggestions
        for key, value in suggestions:
            if float(value) <= 1000.0 or key != "mass":
                Config(control_rate=rate, admittance=law | {key: [float(value)] * 6})
    else:
        assert is_stable(M, config.effective_damping()[0], K, 1.0 / rate)


def test_a_named_surface_demands_damping() -> None:
    with pytest.raises(ConfigError) as caught:
        Config(environment_stiffness=20000)
    (problem,) = caught.value.problems
    assert problem.startswith("environment_stiffness: axis x, y, z: with 0.02 s of delay")
    assert "damping >= 400 N s/m, got 78.38" in problem
    enough = {"damping": [400, 400, 400, 5, 5, 5]}
    Config(environment_stiffness=20000, admittance=enough)
    Config(environment_stiffness=20000, loop_delay=0.003)
    Config(environment_stiffness=20000, admittance={"enabled_axes": [False] * 3 + [True] * 3})
    rough = Config(environment_stiffness=20000, accept_contact_instability=True)
    assert any(line.startswith("accept_contact_instability") for line in advice_on(rough))


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"limits.workspace_min": [0, 0, 10]}, "limits.workspace_min: axis z: must be <"),
        ({"limits.workspace_max": [-10, 1, 1]}, "axis x: must be < workspace_max -10 m"),
        ({"control_rate": 50}, "safety.joint_timeout: must be at least one period, 0.02 s"),
        ({"safety.wrench_timeout": 0.001}, "at least one period, 0.002 s at 500 Hz, got 0.001"),
        ({"safety.wrench_timeout": 0.2}, "lost_timeout: must be longer than wrench_timeout 0.2"),
        ({"safety.lost_timeout": 0.01}, "must be longer than joint_timeout 0.01 s, got 0.01"),
        ({"admittance.filter_cutoff_hz": 300}, "must be < 250 Hz, half of control_rate"),
        ({"payload.inertia": [-1, 1, 1, 0, 0, 0]}, "payload.inertia: is no inertia"),
        ({"payload.inertia": [1, 1, 1, 2, 0, 0]}, "payload.inertia: is no inertia"),
    ],
)
def test_values_that_contradict_each_other_are_refused(
    values: dict[str, object], words: str
) -> None:
    for build in (Config.from_dict, Config().replace):
        with pytest.raises(ConfigError) as caught:
            build(values)
        assert words in str(caught.value)


def test_a_rule_is_reported_beside_other_problems_but_not_from_values_that_are_bad() -> None:
    with pytest.raises(ConfigError) as caught:
        Config(tip=5, safety={"lost_timeout": 0.001, "wrench_timeout": "soon"}, control_rate=400)
    assert [line.partition(":")[0] for line in caught.value.problems] == [
        "tip",
        "safety.wrench_timeout",
        "safety.lost_timeout",
    ]


def test_a_slow_loop_at_one_period_of_timeout_is_accepted() -> None:
    for rate in (100.0, 125.0, 333.0):
        Config(control_rate=rate, safety={"wrench_timeout": 1 / rate, "joint_timeout": 1 / rate})
