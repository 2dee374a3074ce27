"""The schema: every field against every kind of bad value, and ways to build a configuration."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys

import jsonschema
import numpy as np
import pytest

from ur_admittance.config import Config
from ur_admittance.config.field import BadValue, Field
from ur_admittance.config.sections import Admittance, Safety
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


def test_defaults_are_those_of_the_documents() -> None:
    config = Config()
    assert config.admittance.mass == (8, 8, 8, 0.8, 0.8, 0.8)
    assert config.admittance.stiffness == (0,) * 6
    assert config.admittance.damping_ratio == (0.8,) * 6
    assert config.admittance.filter_coefficient == 0.8
    assert config.effective_deadband() == (1.5, 1.5)
    assert config.admittance.drift_reset_threshold == 0.001
    assert (config.max_linear_velocity, config.max_angular_velocity) == (0.5, 1.0)
    assert (config.control_rate, config.output.time_from_start) == (500.0, 0.002)
    assert config.joints[0] == "shoulder_pan_joint"
    assert config.joints[5] == "wrist_3_joint"


def test_what_must_not_change_while_running_is_marked() -> None:
    fixed = {field.name for field in FIELDS if not field.live}
    assert fixed == {
        *("joints", "base_link", "ft_frame", "tip", "control_rate", "dynamic_parameters"),
        *("clock", "monitor_rate"),
        *("equilibrium", "admittance.frame", "admittance.integrator", "admittance.engage_seconds"),
        *("limits.joint_velocity", "limits.joint_acceleration", "limits.joint_margin"),
        *("output.mode", "output.time_from_start"),
        *(f"payload.{key}" for key in ("verdict", "left_force", "left_torque")),
        *("payload.noise_force", "payload.noise_torque", "safety.sensor_range"),
        *(f"payload.{key}" for key in ("date", "robot", "sensor")),
        *(field.name for field in FIELDS if field.name.startswith("tool.")),
    }


def test_nested_dotted_mixed_and_model_keys_build_the_same() -> None:
    mass = [4, 4, 4, 0.4, 0.4, 0.4]
    expected = Config(admittance={"mass": mass}, control_rate=250)
    assert Config.from_dict({"admittance.mass": mass, "control_rate": 250}) == expected
    assert Config(admittance=Admittance(mass=mass), control_rate=250.0) == expected  # type: ignore
    both = {"admittance": {"mass": mass}, "admittance.frame": "probe", "control_rate": 250}
    assert Config.from_dict(both) == expected
    assert Config.model_validate({"admittance": {"mass": mass}, "control_rate": 250}) == expected


def test_numpy_values_are_taken_as_the_numbers_they_are() -> None:
    config = Config.from_dict(
        {
            "admittance.mass": np.full(6, 3, np.float32),
            "admittance.enabled_axes": np.array([True] * 3 + [False] * 3),
            "safety.frozen_samples": np.int64(25),
            "max_linear_velocity": np.float64(0.25),
        }
    )
    assert config.admittance.mass == (3.0,) * 6
    assert config.admittance.enabled_axes == (True,) * 3 + (False,) * 3
    assert config.safety.frozen_samples == 25
    assert {type(value) for value in config.admittance.mass} == {float}


def test_all_problems_come_at_once_in_the_order_given() -> None:
    with pytest.raises(ConfigError) as caught:
        Config(
            admittance={"mas": [1] * 6, "mass": [1] * 5},
            control_rate="fast",
            tip=3,
            limits={"workspace_min": [20, 0, 0]},
        )
    names = [line.partition(":")[0] for line in caught.value.problems]
    assert names == [
        "admittance.mas",
        "admittance.mass",
        "control_rate",
        "tip",
        "limits.workspace_min",
    ]
    unknown, short = list(caught.value.problems)[:2]
    assert "did you mean admittance.mass?" in unknown
    assert "got 5" in short
    assert all(line in str(caught.value) for line in caught.value.problems)


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("admittance.mas", "admittance.mass"),
        ("mass", "admittance.mass or payload.mass"),
        ("Admittance.Mass", "admittance.mass\\?"),
        ("admittance.velocity_gain", "tracking.velocity_gain"),
        ("max_linear_vel", "max_linear_velocity"),
        ("admitance", "admittance"),
        ("safety.wrench_timout", "safety.wrench_timeout"),
        ("peroid", "period"),
        ("wrench_timout", "safety.wrench_timeout"),
    ],
)
def test_a_typo_is_answered_with_the_name_that_was_meant(wrong: str, hint: str) -> None:
    for build in (Config.from_dict, Config().replace):
        with pytest.raises(ConfigError, match=f"unknown key; did you mean {hint}"):
            build({wrong: 1})


def test_a_name_unlike_any_other_is_answered_with_all_names() -> None:
    with pytest.raises(ConfigError, match="the keys here are frame, orientation"):
        Config(admittance={"zzzz": 1})
    with pytest.raises(ConfigError, match="unknown key"):
        Config().get("zzzz")


def test_sections_alone_raise_our_error_too() -> None:
    with pytest.raises(ConfigError, match="mass: must be six"):
        Admittance(mass=[1, 2])  # type: ignore
    with pytest.raises(ConfigError, match="max_forc: unknown key; did you mean max_force"):
        Safety(max_forc=3)  # type: ignore
    with pytest.raises(ConfigError, match="admittance: must be a section"):
        Config(admittance=5)
    with pytest.raises(ConfigError, match="must be a mapping"):
        Config.from_dict([("tip", "tool0")])  # type: ignore


def test_a_configuration_cannot_be_changed_in_place() -> None:
    config = Config()
    with pytest.raises(Exception, match="frozen"):
        config.control_rate = 100.0
    with pytest.raises(Exception, match="frozen"):
        config.admittance.mass = (1.0, 1.0, 1.0, 1.0, 1.0, 1.0)


def test_replace_leaves_the_original_and_checks_the_whole() -> None:
    config = Config()
    before = config.flat()
    lighter = config.replace({"admittance.mass": [4] * 6, "tracking": {"velocity_gain": 2}})
    assert lighter.admittance.mass == (4.0,) * 6
    assert lighter.tracking.velocity_gain == 2.0
    with pytest.raises(ConfigError, match="damping >= 400"):
        config.replace({"environment_stiffness": 20000})
    with pytest.raises(ConfigError) as caught:
        config.replace({"admittance.mass": [4] * 6, "admittance.stiffness": [-1] * 6})
    assert len(caught.value.problems) == 1
    assert config.flat() == before == Config().flat()


def test_a_live_replace_refuses_what_is_fixed_or_frozen() -> None:
    assert Config().replace({"max_linear_velocity": 0.1}, live=True).max_linear_velocity == 0.1
    with pytest.raises(ConfigError, match="tip: cannot change while running"):
        Config().replace({"tip": "probe", "max_linear_velocity": 0.1}, live=True)
    with pytest.raises(ConfigError, match="control_rate: cannot change"):
        Config().replace({"period": 0.004}, live=True)
    with pytest.raises(ConfigError, match="frozen: dynamic_parameters is false"):
        Config(dynamic_parameters=False).replace({"max_linear_velocity": 0.1}, live=True)


def test_one_threshold_sets_both_deadbands_and_a_deadband_beside_it_wins() -> None:
    assert Config(admittance={"min_motion_threshold": 2}).effective_deadband() == (2.0, 2.0)
    one = Config(admittance={"min_motion_threshold": 2, "deadband_torque": 0.5})
    assert one.effective_deadband() == (2.0, 0.5)
    later = one.replace({"admittance.min_motion_threshold": 3})
    assert later.effective_deadband() == (3.0, 3.0)
    assert later.replace({"admittance.deadband_force": 1}).effective_deadband() == (1.0, 3.0)


def test_filter_is_given_by_coefficient_or_by_cutoff() -> None:
    T = 0.002
    assert Config().filter_time_constant() == pytest.approx(-T / math.log(0.2))
    assert Config(admittance={"filter_coefficient": 1}).filter_time_constant() == 0.0
    cut = Config(admittance={"filter_cutoff_hz": 20})
    assert cut.filter_time_constant() == pytest.approx(1 / (2 * math.pi * 20))
    alpha = cut.admittance.filter_coefficient
    assert alpha == pytest.approx(1 - math.exp(-T * 2 * math.pi * 20))
    with pytest.raises(ConfigError, match="keep one of the two"):
        Config(admittance={"filter_cutoff_hz": 20, "filter_coefficient": 0.5})
    with pytest.raises(ConfigError, match="< 250 Hz, half of control_rate, got 250"):
        Config(admittance={"filter_cutoff_hz": 250})


def test_the_damping_key_that_is_changed_last_rules() -> None:
    guided = Config.preset("hand-guiding")
    assert guided.admittance.damping is not None
    by_ratio = guided.replace({"admittance.damping_ratio": [1] * 6}, live=True)
    assert by_ratio.admittance.damping is None
    assert by_ratio.effective_damping()[0] == pytest.approx(2 * (4 * 300) ** 0.5)
    again = by_ratio.replace({"admittance.damping": [50] * 6}, live=True)
    assert again.effective_damping() == [50.0] * 6


def test_a_live_change_that_would_have_no_effect_is_refused() -> None:
    guided = Config.preset("hand-guiding")
    virtual = {"admittance.virtual_stiffness": [500] * 6}
    with pytest.raises(ConfigError, match=r"has no effect while admittance.damping is given"):
        guided.replace(virtual, live=True)
    both = {**virtual, "admittance.damping_ratio": [1] * 6}
    assert guided.replace(both, live=True).effective_damping()[0] == pytest.approx(89.44, rel=1e-3)
    assert guided.replace(virtual).admittance.virtual_stiffness == (500.0,) * 6


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


def test_the_filter_key_that_is_changed_last_rules() -> None:
    cut = Config().replace({"admittance.filter_cutoff_hz": 20})
    assert cut.filter_time_constant() == pytest.approx(0.00796, rel=1e-3)
    back = cut.replace({"admittance.filter_coefficient": 0.8})
    assert back == Config()
    off = cut.replace({"admittance.filter_cutoff_hz": None})
    assert off.filter_time_constant() == pytest.approx(cut.filter_time_constant())
    slower = cut.replace({"control_rate": 250})
    assert slower.filter_time_constant() == cut.filter_time_constant()
    with pytest.raises(ConfigError, match="keep one"):
        cut.replace({"admittance.filter_cutoff_hz": 10, "admittance.filter_coefficient": 0.5})


def test_velocity_gain_is_one_number_or_six() -> None:
    assert Config(tracking={"velocity_gain": 2}).velocity_gain() == [2.0] * 6
    six = Config(tracking={"velocity_gain": [1, 2, 3, 4, 5, 6]})
    assert six.velocity_gain() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_aliases_of_the_documents_are_accepted_and_must_agree() -> None:
    assert Config(period=0.004).control_rate == 250.0
    assert Config(trajectory_time_from_start=0.008).output.time_from_start == 0.008
    both = Config(control_rate=500, period=0.002, trajectory_time_from_start=0.002)
    assert both == Config()
    with pytest.raises(ConfigError, match="period: disagrees with control_rate"):
        Config(control_rate=500, period=0.004)
    with pytest.raises(ConfigError, match=r"period: must be a number >= 0\.0005 and"):
        Config(period=0)


def test_none_may_be_written_as_a_word_where_it_is_allowed() -> None:
    config = Config(admittance={"damping": "none"}, equilibrium="", limits={"joint_velocity": None})
    assert config == Config()


def test_flat_goes_through_json_and_back() -> None:
    pose = {"position": [0.4, 0, 0.3], "orientation": {"w": 0, "x": 1, "y": 0, "z": 0}}
    config = Config(equilibrium=pose, admittance={"filter_cutoff_hz": 33.3, "damping": [50] * 6})
    assert list(config.flat()) == NAMES
    assert Config.from_dict(json.loads(json.dumps(config.flat()))) == config
    assert (
        Config.from_dict(
            {"equilibrium.position": [0.4, 0, 0.3]} | {"equilibrium.orientation": [0, 1, 0, 0]}
        ).equilibrium
        == config.equilibrium
    )


def test_copies_pickles_and_hashes_are_equal() -> None:
    config = Config(admittance={"mass": [3] * 6})
    assert pickle.loads(pickle.dumps(config)) == copy.deepcopy(config) == config
    assert hash(config) == hash(Config(admittance={"mass": [3] * 6}))
    assert config != Config()


def test_the_json_schema_accepts_defaults_and_refuses_what_we_refuse() -> None:
    schema = Config.model_json_schema()
    nested = json.loads(Config(admittance={"damping": [50] * 6}).model_dump_json())
    jsonschema.validate(nested, schema)
    for section, key, value in (
        ("admittance", "mass", [0, 1, 1, 1, 1, 1]),
        ("admittance", "frame", "tool"),
        ("safety", "max_force", "200 N"),
        ("limits", "nonsense", 1),
    ):
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({section: {key: value}}, schema)
    mass = schema["$defs"]["Admittance"]["properties"]["mass"]
    assert (mass["unit"], mass["live"]) == ("kg, kg m^2", True)


def test_importing_the_configuration_does_not_import_heavy_things() -> None:
    heavy = "{'yaml', 'rich', 'typer', 'numpy', 'numba', 'ruamel'} & set(sys.modules)"
    code = f"import sys, ur_admittance; before = {heavy}; import ur_admittance.config; "
    code += f"print({heavy} - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
