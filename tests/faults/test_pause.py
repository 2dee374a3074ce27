"""Row 21: after a pause the command goes on from what was measured, not from the old one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support import arm
from ur_admittance import Config, Controller

DT, PUSH = 0.002, np.array([0, 20.0, 0, 0, 0, 0])


def moving() -> tuple[Controller, np.ndarray]:
    controller, q = Controller(arm(), Config()), arm().home.copy()
    controller.activate(q)
    for _ in range(400):
        q = q + DT * controller.update(q, PUSH, DT)["qd"]
    assert np.linalg.norm(controller.outputs["V_WP_cmd"][0]) > 0.1
    return controller, q


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_an_arm_that_braked_by_itself_is_not_sped_up_again(share: float) -> None:
    controller, q = moving()
    before = controller.outputs["qd"][0].copy()
    gap = 0.06
    controller.observe(share * before, 1.0)
    out = controller.update(q + share * gap * before, PUSH, gap)
    assert controller.mode == "holding"
    # what it does, as far as the joints can have slowed down since the last command, is commanded
    least = max(0.0, float((1.0 - arm().qdd_max * gap / np.maximum(np.abs(before), 1e-9)).max()))
    np.testing.assert_allclose(out["qd"], max(share, least) * before, atol=1e-12)
    assert (np.abs(out["qd"] - before) <= arm().qdd_max * gap + 1e-12).all()
    told = out["qd"].copy()
    q = q + share * gap * before
    while np.abs(told).max() > 0.0:  # and from there it is braked to rest
        out = controller.update(q, PUSH, DT)
        assert np.linalg.norm(out["qd"]) <= np.linalg.norm(told)
        told = out["qd"].copy()
        q = q + DT * told


def test_rates_that_no_joint_can_have_slowed_down_to_are_not_believed() -> None:
    controller, q = moving()
    before = controller.outputs["qd"][0].copy()
    controller.observe(-5.0 * before, 1.0)
    gap = 0.011
    out = controller.update(q + gap * before, PUSH, gap)
    assert (np.abs(out["qd"] - before) <= arm().qdd_max * gap + 1e-12).all()


def test_without_rates_it_brakes_from_the_last_command() -> None:
    controller, q = moving()
    before = np.linalg.norm(controller.outputs["qd"][0])
    out = controller.update(q, PUSH, 0.02)
    assert controller.mode == "holding"
    assert 0.0 < np.linalg.norm(out["qd"]) < before
