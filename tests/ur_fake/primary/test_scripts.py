"""Where one script ends and the next begins."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ur_fake.primary.scripts import Scripts

PROGRAM = """def main():
  # if this were counted, the end would never come
  textmsg("if while def")
  thread other():
    while True:
      sync()
    end
  end
  if x:
    y = 1
  elif z:
    y = 2
  else:
    y = 3
  end
end
"""


def cut(text: str, **how: bool) -> list[str]:
    return Scripts().feed(bytearray(text.encode()), **how)


def test_a_program_is_taken_at_its_last_end() -> None:
    assert cut(PROGRAM) == [PROGRAM]


def test_a_line_outside_is_a_program_of_its_own() -> None:
    assert cut("set_digital_out(0, True)\n\n" + PROGRAM + "stopj(2)\n") == [
        "set_digital_out(0, True)\n",
        PROGRAM,
        "stopj(2)\n",
    ]


def test_windows_line_ends_are_line_ends() -> None:
    assert cut("stopj(2)\r\n") == ["stopj(2)\n"]


@given(st.lists(st.integers(1, 40), min_size=1))
def test_it_does_not_matter_in_which_pieces_it_comes(sizes: list[int]) -> None:
    scripts, inbox, done = Scripts(), bytearray(), []
    data, i = PROGRAM.encode(), 0
    while data:
        size = sizes[i % len(sizes)]
        inbox += data[:size]
        data, i = data[size:], i + 1
        done += scripts.feed(inbox)
    assert done == [PROGRAM]


@pytest.mark.parametrize("text", ["stopj(2)", "def f():\n  x = 1"])
def test_what_is_not_whole_is_taken_when_nothing_more_comes(text: str) -> None:
    assert cut(text) == []
    assert cut(text, last=True) == [text + "\n"]
