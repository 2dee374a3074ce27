"""What the user knows: the task, the surface, the push and the arm; and the cases it stands for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

from ur_admittance.config import Config
from ur_admittance.config.validate import within
from ur_admittance.errors import ConfigError
from ur_admittance.rollout.random_touches import random_touches
from ur_admittance.rollout.touch import Touch

UNKNOWN = (1e3, 1e5)  # N/m, surfaces that an unknown one may be
STIFFNESS, PUSH, LAG = (0.8, 1.25), (0.7, 1.3), (0.9, 1.1)  # what is known is known that well
DELAY = (0.002, 0.006)  # s, of an arm whose delay nobody measured
USUAL_DELAY = 0.004  # s
LEAST_LAG = 0.001  # s
MODE = (10.0, 25.0)  # Hz, of a flexible arm whose mode nobody measured


class Task(NamedTuple):
    """What gains are for."""

    preset: str  # that they are put into
    changes: dict[str, Any]  # of that preset, by dotted key
    speed: float  # of the tool under the push, m/s; 0: there is a spring
    give: float  # of the spring under the push, m
    words: str  # the task in words


# For the contact: a limited jerk and a filter of 20 Hz are delay. With light gains on 100 kN/m the
# jerk limit alone made the worst of 16 touches ripple by hundreds of newtons.
_PROMPT = {
    "admittance.filter_cutoff_hz": 100.0,
    "limits.max_linear_jerk": 0.0,
    "limits.max_angular_jerk": 0.0,
}
TASKS = {
    "guide": Task(
        "hand-guiding", _PROMPT, 0.2, 0.0, "lead the arm by hand: the push gives 0.2 m/s"
    ),
    "touch": Task("touch", {}, 0.1, 0.0, "touch or follow a surface: the push gives 0.1 m/s"),
    "hold": Task("stiff-hold", {}, 0.0, 0.005, "hold a pose: the push moves the tool by 5 mm"),
}


@dataclass(frozen=True)
class Question:
    """What the user knows. The answer depends on this alone."""

    task: str = "touch"  # one of `TASKS`
    # of the stiffest surface that is touched, N/m; None: unknown, 1 to 100 kN/m
    stiffness: float | None = None
    push: float = 15.0  # at which the arm should feel right, N
    lag: float = 0.01  # of the arm, s
    delay: float | None = None  # of the arm, s; None: not measured, 2 to 6 ms
    # first structural mode of the arm, Hz; None: not measured, 10 to 25 Hz
    mode_frequency: float | None = None
    robot: str = "ur5e"  # the arm, say ur5e
    seed: int = 0  # of the random cases

    def __post_init__(self) -> None:
        problems = []
        if self.task not in TASKS:
            problems.append(f"task: must be one of {', '.join(TASKS)}, got {self.task!r}")
        bounds = {
            "stiffness": (500.0, 500e3, "N/m, or unknown"),
            "push": (3.0, 100.0, "N"),
            "lag": (LEAST_LAG, 0.1, "s"),
            "delay": (0.0, 0.1, "s"),
            "mode_frequency": (1.0, 200.0, "Hz"),
        }
        for name, (least, most, unit) in bounds.items():
            value = getattr(self, name)
            if value is None and name not in ("push", "lag"):
                continue
            try:
                within(name, value, least, most, unit, error=ConfigError)
            except ConfigError as error:
                problems.append(str(error))
        if not (isinstance(self.seed, int) and self.seed >= 0):
            problems.append(f"seed: must be a whole number of 0 or more, got {self.seed!r}")
        if problems:
            raise ConfigError("\n".join(problems), tuple(problems))

    @property
    def wish(self) -> Task:
        """What the task asks for."""
        return TASKS[self.task]

    @property
    def preset(self) -> Config:
        """What the gains are put into."""
        return Config.preset(self.wish.preset).replace(self.wish.changes)

    @property
    def felt_push(self) -> float:
        """What the deadband leaves of the push, N."""
        return self.push - self.preset.effective_deadband()[0]

    def in_words(self) -> str:
        """The question in one line."""
        surface = "unknown" if self.stiffness is None else f"{self.stiffness / 1e3:.3g} kN/m"
        return (
            f"{self.task} on {self.robot}, surface {surface}, push {self.push:g} N, "
            f"lag {self.lag * 1e3:.3g} ms, seed {self.seed}"
        )

    def touches(
        self,
        stream: int,
        count: int,
        flexible: bool,
        *,
        stiffer: float = 1.0,
        harder: float = 1.0,
        later: float = 0.0,
    ) -> list[Touch]:
        """Random cases of the contact benchmark, narrowed to what is known.

        Cases of another `stream` are others; the first of more are the same. `stiffer` and
        `harder`: times the known stiffness and push; `later`: s of lag that the configuration does
        not know of.
        """
        low, high = UNKNOWN
        if self.stiffness is not None:
            low, high = (self.stiffness * share for share in STIFFNESS)
        delay = DELAY if self.delay is None else (0.9 * self.delay, 1.1 * self.delay)
        hertz = self.mode_frequency
        return random_touches(
            count,
            flexible,
            (self.seed, stream, int(flexible)),
            stiffness=(low * stiffer, high * stiffer),
            push=(self.push * PUSH[0] * harder, self.push * PUSH[1] * harder),
            lag=(self.lag * LAG[0] + later, self.lag * LAG[1] + later),
            delay=delay,
            mode=MODE if hertz is None else (0.9 * hertz, 1.1 * hertz),
        )

    def loop_delay(self, filter_time: float) -> float:
        """From force to motion, s, up to a whole millisecond: arm, filter and one period."""
        arm = self.lag + (USUAL_DELAY if self.delay is None else self.delay)
        return math.ceil(1e3 * (arm + filter_time + 0.002) - 1e-9) / 1e3
