"""Registers, digital and analogue I/O, and the watchdog on them."""

from __future__ import annotations

from typing import Any

from ur_admittance.errors import RobotError
from ur_fake.registers import BITS, NUMBERS
from ur_fake.urscript.tree import ScriptError
from ur_fake.urscript.values import number, truth, whole

_LONG = 2**31


def _address(address: Any, count: int) -> int:
    n = address if type(address) is int else whole(address)
    if not 0 <= n < count:
        raise ScriptError(f"register {n}: there are 0 to {count - 1}")
    return n


def read_input_boolean_register(rt: Any, address: Any) -> bool:
    return bool(rt.machine.input_bit[_address(address, BITS)])


def read_input_integer_register(rt: Any, address: Any) -> int:
    return int(rt.machine.input_int[_address(address, NUMBERS)])


def read_input_float_register(rt: Any, address: Any) -> float:
    return float(rt.machine.input_double[_address(address, NUMBERS)])


def read_output_boolean_register(rt: Any, address: Any) -> bool:
    return bool(rt.machine.output_bit[_address(address, BITS)])


def read_output_integer_register(rt: Any, address: Any) -> int:
    return int(rt.machine.output_int[_address(address, NUMBERS)])


def read_output_float_register(rt: Any, address: Any) -> float:
    return float(rt.machine.output_double[_address(address, NUMBERS)])


def write_output_boolean_register(rt: Any, address: Any, value: Any) -> None:
    rt.machine.output_bit[_address(address, BITS)] = truth(value)


def write_output_integer_register(rt: Any, address: Any, value: Any) -> None:
    n = whole(value)
    if not -_LONG <= n < 2 * _LONG:
        raise ScriptError(f"register {whole(address)}: {n} does not fit in 32 bits")
    rt.machine.output_int[_address(address, NUMBERS)] = n if n < _LONG else n - 2 * _LONG


def write_output_float_register(rt: Any, address: Any, value: Any) -> None:
    rt.machine.output_double[_address(address, NUMBERS)] = number(value)


def _io(action: Any, *arguments: Any) -> Any:
    try:
        return action(*arguments)
    except RobotError as error:
        raise ScriptError(str(error)) from None


def get_standard_digital_in(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_input, "standard", whole(n))


def get_configurable_digital_in(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_input, "configurable", whole(n))


def get_tool_digital_in(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_input, "tool", whole(n))


def get_digital_in(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_input, *_any(n))


def get_standard_digital_out(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_output, "standard", whole(n))


def get_configurable_digital_out(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_output, "configurable", whole(n))


def get_tool_digital_out(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_output, "tool", whole(n))


def get_digital_out(rt: Any, n: Any) -> bool:
    return _io(rt.machine.digital_output, *_any(n))


def set_standard_digital_out(rt: Any, n: Any, b: Any) -> None:
    _set(rt, "standard", whole(n), truth(b))


def set_configurable_digital_out(rt: Any, n: Any, b: Any) -> None:
    _set(rt, "configurable", whole(n), truth(b))


def set_tool_digital_out(rt: Any, n: Any, b: Any) -> None:
    _set(rt, "tool", whole(n), truth(b))


def set_digital_out(rt: Any, n: Any, b: Any) -> None:
    _set(rt, *_any(n), truth(b))


def _any(n: Any) -> tuple[str, int]:
    """0-7 standard, 8-9 tool."""
    index = whole(n)
    return ("tool", index - 8) if index >= 8 else ("standard", index)


def _set(rt: Any, kind: str, n: int, high: bool) -> None:
    _io(rt.machine.digital_output, kind, n)  # does it exist?
    rt.machine.set_digital_output(kind, 1 << n, int(high) << n)


def get_standard_analog_in(rt: Any, n: Any) -> float:
    return _pick(rt.machine.analog_input, n)


def get_standard_analog_out(rt: Any, n: Any) -> float:
    return _pick(rt.machine.analog_output, n)


def get_tool_analog_in(rt: Any, n: Any) -> float:
    return _pick(rt.machine.tool_analog_input, n)


def _pick(values: list[float], n: Any) -> float:
    index = whole(n)
    if not 0 <= index < len(values):
        raise ScriptError(f"analogue I/O {index}: there are 0 to {len(values) - 1}")
    return values[index]


def set_standard_analog_out(rt: Any, n: Any, f: Any) -> None:
    _io(rt.machine.set_analog_output, whole(n), number(f))


def set_analog_outputdomain(rt: Any, port: Any, domain: Any) -> None:
    _io(rt.machine.set_analog_output, whole(port), 0.0, whole(domain))


def set_standard_analog_input_domain(rt: Any, port: Any, domain: Any) -> None:
    n = whole(port)
    _pick(rt.machine.analog_input, n)
    types = rt.machine.analog_io_types
    rt.machine.analog_io_types = types | 1 << n if whole(domain) else types & ~(1 << n)


def set_tool_voltage(rt: Any, voltage: Any) -> None:
    volts = whole(voltage)
    if volts not in (0, 12, 24):
        raise ScriptError(f"set_tool_voltage: 0, 12 or 24, got {volts}")
    rt.machine.tool_output_voltage = volts


def rtde_set_watchdog(
    rt: Any, variable_name: Any, min_frequency: Any, action: Any = "pause"
) -> None:
    """If no client sends that input at least so often, pause or stop the program, or nothing."""
    if action not in ("ignore", "pause", "stop"):
        raise ScriptError(f"rtde_set_watchdog: 'ignore', 'pause' or 'stop', got {action!r:.40}")
    if not isinstance(variable_name, str):
        raise ScriptError("rtde_set_watchdog: the name of an RTDE input")
    frequency = number(min_frequency)
    if not frequency >= 0:
        raise ScriptError("rtde_set_watchdog: a frequency of 0 or more, Hz")
    rt.watch(variable_name, 1.0 / frequency if frequency > 0 else 0.0, action)


def set_input_actions_to_default(rt: Any) -> None:
    """Inputs have no actions here."""


def set_tool_analog_input_domain(rt: Any, port: Any, domain: Any) -> None:
    _pick(rt.machine.tool_analog_input, port)
    whole(domain)


def set_tool_output_mode(rt: Any, mode: Any) -> None:
    whole(mode)


def set_tool_digital_output_mode(rt: Any, n: Any, mode: Any) -> None:
    _io(rt.machine.digital_output, "tool", whole(n))
    whole(mode)
