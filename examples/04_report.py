"""Push a simulated UR5e, record it, and see how its motion differs from the law, and why.

Once with an ideal arm, once with one that is late, lags and has limits, as a real one. The picture
is the last of a report's plots: the law's speed and the tool's, and their difference by cause.
"""

import argparse
import tempfile
from pathlib import Path

import ur_admittance as ua
from ur_admittance.blackboard import Blackboard
from ur_admittance.report.plots import rendered_and_ideal
from ur_admittance.report.rendering import rendering
from ur_admittance.report.write import summarise
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.telemetry.recorder import Recorder
from ur_admittance.telemetry.recording import Recording, read

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--out", default="report.png", help="where the picture goes")
out_file = parser.parse_args().out

PUSHES = [(0.5, 1.5, [0, 16, 0, 0, 0, 0]), (2.0, 3.0, [0, -16, 9, 0, 0, 0])]  # s, s, N and Nm
NAME = "report-example"


def record(config: ua.Config, file: Path, *, ideal: bool) -> Recording:
    """Four seconds of a hand's pushes, as a file and back."""
    with SimRobot("ur5e", hand=ScriptedPush(PUSHES), ideal=ideal, realtime=False) as robot:
        controller = ua.Controller(robot.model, config)
        with (
            Blackboard.create(NAME, robot.rate, controller.live) as board,
            Recorder(NAME, file, robot.model),
        ):
            ua.run(robot, controller, seconds=4.0, board=board)
    return read(file)


config = ua.Config.preset("hand-guiding")
wide = config.replace({"limits.max_linear_jerk": 0, "limits.max_linear_acceleration": 50})
with tempfile.TemporaryDirectory() as folder:
    ideal = record(wide, Path(folder) / "ideal.mcap", ideal=True)
    late = record(config, Path(folder) / "late.mcap", ideal=False)
print(f"ideal arm, wide limits: {summarise(ideal)['cause']}")
print(f"arm as it is: {summarise(late)['cause']}")
rendered_and_ideal(late, rendering(late)).savefig(out_file, dpi=110)
print(f"saved {out_file}")
