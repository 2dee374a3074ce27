"""Recipes: which variables a client gets or sets, in which order, and how they become bytes."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ur_fake.rtde import frames
from ur_fake.rtde.fields import GROUPED, INPUTS, OUTPUTS, Input
from ur_fake.rtde.frames import CODES, DATA

CYCLES_PER_SECOND = 500
MAX_NAMES = 2048  # bytes of all names of a recipe, as the guide has it


class OutputRecipe:
    """What a client gets, and how often."""

    def __init__(self, names: Sequence[str], hertz: float, *, numbered: bool, refused=()) -> None:
        """
        Args:
            names: of the variables.
            hertz: how often, 1 to 500. Where it does not divide 500, the gaps differ by a cycle.
            numbered: whether data starts with the recipe's number (protocol 2).
            refused: variables that this controller does not have, though others do.
        """
        known = [None if name in refused else OUTPUTS.get(name) for name in names]
        self.types = [field.type if field else "NOT_FOUND" for field in known]
        self.valid = bool(known) and all(known)
        self._rate = hertz / CYCLES_PER_SECOND
        if not self.valid:
            return
        found = [field for field in known if field]
        self._get = [(field.get, field.type.startswith("VECTOR")) for field in found]
        codes = "".join(CODES[field.type] for field in found)
        self._struct = struct.Struct(">HB" + "B" * numbered + codes)
        self._head = (self._struct.size, DATA, 1)[: 2 + numbered]

    def due(self, cycle: int) -> bool:
        """Whether this cycle sends."""
        return int(cycle * self._rate + 1e-9) > int((cycle - 1) * self._rate + 1e-9)

    def pack(self, machine: Any) -> bytes:
        """One data package."""
        values: list[Any] = list(self._head)
        for get, several in self._get:
            if several:
                values += get(machine)
            else:
                values.append(get(machine))
        return self._struct.pack(*values)


@dataclass
class InputRecipe:
    """What a client sets. `number` 0 means that it was refused."""

    number: int
    names: list[str]
    types: list[str]

    def __post_init__(self) -> None:
        if not self.number:
            return
        self._fields: list[tuple[str, Input, int]] = []
        codes = ""
        for name, kind in zip(self.names, self.types, strict=True):
            width = 6 if kind.startswith("VECTOR6") else 3 if kind.startswith("VECTOR") else 1
            self._fields.append((name, INPUTS[name], width))
            codes += CODES[kind]
        self._struct = struct.Struct(">" + codes)
        self._groups: list[tuple[tuple[str, ...], Callable]] = [
            group for group in GROUPED if set(group[0]) & set(self.names)
        ]

    @property
    def size(self) -> int:
        """Bytes of the values of one package."""
        return self._struct.size

    def apply(self, machine: Any, payload: bytes, image: dict[str, Any]) -> None:
        """Hand over what a package holds.

        Args:
            machine: the controller.
            payload: the values, without the recipe's number.
            image: the last value of each variable of this client; those that only mean something
                together (a mask and its bits) are taken from there.
        """
        values = self._struct.unpack(payload)
        at = 0
        for name, field, width in self._fields:
            value = values[at] if width == 1 else values[at : at + width]
            at += width
            image[name] = value
            machine.input_seen[name] = machine.time
            if field.set is not None:
                field.set(machine, value)
        for names, act in self._groups:
            act(machine, *(image.get(name, 0) for name in names))


def answer(kind: int, number: int, types: Sequence[str], *, numbered: bool = True) -> bytes:
    """The controller's answer to a recipe: its number, 0 if refused, and types."""
    head = bytes([number]) if numbered else b""
    return frames.frame(kind, head + ",".join(types).encode())
