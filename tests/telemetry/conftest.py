"""A folder for the blackboards of each test, and one recorded run for all that only read it."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.telemetry.runs import Run, eventful


@pytest.fixture(autouse=True)
def _own_folder(monkeypatch) -> Iterator[None]:
    ram = "/dev/shm"
    folder = tempfile.mkdtemp(prefix="ur-admittance-test-", dir=ram if Path(ram).is_dir() else None)
    monkeypatch.setenv("UR_ADMITTANCE_RUNTIME", folder)
    yield
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def run(tmp_path_factory) -> Run:
    """An eventful run, recorded in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UR_ADMITTANCE_RUNTIME", str(tmp_path_factory.mktemp("runtime")))
        return eventful(tmp_path_factory.mktemp("recording") / "run.mcap")
