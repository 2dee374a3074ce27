"""What a hand feels of an ideal arm is the mass, damper and spring that were asked for.

The push goes the whole way: MuJoCo's tool, its wrist sensor with weight and bias, the controller,
the joints. The answer is held against the differential equation, solved by SciPy.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import lsim
from scipy.spatial.transform import Rotation

from tests.support import ANGULAR, AXES, LINEAR, free_config, random_pose
from ur_admittance import Controller, RobotModel
from ur_admittance.robots.sim import ScriptedPush, SimRobot, Tool
from ur_admittance.run import run

pytest.importorskip("mujoco")

PUSH, RELEASE, END = 0.1, 0.7, 1.3  # s
FORCE = np.array([10.0, 10.0, 10.0, 1.0, 1.0, 1.0])  # N, Nm
MASS = np.array([8.0, 6.0, 10.0, 0.8, 0.6, 1.0])
DAMPING = np.array([80.0, 70.0, 90.0, 4.0, 5.0, 6.0])
STIFFNESS = np.array([400.0, 900.0, 200.0, 10.0, 30.0, 5.0])
HOME = np.array([0.3, -1.4, 1.5, -1.8, -1.3, 0.4])  # rad, where no axis of P is one of W
BIAS = (1.0, -2.0, 3.0, 0.1, 0.2, -0.3)  # N, Nm
TOOL = Tool(mass=1.2, com=(0.01, -0.02, 0.06), inertia=(0.003, 0.002, 0.001))
PAYLOAD = {
    "payload.mass": TOOL.mass,
    "payload.center_of_mass": TOOL.com,
    "payload.inertia": (*(TOOL.inertia or ()), 0.0, 0.0, 0.0),
    "payload.compensate_inertia": True,
    "payload.force_bias": BIAS[:3],
    "payload.torque_bias": BIAS[3:],
}


def motion(frame: str, axis: int, stiffness: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) s and the tool's motion (n, 6) in the law's axes under a push along one axis."""
    rng = np.random.default_rng(axis)
    model = RobotModel.ur("ur5e", X_EP=random_pose(rng, 0.1), X_ES=random_pose(rng, 0.1))
    X_start = model.fk(HOME)
    R = np.eye(3) if frame == "base" else X_start[:3, :3]
    push = np.zeros(6)
    push[axis] = FORCE[axis]
    push = np.concatenate([R @ push[LINEAR], R @ push[ANGULAR]])
    config = free_config(
        **PAYLOAD
        | {
            "admittance.frame": frame,
            "admittance.mass": MASS,
            "admittance.damping": DAMPING,
            "admittance.stiffness": stiffness,
        }
    )
    hand = ScriptedPush([(PUSH - 1e-6, RELEASE - 1e-6, push)])
    times, poses = [], []
    with SimRobot(
        model, tool=TOOL, bias=BIAS, hand=hand, q0=HOME, ideal=True, realtime=False
    ) as robot:
        controller = Controller(model, config)

        def keep(state, out):
            if state.joint_time <= END:  # then the run ends, and the arm brakes
                times.append(state.joint_time)
                poses.append(robot.X_WP)

        run(robot, controller, seconds=END + 0.01, each=keep)
        assert controller.last_stop is None
    X = np.array(poses)
    turn = Rotation.from_matrix(X[:, :3, :3] @ X_start[:3, :3].T).as_rotvec()
    return np.array(times), np.hstack([(X - X_start)[:, :3, 3] @ R, turn @ R])


@pytest.mark.parametrize("spring", [False, True], ids=["free", "spring"])
@pytest.mark.parametrize("frame", ["probe", "base"])
@pytest.mark.parametrize("axis", range(6), ids=AXES)
def test_the_tool_moves_as_the_mass_damper_and_spring_that_were_asked_for(axis, frame, spring):
    K = STIFFNESS if spring else np.zeros(6)
    t, moved = motion(frame, axis, K)
    # Between two states the force is held, and so is the oracle's.
    system = ([1.0], [MASS[axis], DAMPING[axis], K[axis]])
    force = np.where((t > PUSH - 1e-3) & (t < RELEASE - 1e-3), FORCE[axis], 0.0)
    _, expected, _ = lsim(system, force, t - t[0], interp=False)
    way = np.abs(expected).max()
    off = np.abs(moved[:, axis] - expected).max() / way
    assert off < 0.01, f"{100 * off:.2f} % off"
    # and nothing else moves; a metre stands for a radian
    others = np.delete(moved, axis, axis=1)
    assert np.abs(others).max() < 0.01 * way
