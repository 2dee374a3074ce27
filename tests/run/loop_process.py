"""A run in a process of its own, for tests that send it signals: says 'moving', then its end."""

from __future__ import annotations

import numpy as np

import ur_admittance as ua
from ur_admittance.robots.sim import ScriptedPush, SimRobot


def main() -> int:
    push = ScriptedPush([(0.2, 3600.0, np.array([0.0, 20.0, 0, 0, 0, 0]))])
    with SimRobot("ur5e", ideal=True, realtime=False, hand=push) as robot:
        controller = ua.Controller(robot.model, ua.Config())
        said = False

        def each(state, out) -> None:
            nonlocal said
            if not said and np.linalg.norm(out["V_WP_cmd"]) > 0.05:
                said = True
                print("moving", flush=True)

        summary = ua.run(robot, controller, seconds=3600.0, each=each)
    print(summary.mode, controller.at_rest, summary.seconds < 3000, flush=True)
    return 1 if summary.faulted else 0


if __name__ == "__main__":
    raise SystemExit(main())
