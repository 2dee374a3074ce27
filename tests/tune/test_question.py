"""What may be asked, and the cases and gains that follow from it."""

from __future__ import annotations

import pytest

from ur_admittance import Config, ConfigError
from ur_admittance.tune import TASKS, Question
from ur_admittance.tune.candidates import candidates_for


def test_every_problem_of_a_question_is_told_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        Question("dance", stiffness=-1.0, push=float("nan"), lag=3.0, seed=-1)
    assert len(error.value.problems) == 5
    assert "guide, touch, hold" in str(error.value)


def test_cases_stay_within_what_is_known() -> None:
    cases = Question("touch", 20e3, 10.0, 0.01, delay=0.004).touches(1, 50, False)
    assert all(16e3 <= one.stiffness <= 25e3 and 7 <= one.push <= 13 for one in cases)
    assert all(0.009 <= one.arm.time_constant <= 0.011 for one in cases)
    assert all(1.8 <= one.arm.delay <= 2.2 for one in cases)


def test_an_unknown_surface_is_anything_from_1_to_100_kilonewtons_a_metre() -> None:
    stiffnesses = [one.stiffness for one in Question().touches(1, 200, False)]
    assert 1e3 <= min(stiffnesses) < 2e3 and 50e3 < max(stiffnesses) <= 100e3


def test_the_first_cases_are_the_same_however_many_follow_and_other_streams_are_others() -> None:
    question = Question()
    assert question.touches(1, 5, False) == question.touches(1, 9, False)[:5]
    assert question.touches(1, 5, False) != question.touches(2, 5, False)
    assert question.touches(1, 5, False) != Question(seed=1).touches(1, 5, False)


@pytest.mark.parametrize("stiffness", [50e3, 300e3])
@pytest.mark.parametrize("task", TASKS)
def test_all_gains_with_contact_damping_are_accepted_configurations(
    task: str, stiffness: float
) -> None:
    question = Question(task, stiffness, 8.0, 0.015)
    for one in candidates_for(question):
        if one.damping_time is not None:
            config = one.config(question)
            assert config.admittance.mass[:3] == (one.mass,) * 3
            assert config.effective_damping()[0] == pytest.approx(one.damping)


def test_gains_surround_what_is_wished_for() -> None:
    question = Question("touch", push=11.5)  # 10 N beyond the deadband, for 0.1 m/s
    dampings = {one.damping for one in candidates_for(question)}
    assert min(dampings) == 50 and 100 in dampings and max(dampings) == 160
    few = candidates_for(question, quick=True)
    assert set(few) < set(candidates_for(question)) and len(few) == 12


def test_a_spring_gives_way_by_the_wished_amount() -> None:
    question = Question("hold", push=11.0)
    assert Config.preset("stiff-hold").effective_deadband()[0] == 1.0
    assert 2000.0 in {one.stiffness for one in candidates_for(question)}
