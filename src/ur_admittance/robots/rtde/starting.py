"""Starting our program on the robot: by sending it, or through the External Control URCap."""

from __future__ import annotations

from collections.abc import Callable
from types import TracebackType
from typing import Self

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde.primary import Primary
from ur_admittance.robots.rtde.script import for_urcap
from ur_admittance.robots.rtde.status import Status
from ur_admittance.robots.rtde.urcap import ScriptServer

_SENT, _ASKED = 5.0, 120.0  # s for the program to run: once it is sent; for a person to press play
_LOCAL = "C210A0"  # what a controller in local control answers to a script


class Start:
    """From the first word to the program's first."""

    def __init__(
        self,
        name: str,
        text: str,
        link: Primary,
        urcap: int | None,
        tell: Callable[[str], None],
        clock: Callable[[], float],
    ) -> None:
        """
        Args:
            name: of the robot.
            text: of the program.
            link: takes scripts, and hears what the controller says of them.
            urcap: port of the URCap's requests; None: the script is sent.
            tell: takes a line for a person.
            clock: s.
        """
        self._name, self._link, self._clock = name, link, clock
        self._server = None if urcap is None else ScriptServer(for_urcap(text), urcap)
        if self._server is None:
            link.run(text)
        else:
            tell(
                f"waiting for the External Control program: press play on the pendant of {name} "
                f"(External Control needs this computer's address, and port {self._server.port})"
            )
        self._deadline = clock() + (_SENT if self._server is None else _ASKED)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._server is not None:
            self._server.close()

    def look(self, status: Status) -> None:
        """Called with every state until the program runs.

        Raises:
            RobotError: it will not.
        """
        if self._server is not None:
            self._server.poll()
        self._link.look()
        if problem := status.robot_problem():
            raise RobotError(f"{self._name}: {problem}")
        said = self._link.said
        if any(line.startswith(_LOCAL) for line in said):
            raise RobotError(
                f"{self._name}: the robot is in local control and takes no program; switch it to "
                "remote control at the top right of the pendant, or use --urcap"
            )
        if self._clock() > self._deadline:
            heard = f" It said: {'; '.join(said[-3:])}." if said else ""
            if self._server is None:
                advice = "look at the log on the pendant"
            elif self._server.served:
                advice = "it was fetched; is the External Control node the one that runs?"
            else:
                advice = "nobody asked for it: see Host IP and port under Installation, URCaps"
            raise RobotError(f"{self._name}: our program does not run.{heard} {advice}")
