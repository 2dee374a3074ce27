"""A client that lives in its robot's time: never late, and a state may take as long as it will."""

from __future__ import annotations

from ur_admittance.robots.rtde.session import Session

PATIENCE = 120.0  # s on the wall, for a state


def live_in(session: Session) -> None:
    """Before it is connected. The time is that of its states."""
    session.clock = lambda: session.states.time
    start = session.client.start
    session.client.start = lambda believe, patience: start(believe, PATIENCE)  # type: ignore[method-assign]
