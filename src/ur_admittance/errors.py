"""The errors a user can meet. Each message says what was wrong, where, what was got, and what would
be right.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


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


@contextmanager
def needs(words: str, extra: str, error: type[AdmittanceError] = RobotError) -> Iterator[None]:
    """Say, as an `error`, how to get what cannot be imported in here.

    `words`: such as 'calibration needs SciPy'; `extra`: of the package, that brings it.
    """
    try:
        yield
    except ImportError as missing:
        raise error(
            f"{words}, which cannot be imported here ({missing}): "
            f'pip install "ur-admittance[{extra}]"'
        ) from missing
