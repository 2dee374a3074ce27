"""The owner of a blackboard: one at a time, and seen when it is gone."""

from __future__ import annotations

import signal
import time

import pytest

from tests.blackboard.processes import board_of, live_of, numbered, ready, until
from ur_admittance import Config, RobotError
from ur_admittance.blackboard import Blackboard, list_running, memory
from ur_admittance.blackboard import reader as reader_module
from ur_admittance.kernel import layout


def test_a_second_controller_is_refused_and_told_of_the_first(other):
    first = other("control", "rtde://192.168.1.10")
    ready(first)
    with pytest.raises(RobotError, match="already has a controller") as refusal:
        board_of("rtde://192.168.1.10")
    assert f"process {first.pid}, " in str(refusal.value)
    assert "tests.blackboard.processes control" in str(refusal.value)
    assert f"since {time.strftime('%Y')}" in str(refusal.value)
    board_of("rtde://192.168.1.11").close()


def test_a_killed_controller_is_seen_to_be_gone_and_can_be_followed_by_another(other, monkeypatch):
    monkeypatch.setattr(reader_module, "SILENT_SECONDS", 0.5)
    first = other("control", "sim")
    ready(first)
    reader = Blackboard.attach()
    until(lambda: reader.index > 10 and reader.alive)
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
        reader = Blackboard.attach()
    assert reader.state == "ended"
    assert list(memory.folder().iterdir()) == []
    with pytest.raises(RobotError, match="closed"):
        board.publish(layout.new_outputs())
    assert not board.take_params(live_of(Config()))
    board.close()
