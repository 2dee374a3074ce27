"""For all tests: property tests that are the same on every run, the oracle on all that drives."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import settings

from tests.oracle import taps, watched

# Before NumPy is loaded: on a busy machine its threads wait for each other at every 3 x 3 product.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# No test sees the controllers that its user runs, nor they it; see also the fixture `runtime`.
_RUNTIME = tempfile.TemporaryDirectory(prefix="ur-admittance-tests-")
os.environ["UR_ADMITTANCE_RUNTIME"] = _RUNTIME.name

# A shell that starts this in the background has SIGINT ignored, and its children's, too.
with suppress(ValueError):  # not the main thread
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)

settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
settings.load_profile("same every time")

# All that drives an arm is watched, here and in every Python that a test starts; first of all, so
# that nothing of ours is loaded before.
_TRACES = tempfile.TemporaryDirectory(prefix="ur-admittance-traces-", dir=watched.place())
os.environ[taps.FOLDER] = _TRACES.name
taps.begin()
watched.watches = watched.Watches(Path(_TRACES.name))

_PATHS = [
    str(Path(__file__).parent / "oracle/everywhere"),
    *filter(None, [os.environ.get("PYTHONPATH")]),
]
_COMPILE = """
from ur_admittance import Config, Controller, RobotModel
Controller(RobotModel.ur("ur5e"), Config())
"""


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        "unjudged(*what, reason): the oracle overlooks these of its checks, or all; says why",
    )
    if config.getoption("numprocesses", None):  # several, which would all compile the same kernel
        subprocess.run([sys.executable, "-c", _COMPILE], check=False, stderr=subprocess.DEVNULL)
    else:  # the tests run here, and not in workers, which this would make watched twice
        os.environ["PYTHONPATH"] = os.pathsep.join(_PATHS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None]:
    """A test fails if what it drove broke a promise, whatever it asserts itself."""
    try:
        yield
    except BaseException:
        watched.watches.end()
        raise
    _judge(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item) -> Generator[None]:
    """Likewise, while its processes end."""
    yield
    _judge(item)


def _judge(item: pytest.Item) -> None:
    found = watched.watches.end()
    for mark in item.iter_markers("unjudged"):
        assert mark.kwargs["reason"]
        found = {k: v for k, v in found.items() if mark.args and k not in mark.args}
    assert not found, f"the oracle: {found}"


@pytest.fixture
def runtime(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A folder for blackboards that no other test sees."""
    ram = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="ur-admittance-test-", dir=ram if Path(ram).is_dir() else None)
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", folder)
    yield
    shutil.rmtree(folder)
