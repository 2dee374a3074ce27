"""What may change from outside while the arm gives way: every live parameter has its rule."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import arm
from ur_admittance import Config, ConfigError
from ur_admittance.config.tighter import FREE, HELD, NEAR, SHARES, refuse_looser
from ur_admittance.controller.packing import pack

LIVE = {field.name for field in Config.fields() if field.live}


def check(old: Config, new: Config, began: Config | None = None) -> None:
    refuse_looser(old, new, pack(began or old, arm())[0], pack(new, arm())[0])


def test_every_live_parameter_is_held_or_free_and_says_why() -> None:
    assert {*HELD} | {*FREE} == LIVE and not {*HELD} & {*FREE}
    assert all(held.why for held in HELD.values()) and all(FREE.values())
    makers = {name for share in SHARES.values() for name in share.by}
    assert makers == {name for name, held in HELD.items() if held.way == NEAR}


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("max_linear_velocity", (0.5, 0.1, 0.6)),
        ("safety.start_force", (10.0, 1.0, 0.0)),
        ("safety.start_force", (0.0, 5.0, None)),
        ("safety.frozen_samples", (0, 25, None)),
        ("safety.max_wrench", (None, [50.0] * 6, None)),
        ("safety.max_wrench", ([50.0] * 6, [40.0] * 6, None)),
        ("limits.workspace_min", ([-2, -2, -2], [-1, -1, -1], [-1, -3, -1])),
        ("limits.workspace_max", ([2, 2, 2], [1, 1, 1], [1, 3, 1])),
        ("contact.monitor", (False, True, None)),
        ("contact.monitor", (True, True, False)),
        ("accept_contact_instability", (True, False, None)),
        ("accept_contact_instability", (False, False, True)),
        ("admittance.ramp_seconds", (0.5, 2.0, 0.0)),
        ("force.target", ([0, 0, 20, 0, 0, 0], [0, 0, 10, 0, 0, 0], [0, 0, 21, 0, 0, 0])),
        ("force.target", ([0, 0, 20, 0, 0, 0], [0, 0, 0, 0, 0, 0], [0, 0, -5, 0, 0, 0])),
        ("force.target", ([0, 0, -20, 0, 0, 0], [0, 0, -10, 0, 0, 0], [1, 0, -20, 0, 0, 0])),
        ("admittance.stiffness", ([100] * 6, [200] * 6, [100, 100, 100, 100, 100, 201])),
        ("admittance.stiffness", ([0] * 6, [0] * 6, [1, 0, 0, 0, 0, 0])),
        ("admittance.mass", ([4] * 6, [1] * 6, [0.9] * 6)),
        ("admittance.damping", ([40] * 6, [160] * 6, [9] * 6)),
        ("admittance.damping_ratio", ([1] * 6, [0.5] * 6, [0.2] * 6)),
        ("admittance.min_motion_threshold", (2.0, 8.0, 8.1)),
    ],
)
def test_what_is_more_careful_is_taken_and_what_is_looser_refused(name, values) -> None:
    before, tighter, looser = values
    old = Config.from_dict({name: before})
    check(old, old.replace({name: tighter}))
    if looser is not None:
        with pytest.raises(ConfigError, match=f"{name}: may only .* --allow-loosening"):
            check(old, old.replace({name: looser}))


def test_what_is_off_may_not_be_given_up_for_nothing() -> None:
    old = Config.from_dict({"safety.max_wrench": [50.0] * 6})
    with pytest.raises(ConfigError, match=r"max_wrench: may only be lowered .* -> None"):
        check(old, old.replace({"safety.max_wrench": None}))


def test_what_has_no_safe_way_does_not_change() -> None:
    fixed = {"payload.mass": 1.0, "limits.max_linear_acceleration": 0.5, "ik.damping": 0.1}
    for name, value in fixed.items():
        with pytest.raises(ConfigError, match=f"{name}: may not change from outside"):
            check(Config(), Config().replace({name: value}))


def test_many_small_steps_lead_no_further_than_one_and_a_way_back_is_free() -> None:
    began = Config.from_dict({"admittance.damping": [100.0] * 6})
    half, quarter, eighth = (began.replace({"admittance.damping": [d] * 6}) for d in (50, 25, 12.5))
    check(began, half, began)
    check(half, quarter, began)
    with pytest.raises(ConfigError, match=r"damping 0.25 to 4 times .* 100 -> 12.5 along x"):
        check(quarter, eighth, began)
    check(quarter, began, began)


def test_the_arm_does_not_go_on_for_long_by_two_changes_of_which_each_is_small() -> None:
    began = Config.from_dict({"admittance.damping": [100.0] * 6})
    heavy = began.replace({"admittance.mass": [16.0] * 3 + [1.6] * 3})
    check(began, heavy)
    with pytest.raises(ConfigError, match=r"admittance\.damping: .* mass / damping 4 times"):
        check(heavy, heavy.replace({"admittance.damping": [40.0] * 6}), began)


def test_damping_cannot_be_argued_away() -> None:
    """What contact needs is a rule of the configuration; whoever comes cannot change its facts."""
    told = {"environment_stiffness": 2000.0, "admittance.damping": [50.0] * 6}
    old = Config.from_dict(told)
    with pytest.raises(ConfigError, match="takes damping >= 40"):
        old.replace({"admittance.damping": [30.0] * 6}, live=True)
    for excuse in (
        {"accept_contact_instability": True},
        {"environment_stiffness": 0.0},
        {"loop_delay": 0.001},
    ):
        new = old.replace({**excuse, "admittance.damping": [30.0] * 6})
        with pytest.raises(ConfigError, match="from outside"):
            check(old, new)


def test_all_that_is_looser_is_told_at_once() -> None:
    looser = Config().replace({"max_linear_velocity": 1.0, "payload.mass": 2.0})
    with pytest.raises(ConfigError) as caught:
        check(Config(), looser)
    assert len(caught.value.problems) == 2


def test_numbers_that_are_none_are_near_nothing() -> None:
    began = pack(Config(), arm())
    began["damping"] = np.nan
    new = Config().replace({"admittance.damping_ratio": [0.9] * 6})
    with pytest.raises(ConfigError, match="damping"):
        refuse_looser(Config(), new, began[0], pack(new, arm())[0])
