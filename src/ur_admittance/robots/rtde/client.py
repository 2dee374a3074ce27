"""An RTDE client: one blocking socket, whose packets are the robot's clock.

client = RtdeClient("192.168.1.10")
client.connect()
client.listen(500.0, OUTPUTS)
client.command(INPUTS)
client.start(believe)
while client.wait():
    client.stream.newest           # the contents of the last state
    client.send(packet)            # at most one a state
"""

from __future__ import annotations

import socket
import struct
import time
from collections.abc import Callable, Sequence

from ur_admittance.errors import RobotError
from ur_admittance.realtime import SPIN_SECONDS
from ur_admittance.robots.rtde import protocol
from ur_admittance.robots.rtde.connection import Dial, connected, dial, give_up_after, receive
from ur_admittance.robots.rtde.protocol import HEADER, IN_USE, NOT_FOUND, Recipe
from ur_admittance.robots.rtde.stream import Stream

PORT = 30004
_NOW = socket.MSG_DONTWAIT
_BEFORE = 10_000  # texts and states that may come before an answer does


class RtdeClient:
    """Handshake, recipes, states, commands.

    Attributes:
        version: of the controller: major, minor, bugfix, build.
        recipe: of the states, once agreed upon.
        stream: what came.
        waited: whether the last `wait` had to; else states were there before it was called.
        unsent: commands that found no room in the socket, and were dropped.
    """

    def __init__(self, host: str, port: int = PORT, *, make: Dial = dial) -> None:
        self.version = (0, 0, 0, 0)
        self.recipe: Recipe | None = None
        self.waited, self.unsent = True, 0
        self._size = 0  # of a state, bytes
        self._host, self._port, self._dial = host, port, make
        self._what = f"RTDE at {host}:{port}"
        self._sock: socket.socket | None = None
        self._rest = b""  # of a command that went half

    def connect(self) -> None:
        """Connect, agree on the protocol, and ask for the controller's version.

        Raises:
            RobotError: nobody answers, or it is too old.
        """
        self._sock = connected(self._host, self._port, "RTDE interface", self._dial)
        if self._exchange(protocol.ask_protocol(2)) != b"\x01":
            raise RobotError(
                f"{self._what}: the controller does not speak version 2 of RTDE; update its "
                "software (CB3: 3.5 or newer, e-Series: any)"
            )
        answer = self._exchange(protocol.frame(protocol.CONTROLLER_VERSION))
        if len(answer) < 16:
            raise RobotError(f"{self._what}: a version of {len(answer)} bytes; 16 are due")
        self.version = struct.unpack(">4I", answer[:16])

    def listen(self, rate: float, names: Sequence[str], optional: Sequence[str] = ()) -> Recipe:
        """Agree on what comes, and how often, Hz. Those `optional` that this version does not
        have are left out.

        Raises:
            RobotError: a variable is not there.
        """
        missing: list[str] = []
        for _ in range(1 + len(optional)):
            asked = [name for name in names if name not in missing]
            recipe = Recipe.parse(asked, self._exchange(protocol.ask_outputs(rate, asked)))
            refused = recipe.refused(NOT_FOUND)
            wanted = [name for name in refused if name not in optional]
            if wanted or (not recipe.number and not refused):
                what = (
                    f"has no {', '.join(wanted)}" if wanted else f"sends no states at {rate:g} Hz"
                )
                raise RobotError(
                    f"{self._what}: version {self.words} of the controller {what}; update its "
                    "software"
                )
            if recipe.number and not refused:
                break
            missing += refused
        self._size = recipe.layout.size  # where a type is unknown, this says so
        self.recipe = recipe
        return recipe

    def command(self, names: Sequence[str]) -> Recipe:
        """Agree on what is sent.

        Raises:
            RobotError: a register is not there, or is somebody else's.
        """
        recipe = Recipe.parse(names, self._exchange(protocol.ask_inputs(names)))
        if missing := recipe.refused(NOT_FOUND):
            raise RobotError(
                f"{self._what}: version {self.words} of the controller has no "
                f"{', '.join(missing)}; CB3 needs 3.9 for registers above 23: --registers 0 uses "
                "those of the field buses"
            )
        if taken := recipe.refused(IN_USE):
            low = any(int(name.rpartition("_")[2]) < 24 for name in taken)
            owner = (
                "a field bus (Ethernet/IP, PROFINET; Installation, Fieldbus), or another RTDE "
                "client"
                if low
                else "another RTDE client: another run, ur_rtde, the ROS driver, a URCap, or one "
                "that was killed less than a few seconds ago"
            )
            raise RobotError(
                f"{self._what}: {', '.join(taken)} {'is' if len(taken) == 1 else 'are'} in use, "
                f"likely by {owner}; end it, or take other registers with --registers"
            )
        if not recipe.number:
            raise RobotError(f"{self._what}: the controller refused the inputs {', '.join(names)}")
        return recipe

    def start(self, believe: Callable[[memoryview], bool], patience: float) -> None:
        """From now on states come. `believe` judges each; `wait` gives up after `patience`, s."""
        if self.recipe is None:
            raise RobotError(f"{self._what}: start() comes after listen()")
        if self._exchange(protocol.frame(protocol.START)) != b"\x01":
            raise RobotError(f"{self._what}: the controller does not start to send states")
        self.stream = Stream(self.recipe.number, self._size, believe)
        give_up_after(self._socket, patience)

    def pause(self) -> None:
        """No more states come until `start`."""
        self._exchange(protocol.frame(protocol.PAUSE))

    def wait(self, spin_from: float = 0.0) -> int:
        """Wait for the next state. Returns how many came: more than one if the caller, or the
        network, was late; 0 if none did for `patience`.

        Args:
            spin_from: when to begin to wait actively, s of `time.monotonic()`; 0: never.

        Raises:
            RobotError: the connection has ended.
        """
        sock, stream = self._socket, self.stream
        self.waited = False
        try:
            good = self._took(sock.recv_into(stream.space, 0, _NOW))
            if good:
                return good
        except BlockingIOError:
            pass
        except OSError as error:
            raise self._broken(error) from None
        self.waited = True
        try:
            while True:
                count = self._spun(spin_from) if spin_from else sock.recv_into(stream.space)
                if good := self._took(count):
                    return good
        except BlockingIOError:
            return 0
        except OSError as error:
            raise self._broken(error) from None

    def send(self, packet: bytes | bytearray) -> None:
        """Send a packet, or drop it where a controller that does not read leaves no room.

        Raises:
            RobotError: the connection has ended.
        """
        sock = self._socket
        try:
            if self._rest:
                self._rest = self._rest[sock.send(self._rest, _NOW) :]
                if self._rest:
                    self.unsent += 1
                    return
            sent = sock.send(packet, _NOW)
            if sent < len(packet):
                self._rest = bytes(packet[sent:])
        except BlockingIOError:
            self.unsent += 1
        except OSError as error:
            raise self._broken(error) from None

    def close(self) -> None:
        """Give the socket back. May be called twice."""
        if self._sock is not None:
            self._sock.close()
            self._sock = None

    @property
    def words(self) -> str:
        """The version, as the pendant shows it."""
        return ".".join(map(str, self.version[:3]))

    # --- inside ---

    @property
    def _socket(self) -> socket.socket:
        if self._sock is None:
            raise RobotError(f"{self._what}: not connected")
        return self._sock

    def _took(self, count: int) -> int:
        if count == 0:
            raise ConnectionResetError("it closed it")
        return self.stream.took(count)

    def _spun(self, start: float) -> int:
        """Sleep until `start`, then ask again and again, not for longer than a cycle."""
        left = start - time.monotonic()
        if left > 0.0:
            time.sleep(left)
        end = max(start, time.monotonic()) + 4.0 * SPIN_SECONDS
        while time.monotonic() < end:
            try:
                return self._socket.recv_into(self.stream.space, 0, _NOW)
            except BlockingIOError:
                continue
        return self._socket.recv_into(self.stream.space)

    def _broken(self, error: OSError) -> RobotError:
        words = error.strerror or str(error)
        return RobotError(
            f"{self._what}: the connection to the robot has ended ({words}); its program brakes "
            "the arm by itself. See whether the robot's computer is on and the cable is in, then "
            "start again"
        )

    def _exchange(self, question: bytes) -> bytes:
        """The payload of the answer of the same type."""
        sock, kind = self._socket, question[2]
        try:
            sock.sendall(question)
        except OSError as error:
            raise self._broken(error) from None
        for _ in range(_BEFORE):
            size, got = HEADER.unpack(receive(sock, HEADER.size, self._what))
            if not HEADER.size <= size <= protocol.LONGEST_ANSWER:
                break
            payload = receive(sock, size - HEADER.size, self._what)
            if got == kind and payload:
                return payload
        raise RobotError(
            f"{self._what}: what came is no answer; is this the RTDE port of a UR controller?"
        )
