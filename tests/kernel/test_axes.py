"""The axes of the law: vectors turn into them and back as SciPy turns them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from tests.kernel.plain import plain, records
from tests.support import free_config

axes = plain("axes")


@pytest.mark.parametrize("frame", ["probe", "base"])
@settings(max_examples=50)
@given(st.integers(0, 2**31))
def test_the_axes_are_those_of_d_or_w_turned_by_the_task(frame: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    r = records(free_config(**{"admittance.frame": frame}))
    D, task = Rotation.from_quat(rng.normal(size=(2, 4)))
    r.s.wxyz_WD[:], r.s.wxyz_task[:] = np.roll(D.as_quat(), 1), np.roll(task.as_quat(), 1)
    R_WL = D * task if frame == "probe" else task
    a = rng.normal(size=3)
    np.testing.assert_allclose(axes.to_world(r.p, r.s, a), R_WL.apply(a), atol=1e-14)
    np.testing.assert_allclose(axes.to_law(r.p, r.s, a), R_WL.inv().apply(a), atol=1e-14)
