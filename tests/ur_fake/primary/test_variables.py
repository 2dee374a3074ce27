"""Variables of a program as the primary interface tells them."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ur_fake.primary.reading import next_packet
from tests.ur_fake.support import Talker, controller
from ur_fake.primary import variables
from ur_fake.urscript.values import Pose, Struct

SCRIPT = b"""def vars():
  n = 3
  x = 0.5
  on = True
  word = "hi"
  here = p[1, 2, 3, 0, 0, 0.5]
  many = [1, 2.5, False]
  table = [[1, 2, 3], [4, 5, 6]]
  later = struct(a = 1)
  while True:
    n = n + 1
    sync()
  end
  never = 1
end
"""


def read_value(rest: bytes) -> tuple[Any, bytes]:
    """A value by the maker's table, and what follows it."""
    kind, rest = rest[0], rest[1:]
    if kind == 0:
        return None, rest
    if kind in (3, 4):
        (size,) = struct.unpack_from(">h", rest)
        return rest[2 : 2 + size].decode("utf-8", "replace"), rest[2 + size :]
    if kind in (17, 18):
        rows = struct.unpack_from(">h" if kind == 17 else ">hh", rest)
        rest = rest[2 * len(rows) :]
        found = []
        for _ in range(rows[0] * (rows[1] if kind == 18 else 1)):
            one, rest = read_value(rest)
            found.append(one)
        if kind == 18:
            found = [found[n * rows[1] : (n + 1) * rows[1]] for n in range(rows[0])]
        return found, rest
    code = {12: ">6f", 13: ">?", 14: ">f", 15: ">i", 16: ">f"}[kind]
    got = struct.unpack_from(code, rest)
    return (list(got) if kind == 12 else got[0]), rest[struct.calcsize(code) :]


def next_variables(client: Talker, kind: int) -> bytes:
    """The body of the next program state message of a kind."""
    while True:
        packet = next_packet(client)
        if packet.kind == 25 and packet.body[8] == kind:
            assert packet.body[9:11] == b"\0\0"
            return packet.body[11:]


def test_a_program_tells_its_variables_and_their_values() -> None:
    with controller() as robot:
        client = Talker(robot, "primary")
        assert next_variables(client, 0) == b""
        client.send(SCRIPT)
        names = next_variables(client, 0).decode().split()
        assert set(names) == {
            "n", "x", "on", "word", "here", "many", "table", "later", "never",
        }  # fmt: skip
        rest, values = next_variables(client, 1), {}
        for name in names:
            values[name], rest = read_value(rest)
            assert rest[:1] == b"\n"
            rest = rest[1:]
        assert rest == b""
        assert values.pop("n") > 3
        assert values == {
            "x": 0.5, "on": True, "word": "hi", "here": [1, 2, 3, 0, 0, 0.5],
            "many": [1, 2.5, False], "table": [[1, 2, 3], [4, 5, 6]], "later": None, "never": None,
        }  # fmt: skip
        second = Talker(robot, "primary")  # one that comes later is told the names, too
        assert next_variables(second, 0).decode().split() == names
        client.send(b"stop program\n")
        assert next_variables(client, 0) == b""
        client.close()
        second.close()


LEAVES = st.one_of(
    st.booleans(), st.integers(-(2**60), 2**60), st.floats(width=32, allow_nan=False),
    st.text(max_size=5), st.none(),
)  # fmt: skip


@given(st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=12))
def test_every_value_can_be_read_back_to_its_last_byte(one: Any) -> None:
    read, rest = read_value(variables.value(one) + b"\n")
    assert rest == b"\n"
    if isinstance(one, bool | str | type(None)):
        assert read == one


@pytest.mark.parametrize("one", [(1.0,) * 4096, Struct({"a": 1})])
def test_what_is_too_large_or_has_no_type_is_none(one: Any) -> None:
    assert variables.value(one) == b"\0"


def test_numbers_beyond_a_float_are_cut() -> None:
    assert read_value(variables.value(1e300))[0] == pytest.approx(3.4e38)
    assert read_value(variables.value(Pose((-1e300, 0, 0, 0, 0, 0))))[0][0] < -3e38
