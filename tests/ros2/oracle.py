"""What must be true of all commands that a node has sent, whatever happened meanwhile."""

from __future__ import annotations

import numpy as np

from ur_admittance import Config, RobotModel

VELOCITY = 0  # kind of a command, see `clock.COMMANDS`; others are positions


def judge(trace: np.ndarray, config: Config, model: RobotModel) -> None:
    """Commands are finite, and from one to the next no joint is faster, nor changes its speed
    faster, than the configuration allows. Of several in one instant the last counts.

    Args:
        trace: of one graph, see `Clock.trace`.
        config: its joint limits; those of the model where it has none.
    """
    limits = config.limits
    speed = np.asarray(model.qd_max if limits.joint_velocity is None else limits.joint_velocity)
    change = np.asarray(
        model.qdd_max if limits.joint_acceleration is None else limits.joint_acceleration
    )
    assert np.isfinite(trace).all(), "a command is not finite"
    for sender, kind in {(row[0], row[1]) for row in trace}:
        rows = trace[(trace[:, 0] == sender) & (trace[:, 1] == kind)]
        rows = rows[np.append(np.diff(rows[:, 2]) > 0.0, True)]
        dt, numbers = np.diff(rows[:, 2])[:, None], rows[:, 3:]
        steps, most = np.abs(np.diff(numbers, axis=0)), (change if kind == VELOCITY else speed) * dt
        beyond = np.argwhere(steps > most * (1 + 1e-6) + 1e-9)
        where = [(k, joint, steps[k, joint], most[k, joint]) for k, joint in beyond[:3]]
        assert not len(beyond), (
            f"{len(beyond)} steps beyond the limits, (row, joint, is, may): {where}"
        )
        if kind == VELOCITY:
            assert (np.abs(numbers) <= speed * (1 + 1e-9)).all(), "a joint is too fast"
