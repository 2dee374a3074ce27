"""The server of the page: frames go out, requests come in as far as `access` lets them.

Every page is shown the same frames. One that is slow, or frozen, misses frames and is let go after
ten seconds; one that sends garbage, or too much, is let go at once. The loop knows of none of them.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import logging
import os
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ur_admittance.cockpit import access as limits
from ur_admittance.cockpit.access import AccessPolicy, Allowance
from ur_admittance.cockpit.files import HEADERS, Files
from ur_admittance.cockpit.session import Session
from ur_admittance.errors import AdmittanceError, RobotError, needs

LOG = logging.getLogger("ur_admittance.cockpit")
_REFUSED, _WRONG = 1008, 1003  # codes of the WebSocket standard: policy, and what cannot be read


def library() -> Any:
    """The `websockets` package, or how to get it."""
    with needs("the cockpit needs websockets", "cockpit"):
        return importlib.import_module("websockets.asyncio.server")


class Page:
    """One connected page; `trusted`: it has shown the token, and comes from here."""

    def __init__(self, connection: Any, own: bool) -> None:
        self.connection, self.own, self.trusted = connection, own, False
        self.allowance = Allowance()
        self.wake = asyncio.Event()
        self.waiting: list[str] = []  # answers and news, which must not be lost
        self.frame = ""  # the newest, if it was not yet sent

    def show(self, frame: str) -> None:
        """The newest frame takes the place of one not sent."""
        self.frame = frame
        self.wake.set()

    def tell(self, **words: Any) -> None:
        """An answer, or news; whoever does not read a hundred of them has gone."""
        if len(self.waiting) < 100:
            self.waiting.append(json.dumps(words, default=str))
            self.wake.set()

    async def write(self) -> None:
        """Send what there is, until the page has gone or takes too long."""
        while True:
            await self.wake.wait()
            self.wake.clear()
            texts, self.waiting = self.waiting, []
            if self.frame:
                texts, self.frame = [*texts, self.frame], ""
            for text in texts:
                async with asyncio.timeout(limits.SEND_SECONDS):
                    await self.connection.send(text)


class Cockpit:
    """Pages in, frames out: one session of one robot."""

    def __init__(self, session: Session, access: AccessPolicy) -> None:
        self.session, self.access = session, access
        self.pages: set[Page] = set()
        self.refused = 0
        self._open = 0
        self._reading = asyncio.Semaphore(4)
        self._files = Files(session.folder, session.looks)
        session.tell_all = self.tell_all

    async def serve(self, ready: Callable[[], None] | None = None, sock: Any = None) -> None:
        """Serve until cancelled. `sock`: a socket that listens already, at its address."""
        server = library()
        quiet = logging.getLogger("ur_admittance.cockpit.wire")
        quiet.setLevel(logging.CRITICAL)
        options: dict[str, Any] = {
            "process_request": self._request,
            "max_size": limits.MESSAGE_BYTES,
            "max_queue": 8,
            "write_limit": 1 << 16,
            "open_timeout": 15.0,
            "close_timeout": 3.0,
            "ping_interval": 10.0,
            "ping_timeout": 10.0,
            "compression": None,
            "server_header": None,
            "logger": quiet,
            "create_connection": self._counted(server.ServerConnection),
            "backlog": 256,
        }
        host, port = self.access.host, self.access.port
        try:
            place = {"host": host, "port": port} if sock is None else {"sock": sock}
            listening = await server.serve(self._page, **place, **options)
        except OSError as error:
            raise RobotError(
                f"--port: cannot listen on {host}:{port}: {os.strerror(error.errno or 0)}; "
                "another cockpit may run there, give another --port"
            ) from None
        try:
            if port == 0:
                self.access = replace(self.access, port=listening.sockets[0].getsockname()[1])
            if ready is not None:
                ready()
            await self.session.live(self.show_all)
        finally:
            listening.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(3.0):
                    await listening.wait_closed()

    def show_all(self, frame: str) -> None:
        """A new frame for every page."""
        for page in self.pages:
            page.show(frame)

    def tell_all(self, **words: Any) -> None:
        """News for every page."""
        for page in self.pages:
            page.tell(**words)

    # --- who may come in ---

    def _counted(self, plain: Any) -> Any:
        """Connections of which there are never too many: what is too much is cut off at once."""
        cockpit = self

        class Connection(plain):
            counted = False

            def connection_made(self, transport: Any) -> None:
                super().connection_made(transport)
                if cockpit._open >= limits.CONNECTIONS:
                    cockpit._refuse("too many connections")
                    transport.abort()
                    return
                self.counted = True
                cockpit._open += 1

            def connection_lost(self, exc: Any) -> None:
                if self.counted:
                    self.counted = False
                    cockpit._open -= 1
                super().connection_lost(exc)

        return Connection

    def _refuse(self, why: str) -> None:
        """Log it, the first few of a flood and then every thousandth."""
        self.refused += 1
        if self.refused <= 20 or self.refused % 1000 == 0:
            LOG.warning("refused (%d so far): %s", self.refused, why)

    async def _request(self, connection: Any, request: Any) -> Any:
        """Answer a browser that loads a file; None lets a page in."""
        host, origin = (self._one(request, name) for name in ("Host", "Origin"))
        why = self.access.refusal(host, origin)
        if not why and request.path.partition("?")[0] == "/ws":
            if len(self.pages) < limits.PAGES:
                return None
            self._refuse("too many pages")
            return self._answer(connection, 503, "text/plain", b"too many pages are open\n")
        if not why and not self.access.loopback and request.path.startswith(("/reports", "/comp")):
            why = "reports are shown on the machine itself only"
        if why:
            self._refuse(why)
            return self._answer(connection, 403, "text/plain", f"refused: {why}\n".encode())
        async with self._reading:
            answer = await asyncio.to_thread(self._files.get, request.path)
        return self._answer(connection, answer.status, answer.kind, answer.body)

    @staticmethod
    def _one(request: Any, name: str) -> str | None:
        """A header, which must not be there twice."""
        values = request.headers.get_all(name)
        return None if not values else values[0] if len(values) == 1 else "given twice"

    @staticmethod
    def _answer(connection: Any, status: int, kind: str, body: bytes) -> Any:
        response = connection.respond(status, "")
        for name in list(response.headers):
            del response.headers[name]
        for name, value in {
            **HEADERS,
            "Content-Type": kind,
            "Content-Length": str(len(body)),
        }.items():
            response.headers[name] = value
        response.body = body
        return response

    # --- a page ---

    async def _page(self, connection: Any) -> None:
        origin = self._one(connection.request, "Origin")
        page = Page(connection, self.access.own(origin))
        closed = importlib.import_module("websockets.exceptions").ConnectionClosed
        if self.access.loopback:
            self._welcome(page)
        writer = asyncio.create_task(page.write())
        writer.add_done_callback(lambda _: connection.transport.abort())  # it reads too slowly
        try:
            async for message in connection:
                if not page.allowance.take():
                    self._refuse("too many messages")
                    await connection.close(_REFUSED, "too many messages")
                    return
                if (why := self._hear(page, message)) != "":
                    self._refuse(why)
                    await connection.close(_WRONG, why[:100])
                    return
        except closed:
            pass
        finally:
            self.pages.discard(page)
            self.session.left(page)
            writer.cancel()
            with suppress(asyncio.CancelledError, TimeoutError, closed):
                await writer
            connection.transport.abort()

    def _welcome(self, page: Page) -> None:
        for words in self.session.hello():
            page.tell(**words)
        self.pages.add(page)

    def _hear(self, page: Page, text: Any) -> str:
        """One message; why the page has to go, or ""."""
        try:
            message = json.loads(text) if isinstance(text, str) else None
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict) or not isinstance(message.get("do"), str):
            return "a message that is no request"
        do = message["do"]
        if do == "token":
            page.trusted = page.own and self.access.knows(message.get("token"))
            if not page.trusted:
                self._refuse("a wrong token" if page.own else "a token without an Origin of ours")
            elif page not in self.pages:
                self._welcome(page)
            page.tell(kind="trust", trusted=page.trusted)
            return ""
        if not page.trusted:
            self._refuse(f"{do!r:.20} without the token")
            page.tell(kind="refused", do=do[:20], why="open the address that was printed at start")
            return ""
        try:
            self.session.act(page, message)
        except AdmittanceError as error:
            page.tell(kind="refused", do=do[:20], why=str(error))
        return ""
