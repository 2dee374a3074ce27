"""A switch of links under way: who leaves, who enters, and when the arm stands still enough."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ur_admittance.chain.interfaces import Link

PATIENCE = 5.0  # s that a link may take to come to rest by itself
SETTLE = 0.1  # s at rest before joint commands change hands
_STILL = 0.01  # rad/s, measured: the arm follows its command late
_LONG = 1.0  # s at rest, after which a measured speed is taken for noise


class Rest:
    """How long a set of joints has been commanded to rest, and whether they do."""

    def __init__(self, joints: Sequence[int], seconds: float = 0.0) -> None:
        self.joints = list(joints)
        self.seconds = seconds

    def settled(self, dt: float, qd: np.ndarray, qd_measured: np.ndarray, q: np.ndarray) -> bool:
        """Whether the joints stand still. Asked once a cycle of `dt` s."""
        joints = self.joints
        if not joints:
            return True
        self.seconds = self.seconds + dt if not qd[joints].any() else 0.0
        still = bool((np.abs(qd_measured[joints]) < _STILL).all())
        return (
            self.seconds >= SETTLE
            and (still or self.seconds >= _LONG)
            and bool(np.isfinite(q[joints]).all())
        )


class Switch:
    """Links that leave, links that enter once they have left, and how far that is."""

    def __init__(
        self,
        leaving: Sequence[Link],
        entering: Sequence[Link],
        joints: Sequence[str],
        *,
        at_rest: bool = False,
    ) -> None:
        """`joints`: names of all joints of the arm; `at_rest`: it is known to stand."""
        self.leaving, self.entering = list(leaving), list(entering)
        self.seconds = 0.0
        touched = {c.rpartition("/")[0] for link in (*leaving, *entering) for c in link.commands}
        moved = [n for n, joint in enumerate(joints) if joint in touched]
        self.rest = Rest(moved, math.inf if at_rest else 0.0)
        for link in self.leaving:
            link.state = "leaving"

    def cancel(self) -> None:
        """Nobody enters any more; who was leaving and still runs, leaves."""
        self.entering = []
        self.leaving = [link for link in self.leaving if link.state == "leaving"]
