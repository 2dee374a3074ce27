"""What the functions of URScript give: registers, strings, state, geometry."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from tests.ur_fake.scripting import failure, machine_at_rest, play, program, said, steps


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ('str_cat("a", 1.5)', "a1.5"),
        ('str_len("abc")', "3"),
        ('str_at("abc", 1)', "b"),
        ('str_find("abcb", "b", 2)', "3"),
        ('str_sub("abcdef", 1, 3)', "bcd"),
        ('str_sub("abcdef", 4)', "ef"),
        ('to_num("2.5") * 2', "5"),
        ("to_str([1, True])", "[1, True]"),
        ('str_empty("")', "True"),
        ("floor(2.7) + ceil(2.1) + round(2.5)", "8"),
        ("norm([3, 4])", "5"),
        ("norm(-3)", "3"),
        ("pow(2, 10)", "1024"),
        ("r2d(pi)", "180"),
        ("d2r(180) == pi", "True"),
        ("binary_list_to_integer(integer_to_binary_list(-5))", "-5"),
        ("get_list_length([1, 2, 3])", "3"),
        ("size([[1, 2, 3], [4, 5, 6]])", "[2, 3]"),
        ("transpose([[1, 2], [3, 4]])", "[[1, 3], [2, 4]]"),
        ("inv([[2, 0], [0, 4]])", "[[0.5, 0], [0, 0.25]]"),
        ("make_list(3, 7)", "[7, 7, 7]"),
        ("max(1, 2.5)", "2.5"),
        ("get_steptime()", "0.002"),
        ("pose_dist(p[0, 0, 0, 0, 0, 0], p[3, 4, 0, 1, 0, 0])", "5"),
    ],
)
def test_a_function_has_its_value(machine, expression, value):
    play(machine, f"textmsg({expression})")
    assert said(machine) == [value]


def test_registers_pass_between_clients_and_scripts(machine):
    machine.input_int[3], machine.input_double[24], machine.input_bit[64] = -7, 2.5, True
    body = "write_output_integer_register(5, read_input_integer_register(3) * 2)\n"
    body += "write_output_float_register(6, read_input_float_register(24))\n"
    body += "write_output_boolean_register(7, read_input_boolean_register(64))"
    play(machine, body)
    assert (machine.output_int[5], machine.output_double[6]) == (-14, 2.5)
    assert machine.output_bit[7] is True


def test_digital_outputs_show_in_the_words_that_rtde_sends(machine):
    body = "set_standard_digital_out(1, True)\nset_configurable_digital_out(0, True)\n"
    play(machine, f"{body}set_tool_digital_out(1, True)\ntextmsg(get_standard_digital_out(1))")
    assert machine.actual_digital_output_bits & 0x3FFFF == 1 << 1 | 1 << 8 | 1 << 17
    assert said(machine) == ["True"]


def test_inputs_are_what_is_wired_to_them(machine):
    machine.set_digital_input("standard", 2, True)
    play(machine, "textmsg(get_standard_digital_in(2), get_standard_digital_in(3))")
    assert said(machine) == ["TrueFalse"]


def test_the_state_is_that_of_the_machine(machine):
    body = "q = get_actual_joint_positions()\nwrite_output_float_register(0, q[1])\n"
    body += "x = get_actual_tcp_pose()\nwrite_output_float_register(1, x[2])\n"
    body += "f = get_forward_kin()\nwrite_output_float_register(2, f[2])"
    play(machine, body)
    assert machine.output_double[0] == pytest.approx(machine.actual_q[1], abs=1e-6)
    assert machine.output_double[1] == pytest.approx(machine.actual_TCP_pose[2], abs=1e-6)
    assert machine.output_double[2] == pytest.approx(machine.actual_TCP_pose[2], abs=1e-6)


def test_a_wrench_moves_to_another_frame_with_its_moment(machine):
    body = "w = wrench_trans(p[0.1, 0, 0, 0, 0, 1.2], [1, 2, 3, 0.1, 0.2, 0.3])\nn = 0\n"
    play(machine, f"{body}while n < 6:\n write_output_float_register(n, w[n])\n n = n + 1\nend")
    R = Rotation.from_rotvec([0, 0, 1.2]).as_matrix()
    moment = np.array([0.1, 0.2, 0.3]) - np.cross([0.1, 0, 0], [1, 2, 3])
    expected = [*(R.T @ [1, 2, 3]), *(R.T @ moment)]
    np.testing.assert_allclose(machine.output_double[:6], expected)


def test_inverse_kinematics_give_back_the_joints(machine):
    body = "q = get_target_joint_positions()\nx = get_forward_kin(q)\nr = get_inverse_kin(x, q)\n"
    body += "textmsg(norm(r - q) < 0.000001)\ntextmsg(get_inverse_kin_has_solution(x))\n"
    play(machine, f"{body}textmsg(get_inverse_kin_has_solution(p[5, 0, 0, 0, 0, 0]))")
    assert said(machine) == ["True", "True", "False"]


def test_a_blocking_popup_waits_for_a_person(machine):
    machine.load_script(program('popup("Careful", title="Stop", blocking=True)\nsync()'))
    steps(machine, 50)
    assert machine.popup.text == "Careful" and machine.program_state == "PLAYING"
    machine.close_popup()
    steps(machine, 3)
    assert machine.program is None


@pytest.mark.parametrize(("action", "state"), [("stop", "STOPPED"), ("pause", "PAUSED")])
def test_the_watchdog_acts_when_an_input_is_not_sent_in_time(machine, action, state):
    machine.load_script(
        program(f'rtde_set_watchdog("input_int_register_0", 10, "{action}")\nsleep(100)')
    )
    for _ in range(200):  # fed at 500 Hz
        machine.input_seen["input_int_register_0"] = machine.time
        machine.step()
    assert machine.program_state == "PLAYING"
    steps(machine, 45)
    assert machine.program_state == "PLAYING"  # 90 of 100 ms
    steps(machine, 10)
    assert machine.program_state == state
    machine.stop_program()


def test_a_watchdog_counts_from_when_it_is_set(machine):
    machine.input_seen.clear()
    cycles = play(machine, 'rtde_set_watchdog("input_int_register_0", 10, "stop")\nsleep(9)')
    assert 49 <= cycles <= 53


def test_the_tcp_and_payload_of_a_script_are_those_of_the_machine():
    machine = machine_at_rest()
    play(machine, "set_tcp(p[0, 0, 0.1, 0, 0, 0])\nset_payload(1.5, [0, 0, 0.05])")
    assert machine.tcp_offset.tolist() == [0, 0, 0.1, 0, 0, 0]
    assert machine.payload == 1.5 and machine.payload_cog.tolist() == [0, 0, 0.05]
    play(machine, "set_target_payload(2, [0, 0, 0.1], [1, 1, 1, 0, 0, 0])\nset_gravity([0, 0, 1])")
    assert machine.payload_inertia.tolist() == [1, 1, 1, 0, 0, 0]
    assert machine.gravity.tolist() == [0, 0, 1]


def test_a_payload_that_no_arm_carries_is_refused(machine):
    play(machine, "set_payload(1000)")
    assert "0 to 50 kg" in failure(machine)[0]


def test_history_tells_where_the_joints_were():
    machine = machine_at_rest()
    machine.load_script(program("speedj([0.2, 0, 0, 0, 0, 0], 5, 1)"))
    steps(machine, 300)
    before = machine.actual_q[0]
    steps(machine, 51)
    machine.load_script(
        program("h = get_actual_joint_positions_history(50)\nwrite_output_float_register(0, h[0])")
    )
    machine.step()
    assert machine.output_double[0] == pytest.approx(before, abs=0.0006)
    assert math.isfinite(before) and before > 0.05
