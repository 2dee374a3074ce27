"""A run of an arm: what is looked at before it moves, the loop that drives it, why it stopped."""

from ur_admittance.run.loop import run

__all__ = ["run"]
