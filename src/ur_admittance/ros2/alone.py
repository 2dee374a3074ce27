"""One publisher a topic: where two send, neither is believed."""

from __future__ import annotations

import time

from ur_admittance.errors import RobotError

_ALONE = 1.0  # s for which a publisher must have been the only one


class Alone:
    """Remembers who has sent what of late."""

    def __init__(self) -> None:
        self._heard: dict[tuple[str, bytes], float] = {}

    def admit(self, topic: str, sender: bytes) -> None:
        """Note a message, or raise a RobotError because another sends there, too.

        Args:
            sender: as DDS numbers endpoints.
        """
        now = time.monotonic()
        self._heard[topic, sender] = now
        self._heard = {key: t for key, t in self._heard.items() if now - t < _ALONE}
        several = sum(name == topic for name, _ in self._heard)
        if several > 1:
            raise RobotError(f"{several} publishers send there; keep one")
