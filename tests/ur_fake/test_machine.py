"""The controller as a whole: readings, frames and signs, programs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.ur_fake.scripting import machine_at_rest, play, program, said, steps
from ur_admittance.model import RobotModel
from ur_admittance.robots.sim import Scene, Tool
from ur_admittance.robots.sim.scene import Box
from ur_fake.arm import measure
from ur_fake.identity import Identity
from ur_fake.machine import Machine
from ur_fake.modes import RuntimeState
from ur_fake.urscript import compile_script

HOME_TURNED = np.array([0.4, -1.2, 1.3, -1.9, -1.4, 0.7])


def block(height: float) -> Box:
    """Something to touch, under the tool of an arm at home."""
    return Box((-0.49, -0.13, height - 0.02), (0.3, 0.3, 0.04))


def matrix(pose) -> np.ndarray:
    X = np.eye(4)
    X[:3, :3], X[:3, 3] = Rotation.from_rotvec(pose[3:6]).as_matrix(), pose[0:3]
    return X


# --- readings ---


@pytest.mark.parametrize("name", RobotModel.arms())
def test_the_tool_point_is_where_the_model_has_it_under_the_set_tcp(name):
    machine = machine_at_rest(model=name, q0=HOME_TURNED)
    tcp = [0.02, -0.03, 0.15, 0.4, 0.1, -0.3]
    play(machine, f"set_tcp(p{tcp})")
    model = RobotModel.ur(name, base="base", X_EP=matrix(tcp))
    np.testing.assert_allclose(
        matrix(machine.actual_TCP_pose), model.fk(machine.actual_q), atol=1e-9
    )
    np.testing.assert_allclose(
        matrix(machine.target_TCP_pose), model.fk(machine.target_q), atol=1e-9
    )


def test_the_speed_of_the_tool_point_is_the_change_of_its_pose():
    machine = machine_at_rest(q0=HOME_TURNED)
    machine.set_tcp([0, 0, 0.2, 0, 0, 0])
    machine.load_script(program("speedj([0.3, -0.2, 0.1, 0.4, -0.3, 0.5], a=2, t=2)"))
    steps(machine, 400)
    before = matrix(machine.target_TCP_pose)
    middle = machine.target_TCP_speed.copy()
    steps(machine, 1)
    after = matrix(machine.target_TCP_pose)
    np.testing.assert_allclose((after - before)[:3, 3] / 0.002, middle[:3], atol=2e-3)
    turn = Rotation.from_matrix(after[:3, :3] @ before[:3, :3].T).as_rotvec() / 0.002
    np.testing.assert_allclose(turn, middle[3:], atol=2e-3)


def test_the_elbow_is_where_the_upper_arm_ends():
    """By hand, for a UR5e: d1 = 0.1625 m and a2 = -0.425 m of the maker's table."""
    machine = machine_at_rest(q0=HOME_TURNED)
    turn, lift = HOME_TURNED[:2]
    out = -0.425 * np.cos(lift)
    want = [out * np.cos(turn), out * np.sin(turn), 0.1625 - 0.425 * np.sin(lift)]
    np.testing.assert_allclose(machine.elbow()[0], want, atol=1e-6)
    machine.load_script(program("speedj([0.3, -0.2, 0.1, 0, 0, 0], a=2, t=1)"))
    steps(machine, 300)
    before, speed = machine.elbow()
    steps(machine, 1)
    moved = (np.array(machine.elbow()[0]) - before) / 0.002
    np.testing.assert_allclose(moved, speed, atol=2e-4)
    assert np.linalg.norm(speed) > 0.05


def test_a_calibrated_arm_has_the_chain_that_was_measured():
    delta = 1e-3 * np.random.default_rng(0).standard_normal((4, 6))
    machine = Machine(identity=Identity(calibration=tuple(map(tuple, delta.tolist()))))
    np.testing.assert_allclose(machine.dh - machine.nominal_dh, delta, atol=1e-12)
    np.testing.assert_allclose(
        matrix(machine.actual_TCP_pose), machine.model.fk(machine.actual_q), atol=1e-9
    )
    nominal = RobotModel.ur("ur5e", base="base").fk(machine.actual_q)
    assert 1e-4 < np.linalg.norm(nominal[:3, 3] - machine.actual_TCP_pose[:3]) < 0.02
    assert machine.identity.checksums() != Identity().checksums()


# --- forces: what the world does to the tool ---


def test_a_push_along_the_bases_axes_is_positive_there():
    machine = machine_at_rest(q0=HOME_TURNED, hand=lambda t, X, V: [5.0, -7.0, 9.0, 0, 0, 0])
    steps(machine, 300)
    np.testing.assert_allclose(machine.actual_TCP_force[:3], [5, -7, 9], atol=0.05)
    R_WE = machine.model.fk(machine.actual_q)[:3, :3]
    np.testing.assert_allclose(machine.ft_raw_wrench[:3], R_WE.T @ [5, -7, 9], atol=0.05)


def test_the_torque_is_that_about_the_tool_point():
    machine = machine_at_rest(q0=HOME_TURNED, hand=lambda t, X, V: [10.0, 0, 0, 0, 0, 0])
    machine.set_tcp([0, 0, 0.3, 0, 0, 0])
    steps(machine, 300)
    X = machine.model.fk(machine.actual_q)
    p_PE = -0.3 * X[:3, 2]  # the hand pushes at the flange
    np.testing.assert_allclose(machine.actual_TCP_force[3:], np.cross(p_PE, [10, 0, 0]), atol=0.05)


def test_the_payload_takes_the_weight_of_the_tool_out():
    machine = machine_at_rest(q0=HOME_TURNED, tool=Tool(mass=1.5, com=(0.01, 0.02, 0.06)))
    steps(machine, 50)
    assert np.linalg.norm(machine.ft_raw_wrench[:3]) == pytest.approx(1.5 * 9.81, rel=1e-3)
    assert machine.actual_TCP_force[2] == pytest.approx(-1.5 * 9.81, rel=1e-3)  # it pulls down
    play(machine, "set_payload(1.5, [0.01, 0.02, 0.06])")
    np.testing.assert_allclose(machine.actual_TCP_force, np.zeros(6), atol=0.03)
    assert np.linalg.norm(machine.ft_raw_wrench[:3]) == pytest.approx(1.5 * 9.81, rel=1e-3)


def test_zeroing_takes_out_what_is_felt_now_and_no_more():
    push = [0.0]
    machine = machine_at_rest(hand=lambda t, X, V: [push[0], 0, 0, 0, 0, 0])
    push[0] = 20.0
    steps(machine, 200)
    raw = machine.ft_raw_wrench.copy()
    play(machine, "zero_ftsensor()")
    np.testing.assert_allclose(machine.actual_TCP_force, np.zeros(6), atol=0.05)
    np.testing.assert_allclose(machine.ft_raw_wrench, raw, atol=0.05)
    push[0] = 25.0
    steps(machine, 200)
    assert machine.actual_TCP_force[0] == pytest.approx(5.0, abs=0.1)


def test_a_table_pushes_the_tool_up_and_the_tool_contact_is_counted():
    machine = machine_at_rest(scene=Scene((block(0.40),)))
    body = "n = 0\nwhile tool_contact(direction=[0, 0, -1, 0, 0, 0]) == 0:\n"
    body += " speedl([0, 0, -0.05, 0, 0, 0], a=1, t=get_steptime())\nend\n"
    body += (
        "write_output_integer_register(1, tool_contact(direction=[0, 0, -1, 0, 0, 0]))\nstopl(5)"
    )
    play(machine, body)
    assert machine.safety_mode == 1
    assert machine.actual_TCP_force[2] > 4.0
    assert 1 <= machine.output_int[1] <= 20
    assert machine.actual_TCP_pose[2] == pytest.approx(0.42, abs=0.01)  # the ball has 2 cm


def test_force_mode_pushes_with_the_force_it_is_told():
    machine = machine_at_rest(scene=Scene((block(0.45),)))
    body = "force_mode(p[0,0,0,0,0,0], [0,0,1,0,0,0], [0,0,-15,0,0,0], 2, [0.1,0.1,0.05,1,1,1])\n"
    machine.load_script(program(f"{body}sleep(3)\nend_force_mode()\nsleep(0.2)"))
    steps(machine, 1400)
    assert machine.actual_TCP_force[2] == pytest.approx(15.0, abs=1.0)
    x, y = machine.actual_TCP_pose[:2]
    assert (x, y) == pytest.approx((-0.4919, -0.1333), abs=2e-3)
    steps(machine, 300)
    assert machine.program is None and machine.safety_mode == 1


def test_a_sensor_fault_acts_before_everything_else():
    machine = machine_at_rest()
    machine.sensor_fault = lambda time, wrench: -wrench + [0, 0, 7, 0, 0, 0]
    steps(machine, 2)
    assert machine.ft_raw_wrench[2] == pytest.approx(7, abs=0.01)
    assert machine.actual_TCP_force[2] == pytest.approx(-7, abs=0.01)  # flange z points down


def test_a_client_may_bring_its_own_sensor():
    machine = machine_at_rest()
    machine.external_force_torque[:] = [1, 2, 3, 0, 0, 0]
    play(machine, "ft_rtde_input_enable(True)")
    steps(machine, 1)
    np.testing.assert_allclose(machine.ft_raw_wrench, [1, 2, 3, 0, 0, 0])


def test_moments_hold_the_arm_up():
    machine = machine_at_rest(q0=[0, 0, 0, 0, 0, 0])  # stretched out: all the weight on joint 1
    steps(machine, 10)
    weight = sum(link.mass for link in machine.model.links[1:]) * 9.81
    assert 0.2 * weight < abs(machine.actual_moment[1]) < 0.8 * weight
    np.testing.assert_allclose(machine.target_moment, machine.actual_moment, atol=0.5)
    np.testing.assert_allclose(machine.actual_current, machine.actual_moment / 10.0)


def test_a_slow_arm_comes_later():
    machine = machine_at_rest()
    machine.slowness = 3.0
    machine.load_script(program("speedj([0.3, 0, 0, 0, 0, 0], a=2, t=1)"))
    steps(machine, 400)
    assert 0.01 < machine.target_q[0] - machine.actual_q[0] < 0.1


def test_the_same_script_gives_the_same_run():
    ends = []
    for _ in range(2):
        machine = Machine(seed=3)
        machine.start()
        machine.load_script(program("movej([0.1, -1.5, 1.5, -1.5, -1.5, 0.1])\nx = random()"))
        steps(machine, 400)
        ends.append((*machine.actual_q, *machine.ft_raw_wrench))
    assert ends[0] == ends[1]


# --- programs ---


def test_a_program_says_when_it_starts_and_stops():
    machine = machine_at_rest()
    play(machine, "sync()")
    keys = [(m.title, m.text) for m in machine.messages if m.kind == "key"]
    assert keys == [("PROGRAM_XXX_STARTED", "prog"), ("PROGRAM_XXX_STOPPED", "prog")]


def test_a_new_program_takes_the_place_of_the_running_one():
    machine = machine_at_rest()
    machine.load_script(program("sleep(100)", "first"))
    machine.step()
    machine.load_script(program("sleep(100)", "second"))
    machine.step()
    assert machine.program_name == "second" and machine.runtime_state == RuntimeState.PLAYING
    assert said(machine, "key") == ["first", "first", "second"]


def test_the_states_of_a_program():
    machine = machine_at_rest()
    assert (machine.program_state, machine.runtime_state) == ("STOPPED", RuntimeState.STOPPED)
    assert not machine.resume_program()
    machine.load_script(program("sleep(100)"))
    machine.step()
    assert machine.program_state == "PLAYING" and machine.robot_status_bits == 3
    machine.pause_program()
    assert machine.program_state == "PAUSED" and machine.robot_status_bits == 1
    assert machine.resume_program() and machine.program_state == "PLAYING"
    machine.stop_program()
    assert machine.program_state == "STOPPED"


def test_a_paused_program_does_not_run():
    machine = machine_at_rest()
    machine.load_script(
        program(
            "n = 0\nwhile True:\n n = n + 1\n write_output_integer_register(0, n)\n sync()\nend"
        )
    )
    steps(machine, 10)
    machine.pause_program()
    steps(machine, 10)
    assert machine.output_int[0] == 10
    machine.resume_program()
    steps(machine, 5)
    assert machine.output_int[0] == 15


def test_a_compiled_program_can_be_handed_over_from_another_process():
    machine = machine_at_rest()
    compiled = pickle.loads(pickle.dumps(compile_script(program('textmsg("sent")'))))
    machine.start_program(compiled)
    machine.step()
    assert said(machine) == ["sent"]


def test_messages_that_nobody_fetches_are_bounded():
    machine = machine_at_rest()
    machine.load_script(program('while True:\n textmsg("x")\n textmsg("y")\n sync()\nend'))
    steps(machine, 1500)
    assert len(machine.messages) == 1000


@pytest.mark.skipif(not hasattr(measure.within, "overloads"), reason="nothing is compiled")
def test_nothing_is_left_to_compile_once_the_machine_is_there():
    """A compilation takes seconds, in which a controller would be silent."""
    machine = machine_at_rest()
    functions = (measure.tool_point, measure.felt_wrench, measure.within, measure.approach_pose)
    before = [len(function.overloads) for function in functions]
    assert min(before) == 1
    play(machine, "movel(pose_add(get_target_tcp_pose(), p[0, 0, -0.02, 0, 0, 0]), a=2, v=1)")
    assert [len(function.overloads) for function in functions] == before
