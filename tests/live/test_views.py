"""What is drawn of a controller: the line, the picture, the panel."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.console import Console, Group

from tests.live.support import records
from ur_admittance import Config, Controller, RobotModel
from ur_admittance.blackboard import Blackboard
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits
from ur_admittance.live.glance import Glance
from ur_admittance.live.plain_text import degrade
from ur_admittance.live.views import Panel, line, parameters, short
from ur_admittance.live.watch import Attached


def printed(drawn, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(Group(drawn))
    return console.file.getvalue()  # type: ignore[attr-defined]


def dots(text: str) -> int:
    return sum((ord(sign) - 0x2800).bit_count() for sign in text if 0x2800 <= ord(sign) < 0x2900)


@pytest.mark.parametrize("width", [40, 60, 80, 200])
def test_a_line_stays_one_line_whatever_happens(width: int) -> None:
    made = records(1, status=sum(fault.mask for fault in FAULTS))
    made["F_S_filt"], made["V_WP_cmd"], made["timing"]["tick"] = 12345.6, 99.9, 9.9
    text = printed(line(Glance.at(made)), width)
    assert text.count("\n") == 1
    assert len(text) <= width + 1


def test_a_line_names_the_limits_in_short() -> None:
    text = printed(line(Glance.at(records(1, status=bits.SPEED_LIMIT | bits.SINGULARITY))))
    assert text.rstrip().endswith("late 0  singularity, speed")
    assert short("joint_velocity_limit") == "joint velocity"


def test_the_picture_shows_the_way_of_the_tool_once_and_in_proportion() -> None:
    turn = np.linspace(0, 2 * np.pi, 400)
    trail = np.column_stack((0.4 + 0.1 * np.cos(turn), 0.1 * np.sin(turn), 0.3 + 0 * turn))
    made = records(1)
    made["X_WP"][0, :3, 3] = trail[0]
    made["X_WD"][0, :3, 3] = 0.4, 0, 0.3
    text = printed(Panel("a circle").draw(Glance.at(made), trail))
    assert "a circle" in text and "active" in text
    rows = [row for row in text.splitlines() if any(0x2800 < ord(sign) < 0x2900 for sign in row)]
    above = [row[2:38] for row in rows]
    columns = [k for k in range(36) if any(row[k] not in "⠀ +●" for row in above)]
    # Round: half as many characters high as wide, because a character is twice as high as wide.
    assert len(rows) == pytest.approx(len(columns) / 2, abs=1.5)
    assert text.count("●") == 2 and text.count("+") == 2  # one in each view
    side = [row[40:76] for row in rows]
    assert sum(dots(row) > 0 for row in side) == 1  # level from the side


def test_a_tool_that_stands_still_is_one_point() -> None:
    text = printed(Panel("still").draw(Glance.at(records(1)), np.zeros((5, 3))))
    assert text.count("●") == 2
    assert "104 mm wide" in text


def test_the_panel_and_the_parameters_fit_a_terminal_of_80_by_24() -> None:
    made = records(1, status=sum(fault.mask for fault in FAULTS))
    drawn = printed(Panel("x" * 200).draw(Glance.at(made), np.random.default_rng(0).random((9, 3))))
    below = printed(parameters(Config.preset("surface-following")))
    assert all(len(row) <= 80 for row in (drawn + below).splitlines())
    assert len((drawn + below).splitlines()) <= 22


def board_with_a_push(runtime) -> Blackboard:
    config = Config.preset("surface-following")
    live = Controller(RobotModel.ur("ur5e"), config).live
    board = Blackboard.create("sim:a", 500.0, live)
    made = records(1, status=bits.SPEED_LIMIT)
    made["F_S_filt"] = [3, 4, 0, 0, 0, 0]
    board.publish(made)
    return board


@pytest.mark.parametrize(
    ("size", "picture", "gains"),
    [
        ((100, 40), True, True),
        ((80, 24), True, True),
        ((80, 22), False, True),
        ((60, 24), False, True),
        ((60, 13), False, True),
        ((50, 12), False, False),
        ((50, 8), False, False),
    ],
)
def test_in_a_small_terminal_the_numbers_stay_and_the_picture_goes(
    size, picture, gains, runtime
) -> None:
    with board_with_a_push(runtime):
        text = printed(Attached("sim:a").page(*size), size[0])
    assert "5.0 N" in text and "speed" in text and "limits" in text
    assert ("from above" in text) is picture
    assert ("stiffness" in text) is gains
    assert len(text.splitlines()) <= size[1]
    assert all(len(row) <= size[0] for row in text.splitlines())


def test_in_a_tiny_terminal_there_is_one_line(runtime) -> None:
    with board_with_a_push(runtime):
        text = printed(Attached("sim:a").page(80, 4), 80)
    assert "5.0 N" in text and text.rstrip().endswith("speed")
    assert len(text.splitlines()) == 2


def test_axes_that_do_not_give_way_are_off_and_all_are_said_to_be_whose() -> None:
    _, mass, damping, *_ = printed(parameters(Config.preset("surface-following"))).splitlines()
    assert mass.split() == ["mass", "3", "3", "3", "off", "off", "off"]
    assert damping.split()[-3:] == ["off"] * 3
    assert "axes of the base" in printed(parameters(Config.preset("velocity-law")))
    assert "axes of the desired pose" in printed(parameters(Config.preset("pose-law")))
    assert "axes of the base" in printed(Panel("a").draw(Glance.at(records(1)), np.zeros((1, 3))))


def test_signs_that_an_encoding_lacks_become_others_of_the_same_width() -> None:
    shown = printed(Panel("a").draw(Glance.at(records(1)), np.zeros((5, 3))))
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii")
    degrade(stream)
    stream.write(shown)
    stream.flush()
    plain = raw.getvalue().decode("ascii")
    assert list(map(len, plain.splitlines())) == list(map(len, shown.splitlines()))
    assert "o" in plain and "?" not in plain
