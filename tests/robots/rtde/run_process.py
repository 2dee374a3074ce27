"""`ur-admittance` as a process whose clock is the robot's: on a busy machine it is never late.

python -m tests.robots.rtde.run_process run --robot rtde://...
"""

from __future__ import annotations

from typing import Any

from tests.robots.rtde.robots_time import PATIENCE, live_in
from ur_admittance.cli import main
from ur_admittance.robots.rtde import connection, dashboard, inspection, primary
from ur_admittance.robots.rtde.robot import RtdeRobot

_made = RtdeRobot.__init__


def made(self: RtdeRobot, *arguments: Any, **options: Any) -> None:
    """A robot that lives in the time that its states tell, whichever command makes it."""
    _made(self, *arguments, **options)
    live_in(self.session)


def be_patient() -> None:
    """Until there are states, who is asked may take as long as it will to answer."""
    connection.CONNECT_SECONDS = inspection.ANSWER_SECONDS = PATIENCE
    connection.receive.__defaults__ = (PATIENCE,)
    dashboard._SECONDS = primary._PATIENCE = PATIENCE


if __name__ == "__main__":
    RtdeRobot.__init__ = made  # type: ignore[method-assign]
    be_patient()
    main()
