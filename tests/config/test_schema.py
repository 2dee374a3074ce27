"""A whole configuration: what its keys mean together, changed, written and read."""

from __future__ import annotations

import copy
import json
import math
import pickle
import subprocess
import sys

import jsonschema
import pytest

from ur_admittance.config import Config
from ur_admittance.errors import ConfigError

NAMES = [field.name for field in Config.fields()]


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
