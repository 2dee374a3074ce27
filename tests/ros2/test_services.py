"""What a service answers when it cannot do what was asked for."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from ur_admittance.errors import RobotError

pytest.importorskip("std_srvs.srv", reason="needs ROS 2: std_srvs cannot be imported")


def test_a_service_that_fails_answers_and_does_not_end_the_run():
    from ur_admittance.ros2.services import _answered

    logged: list[str] = []
    node: Any = SimpleNamespace(get_logger=lambda: SimpleNamespace(error=logged.append))

    def answer(do) -> tuple[bool, str]:
        response = asyncio.run(_answered(node, do)(None, SimpleNamespace(message="", success=None)))
        return response.success, response.message

    def refused(node):
        raise RobotError("not now")

    assert answer(lambda node: "done") == (True, "done")
    assert answer(refused) == (False, "not now")
    assert not logged, "a refusal is no failure"
    assert answer(lambda node: [][1]) == (False, "IndexError: list index out of range")
    assert "Traceback" in logged[0] and "test_services.py" in logged[0]
