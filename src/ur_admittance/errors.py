"""The errors a user can meet. Each message says what was wrong, where, what was got, and what would
be right.
"""

from __future__ import annotations


class AdmittanceError(Exception):
    """Base of every error this package raises on purpose."""


class ConfigError(AdmittanceError):
    """A configuration, or a change to one, that cannot be used.

    Attributes:
        problems: one line for each thing that is wrong, in the order of the file.
    """

    def __init__(self, message: str, problems: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.problems = problems or (message,)


class ModelError(AdmittanceError):
    """A robot description, joint vector or transform that cannot be used."""


class RobotError(AdmittanceError):
    """A robot, or the state of a controller, that does not allow what was asked."""


class CalibrationError(AdmittanceError):
    """Measurements from which nothing reliable can be identified."""
