"""A path taught by leading a simulated arm, and played: within 2 mm of where it was led."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial import KDTree
from scipy.spatial.transform import Rotation, Slerp

from ur_admittance import Config, ConfigError, Controller, RobotModel
from ur_admittance.config.validate import quaternion_of
from ur_admittance.motion.base import Leading
from ur_admittance.motion.taught import Path, Playing
from ur_admittance.robots.sim import SimRobot, SpringHand
from ur_admittance.run import run


def circle(n: int = 40, seconds: float = 4.0) -> Path:
    """A quarter of a circle, turning as it goes."""
    times = np.linspace(0.0, seconds, n)
    angles = np.linspace(0.0, np.pi / 2, n)
    places = np.stack((0.1 * np.cos(angles), 0.1 * np.sin(angles), 0.3 + 0 * angles), axis=1)
    xyzw = Rotation.from_euler("z", angles[:, None]).as_quat()
    return Path(times, np.hstack((places, xyzw[:, [3, 0, 1, 2]])))


@given(st.floats(0.0, 4.0))
def test_between_its_poses_it_is_a_smooth_curve(t) -> None:
    path = circle()
    X, _ = path.at(t)
    assert abs(np.linalg.norm(X[:2, 3]) - 0.1) < 1e-4
    turns = Slerp(path.times, Rotation.from_quat(path.poses[:, [4, 5, 6, 3]]))
    assert (turns(t).inv() * Rotation.from_matrix(X[:3, :3])).magnitude() < 0.01


def test_it_comes_back_the_same_way() -> None:
    path = circle().there_and_back()
    assert path.seconds == 8.0
    assert np.allclose(path.at(3.0)[0], path.at(5.0)[0])


def test_a_file_gives_the_path_back(tmp_path) -> None:
    path = circle()
    path.save(tmp_path / "path.json")
    again = Path.load(tmp_path / "path.json")
    assert np.allclose(again.poses, path.poses, atol=1e-6)
    assert np.allclose(again.times, path.times, atol=1e-4)


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        '{"kind": "another"}',
        {"times": [0, 1]},
        {"times": [0], "poses": [[0, 0, 0, 1, 0, 0, 0]]},
        {"times": [0, 0], "poses": [[0, 0, 0, 1, 0, 0, 0]] * 2},
        {"times": [0, 1], "poses": [[0, 0, 0, 2, 0, 0, 0]] * 2},
        {"times": [0, float("nan")], "poses": [[0, 0, 0, 1, 0, 0, 0]] * 2},
        {"times": "soon", "poses": "there"},
    ],
)
def test_what_is_no_path_is_refused_with_the_file(tmp_path, content) -> None:
    file = tmp_path / "path.json"
    words = (
        content
        if isinstance(content, str)
        else json.dumps(content | {"kind": "ur-admittance path"})
    )
    file.write_text(words)
    with pytest.raises(ConfigError, match=r"path\.json"):
        Path.load(file)


HERE = [[0, 0, 0, 1, 0, 0, 0]] * 2


@pytest.mark.parametrize(
    ("times", "poses", "q", "words"),
    [
        ("soon", HERE, None, r"path: times: must be numbers \[s\], got 'soon'"),
        ([0, 1], "there", None, "path: poses: must be numbers, got 'there'"),
        ([0, 1], [HERE[0], [0]], None, "path: poses: must be numbers"),
        ([0, 1], [HERE[0], [np.inf] * 7], None, r"path: poses: .* must be finite"),
        ([0, 1], np.multiply(HERE, 1.002), None, "unit quaternions"),
        ([0, 1], HERE, [0] * 5, r"path: q: must be six numbers \[rad\]"),
    ],
)
def test_what_is_no_path_is_refused_in_words(times, poses, q, words: str) -> None:
    with pytest.raises(ConfigError, match=words):
        Path(times, poses, q)


def test_orientations_nearly_of_length_one_are_put_right() -> None:
    path = Path(np.arange(2), np.outer([1.0009, 0.9991], HERE[0]))
    np.testing.assert_array_equal(np.linalg.norm(path.poses[:, 3:], axis=1), 1.0)


@pytest.mark.parametrize("speed", [0.0, 5.0, float("nan"), -1.0])
def test_a_speed_that_makes_no_sense_is_refused(speed) -> None:
    with pytest.raises(ConfigError, match="speed"):
        Playing(circle(), RobotModel.ur("ur5e"), Config(), speed)


def test_a_speed_beyond_the_limits_is_refused_with_the_greatest_that_is_not() -> None:
    config = Config().replace({"max_linear_velocity": 0.05})
    fastest = circle().fastest
    assert fastest == pytest.approx((np.pi / 80, np.pi / 8), rel=1e-3)
    with pytest.raises(ConfigError, match=r"max_linear_velocity, 0\.05 m/s; at most 1\.3"):
        Playing(circle(), RobotModel.ur("ur5e"), config, 2.0)


def test_a_path_of_another_arm_tool_or_base_is_refused(tmp_path) -> None:
    q, config = RobotModel.ur("ur5e").home, Config.preset("pose-law")
    mine = RobotModel.ur("ur5e")
    x, y, z, *wxyz = (*mine.fk(q)[:3, 3], *quaternion_of(mine.fk(q)))
    poses = np.array([[x, y, z, *wxyz], [x, y, z + 0.01, *wxyz]])
    path = Path(np.array([0.0, 1.0]), poses, q)
    path.save(tmp_path / "path.json")
    path = Path.load(tmp_path / "path.json").there_and_back()
    Playing(path, mine, config)
    for other in (RobotModel.ur("ur3e"), RobotModel.ur("ur5e", base="base")):
        with pytest.raises(ConfigError, match=r"another arm, tool or base.*teach it on this arm"):
            Playing(path, other, config)
    with pytest.raises(ConfigError, match=r"six numbers .*must be finite"):
        Path(path.times, path.poses, np.full(6, np.nan))


@pytest.mark.slow
def test_a_taught_path_is_played_back_within_2_mm_also_where_it_turns_sharply() -> None:
    start = SimRobot("ur5e").model.fk(SimRobot("ur5e").model.home)[:3, 3]

    def led(t: float) -> np.ndarray:
        s = min(1.0, max(0.0, (t - 0.5) / 1.2))
        s = s * s * (3 - 2 * s)
        return start + np.array([0.0, 0.10 * s, 0.06 * np.sin(np.pi * s)])

    taught, played = [], []
    hand = SpringHand(400.0, 20.0, led)
    with SimRobot("ur5e", realtime=False, hand=hand) as arm:
        controller = Controller(arm.model, Config.preset("hand-guiding"))
        keep = lambda into: lambda state, out: into.append(out.copy())  # noqa: E731
        run(arm, controller, seconds=2.5, each=keep(taught))
    path = Path.of(np.array(taught, dtype=taught[0].dtype))
    assert path.metres > 0.1 and path.fastest[0] > 0.12

    with SimRobot("ur5e", realtime=False) as arm:
        controller = Controller(arm.model, Config.preset("pose-law"))
        playing = Playing(path, arm.model, controller.config, late=0.024)
        leading = Leading(controller, playing)

        def each(state, out) -> None:
            leading()
            if playing.begun:
                played.append(out["X_WP"][:3, 3].copy())
            if playing.outcome:
                controller.deactivate()

        summary = run(arm, controller, seconds=60.0, each=each)
    assert playing.outcome == "reached" and not summary.faulted
    way = np.array([path.at(t)[0][:3, 3] for t in np.linspace(0.0, path.seconds, 1000)])
    assert KDTree(way).query(np.array(played))[0].max() < 0.002  # nowhere off the path
    assert KDTree(np.array(played)).query(way)[0].max() < 0.002  # and none of it left out
