"""Blackboards in a folder of their own, and other processes in their roles."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(autouse=True)
def _own_folder(runtime) -> None:
    """Every blackboard of these tests is in a folder of its own."""


@pytest.fixture
def other() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Starts a process in a role; `ready` waits for its first line."""
    started: list[subprocess.Popen[str]] = []

    def start(role: str, *arguments: str) -> subprocess.Popen[str]:
        command = [sys.executable, "-m", "tests.blackboard.processes", role, *arguments]
        pipe = subprocess.PIPE
        started.append(subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()
