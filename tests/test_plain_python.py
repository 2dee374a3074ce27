"""Without its compiler the kernel is the same Python, and gives the same numbers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.support import names_in, scenario, touching
from ur_admittance.kernel import bits

ROOT = Path(__file__).parent.parent
SCRIPT = """
import sys
import numpy as np
from tests.support import scenario, touching
from ur_admittance.kernel.tick import update
assert not hasattr(update, "overloads"), "this is compiled"
np.save(sys.argv[1], scenario())
np.save(sys.argv[2], touching())
"""


def test_the_scenario_goes_through_most_of_the_kernel() -> None:
    history = scenario()
    said = {"workspace_limit", "singularity", "wrench_not_finite", "wrench_stale", "bad_dt"}
    assert names_in(history) >= said | {"stop_requested", "acceleration_limit", "jerk_limit"}
    modes = {bits.ACTIVE, bits.HOLDING, bits.STOPPED, bits.LEAVING}
    assert set(history["mode"].tolist()) >= modes


@pytest.mark.slow
def test_plain_python_gives_the_same_outputs_as_the_compiled_kernel(tmp_path: Path) -> None:
    file, second = tmp_path / "plain.npy", tmp_path / "touching.npy"
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    subprocess.run(
        [sys.executable, "-c", SCRIPT, str(file), str(second)],
        cwd=ROOT,
        env=environment,
        check=True,
        timeout=300,
    )
    plain, compiled = np.load(file), scenario()
    assert len(plain) == len(compiled) > 400
    for plainly, quickly in ((plain, compiled), (plain["inputs"], compiled["inputs"])):
        for name in set(quickly.dtype.names or ()) - {"inputs", "timing"}:
            np.testing.assert_allclose(
                plainly[name], quickly[name], rtol=1e-12, atol=1e-12, err_msg=name
            )
    plain, compiled = np.load(second), touching()
    assert names_in(compiled) >= {"contact_damping", "contact_braking"}
    for name in ("qd", "contact_stiffness", "contact_normal", "energy", "status"):
        np.testing.assert_allclose(plain[name], compiled[name], rtol=1e-9, atol=1e-9, err_msg=name)
