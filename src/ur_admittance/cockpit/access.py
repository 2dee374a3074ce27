"""Who may come in: the token, the address a page came from, and how much of each is too much."""

from __future__ import annotations

import hmac
import ipaddress
import secrets
import time
from dataclasses import dataclass, field

from ur_admittance.errors import ConfigError

CONNECTIONS = 64  # open at once, of any kind
PAGES = 32  # of them, that are shown frames
MESSAGE_BYTES = 16_384  # of one message from a page
MESSAGES = 150.0  # a second, from one page
BURST = 150  # messages at once
SEND_SECONDS = 10.0  # that a page may take for one frame before it is let go
WORD_BYTES = 200  # of any text that a page sends


@dataclass(frozen=True)
class AccessPolicy:
    """What the server lets in."""

    host: str = "127.0.0.1"  # address it listens on; loopback unless the user said otherwise
    port: int = 8080  # TCP; 0: any that is free, which the server then knows
    # who has it may change something; on loopback everybody may look
    token: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)

    def __post_init__(self) -> None:
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            raise ConfigError(
                f"--host: must be an address of this machine, such as 127.0.0.1, got "
                f"{self.host!r:.100}"
            ) from None
        if address.is_unspecified:
            raise ConfigError(
                f"--host: {self.host} is every network there is; give the one address that "
                "pages shall be opened at, such as 192.168.1.5"
            )

    @property
    def loopback(self) -> bool:
        """Whether only this machine can come in at all."""
        return ipaddress.ip_address(self.host).is_loopback

    @property
    def hosts(self) -> frozenset[str]:
        """What a request may call this server: of any other name it was led here by a trick."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        names = {own, "localhost"} if self.loopback else {own}
        return frozenset(f"{name}:{self.port}" for name in names)

    @property
    def address(self) -> str:
        """What to open: what comes after the # stays in the browser and in no log."""
        own = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{own}:{self.port}/#token={self.token}"

    def refusal(self, host: str | None, origin: str | None) -> str:
        """Why a request is refused, from its Host and Origin; "" if it is not."""
        if host not in self.hosts:
            return f"the Host {host!r:.100} is not this server"
        if origin is not None and not self.own(origin):
            return f"the Origin {origin!r:.100} is another page"
        return ""

    def own(self, origin: str | None) -> bool:
        """Whether a page of ours asks."""
        return origin is not None and origin in {f"http://{host}" for host in self.hosts}

    def knows(self, token: object) -> bool:
        """Whether it is the token; takes as long for a wrong one as for the right one."""
        return isinstance(token, str) and hmac.compare_digest(token.encode(), self.token.encode())


class Allowance:
    """How many messages one page may still send: so many a second, and some at once."""

    def __init__(self, rate: float = MESSAGES, burst: float = BURST) -> None:
        self._rate, self._most, self._left = rate, burst, burst
        self._then = time.monotonic()

    def take(self, now: float | None = None) -> bool:
        """One message more; whether it is within what is allowed. `now`: s, monotonic."""
        now = time.monotonic() if now is None else now
        self._left = min(self._most, self._left + (now - self._then) * self._rate)
        self._then = now
        self._left -= 1.0
        return self._left >= 0.0
