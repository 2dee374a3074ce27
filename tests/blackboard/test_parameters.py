"""Parameters through the blackboard: whole, of several senders, never half old and half new."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.blackboard.processes import RECORDS, board_of, live_of, ready
from ur_admittance import Config, ConfigError, Controller, RobotError, RobotModel
from ur_admittance.blackboard import Blackboard, memory
from ur_admittance.controller.packing import pack

GAINS = {"admittance.mass": [4, 4, 4, 0.4, 0.4, 0.4], "payload.mass": 1.5, "safety.max_force": 99}


def test_a_change_arrives_as_the_record_that_packing_would_make():
    with board_of() as board:
        live = live_of(board.config())
        assert not board.take_params(live)
        reader = Blackboard.attach()
        change = reader.set(GAINS)
        assert set(change.values) == set(GAINS)
        assert change.recomputed == ("wrench", "law", "safety")
        assert change.values["safety.max_force"] == (200.0, 99.0)
        assert reader.pending
        reader.set({"max_linear_velocity": 0.25})
        assert board.take_params(live), "both at once"
        assert not board.take_params(live) and not reader.pending
        config = Config().replace({**GAINS, "max_linear_velocity": 0.25})
        expected = pack(config, RobotModel.ur("ur5e"))
        expected["generation"] = 2
        assert live.record.tobytes() == expected.tobytes()
        assert config == reader.config() == board.config() == live.config


@pytest.mark.parametrize(
    "changes",
    [
        {"admittance.masss": [1] * 6},
        {"admittance.mass": [1] * 5 + [-1]},
        {"admittance.mass": [float("nan")] * 6},
        {"max_linear_velocity": 0.3, "safety.max_force": -1},
        {"control_rate": 250},
        {"limits.joint_velocity": 1.0},
        {"output.mode": "position"},
    ],
)
def test_a_wrong_change_changes_nothing(changes):
    with board_of() as board:
        live = live_of(board.config())
        before = memory.path_of("sim").read_bytes()
        reader = Blackboard.attach()
        with pytest.raises(ConfigError):
            reader.set(changes)
        assert not board.take_params(live)
        assert memory.path_of("sim").read_bytes() == before


def test_changes_of_several_senders_all_arrive(other):
    names = ["admittance.ramp_seconds", "max_linear_velocity"]
    with board_of() as board:
        live = live_of(board.config())
        senders = [other("tune", "sim", name) for name in names]
        ready(*senders)
        for sender in senders:
            sender.stdin.write("go\n")
            sender.stdin.flush()
        while any(sender.poll() is None for sender in senders):
            if board.take_params(live):
                assert 0 < live.record["v_max"][0] < 2
            time.sleep(0.001)
        assert [sender.returncode for sender in senders] == [0, 0]
        board.take_params(live)
        assert [board.config().get(name) for name in names] == [1.05, 1.05]
        assert live.record["v_max"] == 1.05 and live.record["ramp_seconds"] == 1.05


def test_a_sender_that_hangs_holds_up_other_senders_for_a_while_and_the_loop_never(
    other, monkeypatch
):
    monkeypatch.setattr(memory, "LOCK_SECONDS", 0.2)
    with board_of() as board:
        live = live_of(board.config())
        sender, reader = other("hang", "sim"), Blackboard.attach()
        ready(sender)
        assert not board.take_params(live)
        with pytest.raises(RobotError, match="busy with the same"):
            reader.set({"max_linear_velocity": 0.3})
        sender.kill()
        sender.wait()
        assert not board.take_params(live)
        reader.set({"max_linear_velocity": 0.3})
        assert board.take_params(live)
        assert live.record["v_max"] == 0.3 and np.all(np.isfinite(live.record["mass"]))


def test_no_record_is_taken_half_old_half_new(other):
    with board_of() as board:
        live, taken = live_of(Config()), 0
        params = live.record
        params.view(np.int64)[:] = RECORDS

        def take() -> int:
            if not board.take_params(live):
                return 0
            words = params.view(np.int64)[1:]  # all but the generation
            assert np.all(words == words[0]) or np.isnan(params["reach"][0])
            return 1

        sender = other("flood", "sim")
        while sender.poll() is None:
            taken += take()
        taken += take()
        assert taken > 0 and params["enabled"][0, 0] == RECORDS - 1


def test_it_works_without_the_compiler():
    code = (
        "from tests.blackboard.processes import Blackboard, Config, board_of, live_of, numbered\n"
        "with board_of() as board:\n"
        "    board.publish(numbered(3)); reader = Blackboard.attach()\n"
        "    reader.set({'max_linear_velocity': 0.3}); live = live_of(Config())\n"
        "    print(reader.latest()['tick'], board.take_params(live), live.record['v_max'][0])\n"
    )
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "3 True 0.3\n"


def test_controller_and_blackboard_have_one_set_of_parameters_whoever_changes_them():
    controller = Controller(RobotModel.ur("ur5e"), Config())
    with Blackboard.create("sim", 500.0, controller.live) as board:
        reader = Blackboard.attach()
        reader.set({"max_linear_velocity": 0.1})
        assert controller.config.max_linear_velocity == 0.5, "not yet in force"
        assert board.take_params(controller.live)
        assert controller.config.max_linear_velocity == 0.1
        reader.set({"safety.max_force": 99.0})
        change = controller.set({"admittance.mass": [5.0] * 6})
        assert change.values["admittance.mass"][1] == (5.0,) * 6 and not reader.pending
        assert reader.config() == board.config() == controller.config
        assert reader.params().tobytes() == controller.params[0].tobytes()
        limits = [controller.params[0][name] for name in ("v_max", "max_force")]
        assert limits == [0.1, 99.0], "in force at once, and what was sent before with it"
        assert reader.text_of(3) and controller.params["generation"] == 3
        assert controller.set({"admittance.mass": [5.0] * 6}).values == {}
    controller.set({"max_linear_velocity": 0.2})
    assert controller.config.max_linear_velocity == 0.2 and reader.params()["v_max"] == 0.1


def test_another_controller_goes_on_with_what_was_changed(other):
    """As a node makes one for each activation."""
    first = Controller(RobotModel.ur("ur5e"), Config())
    with Blackboard.create("sim", 500.0, first.live) as board:
        reader = Blackboard.attach()
        reader.set({"max_linear_velocity": 0.1})
        second = Controller(first.model, Config())
        board.drive(second.live)
        assert second.config == reader.config() and second.params["v_max"] == 0.1
        assert not reader.pending and second.params["generation"] == 2
        second.set({"max_linear_velocity": 0.2})
        assert reader.config().max_linear_velocity == 0.2
        assert first.config.max_linear_velocity == 0.5


def test_what_a_change_was_made_from_is_known_however_many_came_after_it():
    controller = Controller(RobotModel.ur("ur5e"), Config())
    with Blackboard.create("sim", 500.0, controller.live) as board:
        reader = Blackboard.attach()
        reader.set({"max_linear_velocity": 0.4})
        board.take_params(controller.live)
        for k in range(1, 200):
            reader.set({"max_linear_velocity": 0.001 * k})
        assert reader.text_of(1) is None and controller.config.max_linear_velocity == 0.4


def test_the_last_changes_can_be_asked_for_by_their_numbers():
    with board_of() as board:
        live, reader = live_of(board.config()), Blackboard.attach()
        assert Config.loads(reader.text_of(0) or "", "first") == Config()
        for k in range(1, 201):
            reader.set({"max_linear_velocity": 0.001 * k})
        assert board.take_params(live)
        assert live.record["generation"] == 200 and live.record["v_max"] == 0.2
        kept = {k: reader.text_of(k) for k in range(-3, 203)}
        assert [k for k, text in kept.items() if text] == list(range(74, 201))
        for k in range(74, 201):
            assert json.loads(kept[k] or "")["max_linear_velocity"] == 0.001 * k


def test_a_change_that_is_being_overwritten_is_not_given_away(other):
    """The sender hangs in the place of the oldest: that one is gone, the next is whole."""
    with board_of():
        reader = Blackboard.attach()
        for k in range(1, 128):
            reader.set({"max_linear_velocity": 0.001 * k})
        assert reader.text_of(0) is None, "its place is the next to be used"
        ready(other("hang", "sim"))
        assert reader.text_of(0) is None and reader.text_of(1) is not None
        assert reader.config().max_linear_velocity == 0.127


def test_no_two_changes_have_the_same_number_whoever_makes_them():
    """The tick goes by the number: after `Controller.set` one through the blackboard differs."""
    controller = Controller(RobotModel.ur("ur5e"), Config())
    controller.set({"max_linear_velocity": 0.3})
    with Blackboard.create("sim", 500.0, controller.live) as board:
        reader, numbers = Blackboard.attach(), [int(controller.params[0]["generation"])]
        text = reader.text_of(numbers[0])
        assert text and Config.loads(text, "first").max_linear_velocity == 0.3
        controller.set({"max_linear_velocity": 0.2})
        numbers.append(int(controller.params[0]["generation"]))
        for speed in (0.1, 0.15):
            reader.set({"max_linear_velocity": speed})
            assert board.take_params(controller.live)
            numbers.append(int(controller.params[0]["generation"]))
    with Blackboard.create("sim", 500.0, controller.live) as board:
        Blackboard.attach().set({"max_linear_velocity": 0.1})
        assert board.take_params(controller.live)
        numbers.append(int(controller.params[0]["generation"]))
    assert len(set(numbers)) == len(numbers)
