"""Which gains are chosen, of points that are made up."""

from __future__ import annotations

from ur_admittance.tune.candidates import Candidate
from ur_admittance.tune.choose import Judged, finalists, front
from ur_admittance.tune.judge import Verdict


def point(off: float, ripple: float, failed: int = 0, law: float | None = 0.03) -> Judged:
    failures = ("contact lost: steel",) * failed
    verdict = Verdict((20 - failed, 20), (8, 8), ripple, 50.0, failures)
    return Judged(Candidate(off, 80.0, 0.0, law), off, off, verdict)


def test_the_front_has_what_nothing_beats_in_feel_and_ripple() -> None:
    a, b, c, d = point(1.0, 5.0, 9), point(1.2, 0.8), point(1.3, 0.9), point(1.6, 0.4)
    assert front([d, c, b, a]) == [a, b, d]


def test_calm_gains_near_the_wish_come_first_and_hopeful_ones_after_them() -> None:
    calm, heavy, hopeful = point(1.2, 0.8), point(1.5, 0.3), point(1.0, 1.1, failed=1)
    assert finalists([hopeful, heavy, calm]) == [calm, heavy, hopeful]


def test_what_chatters_or_is_far_off_or_has_fixed_gains_is_not_chosen() -> None:
    assert not finalists([point(1.0, 9.0, failed=5), point(2.1, 0.2), point(1.0, 0.2, law=None)])


def test_of_equal_gains_the_law_that_ripples_least_is_a_finalist() -> None:
    quiet, loud = point(1.2, 0.3, law=0.02), point(1.2, 0.6, law=0.03)
    assert finalists([loud, quiet]) == [quiet]


def test_verdicts_add_up_and_pass_with_19_of_20() -> None:
    nearly = Verdict((9, 10), (10, 10), 1.2, 40.0, ("a",))
    assert nearly.passes
    worse = nearly + Verdict((9, 10), (0, 0), 0.5, 60.0, ("b",))
    assert worse == Verdict((18, 20), (10, 10), 1.2, 60.0, ("a", "b"))
    assert not worse.passes and (worse.calm, worse.cases) == (28, 30)
