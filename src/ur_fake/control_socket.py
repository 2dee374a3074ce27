"""A socket that no robot has: pull the emergency stop, push the arm, break the wire. JSON lines.

One object a line, `{"do": NAME, ...}`; one object a line back, `{"ok": true, ...}` or
`{"ok": false, "error": WORDS}`.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from typing import Any

from ur_admittance.errors import AdmittanceError, ConfigError
from ur_fake.wire import Caps, Client, Service

PORT = 29997
LINES_A_CYCLE = 16

Action = Callable[..., dict[str, Any] | None]


class ControlSocket(Service):
    """What people and tests can do to the machine that clients cannot."""

    name = "control"
    caps = Caps(clients=8, inbox=1 << 17, outbox=1 << 17)

    def __init__(self, actions: Mapping[str, Action]) -> None:
        super().__init__()
        self._actions = dict(actions)

    def received(self, client: Client) -> None:
        for _ in range(LINES_A_CYCLE):
            line, found, _rest = bytes(client.inbox).partition(b"\n")
            if not found:
                return
            del client.inbox[: len(line) + 1]
            if line.strip():
                client.send(json.dumps(self.answer(line)).encode() + b"\n")

    def answer(self, line: bytes) -> dict[str, Any]:
        """Do what a line asks."""
        try:
            asked = json.loads(line)
            if not isinstance(asked, dict):
                raise ConfigError('control: one object a line, such as {"do": "state"}')
            name = str(asked.pop("do", None))
            if name not in self._actions:
                raise ConfigError(f"control: no {name!r}; there are {', '.join(self._actions)}")
            action = self._actions[name]
            try:
                inspect.signature(action).bind(**asked)
            except TypeError as error:
                raise ConfigError(f"control: {name}: {error}") from None
            return {"ok": True, **(action(**asked) or {})}
        except (AdmittanceError, ValueError, TypeError, LookupError, RecursionError) as error:
            return {"ok": False, "error": f"{type(error).__name__}: {error}"}
