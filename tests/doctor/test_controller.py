"""`doctor` on a UR controller that is broken on purpose, in the test's own time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.robots.rtde.support import PumpedSocket, controller, rtde_robot
from ur_admittance import Config, RobotError
from ur_admittance.doctor import network, stream
from ur_admittance.doctor.finding import Finding
from ur_admittance.robots.rtde import pendant
from ur_admittance.robots.rtde.inspection import Expected
from ur_admittance.robots.rtde.round_trip import round_trips

pytest.importorskip("mujoco")
pytest.importorskip("lark")


def told(
    config: Config, fake: dict[str, Any] | None = None, must: Any = None, **pendant_has: Any
) -> dict[str, Finding]:
    """What the doctor says of a controller, by what it looked at."""
    expected = Expected(**(must or {}), tcp=config.tool.point)
    watching = {"watch": True, "config": config, "expected": expected}
    found: dict[str, Finding] = {}
    with controller(**(fake or {})) as made:
        for name, value in pendant_has.items():
            setattr(made.machine, name, value)

        with rtde_robot(made, **watching) as robot:
            findings = [*network.differences(robot.differences())]
            heard = stream.listen(robot, 0.3)
            findings += [*stream.rates(heard), network.jitter(heard)]
            findings += stream.wrench(heard, config, real=robot.real_sensor)
            if np.isfinite(heard.wrench).all():
                findings += stream.gravity(robot, config, heard)
    for finding in findings:
        found.setdefault(finding.what, finding)
    return found


def test_of_a_controller_as_it_should_be_nothing_is_wrong() -> None:
    found = told(Config())
    assert {f.state for f in found.values()} == {"ok"}, found
    assert {"state rate", "jitter", "noise", "frozen bits", "gravity"} <= set(found)


@pytest.mark.parametrize(
    ("config", "fake", "has", "what", "words"),
    [
        ({"payload.mass": 1.2}, {}, {}, "payload", "payload.mass is 1.2 kg"),
        ({}, {}, {"payload": 2.5}, "payload", "the robot has 2.5 kg"),
        ({"tool.point": [0, 0, 0.15, 0, 0, 0]}, {}, {}, "TCP", "expected is [0, 0, 0.15"),
        ({"payload.gravity": [0, 9.81, 0]}, {}, {}, "gravity", "expected is"),
        ({}, {"states": ["local"]}, {}, "control", "local control"),
        ({}, {}, {"target_speed_fraction": 0.0}, "speed slider", "moves not at all"),
        ({}, {"faults": ["sensor:freeze"]}, {}, "frozen bits", "equal readings"),
        ({}, {"faults": ["sensor:drift=2"]}, {}, "drift", "a minute"),
        ({"payload.force_bias": [0, 0, 8]}, {}, {}, "gravity", "N"),
    ],
)
def test_what_is_broken_on_purpose_is_wrong_and_says_what_mends_it(
    config, fake, has, what, words
) -> None:
    found = told(Config.from_dict(config), fake, **has)
    assert found[what].state == ("warn" if what == "drift" else "wrong"), found
    assert words in found[what].value and found[what].mend


@pytest.mark.parametrize(
    ("must", "what"),
    [
        ({"model": "ur10e"}, "model"),
        ({"serial": "1234"}, "serial number"),
        ({"calibration": "0f"}, "kinematic calibration"),
    ],
)
def test_another_arm_than_it_must_be_is_wrong(must: dict[str, str], what: str) -> None:
    found = told(Config(), must=must)[what]
    assert found.state == "wrong" and found.mend
    assert f"expected is {next(iter(must.values()))}" in found.value


def test_the_values_of_the_pendant_become_a_tool(tmp_path: Path) -> None:
    file = tmp_path / "pendant.yaml"
    with controller() as made:
        made.machine.payload = 1.25
        made.machine.payload_cog[:] = (0.01, 0.0, 0.06)
        made.machine.set_tcp((0.0, 0.0, 0.15, 0.0, 0.0, 0.5))

        with rtde_robot(made, watch=True) as robot:
            pendant.write(file, robot.found)
            assert "payload 1.25 kg" in pendant.words(robot.found)
            with pytest.raises(RobotError, match="cannot be written"):
                pendant.write(file, robot.found)
    (tmp_path / "a.yaml").write_text("tool: pendant.yaml\n")
    tool = Config.load(tmp_path / "a.yaml").tool
    assert tool.mass == 1.25 and tool.center_of_mass == (0.01, 0.0, 0.06)
    assert tool.point == pytest.approx((0, 0, 0.15, 0, 0, 0.5), abs=1e-4)


def test_round_trips_are_asked_of_the_controller() -> None:
    with controller() as made:
        port = made.ports["rtde"]
        took = round_trips("127.0.0.1", port, 3, lambda to, seconds: PumpedSocket(made, to))
    assert took.shape == (3,) and (took > 0).all()
