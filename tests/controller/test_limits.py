"""The limits, through the public surface: whatever is pushed, set, stopped or aimed at."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ur_admittance as ua
from ur_admittance.kernel import bits

FORCED = (
    bits.JOINT_POSITION_LIMIT
    | bits.JOINT_VELOCITY_LIMIT
    | bits.JOINT_ACCELERATION_LIMIT
    | bits.SINGULARITY
)
MODELS = {name: ua.RobotModel.ur(name) for name in ua.RobotModel.arms()}

wrenches = st.lists(
    st.one_of(st.floats(-300, 300), st.floats(allow_nan=True, allow_infinity=True)),
    min_size=6,
    max_size=6,
)
speeds = st.floats(0.02, 1.0)
actions = st.one_of(
    st.tuples(st.just("push"), wrenches, st.integers(1, 40), st.floats(2e-4, 0.1)),
    st.tuples(st.just("set"), st.sampled_from(["max_linear_velocity"]), speeds),
    st.tuples(st.just("set"), st.just("limits.max_linear_acceleration"), st.floats(0.1, 20)),
    st.tuples(st.just("set"), st.just("admittance.mass"), st.lists(speeds, min_size=6, max_size=6)),
    st.tuples(
        st.just("set"),
        st.just("admittance.stiffness"),
        st.lists(st.floats(0, 2000, allow_subnormal=False), min_size=6, max_size=6),
    ),
    st.tuples(st.just("aim"), st.lists(st.floats(-0.5, 0.5), min_size=3, max_size=3)),
    st.tuples(st.just("stop")),
    st.tuples(st.just("reset")),
)


class Watched:
    """A controller, an arm that follows it, and a check of every tick."""

    def __init__(self, model: ua.RobotModel, config: ua.Config, q: np.ndarray) -> None:
        self.model, self.controller, self.q = model, ua.Controller(model, config), np.array(q)
        self.qd, self.V = np.zeros(6), np.zeros(6)
        self.low = np.array(config.limits.workspace_min)
        self.high = np.array(config.limits.workspace_max)
        margin = config.limits.joint_margin
        self.q_min, self.q_max = model.q_min + margin, model.q_max - margin
        self.changed = False
        self.controller.activate(self.q)

    def tick(self, wrench, dt: float) -> np.record:
        self.q = self.q + self.qd * dt
        p_WP = self.model.fk(self.q)[:3, 3]
        assert np.all(p_WP <= self.high + 1e-4)
        assert np.all(p_WP >= self.low - 1e-4)
        assert np.all(self.q <= self.q_max + 1e-8)
        assert np.all(self.q >= self.q_min - 1e-8)
        out = self.controller.update(self.q, np.array(wrench, float), dt)
        for name in ("qd", "q_ref", "V_WP_cmd", "X_WC", "F_P", "offset"):
            assert np.all(np.isfinite(out[name])), name
        config = self.controller.config
        V = self.model.jacobian(self.q) @ out["qd"]
        forced = int(out["status"]) & FORCED
        assert np.all(np.abs(out["qd"]) <= self.model.qd_max * (1 + 1e-9))
        assert np.all(np.abs(out["qd"] - self.qd) <= self.model.qdd_max * dt * (1 + 1e-9) + 1e-12)
        cap = max(config.max_linear_velocity, np.linalg.norm(self.V[:3]))
        if not (self.changed and forced):
            assert np.linalg.norm(V[:3]) <= cap * (1 + 2e-6)
            assert np.linalg.norm(V[3:]) <= config.max_angular_velocity * (1 + 2e-6)
        if not forced:
            limits = config.limits
            dv, dw = np.linalg.norm((V - self.V)[:3]), np.linalg.norm((V - self.V)[3:])
            assert dv <= limits.max_linear_acceleration * dt * (1 + 1e-5) + 1e-12
            assert dw <= limits.max_angular_acceleration * dt * (1 + 1e-5) + 1e-12
        self.qd, self.V = np.array(out["qd"]), V
        return out


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    arm=st.sampled_from(sorted(MODELS)),
    turn=st.lists(st.floats(-0.8, 0.8), min_size=6, max_size=6),
    room=st.lists(st.floats(0.002, 0.3), min_size=6, max_size=6),
    frame=st.sampled_from(["probe", "base"]),
    gain=st.sampled_from([0.0, 5.0, 50.0]),
    todo=st.lists(actions, min_size=1, max_size=12),
)
def test_whatever_happens_every_limit_holds_at_every_tick(arm, turn, room, frame, gain, todo):
    model = MODELS[arm]
    q = model.home + np.array(turn)
    p_WP = model.fk(q)[:3, 3]
    config = ua.Config.from_dict(
        {
            "admittance.frame": frame,
            "tracking.velocity_gain": gain,
            "limits.workspace_min": (p_WP - room[:3]).tolist(),
            "limits.workspace_max": (p_WP + room[3:]).tolist(),
        }
    )
    loop = Watched(model, config, q)
    for action, *values in todo:
        if action == "push":
            wrench, ticks, dt = values
            for _ in range(ticks):
                loop.tick(wrench, dt)
        elif action == "set":
            loop.controller.set(**{values[0]: values[1]})
            loop.changed = True
        elif action == "aim":
            X = model.fk(loop.q)
            X[:3, 3] += values[0]
            loop.controller.set_desired(X)
        elif action == "stop":
            loop.controller.stop("a test")
        elif loop.controller.mode == "stopped" and loop.controller.at_rest:
            loop.controller.reset()
    loop.controller.stop("the end")
    for _ in range(3000):
        loop.tick(np.zeros(6), 0.002)
        if loop.controller.at_rest:
            break
    assert loop.controller.at_rest


def test_a_limit_lowered_below_the_present_speed_is_reached_by_braking_inside_the_acceleration():
    model = MODELS["ur5e"]
    config = ua.Config.from_dict({"limits.max_linear_acceleration": 1.0})
    loop = Watched(model, config, model.home)
    push = np.array([0.0, 60.0, 0, 0, 0, 0])
    for _ in range(400):
        out = loop.tick(push, 0.002)
    fast = np.linalg.norm(out["V_WP_cmd"][:3])
    assert fast > 0.3
    loop.controller.set(max_linear_velocity=0.05)
    speeds = [np.linalg.norm(loop.tick(push, 0.002)["V_WP_cmd"][:3]) for _ in range(300)]
    assert np.all(np.diff([fast, *speeds]) <= 1e-9)
    assert np.all(np.diff([fast, *speeds]) >= -1.0 * 0.002 * (1 + 1e-6))
    assert speeds[-1] == pytest.approx(0.05, rel=1e-6)


def test_ten_seconds_against_a_wall_and_then_released_there_is_no_lunge():
    model = MODELS["ur5e"]
    X = model.fk(model.home)
    wall = float(X[2, 3] + 0.1)
    config = ua.Config.from_dict({"limits.workspace_max": [10, 10, wall]})
    loop = Watched(model, config, model.home)

    def push(force):
        f = X[:3, :3].T @ [0, 0, force]
        return loop.tick([*f, 0, 0, 0], 0.002)

    heights = [push(50.0)["X_WP"][2, 3] for _ in range(5000)]
    assert max(heights) <= wall + 1e-4
    assert heights[-1] == pytest.approx(wall, abs=2e-4)
    speeds = [np.linalg.norm(push(0.0)["V_WP_cmd"][:3]) for _ in range(1000)]
    assert max(speeds) < 2e-3
    assert abs(loop.model.fk(loop.q)[2, 3] - wall) < 1e-3


def test_a_wall_put_in_front_of_the_moving_tool_makes_it_brake_harder_and_is_not_crossed():
    model = MODELS["ur5e"]
    config = ua.Config.from_dict({"max_linear_velocity": 0.4})
    loop = Watched(model, config, model.home)
    push = np.array([0.0, 60.0, 0, 0, 0, 0])
    for _ in range(300):
        out = loop.tick(push, 0.002)
    v, p = np.array(out["V_WP_cmd"][:3]), np.array(out["X_WP"][:3, 3])
    axis = int(np.argmax(np.abs(v)))
    speed = abs(v[axis])
    gap = 1.1 * speed**2 / (2 * 2.5)  # nearer than the tool would plan to stop in
    low, high = np.full(3, -10.0), np.full(3, 10.0)
    (high if v[axis] > 0 else low)[axis] = p[axis] + math.copysign(gap, v[axis])
    loop.controller.set(
        **{"limits.workspace_min": low.tolist(), "limits.workspace_max": high.tolist()}
    )
    loop.low, loop.high = low, high
    for _ in range(500):
        out = loop.controller.update(loop.q + loop.qd * 0.002, push, 0.002)
        loop.q = loop.q + loop.qd * 0.002
        loop.qd = np.array(out["qd"])
        p_WP = model.fk(loop.q)[:3, 3]
        assert np.all(p_WP <= high + 1e-4)
        assert np.all(p_WP >= low - 1e-4)


@pytest.mark.parametrize(
    ("name", "q", "push"),
    [
        ("stretched out", [0, 0, 0, 0, 0, 0], (-20, 0, 0)),
        ("stretched out, sideways", [0, 0, 0, 0, 0, 0], (0, 20, 0)),
        ("straight elbow", [0, -1.2, 0, -1.5, -1.5, 0], (0, 0, -20)),
        ("straight wrist", [0, -1.5, 1.5, -1.5, 0, 0], (0, 20, 0)),
        ("straight wrist, upwards", [0, -1.5, 1.5, -1.5, 0, 0], (0, 0, 20)),
    ],
)
def test_an_arm_in_a_singularity_can_be_pushed_out_of_it(name, q, push):
    model = MODELS["ur5e"]
    loop = Watched(model, ua.Config(), np.array(q, float))
    start = model.fk(loop.q)[:3, 3]
    for _ in range(1500):
        f = model.fk(loop.q)[:3, :3].T @ push
        out = loop.tick([*f, 0, 0, 0], 0.002)
    assert loop.controller.mode == "active"
    along = (out["X_WP"][:3, 3] - start) @ push / np.linalg.norm(push)
    assert along > 0.1, name


@pytest.mark.parametrize("jerk", [0.0, 50.0])
def test_an_arm_told_to_stop_comes_to_rest_exactly_and_can_go_on(jerk):
    model = MODELS["ur5e"]
    config = ua.Config.from_dict({"limits.max_linear_jerk": jerk, "limits.max_angular_jerk": jerk})
    loop = Watched(model, config, model.home)
    for _ in range(300):
        loop.tick([5, 20, 5, 1, 2, 1], 0.002)
    loop.controller.stop("a test")
    ticks = 0
    while not loop.controller.at_rest and ticks < 300:
        loop.tick([5, 20, 5, 1, 2, 1], 0.002)
        ticks += 1
    assert loop.controller.at_rest
    assert not loop.qd.any()
    loop.controller.reset()
    assert not loop.tick(np.zeros(6), 0.002)["qd"].any()
    for _ in range(100):
        out = loop.tick([0, 20, 0, 0, 0, 0], 0.002)
    assert np.linalg.norm(out["V_WP_cmd"][:3]) > 0.05


@pytest.mark.parametrize("jerk", [0.0, 50.0])
def test_a_tool_held_by_a_wall_leaves_it_when_pulled(jerk):
    model = MODELS["ur5e"]
    X = model.fk(model.home)
    wall = float(X[2, 3] + 0.05)
    config = ua.Config.from_dict(
        {"limits.workspace_max": [10, 10, wall], "limits.max_linear_jerk": jerk}
    )
    loop = Watched(model, config, model.home)
    R_PW = X[:3, :3].T
    for _ in range(2500):
        out = loop.tick([*(R_PW @ [0, 0, 40.0]), 0, 0, 0], 0.002)
    assert np.linalg.norm((out["X_WC"] - out["X_WP"])[:3, 3]) < 0.005
    for _ in range(500):
        out = loop.tick([*(R_PW @ [0, 0, -10.0]), 0, 0, 0], 0.002)
    assert wall - out["X_WP"][2, 3] > 0.05


def test_a_push_with_limited_jerk_uses_the_acceleration_it_has_and_never_backs_up():
    model = MODELS["ur5e"]
    config = ua.Config.from_dict({"limits.max_linear_jerk": 50.0, "max_linear_velocity": 0.3})
    loop = Watched(model, config, model.home)
    V = [np.array(loop.tick([0, 40, 0, 0, 0, 0], 0.002)["V_WP_cmd"][:3]) for _ in range(250)]
    assert np.max(np.linalg.norm(np.diff(V, axis=0), axis=1)) / 0.002 > 2.0
    assert np.linalg.norm(V[-1]) > 0.29
    along = V[-1] / np.linalg.norm(V[-1])
    V = [np.array(loop.tick(np.zeros(6), 0.002)["V_WP_cmd"][:3]) for _ in range(1000)]
    assert np.min(V @ along) > -2e-3


@pytest.mark.parametrize("end", ["stop", "deactivate", "let go"])
def test_an_arm_in_a_corner_of_the_workspace_comes_to_rest(end):
    rng = np.random.default_rng(8)
    for _ in range(25):
        model = ua.RobotModel.ur(rng.choice(ua.RobotModel.arms()))
        q, dt = model.home + rng.normal(0, 0.5, 6), 0.002
        middle, room = model.fk(q)[:3, 3], np.where(rng.random(6) < 0.6, 0.002, 0.2)
        config = ua.Config.from_dict(
            {
                "limits.workspace_min": (middle - room[:3]).tolist(),
                "limits.workspace_max": (middle + room[3:]).tolist(),
                "limits.joint_acceleration": float(rng.choice([1.0, 4.0])),
                "admittance.stiffness": [0] * 6,
            }
        )
        controller = ua.Controller(model, config)
        controller.activate(q)
        push = rng.normal(0, 20, 6) * [1, 1, 1, 0.1, 0.1, 0.1]
        for k in range(2150):
            if k == 150:
                push = np.zeros(6)
                if end == "stop":
                    controller.stop()
                elif end == "deactivate":
                    controller.deactivate()
            out = controller.update(q, push, dt)
            q = q + out["qd"] * dt
        assert np.abs(out["qd"]).max() <= (1e-3 if end == "let go" else 0.0)
