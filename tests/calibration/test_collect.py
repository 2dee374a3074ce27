"""Collecting readings: from a simulated arm that goes through poses, from recordings and tables."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest
from benchmarks.calibration import weighed
from benchmarks.calibration_cases import Bench, measure
from scipy.spatial.transform import Rotation

from tests.cli.support import invoke
from ur_admittance import CalibrationError, Config, RobotModel
from ur_admittance.calibration import payload_file
from ur_admittance.calibration.collect import gather, sensor_axes, stretches
from ur_admittance.calibration.payload import estimate
from ur_admittance.robots import connect

UR5E = RobotModel.ur("ur5e")
PROBE = {
    "tool.mass": 1.2,
    "tool.center_of_mass": [0.01, -0.005, 0.06],
    "tool.point": [0, 0, 0.15, 0, 0, 0],
    "payload.force_bias": [5, -3, 12],
}


@pytest.mark.slow
def test_a_simulated_arm_calibrates_itself_and_the_run_after_it_feels_nothing(
    tmp_path: Path, runtime
) -> None:
    """MuJoCo weighs the tool; the file that is written explains what its sensor reads elsewhere."""
    (tmp_path / "probe.yaml").write_text(Config.from_dict(PROBE).to_yaml())
    out, page = tmp_path / "payload.yaml", tmp_path / "page"
    ways = ("--poses", 6, "--tilt", 45, "--yes", "--json", "--report", page)
    done = invoke(
        "calibrate", "--robot", "sim", "--config", tmp_path / "probe.yaml", "--out", out, *ways
    )
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)
    assert found["mass"] == pytest.approx(1.2, rel=0.01)
    assert found["center_of_mass"] == pytest.approx([0.01, -0.005, 0.06], abs=0.002)
    assert found["verdict"] == "good" and (page / "index.html").exists()
    config = Config.load(out)
    assert config.payload.robot == "sim-ur5e" and config.payload.date == date.today().isoformat()
    turns = np.random.default_rng(0).uniform(-1, 1, (8, 6)) * [1, 0.5, 0.5, 3, 3, 3]
    for q in (UR5E.home, *(UR5E.home + turns)):
        with connect("sim", config=Config.from_dict(PROBE), q0=q, realtime=False) as arm:
            reading = gather(arm).samples.mean(axis=0)
        weight = sensor_axes(UR5E, np.array(q)).T @ config.payload.gravity * config.payload.mass
        left = reading[:3] - weight - config.payload.force_bias
        assert np.linalg.norm(left) < found["left_force"]


@pytest.mark.slow
def test_errors_of_tools_that_mujoco_weighs_are_within_their_own_standard_errors() -> None:
    """Two of the benchmark's tools, with the sensor's mounting off and found."""
    found = weighed(2)
    assert found.refused == {} and found.within == 1.0 and 0.5 < found.deviation < 1.5


def test_a_payload_can_be_rehearsed_as_it_is(tmp_path: Path, runtime) -> None:
    """Refused before: the simulated arm carried nothing."""
    (tmp_path / "a.yaml").write_text("extends: preset:hand-guiding\npayload: {mass: 1.2}\n")
    brief = ("--pace", "0", "--seconds", "0.1")
    done = invoke("run", "--robot", "sim", "--config", tmp_path / "a.yaml", *brief)
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "give --robot URL, or --from FILE"),
        (("--robot", "sim", "--from", "x.csv"), "give --robot URL, or --from FILE"),
        (("--from", "nowhere.csv"), "cannot be read"),
        (("--from", "nowhere.mcap"), "cannot be read"),
    ],
)
def test_what_cannot_be_done_is_said(arguments, words: str, tmp_path: Path) -> None:
    done = invoke("calibrate", *arguments, "--out", tmp_path / "p.yaml")
    assert done.exit_code in (1, 2) and words in done.stderr


def test_only_where_the_arm_stood_still_a_pose_is_taken() -> None:
    time = np.arange(0, 3, 0.01)
    angle = np.interp(time, [0, 1, 2, 3], [0, 0, 1, 1])
    R = Rotation.from_euler("x", angle[:, None]).as_matrix()
    found = stretches(time, R, np.zeros((len(time), 6)))
    assert [round(one.time, 1) for one in found] == [1.0, 3.0]
    with pytest.raises(CalibrationError, match="row 3 does not"):
        stretches(np.array([0.0, 1.0, 1.0]), R[:3], np.zeros((3, 6)))


def test_the_file_says_what_was_found_and_a_turned_sensor_goes_to_the_tool() -> None:
    bench = Bench(mounting=(0.02, -0.03, 0.01))
    rows = measure(bench, np.random.default_rng(1))
    found = estimate(rows, mounting=True)
    text = payload_file.text_of(
        found, robot="rtde://10.0.0.2", sensor="axia 80", day=date(2026, 11, 18), model=UR5E
    )
    config = Config.loads(text)
    assert config.payload.mass == pytest.approx(found.mass, abs=1e-5)
    assert (config.payload.robot, config.payload.sensor) == ("rtde-10.0.0.2", "axia-80")
    assert config.payload.left_force == pytest.approx(found.left_force, rel=1e-3)
    assert config.tool.sensor is not None
    R_ES = Rotation.from_rotvec(config.tool.sensor[3:]).as_matrix()
    for one in rows[:3]:  # where the sensor is said to be, the weight has the direction it reads
        weight = found.mass * (one.R_WS @ UR5E.X_ES[:3, :3].T @ R_ES).T @ [0, 0, -9.81]
        left = one.samples.mean(axis=0)[:3] - weight - found.force_bias
        assert np.linalg.norm(left) < found.left_force
