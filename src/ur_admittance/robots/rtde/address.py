"""`rtde://HOST` and `rtde://HOST:PORT`: where a controller's interfaces are."""

from __future__ import annotations

from ur_admittance.errors import RobotError
from ur_admittance.robots.rtde import client, dashboard, primary

USUAL = {"rtde": client.PORT, "primary": primary.PORT, "dashboard": dashboard.PORT}


def address_of(url: str) -> tuple[str, dict[str, int]]:
    """Host and ports of an address. A port of its own is that of RTDE; the others move with it.

    Raises:
        RobotError: it is none.
    """
    scheme, _, rest = url.strip().partition(":")
    if not rest.startswith("//"):
        raise RobotError(f"robot {url!r}: write it as {scheme}://{rest.strip('/') or 'HOST'}")
    host, _, port = rest[2:].rstrip("/").partition(":")
    if not host or any(character in host for character in "/@ "):
        raise RobotError(f"robot {url!r}: no address in it; write it as rtde://192.168.1.10")
    if not port:
        return host, dict(USUAL)
    number = int(port) if port.isdigit() else 0
    offset = number - client.PORT
    ports = {name: usual + offset for name, usual in USUAL.items()}
    if not all(0 < moved < 65536 for moved in ports.values()):
        raise RobotError(
            f"robot {url!r}: the port, of RTDE, must be a number such as {client.PORT}, the usual "
            f"one; got {port!r}"
        )
    return host, ports


def name_of(host: str, ports: dict[str, int]) -> str:
    """The address as it is written."""
    port = ports["rtde"]
    return f"rtde://{host}" + (f":{port}" if port != client.PORT else "")
