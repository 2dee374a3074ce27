"""Limits, safety and payload change one way from outside: every parameter has its way."""

from __future__ import annotations

import pytest

from ur_admittance import Config, ConfigError
from ur_admittance.config.tighter import FIXED, LESS, MORE, OFF_AT_ZERO, TIGHTER, refuse_looser

LIVE = {field.name: field for field in Config.fields() if field.live}
SECTIONS = ("limits.", "safety.", "payload.", "max_")


def test_every_parameter_of_limits_safety_and_payload_that_may_change_has_its_way() -> None:
    assert {name for name in LIVE if name.startswith(SECTIONS)} <= {*TIGHTER}
    assert {*TIGHTER.values()} == {LESS, MORE, FIXED, OFF_AT_ZERO}


@pytest.mark.parametrize(
    ("name", "tighter", "looser"),
    [
        ("max_linear_velocity", 0.1, 0.6),
        ("safety.max_force", 50.0, 300.0),
        ("safety.start_force", 1.0, 0.0),
        ("safety.lost_timeout", 0.05, 1.0),
        ("limits.workspace_min", [-1, -1, -1], [-1, -11, -1]),
        ("limits.workspace_max", [1, 1, 1], [1, 11, 1]),
    ],
)
def test_tightening_is_taken_and_loosening_refused_with_the_reason(name, tighter, looser) -> None:
    old = Config()
    refuse_looser(old, old.replace({name: tighter}))
    with pytest.raises(ConfigError, match=f"{name}: may only be .* --allow-loosening"):
        refuse_looser(old, old.replace({name: looser}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("payload.mass", 1.0),
        ("payload.force_bias", [1, 0, 0]),
        ("limits.max_linear_acceleration", 0.5),
        ("limits.max_linear_acceleration", 5.0),
    ],
)
def test_what_has_no_safe_way_does_not_change(name, value) -> None:
    with pytest.raises(ConfigError, match=f"{name}: may not change from outside"):
        refuse_looser(Config(), Config().replace({name: value}))


def test_a_check_that_was_off_may_be_switched_on_and_gains_are_free() -> None:
    off = Config().replace({"safety.start_force": 0.0, "safety.frozen_samples": 0})
    refuse_looser(off, off.replace({"safety.start_force": 5.0, "safety.frozen_samples": 25}))
    refuse_looser(off, off.replace({"admittance.mass": [2.0] * 6}))


def test_all_that_is_looser_is_told_at_once() -> None:
    looser = Config().replace({"max_linear_velocity": 1.0, "payload.mass": 2.0})
    with pytest.raises(ConfigError) as caught:
        refuse_looser(Config(), looser)
    assert len(caught.value.problems) == 2
