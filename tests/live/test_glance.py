"""A glance at a controller, and a watcher that keeps its way."""

from __future__ import annotations

import numpy as np
import pytest

from tests.live.support import records
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.kernel import bits
from ur_admittance.live.glance import TRAIL_SECONDS, TRAIL_STEP, Glance, Watcher


def test_a_glance_has_the_newest_values_and_the_faults_of_all_since_the_last() -> None:
    made = records(3)
    made["F_S_filt"][-1] = [3, 4, 0, 0, 0, 2]
    made["V_WP_cmd"][-1] = [0, 0.6, 0.8, 0, 0, 0]
    made["status"][0], made["status"][1] = bits.SPEED_LIMIT, bits.OVER_FORCE
    made["timing"]["tick"] = [1e-5, 5e-5, 2e-5]
    glance = Glance.at(made)
    assert (glance.force, glance.torque, glance.speed) == (5.0, 2.0, 1.0)
    assert glance.faults == ("over_force", "speed_limit")
    assert glance.tick == 5e-5


def test_a_watcher_keeps_the_last_of_the_way_and_no_more(runtime) -> None:
    config = Config()
    live = Controller(RobotModel.ur("ur5e"), config).live
    with Blackboard.create("sim:a", 500.0, live) as board:
        watcher = Watcher(Blackboard.attach("sim:a"))
        assert watcher.read() is None
        for k in range(12000):
            made = records(1, tick=k + 1, time=0.002 * k)
            made["X_WP"][0, 0, 3] = k
            board.publish(made)
            if k % 1000 == 999:
                watcher.read()
    assert len(watcher.trail) == round(TRAIL_SECONDS / TRAIL_STEP)
    assert watcher.trail[-1, 0] == pytest.approx(12000, abs=10)
    assert np.all(np.diff(watcher.trail[:, 0]) == TRAIL_STEP * 500)
