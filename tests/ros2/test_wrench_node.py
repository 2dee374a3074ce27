"""The wrench pipeline as a process of its own: its numbers are the control tick's."""

from __future__ import annotations

import json
import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ur_admittance import Config, Controller, RobotModel
from ur_admittance.kernel.spatial import LINEAR

pytest.importorskip("rclpy", reason="needs ROS 2: rclpy cannot be imported")

from geometry_msgs.msg import Wrench, WrenchStamped
from sensor_msgs.msg import JointState
from std_msgs.msg import String
from std_srvs.srv import Trigger

from tests.ros2.graph import PATIENCE, Graph
from tests.ros2.peer import LATCHED
from ur_admittance.robots.ros2 import wire

X_EP = np.array([[0.0, -1, 0, 0.02], [1, 0, 0, 0], [0, 0, 1, 0.12], [0, 0, 0, 1]])
MODEL = RobotModel.ur("ur5e", X_EP=X_EP, X_ES=np.eye(4))  # in the URDF: tool0 and probe
MASS = 1.3  # kg
SETTINGS = {
    "tip": "probe",
    "ft_frame": "tool0",
    "payload.mass": MASS,
    "payload.center_of_mass": [0.01, -0.02, 0.06],
    "payload.force_bias": [1.5, -2.0, 3.0],
    "payload.torque_bias": [0.05, -0.1, 0.02],
    "admittance.filter_cutoff_hz": 15.0,
    "admittance.deadband_force": 2.0,
    "admittance.deadband_torque": 0.2,
    "safety.joint_timeout": 2.0,
    "safety.wrench_timeout": 2.0,
    "safety.lost_timeout": 10.0,
}
PERIOD = 2_000_000  # ns

pytestmark = pytest.mark.slow


class Sensor:
    """A raw sensor and an arm that the test plays, in step with the node: on a clock that stands
    still unless the test lets time pass.
    """

    def __init__(self, graph: Graph, config: Path) -> None:
        description = graph.node.create_publisher(String, "/robot_description", LATCHED)
        description.publish(String(data=MODEL.to_urdf()))
        self.clock = graph.simulate_time()
        self.process = graph.start("wrench-ros2", "--config", str(config), "--json")
        self.graph, self.stamp = graph, 10**18
        self.at_sensor = graph.hear(WrenchStamped, "/netft/proc_sensor", 10)
        self.at_probe = graph.hear(WrenchStamped, "/netft/proc_probe", 10)
        self.joints = graph.publisher(JointState, "/joint_states")
        self.raw = graph.publisher(WrenchStamped, "/netft/raw_sensor")
        # It is refused, and shows that the node knows all of the above: DDS tells of it in order.
        assert not self.tare(graph.insist).success

    def stand(self, q: np.ndarray) -> None:
        """Be at `q`, joints listed backwards, and return when the node has seen it."""
        self.clock.words[1] += 1  # joint states sent, as the clock counts them
        names, angles = MODEL.joint_names[::-1], q[::-1].tolist()
        self.joints.publish(JointState(name=names, position=angles))
        self.graph.until(lambda: self.clock.slot(0)[0] == self.clock.words[1])

    def be_back(self) -> None:
        """After a jump of the clock, in which the node sees a pause of its own: let it see, too,
        that time goes on.
        """
        self.stand(MODEL.home)
        self.clock.advance(0.03)
        self.stand(MODEL.home)

    def send(self, sample: np.ndarray) -> None:
        message = WrenchStamped(wrench=Wrench())
        self.stamp += PERIOD
        message.header.stamp.sec, message.header.stamp.nanosec = divmod(self.stamp, 10**9)
        wire.fill_wrench(message.wrench, sample)
        self.raw.publish(message)

    def answer(self, sample: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What comes out for a sample: F_S and F_P."""
        count = len(self.at_sensor), len(self.at_probe)
        self.send(sample)
        self.graph.until(lambda: len(self.at_sensor) > count[0] and len(self.at_probe) > count[1])
        last = self.at_sensor[-1], self.at_probe[-1]
        assert last[0].header.stamp == last[1].header.stamp
        F_S, F_P = (np.array(wire.six_of_wrench(message.wrench)) for message in last)
        return F_S, F_P

    def tare(self, ask: Any = None) -> Any:
        """The answer of the service, for which time has to pass: joints must be told again."""
        self.graph.arm_is_dead(True)
        answer = (ask or self.graph.call)(Trigger, "/wrench_node/tare", Trigger.Request())
        self.graph.arm_is_dead(False)
        return answer

    def end(self) -> tuple[dict[str, int], str]:
        """End the process as Ctrl-C does: its summary, and what it said."""
        self.process.send_signal(signal.SIGINT)
        out, err = self.process.communicate(timeout=PATIENCE)
        assert self.process.returncode == 0, err
        return json.loads(out), err


def weight(q: np.ndarray) -> np.ndarray:
    """What the tool of `SETTINGS` weighs, N, in sensor axes, which are the flange's."""
    R_WE = MODEL.with_tool(np.eye(4)).fk(q)[:3, :3]
    return R_WE.T @ np.array([0.0, 0.0, -9.81 * MASS])


def written(folder: Path, **changes: object) -> Path:
    file = folder / "wrench.yaml"
    file.write_text(Config.from_dict({**SETTINGS, **changes}).to_yaml("ros2"), "utf-8")
    return file


def test_its_numbers_are_those_of_the_tick_bit_for_bit(graph: Graph, tmp_path: Path):
    sensor = Sensor(graph, written(tmp_path))
    config = Config.from_dict(SETTINGS)
    model = wire.model_from(MODEL.to_urdf(), config)  # as the node has it, to the last bit
    active, idle = Controller(model, config), Controller(model, config)
    for controller in (active, idle):
        controller.activate(MODEL.home)
    idle.deactivate()  # it may be somewhere else all of a sudden
    rng = np.random.default_rng(4)
    elsewhere = MODEL.home + np.array([0.3, 0.2, -0.4, 0.5, 0.6, 0.7])
    for q, controllers in ((MODEL.home, (active, idle)), (elsewhere, (idle,))):
        sensor.stand(q)
        for _ in range(60):
            sample = rng.normal(0, [8, 8, 8, 1, 1, 1])
            F_S, F_P = sensor.answer(sample)
            assert np.abs(F_P).max() > 0
            for controller in controllers:
                out = controller.update(q, sample, 1e-9 * PERIOD)
                np.testing.assert_array_equal(F_S, out["F_S"])
                np.testing.assert_array_equal(F_P, out["F_P"])
    assert sensor.at_sensor[-1].header.frame_id == "tool0"
    assert sensor.at_probe[-1].header.frame_id == "probe"
    ended, _ = sensor.end()
    assert ended == {"published": 120, "dropped": 0}


def test_it_is_silent_without_good_joints_and_good_samples(graph: Graph, tmp_path: Path):
    """So that whoever listens sees the wrench grow old, and stops."""
    sensor = Sensor(graph, written(tmp_path))
    push = np.array([20.0, 0, 0, 0, 0, 0])
    sensor.send(push)
    graph.until_said("nothing published: /joint_states: no joint angles yet")
    sensor.stand(MODEL.home)
    sensor.answer(push)
    sensor.send(np.full(6, np.nan))
    sensor.answer(push)  # in order: that one has not come out
    sensor.clock.advance(3.0)  # the joints are too old
    sensor.send(push)
    graph.until_said("joints_stale")
    sensor.be_back()
    sensor.answer(push)
    assert len(sensor.at_probe) == 3
    ended, _ = sensor.end()
    assert ended == {"published": 3, "dropped": 2}


def test_a_wrench_that_waited_too_long_is_not_passed_on_as_if_it_were_new(
    graph: Graph, tmp_path: Path
):
    sensor = Sensor(graph, written(tmp_path, **{"safety.joint_timeout": 9.0}))
    push = np.array([20.0, 0, 0, 0, 0, 0])
    sensor.stand(MODEL.home)
    sensor.answer(push)
    sensor.process.send_signal(signal.SIGSTOP)
    sensor.send(push)
    sensor.clock.advance(3.0)
    sensor.process.send_signal(signal.SIGCONT)
    graph.until_said("nothing published: wrench_stale")
    sensor.be_back()
    sensor.answer(push)
    ended, _ = sensor.end()
    assert ended == {"published": 2, "dropped": 1}


def test_tare_takes_what_the_sensor_feels_as_its_bias_but_not_the_weight(
    graph: Graph, tmp_path: Path
):
    sensor = Sensor(graph, written(tmp_path, **{"payload.force_bias": [0.0, 0.0, 0.0]}))
    rng = np.random.default_rng(5)
    untouched = np.array([7.0, -5.0, 4.0, 0.3, 0.2, 0.1])
    untouched[LINEAR] += weight(MODEL.home)

    def feel(wrench: np.ndarray, count: int) -> np.ndarray:
        noise = rng.normal(0, [0.2] * 3 + [0.01] * 3, (count, 6))
        return np.array([sensor.answer(wrench + each)[0] for each in noise])

    sensor.stand(MODEL.home)
    assert np.linalg.norm(feel(untouched, 20)[-1][LINEAR]) > 5.0
    early = sensor.tare()
    assert not early.success and "20 samples so far, 250 are needed" in early.message
    sensor.stand(MODEL.home)
    feel(untouched, 250)
    done = sensor.tare()
    assert done.success, done.message
    sensor.stand(MODEL.home)
    assert not feel(untouched, 100)[-1].any()  # all of it is inside the deadband
    push = np.array([0, 0, 12.0, 0, 0, 0])
    np.testing.assert_allclose(feel(untouched + push, 100)[-20:, 2].mean(), 10.0, atol=0.3)
    pushed = sensor.tare()
    assert not pushed.success and "let go of the tool" in pushed.message


def test_what_it_cannot_compensate_is_refused_at_the_start(graph: Graph, tmp_path: Path):
    file = written(tmp_path, **{"payload.compensate_inertia": True})
    process = graph.start("wrench-ros2", "--config", str(file), "--model", "ur5e")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2
    assert "probe" in err  # a bare arm has no such frame
    file.write_text(file.read_text("utf-8").replace("tip: probe", "tip: tool0"), "utf-8")
    process = graph.start("wrench-ros2", "--config", str(file), "--model", "ur5e")
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 2 and "compensate_inertia" in err
