"""What a node wrote down of its parameters can be given back to it, as `ros2 param load` does."""

from __future__ import annotations

import pytest

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from rcl_interfaces.msg import Parameter
from rcl_interfaces.srv import GetParameters, ListParameters, SetParameters

from tests.ros2.stage import NODE, Stage

pytestmark = pytest.mark.slow


def test_all_parameters_at_once_change_what_is_changed(stage: Stage):
    graph = stage.graph
    listed = graph.call(ListParameters, f"{NODE}/list_parameters", ListParameters.Request())
    names = listed.result.names
    assert {"control_rate", "admittance.mass", "use_sim_time"} <= set(names)

    def values() -> dict:
        request = GetParameters.Request(names=names)
        found = graph.call(GetParameters, f"{NODE}/get_parameters", request).values
        return dict(zip(names, found, strict=True))

    written = values()
    written["admittance.mass"].double_array_value = [6.0] * 6

    def loaded() -> list:
        parameters = [Parameter(name=name, value=value) for name, value in written.items()]
        request = SetParameters.Request(parameters=parameters)
        return graph.call(SetParameters, f"{NODE}/set_parameters", request).results

    assert all(result.successful for result in loaded()), loaded()[0].reason
    assert values() == written
    written["admittance.mass"].double_array_value = [7.0] * 6
    written["control_rate"].double_value = 100.0
    assert not any(result.successful for result in loaded())
    assert "control_rate: cannot change" in loaded()[0].reason
    assert list(values()["admittance.mass"].double_array_value) == [6.0] * 6
