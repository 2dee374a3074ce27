"""The oracle can fail: every promise, broken on purpose in a good trace, is found by its name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest

from tests.oracle import Limits, Watch, oracle
from tests.support import arm, controller_of, q_after, run
from ur_admittance import Config, Controller
from ur_admittance.kernel import bits

UP = np.array([0.0, 0, -30, 0, 0, 0])
K = 100  # the tick that is spoilt
X, RY = np.eye(6)[0], np.eye(6)[4]


@cache
def good() -> tuple[np.ndarray, Controller]:
    """A push, a stop, and a while at rest; positions are sent, jerk is limited, walls are near."""
    p_WP = arm().fk(arm().home)[:3, 3]
    config = Config.from_dict(
        {
            "output.mode": "position",
            "limits.max_linear_jerk": 50.0,
            "limits.max_angular_jerk": 200.0,
            "limits.workspace_max": (p_WP + 0.5).tolist(),
        }
    )
    controller = controller_of(config)
    history = run(controller, arm().home, UP / 2, 200)
    controller.stop()
    return np.concatenate([history, run(controller, q_after(history), UP, 200)]), controller


def spoil(name: str, change: Callable[[np.ndarray], Any]) -> Callable[[np.ndarray], None]:
    def spoilt(history: np.ndarray) -> None:
        history[name][K] = change(history[name][K])

    return spoilt


def step_of_the_reference(history: np.ndarray) -> None:
    history["q_ref"][K:] += 0.02


def jolt(history: np.ndarray) -> None:
    """Far less than a tick's acceleration, but at once, with joints to match."""
    add = np.array([0, 0, 1e-3, 0, 0, 0])
    history["V_WP_cmd"][K] += add
    history["qd"][K] += np.linalg.solve(arm().jacobian(history["q"][K]), add)


def stopped_and_moving(history: np.ndarray) -> None:
    history["qd"][-5] = 1e-4


def unknown_bit(history: np.ndarray) -> None:
    history["status"][K] |= 1 << 31


SPOILT: dict[str, Callable[[np.ndarray], None]] = {
    "F_P is not finite": spoil("F_P", lambda _: np.nan),
    "a status bit without a name": unknown_bit,
    "joint speed": spoil("qd", lambda qd: qd + 10),
    "joint acceleration": spoil("qd", lambda qd: qd + 0.1),
    "speed": spoil("V_WP_cmd", lambda V: V + 1.0 * X),
    "speed of the rotation": spoil("V_WP_cmd", lambda V: V + 5.0 * RY),
    "acceleration": spoil("V_WP_cmd", lambda V: V + 0.01 * X),
    "acceleration of the rotation": spoil("V_WP_cmd", lambda V: V + 0.1 * RY),
    "jerk": jolt,
    "V_WP_cmd is not J qd": spoil("V_WP_cmd", lambda V: V + 1e-6),
    "joint range": spoil("q", lambda q: q + 7),
    "wall": spoil("X_WP", lambda X: X + 1),
    "lead": spoil("q_ref", lambda q: q + 0.2),
    "step of q_ref": step_of_the_reference,
    "acceleration of q_ref": spoil("q_ref", lambda q: q + 1e-3),
    "an inactive controller moves the arm": spoil("mode", lambda _: bits.INACTIVE),
    "a stop bit is ignored": spoil("status", lambda s: s | bits.OVER_FORCE),
    "a hold bit is ignored": spoil("status", lambda s: s | bits.WRENCH_STALE),
    "a stopped arm moves": stopped_and_moving,
}


def test_a_good_trace_passes() -> None:
    history, controller = good()
    oracle(history, controller)
    assert history["mode"][-1] == bits.STOPPED and not history["qd"][-1].any()
    assert np.abs(history["qd"][K]).max() > 0.01 and Limits.of(controller).by_position


@pytest.mark.parametrize("name", SPOILT)
def test_a_broken_promise_is_found_by_its_name(name: str) -> None:
    history, controller = good()
    history = history.copy()
    SPOILT[name](history)
    with pytest.raises(AssertionError) as caught:
        oracle(history, controller)
    assert f"'{name}'" in str(caught.value)


def test_the_limits_of_the_configuration_are_those_in_force() -> None:
    _, controller = good()
    assert Limits.of(controller) == Limits.in_force(controller)


# --- the watch ---


def watched(spoilt: Callable[[Controller], None]) -> dict[str, str]:
    """What a watch of its own finds when something is done to the outputs after a tick."""
    controller = controller_of(Config())
    tick = controller._tick

    def spoil_one(*arguments: Any) -> int:
        code = tick(*arguments)
        if controller.outputs["tick"][0] == K:
            spoilt(controller)
        return code

    watch = Watch(controller, spoil_one)
    controller._tick = watch
    watch.MOST = 37  # it is judged piece by piece
    run(controller, arm().home, UP / 3, 300)
    watch.judge()
    return watch.found


def test_a_watch_finds_nothing_in_a_good_run() -> None:
    assert watched(lambda controller: None) == {}


@pytest.mark.unjudged(reason="outputs are spoilt on purpose")
def test_a_watch_finds_what_is_broken_wherever_its_pieces_end() -> None:
    def leap(controller: Controller) -> None:
        controller.outputs["qd"][0] += 0.1

    assert "joint acceleration" in watched(leap)


@pytest.mark.unjudged(reason="an event is taken away on purpose")
def test_a_watch_misses_an_event() -> None:
    def silence(controller: Controller) -> None:
        controller.outputs["status"] |= bits.WRENCH_SPIKE

    assert "a fault is not one event" in watched(silence)
