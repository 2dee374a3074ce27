"""Registers, digital and analogue I/O: what clients and scripts pass to each other."""

from __future__ import annotations

import math

from ur_admittance.errors import RobotError

BITS, NUMBERS = 128, 48
STANDARD, CONFIGURABLE, TOOL = 0, 8, 16  # first bit of each in the RTDE words of digital I/O
_FIRST = {"standard": (STANDARD, 8), "configurable": (CONFIGURABLE, 8), "tool": (TOOL, 2)}


class Registers:
    """General purpose registers and the I/O of the control box and the tool.

    Registers 0 to 23 are the fieldbus's and PLC's, 24 to 47 (bits: 64 to 127) the RTDE clients';
    a client may write to either (Real-Time Data Exchange Guide).

    Attributes:
        input_bit, input_int, input_double: what clients write and scripts read.
        output_bit, output_int, output_double: the other way round.
        input_seen: name of an RTDE input -> time of the controller [s] at which a client last sent
            it, changed or not. `rtde_set_watchdog` looks here.
        actual_digital_input_bits, actual_digital_output_bits: standard 0-7, configurable 8-15,
            tool 16-17.
        analog_input, analog_output: (2) V or A; analog_io_types: bits 0-1 inputs, 2-3 outputs: 1
            is voltage.
        tool_analog_input: (2).
        tool_output_voltage: 0, 12 or 24 V.
    """

    def __init__(self) -> None:
        self.input_bit, self.output_bit = [False] * BITS, [False] * BITS
        self.input_int, self.output_int = [0] * NUMBERS, [0] * NUMBERS
        self.input_double, self.output_double = [0.0] * NUMBERS, [0.0] * NUMBERS
        self.input_seen: dict[str, float] = {}
        self.actual_digital_input_bits = 0
        self.actual_digital_output_bits = 0
        self.analog_input, self.analog_output = [0.0, 0.0], [0.0, 0.0]
        self.tool_analog_input = [0.0, 0.0]
        self.analog_io_types = 0
        self.tool_output_voltage = 0

    def digital_output(self, kind: str, n: int) -> bool:
        return bool(self.actual_digital_output_bits >> _bit(kind, n) & 1)

    def digital_input(self, kind: str, n: int) -> bool:
        return bool(self.actual_digital_input_bits >> _bit(kind, n) & 1)

    def set_digital_output(self, kind: str, mask: int, value: int) -> None:
        """Set those outputs of "standard", "configurable" or "tool" that are in `mask`."""
        first, count = _FIRST[kind]
        mask = (int(mask) & ((1 << count) - 1)) << first
        kept = self.actual_digital_output_bits & ~mask
        self.actual_digital_output_bits = kept | ((int(value) << first) & mask)

    def set_digital_input(self, kind: str, n: int, high: bool) -> None:
        """What is wired to an input."""
        bit = 1 << _bit(kind, n)
        word = self.actual_digital_input_bits
        self.actual_digital_input_bits = word | bit if high else word & ~bit

    def set_analog_output(self, n: int, fraction: float, domain: int | None = None) -> None:
        """0 to 1 of the range: 4 to 20 mA (domain 0), or 0 to 10 V (1); None leaves the domain."""
        if not 0 <= n < 2:
            raise RobotError(f"analogue output {n}: there are 0 and 1")
        if domain is not None:
            bit = 1 << (2 + n)
            types = self.analog_io_types
            self.analog_io_types = types | bit if domain else types & ~bit
        fraction = min(1.0, max(0.0, fraction)) if math.isfinite(fraction) else 0.0
        volts = self.analog_io_types >> (2 + n) & 1
        self.analog_output[n] = 10.0 * fraction if volts else 0.004 + 0.016 * fraction


def _bit(kind: str, n: int) -> int:
    first, count = _FIRST[kind]
    if not 0 <= n < count:
        raise RobotError(f"{kind} digital I/O {n}: there are 0 to {count - 1}")
    return first + n
