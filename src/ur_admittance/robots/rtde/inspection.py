"""What is read from the robot before anything moves, compared with what was expected."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ur_admittance.config import Config
from ur_admittance.config.validate import listed
from ur_admittance.errors import RobotError
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.robots.rtde.client import RtdeClient
from ur_admittance.robots.rtde.connection import ANSWER_SECONDS, Dial
from ur_admittance.robots.rtde.dashboard import Dashboard
from ur_admittance.robots.rtde.primary import Arm

# What not every version has. Of the payload all three, or none.
ONCE = ("payload", "payload_cog", "target_gravity", "speed_scaling", "target_speed_fraction")
_KG, _SHARE = 0.1, 0.05  # by which a payload may differ
_METRES, _RADIANS = 1e-3, 1e-2  # by which a TCP may differ
_COG = 0.02  # m, by which a centre of mass may differ
_SLOWEST = 0.01  # share of the slider with which an arm can be said to move
_TILT = np.cos(np.radians(2.0))  # by which gravity may


@dataclass(frozen=True)
class Expected:
    """What a user says of the robot; "" and None are not compared.

    Attributes:
        model: such as "ur5e".
        serial: digits.
        calibration: checksums, see `Arm.calibration`.
        tcp: (6,) m and rotation vector, rad.
    """

    model: str = ""
    serial: str = ""
    calibration: str = ""
    tcp: tuple[float, ...] | None = None


@dataclass
class Found:
    """What the robot says of itself.

    Attributes:
        version: of its software.
        arm: None if it could not be read, and `why_no_arm` says why.
        values: by RTDE name, of those that this version has.
    """

    version: tuple[int, int, int, int]
    dashboard: Dashboard
    arm: Arm | None
    why_no_arm: str = ""
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def cb3(self) -> bool:
        return self.version[0] < 5

    @property
    def words(self) -> str:
        """One line for the start of a run."""
        name = self.arm.name if self.arm else "arm"
        serial = f" {self.dashboard.serial}" if self.dashboard.serial else ""
        slider = self.values.get("target_speed_fraction")
        speed = "" if slider is None else f", speed slider at {100 * slider:.0f} %"
        return f"{name}{serial}, software {'.'.join(map(str, self.version[:3]))}{speed}"


def read_once(host: str, port: int, make: Dial) -> dict[str, Any]:
    """What changes seldom, by RTDE name, over a connection of its own."""
    client = RtdeClient(host, port, make=make)
    try:
        client.connect()
        names = ["timestamp", *ONCE]
        recipe = client.listen(125.0, names, optional=ONCE)
        layout = recipe.layout
        client.start(lambda contents: True, ANSWER_SECONDS)
        client.wait()
        numbers = list(layout.unpack(client.stream.newest))
    finally:
        client.close()
    values: dict[str, Any] = {}
    for name, kind in zip(recipe.names, recipe.types, strict=True):
        count = {"VECTOR3D": 3, "VECTOR6D": 6}.get(kind, 1)
        taken, numbers = numbers[:count], numbers[count:]
        values[name] = taken[0] if count == 1 else np.array(taken)
    return values


def differences(
    found: Found, expected: Expected, config: Config, *, compensated: bool, own_sensor: bool
) -> list[str]:
    """What is not as it should be: one line each with both values, and what to do.

    Args:
        compensated: the robot takes the payload out of the wrench itself.
        own_sensor: the wrench is the robot's.
    """
    arm, board = found.arm, found.dashboard
    lines = []

    def differs(what: str, robot: Any, wanted: Any, action: str) -> None:
        lines.append(f"{what}: the robot has {robot}, expected is {wanted}; {action}")

    name = arm.name if arm else ""
    if expected.model and name and name != expected.model.lower():
        differs("model", name, expected.model, "is this the right robot, and address?")
    if expected.serial and board.serial != expected.serial:
        got = board.serial or "none that can be read"
        differs("serial number", got, expected.serial, "is this the right robot, and address?")
    if expected.calibration and arm and arm.calibration != expected.calibration.lower():
        differs(
            "kinematic calibration", arm.calibration, expected.calibration,
            "another arm is mounted, or it was calibrated anew; expect the new one if that is so",
        )  # fmt: skip
    if expected.tcp is not None and arm:
        off = np.abs(arm.tcp - expected.tcp)
        if not (off[LINEAR].max() <= _METRES and off[ANGULAR].max() <= _RADIANS):
            differs(
                "TCP", listed(arm.tcp, 4), listed(np.array(expected.tcp), 4),
                "set it on the pendant (Installation, TCP), or expect another",
            )  # fmt: skip
    lines += _payload(found.values, config, compensated=compensated, own_sensor=own_sensor)
    gravity = found.values.get("target_gravity")
    if gravity is not None:
        down = np.array(config.payload.gravity)
        sizes = float(np.linalg.norm(gravity) * np.linalg.norm(down))
        if sizes and not -float(gravity @ down) >= _TILT * sizes:
            differs(
                "gravity", f"{listed(-gravity, 4)} m/s^2", f"{listed(down, 4)} (payload.gravity)",
                "set the mounting on the pendant (Installation, Mounting), or payload.gravity",
            )  # fmt: skip
    slider = found.values.get("target_speed_fraction", 1.0)
    if not slider >= _SLOWEST:
        lines.append(
            f"speed slider: the robot has {100 * slider:.0f} %, with which it moves not at all; "
            "raise it on the pendant, to 20 % for a first look"
        )
    if board.remote == "false":
        lines.append(
            "control: the robot is in local control, which takes no program from a computer; "
            "switch it to remote control at the top right of the pendant, or use the External "
            "Control URCap (--urcap)"
        )
    return lines


def _payload(
    values: dict[str, Any], config: Config, *, compensated: bool, own_sensor: bool
) -> list[str]:
    ours = config.payload
    if compensated:
        if ours.mass > 0.0:
            return [
                f"payload: payload.mass is {ours.mass:g} kg, but this robot takes the payload out "
                "of the wrench by itself; leave payload out, and set it on the pendant"
            ]
        return []
    theirs = values.get("payload")
    if theirs is None or not own_sensor:
        return []
    if not abs(theirs - ours.mass) <= _KG + _SHARE * ours.mass:
        return [
            f"payload: the robot has {theirs:.3g} kg, payload.mass is {ours.mass:g} kg; correct "
            "the wrong one: the pendant's (Installation, Payload) or the configuration's"
        ]
    cog = values.get("payload_cog")
    if cog is not None and ours.mass > _KG:
        off = float(np.linalg.norm(cog - np.array(ours.center_of_mass)))
        if not off <= _COG:
            return [
                f"payload: the robot has its centre at {listed(cog, 4)} m, payload.center_of_mass "
                f"is {listed(np.array(ours.center_of_mass), 4)} m; correct the wrong one"
            ]
    return []


class NotReady(RobotError):
    """What stands against a start.

    Attributes:
        problems: one line each.
    """

    def __init__(self, name: str, problems: list[str]) -> None:
        self.problems = [f"{name}: {problem}" for problem in problems]
        super().__init__("; ".join(self.problems))
