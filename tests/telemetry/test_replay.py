"""A recorded run gives the same again, bit for bit; where it cannot, the replay says so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import ur_admittance as ua
from tests.telemetry.runs import CHANGES, STOP, eventful
from ur_admittance.telemetry.recording import Recording, read
from ur_admittance.telemetry.replay import replay

LINEAR = slice(0, 3)


@pytest.fixture(scope="module")
def recording(run) -> Recording:
    return read(run.path)


def test_the_same_configuration_gives_the_same_bit_for_bit(recording):
    assert len(recording.changes) == len(CHANGES)
    calls = []
    again = replay(recording, progress=lambda done, of: calls.append((done, of)))
    n = len(recording.records)
    assert (again.compared, again.skipped, again.first_difference) == (n, 0, None)
    assert (again.fields, again.notes) == ((), ())
    assert again.records.tobytes() == recording.records.tobytes()
    assert calls[0] == (0, n) and calls[-1] == (n, n)


def test_a_difference_is_found_and_named(recording):
    records = recording.records.copy()
    records["qd"][300, 2] = np.nextafter(records["qd"][300, 2], 1.0)
    records["sigma"][300] += 1e-9
    again = replay(dataclasses.replace(recording, records=records))
    assert (again.first_difference, again.fields) == (300, ("qd", "sigma"))
    records = recording.records.copy()
    records["inputs"]["wrench"][120] *= 1.0001
    again = replay(dataclasses.replace(recording, records=records))
    assert again.first_difference == 120
    assert "F_S_comp" in again.fields and "qd" in again.fields


def test_other_gains_show_what_they_would_have_commanded(recording):
    before = slice(0, 65)  # 30 ms after the push began, and before the parameters change

    def fastest(mass: float) -> float:
        config = recording.config.replace({"admittance.mass": [mass] * 3 + [0.2] * 3})
        again = replay(recording, config)
        assert (again.compared, again.skipped, again.first_difference) == (0, 0, None)
        assert len(again.records) == len(recording.records)
        assert any("changes are left out" in note for note in again.notes)
        return np.linalg.norm(again.records["offset_rate"][before, LINEAR], axis=1).max()

    recorded = np.linalg.norm(recording.records["offset_rate"][before, LINEAR], axis=1).max()
    assert fastest(2.0) > 1.05 * recorded > 1.2 * fastest(12.0) > 0.0


def test_a_recording_that_starts_in_the_middle_waits_for_an_activation(recording):
    cut = dataclasses.replace(recording, records=recording.records[100:].copy())
    second = int(np.flatnonzero(recording.records["tick"] == 1)[1])
    again = replay(cut)
    assert again.first_difference is None
    assert again.skipped == second - 100
    assert again.compared == len(recording.records) - second
    assert any("starts in the middle" in note for note in again.notes)
    assert np.isnan(again.records["qd"][: again.skipped]).all()
    assert again.records["tick"].tolist() == cut.records["tick"].tolist()


def test_after_lost_ticks_it_waits_for_an_activation(recording):
    records = np.delete(recording.records, slice(200, 210))
    again = replay(dataclasses.replace(recording, records=records, lost=10))
    assert again.first_difference is None
    second = int(np.flatnonzero(recording.records["tick"] == 1)[1])
    assert again.skipped == second - 210
    assert any("10 ticks are missing in 1 places" in note for note in again.notes)


def test_a_change_that_came_and_went_unseen_is_told_and_skipped(tmp_path):
    run = eventful(tmp_path / "seldom.mcap", look=40)
    again = replay(read(run.path))
    assert again.first_difference is None
    assert any("are not in the recording" in note for note in again.notes)
    second = int(np.flatnonzero(run.records["tick"] == 1)[1])
    lost = 260  # ticks before the changes that came one tick after the other
    assert again.skipped == second - lost
    assert again.compared == len(run.records) - again.skipped


def test_two_changes_between_two_ticks_are_one(tmp_path):
    both = [{"max_linear_velocity": 0.2}, {"admittance.deadband_force": 2.5}]
    run = eventful(tmp_path / "both.mcap", look=7, changes={150: both, 700: both[:1]})
    recording = read(run.path)
    ((generation, config),) = recording.changes
    assert (generation, config.max_linear_velocity) == (1, 0.2)
    assert config.admittance.deadband_force == 2.5
    assert replay(recording).compared == len(run.records)


def test_a_change_just_before_the_end_is_kept(tmp_path):
    last = {"max_linear_velocity": 0.2}
    first = eventful(tmp_path / "first.mcap", changes={})
    run = eventful(tmp_path / "last.mcap", changes={len(first.records) - 1: [last]})
    recording = read(run.path)
    assert [generation for generation, _ in recording.changes] == [1]
    assert replay(recording).compared == len(run.records)


def test_a_recorder_that_comes_late_does_not_guess_what_was_before(recording):
    """It finds only the configuration of generation 3, and ticks of 1 and 2 in the ring."""
    generation, config = recording.changes[-1]
    late = dataclasses.replace(recording, config=config, changes=((generation, config),))
    again = replay(late)
    assert again.first_difference is None
    assert any("are not in the recording" in note for note in again.notes)
    assert again.compared == int((recording.records["tick"] == 1).cumsum().tolist().count(2))


def test_another_kernel_is_mentioned(recording):
    other = dataclasses.replace(recording, kernel="0123456789abcdef", version="0.0.1")
    assert any("version 0.0.1 (kernel 0123456789abcdef)" in n for n in replay(other).notes)


def test_a_cut_off_recording_is_replayed_as_far_as_it_goes(recording):
    cut = dataclasses.replace(recording, records=recording.records[:STOP], finished=False)
    again = replay(cut)
    assert (again.compared, again.first_difference) == (STOP, None)
    assert any("cut off" in note for note in again.notes)
    empty = replay(dataclasses.replace(recording, records=recording.records[:0]))
    assert (empty.compared, empty.skipped, len(empty.records)) == (0, 0, 0)


def test_a_configuration_that_the_arm_cannot_keep_is_refused(recording):
    config = recording.config.replace({"limits.joint_velocity": 9.0})
    with pytest.raises(ua.ConfigError, match="more than the arm's own"):
        replay(recording, config)


def test_the_file_of_an_equilibrium_is_not_needed(recording):
    config = recording.config.replace({"equilibrium": "not/there.yaml"})
    again = replay(dataclasses.replace(recording, config=config))
    assert again.compared == len(recording.records)
    assert again.first_difference is None
