"""Ways to give values, and what is said of names and values that are not right."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance.config import Config
from ur_admittance.config.sections import Admittance
from ur_admittance.errors import ConfigError


def test_all_problems_come_at_once_in_the_order_given() -> None:
    with pytest.raises(ConfigError) as caught:
        Config(
            admittance={"mas": [1] * 6, "mass": [1] * 5},
            control_rate="fast",
            tip=3,
            limits={"workspace_min": [20, 0, 0]},
        )
    names = [line.partition(":")[0] for line in caught.value.problems]
    assert names == [
        "admittance.mas",
        "admittance.mass",
        "control_rate",
        "tip",
        "limits.workspace_min",
    ]
    unknown, short = list(caught.value.problems)[:2]
    assert "did you mean admittance.mass?" in unknown
    assert "got 5" in short
    assert all(line in str(caught.value) for line in caught.value.problems)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("admittance.mas", "admittance.mass"),
        ("mass", "admittance.mass or payload.mass"),
        ("Admittance.Mass", "admittance.mass\\?"),
        ("admittance.velocity_gain", "tracking.velocity_gain"),
        ("max_linear_vel", "max_linear_velocity"),
        ("admitance", "admittance"),
        ("safety.wrench_timout", "safety.wrench_timeout"),
        ("peroid", "period"),
        ("wrench_timout", "safety.wrench_timeout"),
    ],
)
def test_a_typo_is_answered_with_the_name_that_was_meant(wrong: str, hint: str) -> None:
    for build in (Config.from_dict, Config().replace):
        with pytest.raises(ConfigError, match=f"unknown key; did you mean {hint}"):
            build({wrong: 1})


def test_a_name_unlike_any_other_is_answered_with_all_names() -> None:
    with pytest.raises(ConfigError, match="the keys here are frame, orientation"):
        Config(admittance={"zzzz": 1})
    with pytest.raises(ConfigError, match="unknown key"):
        Config().get("zzzz")


def test_nested_dotted_mixed_and_model_keys_build_the_same() -> None:
    mass = [4, 4, 4, 0.4, 0.4, 0.4]
    expected = Config(admittance={"mass": mass}, control_rate=250)
    assert Config.from_dict({"admittance.mass": mass, "control_rate": 250}) == expected
    assert Config(admittance=Admittance(mass=mass), control_rate=250.0) == expected  # type: ignore
    both = {"admittance": {"mass": mass}, "admittance.frame": "probe", "control_rate": 250}
    assert Config.from_dict(both) == expected
    assert Config.model_validate({"admittance": {"mass": mass}, "control_rate": 250}) == expected


def test_numpy_values_are_taken_as_the_numbers_they_are() -> None:
    config = Config.from_dict(
        {
            "admittance.mass": np.full(6, 3, np.float32),
            "admittance.enabled_axes": np.array([True] * 3 + [False] * 3),
            "safety.frozen_samples": np.int64(25),
            "max_linear_velocity": np.float64(0.25),
        }
    )
    assert config.admittance.mass == (3.0,) * 6
    assert config.admittance.enabled_axes == (True,) * 3 + (False,) * 3
    assert config.safety.frozen_samples == 25
    assert {type(value) for value in config.admittance.mass} == {float}


def test_aliases_of_the_documents_are_accepted_and_must_agree() -> None:
    assert Config(period=0.004).control_rate == 250.0
    assert Config(trajectory_time_from_start=0.008).output.time_from_start == 0.008
    both = Config(control_rate=500, period=0.002, trajectory_time_from_start=0.002)
    assert both == Config()
    with pytest.raises(ConfigError, match="period: disagrees with control_rate"):
        Config(control_rate=500, period=0.004)
    with pytest.raises(ConfigError, match=r"period: must be a number >= 0\.0005 and"):
        Config(period=0)


def test_none_may_be_written_as_a_word_where_it_is_allowed() -> None:
    config = Config(admittance={"damping": "none"}, equilibrium="", limits={"joint_velocity": None})
    assert config == Config()
