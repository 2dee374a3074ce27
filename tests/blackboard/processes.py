"""Processes that read, write, hang and send in the tests of the blackboard, one role each."""

from __future__ import annotations

import json
import mmap
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np

from ur_admittance import Config, RobotModel
from ur_admittance.blackboard import Blackboard, memory
from ur_admittance.controller import LiveParameters
from ur_admittance.kernel import layout

WORDS = layout.OUTPUTS.itemsize // 8
RECORDS = 20000
PATIENCE = 120.0  # s, for a busy machine
SHORT, LONG = 1.0, 2000.0  # Hz: rings of 16 and of 32000 records


def board_of(robot: str = "sim", rate: float = 500.0, config: Config | None = None) -> Blackboard:
    return Blackboard.create(robot, rate, live_of(config or Config()))


def live_of(config: Config) -> LiveParameters:
    return LiveParameters(config, RobotModel.ur("ur5e"))


def numbered(k: int, record: np.ndarray | None = None) -> np.ndarray:
    """A record all of whose words are k."""
    record = layout.new_outputs() if record is None else record
    record.view(np.int64)[:] = k
    return record


def torn(records: np.ndarray) -> int:
    """How many records hold words of two."""
    words = records.view(np.int64).reshape(-1, WORDS)
    return int(np.any(words != words[:, :1], axis=1).sum())


def until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.005)


def ready(*processes: subprocess.Popen[str]) -> None:
    """Wait for the first line of each."""
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"


def hammer(robot: str) -> None:
    """Read as fast as possible until the writer ends, then say what was seen."""
    os.nice(5)
    reader = Blackboard.attach(robot)
    reader.latest()
    index, kept, lost, bad, disorder, looks = 0, 0, 0, 0, 0, 0
    say("ready")
    ended = False
    while not ended:
        ended = reader.state == "ended"
        records, index, missed = reader.since(index)
        ticks = records["tick"]
        disorder += int(np.any(np.diff(ticks) <= 0))
        disorder += int(
            len(ticks) and (ticks[-1] >= index or ticks[0] < index - missed - len(ticks))
        )
        kept, lost, bad = kept + len(records), lost + missed, bad + torn(records)
        for _ in range(20):
            newest = reader.latest()
            if newest is not None:
                bad += torn(np.array([newest], layout.OUTPUTS))
                looks += 1
    say(json.dumps({"kept": kept, "lost": lost, "torn": bad, "disorder": disorder, "looks": looks}))


def control(robot: str) -> None:
    """Publish for ever."""
    board, k = board_of(robot), 0
    say("ready")
    while True:
        board.publish(numbered(k))
        k += 1
        time.sleep(0.002)


def tune(robot: str, name: str) -> None:
    """Move one parameter, five times."""
    reader = Blackboard.attach(robot)
    say("ready")
    sys.stdin.readline()
    for value in range(1, 6):
        reader.set({name: 1.0 + 0.01 * value})


def hang(robot: str) -> None:
    """Hang in the middle of sending parameters."""
    path = memory.path_of(robot)
    with memory.opened(path, os.O_RDWR) as fd, memory.locked(fd, "test"):
        block = mmap.mmap(fd, memory.SLOT_BYTES, offset=memory.SLOT_OFFSET)
        slot = memory.slot_in(block, 0)
        places = slot.params.view(np.uint8).reshape(len(slot.params), -1)
        places[(slot.words[0] + 1) % len(places)] = 255
        say("ready")
        while True:
            time.sleep(60)


def flood(robot: str) -> None:
    """Send params records, each all of one number, without a pause."""
    with memory.opened(memory.path_of(robot), os.O_RDWR) as fd:
        block = mmap.mmap(fd, memory.SLOT_BYTES, offset=memory.SLOT_OFFSET)
    slot, params = memory.slot_in(block, 0), layout.new_params()
    slot.write(params, "")
    say("ready")
    for k in range(RECORDS):
        params.view(np.int64)[:] = k
        slot.write(params, "")


ROLES = {"hammer": hammer, "control": control, "tune": tune, "hang": hang, "flood": flood}


def say(line: str) -> None:
    print(line, flush=True)


if __name__ == "__main__":
    ROLES[sys.argv[1]](*sys.argv[2:])
