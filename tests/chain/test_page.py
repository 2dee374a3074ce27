"""What the page on chaining shows runs, and its benchmark measures what it says."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path

import pytest
from benchmarks import chain as benchmark

from tests.chain.support import Watched, compliant
from tests.support import arm

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/chaining.md").read_text("utf-8")
BLOCKS = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
(WHOLE,) = (block for block in BLOCKS if "with SimRobot" in block)
(FAILURE,) = (block for block in BLOCKS if "manager.failure" in block)
(CIRCLE,) = (block for block in BLOCKS if "class Circle" in block)


def test_the_first_chain_of_the_page_runs_and_ends_at_rest(capsys):
    exec(WHOLE, {})
    assert capsys.readouterr().out == "inactive player > admittance > forward\n"


def test_the_link_of_ones_own_moves_the_tool_on_a_circle_and_the_failure_can_be_read(capsys):
    names: dict = {}
    exec(CIRCLE, names)
    manager = compliant(names["Circle"]("circle"))
    loop = Watched(manager)
    start = arm().fk(loop.q)[:3, 3]
    away = loop.run(2.5)["X_WD"][:3, 3] - start
    assert abs(away[1] - 2 * 0.05 / (2 * 3.1416 * 0.2)) < 0.01  # half way round: a diameter
    back = loop.run(2.5)["X_WD"][:3, 3] - start
    assert abs(back).max() < 0.01
    manager["circle"].update = None  # type: ignore[assignment]
    manager._rewire()
    loop.tick()
    loop.until(lambda: manager.at_rest)
    exec(FAILURE, {"manager": manager})
    assert "'circle' failed" in capsys.readouterr().out
    assert manager.switching


def test_every_link_and_interface_of_the_page_exists():
    manager = compliant()
    for name in ("dt", "time", "joints/age", "ft_sensor/age", "speed_scaling"):
        assert f"`{name}`" in PAGE
        assert name in manager.interfaces.readable
    import ur_admittance.chain as package

    for name in re.findall(r"^\| `(\w+)`(?:, `(\w+)`)? \| (?:above|middle|below)", PAGE, re.M):
        assert all(hasattr(package, part) for part in name if part)


@pytest.mark.slow
def test_the_benchmark_measures_every_row_and_the_chain_leaves_no_object_behind(
    tmp_path, monkeypatch
):
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path))
    results = benchmark.measure(rounds=1, passes=1)
    assert set(results["cycles"]) >= {benchmark.ALONE, benchmark.GUARD, benchmark.PLAYED}
    assert all(row["p50"] > 0 for row in results["cycles"].values())
    counted = benchmark.allocations(1000)
    assert abs(counted["objects left"]) < 100
    if importlib.util.find_spec("rclpy") is None:
        assert "rclpy cannot be imported" in str(benchmark.topics(1))
