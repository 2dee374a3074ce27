"""A control process that records, for tests that send it signals: says who writes, then the end."""

from __future__ import annotations

import sys

import ur_admittance as ua
from tests.telemetry.runs import pushed
from ur_admittance.blackboard import Blackboard
from ur_admittance.telemetry.recorder import Recorder


def main(path: str) -> int:
    with pushed() as robot:
        config = ua.Config.preset("hand-guiding")
        controller = ua.Controller(robot.model, config)
        with (
            Blackboard.create("sim", robot.rate, controller.live) as board,
            Recorder("sim", path, robot.model) as recorder,
        ):
            assert recorder._process is not None
            writer = recorder._process.pid

            def each(state, out) -> None:
                if board.published == 1200:
                    print(writer, flush=True)

            summary = ua.run(robot, controller, seconds=3600.0, board=board, each=each)
            recorded = recorder.close({"ticks": summary.ticks, "mode": summary.mode})
    print(recorded.written, recorded.lost, recorded.problem, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
