"""The variables of RTDE: name, type, and where the value is in the machine.

Names and types are those of the maker's RTDE guide. Registers are shared with field buses: the
guide gives the lower half of each (bits 0 to 63, numbers 0 to 23) to them and the upper half to
RTDE clients; a client may still write the lower half as long as no field bus is in use.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from typing import Any

import numpy as np

from ur_admittance.kernel.spatial import LINEAR

BITS, NUMBERS = 128, 48  # registers of each kind
FIELDBUS_BITS, FIELDBUS_NUMBERS = 64, 24  # the lower ones, which a field bus takes for itself


@dataclass(frozen=True)
class Output:
    """A variable that clients can get. `get` returns a list for vectors."""

    type: str
    get: Callable[[Any], Any]


@dataclass(frozen=True)
class Input:
    """A variable that clients can set; `set` is None where it means something only in a group.

    Attributes:
        fieldbus: refused as IN_USE while a field bus is in use.
    """

    type: str
    set: Callable[[Any, Any], None] | None
    fieldbus: bool = False


def _listed(name: str) -> Callable[[Any], list]:
    """The elements of an array of the machine, as numbers `struct` packs fast."""
    get = attrgetter(name)
    return lambda machine: get(machine).tolist()


def _always(value: Any) -> Callable[[Any], Any]:
    return lambda _machine: value


def _bits(array: str, first: int, machine: Any) -> int:
    """32 bit registers as one number, the first as bit 0."""
    word = 0
    for i, bit in enumerate(getattr(machine, array)[first : first + 32]):
        word |= bool(bit) << i
    return word


def _set_bits(first: int, machine: Any, value: int) -> None:
    machine.input_bit[first : first + 32] = [bool(value >> i & 1) for i in range(32)]


def _item(array: str, i: int, kind: type, machine: Any) -> Any:
    return kind(getattr(machine, array)[i])


def _set_item(array: str, i: int, machine: Any, value: Any) -> None:
    getattr(machine, array)[i] = value


def _register_outputs() -> dict[str, Output]:
    """Output registers, and input registers as the program sees them."""
    table = {}
    for side in ("output", "input"):
        bit, whole, real = f"{side}_bit", f"{side}_int", f"{side}_double"
        for first in (0, 32):
            name = f"{side}_bit_registers{first}_to_{first + 31}"
            table[name] = Output("UINT32", partial(_bits, bit, first))
        for i in range(FIELDBUS_BITS, BITS):
            table[f"{side}_bit_register_{i}"] = Output("BOOL", partial(_item, bit, i, bool))
        for i in range(NUMBERS):
            table[f"{side}_int_register_{i}"] = Output("INT32", partial(_item, whole, i, int))
            table[f"{side}_double_register_{i}"] = Output("DOUBLE", partial(_item, real, i, float))
    return table


def _register_inputs() -> dict[str, Input]:
    table = {}
    for first in (0, 32):
        name = f"input_bit_registers{first}_to_{first + 31}"
        table[name] = Input("UINT32", partial(_set_bits, first), fieldbus=True)
    for i in range(FIELDBUS_BITS, BITS):
        table[f"input_bit_register_{i}"] = Input("BOOL", partial(_set_item, "input_bit", i))
    for i in range(NUMBERS):
        lower = i < FIELDBUS_NUMBERS
        table[f"input_int_register_{i}"] = Input(
            "INT32", partial(_set_item, "input_int", i), fieldbus=lower
        )
        table[f"input_double_register_{i}"] = Input(
            "DOUBLE", partial(_set_item, "input_double", i), fieldbus=lower
        )
    return table


_VECTORS = [
    "target_q",
    "target_qd",
    "target_qdd",
    "target_current",
    "target_moment",
    "actual_q",
    "actual_qd",
    "actual_current",
    "joint_control_output",
    "actual_TCP_pose",
    "actual_TCP_speed",
    "actual_TCP_force",
    "target_TCP_pose",
    "target_TCP_speed",
    "tcp_offset",
    "ft_raw_wrench",
    "payload_inertia",
]
_DOUBLES = ["speed_scaling", "target_speed_fraction", "payload"]
_WHOLE = {
    "robot_mode": "INT32",
    "safety_mode": "INT32",
    "safety_status": "INT32",
    "safety_status_bits": "UINT32",
    "robot_status_bits": "UINT32",
    "runtime_state": "UINT32",
    "analog_io_types": "UINT32",
    "tool_output_voltage": "INT32",
    "actual_digital_input_bits": "UINT64",
    "actual_digital_output_bits": "UINT64",
}
# What no simulated arm has, at values that an idle arm shows.
_CONSTANT = {
    "actual_execution_time": ("DOUBLE", 0.3),  # ms
    "target_execution_time": ("DOUBLE", 2.0),  # ms
    "actual_main_voltage": ("DOUBLE", 48.0),  # V
    "actual_robot_voltage": ("DOUBLE", 48.0),  # V
    "actual_robot_current": ("DOUBLE", 0.6),  # A
    "actual_joint_voltage": ("VECTOR6D", [48.0] * 6),  # V
    "joint_temperatures": ("VECTOR6D", [28.0] * 6),  # degrees Celsius
    "actual_momentum": ("DOUBLE", 0.0),
    "actual_tool_accelerometer": ("VECTOR3D", [0.0, 0.0, 0.0]),
    "io_current": ("DOUBLE", 0.07),  # A
    "tool_mode": ("UINT32", 253),
    "tool_analog_input_types": ("UINT32", 0),
    "tool_output_current": ("DOUBLE", 0.0),
    "tool_temperature": ("DOUBLE", 28.0),  # degrees Celsius
    "tool_output_mode": ("UINT8", 0),
    "tool_digital_output0_mode": ("UINT8", 0),
    "tool_digital_output1_mode": ("UINT8", 0),
    "euromap67_input_bits": ("UINT32", 0),
    "euromap67_output_bits": ("UINT32", 0),
    "euromap67_24V_voltage": ("DOUBLE", 0.0),
    "euromap67_24V_current": ("DOUBLE", 0.0),
    "encoder0_raw": ("INT32", 0),
    "encoder1_raw": ("INT32", 0),
    "joint_position_deviation_ratio": ("DOUBLE", 0.0),
    "collision_detection_ratio": ("DOUBLE", 0.0),
    "time_scale_source": ("INT32", -1),
}


def _whole(name: str) -> Callable[[Any], int]:
    get = attrgetter(name)
    return lambda machine: int(get(machine))


def _real(name: str) -> Callable[[Any], float]:
    get = attrgetter(name)
    return lambda machine: float(get(machine))


def _norm_of_force(machine: Any) -> float:
    return float(np.linalg.norm(machine.actual_TCP_force[LINEAR]))


def _outputs() -> dict[str, Output]:
    table = {"timestamp": Output("DOUBLE", attrgetter("time"))}
    table |= {name: Output("VECTOR6D", _listed(name)) for name in _VECTORS}
    table |= {name: Output("DOUBLE", _real(name)) for name in _DOUBLES}
    table |= {name: Output(kind, _whole(name)) for name, kind in _WHOLE.items()}
    table |= {name: Output(kind, _always(value)) for name, (kind, value) in _CONSTANT.items()}
    table |= {
        "payload_cog": Output("VECTOR3D", _listed("payload_cog")),
        "target_gravity": Output("VECTOR3D", _listed("gravity")),
        "joint_mode": Output("VECTOR6INT32", lambda machine: [int(i) for i in machine.joint_mode]),
        "elbow_position": Output("VECTOR3D", lambda machine: machine.elbow()[0]),
        "elbow_velocity": Output("VECTOR3D", lambda machine: machine.elbow()[1]),
        "tcp_force_scalar": Output("DOUBLE", _norm_of_force),
        "standard_analog_input0": Output("DOUBLE", partial(_item, "analog_input", 0, float)),
        "standard_analog_input1": Output("DOUBLE", partial(_item, "analog_input", 1, float)),
        "standard_analog_output0": Output("DOUBLE", partial(_item, "analog_output", 0, float)),
        "standard_analog_output1": Output("DOUBLE", partial(_item, "analog_output", 1, float)),
        "tool_analog_input0": Output("DOUBLE", partial(_item, "tool_analog_input", 0, float)),
        "tool_analog_input1": Output("DOUBLE", partial(_item, "tool_analog_input", 1, float)),
    }
    return table | _register_outputs()


def _inputs() -> dict[str, Input]:
    table = {
        "speed_slider_mask": Input("UINT32", None),
        "speed_slider_fraction": Input("DOUBLE", None),
        "standard_analog_output_mask": Input("UINT8", None),
        "standard_analog_output_type": Input("UINT8", None),
        "standard_analog_output_0": Input("DOUBLE", None),
        "standard_analog_output_1": Input("DOUBLE", None),
        "external_force_torque": Input("VECTOR6D", _set_external_wrench),
    }
    for kind in ("standard", "configurable", "tool"):
        table[f"{kind}_digital_output_mask"] = Input("UINT8", None)
        table[f"{kind}_digital_output"] = Input("UINT8", None)
    return table | _register_inputs()


def _set_external_wrench(machine: Any, wrench: tuple[float, ...]) -> None:
    machine.external_force_torque = np.array(wrench)


def _set_slider(machine: Any, mask: int, fraction: float) -> None:
    if mask & 1 and 0.0 <= fraction <= 1.0:
        machine.set_speed_slider(fraction)


def _set_digital(kind: str, machine: Any, mask: int, value: int) -> None:
    machine.set_digital_output(kind, mask, value)


def _set_analog(machine: Any, mask: int, types: int, first: float, second: float) -> None:
    for i, fraction in enumerate((first, second)):
        if mask >> i & 1:
            machine.set_analog_output(i, fraction, types >> i & 1)


OUTPUTS = _outputs()
INPUTS = _inputs()
# Inputs that mean something only together, and what is done with their last values.
GROUPED: list[tuple[tuple[str, ...], Callable[..., None]]] = [
    (("speed_slider_mask", "speed_slider_fraction"), _set_slider),
    (
        (
            "standard_analog_output_mask",
            "standard_analog_output_type",
            "standard_analog_output_0",
            "standard_analog_output_1",
        ),
        _set_analog,
    ),
    *(
        ((f"{kind}_digital_output_mask", f"{kind}_digital_output"), partial(_set_digital, kind))
        for kind in ("standard", "configurable", "tool")
    ),
]
