"""A node that a timer paces: joint states faster than its rate, slower, and too slow."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from tests.ros2.stage import CONFIG, RATE, Stage
from tests.ros2.test_nothing_lost import attached

pytestmark = pytest.mark.slow


def test_a_timer_ticks_at_its_rate_with_fast_states_and_with_slow_ones(staged):
    config = CONFIG + "clock: timer\n"
    stage = staged("--model", "ur5e", "--inactive", config=config, arm_rate=2 * RATE)
    stage.graph.until(lambda: stage.state == "inactive")
    stage.activate()  # by then all have found each other
    assert stage.change("deactivate")
    stage.until_mute()
    pushed(stage)
    assert not stage.said("predicted by their velocities")

    # Another device goes on at the pace of before: the clock waits for those who listen to it.
    stage.behave(every=6, gripper=True)
    pushed(stage)
    assert stage.said("joint states come 8 times a second, control_rate is 25 Hz")
    assert stage.said("in between they are predicted by their velocities, for up to 1")
    ticks = attached(stage.graph).since(0)[0]
    q = ticks["q"][np.abs(ticks["qd"]).max(axis=1) > 0.05][-10:]
    changed = np.abs(np.diff(q, axis=0)).max(axis=1) > 0.0
    assert changed.mean() > 0.6  # though three ticks share a state

    stage.behave(every=14)
    stage.refuses("with clock: timer there must be at least a fifth of that, 5")


def pushed(stage: Stage) -> None:
    """The arm gives way, and a command comes each period."""
    sent = len(stage.trace())
    stage.activate()
    stage.graph.until(lambda: len(stage.trace()) > sent)  # the first may come between two deadlines
    before, began = stage.tool, len(stage.trace())
    stage.behave(force=[0, 0, 10, 0, 0, 0])
    stage.graph.until(lambda: stage.tool[2] < before[2] - 0.02)
    times = stage.trace()[began:, 2]
    assert len(times) > 5 and np.allclose(np.diff(times), 1.0 / RATE)
    stage.behave(force=[0] * 6)
    assert stage.change("deactivate")
    stage.until_mute()
