"""Deadlines, what is asked of the machine for the loop, and that nothing of it outlasts it."""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.run.support import Clock
from ur_admittance.realtime import Deadlines, Pace, RealTime, memory, prepare, restore, sleep_until
from ur_admittance.realtime import real_time as realtime

# Not what a fresh process has, so that going back to the defaults is not enough.
PROGRAM = """
import ctypes, gc, json, os, sys
from ur_admittance.realtime import real_time as realtime
from ur_admittance.realtime import memory
from ur_admittance.realtime import RealTime, prepare, restore

libc = ctypes.CDLL(None)
realtime._LATENCY = sys.argv[1]

def everything():
    return {
        "policy": os.sched_getscheduler(0),
        "priority": os.sched_getparam(0).sched_priority,
        "cores": sorted(os.sched_getaffinity(0)),
        "slack": libc.prctl(30, 0, 0, 0, 0),
        "switch": sys.getswitchinterval(),
        "collects": gc.isenabled(),
        "frozen": gc.get_freeze_count() > 0,
        "locked": memory.locked_bytes() // 1024,
        "awake": len(os.listdir("/proc/self/fd")),
    }

os.sched_setscheduler(0, os.SCHED_BATCH, os.sched_param(0))
libc.prctl(29, 77_000, 0, 0, 0)
sys.setswitchinterval(0.007)
exec(sys.argv[2])
before = everything()
refused = prepare(RealTime(priority=1, cpu=min(os.sched_getaffinity(0))))
during = everything()
prepare(RealTime(priority=1))
restore()
print(json.dumps([before, during, everything(), refused]))
restore()
assert everything() == before
"""


PIN = """
import mmap
page = mmap.mmap(-1, 3 * mmap.PAGESIZE)  # as a library may, long before
address = ctypes.addressof(ctypes.c_char.from_buffer(page))
assert libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(len(page))) == 0
"""


@pytest.mark.parametrize(
    "first", ["pass", "gc.disable()", "gc.freeze()", "realtime.keep_awake()", PIN]
)
def test_a_process_is_afterwards_as_it_was(first: str, tmp_path: Path):
    file = tmp_path / "cpu_dma_latency"
    file.touch()
    command = [sys.executable, "-c", PROGRAM, str(file), first]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    before, during, after, refused = json.loads(done.stdout)
    assert after == before
    assert not during["collects"]
    assert during["switch"] != before["switch"]
    changed = {name for name in before if during[name] != before[name]}
    assert "policy" in changed or "no real-time priority" in "".join(refused)
    assert "locked" in changed or "memory not locked" in "".join(refused)


def test_cores_that_are_gone_by_then_leave_nothing_else_behind(tmp_path: Path):
    file = tmp_path / "cpu_dma_latency"
    file.touch()
    gone = "realtime._before[0].cores = {4000}"  # the system refuses it
    program = PROGRAM.replace("\nrestore()\nprint", f"\n{gone}\nrestore()\nprint")
    program = program.replace("assert everything() == before\n", "")
    command = [sys.executable, "-c", program, str(file), "pass"]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    before, _, after, _ = json.loads(done.stdout)
    assert after.pop("cores") != before.pop("cores") or os.cpu_count() == 1
    assert after == before


def resident(block: mmap.mmap) -> int:
    """Pages of a mapping that are in memory."""
    pages = len(block) // mmap.PAGESIZE
    seen = (ctypes.c_ubyte * pages)()
    start = ctypes.addressof(ctypes.c_char.from_buffer(block))
    assert not ctypes.CDLL(None).mincore(ctypes.c_void_p(start), len(block), seen)
    return sum(byte & 1 for byte in seen)


@pytest.fixture
def locked():
    before = memory.Locked()
    if words := memory.lock():
        pytest.skip(f"memory cannot be locked here: {words}")
    yield
    before.restore()


@pytest.mark.usefixtures("locked")
def test_memory_is_locked_once_it_is_touched_and_not_before():
    with mmap.mmap(-1, 64 * mmap.PAGESIZE) as block:
        assert resident(block) == 0
        block[0] = 1
        assert resident(block) == 1
        gc.collect()  # drops the views, so that the block can be closed


def code_of(library: str) -> tuple[int, int, bool]:
    """Of a library's code: its size and how much of it is in memory, kB, and whether it is locked
    there.
    """
    text = Path("/proc/self/smaps").read_text()
    blocks = re.findall(rf"^\S+ r-xp .*{library}.*\n(?:\w+: .*\n)+", text, re.MULTILINE)
    assert blocks, f"{library} is not loaded"
    sizes, resident = (
        sum(int(re.findall(rf"^{name}: +(\d+) kB", block, re.MULTILINE)[0]) for block in blocks)
        for name in ("Size", "Rss")
    )
    return sizes, resident, all(" lo" in re.findall("VmFlags:.*", block)[0] for block in blocks)


@pytest.mark.usefixtures("locked")
def test_what_the_loop_may_call_is_in_memory_whole_and_the_compiler_is_not():
    size, resident, locked = code_of("_multiarray_umath")
    assert locked
    assert resident == size
    size, resident, locked = code_of("libllvmlite")
    assert not locked
    assert resident < size / 10


def test_where_locking_is_not_allowed_it_says_so_and_nothing_is_given_back():
    program = (
        "import resource; resource.setrlimit(resource.RLIMIT_MEMLOCK, (65536, 65536))\n"
        "import os; os.geteuid() or os.setuid(65534)\n"
        "from ur_admittance.realtime import memory as m; print(m.lock(), m.locked_bytes())"
    )
    done = subprocess.run(
        [sys.executable, "-c", f"import ur_admittance.realtime.memory\n{program}"],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.stdout == f"{os.strerror(12)} 0\n"


def test_what_the_machine_does_not_grant_is_said_and_the_run_goes_on():
    try:
        refused = prepare(RealTime(priority=0, cpu=100_000, lock_memory=False, awake=False))
        assert len(refused) == 1
        assert "core 100000" in refused[0]
    finally:
        restore()


def test_cores_are_kept_awake_as_long_as_it_runs(tmp_path, monkeypatch):
    file = tmp_path / "cpu_dma_latency"  # a wish counts as long as the file is open
    file.touch()
    monkeypatch.setattr(realtime, "_LATENCY", str(file))

    def is_open() -> bool:
        return any(fd.resolve() == file for fd in Path("/proc/self/fd").iterdir())

    wishes = RealTime(priority=0, lock_memory=False)
    try:
        assert prepare(wishes) == prepare(wishes) == []
        assert file.read_bytes() == bytes(4)  # none of the microseconds it asks about
        assert is_open()
    finally:
        restore()
    assert not is_open()


def test_cores_that_may_fall_asleep_are_said(tmp_path, monkeypatch):
    monkeypatch.setattr(realtime, "_LATENCY", str(tmp_path / "is not there"))
    try:
        (line,) = prepare(RealTime(priority=0, lock_memory=False))
    finally:
        restore()
    assert line.startswith("cores may fall asleep ([Errno 2] No such file")


def test_deadlines_stand_a_period_apart_however_late_each_was_met(monkeypatch):
    clock = Clock(monkeypatch)
    deadlines = Deadlines(0.5)
    for k, late in enumerate((0.0, 0.1, 0.4, 0.0), 1):
        assert deadlines.wait() == 100.0 + 0.5 * k
        assert clock.now == pytest.approx(100.0 + 0.5 * k)
        clock.now += late
    assert deadlines.missed == 0


def test_deadlines_that_passed_are_skipped_and_counted_and_never_made_up_for(monkeypatch):
    clock = Clock(monkeypatch)
    deadlines = Deadlines(0.5)
    deadlines.wait()
    clock.now += 1.25  # past 101.0 and 101.5, on the way to 102.0
    assert deadlines.wait() == 101.5
    assert deadlines.missed == 1
    assert clock.now == 101.75  # at once, for the newest
    assert deadlines.wait() == 102.0 == clock.now
    assert deadlines.missed == 1


def test_a_paced_time_passes_as_fast_as_asked_and_waits_for_a_slow_machine(monkeypatch):
    clock = Clock(monkeypatch)
    simulated_time = [7.0]
    pace = Pace(lambda: simulated_time[0], 2.0)
    simulated_time[0] = 8.0
    pace()
    assert clock.now == 100.5
    clock.now += 3.0  # the machine did something else
    pace()
    simulated_time[0] = 9.0
    pace()
    assert clock.now == 104.0


def test_a_deadline_is_slept_to_and_one_that_has_passed_is_not_waited_for(monkeypatch):
    clock = Clock(monkeypatch)
    sleep_until(clock.now - 1.0, spin=False)
    assert clock.now == 100.0
    sleep_until(clock.now + 3.0, spin=False)
    assert clock.now == 103.0


def test_a_deadline_that_is_waited_for_actively_is_not_met_too_soon():
    before = time.monotonic()
    sleep_until(before + 0.002, spin=True)
    assert before + 0.002 <= time.monotonic()
