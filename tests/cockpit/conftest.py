"""Blackboards in a folder of their own, and a cockpit that is served from a thread."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from tests.cockpit.support import Running
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.cockpit.access import AccessPolicy
from ur_admittance.cockpit.server import Cockpit
from ur_admittance.cockpit.session import Session

ROBOT = "bench"
PATIENCE = 120.0  # s, for a busy machine


@pytest.fixture(autouse=True)
def _own_folder(runtime) -> None:
    """Every blackboard of these tests is in a folder of its own."""


@pytest.fixture
def board() -> Iterator[Blackboard]:
    """The blackboard of an arm that has done a second of ticks at rest."""
    controller = Controller(RobotModel.ur("ur5e"), Config.preset("hand-guiding"))
    q = np.array(controller.model.home)
    with Blackboard.create(ROBOT, 500.0, controller.live) as made:
        controller.activate(q)
        for _ in range(500):
            controller.update(q, np.zeros(6), 0.002)
            made.publish(controller.outputs)
        yield made


class Served:
    """A cockpit at a port of this machine, and who may change something there."""

    def __init__(self, folder: Path) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self.access = AccessPolicy(port=self.port)
        self.folder = folder
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        self.session = Session(Blackboard.attach(ROBOT), self.folder)
        self.cockpit = Cockpit(self.session, self.access)
        try:
            await self.cockpit.serve(self._ready.set, self._socket)
        except asyncio.CancelledError:
            await self.session.close()

    def __enter__(self) -> Served:
        self._thread.start()
        self._ready.wait()
        return self

    def __exit__(self, *_: Any) -> None:
        task = self._task
        if task is not None:
            self.loop.call_soon_threadsafe(task.cancel)
        self._thread.join()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def raw(self, data: bytes, *, last: bool = False) -> bytes:
        """What is answered to bytes, until the other side closes; `last`: no more will come."""
        with socket.create_connection(("127.0.0.1", self.port)) as link:
            link.sendall(data)
            if last:
                link.shutdown(socket.SHUT_WR)
            answer = b""
            while part := link.recv(65536):
                answer += part
        return answer

    def get(self, path: str, host: str | None = None, more: str = "") -> bytes:
        """What a browser would get for a path."""
        host = f"127.0.0.1:{self.port}" if host is None else host
        return self.raw(f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())


@pytest.fixture
def served(board, tmp_path) -> Iterator[Served]:
    """A cockpit that is being served; `board` is its robot's."""
    pytest.importorskip("websockets")
    with Served(tmp_path / "recordings") as made:
        yield made


@pytest.fixture
def page(served) -> Iterator[Callable[..., Any]]:
    """Opens a page as a browser does: `page(token=..., origin=...)`."""
    from websockets.sync.client import connect

    opened = ExitStack()

    def open_page(token: str | None = None, origin: Any = "") -> Any:
        link = opened.enter_context(
            connect(
                f"ws://127.0.0.1:{served.port}/ws",
                origin=served.origin if origin == "" else origin,
                compression=None,
                max_queue=None,
                close_timeout=1,
            )
        )
        if token is not None:
            tell(link, do="token", token=token)
        return link

    with opened:
        yield open_page


def tell(link: Any, **message: Any) -> None:
    """Send a request."""
    link.send(json.dumps(message))


def hear(link: Any, kind: str, **having: Any) -> dict[str, Any]:
    """The next message of a kind, of whatever else comes before it; a refusal that was not waited
    for is an error.
    """
    for _ in range(6000):
        message = json.loads(link.recv(timeout=PATIENCE))
        assert message["kind"] != "refused" or kind == "refused", message["why"]
        if message["kind"] == kind and all(message.get(k) == v for k, v in having.items()):
            return message
    raise AssertionError(f"no {kind} {having} among 6000 messages")


@pytest.fixture
def cockpit(tmp_path) -> Iterator[Running]:
    """At any port that is free."""
    pytest.importorskip("websockets")
    pytest.importorskip("mujoco")
    made = Running(tmp_path / "recordings", 0)
    made.port = urlsplit(made.address).port or 0
    yield made
    made.close()
