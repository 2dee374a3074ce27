"""What every wrench source must do. A source's test file subclasses `SourceContract`."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

from ur_admittance import Config, RobotError, sensors
from ur_admittance.robots import connect
from ur_admittance.sensors.base import WrenchSource

PUSH = np.array([1.0, -2.0, 3.0, 0.1, -0.2, 0.3])
POSE = (0.0, 0.0, 0.04, 0.0, 0.0, 1.5)


class SourceContract:
    """Subclasses say at which address a device is, and let it act."""

    address: str

    def connected(self, source: Any) -> Any:
        """Connect a source, or a robot that has one, while the device sends zeros."""
        raise NotImplementedError

    def send(self, source: WrenchSource, wrench: np.ndarray, *, sick: bool = False) -> None:
        """Let the device send one sample, N and Nm (6,), as one that says that something is wrong
        with it if it is `sick`; return when the source can take it.
        """
        raise NotImplementedError

    @pytest.fixture
    def source(self):
        source = self.connected(sensors.make(self.address))
        source.newest(np.zeros(6), 0.0)
        yield source
        source.close()

    def test_it_says_who_it_is(self, source):
        assert isinstance(source, WrenchSource)
        assert source.name.startswith(self.address.partition("?")[0]) and source.frame
        assert isinstance(source.compensated, bool) and isinstance(source.real, bool)
        assert source.problem == ""

    def test_a_sample_is_what_the_world_does_to_the_tool_and_arrives_when_it_is_taken(self, source):
        wrench, before = np.full(6, np.nan), source.count
        self.send(source, PUSH)
        assert source.newest(wrench, 7.5) == source.arrived == 7.5
        np.testing.assert_allclose(wrench, PUSH, atol=1e-5)
        assert source.count == before + 1

    def test_without_a_new_one_the_last_is_written_again_and_grows_old(self, source):
        self.send(source, PUSH)
        source.newest(np.zeros(6), 7.5)
        count, wrench = source.count, np.full(6, np.nan)
        assert source.newest(wrench, 9.0) == 7.5
        np.testing.assert_allclose(wrench, PUSH, atol=1e-5)
        assert source.count == count

    def test_nobody_is_waited_for(self, source):
        wrench, took = np.zeros(6), []
        for _ in range(20):
            began = time.perf_counter()
            source.newest(wrench, 0.0)
            took.append(time.perf_counter() - began)
        assert min(took) < 1e-3

    def test_what_is_sick_is_not_believed_but_named_until_it_is_well(self, source):
        wrench = np.zeros(6)
        self.send(source, PUSH)
        source.newest(wrench, 1.0)
        count = source.count
        self.send(source, 9 * PUSH, sick=True)
        assert source.newest(wrench, 2.0) == 1.0 and source.count == count
        np.testing.assert_allclose(wrench, PUSH, atol=1e-5)
        assert source.name in source.problem and "; " in source.problem
        self.send(source, 2 * PUSH)
        assert source.newest(wrench, 3.0) == 3.0 and source.problem == ""
        np.testing.assert_allclose(wrench, 2 * PUSH, atol=1e-5)

    def test_closing_twice_is_fine_and_using_it_unconnected_is_not(self, source):
        source.close()
        source.close()
        fresh = sensors.make(self.address)
        for one in (source, fresh):
            with pytest.raises(RobotError, match="not connected"):
                one.newest(np.zeros(6), 0.0)
        fresh.close()

    @pytest.mark.parametrize("config", [None, Config()])
    def test_a_robot_feels_by_it_what_its_own_sensor_does_not(self, config):
        source = sensors.make(self.address, pose=POSE)
        more = {} if config is None else {"config": config}
        arm = self.connected(_Unconnected(source, realtime=False, **more)).arm
        with arm:
            arm.wait()
            before = arm.wait().wrenches
            self.send(source, PUSH)
            state = arm.wait()
            np.testing.assert_allclose(state.wrench, PUSH, atol=1e-5)
            assert state.wrench_time == state.joint_time and state.wrenches == before + 1
            assert arm.wait().wrench_time < arm.clock(), "it grows old"
            assert source.X_ES is not None
            np.testing.assert_allclose(arm.model.X_ES, source.X_ES)
            assert arm.real_sensor is source.real and arm.wrench_frame == source.frame
            assert arm.wrench_compensated is source.compensated
            self.send(source, PUSH, sick=True)
            arm.wait()
            assert arm.wrench_problem == source.problem != ""
        with pytest.raises(RobotError, match="not connected"):
            source.newest(np.zeros(6), 0.0)


class _Unconnected:
    """A simulated arm that is made when it is connected."""

    def __init__(self, source: WrenchSource, **options: Any) -> None:
        self.source, self.options = source, options

    def connect(self) -> None:
        self.arm = connect("sim", wrench=self.source, **self.options)
