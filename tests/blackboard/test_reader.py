"""Readers: they see every record or are told, and cannot disturb the writer."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import numpy as np
import pytest

from tests.blackboard.processes import (
    LONG,
    PATIENCE,
    RECORDS,
    SHORT,
    board_of,
    numbered,
    ready,
)
from ur_admittance import RobotError
from ur_admittance.blackboard import Blackboard, list_running
from ur_admittance.kernel import layout


def result(process: subprocess.Popen[str]) -> dict[str, int]:
    return json.loads(process.communicate(timeout=PATIENCE)[0])


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


@pytest.mark.slow
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


@pytest.mark.slow
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
        slot = reader._slot.words, reader._slot.params, reader._slot.texts
        for array in (*reader._ring, *slot, reader._counters, reader._header):
            assert not array.flags.writeable


# --- owners ---


def test_attaching_needs_one_controller_or_a_name():
    with pytest.raises(RobotError, match="no controller runs; start one with"):
        Blackboard.attach()
    with board_of("sim:ur10e"), board_of("ros2"):
        assert [r.robot for r in list_running()] == ["ros2", "sim:ur10e"]
        with pytest.raises(RobotError, match=r"several .*ros2 \(process.*sim:ur10e \(process"):
            Blackboard.attach()
        assert Blackboard.attach("ros2").robot == "ros2"
        with pytest.raises(RobotError, match=r"no controller runs for sim; running: ros2"):
            Blackboard.attach("sim")
