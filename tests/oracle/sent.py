"""What must be true of all commands that are sent, whoever leads the arm: a law, a chain, `init`.

Every command is finite. From one to the next no joint is faster than it may be, nor changes its
speed faster: of velocities, and of positions, by what they make of the time between. The first
velocity begins from rest, and so does one after a stop. What comes after another kind of command,
or after a silence in which an arm brakes by itself, begins anew.

Tool limits are not judged here: those of a law are judged in its own trace, and where joints brake
because a link has failed, they brake together, inside the joints' limits alone.
"""

from __future__ import annotations

from collections import deque

import numpy as np

from tests.oracle.taps import POSITION, REST, VELOCITY
from ur_admittance.kernel.check import LONGEST_DT

SILENT, SILENT_PERIODS = 0.02, 5.0  # s, or cycles if that is longer: then an arm brakes by itself
CYCLE = np.dtype(
    [
        ("seconds", float),  # the cycle is long
        ("by_position", np.int64),
        ("qd", float, 6),  # rad/s
        ("q_ref", float, 6),  # rad
    ]
)
"""What a chain sent in a cycle."""
COMMAND = np.dtype(
    [
        ("time", float),  # s on the robot's clock
        ("kind", np.int64),
        ("numbers", float, 6),  # rad/s or rad
    ]
)
"""What a robot was told."""


class Commands:
    """The commands of one leader, judged one after the other.

    Attributes:
        found: what was broken -> where first, and by how much.
        count: how many were looked at.
    """

    def __init__(self, name: str, qd_max: np.ndarray, qdd_max: np.ndarray) -> None:
        """
        Args:
            name: of what they are told to.
            qd_max, qdd_max: limits of the joints, rad/s and rad/s^2 (6,).
        """
        self.found: dict[str, str] = {}
        self.count = 0
        self._name, self._qd_max, self._qdd_max = name, qd_max, qdd_max
        self._kind = REST
        self.forget(at_rest=True)

    def forget(self, *, at_rest: bool = False) -> None:
        """The next one begins anew: from rest, or from nobody knows what."""
        self._qd = np.zeros(6) if at_rest else None
        self._q: np.ndarray | None = None
        self._rate: np.ndarray | None = None

    def take(self, kind: int, numbers: np.ndarray, seconds: float, late: float = 0.0) -> None:
        """The next.

        Args:
            seconds: since the one before.
            late: by which it may use more time than that, s.
        """
        self.count += 1
        if kind == REST or kind != self._kind:
            self.forget(at_rest=self._kind == REST)
        self._kind = kind
        if kind == REST:
            return
        self._check("command", np.where(np.isfinite(numbers), 0.0, np.inf), 0.0)
        most = self._qdd_max * (seconds + late) * (1 + 1e-6)
        if kind == VELOCITY:
            self._check("joint speed", np.abs(numbers), self._qd_max * (1 + 1e-9))
            if self._qd is not None:
                self._check("joint acceleration", np.abs(numbers - self._qd), most + 2e-9)
            self._qd = numbers
            return
        if self._q is not None:
            step, rate = np.abs(numbers - self._q), (numbers - self._q) / seconds
            room = self._qd_max * (seconds + late) * (1 + 1e-6) + 1e-9
            self._check("step of q_ref", step, room)
            if self._rate is not None and not late:
                self._check("acceleration of q_ref", np.abs(rate - self._rate), most + 1e-6)
            self._rate = None if late else rate
        self._q = numbers

    def _check(self, what: str, values: np.ndarray, most: np.ndarray | float) -> None:
        beyond = float((values - most).max())
        if not beyond <= 0.0:
            name = f"{what} of what {self._name} is told"
            self.found.setdefault(name, f"command {self.count}: {beyond:.3g} beyond")


class ChainCommands(Commands):
    """What a chain sends: velocities, which are judged in any case, or positions."""

    def __init__(self, limits: np.ndarray) -> None:
        """
        Args:
            limits: greatest joint rates and accelerations (2, 6).
        """
        super().__init__("a chain's robot", *limits)
        self._positions = Commands("a chain's robot", *limits)

    def cycle(self, row: np.ndarray) -> None:
        """The next."""
        self.take(VELOCITY, row["qd"], float(row["seconds"]))
        kind = POSITION if row["by_position"] else REST
        self._positions.take(kind, row["q_ref"], float(row["seconds"]))
        self.found |= self._positions.found


class RobotCommands(Commands):
    """What a robot is told by whoever of us leads it.

    A leader dates the states of the robot, not its own commands: what comes late leaves time that
    the next few commands may still use. Where the robot's clock is one on the wall, a command may
    also be handed over a little sooner than the one before, and a period more is allowed for.
    """

    def __init__(self, name: str, limits: np.ndarray) -> None:
        """
        Args:
            limits: greatest joint rates and accelerations, and the period, s (13,).
        """
        super().__init__(name, limits[:6], limits[6:12])
        self._period, self._time = float(limits[12]), -np.inf
        self._silent = max(SILENT, SILENT_PERIODS * self._period)
        self._late: deque[float] = deque(maxlen=5)

    def command(self, row: np.ndarray) -> None:
        """The next."""
        seconds, self._time = float(row["time"]) - self._time, float(row["time"])
        late = max(0.0, seconds - self._period)
        if seconds > self._silent:
            self._late.clear()
            self.forget(at_rest=self._kind == REST)
            seconds = self._period
            late = min(late, LONGEST_DT) if late < np.inf else 0.0  # the first is not late
        self._late.append(late)
        cycles = seconds / self._period
        on_the_wall = abs(cycles - round(cycles)) > 1e-4
        late = sum(self._late) - self._late[-1] + on_the_wall * self._period
        seconds = max(seconds, self._period)
        self.take(int(row["kind"]), row["numbers"], seconds, late if late > 1e-9 else 0.0)
