"""Taring: a sensor that drifted is put right; a contact is not taken for one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import arm
from ur_admittance import Config, Controller, RobotError
from ur_admittance.calibration.tare import tare


def felt(wrench, *, active: bool, **changes) -> tuple:
    """What a controller knows that felt this for half a second, on a spring that barely gives."""
    stiff = {"admittance.stiffness": [1e5] * 6, **changes}
    controller = Controller(arm(), Config.from_dict(stiff))
    if active:
        controller.activate(arm().home)
    for _ in range(300):
        controller.update(arm().home, np.array(wrench, float), 0.002)
    return controller.config, controller.params, controller.trace()


def test_what_a_sensor_drifted_by_becomes_its_bias() -> None:
    seen = felt([0.4, -0.5, 1.0, 0.01, 0, 0], active=True)
    assert tare(*seen)["payload.force_bias"] == pytest.approx([0.4, -0.5, 1.0])


def test_a_steady_push_is_no_drift() -> None:
    """Above the deadband the law feels it, so it may be a hand or a table."""
    with pytest.raises(RobotError, match="a steady force of 5 N is not explained"):
        tare(*felt([0, 0, 5.0, 0, 0, 0], active=True))
    with pytest.raises(RobotError, match="a steady torque of 2 Nm is not explained"):
        tare(*felt([0, 0, 0, 0, 2.0, 0], active=True))


def test_before_a_start_more_may_be_a_sensor_that_was_never_zeroed() -> None:
    reading = [0, 0, 9.0, 0, 0, 0]
    assert tare(*felt(reading, active=False))["payload.force_bias"][2] == pytest.approx(9.0)
    with pytest.raises(RobotError, match="at most 10 N"):
        tare(*felt([0, 0, 30.0, 0, 0, 0], active=False))
    anything = {"safety.start_force": 0}
    taken = tare(*felt([0, 0, 30.0, 0, 0, 0], active=False, **anything))
    assert taken["payload.force_bias"][2] == pytest.approx(30.0)
