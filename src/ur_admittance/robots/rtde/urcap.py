"""Serves our program to the External Control URCap, which asks for it when a person presses play.

The URCap connects, says `request_program`, and takes what comes until the connection ends.
"""

from __future__ import annotations

import contextlib
import socket

from ur_admittance.errors import RobotError

PORT = 50002
_REQUEST = b"request_program"
_LONGEST = 256  # bytes of a request
_CLIENTS = 4


class ScriptServer:
    """Answers when it is polled; it has no thread.

    Attributes:
        port: on which it listens.
        served: how often the program was asked for.
    """

    def __init__(self, text: str, port: int = PORT, host: str = "") -> None:
        """
        Args:
            text: of the program, see `script.for_urcap`.
            port: 0 for any that is free.
            host: address to listen on; default: all, since the robot is elsewhere.
        """
        self.served = 0
        self._text = text.encode()
        self._clients: list[socket.socket] = []
        self._listener = socket.socket()
        self._listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self._listener.bind((host, port))
            self._listener.listen(_CLIENTS)
        except OSError as error:
            self._listener.close()
            raise RobotError(
                f"--urcap: cannot listen on port {port} ({error}); does the ROS driver or another "
                "run have it?"
            ) from None
        self._listener.setblocking(False)
        self.port = self._listener.getsockname()[1]

    def poll(self) -> None:
        """Answer whoever asks by now; never waits."""
        with contextlib.suppress(OSError):
            client, _ = self._listener.accept()
            client.setblocking(False)
            self._clients.append(client)
            for old in self._clients[:-_CLIENTS]:
                old.close()
            del self._clients[:-_CLIENTS]
        for client in list(self._clients):
            try:
                asked = client.recv(_LONGEST)
            except BlockingIOError:
                continue
            except OSError:
                asked = b""
            if _REQUEST in asked:
                with contextlib.suppress(OSError):
                    client.settimeout(1.0)
                    client.sendall(self._text)
                    self.served += 1
            self._clients.remove(client)
            client.close()

    def close(self) -> None:
        for sock in (*self._clients, self._listener):
            sock.close()
        self._clients.clear()
