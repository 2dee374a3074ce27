"""The memory behind the blackboard: names, versions, folders, and memory that is full."""

from __future__ import annotations

import errno
import os

import pytest

from tests.blackboard.processes import board_of
from ur_admittance import RobotError
from ur_admittance.blackboard import Blackboard, memory


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
