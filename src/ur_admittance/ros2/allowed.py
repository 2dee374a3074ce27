"""What whoever started the node allows those on the graph, and other processes, to do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Allowed:
    """Everything that is not is refused, with the option that would allow it.

    Attributes:
        travel: an activation or a reset may set off for an equilibrium that is far away.
        reset: a stop may be cleared, by the reset service or by deactivating and activating.
        loosening: limits, safety and payload may be changed either way while active.
        unguarded: velocity mode without the guard that brakes the arm should this process die.
        outside: an activation may be outside the workspace box, from where only inward motion is
            possible.
    """

    travel: bool = False
    reset: bool = False
    loosening: bool = False
    unguarded: bool = False
    outside: bool = False
