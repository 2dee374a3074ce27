"""What a candidate is worth: how it feels in the free, and how calm it touches."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from ur_admittance.model import RobotModel
from ur_admittance.rollout.random_touches import in_words
from ur_admittance.rollout.rollout import LaggedArm, Noise, rollout
from ur_admittance.rollout.touch import ALONE, DT, Touched, touch
from ur_admittance.tune.candidates import Candidate
from ur_admittance.tune.question import LEAST_LAG, USUAL_DELAY, Question

ENOUGH = 0.95  # share of calm cases, one of three with a flexible arm
SAFE = 0.99  # the same with something in hand: the best of many were lucky, too
REACH = 0.1  # m, the way that the push leads the tool
DIRECT = 0.07  # s to get going, which feels direct
_SECONDS, _EVERY = 4.0, 5  # how long the push lasts; one tick of so many is kept
_ONE_AT_A_TIME = threading.Lock()  # a worker with several threads must not nest parallel kernels
_JUDGED = {**ALONE, "admittance.engage_seconds": 0.0}  # springs must not grow while it is judged


@dataclass(frozen=True)
class Trial:
    """A candidate against some of the cases: the unit of work that a worker gets."""

    candidate: Candidate  # the gains
    stream: int  # of the cases
    begin: int  # the first case
    end: int  # the one after the last
    flexible: bool  # arms with a structural mode
    stiffer: float = 1.0  # times the stiffness that is known
    harder: float = 1.0  # times the push
    # s of lag that the configuration does not know of; negative: so much less, and known
    later: float = 0.0


@dataclass(frozen=True)
class Verdict:
    """How calm a candidate touches."""

    rigid: tuple[int, int] = (0, 0)  # calm and all cases with a rigid arm
    flexible: tuple[int, int] = (0, 0)  # calm and all cases with a flexible arm
    ripple: float = 0.0  # of the worst case, N rms; infinite: the arm was stopped, or met nothing
    peak: float = 0.0  # the hardest impact, N
    failures: tuple[str, ...] = ()  # the cases that were not calm, in words

    @property
    def passes(self) -> bool:
        """Calm in 95 % of the cases."""
        return self.reaches(ENOUGH)

    def reaches(self, share: float) -> bool:
        """Whether so many of the cases are calm."""
        return self.calm >= share * self.cases

    @property
    def calm(self) -> int:
        """Cases without chatter."""
        return self.rigid[0] + self.flexible[0]

    @property
    def cases(self) -> int:
        """All cases."""
        return self.rigid[1] + self.flexible[1]

    def __add__(self, other: Verdict) -> Verdict:
        return Verdict(
            (self.rigid[0] + other.rigid[0], self.rigid[1] + other.rigid[1]),
            (self.flexible[0] + other.flexible[0], self.flexible[1] + other.flexible[1]),
            max(self.ripple, other.ripple),
            max(self.peak, other.peak),
            self.failures + other.failures,
        )


def judge(question: Question, trial: Trial) -> Verdict:
    """Run the cases of a trial, in this thread alone."""
    if trial.later < 0:
        question = replace(question, lag=max(LEAST_LAG, question.lag + trial.later))
    touches = question.touches(
        trial.stream,
        trial.end,
        trial.flexible,
        stiffer=trial.stiffer,
        harder=trial.harder,
        later=max(0.0, trial.later),
    )[trial.begin :]
    config = trial.candidate.config(question, **_JUDGED)
    with _ONE_AT_A_TIME:
        results = touch(RobotModel.ur(question.robot), config, touches, threads=1)
    calm = sum(bool(one.calm) for one in results), len(results)
    failures = (
        f"{r.cause}: {in_words(t)}" for t, r in zip(touches, results, strict=True) if r.cause
    )
    return Verdict(
        (0, 0) if trial.flexible else calm,
        calm if trial.flexible else (0, 0),
        max(map(_ripple, results)),
        max(one.peak for one in results),
        tuple(failures),
    )


def _ripple(result: Touched) -> float:
    return result.ripple if result.met and math.isnan(result.stopped) else math.inf


def felt(question: Question, candidates: Sequence[Candidate]) -> list[float]:
    """How each candidate answers the push at the arm's home, without contact.

    The time in which the tool is led by 0.1 m, s; with a spring how far it gives way, m.
    """
    model = RobotModel.ur(question.robot)
    wrenches = np.zeros((round(_SECONDS / DT), 6))
    wrenches[:, 1] = question.push
    delay = USUAL_DELAY if question.delay is None else question.delay
    run = rollout(
        model,
        [one.config(question, **_JUDGED) for one in candidates],
        wrenches,
        arm=LaggedArm(question.lag, delay / DT),
        noise=Noise(0.2, 0.005, 4e-6, seed=question.seed),
        wrench_axes="world",
        every=_EVERY,
        threads=1,
    )
    way = run["X_WP"][:, :, 1, 3] - model.fk(model.home)[1, 3]
    if not question.wish.speed:
        return [float(w[-100:].mean()) for w in way]
    times = np.arange(way.shape[1]) * _EVERY * DT
    return [float(np.interp(REACH, np.maximum.accumulate(w), times)) for w in way]


def wished(question: Question) -> float:
    """What `felt` would give if all were as wished, s or m."""
    wish = question.wish
    return REACH / wish.speed + DIRECT if wish.speed else wish.give
