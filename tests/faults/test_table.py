"""Every fault of the table is provoked: it is named, has its reaction, and is one event."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.faults.support import HOME, NAN, ROUGH, UP, Loop, broken_solver, moving
from tests.support import (
    arm,
    moved,
)
from ur_admittance import faults
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits


def at_a_wall() -> Loop:
    top = float(arm().fk(HOME)[2, 3])
    loop = Loop({"limits.workspace_max": [5, 5, top + 0.02]})
    loop.run(400, UP)
    return loop


def outside_the_box() -> Loop:
    top = float(arm().fk(HOME)[2, 3])
    loop = Loop({"limits.workspace_max": [5, 5, top - 0.05]})
    loop.run(200, UP)
    return loop


def near_the_end_of_a_joint() -> Loop:
    q = HOME.copy()
    q[5] = arm().q_max[5] - 0.0873 - 0.1
    loop = Loop({}, q)
    loop.run(400, np.array([0, 0, 0, 0, 0, 5.0]))
    return loop


def beyond_the_end_of_a_joint() -> Loop:
    q = HOME.copy()
    q[5] = arm().q_max[5] - 0.05
    loop = Loop({}, q)
    loop.run(300, np.array([0, 0, 0, 0, 0, 5.0]))
    return loop


def push(config: dict[str, Any], wrench: Any, ticks: int = 300, **more: Any) -> Loop:
    loop = Loop(config)
    loop.run(3)
    loop.run(ticks, np.asarray(wrench, float), **more)
    return loop


def straight_wrist() -> Loop:
    q = HOME.copy()
    q[4] = -0.02
    loop = Loop({}, q)
    loop.run(300, np.array([10.0, 10, 0, 1, 1, 0]))
    return loop


def hurried() -> Loop:
    """A long tick, after which the motion takes other joint speeds, and no time to get them."""
    loop = Loop({})
    loop.run(100, UP)
    loop.run(1, dt=0.009)
    loop.run(1, dt=1e-6)
    loop.run(5)
    return loop


def blocked_arm() -> Loop:
    return push({}, UP, 400, speed=0.0)


def broken_sensor(ticks: int) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        loop.run(ticks, np.array([NAN, 0, 0, 0, 0, 0]))
        return loop

    return scene


def spiked() -> Loop:
    loop = moving()
    loop.run(1, np.array([0, 0, 5000.0, 0, 0, 0]))
    loop.run(20, UP)
    return loop


def broken_joints(ticks: int) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        q = loop.q
        loop.q = np.full(6, NAN)
        loop.run(ticks)
        loop.q = q
        return loop

    return scene


def odd_time(dt: float) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        loop.run(1, dt=dt)
        return loop

    return scene


def aged(**ages: float) -> Callable[[], Loop]:
    def scene() -> Loop:
        loop = moving()
        loop.run(60, **ages)
        return loop

    return scene


def silent_planner() -> Loop:
    loop = Loop({})
    loop.run(3)
    loop.controller.set_desired(arm().fk(HOME), [0, 0, 0.05, 0, 0, 0])
    loop.run(150)
    return loop


def leaping_planner() -> Loop:
    loop = Loop({})
    loop.run(3)
    loop.controller.set_desired(moved(arm().fk(HOME), [0, 0, 0.1]))
    loop.run(20)
    return loop


def frozen_sensor() -> Loop:
    loop = Loop({"safety.frozen_samples": 25})
    noise = np.random.default_rng(0).normal(scale=0.1, size=(50, 6))
    loop.run(50, UP / 2 + noise)
    loop.run(30, UP / 2)
    return loop


def drifting_sensor() -> Loop:
    loop = Loop({"payload.noise_force": 0.1, "payload.noise_torque": 0.01})
    loop.run(1500, np.linspace(1.4, 2.0, 1500)[:, None] * [0, 0, -1, 0, 0, 0])
    return loop


def slow_sensor() -> Loop:
    loop = moving()
    loop.controller.wrench_is_slow(True)
    loop.run(20)
    return loop


def on_steel(ticks: int, stiffness: float = 50e3, **config: Any) -> Loop:
    """Pushed down with 15 N, onto steel 10 mm below, by an arm that accelerates gently."""
    loop = Loop({"safety.max_force": 5000, "limits.max_linear_acceleration": 1.0, **config})
    top = float(arm().fk(HOME)[2, 3]) - 0.01

    def felt(_: int, q: np.ndarray) -> np.ndarray:
        depth = max(0.0, top - float(arm().fk(q)[2, 3]))
        return np.array([0, 0, 15.0 - stiffness * depth, 0, 0, 0])

    loop.run(ticks, felt)
    return loop


def pressing(ticks: int, felt: Callable[[int], float]) -> Loop:
    """Presses down with 10 N, 8 mm at most; what it feels is given by the tick, N."""
    loop = Loop(
        {
            "force.enabled_axes": [False, False, True, False, False, False],
            "force.target": [0, 0, 10, 0, 0, 0],
            "force.max_travel": [0.008] * 6,
        }
    )
    loop.run(ticks, lambda tick, _: np.array([0, 0, felt(tick), 0, 0, 0]))
    return loop


def silent_policy() -> Loop:
    loop = pressing(20, lambda _: 0.0)
    loop.controller.stream(target=[0, 0, 8.0, 0, 0, 0])
    loop.run(400, np.array([0, 0, -8.0, 0, 0, 0]))
    return loop


def asked_to_stop() -> Loop:
    loop = moving()
    loop.controller.stop()
    loop.run(150)
    return loop


PROVOKED: dict[str, Callable[[], Loop]] = {
    "speed_limit": lambda: push({"max_linear_velocity": 0.05}, UP),
    "acceleration_limit": lambda: push({"limits.max_linear_acceleration": 0.2}, UP),
    "jerk_limit": lambda: push({"limits.max_linear_jerk": 5.0}, UP),
    "workspace_limit": at_a_wall,
    "outside_workspace": outside_the_box,
    "joint_position_limit": near_the_end_of_a_joint,
    "joint_velocity_limit": lambda: push({"limits.joint_velocity": 0.2}, UP),
    "joint_acceleration_limit": lambda: push({"limits.joint_acceleration": 0.5}, UP),
    "singularity": straight_wrist,
    "beyond_acceleration": hurried,
    "lead_limit": blocked_arm,
    "stopping_distance": lambda: push(
        {"limits.joint_acceleration": 0.5, "limits.workspace_max": [10, 10, 0.55]}, UP
    ),
    "wrench_saturated": lambda: push({}, 10 * UP),
    "contact_damping": lambda: on_steel(300, **{"contact.adapt": True}),
    "contact_braking": lambda: on_steel(300, **{"contact.adapt": True}),
    "contact_oscillation": lambda: on_steel(700, **{"contact.monitor": True}),
    "wrench_not_finite": broken_sensor(2),
    "wrench_spike": spiked,
    "joints_implausible": broken_joints(1),
    "bad_dt": odd_time(-1.0),
    "desired_stale": silent_planner,
    "desired_step": leaping_planner,
    "joint_outside": beyond_the_end_of_a_joint,
    "force_travel": lambda: pressing(600, lambda _: 0.0),
    "force_lost": lambda: pressing(400, lambda tick: -10.0 if 50 < tick < 200 else 0.0),
    "stream_stale": silent_policy,
    "wrench_stale": aged(wrench_age=0.02),
    "wrench_frozen": frozen_sensor,
    "joints_stale": aged(joint_age=0.02),
    "time_gap": odd_time(0.03),
    "drifting": drifting_sensor,
    "wrench_slow": slow_sensor,
    "stop_requested": asked_to_stop,
    "wrench_lost": aged(wrench_age=0.2),
    "joints_lost": aged(joint_age=0.2),
    "over_force": lambda: push({}, 10 * UP),
    "over_torque": lambda: push({}, [0, 0, 0, 0, 50.0, 0]),
    "not_following": blocked_arm,
    "ik_failed": broken_solver,
    "contact_unstable": lambda: on_steel(700, 200e3, **{**ROUGH, "contact.monitor": True}),
    "sensor_saturated": lambda: push({"safety.sensor_range": [50, 50, 31, 5, 5, 5]}, UP),
}


def test_every_fault_of_the_table_is_provoked_here() -> None:
    without = [fault.name for fault in FAULTS if fault.name not in PROVOKED]
    assert without == []
    assert list(PROVOKED) == [fault.name for fault in FAULTS], "keep the order of the table"


@pytest.mark.parametrize("name", PROVOKED)
def test_a_fault_is_named_and_has_its_reaction(name: str) -> None:
    fault = faults.BY_NAME[name]
    loop = PROVOKED[name]()
    history = loop.judge()
    seen = (history["status"] & fault.mask) != 0
    assert seen.any(), "it was not said"
    first = int(np.argmax(seen))
    modes = set(history["mode"][first:].tolist())
    if fault.reaction == "hold":
        assert history["mode"][first] in (bits.HOLDING, bits.STOPPED)
    elif fault.reaction == "stop":
        assert modes == {bits.STOPPED}
        assert name in loop.controller.last_stop.reasons  # type: ignore[union-attr]
    elif not history["status"][first] & (bits.HOLDS | bits.STOPS):
        assert history["mode"][first] == bits.ACTIVE
    if fault.reaction in ("hold", "stop", "warn"):
        events = [event for event in loop.controller.events() if event.name == name]
        assert len(events) == 1
        assert events[0].time == pytest.approx(history["time"][first])
        if name not in WITHOUT_A_NUMBER:
            inside = abs(events[0].value) < abs(events[0].limit) * (1 - 1e-6)
            assert events[0].limit != 0 and not inside, "a value beyond its limit"


WITHOUT_A_NUMBER = (
    "stop_requested",
    "wrench_slow",
    "bad_dt",
    "wrench_not_finite",
    "force_travel",
    "force_lost",
)


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_fault_has_words_a_reaction_and_a_way_out(fault: faults.Fault) -> None:
    assert fault.reaction in ("limit", "warn", "hold", "stop")
    assert len(fault.words) > 10 and fault.recovery
    group = {"limit": bits.LIMITS, "hold": bits.HOLDS, "stop": bits.STOPS}.get(fault.reaction)
    warnings = 0xFFFF << 16
    assert fault.mask & (warnings if group is None else group)
    assert faults.words_of(fault.mask) == [f"{fault.name}: {fault.words}"]
