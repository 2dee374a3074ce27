"""A sensor whose frame only the transforms tell: real ones, on `/tf` and `/tf_static`, over DDS."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from ur_admittance import Config, RobotModel
from ur_admittance.config.validate import pose
from ur_admittance.kernel.spatial import quaternion_of

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

import rclpy
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import TransformStamped
from rclpy.qos import DurabilityPolicy, QoSProfile
from rclpy.serialization import serialize_message

from tests.ros2.conftest import PRESENT
from tests.ros2.graph import Graph
from tests.ros2.stage import CONFIG, Stage
from tests.support import random_pose
from ur_admittance.robots.ros2 import tf as transforms

pytestmark = pytest.mark.slow

MODEL = RobotModel.ur("ur5e")
URDF = MODEL.to_urdf()
X_ES = pose((0.0, 0.0, 0.04), pitch=-np.pi / 2)  # the sensor's x is the tool's z
X_ES.flags.writeable = False
LATCHED = QoSProfile(depth=100, durability=DurabilityPolicy.TRANSIENT_LOCAL)
SENSOR = "ft_sensor"
OURS = CONFIG + f"ft_frame: {SENSOR}\n"


@pytest.fixture
def staged(staged: Callable[..., Stage]) -> Callable[..., Stage]:
    """Makes a stage with a sensor in a frame of its own."""

    def make(*arguments: str, config: str = OURS) -> Stage:
        stage = staged(*arguments, config=config)
        stage.behave(description=URDF, frame=SENSOR)
        return stage

    return make


def stamped(parent: str, child: str, X: np.ndarray) -> TransformStamped:
    message = TransformStamped(child_frame_id=child)
    message.header.frame_id = parent
    p, o = message.transform.translation, message.transform.rotation
    p.x, p.y, p.z = X[:3, 3].tolist()
    o.w, o.x, o.y, o.z = map(float, quaternion_of(np.ascontiguousarray(X[:3, :3])))
    return message


def others(kind: Any) -> list[Any]:
    """A message each for a hundred frames that are nobody's business here."""
    return [kind(transforms=[stamped("map", f"thing_{i}", np.eye(4))]) for i in range(100)]


class Broadcaster:
    """Publishes messages on `/tf`, 50 times a second, in a thread."""

    def __init__(self, graph: Graph, kind: Any, *messages: Any) -> None:
        self._ended = threading.Event()
        self._publisher = graph.node.create_publisher(kind, "/tf", 100)
        self._messages = messages
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.wait(0.02):
            for message in self._messages:
                self._publisher.publish(message)

    def __enter__(self) -> Broadcaster:
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()


def tool(stage: Stage) -> np.ndarray:
    """Where the tool is by the newest joint state, m (3,)."""
    return MODEL.fk(stage.states[-1].position)[:3, 3]


def weight(mass: float, com: list[float], X_WS: np.ndarray) -> list[float]:
    """What the sensor feels of a tool: N and Nm in S."""
    force = X_WS[:3, :3].T @ [0.0, 0.0, -9.81 * mass]
    return [*force, *np.cross(com, force)]


def test_the_type_is_that_of_every_other_ros(TFMessage, graph: Graph):
    typesys = pytest.importorskip("rosbags.typesys")
    expected = typesys.get_typestore(typesys.Stores.ROS2_KILTED).hash_rihs01(
        "tf2_msgs/msg/TFMessage"
    )
    publisher = graph.node.create_publisher(TFMessage, "/tf", 10)
    graph.until(lambda: graph.node.count_publishers("/tf"))
    (info,) = graph.node.get_publishers_info_by_topic("/tf")
    assert (info.topic_type, str(info.topic_type_hash)) == ("tf2_msgs/msg/TFMessage", expected)
    graph.node.destroy_publisher(publisher)


def test_transforms_are_read_from_bytes_as_ros_reads_them(TFMessage):
    rng = np.random.default_rng(1)
    for count in range(30):
        names = ["n" * size + "ä" * (size % 2) for size in rng.integers(0, 12, 2 * count)]
        message = TFMessage(
            transforms=[
                stamped(parent, child, random_pose(rng))
                for parent, child in zip(names[::2], names[1::2], strict=True)
            ]
        )
        found = list(transforms.entries_of(serialize_message(message), TFMessage))
        assert [entry[:2] for entry in found] == list(zip(names[::2], names[1::2], strict=True))
        for (_, _, numbers), each in zip(found, message.transforms, strict=True):
            p, o = each.transform.translation, each.transform.rotation
            assert numbers == (p.x, p.y, p.z, o.x, o.y, o.z, o.w)


def test_without_tf2_msgs_it_says_so(graph: Graph, staged):
    if "tf2_msgs" in PRESENT:
        pytest.skip("this ROS has tf2_msgs")
    stage = staged("--inactive")
    stage.until_said("'ft_sensor' is no link of it, and this ROS has no tf2_msgs")
    assert stage.state == "unconfigured"


def test_a_static_transform_turns_the_wrench_and_the_weight_of_the_tool(
    TFMessage, graph: Graph, staged
):
    static = graph.node.create_publisher(TFMessage, "/tf_static", LATCHED)
    static.publish(TFMessage(transforms=[stamped("tool0", SENSOR, X_ES)]))
    mass, com = 1.5, [0.05, 0.01, -0.02]
    stage = staged("--inactive", config=OURS + f"payload: {{mass: {mass}, center_of_mass: {com}}}")
    graph.until(lambda: stage.state == "inactive" and stage.states)
    X_WE = MODEL.fk(MODEL.home)
    load = weight(mass, com, X_WE @ X_ES)
    stage.behave(force=load)
    stage.activate()
    before = tool(stage)
    graph.until(lambda: len(stage.commands) > 25)
    # All that the sensor feels is the weight.
    assert max(np.abs(m.data).max() for m in stage.commands) < 1e-9
    stage.behave(force=np.add(load, [10, 0, 0, 0, 0, 0]).tolist())
    graph.until(lambda: np.linalg.norm(tool(stage) - before) > 0.03)
    way = X_WE[:3, :3].T @ (tool(stage) - before)
    assert way[2] > 0.029 and np.abs(way[:2]).max() < 1e-3  # along the sensor's x, the tool's z

    # Taken off and mounted another way while it runs: bias and weight would be wrong.
    X_moved = X_ES @ pose((0.0, 0.0, 0.0), roll=0.1)
    static.publish(TFMessage(transforms=[stamped("tool0", SENSOR, X_moved)]))
    stage.expect_stop("ft_sensor to tool0 has changed by 0.0 mm and 5.7 degrees")
    graph.until(lambda: stage.speed == 0.0)
    answer = stage.trigger("reset")
    assert not answer.success and "has changed by" in answer.message
    static.publish(TFMessage(transforms=[stamped("tool0", SENSOR, X_ES)]))
    stage.behave(force=load)
    stage.reset()
    # The weight is not felt after the change of a parameter either: the frame stays.
    assert all(result.successful for result in stage.set({"max_linear_velocity": 0.2}))
    graph.after(0.5)
    before = len(stage.commands)
    graph.until(lambda: len(stage.commands) > before + 25)
    assert max(np.abs(m.data).max() for m in stage.commands[before:]) < 1e-9


def test_it_waits_for_the_transforms_and_uses_no_broken_one(TFMessage, graph: Graph, staged):
    diagnostics = graph.hear(DiagnosticArray, "/diagnostics", 10)
    stage = staged("--inactive")
    missing = "'ft_sensor' is no link of it, and no transform from ft_sensor to tool0"
    stage.until_said(missing)
    graph.until(lambda: diagnostics and missing in diagnostics[-1].status[0].message)
    assert stage.state == "unconfigured" and not stage.change("activate")
    static = graph.publisher(TFMessage, "/tf_static", LATCHED)
    broken = [stamped("tool0", SENSOR, X_ES) for _ in range(3)]
    o = broken[0].transform.rotation
    o.w = o.x = o.y = o.z = 0.0
    broken[1].transform.translation.y = np.nan
    broken[2].transform.rotation.z = np.inf
    for message in broken:
        static.publish(TFMessage(transforms=[message]))
        graph.after(0.2)
    stage.until_said("/tf_static: the transform of ft_sensor is of no use: ")
    assert stage.state == "unconfigured"
    # From several hands, in any order, each only once.
    X_FE, X_FS = pose((0.0, 0.1, 0.0), yaw=1.0), pose((0.0, 0.1, 0.0), yaw=1.0) @ X_ES
    static.publish(TFMessage(transforms=[stamped("wrist_3_link", "flange", np.eye(4))]))
    static.publish(TFMessage(transforms=[stamped("flange", "tool0", X_FE)]))
    graph.publisher(TFMessage, "/tf_static", LATCHED).publish(
        TFMessage(transforms=[stamped("flange", SENSOR, X_FS)])
    )
    graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.activate()
    before = tool(stage)
    stage.behave(force=[10, 0, 0, 0, 0, 0])
    graph.until(lambda: stage.speed > 0.05)
    # A broken one is no reason to stop while the last good one holds.
    stage.log.clear()
    static.publish(TFMessage(transforms=broken))
    graph.until(lambda: tool(stage)[2] < before[2] - 0.03)


def test_a_transform_that_stops_coming_stops_the_arm_until_reset(TFMessage, graph: Graph, staged):
    diagnostics = graph.hear(DiagnosticArray, "/diagnostics", 10)
    p, (w, *xyz) = X_ES[:3, 3], quaternion_of(np.ascontiguousarray(X_ES[:3, :3]))
    ours = ["tool0", SENSOR, [*p, *xyz, w]]
    coming = [ours, *(["map", f"thing_{i}", [0, 0, 0, 0, 0, 0, 1]] for i in range(10))]
    coming = [[parent, child, list(map(float, numbers))] for parent, child, numbers in coming]
    stage = staged("--inactive")
    stage.behave(transforms=coming)
    graph.until(lambda: stage.state == "inactive" and stage.states)
    stage.activate()
    before = tool(stage)
    stage.behave(force=[5, 0, 0, 0, 0, 0])
    graph.until(lambda: stage.speed > 0.05)

    stage.behave(transforms=coming[1:])
    words = "the transform from ft_sensor to tool0 is 0."
    stage.expect_stop(words)
    assert "its publisher has stopped" in graph.stops[-1]
    graph.until(lambda: diagnostics and words in diagnostics[-1].status[0].message)
    graph.until(lambda: stage.speed == 0.0)
    assert tool(stage)[2] < before[2]
    answer = stage.trigger("reset")
    assert not answer.success and "the transform from ft_sensor to tool0 is " in answer.message

    stage.behave(force=[0] * 6, transforms=coming)
    stage.reset()
    stage.behave(force=[5, 0, 0, 0, 0, 0])
    graph.until(lambda: stage.speed > 0.05)


def test_of_a_busy_tf_only_what_names_the_sensor_is_read(
    TFMessage, graph: Graph, monkeypatch: pytest.MonkeyPatch
):
    read = []

    def reading(data: bytes, kind: Any) -> Any:
        read.append(data)
        return entries_of(data, kind)

    entries_of = transforms.entries_of
    monkeypatch.setattr(transforms, "entries_of", reading)
    ours = TFMessage(transforms=[stamped("tool0", SENSOR, X_ES)])
    listener = rclpy.create_node("listener", context=graph.node.context)
    heard = transforms.Transforms(listener, str, graph.node.get_logger())
    with Broadcaster(graph, TFMessage, ours, *others(TFMessage)):
        model = heard.model_from(URDF, Config.loads(OURS))
        np.testing.assert_allclose(model.X_ES, X_ES, atol=1e-12)
        read.clear()
        graph.until(lambda: len(read) > 25, heard.look)
    listener.destroy_node()
    assert read and all(SENSOR.encode() in data for data in read)
