"""Every field against every kind of bad value."""

from __future__ import annotations

import math

import pytest

from ur_admittance.config import Config
from ur_admittance.config.field import BadValue, Field
from ur_admittance.errors import ConfigError

FIELDS = Config.fields()
NAMES = [field.name for field in FIELDS]


def bad_values(field: Field) -> list[object]:
    """Every wrong kind of value for a field: type, length, not finite, out of bounds, unit."""
    if field.kind == "pose":
        zero = [0, 0, 0]
        quaternion = [1, 0, 0, 0]
        return [
            5,
            True,
            "no_suffix",
            "../up.yaml",
            "a\nb.yaml",
            {},
            {"position": zero},
            {"position": zero, "orientation": [1, 1, 0, 0]},
            {"position": [0, 0], "orientation": quaternion},
            {"position": [0, 0, math.nan], "orientation": quaternion},
            {"position": zero, "orientation": quaternion, "frame": "base"},
            {"position": zero, "orientation": {"w": 1, "x": 0, "y": 0}},
        ]
    ones: list[object] = {
        "number": ["yes", "8 kg", "1.0", True, math.nan, math.inf, -math.inf, 10**400, {}, 1j],
        "integer": ["yes", "8 kg", True, math.nan, math.inf, 1.5, {}],
        "boolean": [1, 0, 1.0, "yes", "true", {}],
        "choice": ["nonsense", "", 3, True, {}],
        "text": ["two words", "new\nline", 5, True, "1e3", {}],
        "file": ["probe", "probe.step", "new\nline.obj", 5, True, {}],
    }[field.kind]
    ones = [*ones, object()]
    if field.bounds:
        low, high = field.bounds
        ones += [low if field.above else low - 0.01, high + 0.01, high * 10 + 1]
    ones += [] if field.optional else [None]
    if not field.size:
        return [*ones, [field.default], []]
    good = list(field.default) if isinstance(field.default, tuple) else [1.0] * field.size
    lists = [[*good[:-1], one] for one in [*ones, None]]
    lists += [[one, *good[1:]] for one in ones]
    wrong = [[], good[:-1], good + good[:1], [good] * field.size, {0: 1}]
    return [*lists, *wrong, *ones]


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
def test_every_field_refuses_every_bad_kind_of_value_by_name(field: Field) -> None:
    base = Config()
    for value in bad_values(field):
        for build in (Config.from_dict, base.replace):
            with pytest.raises(ConfigError) as caught:
                build({field.name: value})
            assert all(line.startswith(f"{field.name}: ") for line in caught.value.problems), value


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
def test_every_message_says_what_was_got_and_what_is_allowed(field: Field) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.from_dict({field.name: object()})
    (line,) = caught.value.problems
    assert "must be" in line
    assert "got <object" in line
    if field.unit:
        assert f"({field.unit})" in line
    if field.bounds:
        assert f"<= {field.bounds[1]:g}" in line


@pytest.mark.parametrize("field", [f for f in FIELDS if f.bounds], ids=lambda f: f.name)
def test_bounds_are_accepted_up_to_their_ends(field: Field) -> None:
    assert field.bounds
    low, high = field.bounds
    inside = [high, (low + high) / 2 if field.kind == "number" else high]
    inside += [low + 1e-9 * (high - low)] if field.above else [low]
    for value in inside:
        clean = field.clean([value] * field.size if field.size else value)
        assert clean == ((value,) * field.size if field.size else value)
    for value in [math.nextafter(high, math.inf), low if field.above else low - 1e-9]:
        with pytest.raises(BadValue):
            field.clean([value] * field.size if field.size else value)


@pytest.mark.parametrize("field", FIELDS, ids=NAMES)
def test_every_field_has_words_and_a_default_that_it_accepts(field: Field) -> None:
    assert field.text
    assert field.type
    assert field.allowed
    assert field.clean(field.default) == field.default == Config().get(field.name)
    if field.kind == "number" and field.name not in {
        "admittance.damping_ratio",
        "admittance.filter_coefficient",
        "ik.damping",
        "ik.singularity_threshold",
    }:
        assert field.unit, "a number needs a unit unless it is a ratio"


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("max_linear_velocity: 0,25", "write 0.25, with a point"),
        ("max_linear_velocity: 0,25 m/s", "write 0.25, with a point and without a unit"),
        ("max_linear_velocity: 25 cm", "write 25 alone, without a unit"),
        ("limits.workspace_min: [-0,5, -0,5, 0,1]", "6 values; a comma separates values"),
    ],
)
def test_a_number_with_a_comma_is_shown_with_a_point(text: str, hint: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Config.loads(text)
    assert hint in str(caught.value)
