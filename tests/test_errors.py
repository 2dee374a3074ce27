"""Bad input, wherever it is given, is an error of ours with a sentence."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ur_admittance as ua
from tests.support import (
    arm,
)
from ur_admittance import Config, Controller, RobotModel

NAN = math.nan

MODEL, CONFIG, WRENCHES = arm(), Config(), np.zeros((3, 6))


def rolled(**changes: Any) -> Any:
    arguments: dict[str, Any] = {"model": MODEL, "configs": CONFIG, "wrenches": WRENCHES, **changes}
    return ua.rollout(
        arguments.pop("model"), arguments.pop("configs"), arguments.pop("wrenches"), **arguments
    )


BAD_CALLS = {
    "Controller(text)": lambda: Controller("ur5e"),  # type: ignore[arg-type]
    "Controller(None)": lambda: Controller(None),  # type: ignore[arg-type]
    "Controller(class)": lambda: Controller(RobotModel),  # type: ignore[arg-type]
    "Controller(model, text)": lambda: Controller(MODEL, "hand-guiding"),  # type: ignore[arg-type]
    "Controller(model, dict)": lambda: Controller(MODEL, {}),  # type: ignore[arg-type]
    "Controller: too fast a joint": lambda: Controller(
        MODEL, Config.from_dict({"limits.joint_velocity": 9.0})
    ),
    "Config: unknown": lambda: Config(speed=1),
    "Config.preset": lambda: Config.preset("hand-guding"),
    "Config.preset(5)": lambda: Config.preset(5),  # type: ignore[arg-type]
    "Config.load": lambda: Config.load("no-such-file.yaml"),
    "Config.load(5)": lambda: Config.load(5),  # type: ignore[arg-type]
    "Config.loads": lambda: Config.loads("{"),
    "Config.from_dict(5)": lambda: Config.from_dict(5),  # type: ignore[arg-type]
    "Config.get": lambda: CONFIG.get("speed"),
    "Config.replace(5)": lambda: CONFIG.replace(5),  # type: ignore[arg-type]
    "Config.to_yaml": lambda: CONFIG.to_yaml("ros1"),
    "RobotModel.ur": lambda: RobotModel.ur("ur5f"),
    "RobotModel.ur(5)": lambda: RobotModel.ur(5),  # type: ignore[arg-type]
    "RobotModel.from_urdf": lambda: RobotModel.from_urdf("<robot/>"),
    "RobotModel.from_urdf(5)": lambda: RobotModel.from_urdf(5),  # type: ignore[arg-type]
    "RobotModel.fk": lambda: MODEL.fk([1, 2, 3]),
    "RobotModel.fk(None)": lambda: MODEL.fk(None),  # type: ignore[arg-type]
    "RobotModel.jacobian": lambda: MODEL.jacobian([NAN] * 6),
    "RobotModel.with_tool": lambda: MODEL.with_tool(np.eye(3)),
    "RobotModel.with_calibration": lambda: MODEL.with_calibration("nothing"),
    "rollout: model": lambda: rolled(model="ur5e"),
    "rollout: configs": lambda: rolled(configs="hand-guiding"),
    "rollout: configs number": lambda: rolled(configs=5),
    "rollout: no configs": lambda: rolled(configs=[]),
    "rollout: wrenches": lambda: rolled(wrenches=np.zeros((3, 5))),
    "rollout: wrenches text": lambda: rolled(wrenches="push"),
    "rollout: no ticks": lambda: rolled(wrenches=np.zeros((0, 6))),
    "rollout: q0": lambda: rolled(q0=[1, 2, 3]),
    "rollout: q0 NaN": lambda: rolled(q0=[NAN] * 6),
    "rollout: runs": lambda: rolled(q0=np.zeros((2, 6)), wrenches=np.zeros((3, 3, 6))),
    "rollout: dt": lambda: rolled(dt=0.0),
    "rollout: dt NaN": lambda: rolled(dt=NAN),
    "rollout: dt text": lambda: rolled(dt="fast"),
    "rollout: dts": lambda: rolled(dt=[0.002, 0.002]),
    "rollout: arm": lambda: rolled(arm="lagged"),
    "rollout: arm text": lambda: rolled(arm=ua.LaggedArm("slow", 1)),  # type: ignore[arg-type]
    "rollout: arm delay": lambda: rolled(arm=ua.LaggedArm(0.01, 64)),
    "rollout: arm before its time": lambda: rolled(arm=ua.LaggedArm(0.01, -0.5)),
    "rollout: arm without a lag that bends": lambda: rolled(arm=ua.LaggedArm(0.0, 1, 15.0)),
    "rollout: noise": lambda: rolled(noise=0.1),
    "rollout: noise below zero": lambda: rolled(noise=ua.Noise(-0.1)),
    "rollout: friction": lambda: rolled(surface=ua.Surface((0, 0, 0), friction=-0.1)),
    "rollout: arm NaN": lambda: rolled(arm=ua.LaggedArm(NAN, 1)),
    "rollout: surface": lambda: rolled(surface="floor"),
    "rollout: surface point": lambda: rolled(surface=ua.Surface((0, 0))),  # type: ignore[arg-type]
    "rollout: surface normal": lambda: rolled(surface=ua.Surface((0, 0, 0), (0, 0, 0))),
    "rollout: surface stiffness": lambda: rolled(surface=ua.Surface((0, 0, 0), stiffness=NAN)),
    "rollout: surface text": lambda: rolled(surface=ua.Surface((0, 0, 0), stiffness="hard")),  # type: ignore[arg-type]
    "rollout: axes": lambda: rolled(wrench_axes="tool"),
    "rollout: every": lambda: rolled(every=0),
    "rollout: threads": lambda: rolled(threads="all"),
}


@pytest.mark.parametrize("call", BAD_CALLS)
def test_bad_input_is_an_error_of_ours_with_a_sentence(call: str) -> None:
    with pytest.raises(ua.AdmittanceError) as caught:
        BAD_CALLS[call]()
    assert len(str(caught.value)) > 10
