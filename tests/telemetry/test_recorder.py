"""The writer is another process: it misses nothing, and whatever befalls it, the loop goes on."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import ur_admittance as ua
from tests.blackboard.processes import PATIENCE, SHORT, board_of, until
from tests.telemetry.runs import CHANGES, pushed
from ur_admittance.blackboard import Blackboard
from ur_admittance.controller import Controller
from ur_admittance.kernel import layout
from ur_admittance.telemetry.recorder import Recorded, Recorder
from ur_admittance.telemetry.recording import read
from ur_admittance.telemetry.replay import replay
from ur_admittance.telemetry.scribe import Scribe

ROOT = Path(__file__).parents[2]
MODEL = ua.RobotModel.ur("ur5e")
Each = Callable[[int, Recorder], None]


def recorded_run(path: Path, each: Each, seconds: float = 3.0) -> tuple[Recorded, np.ndarray]:
    """A run as fast as possible, recorded by a process; and what was published."""
    with pushed() as robot:
        config = ua.Config.preset("hand-guiding")
        controller = Controller(robot.model, config)
        with Blackboard.create("sim", robot.rate, controller.live) as board:
            reader = Blackboard.attach("sim")
            with Recorder("sim", path, robot.model) as recorder:
                summary = ua.run(
                    robot,
                    controller,
                    seconds=seconds,
                    board=board,
                    each=lambda state, out: each(board.published, recorder),
                )
                recorded = recorder.close({"ticks": np.int64(summary.ticks)})
                assert recorder.close({"other": 1}) is recorded, "closing twice is closing once"
            records, _, lost = reader.since(0)
    assert (lost, summary.faulted, len(records)) == (0, False, summary.ticks)
    return recorded, records


def writer_of(recorder: Recorder) -> int:
    assert recorder._process is not None
    return recorder._process.pid


@pytest.fixture
def control(tmp_path) -> Iterator[subprocess.Popen[str]]:
    """A control process in a process group of its own, recording to run.mcap."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.telemetry.record_process", str(tmp_path / "run.mcap")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    yield process
    process.kill()
    process.communicate()


@pytest.mark.slow
def test_nothing_is_lost_and_the_run_can_be_done_again(tmp_path):
    """Parameters change too, three times within three ticks: the writer must not miss one."""
    path = tmp_path / "run.mcap"
    mine = os.sched_getaffinity(0)
    seen = {}

    def each(published: int, recorder: Recorder) -> None:
        for change in CHANGES.get(published, ()):
            Blackboard.attach("sim").set(change)
        if published == 5:
            writer = writer_of(recorder)
            seen["nice"] = os.getpriority(os.PRIO_PROCESS, writer)
            seen["cores"] = os.sched_getaffinity(writer)
            seen["group"] = os.getpgid(writer)

    try:
        os.sched_setaffinity(0, {min(mine)})
        recorded, records = recorded_run(path, each)
    finally:
        os.sched_setaffinity(0, mine)
    assert recorded == Recorded(path, len(records), 0, "")
    recording = read(path)
    assert recording.records.tobytes() == records.tobytes()
    assert recording.finished and recording.summary == {"ticks": len(records)}
    assert [generation for generation, _ in recording.changes] == list(range(1, len(CHANGES) + 1))
    again = replay(recording)
    assert (again.compared, again.first_difference) == (len(records), None)
    assert again.notes == ()
    assert seen["nice"] == min(19, os.getpriority(os.PRIO_PROCESS, 0) + 10)
    assert seen["cores"] == mine
    assert seen["group"] != os.getpgid(0), "Ctrl-C is not for the writer"


@pytest.mark.slow
def test_ctrl_c_leaves_a_finished_file(tmp_path, control):
    control.stdout.readline()
    os.killpg(control.pid, signal.SIGINT)
    rest, _ = control.communicate(timeout=PATIENCE)
    recording = read(tmp_path / "run.mcap")
    assert rest.split() == [str(len(recording.records)), "0"]
    assert recording.finished and recording.lost == 0
    assert recording.summary == {"ticks": len(recording.records), "mode": "inactive"}
    assert not recording.records["qd"][-1].any(), "the arm came to rest, and that is recorded"


@pytest.mark.slow
def test_a_control_process_that_is_killed_leaves_a_finished_file(tmp_path, control):
    writer = int(control.stdout.readline())
    control.kill()
    control.wait()
    until(lambda: not Path(f"/proc/{writer}").exists())
    recording = read(tmp_path / "run.mcap")
    assert recording.finished and recording.lost == 0 and recording.summary == {}
    assert len(recording.records) >= 1200
    assert np.all(np.diff(recording.records["tick"]) == 1)


@pytest.mark.slow
def test_a_writer_that_is_killed_leaves_its_whole_chunks_and_the_loop_goes_on(tmp_path):
    path = tmp_path / "run.mcap"

    def each(published: int, recorder: Recorder) -> None:
        if published == 1100:
            until(lambda: len(read(path).records) >= 1000)
            os.kill(writer_of(recorder), signal.SIGKILL)

    recorded, records = recorded_run(path, each)
    recording = read(path)
    assert not recording.finished and recording.summary == {}
    n = len(recording.records)
    assert 1000 <= n < len(records)
    assert recording.records.tobytes() == records[:n].tobytes()
    assert (recorded.written, recorded.lost) == (n, len(records) - n)
    assert "died (-9)" in recorded.problem
    assert replay(recording).compared == n


@pytest.mark.slow
def test_a_writer_that_is_told_to_end_finishes_its_file(tmp_path):
    path = tmp_path / "run.mcap"

    def each(published: int, recorder: Recorder) -> None:
        if published == 700:
            os.kill(writer_of(recorder), signal.SIGTERM)
            until(lambda: read(path).finished)

    recorded, records = recorded_run(path, each, seconds=2.0)
    recording = read(path)
    assert recorded.problem == "the process that writes it was told to end"
    assert recorded.written == len(recording.records) == 700
    assert recorded.lost == len(records) - 700


@pytest.mark.slow
def test_a_full_disk_is_reported_and_the_loop_goes_on(tmp_path, capfd):
    """At once, on the terminal; by the end of the run there is room for the end of the file."""
    path, said = tmp_path / "run.mcap", []

    def told() -> bool:
        said.append(capfd.readouterr().err)
        return "nothing more is recorded, the run goes on" in "".join(said)

    def each(published: int, recorder: Recorder) -> None:
        room = {100: 900_000, 1900: resource.RLIM_INFINITY}.get(published)
        if published == 1900:
            until(told)
        if room is not None:
            limits = (room, resource.RLIM_INFINITY)
            resource.prlimit(writer_of(recorder), resource.RLIMIT_FSIZE, limits)

    recorded, records = recorded_run(path, each, seconds=4.0)
    recording = read(path)
    n = len(recording.records)
    assert 0 < n < len(records)
    assert recorded == Recorded(path, n, len(records) - n, f"File too large, after {n} ticks")
    assert recording.records.tobytes() == records[:n].tobytes()
    assert recording.finished and recording.lost == recorded.lost


def test_a_summary_may_come_after_the_end_of_the_board(tmp_path):
    """The writer sees the end, waits a little for a summary, and takes it."""
    path = tmp_path / "run.mcap"
    with board_of() as board:
        recorder = Recorder("sim", path, MODEL).__enter__()
        records = np.repeat(layout.new_outputs(), 10)
        records["tick"] = np.arange(1, 11)
        for record in records:
            board.publish(record)
    recorded = recorder.close({"said": "late"})
    assert recorded == Recorded(path, 10, 0, "")
    recording = read(path)
    assert recording.summary == {"said": "late"}
    assert recording.records.tobytes() == records.tobytes()


def test_what_comes_too_late_for_the_ring_is_counted_as_lost(tmp_path):
    path = tmp_path / "slow.mcap"
    records = np.repeat(layout.new_outputs(), 50)
    records["tick"] = np.arange(1, 51)
    with board_of(rate=SHORT) as board:
        scribe = Scribe(Blackboard.attach("sim"), path, MODEL)
        for k, record in enumerate(records):
            board.publish(record)
            if k in (4, 44, 49):  # the ring holds 16
                scribe.poll()
        scribe.finish({})
    assert (scribe.written, scribe.lost, scribe.problem) == (26, 24, "")
    recording = read(path)
    assert recording.lost == 24
    assert recording.records["tick"].tolist() == [*range(1, 6), *range(30, 51)]
    assert any("24 ticks are missing in 1 places" in note for note in replay(recording).notes)


def test_what_cannot_be_recorded_is_refused_at_once(tmp_path):
    there = tmp_path / "there.mcap"
    there.write_text("precious")
    with pytest.raises(ua.RobotError, match=r"there\.mcap exists already"):
        Recorder("sim", there, MODEL)
    with pytest.raises(ua.RobotError, match="exists already"):
        Recorder("sim", tmp_path, MODEL)
    with pytest.raises(ua.RobotError, match="there is no folder"):
        Recorder("sim", tmp_path / "no" / "x.mcap", MODEL)
    closed = tmp_path / "closed"
    closed.mkdir(0o500)
    if not os.access(closed, os.W_OK):  # root may always
        with pytest.raises(ua.RobotError, match="cannot be written to"):
            Recorder("sim", closed / "x.mcap", MODEL)
    assert there.read_text() == "precious"
    with pytest.raises(ua.RobotError, match="no controller runs for sim"):
        Recorder("sim", tmp_path / "x.mcap", MODEL).__enter__()
    assert not (tmp_path / "x.mcap").exists()
    never = Recorder("sim", tmp_path / "x.mcap", MODEL).close()
    assert never == Recorded(tmp_path / "x.mcap", 0, 0, "the recording was never started")


def test_a_writer_that_does_not_start_is_an_error_before_anything_moves(tmp_path):
    path = tmp_path / "x.mcap"
    with board_of():
        recorder = Recorder("sim", path, MODEL)
        path.write_text("precious")  # somebody else was faster
        with pytest.raises(ua.RobotError, match=r"recording to .*x\.mcap: File exists"):
            recorder.__enter__()
    assert path.read_text() == "precious"
