"""The pictures of a report."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance.kernel import layout
from ur_admittance.report import plots
from ur_admittance.report.rendering import rendering

pytest.importorskip("mujoco")
from tests.report.support import RATE, guided


def test_long_series_keep_their_extremes():
    rng = np.random.default_rng(5)
    t = np.arange(300_000) / RATE
    y = np.sin(t) + 0.1 * rng.normal(size=len(t))
    y[123_456], y[222_222], y[50_000:60_000] = 9.0, -7.0, np.nan
    short_t, short_y = plots.envelope(t, y)
    assert len(short_t) == len(short_y) < 4000
    assert np.nanmax(short_y) == 9.0 and np.nanmin(short_y) == -7.0
    assert (np.diff(short_t) >= 0).all() and abs(short_t[np.nanargmax(short_y)] - 246.9) < 0.5


def test_figures_leave_nothing_behind():
    import matplotlib.pyplot as plt

    records = guided().records
    other = np.repeat(layout.new_outputs(), len(records))  # a replay that knows nothing
    figure = plots.compare(records, other, "lighter")
    assert len(figure.axes) == 4
    assert plots.rendered_and_ideal(guided(), rendering(guided())).axes
    assert plt.get_fignums() == []
