"""The report: its numbers against what is known of the run, and a page for every kind of run."""

from __future__ import annotations

import dataclasses
import io
import json
import math
import re
import shutil
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

from tests.support import ZERO, arm, controller_of, free_config, q_after
from tests.support import run as drive
from tests.telemetry.runs import NAN, STOP, Run
from ur_admittance import Config, Controller, RobotError, loop
from ur_admittance.kernel import bits, layout
from ur_admittance.robots.sim import ScriptedPush, SimRobot
from ur_admittance.telemetry import plots
from ur_admittance.telemetry.recording import Recording, read
from ur_admittance.telemetry.rendering import AXES, CAUSES, rendering
from ur_admittance.telemetry.report import show_summary, summarise, write_report

pytest.importorskip("mujoco")

RATE = 500.0
SPRINGS = {
    "admittance.stiffness": [300.0, 300.0, 300.0, 10.0, 10.0, 10.0],
    "admittance.damping": [60.0, 80.0, 90.0, 3.0, 3.0, 3.0],
}
PUSHES = ScriptedPush(
    [
        (0.3, 1.0, [0, 10, 0, 0, 0, 0]),
        (1.5, 2.2, [6, -8, 4, 0.6, 0, 0]),
        (2.6, 3.2, [0, 0, 0, -0.4, 0.5, 0.7]),
    ]
)


def recording_of(records: np.ndarray, config: Config, **more) -> Recording:
    """A recording as one would be read from a file."""
    values = {
        "path": Path("somewhere/push.mcap"),
        "robot": "sim:ur5e",
        "rate": RATE,
        "model": arm(),
        "config": config,
        "changes": (),
        "records": records,
        "lost": 0,
        "finished": True,
        "summary": {},
        "version": "1.2.3",
        "kernel": "",
    }
    return Recording(**{**values, **more})


def simulated(config: Config, *, each=None, seconds: float = 4.0, **robot) -> Recording:
    """A run of the simulated arm under the pushes."""
    records = []

    def keep(state, out) -> None:
        records.append(out.copy())
        if each is not None:
            each(controller, out)

    with SimRobot(hand=PUSHES, realtime=False, **robot) as sim:
        controller = Controller(sim.model, config)
        loop.run(sim, controller, seconds=seconds, each=keep)
    return recording_of(np.array(records), config)


@cache
def free(**robot) -> Recording:
    """The law alone on an arm: no filter, no deadband, no limit in reach."""
    return simulated(free_config(), **robot)


@cache
def guided() -> Recording:
    """All of it: filter, deadband, limits, tracking, noise."""
    return simulated(Config.preset("hand-guiding"))


# --- rendered against ideal ---


@pytest.mark.parametrize("frame", ["probe", "base"])
@pytest.mark.parametrize("springs", [{}, SPRINGS], ids=["free", "springs"])
def test_an_ideal_arm_renders_the_law_within_one_percent(frame, springs):
    config = free_config(**springs, **{"admittance.frame": frame})
    rendered = rendering(simulated(config, ideal=True))
    assert [fit.name for fit in rendered.axes] == list(AXES)
    for fit in rendered.axes:
        assert fit.difference < 0.01
        assert fit.causes["limits"] < 1e-6
        for found, configured in zip(fit.rendered, fit.configured, strict=True):
            assert found == pytest.approx(configured, rel=0.02)
    moved = np.nansum(rendered.measured, axis=0) / RATE
    ideal = np.nansum(rendered.ideal, axis=0) / RATE
    furthest = np.nanmax(np.abs(np.nancumsum(rendered.ideal, axis=0)), axis=0) / RATE
    assert (np.abs(moved - ideal) < 0.01 * furthest).all()


def test_the_ideal_motion_is_the_analytic_one():
    """Held against SciPy: the matrix exponential for the axes, rotations composed one by one."""
    config = free_config(**SPRINGS)
    recording = simulated(config, seconds=3.0)
    r, ideal = recording.records, rendering(recording).ideal
    h, m = 1 / RATE, np.array(config.admittance.mass)
    d, k = np.array(config.effective_damping()), np.array(config.admittance.stiffness)
    step = [expm(np.array([[0, 1, 0], [-b / a, -c / a, 1 / a], [0, 0, 0]]) * h)
            for a, b, c in zip(m, k, d, strict=True)]  # fmt: skip
    x, v, turn = np.zeros(6), np.zeros(6), Rotation.identity()
    for n in range(1, len(r) - 1):
        if r["mode"][n] != bits.ACTIVE:
            break
        R = r["X_WD"][n, :3, :3].T @ r["X_WP"][n, :3, :3]
        force = np.concatenate([R @ r["F_P"][n, :3], R @ r["F_P"][n, 3:]])
        x[3:] = turn.as_rotvec()
        after = np.array([step[a] @ [x[a], v[a], force[a]] for a in range(6)])
        moved, v = after[:, 0] - x, after[:, 1]
        np.testing.assert_allclose(ideal[n], moved / h, atol=2e-6)
        x, turn = after[:, 0], Rotation.from_rotvec(moved[3:]) * turn
    assert n > 1400


@pytest.mark.parametrize(("latency", "bandwidth"), [(2, 8.0), (5, 20.0), (0, 4.0)])
def test_the_delay_of_a_lagged_arm_is_found_and_named(latency, bandwidth):
    recording = free(latency=latency, servo_bandwidth=bandwidth)
    summary = summarise(recording)
    late = latency / RATE + 1 / (2 * math.pi * bandwidth)
    assert summary["arm"]["late"] == pytest.approx(late, rel=0.12)
    assert summary["arm"]["gain"] == pytest.approx(1.0, abs=0.03)
    for fit in summary["admittance"]:
        assert 0.02 < fit["difference"] < 0.3
        assert fit["causes"]["arm"] == pytest.approx(fit["difference"], rel=1e-6)
        assert fit["causes"]["limits"] < 1e-6 and fit["causes"]["tracking"] < 1e-6
    said = re.search(r"follows its commands (\d+) ms late", summary["cause"])
    assert said and float(said[1]) == pytest.approx(1e3 * late, rel=0.15)
    assert "limits" not in summary["cause"] and "tracking" not in summary["cause"]


def test_a_delay_is_felt_as_mass():
    """(M s + D) (1 + s T) = D + (M + D T) s + ...: the damping, late, acts like a mass."""
    recording = free(latency=2, servo_bandwidth=8.0)
    late = 0.004 + 1 / (2 * math.pi * 8)
    fits = {fit.name: fit for fit in rendering(recording).axes}
    for axis in "xyz":
        assert fits[axis].rendered[0] == pytest.approx(8.0 + 80.0 * late, rel=0.05)


def test_an_arm_that_is_slowed_down_at_the_pendant_is_recognised():
    config = free_config()
    records = []
    with SimRobot(hand=PUSHES, realtime=False) as robot:
        robot.speed_scaling = 0.6
        controller = Controller(robot.model, config)
        loop.run(robot, controller, seconds=3.0, each=lambda _, out: records.append(out.copy()))
    summary = summarise(recording_of(np.array(records), config))
    assert summary["arm"]["gain"] == pytest.approx(0.6, abs=0.03)
    assert re.search(r"at (5\d|6\d)% of their speed", summary["cause"])


def test_the_causes_add_up_and_a_wall_is_one():
    config = free_config(**{"limits.workspace_max": [9, arm().fk(arm().home)[1, 3] + 0.02, 9]})
    recording = simulated(config, ideal=True, seconds=1.5)
    rendered = rendering(recording)
    total = sum(rendered.parts[name] for name in CAUSES)
    np.testing.assert_allclose(total, rendered.measured - rendered.ideal, atol=1e-12)
    walled = max(rendered.axes, key=lambda fit: fit.difference)
    assert walled.difference > 0.3
    assert walled.causes["limits"] == pytest.approx(walled.difference, rel=0.05)
    text = summarise(recording)["cause"]
    assert re.search(r"limits held it back \d+ % of the time", text) and "late" not in text


def test_filter_and_deadband_are_told_apart_from_the_difference():
    text = summarise(guided())["cause"]
    assert "the filter delays the force by 7.96 ms" in text
    assert re.search(r"the deadband takes \d+ % of it", text)
    assert all(fit.filtering > 0.1 for fit in rendering(guided()).axes)


def test_gains_that_were_changed_live_are_faded_in():
    changes = []

    def retune(controller: Controller, out) -> None:
        if int(out["tick"]) == 800:
            controller.set({"admittance.damping": [40, 160, 90, 2, 6, 3]})
            changes.append((int(controller.params[0]["generation"]), controller.config))

    recording = simulated(free_config(), each=retune, ideal=True)
    recording = dataclasses.replace(recording, changes=tuple(changes))
    for fit in rendering(recording).axes:
        assert fit.difference < 0.01
    (change,) = summarise(recording)["changes"]
    assert change["name"] == "admittance.damping" and change["now"][1] == 160
    assert change["time"] == pytest.approx(1.6, abs=0.01)


def test_a_planned_motion_is_part_of_the_ideal_one():
    """D slides along y while a push bends its way: both are there, and an ideal arm makes both."""
    controller = controller_of(free_config(**SPRINGS))
    X, q, acts = arm().fk(arm().home), arm().home, []
    for k in range(60):
        X_k = X.copy()
        X_k[1, 3] += 0.05 * 0.02 * k
        controller.set_desired(X_k, [0, 0.05, 0, 0, 0, 0])
        acts.append(drive(controller, q, np.array([0, 0, 8.0 * (k > 20), 0, 0, 0]), 10))
        q = q_after(acts[-1])
    rendered = rendering(recording_of(np.concatenate(acts), controller.config))
    fits = {fit.name: fit for fit in rendered.axes}
    assert set(fits) == {"x", "z"}  # the base's y is the tool's -x
    assert np.nanmean(rendered.ideal[:, 0]) == pytest.approx(-0.05, rel=0.01)
    assert fits["x"].rendered == (None, None, None) and fits["x"].causes["arm"] < 0.001
    assert fits["z"].difference < 0.01


# --- any recording at all ---


def faulty() -> Recording:
    """A hold for want of a wrench, another one, and a stop for too much force."""
    config = free_config(**{"safety.max_force": 60.0})
    controller = controller_of(config)
    acts = [drive(controller, arm().home, np.array([0, 8.0, 0, 0, 0, 0]), 200)]
    for wrench, ticks in (
        (np.full(6, np.nan), 20),
        (ZERO, 150),
        (np.array([0, 8.0, 0, 0, 0, 0]), 50),
        (np.array([0, 0, 75.0, 0, 0, 0]), 60),
    ):
        acts.append(drive(controller, q_after(acts[-1]), wrench, ticks))
    return recording_of(np.concatenate(acts), config, finished=False)


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
    console = Console(width=80, file=io.StringIO())
    show_summary(summary, console)
    lines = console.file.getvalue().splitlines()
    assert len(lines) < 24 and max(map(len, lines)) <= 80
    assert any(line.startswith("rz") for line in lines)


# --- the page ---


def test_the_page_stands_alone_and_trusts_nobody(tmp_path):
    nasty = "<script>alert('x')</script>"
    findings = [("it moves", True, "as due & more"), (nasty, False, "not <so>")]
    recording = dataclasses.replace(faulty(), robot=nasty, version=nasty)
    path = write_report(recording, tmp_path / "a" / "b", nasty, findings)
    assert path == tmp_path / "a" / "b" / "index.html"
    page = path.read_text("utf-8")
    assert "<script" not in page and "http" not in page
    assert re.findall(r'(?:src|href)="(?!data:image/png;base64,)', page) == []
    assert page.count("data:image/png;base64,") == len(list(path.parent.glob("*.png"))) == 5
    assert "as due &amp; more" in page and "✗" in page and "push.mcap" in page
    assert "somewhere" not in page and str(tmp_path) not in page
    assert "over_force" in page and "75 N" in page and "60 N" in page and "cut off" in page
    assert "max_force: 60" in page
    for png in path.parent.glob("*.png"):
        assert png.read_bytes().startswith(b"\x89PNG")


def test_the_example_of_the_docs_runs_on_a_real_file(run: Run, tmp_path, monkeypatch, capsys):
    text = (Path(__file__).parents[2] / "docs" / "report.md").read_text("utf-8")
    (code,) = re.findall(r"^```python\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    shutil.copy(run.path, tmp_path / "push.mcap")
    monkeypatch.chdir(tmp_path)
    exec(code, {})
    written, cause = capsys.readouterr().out.splitlines()
    page = Path(written).read_text("utf-8")
    assert cause.startswith("The tool's motion differs")
    assert "admittance.mass" in page and "wrench_not_finite" in page and "stop_requested" in page
    assert str(tmp_path) not in page


def test_a_real_file_tells_when_things_happened(run: Run):
    summary = summarise(read(run.path))
    times = {event["name"]: event["time"] for event in summary["events"]}
    assert times["wrench_not_finite"] == pytest.approx(NAN.start / RATE, abs=0.01)
    assert times["stop_requested"] == pytest.approx(STOP / RATE, abs=0.01)
    assert "max_linear_velocity" in {change["name"] for change in summary["changes"]}


@pytest.mark.parametrize("ticks", [0, 1, 3])
def test_tiny_recordings_have_a_page(ticks, tmp_path):
    recording = free(latency=2, servo_bandwidth=8.0)
    recording = dataclasses.replace(recording, records=recording.records[:ticks], finished=False)
    page = write_report(recording, tmp_path).read_text("utf-8")
    assert f"{ticks} ticks" in page and "<h1>push</h1>" in page
    assert ("too few ticks" in page) == (ticks < 3)


def test_a_folder_that_cannot_be_written_to_is_an_error_of_ours(tmp_path):
    (tmp_path / "file").write_text("")
    recording = dataclasses.replace(guided(), records=guided().records[:1])
    with pytest.raises(RobotError, match="cannot be written to"):
        write_report(recording, tmp_path / "file" / "report")


# --- the pictures ---


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
