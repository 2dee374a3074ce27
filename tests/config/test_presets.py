"""The presets: the numbers of the examples, a comment each, and names that are none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ur_admittance.config import Config
from ur_admittance.errors import ConfigError

SURFACE_FOLLOWING = """\
ur_admittance_controller:
  ros__parameters:
    admittance:
      mass: [3.0, 3.0, 0.8, 0.3, 0.3, 0.3]      # Light Z-axis
      damping_ratio: [0.7, 0.7, 0.9, 0.8, 0.8, 0.8]  # More Z damping
      stiffness: [0.0, 0.0, 100.0, 0.0, 0.0, 0.0]     # Z position control
      enabled_axes: [true, true, true, false, false, false]  # XYZ only
      min_motion_threshold: 0.8                   # Sensitive
      filter_coefficient: 0.1                    # More filtering for surface contact
      
    max_linear_velocity: 0.1                     # Slow and controlled
    max_angular_velocity: 0.2
"""

HUMAN_COLLABORATION = """\
ur_admittance_controller:
  ros__parameters:
    admittance:
      mass: [5.0, 5.0, 5.0, 0.5, 0.5, 0.5]      # Responsive
      damping_ratio: [0.8, 0.8, 0.8, 0.9, 0.9, 0.9]  # Stable
      min_motion_threshold: 2.0                   # Deliberate forces only
      filter_coefficient: 0.2                    # Balance responsiveness/stability
      
    max_linear_velocity: 0.2                     # Safe speeds
    max_angular_velocity: 0.5
    
    admittance:
      drift_reset_threshold: 0.0005              # Tight positioning
"""


def problems_of(text: str, name: str = "a.yaml") -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        Config.loads(text, name)
    return caught.value.problems


def test_the_surface_following_example_loads_as_written() -> None:
    config = Config.loads(SURFACE_FOLLOWING)
    assert config.admittance.mass == (3.0, 3.0, 0.8, 0.3, 0.3, 0.3)
    assert config.admittance.enabled_axes == (True, True, True, False, False, False)
    assert config.effective_deadband() == (0.8, 0.8)
    assert config.max_linear_velocity == 0.1


def test_the_human_collaboration_example_is_refused_for_its_repeated_key() -> None:
    (problem,) = problems_of(HUMAN_COLLABORATION, "human.yaml")
    assert problem.startswith("human.yaml:12:5: admittance: written twice, on lines 3 and 12")


def test_presets_keep_the_numbers_of_the_examples() -> None:
    merged = HUMAN_COLLABORATION.replace("    \n    admittance:\n", "")
    merged = "\n".join(sorted(merged.split("\n"), key=lambda row: "velocity" in row))
    assert Config.preset("human-collaboration") == Config.loads(merged)
    surface, example = Config.preset("surface-following"), Config.loads(SURFACE_FOLLOWING)
    changed: dict[str, Any] = {"admittance.virtual_stiffness": surface.admittance.virtual_stiffness}
    # along z tuned anew for contact damping: 0.8 kg behind an 8 Hz filter touch foam at most
    changed |= {"admittance.mass": [3.0, 3.0, 3.0, 0.3, 0.3, 0.3], "contact.adapt": True}
    changed["admittance.filter_coefficient"] = 0.8
    assert example.replace(changed) == surface


def test_the_law_presets_are_the_laws_of_the_documents() -> None:
    velocity, pose = Config.preset("velocity-law"), Config.preset("pose-law")
    assert (velocity.admittance.frame, velocity.admittance.integrator) == ("base", "rk4")
    assert set(velocity.admittance.stiffness) == {0.0} == set(velocity.velocity_gain())
    assert pose.admittance.frame == "probe"
    assert min(pose.admittance.stiffness) > 0.0
    assert min(Config.preset("stiff-hold").admittance.stiffness) > max(pose.velocity_gain())


@pytest.mark.parametrize("name", Config.presets())
def test_every_preset_says_in_a_comment_what_it_is_for(name: str) -> None:
    from ur_admittance.config import yaml_file

    path = Path(yaml_file.__file__).with_name("presets") / f"{name}.yaml"
    assert path.read_text().startswith("# ")
    assert any(unit in path.read_text() for unit in ("kg", "N and Nm"))
    assert Config.preset(name) == Config.load(path)


@pytest.mark.parametrize(
    "name", ["nope", "", "../presets/pose-law", "pose-law.yaml", "pose-law\n", "/etc/passwd", None]
)
def test_unknown_presets_and_path_tricks_are_answered_with_the_list(name: str) -> None:
    with pytest.raises(ConfigError, match="the presets are constant-force, hand-guiding"):
        Config.preset(name)


def test_a_mistyped_preset_is_recognised() -> None:
    with pytest.raises(ConfigError, match="did you mean hand-guiding"):
        Config.preset("hand_guidng")
