"""The pose of equilibrium: every shape of file, and what is no pose."""

from __future__ import annotations

import contextlib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ur_admittance.config import Config
from ur_admittance.config.yaml_file import load_equilibrium
from ur_admittance.errors import ConfigError

SLOW = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture]

YAMLISH = st.lists(
    st.sampled_from(
        [
            *("admittance", "mass", "tip", "ros__parameters", "/**", "equilibrium", "yes", "1e3"),
            *(": ", ":\n", "\n", "  ", "\t", "- ", "[", "]", "{", "}", ", ", "'", '"', "|", ">"),
            *("&a ", "*a", "!!t ", "%", "---", "...", "#", "? ", "<<", ".", "\x00", "\ud800"),
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=100, deadline=None, suppress_health_check=SLOW)
@given(data=st.one_of(st.binary(max_size=60), YAMLISH.map(lambda t: t.encode("utf-8", "replace"))))
def test_no_pose_file_raises_anything_but_our_error(data: bytes, tmp_path: Path) -> None:
    path = tmp_path / "pose.yaml"
    path.write_bytes(data)
    with contextlib.suppress(ConfigError):
        load_equilibrium(path)


POSE = "position: [0.1, 0.2, 0.3]\norientation: [0.6, 0, 0.8, 0]\n"

LETTERS = "position: {x: 0.1, y: 0.2, z: 0.3}\norientation: {x: 0, y: 0.8, z: 0, w: 0.6}\n"


def below(head: str, text: str) -> str:
    return head + ":\n" + "".join(f"  {line}\n" for line in text.splitlines())


@pytest.mark.parametrize(
    "text",
    [
        POSE,
        LETTERS,
        below("equilibrium_pose", POSE),
        below("equilibrium", LETTERS),
        below("node", below("ros__parameters", below("equilibrium_pose", LETTERS))),
        below("/**", below("ros__parameters", POSE)),
        "equilibrium.position: [0.1, 0.2, 0.3]\nequilibrium.orientation: [0.6, 0, 0.8, 0]\n",
    ],
)
def test_every_shape_of_pose_file_gives_the_same_pose(text: str, tmp_path: Path) -> None:
    path = tmp_path / "pose.yaml"
    path.write_text(text)
    position, wxyz = load_equilibrium(path)
    assert position == (0.1, 0.2, 0.3)
    assert wxyz == pytest.approx((0.6, 0.0, 0.8, 0.0), abs=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "pose.yaml: is empty"),
        ("position: [0, 0, 0]\n", "orientation: is missing; give four numbers"),
        (
            "\norientation: [1, 0, 0, 0]\nposition: [0, 0]\n",
            "pose.yaml:3:1: position: must be three",
        ),
        ("position: [0, 0, 0]\norientation: [1, 1, 0, 0]\n", "norm 1.41421"),
        ("position: [0, 0, 0]\norientation: [0, 0, 0, 0]\n", "norm 0"),
        ("position: [0, 0, .nan]\norientation: [1, 0, 0, 0]\n", "got nan as value 3"),
        ("position: {x: 0, y: 0}\norientation: [1, 0, 0, 0]\n", "must have the keys x, y, z"),
        (POSE + "positon: [0, 0, 0]\n", "pose.yaml:3:1: positon: unknown key; did you mean"),
        (POSE + "position: [0, 0, 0]\n", "position: written twice, on lines 1 and 3"),
        (POSE + below("equilibrium", POSE), "written twice"),
    ],
)
def test_a_bad_pose_file_is_refused_with_the_reason(text: str, words: str, tmp_path: Path) -> None:
    path = tmp_path / "pose.yaml"
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load_equilibrium(path)
    assert words in str(caught.value)


def test_a_quaternion_slightly_off_is_made_a_unit_one() -> None:
    pose = {"position": [0, 0, 0], "orientation": [1.0005, 0, 0, 0]}
    assert Config(equilibrium=pose).equilibrium_pose() == ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0, 0.0))
    assert Config().equilibrium_pose() is None


def test_a_relative_pose_file_lies_beside_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "poses").mkdir()
    (tmp_path / "poses" / "home.yaml").write_text(POSE)
    (tmp_path / "a.yaml").write_text("equilibrium: poses/home.yaml\n")
    monkeypatch.chdir(tmp_path / "poses")
    config = Config.load("../a.yaml")
    pose = config.equilibrium_pose()
    assert pose
    assert pose.position == (0.1, 0.2, 0.3)
    (tmp_path / "b.yaml").write_text("\nequilibrium: ../home.yaml\n")
    with pytest.raises(ConfigError, match=r"b\.yaml:2: equilibrium: must not climb"):
        Config.load(tmp_path / "b.yaml")
    missing = Config.loads("equilibrium: nowhere.yaml\n")
    with pytest.raises(ConfigError, match=r"nowhere\.yaml: no such file"):
        missing.equilibrium_pose()
