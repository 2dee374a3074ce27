"""The whole of it without a browser: `ur-admittance cockpit` with its simulated arm."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from tests.cockpit.conftest import hear, tell


@contextmanager
def opened(cockpit) -> Iterator[Any]:
    """A trusted page."""
    from websockets.sync.client import connect

    origin: Any = f"http://127.0.0.1:{cockpit.port}"
    with connect(
        f"ws://127.0.0.1:{cockpit.port}/ws",
        origin=origin,
        compression=None,
        max_queue=None,
        close_timeout=1,
    ) as made:
        tell(made, do="token", token=cockpit.token)
        assert hear(made, "trust")["trusted"]
        yield made


@pytest.fixture
def link(cockpit) -> Iterator[Any]:
    with opened(cockpit) as made:
        yield made


def place(link: Any) -> np.ndarray:
    return np.reshape(hear(link, "frame")["P"], (3, 4))[:, 3]


@pytest.mark.slow
def test_a_newcomer_pulls_stops_and_resets_a_simulated_arm_and_puts_a_wall_there(
    cockpit, link
) -> None:
    """Row 59: and a page that is lost while it pulls lets the tool go."""
    start = place(link)
    goal = start + np.array([0.0, 0.06, 0.0])
    while (place(link) - start)[1] < 0.03:  # the way of the pointer
        tell(link, do="drag", point=goal.tolist())
    assert np.abs((place(link) - start)[[0, 2]]).max() < 0.01
    tell(link, do="release")

    with opened(cockpit) as lost:
        while not any(hear(link, "frame")["hand"]):
            tell(lost, do="drag", point=(goal + 0.05).tolist())
    while any(hear(link, "frame")["hand"]):
        pass

    tell(link, do="reset", confirmed=True)
    assert "not stopped" in hear(link, "refused", do="reset")["why"]
    tell(link, do="stop")
    life = hear(link, "life", state="stopped")
    assert life["reason"]["text"] == "asked in the cockpit" and life["reason"]["advice"]
    tell(link, do="reset")
    assert "confirmed" in hear(link, "refused", do="reset")["why"]
    tell(link, do="scene", name="wall", side="+x", feel="wood")
    while not hear(link, "life")["scene"]:
        pass
    assert hear(link, "frame", mode="active")
    tell(link, do="stop")
    hear(link, "life", state="stopped")
    tell(link, do="reset", confirmed=True)
    hear(link, "life", state="running")
    assert hear(link, "frame", mode="active")
    assert cockpit.close() == 0
