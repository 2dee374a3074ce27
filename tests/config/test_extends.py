"""`extends`: a configuration that builds on a preset or on another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from ur_admittance import Config, ConfigError


@pytest.fixture
def write(tmp_path: Path):
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
        return path

    return write


def problems(path: Path) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        Config.load(path)
    return caught.value.problems


def test_a_file_has_its_own_keys_over_those_of_the_preset(write) -> None:
    path = write("a.yaml", "extends: preset:hand-guiding\nadmittance:\n  deadband_force: 3\n")
    expected = Config.preset("hand-guiding").replace({"admittance.deadband_force": 3})
    assert Config.load(path) == expected


@pytest.mark.parametrize("shape", ["plain", "ros2"])
def test_a_file_may_extend_one_beside_it_that_extends_another(shape, write) -> None:
    write("sub/base.yaml", "extends: ../root.yaml\nmax_linear_velocity: 0.2\nequilibrium: e.yaml\n")
    write("root.yaml", "max_linear_velocity: 0.1\nmax_angular_velocity: 0.3\n")
    lines = "extends: sub/base.yaml\n{0}max_angular_velocity: 0.4\n"
    text = lines.format("")
    if shape == "ros2":
        text = "node:\n  ros__parameters:\n    " + lines.format("    ")
    config = Config.load(path := write("a.yaml", text))
    assert (config.max_linear_velocity, config.max_angular_velocity) == (0.2, 0.4)
    assert config.equilibrium == str(path.parent / "sub" / "e.yaml")


@pytest.mark.parametrize(
    ("base", "own", "name", "value"),
    [
        ("damping: [9, 9, 9, 9, 9, 9]", "damping_ratio: [1, 1, 1, 1, 1, 1]", "damping", None),
        ("filter_cutoff_hz: 20", "filter_coefficient: 0.5", "filter_cutoff_hz", None),
        ("filter_coefficient: 0.5", "filter_cutoff_hz: 20", "filter_cutoff_hz", 20.0),
        ("deadband_force: 1", "min_motion_threshold: 2", "deadband_force", 2.0),
        ("min_motion_threshold: 2", "deadband_force: 1", "deadband_force", 1.0),
    ],
)
def test_where_two_keys_set_one_thing_the_later_file_rules(base, own, name, value, write) -> None:
    write("base.yaml", f"admittance:\n  {base}\n")
    path = write("a.yaml", f"extends: base.yaml\nadmittance:\n  {own}\n")
    assert getattr(Config.load(path).admittance, name) == value


def test_what_is_wrong_names_both_files(write) -> None:
    base = write("base.yaml", "admittance:\n  mas: 1\n")
    path = write("a.yaml", "extends: base.yaml\nmax_linear_velocity: 9\n")
    own, other = sorted(problems(path), key=lambda line: "mas" in line)
    assert own.startswith(f"{path}:2: max_linear_velocity: must be")
    assert other.startswith(f"{base}:2:3: admittance.mas: unknown key")
    assert other.endswith(f"(extended by {path})")


def test_what_does_not_fit_together_names_both_files(write) -> None:
    path = write("a.yaml", "extends: preset:hand-guiding\nenvironment_stiffness: 100000\n")
    (line,) = problems(path)
    assert line.startswith(f"{path}:2: environment_stiffness: axis x, y, z: with")
    assert line.endswith(f"({path} extends preset:hand-guiding)")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("preset:hand-guidin", "did you mean hand-guiding?"),
        ("missing.yaml", "missing.yaml: no such file"),
        ("a.yaml", "a.yaml: extends itself"),
        ("", "must be preset:NAME or the path of a YAML file, got nothing"),
        ("[a, b]", "must be preset:NAME"),
        (".", "is a folder, not a file"),
    ],
)
def test_what_cannot_be_extended_is_told_at_its_line(value: str, words: str, write) -> None:
    path = write("a.yaml", f"tip: flange\nextends: {value}\n")
    (line,) = problems(path)
    assert line.startswith(f"{path}:2:1: extends: ")
    assert words in line


def test_files_that_extend_each_other_in_a_circle_are_refused(write) -> None:
    write("b.yaml", "extends: a.yaml\n")
    (line,) = problems(write("a.yaml", "extends: b.yaml\n"))
    assert "a.yaml: extends itself" in line


def test_a_mistyped_extends_is_suggested(write) -> None:
    (line,) = problems(write("a.yaml", "extend: preset:hand-guiding\n"))
    assert "did you mean extends?" in line
