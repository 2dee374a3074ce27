"""What a client might send that no client should: frames and scripts by chance, from a seed."""

from __future__ import annotations

import random
import struct

from ur_fake.rtde.fields import INPUTS, OUTPUTS

_KINDS = b"VvMUOISP"
_NAMES = (*list(INPUTS)[:60], *list(OUTPUTS)[:60], "", "nonsense", "timestamp")


def frames(chance: random.Random) -> bytes:
    """An RTDE frame: nearly right, or not at all."""
    kind = chance.choice(_KINDS) if chance.random() < 0.9 else chance.randrange(256)
    style = chance.random()
    if style < 0.3:
        payload = chance.randbytes(chance.randrange(64))
    elif style < 0.6:
        names = ",".join(chance.choices(_NAMES, k=chance.randrange(1, 12))).encode()
        rate = struct.pack(">d", chance.choice((500.0, 1.0, 0.0, -5.0, 1e300, float("nan"))))
        payload = rate + names if kind == ord("O") else names
    else:
        payload = bytes([chance.randrange(4)]) + chance.randbytes(chance.choice((0, 1, 4, 8, 48)))
    size = 3 + len(payload)
    if chance.random() < 0.005:
        size = chance.randrange(65536)
    return struct.pack(">HB", size, kind) + payload


_VALUES = (
    "1", "-0.5", "True", "False", "x", "y", "[1,2,3,4,5,6]", "p[0.1,0,0.3,0,0,0]", '"text"', "[]",
    "1e308", "get_actual_joint_positions()", "get_inverse_kin(p[0.3,0.1,0.4,0,3,0])", "x[0]",
    "get_target_tcp_pose()", "read_input_integer_register(24)", "1/0", "sqrt(-1)", "(x+1)*y",
    "not x", "x and y", "x == y", "norm([1,2,3])", "f(1)", "socket_read_string()", "str_cat(x, y)",
)  # fmt: skip
_STATEMENTS = (
    "x = {}", "y = {}", "global g = {}", "local z = {}", "sync()", "sleep({})", "textmsg({}, {})",
    "movej({}, {}, {})", "movel({})", "speedj({}, {}, 0.01)", "speedl({}, {}, 0.01)", "stopj({})",
    "servoj({}, t=0.002)", "stopl({})", "set_tcp({})", "set_payload({}, {})", "zero_ftsensor()",
    "write_output_integer_register(0, {})", "write_output_float_register({}, {})", "halt",
    "set_digital_out({}, {})", "force_mode({}, {}, {}, 2, {})", "end_force_mode()", "return {}",
    "popup({})", "x[{}] = {}", "rtde_set_watchdog({}, {}, {})", "kill h", "h = run t()", "join h",
    "enter_critical", "exit_critical", "socket_open({}, {})", "f({})", "y = f({})",
)  # fmt: skip
_WRONG = ("break", "continue", "{}", "x = nowhere", "x = = 1", "end", "run f({})", "movej(", "pass")


def script(chance: random.Random) -> str:
    """A script: mostly in URScript's shape, with values that fit or do not."""
    if chance.random() < 0.1:
        return chance.randbytes(chance.randrange(200)).decode("latin-1") + "\n"
    lines = ["def fuzz():", "  x = 1", "  y = 2", "  h = 0"]
    lines += ["  thread t():", *_block(chance, 2, 2), "  end"]
    lines += ["  def f(a):", *_block(chance, 2, 1), "    return a", "  end"]
    lines += [*_block(chance, 1, 4), "end"]
    text = "\n".join(lines) + "\n"
    if chance.random() < 0.1:
        at = chance.randrange(len(text))
        text = text[:at] + chance.choice("()[]:\"',=#\n\0é") + text[at + 1 :]
    return text


def _block(chance: random.Random, indent: int, deep: int) -> list[str]:
    margin, lines = "  " * indent, []
    for _ in range(chance.randrange(1, 5)):
        kind = chance.random()
        if deep and kind < 0.15:
            inside = _block(chance, indent + 1, deep - 1)
            lines += [f"{margin}while {_value(chance)}:", *inside, f"{margin}end"]
        elif deep and kind < 0.3:
            inside = _block(chance, indent + 1, deep - 1)
            other = _block(chance, indent + 1, deep - 1)
            lines += [f"{margin}if {_value(chance)}:", *inside, f"{margin}else:", *other]
            lines += [f"{margin}end"]
        else:
            form = chance.choice(_WRONG if chance.random() < 0.02 else _STATEMENTS)
            lines.append(margin + form.format(*(_value(chance) for _ in range(form.count("{}")))))
    return lines


def _value(chance: random.Random) -> str:
    return chance.choice(_VALUES)
