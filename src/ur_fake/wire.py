"""Listeners and clients of the fake controller: one poll a cycle, and a cap on all that a client
can ask for.
"""

from __future__ import annotations

import contextlib
import errno
import selectors
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from ur_admittance.errors import RobotError

READ_BYTES = 16384  # from one client in one cycle: 8 MB/s
ACCEPTS = 16  # of one listener in one cycle
SEND_BUFFER = 262144  # bytes that the system keeps for a client that does not read


@dataclass(frozen=True)
class Caps:
    """What the clients of one service may take.

    Attributes:
        clients: at a time; one more is closed at once.
        inbox: bytes of one client that wait to be understood; at that it is dropped.
        outbox: bytes that wait for one client to read, beyond what the system keeps; past that it
            is dropped.
    """

    clients: int = 32
    inbox: int = 1 << 17
    outbox: int = 1 << 20


class Line(Protocol):
    """What happens to packets on their way to a client."""

    def push(self, packet: bytes, time: float) -> None: ...

    def pop(self, time: float) -> Iterator[bytes]: ...


class Client:
    """One connection.

    Attributes:
        inbox: what came and was not yet consumed; services cut from its front.
        data: what the service remembers of this client.
        frozen: neither read nor written, but open: the other side of a cut cable.
        line: tampers with packets; None for an honest one.
        hung_up: the client sends no more; what is in the inbox is all there will be.
    """

    def __init__(self, sock: socket.socket, caps: Caps, data: Any = None) -> None:
        self.inbox = bytearray()
        self.data = data
        self.frozen = False
        self.closed = False
        self.hung_up = False
        self.line: Line | None = None
        self.time = 0.0
        self._sock, self._caps = sock, caps
        self._outbox = bytearray()

    def read(self) -> None:
        """Take what came, no more than a cycle's share."""
        room = min(READ_BYTES, self._caps.inbox - len(self.inbox))
        if room <= 0 or self.frozen or self.closed:
            return
        try:
            received = self._sock.recv(room)
        except BlockingIOError:
            return
        except OSError:
            self.closed = True
            return
        if received:
            self.inbox += received
        else:
            self.hung_up = True

    @property
    def full(self) -> bool:
        """Whether the inbox has reached its cap."""
        return len(self.inbox) >= self._caps.inbox

    def send(self, packet: bytes) -> None:
        """Send a packet now, or as the line has it."""
        if self.line is None:
            self._put(packet)
        else:
            self.line.push(packet, self.time)

    def deliver(self, time: float) -> None:
        """What the line lets through by `time`, and what the system had no room for before."""
        self.time = time
        if self.line is not None:
            for packet in self.line.pop(time):
                self._put(packet)
        elif self._outbox:
            self._put(b"")

    def _put(self, packet: bytes) -> None:
        if self.closed or self.frozen:
            return
        if self._outbox:
            self._outbox += packet
            packet = bytes(self._outbox[:SEND_BUFFER])
        try:
            sent = self._sock.send(packet) if packet else 0
        except BlockingIOError:
            sent = 0
        except OSError:
            self.closed = True
            return
        if self._outbox:
            del self._outbox[:sent]
        else:
            self._outbox += packet[sent:]
        if len(self._outbox) > self._caps.outbox:
            self.closed = True

    def close(self) -> None:
        """Say no more."""
        self.closed = True

    def shut(self) -> None:
        """Give the socket back."""
        self.closed = True
        self._sock.close()


class Service:
    """One interface of the controller. Subclasses say what they do with what clients send."""

    name = "service"
    caps = Caps()

    def __init__(self) -> None:
        self.clients: list[Client] = []

    def connected(self, client: Client) -> None:
        """A client has come."""

    def received(self, client: Client) -> None:
        """There is something in the client's inbox."""

    def gone(self, client: Client) -> None:
        """A client has left, or was dropped."""

    @property
    def busy(self) -> bool:
        """Whether it has done its share of this cycle, so that the rest must wait."""
        return False

    def cycle(self) -> None:
        """The machine has made a step."""


class Hub:
    """All services, their listeners and their clients, in one thread.

    Attributes:
        dropped: clients refused or dropped so far.
    """

    def __init__(self) -> None:
        self.dropped = 0
        self._turn = 0
        self._selector = selectors.DefaultSelector()
        self._services: list[Service] = []

    def listen(self, service: Service, host: str, port: int) -> int:
        """Open a port for a service; 0 for any that is free. Returns which."""
        sock = socket.socket()
        try:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            sock.bind((host, port))
            sock.listen(64)
        except (OSError, UnicodeError) as error:
            sock.close()
            taken = isinstance(error, OSError) and error.errno == errno.EADDRINUSE
            hint = (
                "another controller runs there; --ports moves all ports, --host 127.0.0.2 is "
                "another address of this machine"
                if taken
                else "the address must be one of this machine, such as 127.0.0.1 or 0.0.0.0"
            )
            raise RobotError(
                f"fake robot: cannot listen for {service.name} on {host}:{port} ({error}): {hint}"
            ) from None
        sock.setblocking(False)
        self._selector.register(sock, selectors.EVENT_READ, (service, None))
        if service not in self._services:
            self._services.append(service)
        return sock.getsockname()[1]

    def poll(self, time: float) -> None:
        """Take what has come since the last poll; never waits.

        Args:
            time: of the controller, s.
        """
        for key, _ in self._selector.select(0):
            service, client = key.data
            if client is None:
                self._accept(service, key.fileobj, time)
            else:
                client.read()
        self._turn += 1
        for service in self._services:
            waiting = list(service.clients)
            first = self._turn % len(waiting) if waiting else 0  # everybody is first at times
            for client in waiting[first:] + waiting[:first]:
                self._serve(service, client)

    def cycle(self, time: float) -> None:
        """Let every service speak after a step of the machine."""
        for service in self._services:
            service.cycle()
            for client in service.clients:
                client.deliver(time)

    def close(self) -> None:
        """Close all that is open."""
        for service in self._services:
            for client in list(service.clients):
                self._drop(service, client)
        for key in list(self._selector.get_map().values()):
            self._selector.unregister(key.fileobj)
            key.fileobj.close()  # pyright: ignore[reportAttributeAccessIssue]
        self._selector.close()

    def _accept(self, service: Service, listener: Any, time: float) -> None:
        for _ in range(ACCEPTS):
            try:
                sock, _ = listener.accept()
            except OSError:  # nobody left, or no more files: those wait
                return
            if len(service.clients) >= service.caps.clients:
                self.dropped += 1
                sock.close()
                continue
            sock.setblocking(False)
            with contextlib.suppress(OSError):  # gone already: the first read says so
                sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
            client = Client(sock, service.caps)
            client.time = time
            service.clients.append(client)
            self._selector.register(sock, selectors.EVENT_READ, (service, client))
            service.connected(client)

    def _serve(self, service: Service, client: Client) -> None:
        if client.frozen:
            return
        waiting = len(client.inbox)
        if not client.closed and (waiting or client.hung_up):
            was_full = client.full
            service.received(client)
            if was_full and client.full and not service.busy:
                self.dropped += 1
                client.close()
        left = client.hung_up and len(client.inbox) == waiting and not service.busy
        if client.closed or left:
            self._drop(service, client)

    def _drop(self, service: Service, client: Client) -> None:
        self._selector.unregister(client._sock)
        client.shut()
        service.clients.remove(client)
        service.gone(client)
