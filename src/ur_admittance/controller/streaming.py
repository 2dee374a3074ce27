"""What a policy may stream into a controller, 50 to 500 times a second: force, axes and gains."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.config.validate import as_numbers
from ur_admittance.errors import ConfigError, RobotError
from ur_admittance.kernel import bits, layout
from ur_admittance.kernel.compile import announced, entry_point
from ur_admittance.kernel.stream import (
    AXES,
    DAMPING,
    MASS,
    STIFFNESS,
    STREAMED,
    TARGET,
    write_stream,
)

WISHES = ("qd", "stop", "goal_count", "goal_p", "goal_wxyz", "goal_V")
WISHES += (
    "stream_count",
    "target_count",
    "streams",
    "target",
    "axes",
    "mass",
    "damping",
    "stiffness",
)
"""Of the inputs of a tick, what must be written again to repeat it."""
_FLOAT64 = np.dtype(np.float64)
_SIX, _THREE = np.zeros(6), np.zeros(3)


class Streaming:
    """The part of a controller that takes streams."""

    _params: np.ndarray
    _inputs: np.ndarray
    _state: np.ndarray
    _write_stream: Callable

    def stream(
        self,
        *,
        target: ArrayLike | None = None,
        orientation: ArrayLike | None = None,
        mass: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
    ) -> None:
        """Give force, axes or gains as a policy would, 50 to 500 times a second.

        In force at the next tick, without a ramp; a spring that grows while it is tense, or axes
        that turn under it, may give away `admittance.stream_energy` and what the damping took out,
        and else wait. What is not given stays as it was streamed last, or as configured; damping
        that is not given follows `admittance.damping_ratio`, unless `admittance.damping` is
        configured. Costs microseconds, is part of every recording, and lasts until `set` changes
        the law or the force, or until the next activation. A force that is streamed no longer eases
        to zero after `force.stream_timeout`.

        Args:
            target: what the tool does to the world along axes that press, N and Nm (6,).
            orientation: of the law's axes in `admittance.frame`: rotation vector, rad (3,).
            mass: kg and kg m^2 (6,).
            damping: N s/m and Nm s/rad (6,).
            stiffness: N/m and Nm/rad (6,).

        Raises:
            ConfigError: out of bounds; nothing has changed.
        """
        if self._state[0].mode == bits.INACTIVE:
            raise RobotError("stream: the controller is inactive; call activate(q) first")
        given, values = 0, []
        for bit, value, none in (
            (TARGET, target, _SIX),
            (AXES, orientation, _THREE),
            (MASS, mass, _SIX),
            (DAMPING, damping, _SIX),
            (STIFFNESS, stiffness, _SIX),
        ):
            if value is None:
                values.append(none)
                continue
            given |= bit
            if (
                type(value) is not np.ndarray
                or value.dtype is not _FLOAT64
                or value.shape != none.shape
            ):
                value = as_numbers(value, STREAMED[bit][0], none.shape)
            values.append(value)
        if wrong := self._write_stream(self._params, self._inputs, given, *values):
            name, allowed = STREAMED[wrong]
            raise ConfigError(f"stream: {name} must be {allowed}; nothing has changed")

    def take_stream(self, row: np.ndarray) -> str:
        """`stream` from one row of numbers (29,): target, axes, mass, damping, stiffness, which of
        them are given, and a count. Returns what is wrong with it, in words; "" if nothing is.
        """
        wrong = self._write_stream(
            self._params, self._inputs, int(row[27]), row[:6], row[6:9], row[9:15], row[15:21],
            row[21:27],
        )  # fmt: skip
        return f"stream: {' must be '.join(STREAMED[wrong])}" if wrong else ""

    def _end_streams(self, recomputed: Sequence[str]) -> None:
        """What `set` changed rules: streams of the law end."""
        if "law" in recomputed and self._inputs["streams"][0]:
            self._inputs["streams"] = 0
            self._inputs["stream_count"] += 1


def compiled_stream() -> Callable:
    """What writes a stream, compiled or loaded now and never again."""
    six, three = np.zeros((6, 2))[:, 0], np.zeros((3, 2))[:, 0]  # of any stride
    with announced("the streams", write_stream):
        write_stream(layout.new_params(), layout.new_inputs(), 0, six, three, six, six, six)
    return entry_point(write_stream)
