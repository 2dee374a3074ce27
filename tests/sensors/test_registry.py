"""An address leads to a source, with its options; and to which robots it can be given."""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from ur_admittance import Config, ConfigError, RobotError, sensors
from ur_admittance.robots import make, sensing
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.sensors.base import WrenchSource
from ur_admittance.sensors.netft import NetFt

HOST = "netft://192.168.1.20"


class Mine(WrenchSource):
    """One of another package."""

    def __init__(self, address: str, *, X_ES: np.ndarray | None = None, gain: float = 1.0) -> None:
        super().__init__(f"mine://{address}", X_ES)
        self.gain = gain

    def connect(self) -> None: ...

    def newest(self, wrench: np.ndarray, now: float) -> float:
        wrench[:] = self.gain
        return now

    def close(self) -> None: ...


def test_an_address_leads_to_a_source_with_its_options_in_it_or_beside_it() -> None:
    for made in (
        sensors.make(f"{HOST}?average=true&sign=-1&pose=0,0,0.1,0,0,0"),
        sensors.make(f"{HOST}?sign=1", average=True, sign=-1, pose=(0, 0, 0.1, 0, 0, 0)),
    ):
        assert isinstance(made, NetFt) and made.name == HOST
        assert made.X_ES is not None and made.X_ES[2, 3] == 0.1
        assert made._average is True and made._sign == -1
    assert sensors.make(HOST).X_ES is None


@pytest.mark.parametrize(
    ("url", "options", "words"),
    [
        ("netft2://a", {}, "unknown kind 'netft2'; there are netft://; did you mean netft?"),
        ("/wrench", {}, "unknown kind '/wrench'"),
        (f"{HOST}?avarage=true", {}, "takes no 'avarage'; it takes pose, average, sign; did you"),
        (HOST, {"gain": 2}, "takes no 'gain'"),
        (f"{HOST}?average", {}, "'average' has no value; write average=VALUE"),
        (HOST, {"pose": (0, 0, 0.1)}, "wrench: pose: must be six numbers"),
        (f"{HOST}?pose=0,0,NaN,0,0,0", {}, "pose"),
    ],
)
def test_what_no_source_has_is_refused_with_those_that_exist(url, options, words) -> None:
    with pytest.raises(ConfigError) as refused:
        sensors.make(url, **options)
    assert words in str(refused.value)


@pytest.mark.parametrize("url", ["netft://", f"{HOST}?sign=2", f"{HOST}?average=no"])
def test_what_a_source_cannot_take_it_says_itself(url) -> None:
    with pytest.raises(RobotError):
        sensors.make(url)


def test_another_package_adds_one_by_an_entry_point(monkeypatch) -> None:
    def found(group: str) -> list[EntryPoint]:
        assert group == sensors.GROUP
        return [EntryPoint("mine", f"{__name__}:Mine", group), EntryPoint("bad", "math:fsum", "")]

    monkeypatch.setattr(sensors, "entry_points", found)
    made = sensors.make("mine://x?gain=2.5")
    assert isinstance(made, Mine) and made.gain == 2.5
    with pytest.raises(ConfigError, match="there are bad://, mine://, netft://"):
        sensors.make("yours://x")


def test_one_that_is_no_source_is_refused(monkeypatch) -> None:
    monkeypatch.setitem(sensors.SOURCES, "bad", "types:SimpleNamespace")
    with pytest.raises(ConfigError, match="SimpleNamespace is no WrenchSource"):
        sensors.make("bad://")


def test_each_kind_of_robot_takes_the_wrench_in_its_own_way() -> None:
    source = Mine("a")
    for kind in ("sim", "rtde"):
        assert sensing(kind, source) == {"sensor": source}
        assert isinstance(sensing(kind, HOST)["sensor"], NetFt)
    assert all(sensing(kind, "robot") == {} for kind in ("sim", "rtde", "ros2"))
    assert sensing("rtde", "compensated") == {"compensated": True}
    assert sensing("ros2", "/my/wrench") == {"wrench": "/my/wrench"}
    for kind, wrench, words in (
        ("sim", "compensated", "must be robot or netft://HOST, got 'compensated'"),
        ("rtde", "/topic", "must be robot, compensated or netft://HOST, got '/topic'"),
        ("ros2", HOST, "ur-admittance wrench-ros2"),
        ("ros2", source, "got 'mine://a'"),
        ("ros2", "compensated", "/netft/proc_probe"),
    ):
        with pytest.raises(ConfigError) as refused:
            sensing(kind, wrench)
        assert words in str(refused.value)


def test_a_sensor_whose_place_is_said_twice_is_refused_unless_both_agree() -> None:
    pytest.importorskip("mujoco")
    here = (0.0, 0.0, 0.04, 0.0, 0.0, 1.5)
    config = Config.from_dict({"tool": {"sensor": list(here)}})
    for url in ("sim", "rtde://192.168.1.10"):
        with pytest.raises(ConfigError, match="is said twice"):
            make(url, config=config, wrench=sensors.make(HOST, pose=(0, 0, 0.05, 0, 0, 0)))
        make(url, config=config, wrench=sensors.make(HOST, pose=here))
    arm = make("sim", config=config, wrench=HOST)
    assert arm.model.X_ES[2, 3] == 0.04, "where only the configuration says it"
    robot = make("rtde://192.168.1.10", wrench=f"{HOST}?average=true")
    assert isinstance(robot, RtdeRobot) and robot.sensor is not None
