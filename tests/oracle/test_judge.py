"""The oracle can fail: every promise, broken on purpose in a good trace, is found by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

from tests.oracle.checks import CHECKS
from tests.oracle.judge import Judge, of_rollout
from tests.oracle.limits import Limits
from tests.oracle.piece import ROW
from tests.support import ZERO, arm, controller_of, q_after, run
from ur_admittance import Config, Controller, rollout
from ur_admittance.kernel import bits, layout

UP = np.array([0.0, 0, -30, 0, 0, 0])
K = 100  # the tick that is spoilt
X, RY = np.eye(6)[0], np.eye(6)[4]


class Trace(NamedTuple):
    """A run, as the oracle sees it."""

    rows: np.ndarray
    events: dict[int, np.ndarray]
    controller: Controller

    @property
    def said(self) -> np.ndarray:
        return self.rows["said"]

    def at(self, mode: int) -> int:
        """The first row in a mode."""
        return int(np.argmax(self.said["mode"] == mode))

    def copy(self) -> Trace:
        events = {k: ring.copy() for k, ring in self.events.items()}
        return Trace(self.rows.copy(), events, self.controller)

    def judge(self) -> dict[str, str]:
        judge = Judge(self.controller.params[0], Limits.of(self.controller))
        judge.take(self.rows, self.events)
        return judge.found


def recorded(controller: Controller, acts: Callable[[], np.ndarray]) -> Trace:
    """What a controller says in a run, with its events."""
    rows: list[np.ndarray] = []
    events: dict[int, np.ndarray] = {}
    tick, state = controller._tick, controller.state

    def noted(*arguments: Any) -> int:
        row = np.zeros(1, ROW)
        row["seeding"], before = state["seeding"], int(state["event_count"][0])
        code = tick(*arguments)
        row["said"], row["events"] = controller.outputs, state["event_count"]
        if row["events"][0] != before:
            events[len(rows)] = state["events"][0].copy()
        rows.append(row)
        return code

    controller._tick = noted
    acts()
    controller._tick = tick
    return Trace(np.concatenate(rows), events, controller)


@cache
def good() -> Trace:
    """A push, a hold that ends, a stop, and a while at rest; positions are sent, jerk is limited,
    walls are near.
    """
    p_WP = arm().fk(arm().home)[:3, 3]
    config = Config.from_dict(
        {
            "output.mode": "position",
            "limits.max_linear_jerk": 50.0,
            "limits.max_angular_jerk": 200.0,
            "limits.workspace_max": np.add(p_WP, [0.1, 0.1, 0.5]).tolist(),
        }
    )
    controller = controller_of(config)

    def acts() -> np.ndarray:
        history = run(controller, arm().home, UP / 2, 200)
        history = run(controller, q_after(history), UP, 20, wrench_age=0.02)  # a hold
        history = run(controller, q_after(history), UP, 300)
        controller.stop()
        return run(controller, q_after(history), UP, 300)

    return recorded(controller, acts)


def spoil(name: str, change: Callable[[np.ndarray], Any]) -> Callable[[Trace], None]:
    def spoilt(trace: Trace) -> None:
        trace.said[name][K] = change(trace.said[name][K])

    return spoilt


def step_of_the_reference(trace: Trace) -> None:
    trace.said["q_ref"][K:] += 0.02


def jolt(axis: np.ndarray) -> Callable[[Trace], None]:
    """Far less than a tick's acceleration, but at once, with joints to match."""

    def spoilt(trace: Trace) -> None:
        said = trace.said
        said["V_WP_cmd"][K] += axis
        said["qd"][K] += np.linalg.solve(arm().jacobian(said["q"][K]), axis)

    return spoilt


def run_away(trace: Trace) -> None:
    """An arm that does as it is told, and is told to leave: where its joints end, and its walls."""
    said = trace.said
    said["qd"][K:, 0] += 50.0
    q = said["q"][K] + np.cumsum(said["qd"][K:-1] * said["dt"][K:-1, None], axis=0)
    said["q"][K + 1 :] = q
    said["X_WP"][K + 1 :] = [arm().fk(angles) for angles in q]


def starts_beside_the_arm(trace: Trace) -> None:
    trace.said["q_ref"][0] += 1e-6


def stopped_and_moving(trace: Trace) -> None:
    trace.said["qd"][-5] = 1e-4


def unknown_bit(trace: Trace) -> None:
    trace.said["status"][K] |= 1 << 31


def goes_on(trace: Trace) -> None:
    trace.said["mode"][-1] = bits.ACTIVE


def holds_too_short(trace: Trace) -> None:
    """A fault, a tick before the hold ends."""
    end = int(np.flatnonzero(trace.said["mode"] == bits.HOLDING)[-1])
    trace.said["status"][end] |= bits.WRENCH_STALE


def never_rests(trace: Trace) -> None:
    """It creeps, instead of coming to rest."""
    trace.said["qd"][trace.at(bits.STOPPED) :, 0] = 1e-3


def speeds_up(trace: Trace) -> None:
    trace.said["V_WP_cmd"][trace.at(bits.STOPPED) + 1 :] *= 3.0


def an_event_too_few(trace: Trace) -> None:
    trace.rows["events"][trace.at(bits.STOPPED) :] -= 1


def an_event(name: str, value: float) -> Callable[[Trace], None]:
    """That of the hold, which is about a wrench that is too old."""

    def spoilt(trace: Trace) -> None:
        ring = trace.events[trace.at(bits.HOLDING)]
        ring[name][0] = value

    return spoilt


def pulls_by_itself(trace: Trace) -> None:
    """Where no limit is: faster by more than damping has taken, with nothing to show for it."""
    trace.said["offset_rate"][K:] *= 1.05


def speeds_up_in_a_limit(trace: Trace) -> None:
    trace.said["status"][K] |= bits.SPEED_LIMIT
    trace.said["offset_rate"][K:] *= 1.001


SPOILT: dict[str, Callable[[Trace], None]] = {
    "is not finite": spoil("F_P", lambda _: np.nan),
    "a status bit without a name": unknown_bit,
    "joint speed": spoil("qd", lambda qd: qd + 10),
    "joint acceleration": spoil("qd", lambda qd: qd + 0.1),
    "speed": spoil("V_WP_cmd", lambda V: V + 1.0 * X),
    "speed of the rotation": spoil("V_WP_cmd", lambda V: V + 5.0 * RY),
    "acceleration": spoil("V_WP_cmd", lambda V: V + 0.01 * X),
    "acceleration of the rotation": spoil("V_WP_cmd", lambda V: V + 0.1 * RY),
    "jerk": jolt(np.array([0, 0, 1e-3, 0, 0, 0])),
    "jerk of the rotation": jolt(np.array([0, 0, 0, 0, 2e-3, 0])),
    "V_WP_cmd is not J qd": spoil("V_WP_cmd", lambda V: V + 1e-6),
    "X_WP is not where the joints are": spoil("X_WP", lambda X_WP: X_WP + 1e-6),
    "joint range": run_away,
    "wall": run_away,
    "lead": spoil("q_ref", lambda q: q + 0.2),
    "step of q_ref": step_of_the_reference,
    "acceleration of q_ref": spoil("q_ref", lambda q: q + 1e-3),
    "a start that moves": starts_beside_the_arm,
    "an inactive controller moves the arm": spoil("mode", lambda _: bits.INACTIVE),
    "a stop bit is ignored": spoil("status", lambda s: s | bits.OVER_FORCE),
    "a hold bit is ignored": spoil("status", lambda s: s | bits.WRENCH_STALE),
    "a stopped arm moves": stopped_and_moving,
    "a stop ends without a reset": goes_on,
    "a hold ends too soon": holds_too_short,
    "the arm does not come to rest": never_rests,
    "the arm gets faster while it brakes": speeds_up,
    "a fault is not one event": an_event_too_few,
    "an event is not of its fault": an_event("value", 1e-3),
    "the law makes energy": pulls_by_itself,
    "limits make the law faster": speeds_up_in_a_limit,
    "the account of energy": spoil("energy", lambda energy: energy + 1e-6),
}


def test_a_good_trace_passes() -> None:
    trace = good()
    said = trace.said
    assert trace.judge() == {}
    assert said["mode"][-1] == bits.STOPPED and not said["qd"][-1].any()
    assert np.abs(said["qd"][K]).max() > 0.01 and Limits.of(trace.controller).by_position
    modes = {bits.ACTIVE, bits.HOLDING, bits.STOPPED}
    assert set(said["mode"].tolist()) == modes and len(trace.events) == 2


def test_every_check_is_spoilt_here() -> None:
    assert list(SPOILT) == list(CHECKS)


@pytest.mark.parametrize("name", SPOILT)
def test_a_broken_promise_is_found_by_its_name(name: str) -> None:
    trace = good().copy()
    SPOILT[name](trace)
    assert name in trace.judge()


@pytest.mark.parametrize(
    ("name", "value"), [("bit", 16), ("time", 0.1), ("limit", 0.02), ("value", np.nan)]
)
def test_an_event_that_says_something_else_is_found(name: str, value: float) -> None:
    trace = good().copy()
    an_event(name, value)(trace)
    assert {"an event is not of its fault", "a fault is not one event"} & set(trace.judge())


@pytest.mark.parametrize("pieces", [pytest.param(1, marks=pytest.mark.slow), 7, 37])
@pytest.mark.parametrize("name", SPOILT)
def test_it_is_found_wherever_the_pieces_end(name: str, pieces: int) -> None:
    trace = good().copy()
    SPOILT[name](trace)
    judge = Judge(trace.controller.params[0])
    for first in range(0, len(trace.rows), pieces):
        rows = trace.rows[first : first + pieces]
        some = {k - first: v for k, v in trace.events.items() if first <= k < first + len(rows)}
        judge.take(rows, some)
    assert name in judge.found
    assert judge.ticks == len(trace.rows)


def test_the_limits_of_the_configuration_are_those_in_force() -> None:
    controller = good().controller
    assert Limits.of(controller) == Limits.in_force(controller.params[0])
    plain = controller_of(Config())
    assert Limits.of(plain) == Limits.in_force(plain.params[0])


def test_an_arm_that_is_pushed_off_its_way_is_not_held_to_walls() -> None:
    """It did not do what it was told: what it hits is not the controller's doing."""
    trace = good().copy()
    said = trace.said
    q = said["q"][K:] + np.linspace(0.0, 6.0, len(said) - K)[:, None] * X
    said["q"][K:] = q
    said["X_WP"][K:] = [arm().fk(angles) for angles in q]
    assert not {"wall", "joint range"} & set(trace.judge())


def test_an_arm_that_lags_is_held_to_walls_as_one_that_does_not() -> None:
    trace = good().copy()
    run_away(trace)
    said, lag = trace.said, 20
    for name in ("q", "X_WP"):
        said[name][K + lag :] = said[name][K:-lag].copy()
    assert {"wall", "joint range"} <= set(trace.judge())


def test_a_live_change_is_judged_from_the_next_rest_on() -> None:
    """Until then the arm may be faster than the new limit."""
    config = Config.from_dict({"limits.max_linear_jerk": 50.0})
    controller = controller_of(config)
    before = recorded(controller, lambda: run(controller, arm().home, UP, 200))
    judge = Judge(controller.params[0].copy())
    judge.take(before.rows, before.events)
    controller.set(max_linear_velocity=0.05)
    q = q_after(before.said)
    after = recorded(controller, lambda: run(controller, q, UP, 50))
    judge.change(controller.params[0])
    judge.take(after.rows, after.events)
    assert np.linalg.norm(before.said["V_WP_cmd"][-1, :3]) > 0.1
    assert judge.found == {}
    q = q_after(after.said)
    rest = recorded(controller, lambda: run(controller, q, ZERO, 200, wrench_age=0.02))
    assert not rest.said["qd"][-1].any()
    judge.take(rest.rows, rest.events)
    after.said["tick"][:] += len(rest.said)  # the faster ones again, now that it has rested
    judge.take(after.rows, after.events)
    assert "speed" in judge.found


# --- rollouts ---


def test_every_run_of_a_rollout_is_judged() -> None:
    outputs = rollout(arm(), Config(), np.tile(UP, (2, 50, 1))).outputs
    assert of_rollout(arm(), Config(), outputs) == {}
    outputs["qd"][1, 30] += 0.1
    found = of_rollout(arm(), Config(), outputs)
    assert found["joint acceleration"].startswith("run 1, tick 31 ")


def test_a_fresh_record_of_outputs_is_found_to_be_nothing() -> None:
    judge = Judge(good().controller.params[0])
    rows = np.zeros(1, ROW)
    rows["said"] = layout.new_outputs()
    judge.take(rows, {})
    assert set(judge.found) == {"is not finite"}
