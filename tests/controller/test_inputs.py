"""What `update` and `activate` take for numbers, and what they refuse with nothing changed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ur_admittance as ua
from tests.controller.support import HOME, PUSH, moving_controller
from tests.support import (
    ZERO,
    controller_of,
)
from ur_admittance import Config, Controller
from ur_admittance.kernel import bits

NAN = math.nan


def variants(values: np.ndarray) -> dict[str, Any]:
    wide = np.zeros((6, 2))
    wide[:, 0] = values
    frozen = values.copy()
    frozen.flags.writeable = False
    unaligned = np.frombuffer(b"." + values.tobytes(), offset=1)
    return {
        "list": values.tolist(),
        "tuple": tuple(values.tolist()),
        "not contiguous": wide[:, 0],
        "reversed twice": values[::-1].copy()[::-1],
        "read-only": frozen,
        "unaligned": unaligned,
        "big-endian": values.astype(">f8"),
        "Fortran": np.asfortranarray(values),
        "NumPy scalars": list(values),
    }


@pytest.mark.parametrize("kind", variants(HOME))
def test_six_numbers_are_six_numbers_however_they_are_kept(kind: str) -> None:
    plain, other = controller_of(Config()), controller_of(Config())
    for _ in range(5):
        a = plain.update(HOME, PUSH, 0.002).copy()
        b = other.update(variants(HOME)[kind], variants(PUSH)[kind], 0.002).copy()
        assert a.tobytes() == b.tobytes()


def test_integers_and_single_precision_are_taken_for_what_they_are() -> None:
    controller = controller_of(Config())
    q = np.array([0, -1, 2, -1, -1, 0])
    controller.activate(q)
    out = controller.update(q, [0, 0, 0, 0, 0, 0], 0.002)
    np.testing.assert_array_equal(out["q"], q)
    rounded = HOME.astype(np.float32)
    controller.activate(rounded)
    out = controller.update(rounded, PUSH.astype(np.float32), float(np.float32(0.002)))
    np.testing.assert_array_equal(out["q"], rounded.astype(float))
    assert controller.mode == "active"


def test_a_whole_number_of_seconds_is_a_number() -> None:
    controller = controller_of(Config())
    out = controller.update(HOME, ZERO, 1, 0, 0)
    assert out["dt"] == 0.002 and out["status"] & bits.BAD_DT


def refused_and_nothing_has_changed(controller: Controller, call) -> None:
    state, inputs = controller._state.tobytes(), controller._inputs.tobytes()
    params, trace = controller._params.tobytes(), controller.trace().tobytes()
    with pytest.raises(ua.AdmittanceError):
        call()
    assert controller._state.tobytes() == state
    assert controller._params.tobytes() == params
    assert controller.trace().tobytes() == trace
    assert controller._inputs.tobytes() == inputs


NOT_SIX = {
    "nothing": None,
    "a number": 1.0,
    "five": np.zeros(5),
    "seven": np.zeros(7),
    "none": np.zeros(0),
    "a column": np.zeros((6, 1)),
    "a row": np.zeros((1, 6)),
    "six by six": np.zeros((6, 6)),
    "text": "abcdef",
    "texts": ["a"] * 6,
    "ragged": [[0], [0, 0], 0, 0, 0, 0],
    "a mapping": dict.fromkeys(range(6), 0.0),
    "an object": object(),
}

NOT_NUMBERS = {
    "numbers in text": ["0.1"] * 6,
    "complex numbers": np.full(6, 1j),
    "truth values": [True] * 6,
    "times": np.zeros(6, "m8[s]"),
}


@pytest.mark.parametrize("bad", [*NOT_SIX, *NOT_NUMBERS])
@pytest.mark.parametrize("which", ["q", "wrench"])
@pytest.mark.filterwarnings("ignore:Casting complex")
def test_what_is_not_six_numbers_is_refused_and_nothing_has_changed(which, bad) -> None:
    controller, q = moving_controller()
    value = {**NOT_SIX, **NOT_NUMBERS}[bad]
    arguments = (value, PUSH) if which == "q" else (q, value)
    refused_and_nothing_has_changed(controller, lambda: controller.update(*arguments, 0.002))


@pytest.mark.parametrize("bad", [None, "soon", "0.002", [0.002], np.zeros(3), 1j, object(), {}])
@pytest.mark.parametrize("which", ["dt", "wrench_age", "joint_age"])
def test_a_time_that_is_no_number_is_refused_and_nothing_has_changed(which, bad) -> None:
    controller, q = moving_controller()
    times: dict[str, Any] = {"dt": 0.002, "wrench_age": 0.0, "joint_age": 0.0, which: bad}
    refused_and_nothing_has_changed(controller, lambda: controller.update(q, PUSH, **times))


@pytest.mark.parametrize("bad", [*NOT_SIX, *NOT_NUMBERS, "NaN"])
def test_activation_wants_six_finite_numbers(bad: str) -> None:
    controller, _ = moving_controller()
    value = {**NOT_SIX, **NOT_NUMBERS, "NaN": [0, 0, NAN, 0, 0, 0]}[bad]
    refused_and_nothing_has_changed(controller, lambda: controller.activate(value))
