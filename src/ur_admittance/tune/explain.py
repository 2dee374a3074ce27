"""The answer in words, and as a configuration file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

from ur_admittance.tune.choose import (
    FARTHEST,
    FASTER,
    GENTLER,
    HARDER,
    LATER,
    SOFTER,
    STIFFER,
    Judged,
    Tuned,
)
from ur_admittance.tune.judge import ENOUGH, REACH, Verdict, wished
from ur_admittance.tune.question import UNKNOWN, Question


def gains(tuned: Tuned) -> list[tuple[str, str, str]]:
    """Name, value and unit of each gain of the nearest."""
    one = tuned.nearest.candidate
    rows = [("mass", f"{one.mass:.3g}", "kg"), ("damping", f"{one.damping:.3g}", "N s/m")]
    if one.stiffness:
        rows.append(("stiffness", f"{one.stiffness:.4g}", "N/m"))
    if one.damping_time is not None:
        rows.append(("contact.damping_time", f"{one.damping_time * 1e3:g}", "ms"))
    return rows


def feel_words(question: Question, feel: float) -> str:
    """What a hand notices."""
    if question.wish.speed:
        return f"{question.push:g} N lead it {REACH:g} m in {feel:.2f} s"
    return f"{question.push:g} N move it {feel * 1e3:.2g} mm"


def why(tuned: Tuned) -> Iterator[str]:
    """Why this point, or why none, a sentence each."""
    question, nearest, verdict = tuned.question, tuned.nearest, tuned.verdict
    yield f"{feel_words(question, nearest.feel)}, {_off_words(question, nearest)}."
    fixed = [one for one in tuned.swept if one.candidate.damping_time is None]
    calm = [one for one in tuned.swept if one not in fixed and not one.verdict.failures]
    yield (
        f"Of {len(tuned.swept)} gains {len(calm)} with contact damping were calm in every case of "
        f"the sweep, and {sum(not one.verdict.failures for one in fixed)} with fixed gains."
    )
    nearer = [one for one in tuned.swept if one.off < nearest.off and one not in fixed]
    if tuned.chosen is not None:
        yield (
            f"On {verdict.cases} cases it was not tuned on: calm in {_share(verdict.rigid)} with a "
            f"rigid arm, {_share(verdict.flexible)} with a flexible one."
        )
        passed_by = [pair for pair in tuned.verified if pair[0] in nearer and pair[1].failures]
        if passed_by:
            yield f"Nearer to the wish, {_but(passed_by[0][0], passed_by[0][1])}"
        elif nearer := [one for one in nearer if one.verdict.failures]:
            one = min(nearer, key=lambda one: one.off)
            yield f"Nearer to the wish, {_but(one, one.verdict)}"
    elif verdict.failures:
        yield f"Calm in {verdict.calm} of {verdict.cases} cases; {verdict.failures[0]}."


def margins(tuned: Tuned) -> list[tuple[str, str]]:
    """How far the chosen gains are from where they fail: of what, and how far."""
    question = tuned.question
    known = question.stiffness or UNKNOWN[1]
    more = "or more" if tuned.stiffer == STIFFER[-1] else ""
    later = "or more" if tuned.later == LATER[-1] else ""
    harder = "or more" if tuned.harder == HARDER[-1] else ""
    limit = question.preset.safety.max_force
    peak = f"{tuned.verdict.peak:.0f} N"
    if tuned.verdict.peak > limit:
        peak += f": above safety.max_force, {limit:g} N, the arm stops; meet it more slowly"
    return [
        ("stiffest surface it takes", f"{known * tuned.stiffer / 1e3:.3g} kN/m {more}".rstrip()),
        ("more lag it takes", f"{tuned.later * 1e3:.3g} ms {later}".rstrip()),
        ("hardest push it takes", f"{question.push * tuned.harder:.3g} N {harder}".rstrip()),
        ("worst ripple", f"{tuned.verdict.ripple:.2f} N rms"),
        ("hardest impact", peak),
    ]


def helps(tuned: Tuned) -> Iterator[str]:
    """What would make the nearest gains do, each by itself."""
    question, late = tuned.question, tuned.later > -tuned.question.lag
    if not (tuned.stiffer or tuned.harder or late):
        yield (
            f"less of several: {SOFTER[-1]:g} of the stiffness, {FASTER[-1]:g} of the lag and "
            f"{GENTLER[-1]:g} of the push, each by itself, would not do"
        )
    if tuned.nearest.off > FARTHEST:
        yield "another push: what is wished for is farther off than any gains that were tried"
    if tuned.stiffer:
        known = question.stiffness or UNKNOWN[1]
        yield f"a softer surface or tip: {known * tuned.stiffer / 1e3:.3g} kN/m would do"
    if late:
        yield f"a faster arm: {(question.lag + tuned.later) * 1e3:.3g} ms of lag would do"
    if tuned.harder:
        yield f"a gentler push: {question.push * tuned.harder:.3g} N would do"


def to_yaml(tuned: Tuned) -> str:
    """The configuration of the chosen gains, with its reasons as comments."""
    question, chosen = tuned.question, tuned.nearest
    lines = [f"# Made by `ur-admittance tune`: {question.in_words()}.", "#"]
    lines += [f"# {sentence}" for sentence in why(tuned)]
    lines += [f"# {name}: {value}" for name, value in margins(tuned)]
    lines += ["# Vectors are [x y z rx ry rz]. All of it is simulation: begin slowly.", ""]
    values = {"extends": f"preset:{question.wish.preset}", **chosen.candidate.changes(question)}
    return (
        "\n".join(lines)
        + "\n"
        + yaml.safe_dump(_nested(values), sort_keys=False, default_flow_style=None)
    )


def _nested(values: dict[str, Any]) -> dict[str, Any]:
    """Dotted keys as sections."""
    found: dict[str, Any] = {}
    for key, value in values.items():
        section, _, name = key.rpartition(".")
        (found.setdefault(section, {}) if section else found)[name] = value
    return found


def _share(calm: tuple[int, int]) -> str:
    return f"{calm[0]} of {calm[1]}"


def _but(one: Judged, verdict: Verdict) -> str:
    calm = f"is calm in {verdict.calm} of {verdict.cases} cases"
    return f"{one.candidate.in_words()} {calm}; {verdict.failures[0]}."


def _off_words(question: Question, one: Judged) -> str:
    ideal = wished(question)
    wish = f"{ideal:.2f} s" if question.wish.speed else f"{ideal * 1e3:g} mm"
    if one.off < 1.05:
        return f"as wished ({wish})"
    more, less = ("heavier", "lighter") if question.wish.speed else ("softer", "stiffer")
    return f"{one.off:.2f} times {more if one.feel > ideal else less} than wished ({wish})"


def verdict_words(tuned: Tuned) -> str:
    """One line: whether it can be met."""
    if tuned.chosen is not None:
        return f"{tuned.question.in_words()}: {tuned.chosen.candidate.in_words()}"
    return (
        f"no gains meet this: {tuned.question.in_words()}. Needed are {ENOUGH:.0%} calm touches at "
        f"most {FARTHEST:g} times off the wish; nearest is {tuned.nearest.candidate.in_words()}"
    )
