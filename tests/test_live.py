"""What is drawn of a controller: the numbers, the line, the picture, and who draws them."""

from __future__ import annotations

import io
import os
import threading

import numpy as np
import pytest
from rich.console import Console, Group

from tests.cli_support import Terminal, runtime, until
from ur_admittance import Config, Controller, RobotModel, live
from ur_admittance.blackboard import Blackboard
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits, layout
from ur_admittance.live.glance import TRAIL_SECONDS, TRAIL_STEP, Glance, Watcher
from ur_admittance.live.views import Panel, line, parameters, short

__all__ = ["runtime"]


def records(count: int = 10, **values) -> np.ndarray:
    made = np.zeros(count, layout.OUTPUTS)
    made["mode"] = bits.ACTIVE
    made["X_WP"][:] = made["X_WD"][:] = np.eye(4)
    for name, value in values.items():
        made[name] = value
    return made


def printed(drawn, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    console.print(Group(drawn))
    return console.file.getvalue()  # type: ignore[attr-defined]


def dots(text: str) -> int:
    return sum((ord(sign) - 0x2800).bit_count() for sign in text if 0x2800 <= ord(sign) < 0x2900)


def test_a_glance_has_the_newest_values_and_the_faults_of_all_since_the_last() -> None:
    made = records(3)
    made["F_S_filt"][-1] = [3, 4, 0, 0, 0, 2]
    made["V_WP_cmd"][-1] = [0, 0.6, 0.8, 0, 0, 0]
    made["status"][0], made["status"][1] = bits.SPEED_LIMIT, bits.OVER_FORCE
    made["timing"]["tick"] = [1e-5, 5e-5, 2e-5]
    glance = Glance.at(made)
    assert (glance.force, glance.torque, glance.speed) == (5.0, 2.0, 1.0)
    assert glance.faults == ("over_force", "speed_limit")
    assert glance.tick == 5e-5


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


def test_a_watcher_keeps_the_last_of_the_way_and_no_more(runtime) -> None:
    config = Config()
    params = Controller(RobotModel.ur("ur5e"), config).params
    with Blackboard.create("sim:a", 500.0, config, params) as board:
        watcher = Watcher(Blackboard.attach("sim:a"))
        assert watcher.look() is None
        for k in range(12000):
            made = records(1, tick=k + 1, time=0.002 * k)
            made["X_WP"][0, 0, 3] = k
            board.publish(made)
            if k % 1000 == 999:
                watcher.look()
    assert len(watcher.trail) == round(TRAIL_SECONDS / TRAIL_STEP)
    assert watcher.trail[-1, 0] == pytest.approx(12000, abs=10)
    assert np.all(np.diff(watcher.trail[:, 0]) == TRAIL_STEP * 500)


def test_nothing_is_drawn_and_started_without_a_terminal(runtime, capfd) -> None:
    with live.shown("sim:nobody"):
        pass
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
def test_the_process_that_draws_is_ready_first_and_ends_with_its_owner(
    runtime, monkeypatch
) -> None:
    terminal, threads = Terminal(), threading.active_count()
    config = Config()
    controller = Controller(RobotModel.ur("ur5e"), config)
    screen = os.fdopen(os.dup(terminal.theirs), "w")
    stdout = os.dup(1)
    monkeypatch.setattr("sys.stdout", screen)
    with Blackboard.create("sim:a", 500.0, config, controller.params) as board:
        os.dup2(terminal.theirs, 1)
        try:
            with live.shown("sim:a", "panel", "A title"):
                assert threading.active_count() == threads
                board.publish(records(1))
                until(lambda: terminal.shows("A title"))
        finally:
            os.dup2(stdout, 1)
            os.close(stdout)
    until(lambda: terminal.text.rstrip().endswith("\x1b[?25h"))  # the cursor is back
