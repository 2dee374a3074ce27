"""The RTDE interface: several clients, each with its own version, recipes and rate."""

from __future__ import annotations

import struct
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from ur_fake.rtde import frames
from ur_fake.rtde.fields import INPUTS
from ur_fake.rtde.recipes import (
    CYCLES_PER_SECOND,
    MAX_NAMES,
    InputRecipe,
    OutputRecipe,
    answer,
)
from ur_fake.wire import Caps, Client, Service

PORT = 30004
# What is done in one cycle for all clients together; the rest waits. Reading a recipe costs more
# than data do.
BUDGET, DATA_COST, OTHER_COST = 64, 1, 8
MAX_INPUT_RECIPES = 255  # their number is a byte
PATIENCE = 100  # packages that make no sense, before a client is dropped
SLOWEST = 1.0  # Hz


@dataclass
class Session:
    """What the controller remembers of one client."""

    protocol: int = 1
    started: bool = False
    output: OutputRecipe | None = None
    inputs: dict[int, InputRecipe] = field(default_factory=dict)
    image: dict[str, Any] = field(default_factory=dict)
    senseless: int = 0


class Rtde(Service):
    """Port 30004.

    Attributes:
        refused: variables that this controller says it does not have.
        fieldbus: a field bus is in use and has the lower registers.
    """

    name = "rtde"
    caps = Caps(clients=32, inbox=1 << 17, outbox=1 << 18)

    def __init__(self, machine: Any, refused: Collection[str] = (), fieldbus: bool = False) -> None:
        super().__init__()
        self.refused = set(refused)
        self.fieldbus = fieldbus
        self._machine = machine
        self._owners: dict[str, Client] = {}
        self._cycle = 0
        self._budget = BUDGET

    def connected(self, client: Client) -> None:
        client.data = Session()

    def gone(self, client: Client) -> None:
        self._owners = {name: owner for name, owner in self._owners.items() if owner is not client}

    def received(self, client: Client) -> None:
        try:
            while self._budget > 0 and (cut := frames.cut(client.inbox)) is not None:
                self._budget -= DATA_COST if cut[0] == frames.DATA else OTHER_COST
                self._handle(client, *cut)
        except ValueError as error:
            self._complain(client, str(error))
            client.close()

    @property
    def busy(self) -> bool:
        return self._budget <= 0

    def cycle(self) -> None:
        self._cycle += 1
        self._budget = BUDGET
        for client in self.clients:
            session = client.data
            if session.started and session.output and session.output.due(self._cycle):
                client.send(session.output.pack(self._machine))

    def _handle(self, client: Client, kind: int, payload: bytes) -> None:
        session = client.data
        if kind == frames.DATA:
            self._data(client, payload)
        elif kind == frames.PROTOCOL_VERSION:
            wanted = int.from_bytes(payload[:2], "big")
            accepted = wanted in (1, 2) and not session.started
            if accepted:
                session.protocol = wanted
            client.send(frames.frame(kind, bytes([accepted])))
        elif kind == frames.CONTROLLER_VERSION:
            version = struct.pack(">4I", *self._machine.identity.version)
            client.send(frames.frame(kind, version))
        elif kind == frames.SETUP_OUTPUTS:
            self._setup_outputs(client, payload)
        elif kind == frames.SETUP_INPUTS:
            self._setup_inputs(client, payload)
        elif kind == frames.START:
            ready = bool(session.inputs or session.output)
            session.started = ready
            client.send(frames.frame(kind, bytes([ready])))
        elif kind == frames.PAUSE:
            session.started = False
            client.send(frames.frame(kind, b"\x01"))
        elif kind != frames.TEXT:
            self._complain(client, f"unknown package type {kind}")

    def _setup_outputs(self, client: Client, payload: bytes) -> None:
        session, hertz = client.data, 125.0
        numbered = session.protocol == 2
        if numbered:
            hertz = struct.unpack_from(">d", payload)[0] if len(payload) >= 8 else 0.0
            payload = payload[8:]
        names = self._names(client, payload)
        if not SLOWEST <= hertz <= CYCLES_PER_SECOND:
            self._complain(client, f"output frequency {hertz} Hz; {SLOWEST:g} to 500 are possible")
            session.output = None
            client.send(answer(frames.SETUP_OUTPUTS, 0, ["NOT_FOUND"] * len(names)))
            return
        recipe = OutputRecipe(names, hertz, numbered=numbered, refused=self.refused)
        session.output = recipe if recipe.valid else None
        if session.output is None:
            session.started = False
        number = int(recipe.valid)
        client.send(answer(frames.SETUP_OUTPUTS, number, recipe.types, numbered=numbered))

    def _setup_inputs(self, client: Client, payload: bytes) -> None:
        session = client.data
        names = self._names(client, payload)
        types = [self._input_type(name, client) for name in names]
        good = bool(names) and not {"NOT_FOUND", "IN_USE"} & set(types)
        number = len(session.inputs) + 1 if good and len(session.inputs) < MAX_INPUT_RECIPES else 0
        if number:
            session.inputs[number] = InputRecipe(number, names, types)
            self._owners.update(dict.fromkeys(names, client))
        client.send(answer(frames.SETUP_INPUTS, number, types))

    def _names(self, client: Client, payload: bytes) -> list[str]:
        """The names of a recipe; none if they are too many, which is told."""
        if len(payload) <= MAX_NAMES:
            return frames.names(payload)
        self._complain(client, f"{len(payload)} bytes of names; {MAX_NAMES} are possible")
        return []

    def _input_type(self, name: str, client: Client) -> str:
        known = INPUTS.get(name)
        if known is None or name in self.refused:
            return "NOT_FOUND"
        if self._owners.get(name, client) is not client or (self.fieldbus and known.fieldbus):
            return "IN_USE"
        return known.type

    def _data(self, client: Client, payload: bytes) -> None:
        recipe = client.data.inputs.get(payload[0]) if payload else None
        if recipe is None:
            self._complain(client, f"no input recipe {payload[0] if payload else 'at all'}")
        elif len(payload) - 1 != recipe.size:
            got = len(payload) - 1
            self._complain(
                client, f"input recipe {recipe.number} has {recipe.size} bytes, not {got}"
            )
        else:
            recipe.apply(self._machine, payload[1:], client.data.image)

    def _complain(self, client: Client, words: str) -> None:
        session = client.data
        session.senseless += 1
        client.send(frames.text(words, frames.ERROR, protocol=session.protocol))
        if session.senseless > PATIENCE:
            client.close()
