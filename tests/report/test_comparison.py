"""Two recordings side by side."""

from __future__ import annotations

import dataclasses

import pytest

from ur_admittance import RobotError
from ur_admittance.report.comparison import differences, numbers, write_comparison
from ur_admittance.report.write import summarise

pytest.importorskip("mujoco")
from tests.report.support import free, guided


def test_what_was_set_differently_and_what_came_of_it_stand_side_by_side(tmp_path) -> None:
    one, other = guided(), free()
    nasty = dataclasses.replace(other, path=other.path.with_name("<b>.mcap"), robot="<i>")
    path = write_comparison(one, nasty, tmp_path / "both")
    page = path.read_text("utf-8")
    assert "<b>" not in page and "<i>" not in page and "http" not in page
    assert "&lt;b&gt;" in page and page.count("data:image/png;base64,") == 1
    for name, before, now in differences(one, other):
        assert name in page and before != now
    both = {name: cells for name, *cells in numbers(summarise(one), summarise(other))}
    assert both["moved"] == [f"{1e3 * summarise(r)['distance']:.0f} mm" for r in (one, other)]


def test_a_recording_is_like_itself_and_one_without_ticks_is_refused(tmp_path) -> None:
    one = guided()
    assert differences(one, one) == []
    empty = dataclasses.replace(one, records=one.records[:2])
    with pytest.raises(RobotError, match="too few ticks"):
        write_comparison(one, empty, tmp_path)
    assert not list(tmp_path.iterdir())
