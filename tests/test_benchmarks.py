"""The rivals in `benchmarks/` do what our controller does; how fast is not tested here."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import benchmarks
import numpy as np
import pytest
from benchmarks import cpp_rows, numpy_pinocchio, rtde_endurance, witness, workload
from benchmarks.stalls import Stall

pytestmark = pytest.mark.slow
AGREEMENT = 1e-6  # rad/s
SECONDS = 500.0  # for a benchmark to end


@pytest.fixture(scope="module")
def free() -> workload.Workload:
    return workload.free()


def test_the_workload_moves_the_arm_and_meets_no_limit(free):
    assert free.status == 0
    assert np.abs(free.qd).max(axis=0).min() > 0.05


def test_the_tick_in_timed_steps_is_still_the_tick():
    code = """
from benchmarks import split, tick, workload
few = workload.record(workload.SETTINGS, workload.start(), workload.push, ticks=60)
assert (tick.replay(few) == few.qd).all()
assert (split.replay(few)[0] == few.qd).all()
assert few.qd.any()
"""
    uncompiled = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    root = Path(benchmarks.__file__).parent.parent
    subprocess.run(
        [sys.executable, "-c", code], env=uncompiled, cwd=root, check=True, timeout=SECONDS
    )


def test_numpy_and_pinocchio_agree(free):
    assert np.abs(numpy_pinocchio.replay(free) - free.qd).max() < AGREEMENT


@pytest.mark.parametrize("source", ["floor.cpp", "kdl.cpp"])
def test_cpp_agrees(free, source):
    program = next(p for p in cpp_rows.PROGRAMS if p.source == source and not p.flags)
    if why := cpp_rows.missing(program):
        pytest.skip(why)
    cpp_rows.build(program)
    statistics, qd = cpp_rows.run(program, free, 1)
    assert np.abs(qd - free.qd).max() < AGREEMENT
    assert statistics["status"] == 0
    assert statistics["allocations"] == 0


def test_a_bare_loop_tells_how_often_its_machine_would_have_stopped_an_arm():
    def stops(*late: int) -> int:
        lateness = np.zeros(5000)
        lateness[list(late)] = 0.003
        return witness.stops(lateness, 0.002)

    assert stops() == stops(1, 2, 4, 5, 7) == stops(*range(498, 506, 2)) == 0
    assert stops(1, 2, 3) == stops(1, 3, 5, 7, 9, 11) == stops(1, 2, 3, 401, 402, 403) == 1
    assert stops(1, 2, 3, 601, 602, 603) == 2


def test_a_stop_is_the_machines_own_only_if_a_core_stood_still_just_before_it():
    run = {"states": 1000, "lost": 10, "recorded": 990, "doubled": 0, "stopped": "stopped"}
    runs = [{**run, "window": (100.0, 102.0)}, {**run, "window": (200.0, 202.0)}]
    runs.append({**run, "window": (300.0, 302.0), "stopped": ""})
    stalls = [Stall(101.9, 0.03), Stall(150.0, 0.5), Stall(201.9, 0.004), Stall(201.0, 0.2)]
    found = rtde_endurance.judged(runs, stalls)
    assert (found["runs"], found["stops"], found["stops without a stall"]) == (3, 2, 1)
    assert found["states lost"] == 30 and found["ticks not recorded"] == 0
    assert found["cycles that a core stood still"] == pytest.approx(117.0)
    assert found["longest stall, ms"] == pytest.approx(200.0)


def test_the_ros2_benchmark_measures_all_its_rows(tmp_path):
    pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")
    file, root = tmp_path / "ros2.json", Path(benchmarks.__file__).parent.parent
    command = [sys.executable, "-m", "benchmarks.ros2", "--quick", "--json", str(file)]
    command += ["--clock", "joint_states"]  # the other is paced by what tests/ros2 tests
    result = subprocess.run(
        command, cwd=root, capture_output=True, text=True, check=False, timeout=SECONDS
    )
    assert result.returncode in (0, 1), result.stderr  # 1: a busy machine has lost a message
    results = json.loads(file.read_text())
    rows = [*results["ways"].values(), *results["node"].values()]
    assert len(results["ways"]) == 4 and len(results["node"]) == 1
    assert all(row["sent"] > 0 and row["cpu"] > 0.0 for row in rows)
    assert all(row["trip"]["p50"] > 0.0 for row in results["ways"].values())
