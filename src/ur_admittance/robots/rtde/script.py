"""Our program on the robot: its text, and what its computer and it say to each other.

`ur_admittance.script` is short enough to read on one page. It is sent as it is, with the numbers of
this arm and session in place of `$NAMES`.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from string import Template

import numpy as np

from ur_admittance._version import __version__
from ur_admittance.errors import ConfigError
from ur_admittance.model import RobotModel

HOLD, VELOCITY, POSITION, END = range(4)  # kinds of commands
RUNS, ENDED = 1, 2  # what the program says of itself
NOTHING_NEW, OTHER_SESSION, TOO_FAST, OUT_OF_RANGE, TOO_FAR, NO_SUCH_KIND = range(1, 7)
LEFT, ASKED = 8, 9  # what a person need not look at
WHY = {
    NOTHING_NEW: "it heard nothing new from this computer in time",
    OTHER_SESSION: "another session writes to its registers",
    TOO_FAST: "a joint speed beyond the arm's limit was commanded",
    OUT_OF_RANGE: "a command led out of a joint's range",
    TOO_FAR: "a commanded position was far from where the arm is",
    NO_SUCH_KIND: "a command was of no kind it knows",
    LEFT: "it heard nothing more from this computer, which had told the arm to rest",
    ASKED: "it was asked to",
}
FIRST, LAST = 0, 47  # registers there are
INTEGERS, VALUES = 3, 6  # registers that a command takes; answers take one integer more
LEAD = 0.3  # rad that a commanded position may be from the measured one
LOOKAHEAD, GAIN = 0.03, 2000  # of servoj: the promptest that it allows
_SILENT = {True: 10, False: 5}  # cycles without a new command: 20 ms at 500 Hz, 40 ms at 125 Hz
_BEHIND = 2.5  # times as patient as our own watchdog is the controller's, behind it


@dataclass(frozen=True)
class Registers:
    """Which general purpose registers are ours: six in a row, of each kind.

    24 to 47 are those that the maker leaves to RTDE clients, 0 to 23 those of field buses.
    """

    first: int = 24

    def __post_init__(self) -> None:
        if not FIRST <= self.first <= LAST - VALUES + 1:
            raise ConfigError(
                f"registers: the first must be {FIRST} to {LAST - VALUES + 1} (24 or more unless "
                f"no field bus is in use), got {self.first!r:.100}"
            )

    @property
    def inputs(self) -> list[str]:
        """RTDE names of a command: number, kind, session; six values."""
        first = self.first
        whole = [f"input_int_register_{first + n}" for n in range(INTEGERS)]
        return whole + [f"input_double_register_{first + n}" for n in range(VALUES)]

    @property
    def outputs(self) -> list[str]:
        """RTDE names of what the program says: state, session, why it ended, last command."""
        return [f"output_int_register_{self.first + n}" for n in range(INTEGERS + 1)]


class Packet:
    """A command as RTDE sends it, in memory of its own.

    Attributes:
        count: number of the last command.
        data: the bytes.
    """

    def __init__(self, recipe: int, session: int) -> None:
        self._struct = struct.Struct(">HBB3i6d")
        self.data = bytearray(self._struct.size)
        self.count = 0
        self._head = (self._struct.size, ord("U"), recipe)
        self._session = session

    def fill(self, kind: int, values: Sequence[float]) -> bytearray:
        """The next command."""
        self.count = self.count + 1 & 0x7FFFFFFF
        self._struct.pack_into(self.data, 0, *self._head, self.count, kind, self._session, *values)
        return self.data


def cycles_of_silence(rate: float) -> int:
    """How many cycles without a new command end the program on the robot."""
    return _SILENT[rate > 250.0]


def program(
    model: RobotModel, session: int, registers: Registers, rate: float, lead: float = LEAD
) -> str:
    """The program for an arm and a session, as it is sent.

    Args:
        rate: of the controller, Hz.
        lead: rad that a commanded position may be from the measured one.
    """
    silent = cycles_of_silence(rate)
    numbers = {
        "WHO": f"ur-admittance {__version__}, {model.name}.",
        "SESSION": session,
        "SILENT": silent,
        "WATCHDOG": f"{rate / (_BEHIND * silent):g}",
        "Q_MIN": _listed(np.maximum(model.q_min, -1e3)),
        "Q_MAX": _listed(np.minimum(model.q_max, 1e3)),
        "QD_MAX": _listed(model.qd_max),
        "QDD_MAX": _listed(model.qdd_max),
        "ACCELERATION": f"{float(model.qdd_max.max()):.6g}",
        "BRAKE": f"{float(model.qdd_max.min()):.6g}",
        "LOOKAHEAD": LOOKAHEAD,
        "GAIN": GAIN,
        "LEAD": f"{lead:.6g}",
        **{f"I{n}": registers.first + n for n in range(VALUES)},
    }
    text = (resources.files("ur_admittance.robots.rtde") / "ur_admittance.script").read_text(
        "utf-8"
    )
    return Template(text).substitute({name: str(value) for name, value in numbers.items()})


def for_urcap(text: str) -> str:
    """The same for the External Control URCap, which puts functions and what to run, between our
    marks, into a program of its own.
    """
    body = text.rstrip().splitlines()[1:-1]  # without `def ur_admittance():` and `end`
    return "\n".join(body) + "\n"


def _listed(values: np.ndarray) -> str:
    return "[" + ", ".join(f"{value:.6f}" for value in values) + "]"
