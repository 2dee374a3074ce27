"""The benchmark of the loop measures what it says; how fast the loop is, is not tested here."""

from __future__ import annotations

import io
import json
import math
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks import loop as beside_c
from rich.console import Console

from tests.cli.support import invoke
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.bench import loop as loop_bench
from ur_admittance.bench.processes import PERIOD, StandIn

SECONDS = 0.6


@pytest.fixture(scope="module")
def results() -> dict[str, Any]:
    """One short run of all rows, with those of C."""
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setenv("UR_ADMITTANCE_RUNTIME", folder)
        told = []
        found = beside_c.measure(SECONDS, lambda *words: told.append(words))
        assert [number for _, number, _ in told] == list(range(len(found["rows"])))
        assert not list(Path(folder).iterdir())  # no blackboard is left behind
    return json.loads(json.dumps(found))


def ours(results: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in results["rows"] if row["loop"].startswith("ours")]


@pytest.mark.slow
def test_every_row_has_finite_numbers(results):
    kinds = {"p50", "p99", "p99.9", "max"}
    assert 0.0 <= results["machine"]["stolen"] <= 1.0
    assert {row["load"] for row in ours(results)} == {"quiet", "watched", "busy"}
    for row in results["rows"]:
        times = [row["lateness"]]
        if row in ours(results):
            times += [row[name] for name in ("tick", "reaction", "publish", "period")]
            assert row["resident"] > 2**20
            assert row["faults"] >= 0
        for quantiles in times:
            assert set(quantiles) == kinds
            assert all(math.isfinite(value) and value > 0.0 for value in quantiles.values())
            assert quantiles["p50"] <= quantiles["p99"] <= quantiles["p99.9"] <= quantiles["max"]
        assert 0.0 < row["cpu"] < 1.0


@pytest.mark.slow
def test_c_runs_under_every_load_that_ours_runs_under(results):
    if shutil.which("cc") is None:
        assert any("no C compiler" in note for note in results["notes"])
        return
    kinds = {True: set(), False: set()}
    for row in results["rows"]:
        if row["load"] != "watched":
            kinds[row["loop"][0] == "C"].add((row["load"], row["priority"], row["awake"]))
    assert kinds[True] == kinds[False]


@pytest.mark.slow
def test_rows_with_real_time_are_there_or_a_line_says_why_not(results):
    kinds = {"FIFO": "priority", "awake": "awake"}
    absent = [name for name, kind in kinds.items() if not any(r[kind] for r in ours(results))]
    told = [note for note in results["notes"] if note.startswith("rows with ")]
    assert [note.split()[2] for note in told] == absent[:1]


@pytest.mark.slow
def test_no_tick_is_lost_but_those_counted_while_readers_hang_and_die(results):
    for row in ours(results):
        assert row["ticks"] > 0
        assert row["ticks"] + row["missed"] == row["cycles"]


@pytest.mark.slow
def test_the_recorder_writes_or_counts_every_tick_of_the_busy_rows(results):
    recording = results["recording"]
    assert recording["problem"] == ""
    assert recording["published"] == recording["written"] + recording["lost"]
    assert recording["published"] == sum(r["ticks"] for r in ours(results) if r["load"] == "busy")


@pytest.mark.slow
def test_the_verb_prints_one_json_object(results, monkeypatch):
    monkeypatch.setattr(loop_bench, "measure", lambda seconds, tell: results)  # it takes a while
    done = invoke("bench", "--loop", "--json")
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout) == results


def test_bench_says_what_it_wants():
    assert "--loop" in invoke("bench", "--help").output
    refused = invoke("bench", "--loop", "--seconds", "nan")
    assert refused.exit_code == 2
    assert "--seconds: must be from 0.1 to 3600, got nan" in refused.stderr


def test_the_arm_that_is_not_there_goes_where_it_is_told_to():
    config = Config.preset("hand-guiding").replace({"output.mode": "position"})
    controller = Controller(RobotModel.ur("ur5e"), config)
    with StandIn(controller.model, 0.3) as arm:
        controller.activate(arm.wait().q)
        for _ in range(150):  # pushed at once
            state = arm.wait()
            controller.update(state.q, state.wrench, PERIOD)
            arm.send_position(controller.outputs["q_ref"][0])
        moved = arm.model.fk(arm.wait().q) - arm.model.fk(arm.model.home)
    assert len(arm.reaction) == len(arm.lateness) == 151
    assert np.abs(moved[:3, 3]).max() > 1e-3


def test_the_tables_fit_a_terminal_of_eighty_columns():
    times = dict.fromkeys(("p50", "p99", "p99.9", "max"), 0.01234)
    row = {"load": "watched", "loop": "ours, awake, spin", "missed": 123, "cpu": 0.123}
    row |= dict.fromkeys(loop_bench.TIMES, times)
    row |= {"stops": ["late"], "faults": 12, "resident": 500 * 2**20}
    recording = {"written": 1, "published": 1}
    machine = loop_bench.machine() | {"stolen": 0.01}
    results = {"machine": machine, "rate": 500.0, "seconds": 10.0, "notes": []}
    results |= {"rows": [row, {**row, "loop": "C"}], "recording": recording}
    screen = io.StringIO()
    loop_bench.show(results, Console(width=80, file=screen))
    assert "…" not in screen.getvalue()
    assert "12340" in screen.getvalue()
