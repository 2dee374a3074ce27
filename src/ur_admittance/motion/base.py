"""A motion: asked once a tick where the desired pose D goes next. It commands nothing itself."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, Protocol

import numpy as np

from ur_admittance.controller import Controller
from ur_admittance.errors import ConfigError


class Goal(NamedTuple):
    """Where D is to be, (4, 4) in W, and its twist, m/s and rad/s (6,) in W axes."""

    X_WD: np.ndarray
    V_WD: np.ndarray


class Motion(Protocol):
    """What leads D. Its time passes only while the arm gives way: in a hold it waits where it is.

    Attributes:
        outcome: "" while it goes on; "reached"; or why not, in words.
    """

    @property
    def outcome(self) -> str: ...

    def step(self, out: np.void) -> Goal | None:
        """Where D goes next, after a tick with these outputs; None: leave it where it is."""
        ...

    def brake(self, why: str) -> None:
        """Slow down along the way to rest there; then the outcome is `why`."""
        ...


class Leading:
    """Hands the goals of a motion to a controller: call it after every tick."""

    def __init__(self, controller: Controller, motion: Motion) -> None:
        self.controller, self.motion = controller, motion

    def __call__(self) -> None:
        if (goal := self.motion.step(self.controller.outputs[0])) is not None:
            self.controller.set_desired(*goal)


def must_follow(velocity_gain: Iterable[float]) -> None:
    """See that an arm with these gains, 1/s, keeps to where D goes; else raise a ConfigError."""
    if not all(gain > 0.0 for gain in velocity_gain):
        raise ConfigError(
            "tracking.velocity_gain: is 0, with which the arm would not keep to a path; a preset "
            "that does is pose-law"
        )
