"""What a run was like, and several in a row."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance.run.summary import Histogram, Summary


def summary(ticks: int, share: float, mode: str) -> Summary:
    made = Summary(ticks=ticks, late=2, seconds=0.002 * ticks, mode=mode, held={"limit": share})
    made.tick.add(np.full(ticks, 1e-5))
    return made


def test_runs_in_a_row_add_up_and_end_as_the_last_did() -> None:
    total = Summary()
    total.follow(summary(300, 0.5, "stopped"))
    assert total.as_dict() == summary(300, 0.5, "stopped").as_dict()
    total.follow(summary(100, 0.1, "inactive"))
    assert (total.ticks, total.late, total.mode, total.faulted) == (400, 4, "inactive", False)
    assert total.seconds == pytest.approx(0.8)
    assert total.held["limit"] == pytest.approx((300 * 0.5 + 100 * 0.1) / 400)
    assert total.tick.counts.sum() == 400


def test_a_limit_of_one_of_them_counts_for_its_part() -> None:
    total = summary(100, 0.4, "inactive")
    total.follow(Summary(ticks=300))
    assert total.held == {"limit": pytest.approx(0.1)}


def test_a_histogram_knows_its_quantiles_to_six_percent():
    histogram = Histogram()
    samples = np.random.default_rng(0).lognormal(-7, 1, 5000)
    histogram.add(samples[:4000])
    histogram.add(samples[4000:])
    for share in (0.5, 0.9, 0.99):
        assert histogram.quantile(share) == pytest.approx(np.quantile(samples, share), rel=0.08)
    assert histogram.quantile(1.0) == histogram.most == samples.max()
