"""A whole trace, held to the oracle piece by piece as it comes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from tests.oracle.checks import CHECKS, GOOD
from tests.oracle.limits import Limits
from tests.oracle.piece import ANGULAR, LINEAR, ROW, Piece, lengths
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.controller.packing import pack
from ur_admittance.kernel import bits

KEPT = GOOD + 2  # rows that are looked back on
LAG, SLIP = 0.06, 2e-3  # s and rad by which an arm may be behind, and still does as it is told
WALL_SHARE = 0.577  # of its acceleration, with which the tool brakes along each axis near walls


def oracle(history: np.ndarray, controller: Controller) -> None:
    """Hold the output records of one run to all of it, but for its events.

    In the order of their ticks, all under the same limits.
    """
    judge = Judge(controller.params[0], Limits.of(controller))
    judge.take(rows_of(history), None)
    assert not judge.found, judge.found


def of_rollout(
    model: RobotModel, configs: Config | Sequence[Config], outputs: np.ndarray
) -> dict[str, str]:
    """What is wrong with any of many runs, (runs, ticks): as `Judge.found`."""
    configs = [configs] if isinstance(configs, Config) else configs
    found: dict[str, str] = {}
    params = [pack(config, model)[0] for config in configs]
    for k, history in enumerate(outputs):
        judge = Judge(params[k % len(params)])
        judge.take(rows_of(history), None)
        found = {name: f"run {k}, {where}" for name, where in judge.found.items()} | found
    return found


def rows_of(history: np.ndarray) -> np.ndarray:
    """Rows of which the outputs are all that is known."""
    rows = np.zeros(len(history), ROW)
    rows["said"] = history
    return rows


class _Braking(NamedTuple):
    """An arm on its way to rest."""

    passed: float  # s
    allowed: float  # s
    least: float  # s, what it needs to come to rest, at least so far
    longest: float  # s, of the cycles so far
    room: float  # s, by which that may rise


class Judge:
    """Holds all that one controller says to the oracle.

    Attributes:
        found: what was broken -> where first, and by how much.
        ticks: how many were looked at.
    """

    def __init__(self, params: Any, limits: Limits | None = None) -> None:
        """
        Args:
            params: the record that the tick reads.
            limits: by default those in it.
        """
        self.found: dict[str, str] = {}
        self.ticks = 0
        self._params = params
        self._limits = Limits.in_force(params) if limits is None else limits
        self._kept = np.zeros(0, ROW)
        self._tool, self._away, self._inside, self._within = True, False, False, False
        self._off, self._place = np.zeros((2, 6))
        self._braking: _Braking | None = None
        self._ramping = 0.0  # s, for which gains are still on their way

    def change(self, params: Any) -> None:
        """From here on the tick reads these."""
        limits = Limits.in_force(params)
        if limits != self._limits:
            self._tool, self._away = False, True  # until the arm has rested
            self._braking = None
        self._params, self._limits = params, limits

    def take(self, rows: np.ndarray, events: dict[int, np.ndarray] | None) -> None:
        """The next rows.

        Args:
            rows: `ROW`, in the order of their ticks.
            events: those of each row that has any, by its place; None: they are not known.
        """
        if not len(rows):
            return
        self.ticks += len(rows)
        first = len(self._kept)
        rows = np.concatenate([self._kept, rows])
        self._kept = rows[-KEPT:].copy()
        t = Piece(rows, first, self._params, self._limits)
        self._follow(t, first)
        self._rest(t, first)
        self._brake(t, first)
        self._ramp(t, first)
        if events is not None:
            self._note(t, rows["events"], first, events)
        for name, function in CHECKS.items():
            beyond, where = function(t)
            bad = where & ~(beyond <= 0.0)
            if bad.any():
                k = int(np.argmax(bad))
                self.found.setdefault(
                    name,
                    f"tick {int(t['tick'][k])} at {t['time'][k]:.4f} s: {beyond[k]:.3g} beyond "
                    f"({int(bad.sum())} ticks)",
                )
                if name == "is not finite":
                    return

    def _rest(self, t: Piece, first: int) -> None:
        """The tool's limits count again once an arm rests; what others have moved it by since."""
        n = len(t)
        begins = (t.start | t.still)[first:]
        counts: Any = np.maximum.accumulate(begins) | self._tool
        t.tool[first:], self._tool = counts, bool(counts[-1])
        comes = t.start | (t.still & ~t.after(t.still[:-1], False))  # the first row of each rest
        last = np.maximum.accumulate(np.where(comes, np.arange(n), -1))[first:]
        q = t["q"][first:]
        place = np.where((last >= 0)[:, None], t["q"][last], self._place)
        t.strayed[first:] = np.abs(q - place) * t.still[first:, None]
        self._place = place[-1]

    def _follow(self, t: Piece, first: int) -> None:
        """Which rows are held to the joint range, and to the walls: those of an arm that was inside
        when it last rested, and has gone since where it was told to.
        """
        n, limits = len(t), self._limits
        q, qd, dt, p_WP = t["q"], t["qd"], t["dt"], t["X_WP"][:, :3, 3]
        moved, told = np.diff(q, axis=0), qd[:-1]
        off = moved - told * dt[1:, None]
        exact: Any = (np.abs(off) < 1e-9).all(
            axis=1
        )  # told at the end of one tick, or seen at the next
        exact |= (np.abs(moved - told * dt[:-1, None]) < 1e-9).all(axis=1)
        off = t.after(off * ~exact[:, None])
        off[t.start] = 0.0
        moves = np.maximum.accumulate(np.where(t.still, -1, np.arange(n)))
        rested = np.arange(n) - moves  # rows
        anew = (t.start | (rested >= GOOD) | (t["mode"] == bits.INACTIVE))[first:]
        fresh = np.arange(n - first)
        last = np.maximum.accumulate(np.where(anew, fresh, -1))
        known = last >= 0
        whole = self._off + np.cumsum(off[first:], axis=0)
        behind = np.abs(whole - np.where(known[:, None], whole[last], 0.0))
        fastest = recent(np.abs(qd), GOOD)[first:]
        away = (behind > LAG * fastest + SLIP).any(axis=1) & ~anew
        strayed = np.maximum.accumulate(np.where(away, fresh, -1)) > last
        strayed |= self._away & ~known
        inside = np.all((q >= limits.q[0]) & (q <= limits.q[1]), axis=1)[first:]
        within = np.all((p_WP >= limits.box[0]) & (p_WP <= limits.box[1]), axis=1)[first:]
        inside, within = (
            np.where(known, now[last], before)
            for now, before in ((inside, self._inside), (within, self._within))
        )
        counts = ~strayed & ~anew
        t.inside[first:], t.within[first:] = inside & counts, within & counts
        self._off = whole[-1] - (whole[last[-1]] if known[-1] else 0.0)
        self._away = bool(strayed[-1])
        self._inside, self._within = bool(inside[-1]), bool(within[-1])

    def _brake(self, t: Piece, first: int) -> None:
        """How far an arm that brakes is from what its limits need for that."""
        limits, V, dt = self._limits, t["V_WP_cmd"], t["dt"]
        v, w = lengths(V[:, LINEAR]), lengths(V[:, ANGULAR])
        joints = (np.abs(t["qd"]) / np.array(limits.qdd)).max(axis=1)
        needs = np.max([v / limits.a, w / limits.alpha, joints], axis=0)
        slowly = np.max([v / (WALL_SHARE * limits.a), w / limits.alpha, joints], axis=0)
        pairs = ((limits.a, limits.jerk), (limits.alpha, limits.angular_jerk))
        build = max(a / jerk if jerk else 0.0 for a, jerk in pairs)  # s, to full acceleration
        brakes = (t["mode"] == bits.HOLDING) | (t["mode"] >= bits.STOPPED)
        k = first
        while k < len(t):
            if not brakes[k]:
                self._braking = None
                k += 1
                continue
            if t.start[k] or self._braking is None:
                before = needs[k - 1], slowly[k - 1]
                if t.start[k]:
                    before = needs[k], slowly[k]
                allowed = 1.5 * before[1] + 2.5 * build
                room = 0.1 * before[0] + 0.5 * build + 1e-4
                self._braking = _Braking(0.0, allowed, before[0], 0.0, room)
            ends = np.flatnonzero((~brakes | t.start)[k + 1 :])
            end = k + 1 + int(ends[0]) if len(ends) else len(t)
            b, part = self._braking, slice(k, end)
            passed = b.passed + np.cumsum(dt[part])
            longest = np.maximum(np.maximum.accumulate(dt[part]), b.longest)
            least = np.minimum.accumulate(np.concatenate([[b.least], needs[part]]))
            t.late[part] = passed - b.allowed - 3.0 * longest
            t.rises[part] = needs[part] - least[:-1] - b.room
            self._braking = b._replace(passed=passed[-1], least=least[-1], longest=longest[-1])
            k = end

    def _ramp(self, t: Piece, first: int) -> None:
        """Whose gains are these parameters', and have had the time to get there."""
        generation = t["inputs"]["generation"]
        changes = t.after(np.diff(generation) != 0, False)[first:]
        active = (t["mode"] == bits.ACTIVE)[first:]
        passed = np.cumsum(np.where(active, t["dt"][first:], 0.0))
        last = np.maximum.accumulate(np.where(changes, np.arange(len(changes)), -1))
        left = np.where(last >= 0, self._params["ramp_seconds"] + passed[last], self._ramping)
        left -= passed
        seeded = np.maximum.accumulate(np.where(t.seeded[first:], np.arange(len(left)), -1))
        there = (left < -1e-6) | (seeded > last) | ((last < 0) & (self._ramping == 0.0))
        t.free[first:] = there & (generation[first:] == self._params["generation"])
        self._ramping = 0.0 if there[-1] else float(left[-1])

    def _note(
        self, t: Piece, counts: np.ndarray, first: int, events: dict[int, np.ndarray]
    ) -> None:
        """New faults and new events, tick by tick."""
        said = t["status"] & ~bits.LIMITS
        fresh = said & ~np.where(t.start, 0, t.after(said[:-1]))
        wanted = np.array([int(faults).bit_count() for faults in fresh])
        noted = counts - np.where(t.start, 0, t.after(counts[:-1]))
        t.unnoted[:] = (wanted != noted) & (t.follows | (t["tick"] == 1))
        for k in np.flatnonzero(noted[first:]):
            ring, number = events.get(int(k)), int(noted[first + k])
            if ring is None or not 0 < number <= len(ring):
                continue  # more than it holds: counted above
            last = int(counts[first + k])
            some = [ring[n % len(ring)] for n in range(last - number, last)]
            t.events += [(first + int(k), event) for event in some]
            named = {1 << int(event["bit"]) for event in some}
            if sum(named) != int(fresh[first + k]):
                t.unnoted[first + k] = True


def recent(values: np.ndarray, count: int) -> np.ndarray:
    """The greatest of the last `count` rows, row by row."""
    padded = np.concatenate([np.zeros((count - 1, *values.shape[1:])), values])
    return np.lib.stride_tricks.sliding_window_view(padded, count, axis=0).max(axis=-1)
