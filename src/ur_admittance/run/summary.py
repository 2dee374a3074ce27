"""What a run was like: counts, and the distribution of what took time."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.faults import StopReason


class Histogram:
    """Durations in logarithmic bins from 1 us to 10 s."""

    BINS = 7 * 40

    def __init__(self) -> None:
        self.counts = np.zeros(self.BINS + 1, dtype=np.int64)
        self.most = 0.0

    def add(self, durations: ArrayLike) -> None:
        """Count durations, s."""
        seconds = np.atleast_1d(np.asarray(durations, dtype=np.float64))
        bins = (40.0 * np.log10(np.maximum(1e6 * seconds, 1.0))).astype(np.int64)
        self.counts += np.bincount(np.minimum(bins, self.BINS), minlength=self.BINS + 1)
        self.most = max(self.most, float(seconds.max(initial=0.0)))

    def follow(self, later: Histogram) -> None:
        """Count those of another, too."""
        self.counts += later.counts
        self.most = max(self.most, later.most)

    def quantile(self, share: float) -> float:
        """The duration that so much of all do not exceed, s, to 6 %."""
        total = self.counts.sum()
        if total == 0:
            return 0.0
        k = int(np.searchsorted(np.cumsum(self.counts), share * total))
        return min(self.most, 1e-6 * 10 ** ((k + 1) / 40.0))

    def as_dict(self) -> dict[str, float]:
        """Its quantiles and its greatest, s."""
        shares = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
        return {name: self.quantile(share) for name, share in shares.items()} | {"max": self.most}


@dataclass
class Summary:
    """What a run was like.

    Attributes:
        ticks: how many there were.
        late: states that came more than half a period late.
        overruns: times the loop was too slow: a state waited for it until the next was due.
        missed: states that were never seen.
        seconds: how long it took, on the robot's clock.
        mode: of the controller at the end.
        reason: what stopped the arm, or who ended the run; None where its time was over.
        asked: whether a signal ended it, or a request.
        refused: real-time wishes not granted.
        held: share of the ticks in each limit or hold, by name, the greatest first.
        period: between two states.
        tick: of `Controller.update`.
        reaction: from the wrench's arrival to the command handed over.
    """

    ticks: int = 0
    late: int = 0
    overruns: int = 0
    missed: int = 0
    seconds: float = 0.0
    mode: str = "inactive"
    reason: StopReason | None = None
    asked: bool = False
    refused: list[str] = field(default_factory=list)
    held: dict[str, float] = field(default_factory=dict)
    period: Histogram = field(default_factory=Histogram)
    tick: Histogram = field(default_factory=Histogram)
    reaction: Histogram = field(default_factory=Histogram)

    @property
    def faulted(self) -> bool:
        """Whether the run ended in a stop that nobody asked for."""
        return self.mode == "stopped"

    def follow(self, later: Summary) -> None:
        """Take in a run that followed: counts and durations add up, the end is the later one's."""
        ticks = max(1, self.ticks + later.ticks)
        shares = {name: share * self.ticks / ticks for name, share in self.held.items()}
        for name, share in later.held.items():
            shares[name] = shares.get(name, 0.0) + share * later.ticks / ticks
        self.held = dict(sorted(shares.items(), key=lambda item: -item[1]))
        for name in ("ticks", "late", "overruns", "missed", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(later, name))
        for name in ("mode", "reason", "asked"):
            setattr(self, name, getattr(later, name))
        self.refused += [line for line in later.refused if line not in self.refused]
        for name in ("period", "tick", "reaction"):
            getattr(self, name).follow(getattr(later, name))

    def as_dict(self) -> dict[str, Any]:
        """The same as plain values: times in s, quantiles of what took time."""
        plain = ("ticks", "late", "overruns", "missed", "seconds", "mode", "faulted", "asked")
        plain += ("refused", "held")
        times = {name: getattr(self, name).as_dict() for name in ("period", "tick", "reaction")}
        reason = self.reason and self.reason.as_dict()
        return {name: getattr(self, name) for name in plain} | times | {"reason": reason}
