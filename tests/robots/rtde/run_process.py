"""`ur-admittance` as a process whose clock is the robot's: on a busy machine it is never late.

python -m tests.robots.rtde.run_process run --robot rtde://...
"""

from __future__ import annotations

from typing import Any

from tests.robots.rtde.robots_time import live_in
from ur_admittance.cli import main, run_rtde

_make = run_rtde.RtdeRun.robot


def robot(self: run_rtde.RtdeRun, *arguments: Any, **options: Any) -> Any:
    """The robot, living in the time that its states tell."""
    made = _make(self, *arguments, **options)
    live_in(made.session)
    return made


if __name__ == "__main__":
    run_rtde.RtdeRun.robot = robot  # type: ignore[method-assign]
    main()
