"""A recording in numbers, whatever is in it."""

from __future__ import annotations

import dataclasses
import html
import io
import json

import numpy as np
import pytest
from rich.console import Console
from scipy.spatial.transform import Rotation

from tests.support import ANGULAR, LINEAR
from tests.telemetry.runs import NAN, STOP, Run
from ur_admittance import StopReason
from ur_admittance.kernel import bits
from ur_admittance.report.page import page
from ur_admittance.report.write import show_summary, summarise
from ur_admittance.run.preflight import SECONDS
from ur_admittance.telemetry.recording import read

pytest.importorskip("mujoco")
from tests.report.support import RATE, faulty, free, guided

# --- any recording at all ---


def test_holds_and_stops_are_told_with_what_was_seen_and_allowed():
    summary = summarise(faulty())
    events = {event["name"]: event for event in summary["events"]}
    assert summary["mode"] == "stopped" and summary["event_count"] == len(summary["events"])
    stale, over = events["wrench_stale"], events["over_force"]
    assert stale["reaction"] == "hold" and stale["limit"] == 0.01
    assert stale["value"] == pytest.approx(0.01, abs=1e-6)
    assert over["reaction"] == "stop" and over["limit"] == 60.0
    assert over["value"] == pytest.approx(75.0)
    assert over["time"] == pytest.approx(0.002 * 420, abs=1e-6)
    assert summary["modes"]["holding"] > 0.1


def test_why_the_run_was_stopped_is_told_whole_with_what_to_do():
    why = StopReason.of("asked", "door <open>; cell 3")
    recording = dataclasses.replace(faulty(), reason=why)
    summary = summarise(recording)
    assert summary["reason"] == why.as_dict()
    screen = Console(file=io.StringIO())
    show_summary(summary, screen)
    assert f"ended     {why}\n" in screen.file.getvalue()  # type: ignore[attr-defined]
    assert html.escape(str(why)) in page(recording, summary, "t", (), {})
    requested = recording.records.copy()
    requested["status"][-1] |= bits.STOP_REQUESTED
    last = summarise(dataclasses.replace(recording, records=requested))["events"][-1]
    assert (last["name"], last["words"]) == ("stop_requested", why.text)


@pytest.mark.parametrize("ticks", [0, 1, 2, 3])
def test_tiny_recordings_can_be_summed_up(ticks):
    recording = free(latency=2, servo_bandwidth=8.0)
    summary = summarise(dataclasses.replace(recording, records=recording.records[:ticks]))
    assert summary["ticks"] == ticks and summary["arm"] is None and not summary["admittance"]
    json.dumps(summary, allow_nan=False)
    show_summary(summary, Console(quiet=True))


def test_the_summary_is_plain_and_right():
    recording = guided()
    summary = json.loads(json.dumps(summarise(recording), allow_nan=False))
    r = recording.records
    p = r["X_WP"][:, :3, 3]
    assert summary["distance"] == pytest.approx(np.linalg.norm(np.diff(p, axis=0), axis=1).sum())
    R = Rotation.from_matrix(r["X_WP"][:, :3, :3])
    way = np.hstack([np.diff(p, axis=0), (R[1:] * R[:-1].inv()).as_rotvec()])
    F_W = np.hstack([R.apply(r["F_S_comp"][:, part]) for part in (LINEAR, ANGULAR)])
    work = (0.5 * (F_W[1:] + F_W[:-1]) * way).sum(axis=1)
    assert summary["energy"]["put_in"] == pytest.approx(work.sum(), rel=1e-3)
    given = max(0.0, -np.cumsum(work).min())
    assert summary["energy"]["given"] == pytest.approx(given, abs=1e-3 * work.sum())
    force = np.linalg.norm(r["F_S_comp"][:, :3], axis=1)
    assert summary["force"] == pytest.approx({"peak": force.max(), "mean": force.mean()})
    assert summary["timing"]["tick"]["p99"] == np.quantile(r["timing"]["tick"], 0.99)
    assert summary["timing"]["period"]["p50"] == pytest.approx(0.002)
    share = ((r["status"] & bits.JERK_LIMIT) != 0).mean()
    assert summary["limits"]["jerk_limit"] == pytest.approx(share)
    assert summary["seconds"] == pytest.approx(len(r) / RATE, abs=0.01)


def test_ticks_that_were_lost_leave_a_gap_and_nothing_else():
    whole = free(latency=2, servo_bandwidth=8.0)
    kept = np.delete(whole.records, slice(700, 760))
    holed = dataclasses.replace(whole, records=kept, lost=60)
    summary, before = summarise(holed), summarise(whole)
    assert summary["lost"] == 60
    assert summary["seconds"] == pytest.approx(before["seconds"])
    assert summary["arm"]["late"] == pytest.approx(before["arm"]["late"], rel=0.1)
    for fit, full in zip(summary["admittance"], before["admittance"], strict=True):
        assert fit["difference"] == pytest.approx(full["difference"], rel=0.2)


def test_the_summary_fits_one_screen():
    summary = summarise(guided())
    assert len(summary["admittance"]) == 6
    summary["events"] = summarise(faulty())["events"] * 3
    summary["event_count"] = len(summary["events"])
    shown = io.StringIO()
    console = Console(width=80, file=shown)
    show_summary(summary, console)
    lines = shown.getvalue().splitlines()
    assert len(lines) < 24 and max(map(len, lines)) <= 80
    assert any(line.startswith("rz") for line in lines)


# --- the page ---


def test_a_real_file_tells_when_things_happened(run: Run):
    summary = summarise(read(run.path))
    times = {event["name"]: event["time"] for event in summary["events"]}
    assert times["wrench_not_finite"] == pytest.approx(NAN.start / RATE - SECONDS, abs=0.01)
    assert times["stop_requested"] == pytest.approx(STOP / RATE, abs=0.01)
    assert "max_linear_velocity" in {change["name"] for change in summary["changes"]}
