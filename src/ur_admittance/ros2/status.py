"""One stamped message with all that a plot of a run wants: wrench, error, gains, limits, contact.

It is a diagnostic_msgs/DiagnosticArray, which every ROS has and every tool shows: five statuses of
names and numbers. The message is made once, and only its numbers change.
"""

from __future__ import annotations

from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus, KeyValue

from ur_admittance.controller import Controller
from ur_admittance.faults import names_of
from ur_admittance.kernel import bits

_AXES = ("x", "y", "z", "rx", "ry", "rz")
_GAINS = {
    "mass": ("kg", "kg m^2"),
    "damping": ("N s/m", "Nm s/rad"),
    "stiffness": ("N/m", "Nm/rad"),
}
_LIMITS = {  # field of the params: what it is, unit
    "v_max": ("speed", "m/s"),
    "w_max": ("angular speed", "rad/s"),
    "a_max": ("acceleration", "m/s^2"),
    "alpha_max": ("angular acceleration", "rad/s^2"),
}
_CONTACT = {  # output: what it is, unit
    "contact_stiffness": ("stiffness", "N/m"),
    "contact_damping": ("damping", "N s/m"),
    "energy": ("energy", "J"),
}


class Status:
    """The message, and how it is filled."""

    def __init__(self, hardware: str) -> None:
        self.message: Any = DiagnosticArray()
        self._hardware = hardware
        self._wrench = self._part("wrench at the probe", _six("N", "Nm"))
        self._error = self._part("pose error", _six("m", "rad"))
        gains = [f"{gain} {key}" for gain, units in _GAINS.items() for key in _six(*units)]
        self._gains = self._part("gains in force", [*gains, "engagement"])
        limits = [f"{what} [{unit}]" for what, unit in _LIMITS.values()]
        self._limits = self._part("limits", [*limits, "at"])
        contact = [f"{what} [{unit}]" for what, unit in _CONTACT.values()]
        self._contact = self._part("contact", [*contact, "normal x", "normal y", "normal z"])

    def fill(self, controller: Controller, stamp: Any) -> Any:
        """The message for the last tick of a controller; `stamp` is a builtin_interfaces/Time."""
        out, state, params = controller.outputs[0], controller.state[0], controller.params[0]
        status = int(out["status"])
        _put(self._wrench, out["F_P"].tolist())
        _put(self._error, out["error"].tolist())
        gains = [x for gain in _GAINS for x in state[gain].tolist()]
        _put(self._gains, [*gains, float(out["engagement"])])
        _put(self._limits, [float(params[name]) for name in _LIMITS])
        self._limits.values[-1].value = ", ".join(names_of(status & bits.LIMITS))
        contact = [float(out[name]) for name in _CONTACT]
        _put(self._contact, contact + out["contact_normal"].tolist())
        serious = status & (bits.HOLDS | bits.STOPS)
        level = DiagnosticStatus.ERROR if serious else DiagnosticStatus.OK
        words = ", ".join([controller.mode, *names_of(status)])
        for part in self.message.status:
            part.level, part.message = level, words
        self.message.header.stamp = stamp
        return self.message

    def _part(self, name: str, keys: list[str]) -> Any:
        part = DiagnosticStatus(name=name, hardware_id=self._hardware)
        part.values = [KeyValue(key=key) for key in keys]
        self.message.status.append(part)
        return part


def _six(linear: str, angular: str) -> list[str]:
    """The names of six numbers, with their units."""
    return [f"{axis} [{linear if len(axis) == 1 else angular}]" for axis in _AXES]


def _put(part: Any, numbers: list[float]) -> None:
    for pair, value in zip(part.values, numbers, strict=False):
        pair.value = f"{value:.6g}"
