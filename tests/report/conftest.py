"""The fixtures of the tests of recordings."""

from tests.telemetry.conftest import _own_folder, run

__all__ = ["_own_folder", "run"]
