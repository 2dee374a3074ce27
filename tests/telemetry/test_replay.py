"""A recorded run gives the same again, bit for bit; where it cannot, the replay says so."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import ur_admittance as ua
from tests.telemetry.runs import CHANGES, STOP, eventful
from ur_admittance.kernel import bits
from ur_admittance.telemetry.recording import Recording, read
from ur_admittance.telemetry.replay import APART, replay

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


def test_other_gains_do_not_stop_because_the_recorded_arm_cannot_follow_them(recording):
    """A hundredth of the speed limit: the recorded arm runs away from what is commanded."""
    slow = recording.config.replace(
        {"max_linear_velocity": 0.002, "safety.max_tracking_error": 0.005}
    )
    again = replay(recording, slow)
    assert not (again.records["status"] & bits.NOT_FOLLOWING).any()
    once, now = (np.flatnonzero(r.records["mode"] == bits.STOPPED) for r in (recording, again))
    assert now[0] == once[0], "stopped when it was asked for, not before"
    assert "do not answer the other commands" in again.notes[0]
    assert again.apart is not None
    gap = (again.records["X_WC"] - recording.records["X_WC"])[:, :3, 3]
    assert np.linalg.norm(gap[again.apart]) > APART >= np.linalg.norm(gap[again.apart - 1])
    assert replay(recording, recording.config).apart is None, "but for the changes left out"


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


def tuned(every: int, count: int) -> dict[int, list[dict]]:
    """Changes every so many ticks: one, then two at once, then three, and so on; no two alike."""

    def burst(k: int) -> list[dict]:
        masses = (2.0 + 0.01 * k, 3.0 + 0.01 * k)
        return [
            {"max_linear_velocity": 0.2 + 1e-3 * k},
            *({"admittance.mass": [m, m, m, 0.1, 0.1, 0.1]} for m in masses),
            {"payload.force_bias": [0.0, 0.0, 0.01 * k]},
            {"admittance.deadband_force": 2.0 + 0.01 * k},
        ]

    return {40 + every * k: burst(k)[: 1 + k % 5] for k in range(count)}


def test_gains_changed_fifty_times_a_second_are_done_again_though_nobody_looked(tmp_path):
    """The recorder looks once, after the run: it asks for what the ticks name."""
    changes = tuned(every=10, count=40)
    sent = sum(map(len, changes.values()))
    assert sent == 120, "nearly as many as are kept"
    run = eventful(tmp_path / "fifty.mcap", look=10**9, changes=changes)
    recording = read(run.path)
    assert len(recording.changes) == 40 and recording.unknown == ()
    numbers = np.cumsum([len(burst) for burst in changes.values()])
    assert [generation for generation, _ in recording.changes] == numbers.tolist()
    again = replay(recording)
    assert (again.compared, again.skipped, again.first_difference) == (len(run.records), 0, None)
    assert again.notes == ()


def test_changes_that_came_too_long_before_the_recorder_looked_are_told_and_skipped(tmp_path):
    changes = tuned(every=5, count=60)
    run = eventful(tmp_path / "late.mcap", look=10**9, changes=changes)
    recording = read(run.path)
    sent = sum(map(len, changes.values()))
    generation = run.records["inputs"]["generation"]
    gone = np.unique(generation[generation < sent - 126])  # 128 places; one may be in the making
    assert recording.unknown == tuple(gone.tolist()) != ()
    again = replay(recording)
    assert again.first_difference is None
    (note,) = again.notes
    ticks = int((generation < sent - 126).sum())
    assert f"the parameters of {ticks} ticks, the first of them tick 1, are not in" in note
    assert "too many changes came before the recorder looked" in note
    second = int(np.flatnonzero(run.records["tick"] == 1)[1])
    assert (again.skipped, again.compared) == (second, len(run.records) - second)


def test_two_changes_between_two_ticks_are_one(tmp_path):
    both = [{"max_linear_velocity": 0.2}, {"admittance.deadband_force": 2.5}]
    run = eventful(tmp_path / "both.mcap", look=7, changes={150: both, 700: both[:1]})
    recording = read(run.path)
    ((generation, config),) = recording.changes
    assert (generation, config.max_linear_velocity) == (2, 0.2), "the first was never in force"
    assert config.admittance.deadband_force == 2.5
    assert replay(recording).compared == len(run.records)


def test_what_was_changed_inside_the_process_is_told_and_skipped(recording):
    records = recording.records.copy()
    records["inputs"]["generation"][300:350] = -1
    again = replay(dataclasses.replace(recording, records=records, unknown=(-1,)))
    second = int(np.flatnonzero(records["tick"] == 1)[1])
    assert again.skipped == second - 300
    assert any("50 ticks, the first of them tick 301" in note for note in again.notes)
    assert any("Controller.set changed them" in note for note in again.notes)


def test_a_change_just_before_the_end_is_kept(tmp_path):
    last = {"max_linear_velocity": 0.2}
    first = eventful(tmp_path / "first.mcap", changes={})
    run = eventful(tmp_path / "last.mcap", changes={len(first.records) - 1: [last]})
    recording = read(run.path)
    assert [generation for generation, _ in recording.changes] == [1]
    assert replay(recording).compared == len(run.records)


def test_a_recorder_that_comes_late_does_not_guess_what_was_before(recording):
    """It finds only the configuration of generation 4, and ticks of those before in the ring."""
    generation, config = recording.changes[-1]
    late = dataclasses.replace(
        recording, config=config, changes=((generation, config),), unknown=(0, 1, 2, 3)
    )
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
