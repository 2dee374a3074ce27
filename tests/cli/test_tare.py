"""`ur-admittance tare`: a sensor that drifted is put right; a contact is not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.support import invoke
from ur_admittance import Config, RobotError
from ur_admittance.calibration.tare import watched
from ur_admittance.robots import connect
from ur_admittance.robots.sim import SimRobot

KNOWN = {
    "payload.mass": 1.2,
    "payload.verdict": "good",
    "payload.left_force": 0.1,
    "payload.left_torque": 0.01,
}


def test_the_weight_stays_and_the_drift_goes(tmp_path: Path, runtime) -> None:
    config = Config.from_dict(KNOWN)
    bias = [0.5, -0.4, 0.3, 0.01, 0.0, 0.0]
    with connect("sim", config=config, bias=bias, realtime=False) as arm:
        found = watched(arm, config)
    assert found["payload.force_bias"] == pytest.approx(bias[:3], abs=0.1)


def test_a_contact_is_refused_with_its_size_against_the_calibrated_payload() -> None:
    config = Config.from_dict(KNOWN)
    with (
        connect("sim", config=config, realtime=False, bias=[0, 0, 4.0, 0, 0, 0]) as arm,
        pytest.raises(RobotError, match=r"a steady force of [34]\.?\d* N is not explained"),
    ):
        watched(arm, config)


def test_noise_and_motion_are_refused_with_their_numbers() -> None:
    with (
        SimRobot("ur5e", realtime=False, noise=(5.0, 0.3)) as arm,
        pytest.raises(RobotError, match="the force is not steady, its standard deviation is"),
    ):
        watched(arm, Config())

    class Moving(SimRobot):
        def wait(self):
            self.send_velocity([0.05, 0, 0, 0, 0, 0])
            return super().wait()

    with (
        Moving("ur5e", realtime=False) as arm,
        pytest.raises(RobotError, match="the arm moves, a joint by"),
    ):
        watched(arm, Config())


def test_the_command_writes_a_configuration_that_extends_the_old_one(tmp_path, runtime) -> None:
    (tmp_path / "a.yaml").write_text("extends: preset:hand-guiding\npayload: {mass: 1.2}\n")
    out = tmp_path / "tared.yaml"
    done = invoke("tare", "--robot", "sim", "--config", tmp_path / "a.yaml", "--out", out, "--json")
    assert done.exit_code == 0, done.output
    config = Config.load(out)
    assert config.payload.mass == 1.2
    said = json.loads(done.stdout)["payload.force_bias"]
    assert config.payload.force_bias == pytest.approx(said, abs=1e-3)
    again = invoke("tare", "--robot", "sim", "--config", tmp_path / "a.yaml", "--out", out)
    assert again.exit_code == 2 and "exists already" in again.stderr
