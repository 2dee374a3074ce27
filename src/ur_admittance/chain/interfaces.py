"""Interfaces and links: named numbers in one array, and what reads and writes them.

    shoulder_pan_joint/position            state, from the robot; or a command, to the robot
    ft_sensor/force.x                      state
    admittance/shoulder_pan_joint/velocity a reference: what the link `admittance` exports

Names are looked up once, when a link is configured. From then on a link holds views of the array,
and handing a number over is writing it there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Protocol, runtime_checkable

import numpy as np

from ur_admittance.chain import compiled
from ur_admittance.config.validate import suggest
from ur_admittance.errors import ConfigError
from ur_admittance.faults import StopReason

CAPACITY = 1024  # interfaces; views must not move, so the array never grows
WRENCH = tuple(f"ft_sensor/{part}.{axis}" for part in ("force", "torque") for axis in "xyz")
TIMES = ("dt", "ft_sensor/age", "joints/age", "time")
SCALING = "speed_scaling"
DESIRED = (
    *(f"position.{axis}" for axis in "xyz"),
    *(f"orientation.{part}" for part in "wxyz"),
    *(f"{part}.{axis}" for part in ("linear", "angular") for axis in "xyz"),
    "has_pose",
    "count",
)
"""A desired pose in W: m, wxyz, m/s, rad/s; whether there is a pose or a twist only; and a count
that goes up with every new one."""


_SIX = ("x", "y", "z", "rx", "ry", "rz")
STREAM = (
    *(f"target.{axis}" for axis in _SIX),
    *(f"axes.{axis}" for axis in _SIX[3:]),
    *(f"{gain}.{axis}" for gain in ("mass", "damping", "stiffness") for axis in _SIX),
    "streams",
    "stream_count",
)
"""Force, axes of the law and gains, as `Controller.stream` takes them; which of them are given; and
a count that goes up with every new one."""


def positions(joints: Iterable[str], link: str = "") -> tuple[str, ...]:
    """`<joint>/position` of each joint, rad; with a link's name before it, that link's."""
    return tuple(f"{link}/{joint}/position".lstrip("/") for joint in joints)


def velocities(joints: Iterable[str], link: str = "") -> tuple[str, ...]:
    """`<joint>/velocity` of each joint, rad/s; with a link's name before it, that link's."""
    return tuple(f"{link}/{joint}/velocity".lstrip("/") for joint in joints)


class Link:
    """One controller of a chain. The manager calls these methods, in the order of ros2_control's
    life cycle; a link of your own overrides what it needs. One that is also a `Pacer` says, before
    each cycle, how fast time runs in the chain (see `ScaledTrajectory`).
    """

    def __init__(self, name: str) -> None:
        self.name = name  # unique in the chain; the first part of its references' names
        # state of the robot, and references of links that must be active with this one
        self.reads: tuple[str, ...] = ()
        self.may_read: tuple[str, ...] = ()  # references of links that may be inactive
        self.commands: tuple[str, ...] = ()  # of joints, that only it writes while it is active
        self.exports: tuple[str, ...] = ()  # its references, without its name
        # or 'inactive', 'active', 'leaving', 'error'; the manager's to set
        self.state = "unconfigured"

    def declare(self, joints: tuple[str, ...]) -> None:
        """Set `reads`, `may_read`, `commands` and `exports`, if they depend on the robot."""

    def configure(self, ports: Ports) -> None:
        """Resolve names to views, once."""

    def activate(self) -> None:
        """Start, from the measured state, at rest."""

    def update(self, dt: float) -> str | None:
        """One cycle: read, and write all exports and commands. Called 500 times a second.

        Args:
            dt: time since the last cycle, s; 0 while the robot is paused (see `ScaledTrajectory`).

        Returns:
            None, or what went wrong, in words; raising says the same.
        """

    def deactivate(self) -> bool:
        """Come to an end. Asked before each cycle until it is True; until then `update` goes on."""
        return True

    def cleanup(self) -> None:
        """Forget what `configure` made."""

    def error(self, why: str) -> bool:
        """This link failed, or one whose references it reads did, or a stop was asked for.

        Returns:
            Whether it brings its exports to rest by itself. If not, it is over: so is whoever
            reads its references, and the manager brakes the joints that it commands.
        """
        return False

    # --- what it says of itself ---

    @property
    def mode(self) -> str:
        """'active', 'holding' (goes on by itself), 'stopped' (until recovered)."""
        return "active"

    @property
    def reason(self) -> StopReason | None:
        """Why it is stopped; None unless it is."""
        return None

    def words(self) -> list[str]:
        """What somebody should know, most serious first."""
        return []


@runtime_checkable
class Pacer(Protocol):
    """A link that sets the pace of its chain; at most one that is active may."""

    def pace(self, seconds: float) -> float:
        """How fast time runs in the chain now, 0 to 1; asked once a cycle of `seconds`."""
        ...


class Interfaces:
    """All named numbers of a chain, in one array."""

    def __init__(self, joints: Sequence[str]) -> None:
        self.values = np.zeros(CAPACITY)  # the array; never replaced
        self.joints = tuple(joints)  # names, base to tip
        state = (*positions(joints), *velocities(joints), *WRENCH, *TIMES, SCALING)
        self._read = {name: n for n, name in enumerate(state)}
        command = (*velocities(joints), *positions(joints))
        self._commands = {name: n for n, name in enumerate(command, compiled.QD_CMD)}
        self._blocks: dict[tuple[str, ...], int] = {}
        self._size = compiled.OWN
        self._names = [*state, *(f"command/{name}" for name in command)]

    @property
    def names(self) -> tuple[str, ...]:
        """Of the numbers in the array, in order; commands with `command/` before them."""
        return tuple(self._names)

    @property
    def readable(self) -> tuple[str, ...]:
        """What a link can read: the robot's state, and the references of all links."""
        return tuple(self._read)

    def add(self, names: tuple[str, ...]) -> None:
        """Give references a place; the same place as before, if they had one."""
        if names not in self._blocks:
            if self._size + len(names) > CAPACITY:
                raise ConfigError(
                    f"chain: {self._size + len(names)} interfaces are more than the {CAPACITY} "
                    "there is room for; make a new manager"
                )
            self._blocks[names] = self._size
            self._size += len(names)
            self._names += names
        first = self._blocks[names]
        self._read |= {name: first + n for n, name in enumerate(names)}

    def remove(self, names: Iterable[str]) -> None:
        """Forget references; their place is kept for their return."""
        for name in names:
            self._read.pop(name, None)

    def check(self, link: Link, references: Iterable[str] = ()) -> None:
        """Raise unless all it reads and commands exists, or will (`references`), and no export is
        twice.
        """
        twice = sorted({name for name in link.exports if link.exports.count(name) > 1})
        if twice:
            raise ConfigError(f"{link.name} exports {', '.join(twice)} more than once")
        for wanted, there, verb in (
            ((*link.reads, *link.may_read), {*self._read, *references}, "reads"),
            (link.commands, self._commands, "commands"),
        ):
            for name in wanted:
                if name not in there:
                    raise ConfigError(
                        f"{link.name} {verb} {name!r}, which does not exist; there are "
                        f"{', '.join(sorted(there))}{suggest(name, there)}"
                    )

    def view(self, names: Sequence[str], *, command: bool = False) -> np.ndarray:
        """The part of the array that holds `names`, which must stand there side by side."""
        table = self._commands if command else self._read
        places = [table[name] for name in names]
        first = places[0] if places else 0
        if places != list(range(first, first + len(places))):
            raise ConfigError(
                f"chain: {', '.join(names)} do not stand side by side in the array; look them up "
                f"one by one, or in the order {', '.join(sorted(names, key=table.__getitem__))}"
            )
        return self.values[first : first + len(places)]


class Ports:
    """What one link may see of the interfaces: what it declared."""

    def __init__(self, link: Link, interfaces: Interfaces) -> None:
        self._link, self._interfaces = link, interfaces

    def read(self, names: Sequence[str]) -> np.ndarray:
        """A read-only view of state or references that are in `reads` or `may_read`."""
        self._declared(names, (*self._link.reads, *self._link.may_read), "reads or may_read")
        view = self._interfaces.view(names)
        view.flags.writeable = False
        return view

    def command(self, names: Sequence[str]) -> np.ndarray:
        """A view to write commands to."""
        self._declared(names, self._link.commands, "commands")
        return self._interfaces.view(names, command=True)

    def export(self) -> np.ndarray:
        """A view to write all exports to."""
        return self._interfaces.view(references_of(self._link))

    def _declared(self, names: Sequence[str], declared: tuple[str, ...], where: str) -> None:
        for name in names:
            if name not in declared:
                raise ConfigError(
                    f"{self._link.name}: {name!r} is not in its {where}: {', '.join(declared)}; "
                    "declare it, so that the manager can put the links in order"
                )


def references_of(link: Link) -> tuple[str, ...]:
    """The full names of what a link exports."""
    return tuple(f"{link.name}/{name}" for name in link.exports)
