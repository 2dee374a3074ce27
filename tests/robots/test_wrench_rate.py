"""Whether the wrench comes as often as the states, told by counting both."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ur_admittance.robots.base import State
from ur_admittance.robots.wrench_rate import WrenchRate


def counted_by_times(came: list[bool]) -> WrenchRate:
    """Of states with a new wrench, or with the one before, at 500 Hz."""
    state = State()
    state.wrench_time, state.cycle = 0.0, 0
    samples = WrenchRate(state, 500.0)
    for n, new in enumerate(came, 1):
        state.cycle, state.joint_time = n, 0.002 * n
        state.wrench_time = state.joint_time if new else state.wrench_time
        samples.add(state)
    return samples


@given(st.lists(st.booleans(), min_size=500, max_size=1500))
def test_too_seldom_is_less_than_95_in_a_hundred_states_but_for_one_on_its_way(came) -> None:
    samples = counted_by_times(came)
    share = (sum(came) + 1) / len(came)
    assert samples.full
    assert bool(samples.problem()) == (share < 0.95)


@pytest.mark.parametrize("rate", [100, 125, 250, 470])
def test_the_words_name_both_rates(rate: int) -> None:
    came = [(n + 1) * rate // 500 > n * rate // 500 for n in range(1000)]
    said = counted_by_times(came).problem()
    assert "the loop runs at 500 Hz" in said
    assert int(said.split("about ")[1].split()[0]) == pytest.approx(rate, abs=1)


def test_less_than_a_second_is_too_short_to_judge() -> None:
    assert not counted_by_times([True] * 499).full
    assert counted_by_times([True] * 500).full


def test_before_the_first_state_nothing_is_wrong() -> None:
    assert counted_by_times([]).problem() == ""


def test_one_may_be_on_its_way() -> None:
    assert counted_by_times([True] * 474 + [False] * 26).problem() == ""
    assert counted_by_times([True] * 473 + [False] * 27).problem() != ""


@pytest.mark.parametrize(("share", "fine"), [(1.0, True), (0.4, False)])
def test_a_busy_machine_that_misses_states_misses_as_many_wrenches(share: float, fine) -> None:
    """500 states were sent a second, and as many wrenches or fewer; every third state was taken."""
    state = State()
    state.cycle, state.wrenches = 0, 0
    samples = WrenchRate(state, 500.0)
    for n in range(3, 1503, 3):
        state.cycle, state.wrenches = n, round(share * n)
        samples.add(state)
    assert samples.full and (samples.problem() == "") == fine


@given(st.integers(1, 2000), st.floats(0, 1))
def test_the_rate_is_told_from_counted_samples_too(rate: int, phase: float) -> None:
    """Row 12."""
    state = State()
    state.cycle, state.wrenches = 0, 0
    samples = WrenchRate(state, 500.0)
    for n in range(1, 501):
        state.cycle, state.wrenches = n, int(n * rate / 500.0 + phase)
        samples.add(state)
    assert samples.full
    if rate >= 475:
        assert samples.problem() == ""
    if rate <= 470:
        assert "the loop runs at 500 Hz" in samples.problem()
