"""A link: what cannot be a body is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.model.support import message
from ur_admittance.model import Link, RobotModel

ARMS = ("ur3e", "ur5e", "ur10e", "ur16e", "ur20", "ur30")


# --- the arms ---


@pytest.mark.parametrize("name", ARMS)
def test_every_link_is_a_possible_body(name: str) -> None:
    links = RobotModel.ur(name).links
    assert [link.name for link in links][:2] == ["shoulder_link", "upper_arm_link"]
    for link in links:
        np.testing.assert_allclose(link.inertia, link.inertia.T, atol=1e-15)
        a, b, c = np.linalg.eigvalsh(link.inertia)
        assert a > 0 and a + b >= c, link.name


# --- the model as a value ---


@pytest.mark.parametrize(
    ("mass", "com", "expected"),
    [
        (0, [0, 0, 0], "mass is 0.0 kg"),
        (math.nan, [0, 0, 0], "mass"),
        (1, [0, 0], "com: must be three numbers"),
    ],
)
def test_a_link_that_cannot_be_is_refused(mass, com, expected) -> None:
    said = message(Link, "forearm", mass, com, np.eye(3))
    assert "'forearm'" in said and expected in said
