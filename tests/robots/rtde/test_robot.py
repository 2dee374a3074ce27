"""An arm over RTDE: the contract of every robot, over real sockets."""

from __future__ import annotations

import socket
import threading
import time

import numpy as np
import pytest

from tests.robots.contract import RobotContract
from tests.robots.rtde.support import PumpedSocket, connected, controller, driven, rtde_robot
from tests.support import ANGULAR, LINEAR
from ur_admittance import Config, RobotError, RobotModel
from ur_admittance.chain import AdmittanceLink, ControllerManager, PolicyLink, VelocityForward
from ur_admittance.config.validate import pose_of
from ur_admittance.controller.at_rest import expected
from ur_admittance.controller.packing import pack
from ur_admittance.robots.base import Robot
from ur_admittance.robots.rtde.inspection import NotReady
from ur_admittance.robots.rtde.primary import Arm
from ur_admittance.robots.rtde.robot import RtdeRobot
from ur_admittance.robots.sim.scene import Tool
from ur_admittance.run import run
from ur_fake.server import Controller

pytest.importorskip("mujoco")


class TestRtdeKeepsTheContract(RobotContract):
    """The controller lives as long as the test class: a robot that connects finds it as it is."""

    @pytest.fixture(autouse=True)
    def _controller(self):
        self.controller = Controller(ports=None)
        yield
        self.controller.close()

    def make(self) -> Robot:
        fake = self.controller
        return RtdeRobot(
            "127.0.0.1",
            ports={name: fake.ports[name] for name in ("rtde", "primary", "dashboard")},
            make=lambda address, seconds: PumpedSocket(fake, address),
            clock=lambda: fake.machine.time,
        )


def test_its_model_is_the_calibrated_arm_in_the_controllers_frame():
    """W is `base`; the pose that the controller reports is the one that we compute."""
    with controller(faults=["identity:calibration=3"]) as fake:
        fake.machine.set_tcp([0.01, -0.02, 0.15, 0.3, -0.2, 0.1])
        fake.machine.hand_move([0.4, -1.2, 1.3, -1.8, -1.4, 0.6])
        with rtde_robot(fake) as robot:
            X_WP, due = robot.model.fk(robot.look().q), fake.machine.actual_TCP_pose
            np.testing.assert_allclose(X_WP, pose_of(due), atol=1e-5)
            nominal = RobotModel.ur("ur5e", base="base", X_EP=robot.model.X_EP)
            assert np.abs(nominal.fk(robot.look().q) - X_WP).max() > 1e-4
            assert robot.model.base == "base" and robot.model.name == "ur5e"


@pytest.mark.parametrize("arm", RobotModel.arms())
def test_every_arm_is_known_by_what_its_controller_says(arm: str):
    with controller(model=arm) as fake, rtde_robot(fake) as robot:
        assert robot.model.name == arm
        nominal = RobotModel.ur(arm, base="base")
        np.testing.assert_allclose(robot.model.X_chain, nominal.X_chain, atol=1e-9)
        np.testing.assert_allclose(robot.model.qd_max, nominal.qd_max)


def test_raw_and_compensated_wrenches_say_the_same_of_a_push():
    """At P in W axes, less the tool's weight; the push is what the world does to the tool."""
    push = np.array([3.0, -7.0, 11.0, 0.2, -0.4, 0.1])
    mass, com = 1.2, np.array([0.01, 0.02, 0.05])
    felt = []
    for compensated in (False, True):
        tool = Tool(mass=mass, com=tuple(com))
        with controller(tool=tool, noise=(0.0, 0.0)) as fake:
            machine = fake.machine
            machine.payload, machine.payload_cog[:] = mass, com
            machine.gravity[:] = [0.0, 0.0, 9.81]
            machine.set_tcp([0.0, 0.03, 0.1, 0.2, 0.1, -0.3])
            machine.hand_move([0.4, -1.2, 1.3, -1.8, -1.4, 0.6])
            fake._push(push.tolist(), 100.0)
            config = (
                Config()
                if compensated
                else Config.from_dict(
                    {"payload.mass": mass, "payload.center_of_mass": com.tolist()}
                )
            )
            with rtde_robot(fake, config=config, compensated=compensated) as robot:
                for _ in range(300):
                    state = robot.wait()
                model, wrench = robot.model, state.wrench.copy()
                assert robot.wrench_compensated is compensated
                left = wrench - expected(model, pack(config, model), state.q)
                X_WS = model.fk(state.q) @ np.linalg.inv(model.X_EP) @ model.X_ES
                f, t = X_WS[:3, :3] @ left[LINEAR], X_WS[:3, :3] @ left[ANGULAR]
                t = t + np.cross(X_WS[:3, 3] - model.fk(state.q)[:3, 3], f)
                felt.append(np.concatenate([f, t]))
                np.testing.assert_allclose(f, push[LINEAR], atol=0.05)
    np.testing.assert_allclose(felt[0], felt[1], atol=0.05)


def test_an_old_version_has_its_compensated_wrench_and_wants_no_payload_of_ours():
    with controller(faults=["identity:version=5.8.0"]) as fake:
        with rtde_robot(fake) as robot:
            assert robot.wrench_compensated and robot.wrench_frame == "tcp"
        heavy = Config.from_dict({"payload.mass": 1.0})
        with pytest.raises(NotReady, match="takes the payload out of the wrench by itself"):
            rtde_robot(fake, config=heavy).connect()


def test_a_cb3_is_asked_for_125_hertz():
    with controller(faults=["identity:version=3.15.0"]) as fake, rtde_robot(fake) as robot:
        assert robot.rate == 125.0 and robot.wrench_compensated
        assert robot.model.name == "ur5", "its arms share numbers with newer ones"
        first = robot.wait().cycle
        assert robot.wait().cycle == first + 1


def test_the_slider_goes_down_and_up_again_without_a_lunge():
    """Row 40 of the faults: the law does not run ahead of an arm that is slowed."""
    with driven() as (robot, fake, admittance):
        seen: list[tuple[float, float, float]] = []

        def each(state, out) -> None:
            tick = int(out["tick"])
            if tick == 2:
                fake.push(12.0)
            if tick in (400, 900):
                fake.machine.set_speed_slider(0.1 if tick == 400 else 1.0)
            seen.append((tick, state.speed_scaling, fake.speed))

        summary = run(robot, admittance, seconds=3.0, each=each)
        assert summary.mode == "inactive", summary.reason
        speeds = np.array(seen)
        steady = speeds[300:400, 2].mean()
        slow, back = speeds[(speeds[:, 0] > 700) & (speeds[:, 0] < 900), 2], speeds[900:, 2]
        assert speeds[:, 1].min() == pytest.approx(0.1, abs=0.01)
        assert slow.max() < 0.3 * steady
        assert back.max() < 1.1 * steady


def test_the_external_control_urcap_fetches_the_program_and_it_runs():
    """A person presses play: the URCap asks port 50002 of this computer for the program."""
    said: list[str] = []
    with controller(states=["local"]) as fake:
        robot = rtde_robot(fake, urcap=0, tell=said.append)
        robot.connect()

        programs: list[str] = []

        def fetch() -> None:
            port = int(said[0].rpartition("port ")[2].rstrip(")"))
            with socket.create_connection(("127.0.0.1", port)) as sock:
                sock.sendall(b"request_program\n")
                text = b""
                while part := sock.recv(65536):
                    text += part
            words = text.decode()
            header = words.partition("# HEADER_BEGIN\n")[2].partition("# HEADER_END\n")[0]
            node = words.partition("# NODE_CONTROL_LOOP_BEGINS\n")[2]
            node = node.partition("# NODE_CONTROL_LOOP_ENDS\n")[0]
            programs.append(f"def external():\n{header}\n{node}\nend\n")

        step, pressing = fake.step, threading.Thread(target=fetch)

        def step_and_press() -> None:
            if said and pressing.ident is None:
                pressing.start()
            if programs:
                fake.machine.load_script(programs.pop())
            elif pressing.is_alive():
                time.sleep(0.001)  # let it: it is given a time in the controller's cycles
            step()

        fake.step = step_and_press  # type: ignore[method-assign]
        with robot:
            before = robot.wait().q.copy()
            for _ in range(200):
                robot.send_velocity(np.full(6, 0.1))
                robot.wait()
            assert (robot.wait().q > before + 0.02).all()
        assert fake.machine.program_state == "STOPPED"


def test_only_looking_starts_nothing_and_commands_are_refused():
    with controller() as fake, rtde_robot(fake, watch=True) as robot:
        robot.wait()
        with pytest.raises(RobotError, match="only to look"):
            robot.send_velocity(np.zeros(6))
        assert fake.machine.program_state == "STOPPED"


def test_a_caller_that_is_late_gets_the_newest_state_and_the_number_missed():
    with connected() as (robot, fake):
        first = robot.wait().cycle
        for _ in range(7):
            fake.step()
        state = robot.wait()
        assert state.cycle == first + 7
        assert state.first_time == pytest.approx(robot.clock() - 6 * 0.002)


def test_commands_beyond_the_joints_limits_are_refused_by_the_program_itself():
    """The robot's side does not trust ours."""
    for values, why in (([4.0, 0, 0, 0, 0, 0], "speed beyond"), ([0, 0, 0, 0, 0, 0.5], "range")):
        with connected() as (robot, fake):
            if why == "range":
                fake.machine.hand_move([0, -1.57, 1.57, -1.57, -1.57, 6.27])
            robot.wait()
            for _ in range(30):
                robot.send_velocity(values)
                robot.wait()
            assert why in str(robot.stopped_by), robot.stopped_by
            assert robot.trouble() == robot.stopped_by
            assert np.abs(fake.machine.target_qd).max() < 0.2


def test_the_robot_zeroes_its_own_sensor_unless_something_touches_the_tool():
    """Row 10 of the faults: refused while moving, in contact, or where it would not help."""
    tool = Tool(mass=0.3)
    with controller(tool=tool, noise=(0.0, 0.0)) as fake:
        with rtde_robot(fake, compensated=True) as robot:
            assert abs(robot.look().wrench[LINEAR]).max() > 2.0
            robot.zero()
            assert abs(robot.look().wrench[LINEAR]).max() < 0.1
        fake._push([0.0, 30.0, 0.0, 0.0, 0.0, 0.0], 100.0)
        with rtde_robot(fake, compensated=True) as robot:
            for _ in range(3):
                robot.look()
            with pytest.raises(RobotError, match="does something touch the tool"):
                robot.zero()
        fake._push([0.0] * 6, 0.0)
        with rtde_robot(fake) as robot, pytest.raises(RobotError, match=r"payload\.force_bias"):
            robot.zero()
        with rtde_robot(fake, compensated=True) as robot:
            fake.machine.load_script("def go():\n speedj([0.1, 0, 0, 0, 0, 0], 1, 5)\nend\n")
            for _ in range(100):
                fake.step()
            with pytest.raises(RobotError, match="the arm moves"):
                robot.zero()


def test_a_chain_drives_the_arm_and_what_a_link_asks_for_arrives_there():
    """A policy above the admittance, through our program on the robot."""
    twist = np.array([0.0, 0.05, 0.0, 0.0, 0.0, 0.0])
    with driven() as (robot, fake, admittance):
        manager = ControllerManager(robot.model)
        policy = PolicyLink(lambda t, q, wrench: twist if t < 1.0 else np.zeros(6))
        compliant = AdmittanceLink(admittance, desired=[policy.name])
        manager.load(VelocityForward("admittance"), compliant, policy)
        manager.switch(activate=[policy.name, "admittance", "forward"])
        before = fake.machine.actual_TCP_pose[1]
        summary = run(robot, manager, seconds=2.0)
        assert summary.mode == "inactive", summary.reason
        assert fake.machine.actual_TCP_pose[1] - before == pytest.approx(0.05, abs=0.005)
        assert np.abs(np.diff(fake.target_qd, axis=0)).max() <= 6.2 * 0.002 + 1e-9


def test_no_states_come_while_nobody_reads_them(monkeypatch):
    """A robot ends a connection whose buffer is full: reading it is all that is done meanwhile."""
    going: list[bool] = []
    make = Arm.model

    def model(self: Arm, name: str = "") -> RobotModel:
        going.extend(client.data.started for client in fake.rtde.clients)
        return make(self, name)

    monkeypatch.setattr(Arm, "model", model)
    with controller() as fake, rtde_robot(fake):
        assert going == [False]
