"""The gains that feel nearest to the wish and touch calmly: swept, verified, with margins."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from itertools import takewhile

from ur_admittance.tune.candidates import Candidate, candidates_for
from ur_admittance.tune.judge import SAFE, Trial, Verdict, felt, wished
from ur_admittance.tune.question import Question
from ur_admittance.tune.sweep import sweep

FARTHEST = 2.0  # times heavier or lighter than wished: what is farther off does not meet the task
Progress = Callable[[str, int, int], None]  # part of the work, done, of all
STIFFER = (1.5, 2.0, 3.0, 5.0, 10.0)  # rungs of the margins
LATER = (0.002, 0.005, 0.01, 0.02, 0.04)  # s
HARDER = (1.5, 2.0, 3.0)
SOFTER, FASTER, GENTLER = (0.5, 0.25, 0.1), (0.5, 0.25), (0.5, 0.25)  # and of what would help
_Changed = tuple[Candidate, dict[str, float]]  # a candidate, and how its cases are changed
_SWEPT, _VERIFIED, _MARGINS = 1, 2, 3  # streams of cases
_AT_ONCE = 25  # cases in a trial, at most
_HOPEFUL = 0.9  # share of calm cases in the sweep that is worth a closer look


@dataclass(frozen=True)
class Effort:
    """How many cases, rigid and flexible arms, each part looks at."""

    swept: tuple[int, int] = (20, 10)  # of every candidate
    verified: tuple[int, int] = (200, 100)  # of every finalist
    margin: tuple[int, int] = (26, 13)  # on every rung
    finalists: tuple[int, int] = (3, 4)  # that are verified at once, and how often


QUICK = Effort((6, 3), (20, 10), (6, 3), (2, 2))


@dataclass(frozen=True)
class Judged:
    """A candidate and what it is worth."""

    candidate: Candidate  # the gains
    feel: float  # as `felt` measures it, s or m
    off: float  # times heavier or lighter than wished; 1: as wished
    verdict: Verdict  # on the cases of the sweep

    @property
    def may_be_chosen(self) -> bool:
        """Near enough to the wish, with contact damping, and nine of ten cases calm or more."""
        near = self.off <= FARTHEST and self.candidate.damping_time is not None
        return near and self.verdict.calm >= _HOPEFUL * self.verdict.cases


@dataclass(frozen=True)
class Tuned:
    """The answer."""

    question: Question  # what was asked
    swept: tuple[Judged, ...]  # every candidate, as it was tried
    # those that were tried on other cases, with these verdicts
    verified: tuple[tuple[Judged, Verdict], ...]
    chosen: Judged | None  # the one, or None: the task cannot be met
    nearest: Judged  # the chosen one, else the one that is nearest to it
    stiffer: float  # times the stiffness up to which the nearest still passes; 0: not even so
    # lag that the arm may have beyond what is known, s; negative: that it has too much
    later: float
    harder: float  # times the push

    @property
    def verdict(self) -> Verdict:
        """Of the nearest: on the cases it was not tuned on, if it came that far."""
        found = [verdict for judged, verdict in self.verified if judged == self.nearest]
        return found[0] if found else self.nearest.verdict


@dataclass
class _Work:
    """A question on its way: who works, and who is told."""

    question: Question
    executor: Executor
    progress: Progress
    effort: Effort

    def verdicts(
        self, part: str, cases: tuple[int, int], stream: int, some: Sequence[_Changed]
    ) -> list[Verdict]:
        """One for each candidate, with its changes of the cases, however the work is cut."""
        trials, owners = [], []
        for owner, (candidate, changes) in enumerate(some):
            for flexible, count in zip((False, True), cases, strict=True):
                for begin in range(0, count, _AT_ONCE):
                    end = min(begin + _AT_ONCE, count)
                    trials.append(Trial(candidate, stream, begin, end, flexible, **changes))
                    owners.append(owner)
        results = [Verdict() for _ in some]
        done = sweep(self.question, trials, self.executor, partial(self.progress, part))
        for owner, verdict in zip(owners, done, strict=True):
            results[owner] += verdict
        return results


def tune(
    question: Question,
    executor: Executor,
    progress: Progress = lambda part, done, of: None,
    *,
    candidates: Sequence[Candidate] | None = None,
    effort: Effort = Effort(),
) -> Tuned:
    """Gains for a task, or which are nearest if none will do.

    Args:
        question: what is known.
        executor: who works: `local_processes()` or `dask_workers(address)`.
        progress: is told what is done (gains, finalists, margins), how much, and of how much.
        candidates: gains to try; `candidates_for(question)` unless given.
        effort: how many cases.
    """
    tried = list(candidates or candidates_for(question))
    work, ideal = _Work(question, executor, progress, effort), wished(question)
    feels = felt(question, tried)
    verdicts = work.verdicts("gains", effort.swept, _SWEPT, [(one, {}) for one in tried])
    swept = tuple(
        Judged(candidate, feel, max(feel / ideal, ideal / feel), verdict)
        for candidate, feel, verdict in zip(tried, feels, verdicts, strict=True)
    )
    verified = _verify(work, finalists(swept))
    chosen = _chosen(verified)
    nearest = chosen or _nearest(swept, verified)
    return Tuned(
        question, swept, tuple(verified), chosen, nearest, *_margins(work, nearest, bool(chosen))
    )


def finalists(swept: Sequence[Judged]) -> list[Judged]:
    """Those that may be chosen, calm and near ones first; of equal gains what ripples least."""
    best: dict[tuple[float, float, float], Judged] = {}
    for one in swept:
        gains = (one.candidate.mass, one.candidate.damping, one.candidate.stiffness)
        held = best.get(gains)
        if one.may_be_chosen and (held is None or _worry(one) < _worry(held)):
            best[gains] = one
    return sorted(best.values(), key=lambda one: (bool(one.verdict.failures), one.off))


def _worry(one: Judged) -> tuple[int, float]:
    return len(one.verdict.failures), one.verdict.ripple


def front(swept: Sequence[Judged]) -> list[Judged]:
    """Those that nothing beats in feel and ripple at once, the nearest to the wish first."""
    found: list[Judged] = []
    for one in sorted(swept, key=lambda one: (one.off, one.verdict.ripple)):
        if not found or one.verdict.ripple < found[-1].verdict.ripple:
            found.append(one)
    return found


def _verify(work: _Work, some: list[Judged]) -> list[tuple[Judged, Verdict]]:
    """The best finalists on cases they were not tuned on, some at once, until one is safe."""
    found: list[tuple[Judged, Verdict]] = []
    at_once, times = work.effort.finalists
    for begin in range(0, min(len(some), at_once * times), at_once):
        these = some[begin : begin + at_once]
        verdicts = work.verdicts(
            "finalists", work.effort.verified, _VERIFIED, [(one.candidate, {}) for one in these]
        )
        found += zip(these, verdicts, strict=True)
        if any(verdict.reaches(SAFE) for verdict in verdicts):
            break
    return found


def _chosen(verified: list[tuple[Judged, Verdict]]) -> Judged | None:
    """The first that passes with something in hand, else the calmest of those that pass."""
    for judged, verdict in verified:
        if verdict.reaches(SAFE):
            return judged
    passing = [pair for pair in verified if pair[1].passes]
    return max(passing, key=lambda pair: pair[1].calm)[0] if passing else None


def _nearest(swept: Sequence[Judged], verified: list[tuple[Judged, Verdict]]) -> Judged:
    """Nearest to calm among what is near enough to the wish; if nothing is, among all."""
    if verified:
        return max(verified, key=lambda pair: (pair[1].calm, -pair[0].off))[0]
    damped = [one for one in swept if one.candidate.damping_time is not None] or list(swept)
    near = [one for one in damped if one.off <= FARTHEST] or damped
    return max(near, key=lambda one: (one.verdict.calm, -one.off))


def _margins(work: _Work, judged: Judged, met: bool) -> tuple[float, float, float]:
    """How far the nearest is from where it fails, or from where it would do."""
    lag = work.question.lag
    if met:  # a ladder of rungs for each kind of change, and what counts if none holds
        ladders = {"stiffer": (1.0, STIFFER), "later": (0.0, LATER), "harder": (1.0, HARDER)}
    else:
        sooner = [lag * (share - 1) for share in FASTER]
        ladders = {"stiffer": (0.0, SOFTER), "later": (-lag, sooner), "harder": (0.0, GENTLER)}
    rungs = [{name: rung} for name, (_, ladder) in ladders.items() for rung in ladder]
    verdicts = iter(
        work.verdicts(
            "margins", work.effort.margin, _MARGINS, [(judged.candidate, rung) for rung in rungs]
        )
    )
    found = []
    for none, ladder in ladders.values():
        passes = [(rung, next(verdicts).passes) for rung in ladder]
        if met:  # up the ladder as long as it holds
            good = [rung for rung, _ in takewhile(lambda pair: pair[1], passes)][-1:]
        else:  # down until it does
            good = [rung for rung, does in passes if does][:1]
        found += good or [none]
    return found[0], found[1], found[2]
