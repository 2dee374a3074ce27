"""The slot through which another process asks the loop for something."""

from __future__ import annotations

import numpy as np
import pytest

from ur_admittance import Config, Controller, RobotError, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.blackboard.requests import COUNT, Requests


def sides() -> tuple[Requests, Requests, np.ndarray]:
    words, text = np.zeros(8, np.int64), np.zeros(512, np.uint8)
    return Requests(words, text), Requests(words, text), words


def test_a_request_is_taken_once() -> None:
    loop, asker, _ = sides()
    assert loop.take() == ""
    asker.ask("stop: why")
    assert loop.take() == "stop: why"
    assert loop.take() == ""


def test_of_two_requests_between_two_ticks_the_last_counts() -> None:
    loop, asker, _ = sides()
    asker.ask("stop: first, and long")
    asker.ask("stop: last")
    assert loop.take() == "stop: last"


def test_an_asker_that_dies_half_way_has_asked_nothing_and_blocks_nobody() -> None:
    loop, asker, words = sides()
    words[COUNT] += 1
    assert loop.take() == ""
    asker.ask("stop")
    assert loop.take() == "stop"
    assert words[COUNT] == 2


def test_a_text_that_is_too_long_is_cut() -> None:
    loop, asker, _ = sides()
    asker.ask("s" * 1000)
    assert loop.take() == "s" * 512


def test_a_reader_asks_and_the_owner_takes(runtime) -> None:
    config = Config()
    live = Controller(RobotModel.ur("ur5e"), config).live
    board = Blackboard.create("sim:a", 500.0, live)
    reader = Blackboard.attach("sim:a")
    reader.stop("enough")
    assert board.request() == "stop: enough"
    assert board.request() == ""
    board.close()
    with pytest.raises(RobotError, match="its controller has ended"):
        reader.stop("too late")
