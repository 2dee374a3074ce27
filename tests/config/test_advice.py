"""How an axis will behave, and what is allowed but unwise."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ur_admittance.config import Config
from ur_admittance.config.advice import advice_on, axes_of
from ur_admittance.errors import ConfigError


def advice(**values: object) -> str:
    return "\n".join(advice_on(Config.from_dict(values)))


def test_axes_report_what_theory_says() -> None:
    law = {"mass": [2] * 6, "stiffness": [50, 0, 200, 0, 0, 0], "damping": [4, 20, 100, 2, 2, 2]}
    x, y, z, rx, *_ = axes_of(Config(admittance=law))
    assert x.natural_frequency == pytest.approx(5.0 / (2 * math.pi))
    assert x.damping_ratio == pytest.approx(0.2)
    assert x.time_constant == pytest.approx(1.0)  # 2 M / D
    assert (y.natural_frequency, y.damping_ratio) == (None, None)
    assert y.time_constant == pytest.approx(0.1)  # M / D
    assert y.steady_speed == pytest.approx(0.5)  # 10 N / D
    slowest = min(abs(np.roots([2, 100, 200])))
    assert z.time_constant == pytest.approx(1 / slowest)
    assert rx.steady_speed == pytest.approx(0.5)  # 1 Nm / D
    assert z.stiffest_surface == pytest.approx(100 / 0.02)
    assert axes_of(Config(loop_delay=0))[0].stiffest_surface is None


@settings(max_examples=50, deadline=None)
@given(
    M=st.floats(0, 1000, exclude_min=True),
    D=st.floats(0, 1e5),
    K=st.floats(0, 1e5),
    delay=st.floats(0, 0.5),
)
def test_reports_and_advice_survive_extreme_gains(
    M: float, D: float, K: float, delay: float
) -> None:
    law = {"mass": [M] * 6, "damping": [D] * 6, "stiffness": [K] * 6}
    try:
        config = Config(admittance=law, loop_delay=delay)
    except ConfigError:
        return
    assert all(line.count(": ") for line in advice_on(config))
    for axis in axes_of(config):
        assert all(math.isfinite(n) for n in axis[2:] if n is not None)


def test_a_calm_configuration_gets_no_advice() -> None:
    assert advice(max_linear_velocity=0.25) == ""
    assert list(advice_on(Config.preset("hand-guiding"))) == []


@pytest.mark.parametrize("name", Config.presets())
def test_presets_give_no_advice_except_the_lively_one(name: str) -> None:
    found = [line.partition(":")[0] for line in advice_on(Config.preset(name))]
    lively = ["limits.max_linear_acceleration"]
    assert found == (lively if name == "surface-following" else [])


def test_what_an_arm_was_measured_to_be_is_held_against_what_is_said_of_its_delay() -> None:
    arm = {"arm.lag": 0.02, "arm.delay": 0.01, "contact.adapt": True}
    assert "arm.lag, arm.delay and the filter are 0.0312 s" in advice(loop_delay=0.02, **arm)
    assert "loop_delay" not in advice(loop_delay=0.03, **arm)
    assert "of delay and lag 0.014 s are left" not in advice(loop_delay=0.03, **arm)
    late = advice(loop_delay=0.05, **{**arm, "arm.delay": 0.02})
    assert "contact.damping_time: 0.03 s; of delay and lag 0.024 s are left" in late


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"admittance.enabled_axes": [False] * 6}, "will not give way"),
        (
            {"admittance.stiffness": [100] * 6, "admittance.damping_ratio": [0.3] * 6},
            "x, y, z, rx, ry, rz will ring",
        ),
        ({"admittance.mass": [0.1] * 6, "admittance.damping": [80] * 6}, "reacts within two"),
        ({"admittance.damping": [10, 90, 90, 9, 9, 9]}, "10 N on x asks for more than 0.25 m/s"),
        ({"admittance.mass": [8, 2, 8, 1, 1, 1]}, "10 N on y asks for more than 2.5 m/s^2"),
        ({"admittance.filter_coefficient": 0.05}, "takes 0.039 s, more than loop_delay 0.02"),
        ({"tracking.velocity_gain": 40}, "may oscillate with 0.02 s of delay; use < 25"),
        ({"tracking.velocity_gain": 0, "admittance.stiffness": [9] * 6}, "lets the arm drift"),
        (
            {"admittance.damping": [90] * 6, "admittance.damping_ratio": [1] * 6},
            "has no effect, because damping is given",
        ),
        ({"admittance.deadband_force": 20}, "deadband_force: 20 hides an ordinary push"),
        ({"admittance.min_motion_threshold": 5}, "deadband_torque: 5 hides"),
        ({"max_linear_velocity": 0.5}, "starts jolt"),
        ({"safety.max_force": 2000}, "2000 N is more than people"),
        ({"safety.wrench_timeout": 0.002}, "one late sample holds the arm"),
        ({"admittance.damping": [9, 90, 90, 9, 9, 9]}, "nothing stiffer than foam"),
    ],
)
def test_what_is_unwise_is_advised_against(values: dict[str, object], words: str) -> None:
    assert words in advice(**({"max_linear_velocity": 0.25} | values))
