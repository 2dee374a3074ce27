"""One machine for a module: making one takes longer than most of its scripts."""

from __future__ import annotations

import pytest

from tests.ur_fake.scripting import machine_at_rest
from ur_fake.machine import Machine


@pytest.fixture(scope="module")
def machine() -> Machine:
    return machine_at_rest()
