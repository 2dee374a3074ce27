"""Without `contact.adapt` nothing of contact is in the motion: runs recorded before there was any.

`recorded.npz` holds every tenth joint rate of 500 ticks, for each preset and output mode.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support import arm
from ur_admittance import Config, Controller

RECORDED = np.load(Path(__file__).parent / "recorded.npz")
OFF = {"contact.adapt": False, "contact.monitor": False}


@pytest.mark.parametrize("mode", ["velocity", "position"])
@pytest.mark.parametrize("preset", ["human-collaboration", "pose-law", "velocity-law"])
def test_without_contact_damping_the_arm_moves_as_it_did_before_there_was_any(
    preset: str, mode: str
) -> None:
    config = Config.preset(preset).replace({"output.mode": mode, **OFF})
    controller, rng = Controller(arm(), config), np.random.default_rng(5)
    q = arm().home + rng.uniform(-0.2, 0.2, 6)
    controller.activate(q)
    rates, push = [], np.zeros(6)
    for k in range(500):
        if k % 60 == 0:
            push = rng.normal(size=6) * [15, 15, 15, 1.5, 1.5, 1.5]
        noise = rng.normal(size=6) * [0.1, 0.1, 0.1, 0.01, 0.01, 0.01]
        out = controller.update(q, push + noise, 0.002)
        rates.append(np.array(out["qd"]))
        q = q + out["qd"] * 0.002
    # to the last bit on the machine that recorded them; another one's sine may round elsewhere
    np.testing.assert_allclose(rates[::10], RECORDED[f"{preset}_{mode}"], rtol=0, atol=1e-11)
