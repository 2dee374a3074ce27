"""Ports 30001, 30002 and 30003: state to every client, scripts from those that may send them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ur_fake.messages import Message
from ur_fake.primary import messages, realtime, state, variables
from ur_fake.primary.scripts import SCRIPT_BYTES, Scripts
from ur_fake.wire import Caps, Client, Service

# Lines that are no scripts; the maker's client library sends them in the dashboard's place.
COMMANDS: dict[str, Callable[[Any], Any]] = {
    "power on": lambda machine: machine.power_on(),
    "power off": lambda machine: machine.power_off(),
    "set robotmode run": lambda machine: machine.brake_release(),
    "set unlock protective stop": lambda machine: machine.unlock_protective_stop(),
    "stop program": lambda machine: machine.stop_program(),
    "pause program": lambda machine: machine.pause_program(),
}
MESSAGES_A_CYCLE = 32  # the rest waits; the machine forgets the oldest when too many do
STATE_CYCLES = 50  # 10 Hz
SCRIPTS_A_CYCLE = 64  # of one client; one that sends more at once is dropped


@dataclass
class Session:
    """What the controller remembers of one client."""

    read_only: bool
    scripts: Scripts = field(default_factory=Scripts)


class Feed:
    """What all three ports share in one cycle: each packet is made once, when somebody wants it."""

    def __init__(self, machine: Any, model: str) -> None:
        self.model = model
        self.machine = machine
        self._made: dict[str, bytes] = {}
        self._safety = machine.safety_mode
        self._program = machine.program
        self.said: list[bytes] = []

    def next(self) -> None:
        """A new cycle: what the machine has said since the last is `said`."""
        self._made.clear()
        self.said = []
        if self.machine.safety_mode != self._safety:
            self._safety = self.machine.safety_mode
            self.said.append(messages.safety_mode(self.machine.time, self._safety))
        if self.machine.program is not self._program:
            self._program = self.machine.program
            self.said.append(self.names())
        for _ in range(min(MESSAGES_A_CYCLE, len(self.machine.messages))):
            said = self.machine.messages.popleft()
            if said.kind != "close_popup":  # a matter of the pendant
                self.said.append(encode(said))

    def state(self) -> bytes:
        """The robot state packet of this cycle."""
        if "state" not in self._made:
            self._made["state"] = state.robot_state(self.machine, self.model)
        return self._made["state"]

    def names(self) -> bytes:
        """The names of the running program's variables; none if none runs."""
        program = self.machine.program
        listed = () if program is None else program.program.variables
        return variables.names(self.machine.time, listed)

    def values(self) -> bytes:
        """The values of the running program's variables."""
        if "values" not in self._made:
            program = self.machine.program
            listed = () if program is None else program.values()
            self._made["values"] = variables.values(self.machine.time, listed)
        return self._made["values"]

    def realtime(self) -> bytes:
        """The real-time packet of this cycle."""
        if "realtime" not in self._made:
            self._made["realtime"] = realtime.packet(self.machine)
        return self._made["realtime"]


class ClientInterface(Service):
    """One of the three ports.

    A connection that is opened in local control can only read for as long as it lives. Going from
    remote to local control closes all.
    """

    caps = Caps(clients=32, inbox=1 << 17, outbox=1 << 19)

    def __init__(self, name: str, feed: Feed, run: Callable[[str], None]) -> None:
        """
        Args:
            name: "primary" (state, variables and messages, 10 Hz), "secondary" (state, 10 Hz) or
                "realtime" (real-time packets, 500 Hz).
            feed: shared by the three.
            run: takes a script.
        """
        super().__init__()
        self.name = name
        self._feed, self._run = feed, run
        self._remote = feed.machine.remote_control
        self._cycle = 0

    def connected(self, client: Client) -> None:
        machine = self._feed.machine
        client.data = Session(read_only=not machine.remote_control)
        if self.name != "realtime":
            who = machine.identity
            client.send(messages.version(machine.time, who.version, who.build_date))
        if self.name == "primary":
            client.send(self._feed.names())

    def received(self, client: Client) -> None:
        session = client.data
        came = session.scripts.feed(client.inbox, last=client.hung_up)
        if session.scripts.waiting > SCRIPT_BYTES or len(came) > SCRIPTS_A_CYCLE:
            client.close()
            return
        for script in came:
            if session.read_only:
                words = "Socket is read-only when the robot is in local or Teach control"
                time = self._feed.machine.time
                client.send(messages.error_code(time, messages.READ_ONLY, 0, words))
            elif command := COMMANDS.get(script.strip()):
                command(self._feed.machine)
            else:
                self._run(script)

    def cycle(self) -> None:
        remote = self._feed.machine.remote_control
        if self._remote and not remote:
            for client in self.clients:
                client.closed |= not client.data.read_only
        self._remote = remote
        self._cycle += 1
        if not self.clients:
            return
        packets = []
        if self.name == "realtime":
            packets.append(self._feed.realtime())
        elif self._cycle % STATE_CYCLES == 0:
            packets.append(self._feed.state())
        if self.name == "primary":
            packets += self._feed.said
            if self._cycle % STATE_CYCLES == 0 and self._feed.machine.program is not None:
                packets.append(self._feed.values())
        for packet in packets:
            for client in self.clients:
                client.send(packet)


def encode(said: Message) -> bytes:
    """A message of the machine as the primary interface sends it."""
    if said.kind == "text":
        return messages.text(said.time, said.text)
    if said.kind == "error":
        return messages.error_code(said.time, said.code, said.argument, said.text, said.level)
    if said.kind == "key":
        return messages.key(said.time, said.title, said.text, said.code, said.argument)
    if said.kind == "exception":
        return messages.runtime_exception(said.time, said.line, said.column, said.text)
    return messages.popup(
        said.time,
        said.title,
        said.text,
        warning=said.warning,
        error=said.error,
        blocking=said.blocking,
    )
