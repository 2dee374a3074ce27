"""The slot through which another process asks the loop for something."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance import Config, Controller, RobotError, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.blackboard.note import COUNT, Note
from ur_admittance.blackboard.requests import REQUEST, STOP, Request, Requests
from ur_admittance.faults import StopReason


def sides() -> tuple[Requests, Requests, np.ndarray]:
    words, record = np.zeros(8, np.int64), np.zeros(1, REQUEST)
    return Requests(words, record), Requests(words, record), words


def test_a_request_is_taken_once() -> None:
    loop, asker, _ = sides()
    assert loop.take() is None
    asker.ask(Request(STOP, "why: door open; cell 3"))
    assert loop.take() == (STOP, "why: door open; cell 3")
    assert loop.take() is None


def test_of_two_requests_between_two_ticks_the_last_counts() -> None:
    loop, asker, _ = sides()
    asker.ask(Request(STOP, "first, and long"))
    asker.ask(Request(STOP, "last"))
    assert loop.take() == (STOP, "last")


def test_an_asker_that_dies_half_way_has_asked_nothing_and_blocks_nobody() -> None:
    loop, asker, words = sides()
    words[COUNT] += 1
    assert loop.take() is None
    asker.ask(Request(STOP, ""))
    assert loop.take() == (STOP, "")
    assert words[COUNT] == 2


def test_a_text_that_is_too_long_is_cut() -> None:
    loop, asker, _ = sides()
    asker.ask(Request(STOP, "s" * 1000))
    assert loop.take() == (STOP, "s" * 496)
    asker.ask(Request(STOP, "ü" * 1000))
    assert loop.take() == (STOP, "ü" * 248)


def test_a_reader_asks_and_the_owner_takes(runtime) -> None:
    config = Config()
    live = Controller(RobotModel.ur("ur5e"), config).live
    board = Blackboard.create("sim:a", 500.0, live)
    reader = Blackboard.attach("sim:a")
    reader.stop("enough")
    assert board.request() == (STOP, "enough")
    assert board.request() is None
    board.close()
    with pytest.raises(RobotError, match="its controller has ended"):
        reader.stop("too late")


def test_a_note_that_is_being_written_is_not_read() -> None:
    words, record = np.zeros(8, np.int64), np.zeros(1, REQUEST)
    note = Note(words, record)
    assert note.read() == (0, ("", ""))
    words[COUNT] += 1
    assert note.read() is None
    note.write(("a", "b"))
    assert note.read() == (2, ("a", "b"))


def test_readers_have_the_reason_whole_also_when_the_run_has_ended(runtime) -> None:
    live = Controller(RobotModel.ur("ur5e"), Config()).live
    why = StopReason("asked", "Tür offen; cell 3: " + "x" * 500, "shut it; then start again")
    with Blackboard.create("sim:a", 500.0, live) as board:
        reader = Blackboard.attach("sim:a")
        assert board.reason is None and reader.reason is None
        board.reason = why
    assert reader.reason == why and reader.state == "ended"
    board.reason = None
    assert reader.reason is None
