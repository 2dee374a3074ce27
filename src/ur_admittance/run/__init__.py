"""A run of an arm: who agrees to it, the loop that drives it, why it stopped. `Run` owns it all."""

from ur_admittance.run.owner import Run, run

__all__ = ["Run", "run"]
