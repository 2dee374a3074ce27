"""One process writes, others read, hang, die and send parameters; the writer never notices."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.blackboard_processes import LONG, RECORDS, SHORT, board_of, numbered, until
from ur_admittance import Config, ConfigError, Controller, RobotError, RobotModel
from ur_admittance import blackboard as module
from ur_admittance import blackboard_memory as memory
from ur_admittance.blackboard import Blackboard, list_running
from ur_admittance.kernel import layout
from ur_admittance.packing import pack

ROOT = Path(__file__).parents[1]


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch) -> Iterator[None]:
    ram = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="ur-admittance-test-", dir=ram if Path(ram).is_dir() else None)
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", folder)
    yield
    shutil.rmtree(folder)


@pytest.fixture
def other() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a process in a role; `ready` waits for its first line."""
    started: list[subprocess.Popen[str]] = []

    def start(role: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.blackboard_processes", role, *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def ready(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"


def result(process: subprocess.Popen[str]) -> dict[str, int]:
    return json.loads(process.communicate(timeout=30)[0])


# --- records ---


def test_readers_see_what_was_published():
    with board_of() as board:
        reader = Blackboard.attach()
        assert reader.latest() is None
        assert len(reader.since(0)[0]) == 0
        for k in range(5):
            board.publish(numbered(k))
        newest = reader.latest()
        assert newest is not None and newest["tick"] == 4
        records, index, lost = reader.since(2)
        assert list(records["tick"]) == [2, 3, 4]
        assert (index, lost, board.published) == (5, 0, 5)
        board.publish(numbered(7)[0])  # as Controller.update returns it
        assert newest["tick"] == 4, "a copy, not a view"
        assert reader.since(index)[0]["tick"] == [7]


def test_a_late_reader_is_told_how_much_it_lost():
    with board_of(rate=SHORT) as board:
        reader = Blackboard.attach()
        for k in range(40):
            board.publish(numbered(k))
        records, index, lost = reader.since(0)
        assert list(records["tick"]) == list(range(24, 40))
        assert (index, lost) == (40, 24)
        with pytest.raises(RobotError, match="not among the 40"):
            reader.since(41)


def test_what_is_not_a_record_is_not_published():
    with board_of() as board:
        for wrong in (None, 3, np.zeros(3), np.zeros(0, layout.OUTPUTS), layout.new_inputs()):
            with pytest.raises(RobotError, match="one outputs record"):
                board.publish(wrong)  # type: ignore[arg-type]
        assert board.published == 0


def test_five_readers_miss_nothing_and_the_writer_does_not_notice_their_death(other, capsys):
    times = np.empty(RECORDS)
    with board_of(rate=LONG) as board:
        readers = [other("hammer", "sim") for _ in range(5)]
        ready(*readers)
        record = layout.new_outputs()
        for k in range(RECORDS):
            if k == 5000:
                readers[0].kill()
                readers[1].send_signal(signal.SIGSTOP)
            if k == 10000:
                readers[2].kill()
            numbered(k, record)
            start = time.perf_counter()
            board.publish(record)
            times[k] = time.perf_counter() - start
            if k % 50 == 0:
                time.sleep(0.001)
        readers[1].send_signal(signal.SIGCONT)
    for reader in (readers[1], readers[3], readers[4]):
        seen = result(reader)
        assert (seen["kept"], seen["lost"]) == (RECORDS, 0)
        assert (seen["torn"], seen["disorder"]) == (0, 0)
        assert seen["looks"] > 0
    with capsys.disabled():
        typical, rare, longest = np.quantile(times, (0.5, 0.999, 1)) * 1e6
        print(f"\npublish [us]: median {typical:.2f}, 99.9% {rare:.1f}, longest {longest:.0f}")


def test_nothing_is_torn_where_the_writer_overtakes_the_readers(other):
    with board_of(rate=SHORT) as board:
        reader = other("hammer", "sim")
        ready(reader)
        record = layout.new_outputs()
        for k in range(5 * RECORDS):
            board.publish(numbered(k, record))
    seen = result(reader)
    assert (seen["torn"], seen["disorder"]) == (0, 0)
    assert seen["kept"] + seen["lost"] == 5 * RECORDS


def test_readers_cannot_write_what_they_read():
    with board_of():
        reader = Blackboard.attach()
        for array in (*reader._ring, *reader._slot, reader._counters, reader._header):
            assert not array.flags.writeable


# --- owners ---


def test_a_second_controller_is_refused_and_told_of_the_first(other):
    first = other("control", "rtde://192.168.1.10")
    ready(first)
    with pytest.raises(RobotError, match="already has a controller") as refusal:
        board_of("rtde://192.168.1.10")
    assert f"process {first.pid}, " in str(refusal.value)
    assert "tests.blackboard_processes control" in str(refusal.value)
    assert f"since {time.strftime('%Y')}" in str(refusal.value)
    board_of("rtde://192.168.1.11").close()


def test_a_killed_controller_is_seen_to_be_gone_and_can_be_followed_by_another(other, monkeypatch):
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.5)
    first = other("control", "sim")
    ready(first)
    reader = Blackboard.attach()
    until(lambda: reader.index > 10)
    assert reader.alive
    first.send_signal(signal.SIGSTOP)
    until(lambda: reader.state == "silent")
    first.send_signal(signal.SIGCONT)
    until(lambda: reader.alive)
    first.kill()
    until(lambda: reader.state == "gone")  # though nobody has waited for the process yet
    assert not reader.alive
    assert reader.latest() is not None
    with pytest.raises(RobotError, match="has ended"):
        reader.set({"max_linear_velocity": 0.4})
    assert list_running() == []
    with board_of() as board:
        board.publish(numbered(1))
        assert Blackboard.attach().index == 1
        assert reader.state == "gone"


def test_a_pid_that_came_back_is_not_mistaken_for_the_owner():
    memory.path_of("sim").write_bytes(b"half")  # nor is a block whose maker died at once
    left_behind = board_of()
    left_behind._header["started"] += 1
    assert list_running() == []
    with board_of() as board:
        left_behind.close()  # must not take away what is no longer its own
        assert Blackboard.attach().robot == board.robot


def test_a_closed_blackboard_leaves_nothing_and_says_so():
    with board_of() as board:
        params = layout.new_params()
        reader = Blackboard.attach()
    assert reader.state == "ended"
    assert list(memory.folder().iterdir()) == []
    with pytest.raises(RobotError, match="closed"):
        board.publish(layout.new_outputs())
    assert not board.take_params(params)
    board.close()


def test_attaching_needs_one_controller_or_a_name():
    with pytest.raises(RobotError, match="no controller runs; running: nothing"):
        Blackboard.attach()
    with board_of("sim:ur10e"), board_of("ros2"):
        assert [r.robot for r in list_running()] == ["ros2", "sim:ur10e"]
        with pytest.raises(RobotError, match=r"several .*ros2 \(process.*sim:ur10e \(process"):
            Blackboard.attach()
        assert Blackboard.attach("ros2").robot == "ros2"
        with pytest.raises(RobotError, match=r"no controller runs for sim; running: ros2"):
            Blackboard.attach("sim")


def test_another_version_is_refused():
    with board_of() as board:
        board._header["digest"] = b"0123456789abcdef"
        with pytest.raises(RobotError, match="another version"):
            Blackboard.attach()


@pytest.mark.parametrize(
    "name",
    ["", ".", "..", "../x", "a/../b", "/etc/x", ".x", "a b", "a\nb", "a\0b", "ä", "%2e", "x" * 65],
)
def test_a_name_that_could_lead_elsewhere_is_refused(name):
    with pytest.raises(RobotError, match="not usable"):
        board_of(name)
    assert list(memory.folder().iterdir()) == []


def test_a_name_with_slashes_stays_in_the_folder():
    with board_of("rtde://10.0.0.1:30004"):
        (file,) = memory.folder().iterdir()
        assert file.is_file() and file.stat().st_mode & 0o077 == 0


def test_a_full_memory_is_met_before_the_loop_starts(monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(RobotError, match=r"cannot reserve 1\d\.\d MB .*No space left"):
        board_of()
    assert list(memory.folder().iterdir()) == []


def test_a_folder_that_others_may_write_to_is_refused():
    memory.folder().chmod(0o777)
    with pytest.raises(RobotError, match="nobody else can write"):
        board_of()


# --- parameters ---

GAINS = {"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4], "payload.mass": 1.5, "safety.max_force": 99}


def params_of(board: Blackboard) -> np.ndarray:
    return pack(board.config(), RobotModel.ur("ur5e"))


def test_a_change_arrives_as_the_record_that_packing_would_make():
    with board_of() as board:
        params = params_of(board)
        assert not board.take_params(params)
        reader = Blackboard.attach()
        change = reader.set(GAINS)
        assert set(change.values) == set(GAINS)
        assert change.recomputed == ("wrench", "law", "safety")
        assert change.values["safety.max_force"] == (200.0, 99.0)
        assert reader.pending
        reader.set({"max_linear_velocity": 0.25})
        assert board.take_params(params), "both at once"
        assert not board.take_params(params) and not reader.pending
        expected = pack(
            Config().replace({**GAINS, "max_linear_velocity": 0.25}), RobotModel.ur("ur5e")
        )
        expected["generation"] = 1
        assert params.tobytes() == expected.tobytes()
        assert (
            reader.config()
            == board.config()
            == Config().replace({**GAINS, "max_linear_velocity": 0.25})
        )


@pytest.mark.parametrize(
    "changes",
    [
        {"admittance.masss": [1] * 6},
        {"admittance.mass": [1] * 5 + [-1]},
        {"admittance.mass": [float("nan")] * 6},
        {"max_linear_velocity": 0.3, "safety.max_force": -1},
        {"control_rate": 250},
        {"limits.joint_velocity": 1.0},
        {"output.mode": "position"},
    ],
)
def test_a_wrong_change_changes_nothing(changes):
    with board_of() as board:
        params = params_of(board)
        before = memory.path_of("sim").read_bytes()
        reader = Blackboard.attach()
        with pytest.raises(ConfigError):
            reader.set(changes)
        assert not board.take_params(params)
        assert memory.path_of("sim").read_bytes() == before


def test_changes_of_several_senders_all_arrive(other):
    names = ["admittance.ramp_seconds", "max_linear_velocity"]
    with board_of() as board:
        params = params_of(board)
        senders = [other("tune", "sim", name) for name in names]
        ready(*senders)
        for sender in senders:
            sender.stdin.write("go\n")
            sender.stdin.flush()
        while any(sender.poll() is None for sender in senders):
            if board.take_params(params):
                assert 0 < params["v_max"][0] < 2
            time.sleep(0.001)
        assert [sender.returncode for sender in senders] == [0, 0]
        board.take_params(params)
        assert [board.config().get(name) for name in names] == [1.05, 1.05]
        assert params["v_max"] == 1.05 and params["ramp_seconds"] == 1.05


def test_a_sender_that_hangs_holds_up_other_senders_for_a_while_and_the_loop_never(
    other, monkeypatch
):
    monkeypatch.setattr(memory, "LOCK_SECONDS", 0.2)
    with board_of() as board:
        params = params_of(board)
        sender, reader = other("hang", "sim"), Blackboard.attach()
        ready(sender)
        assert not board.take_params(params)
        with pytest.raises(RobotError, match="busy with the same"):
            reader.set({"max_linear_velocity": 0.3})
        sender.kill()
        sender.wait()
        assert not board.take_params(params)
        reader.set({"max_linear_velocity": 0.3})
        assert board.take_params(params)
        assert params["v_max"] == 0.3 and np.all(np.isfinite(params["mass"]))


def test_no_record_is_taken_half_old_half_new(other):
    with board_of() as board:
        params = layout.new_params()
        sender, taken = other("flood", "sim"), 0
        while sender.poll() is None:
            if board.take_params(params):
                words = params.view(np.int64)[1:]  # all but the generation
                assert np.all(words == words[0]) or np.isnan(params["reach"][0])
                taken += 1
        board.take_params(params)
        assert taken > 0 and params["enabled"][0, 0] == RECORDS - 1


def test_the_loop_is_told_if_it_offers_the_wrong_record():
    with board_of() as board:
        Blackboard.attach().set({"max_linear_velocity": 0.3})
        with pytest.raises(RobotError, match="one record"):
            board.take_params(layout.new_outputs())
        assert Blackboard.attach().pending


def test_it_works_without_the_compiler():
    code = (
        "from tests.blackboard_processes import Blackboard, board_of, layout, numbered\n"
        "with board_of() as board:\n"
        "    board.publish(numbered(3)); reader = Blackboard.attach()\n"
        "    reader.set({'max_linear_velocity': 0.3}); params = layout.new_params()\n"
        "    print(reader.latest()['tick'], board.take_params(params), params['v_max'][0])\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "3 True 0.3\n"


def test_the_owner_cannot_undo_what_came_through_the_blackboard():
    controller = Controller(RobotModel.ur("ur5e"), Config())
    with Blackboard.create("sim", 500.0, controller.config, controller.params) as board:
        controller.set({"max_linear_velocity": 0.2})
        Blackboard.attach().set({"max_linear_velocity": 0.1})
        assert board.take_params(controller.params)
        with pytest.raises(RobotError, match="through the blackboard"):
            controller.set({"admittance.ramp_seconds": 1.0})
        assert controller.params["v_max"] == 0.1
