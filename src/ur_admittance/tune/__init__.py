"""From what a user knows to gains: a sweep of rollouts, the best of it, and why."""

from ur_admittance.tune.choose import Tuned, tune
from ur_admittance.tune.question import TASKS, Question
from ur_admittance.tune.sweep import dask_workers, local_processes

__all__ = ["TASKS", "Question", "Tuned", "dask_workers", "local_processes", "tune"]
