"""What must be true of all commands that reached the graph, whatever happened meanwhile.

Nodes are judged by their own traces, too, and by what they tell their robot (`tests/oracle`). This
is what an arm on the graph hears: of a node, and of its guard, which goes on where the node was
silenced.
"""

from __future__ import annotations

import numpy as np

from ur_admittance import Config, RobotModel

VELOCITY = 0  # kind of a command, see `clock.COMMANDS`; others are positions
SILENT = 5.0  # periods without a command, after which positions begin anew


def judge(trace: np.ndarray, config: Config, model: RobotModel) -> None:
    """There are commands, all finite, and from one to the next no joint is faster, nor changes its
    speed faster, than the configuration allows. Of several in one instant the last counts.

    Args:
        trace: of one graph, see `Clock.trace`.
        config: its rate and joint limits; those of the model where it has none.
    """
    limits = config.limits
    speed = np.asarray(model.qd_max if limits.joint_velocity is None else limits.joint_velocity)
    change = np.asarray(
        model.qdd_max if limits.joint_acceleration is None else limits.joint_acceleration
    )
    assert len(trace), "nobody has commanded anything"
    assert np.isfinite(trace).all(), "a command is not finite"
    for sender, kind in {(row[0], row[1]) for row in trace}:
        rows = trace[(trace[:, 0] == sender) & (trace[:, 1] == kind)]
        rows = rows[np.argsort(rows[:, 2], kind="stable")]
        rows = rows[np.append(np.diff(rows[:, 2]) > 0.0, True)]
        dt, numbers = np.diff(rows[:, 2])[:, None], rows[:, 3:]
        steps = np.diff(numbers, axis=0)
        if kind == VELOCITY:
            assert (np.abs(numbers) <= speed * (1 + 1e-9)).all(), "a joint is too fast"
            _within(steps, change * dt, "steps of the velocity")
            continue
        _within(steps, speed * dt, "steps of the position")
        goes_on = dt < SILENT / config.control_rate
        known = (goes_on[1:] & goes_on[:-1])[:, 0]
        most = change * dt[1:] + 1e-6  # for how the clock's times are rounded
        _within(np.diff(steps / dt, axis=0)[known], most[known], "changes of its speed")


def _within(values: np.ndarray, most: np.ndarray, what: str) -> None:
    values = np.abs(values)
    beyond = np.argwhere(~(values <= most * (1 + 1e-6) + 1e-9))
    where = [(k, joint, values[k, joint], most[k, joint]) for k, joint in beyond[:3]]
    assert not len(beyond), (
        f"{len(beyond)} {what} beyond the limits, (row, joint, is, may): {where}"
    )
