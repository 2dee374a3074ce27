"""The gains that are tried: about what is wished for, each with several contact laws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ur_admittance.config import Config
from ur_admittance.tune.question import Question

HEAVIER = (0.5, 0.65, 0.8, 1.0, 1.25, 1.6)  # times what is wished for; with a spring softer
TIMES = (0.06, 0.1, 0.18, 0.3)  # s, M / D
SPRING_TIMES = (0.06, 0.09, 0.13, 0.19)  # s, sqrt(M / K)
LAWS = (None, 0.015, 0.02, 0.03)  # s, contact.damping_time; None: fixed gains


@dataclass(frozen=True)
class Candidate:
    """Gains of the three translations; the rest is the preset's."""

    mass: float  # kg
    damping: float  # N s/m
    stiffness: float  # N/m; 0: no spring
    # `contact.damping_time`, s; None: fixed gains, without contact damping
    damping_time: float | None

    def changes(self, question: Question) -> dict[str, Any]:
        """What it changes of the preset, by dotted key."""
        law, filtered = question.preset.admittance, question.preset.filter_time_constant()
        values: dict[str, Any] = dict(question.wish.changes)
        values["admittance.mass"] = [self.mass] * 3 + list(law.mass[3:])
        if self.stiffness:
            springs = [self.stiffness] * 3 + list(law.stiffness[3:])
            values["admittance.stiffness"] = springs  # critically damped by the preset
        else:
            rates = question.preset.effective_damping()[3:]
            values["admittance.damping"] = [self.damping] * 3 + list(rates)
        values["contact.adapt"] = self.damping_time is not None
        if self.damping_time is not None:
            values["contact.damping_time"] = self.damping_time
            if (question.stiffness or 0.0) > question.preset.contact.max_stiffness:
                values["contact.max_stiffness"] = question.stiffness
        values["arm.lag"] = question.lag
        if question.delay is not None:
            values["arm.delay"] = question.delay
        if question.mode_frequency is not None:
            values["arm.mode_frequency"] = question.mode_frequency
        values["loop_delay"] = question.loop_delay(filtered)
        values["environment_stiffness"] = question.stiffness or 0.0
        return values

    def config(self, question: Question, **more: Any) -> Config:
        """The whole configuration."""
        return question.preset.replace({**self.changes(question), **more})

    def in_words(self) -> str:
        """The gains in one line."""
        words = f"M = {self.mass:.3g} kg, D = {self.damping:.3g} N s/m"
        words += f", K = {self.stiffness:.4g} N/m" if self.stiffness else ""
        law = "fixed gains" if self.damping_time is None else "contact damping"
        return f"{words}, {law}" + (f" {self.damping_time * 1e3:g} ms" if self.damping_time else "")


def candidates_for(question: Question, quick: bool = False) -> list[Candidate]:
    """All that are tried, the lightest (with a spring: the stiffest) first; quick: an eighth."""
    wish, push, found = question.wish, question.felt_push, []
    times = TIMES if wish.speed else SPRING_TIMES
    for heavier in HEAVIER[1::2] if quick else HEAVIER:
        for time in times[1:3] if quick else times:
            if wish.speed:
                D, K = _round(heavier * push / wish.speed), 0.0
                M = _round(D * time)
            else:
                K = _round(push / wish.give / heavier)
                M = _round(K * time**2)
                D = 2 * math.sqrt(M * K)
            found += [Candidate(M, D, K, law) for law in (LAWS[::2] if quick else LAWS)]
    return found


def _round(value: float) -> float:
    """Three digits: what a person would write."""
    return float(f"{value:.3g}")
