"""`--wrench`, the same in every verb that looks at an arm or leads it."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.cli.support import GUIDED, invoke
from ur_fake.netft import FakeNetFt

pytest.importorskip("mujoco")

NOBODY = "netft://127.0.0.1:1:1"
VERBS = [
    (*GUIDED, "--seconds", 1),
    ("init", "--robot", "sim", "--stay", "--out", "{}/a.yaml"),
    ("calibrate", "--robot", "sim", "--yes", "--out", "{}/a.yaml"),
    ("identify", "--robot", "sim", "--yes", "--out", "{}/a.yaml"),
    ("tare", "--robot", "sim", "--config", "preset:hand-guiding", "--out", "{}/a.yaml"),
    ("doctor", "--robot", "sim", "--seconds", 0.2, "--listen", 0.5),
]


@pytest.fixture
def device() -> Iterator[FakeNetFt]:
    """One that sends on its own, as a real one does, and that nothing touches."""
    over = threading.Event()
    with FakeNetFt() as made:

        def send() -> None:
            noise = np.random.default_rng(0)
            while not over.wait(0.001):
                made.send(noise.normal(0.0, 0.01, 6))

        thread = threading.Thread(target=send)
        thread.start()
        yield made
        over.set()
        thread.join()


def asked(words: tuple[object, ...], folder: Path, *more: object, robot: str = "sim"):
    """A verb with some options more, for a robot of that kind."""
    filled = [str(word).format(folder) for word in words]
    filled[filled.index("sim")] = robot
    return invoke(*filled, *more)


@pytest.mark.parametrize("words", VERBS, ids=lambda words: words[0])
class TestEveryVerb:
    def test_asks_the_sensor_that_it_is_given(self, words, tmp_path, runtime) -> None:
        result = asked(words, tmp_path, "--wrench", NOBODY, "--sensor-pose", *"000000", "--average")
        assert result.exit_code == 1, result.output
        said = " ".join(result.output.split())
        assert "its scale factors cannot be read" in said
        assert not (tmp_path / "a.yaml").exists()

    def test_refuses_what_no_robot_of_that_kind_has(self, words, tmp_path, runtime) -> None:
        for robot, more, refusal in (
            ("sim", ("--wrench", "compensated"), "wrench: must be robot or netft://HOST"),
            ("rtde://127.0.0.1:1", ("--wrench", "/topic"), "must be robot, compensated or netft"),
            ("sim", ("--wrench", "hex://127.0.0.1"), "unknown kind 'hex'; there are netft://"),
            ("ros2", ("--wrench", NOBODY), "ur-admittance wrench-ros2"),
            ("sim", ("--average",), "--average: is for --wrench netft://HOST"),
            ("rtde://127.0.0.1:1", ("--sensor-pose", *"000000"), "--sensor-pose: is for --wrench"),
        ):
            result = asked(words, tmp_path, *more, robot=robot)
            assert result.exit_code == 2, (more, result.output)
            assert refusal in result.stderr


def test_a_simulated_hand_or_time_is_refused_beside_a_real_sensor(runtime) -> None:
    result = invoke(*GUIDED, "--wrench", NOBODY, "--pace", 2, "--push", 1, 0, 0)
    assert result.exit_code == 2
    assert "--push: is for the simulated sensor" in result.stderr
    assert "--pace: is for the simulated sensor" in result.stderr


def test_where_a_sensor_sits_is_said_once(tmp_path: Path, runtime) -> None:
    (tmp_path / "a.yaml").write_text("tool: {sensor: [0, 0, 0.04, 0, 0, 0]}\n")
    verb = ("tare", "--robot", "sim", "--config", tmp_path / "a.yaml", "--wrench", NOBODY)
    result = invoke(*verb, "--sensor-pose", 0, 0, 0.05, 0, 0, 0)
    assert result.exit_code == 2 and "is said twice" in result.stderr


@pytest.mark.parametrize("sick", [False, True])
def test_the_doctor_says_how_that_sensor_is(sick, device, runtime) -> None:
    connected = threading.Event()

    def fall_ill() -> None:
        while not connected.wait(0.01):
            if device.client is not None:
                connected.wait(0.2)
                device.status = 1 << 31 | 1 << 17
                return

    thread = threading.Thread(target=fall_ill if sick else lambda: None)
    thread.start()
    verb = ("doctor", "--robot", "sim", "--seconds", 0.2, "--listen", 2, "--json")
    result = invoke(*verb, "--wrench", f"netft://{device.address}")
    connected.set()
    thread.join()
    rows = {row["what"]: row for row in json.loads(result.stdout)["findings"]}
    row = rows["sensor"]
    assert row["state"] == ("wrong" if sick else "ok"), row
    assert ("saturated strain gauge" if sick else "good samples") in row["value"]
    assert ("relieve the tool" in row["mend"]) is sick
    assert "127.0.0.1" not in result.stdout
    assert result.exit_code == 1 or not sick
