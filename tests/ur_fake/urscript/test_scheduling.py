"""Threads, and what a cycle costs."""

from __future__ import annotations

import pytest

from tests.ur_fake.scripting import failure, play, program, said, steps


@pytest.mark.parametrize(
    ("body", "cycles"),
    [
        ("x = 1", 1),
        ("sync()", 2),
        ("sync()\nsync()\nsync()", 4),
        ("sleep(0.1)", 51),
        ("n = 0\nwhile n < 50:\n n = n + 1\nend", 1),
        ("n = 0\nwhile n < 50:\n n = n + 1\n sync()\nend", 51),
        ("speedj([0, 0, 0, 0, 0, 0], 1, 0.1)", 51),
        ("speedj([0, 0, 0, 0, 0, 0], 1, 0.002)", 2),
        ("servoj(get_joint_positions(), t=0.008)", 5),
        ("stopj(1)", 2),
    ],
)
def test_a_command_takes_its_cycles_and_the_rest_takes_none(machine, body, cycles):
    assert play(machine, body) == cycles


def test_threads_take_turns_in_every_cycle(machine):
    body = "a = 0\nb = 0\nthread t():\n while True:\n  a = a + 1\n  sync()\n end\nend\n"
    play(machine, f"{body}h = run t()\nwhile b < 10:\n b = b + 1\n sync()\nend\ntextmsg(a, b)")
    assert said(machine) == ["1010"]


def test_a_thread_runs_in_the_cycle_that_starts_it(machine):
    machine.messages.clear()
    machine.load_script(program('thread t():\n textmsg("t")\nend\nrun t()\nsync()\nsync()'))
    machine.step()
    assert said(machine) == ["t"]
    steps(machine, 3)


def test_a_thread_gets_arguments(machine):
    play(machine, "thread t(a, b=2):\n textmsg(a, b)\nend\nh = run t(1)\njoin h")
    assert said(machine) == ["12"]


def test_join_waits_for_a_thread_and_not_for_one_that_has_ended(machine):
    body = "n = 0\nthread t():\n sleep(0.02)\n n = 1\nend\nh = run t()\njoin h\ntextmsg(n)\n"
    cycles = play(machine, f"{body}join h\njoin 0")
    assert said(machine) == ["1"] and cycles in (11, 12, 13)


def test_kill_ends_a_thread(machine):
    body = "n = 0\nthread t():\n while True:\n  n = n + 1\n  sync()\n end\nend\nh = run t()\n"
    play(machine, f"{body}sleep(0.02)\nkill h\nm = n\nsleep(0.02)\ntextmsg(n == m)\nkill h\nkill 0")
    assert said(machine) == ["True"]


def test_a_thread_may_kill_itself(machine):
    body = "h = 0\nthread t():\n kill h\n textmsg(1)\nend\nh = run t()\nsync()\nsync()\nsync()"
    play(machine, f"{body}\ntextmsg(2)")
    assert said(machine) == ["2"]


def test_the_program_ends_with_its_main_thread(machine):
    assert play(machine, "thread t():\n while True:\n  sync()\n end\nend\nrun t()\nsync()") == 2


def test_halt_in_a_thread_ends_the_program(machine):
    play(machine, "thread t():\n halt\nend\nrun t()\nsleep(10)")
    assert machine.program is None


def test_a_thread_that_waits_inside_a_critical_section_lets_others_run(machine):
    body = "n = 0\nthread t():\n enter_critical\n while True:\n  n = n + 1\n  sync()\n end\nend\n"
    play(machine, f"{body}run t()\nenter_critical\nsleep(0.02)\nexit_critical\ntextmsg(n > 5)")
    assert said(machine) == ["True"]


def test_a_loop_that_never_waits_is_an_infinite_loop(machine):
    play(machine, "x = 0\nwhile True:\n x = x + 1\nend")
    text, line = failure(machine)
    assert text.startswith("infinite loop") and line in (3, 4)


def test_an_infinite_loop_in_a_function_is_found_where_it_is(machine):
    play(machine, "def f():\n while True:\n end\nend\nsync()\nf()")
    assert failure(machine)[1] == 3


def test_an_infinite_loop_does_not_keep_other_threads_from_running(machine):
    body = "n = 0\nthread t():\n while True:\n  n = n + 1\n  sync()\n end\nend\nrun t()\n"
    play(machine, f"{body}x = 0\nwhile n < 30:\n x = x + 1\nend\ntextmsg(n)")
    assert said(machine) == ["30"]


def test_functions_that_call_each_other_for_ever_are_stopped(machine):
    play(machine, "def f(n):\n return f(n + 1)\nend\nf(0)")
    assert "too deeply" in failure(machine)[0]


def test_calls_that_double_at_every_level_are_stopped(machine):
    functions = "def f0():\n return 1\nend\n"
    for n in range(1, 40):
        functions += f"def f{n}():\n return f{n - 1}() + f{n - 1}()\nend\n"
    play(machine, f"{functions}x = f39()")
    assert failure(machine)[0].startswith("infinite loop")


def test_threads_that_start_threads_are_bounded(machine):
    play(machine, "thread t():\n while True:\n  run t()\n  sync()\n end\nend\nrun t()\nsleep(1)")
    assert "threads at most" in failure(machine)[0]


def test_only_one_thread_may_move_the_arm(machine):
    body = "thread t():\n speedj([0, 0, 0, 0, 0, 0], 1, 1)\nend\nrun t()\nsync()\n"
    play(machine, f"{body}stopj(1)")
    assert failure(machine) == ("Another thread is already controlling the robot", 7)


def test_a_killed_thread_lets_go_of_the_arm(machine):
    body = "thread t():\n speedj([0, 0, 0, 0, 0, 0], 1, 1)\nend\nh = run t()\nsync()\n"
    play(machine, f'{body}kill h\nstopj(1)\ntextmsg("done")')
    assert said(machine) == ["done"]


def test_a_secondary_program_runs_beside_the_program_and_must_not_move(machine):
    machine.messages.clear()
    machine.load_script(program("sleep(0.1)", "first"))
    machine.step()
    machine.load_script("sec side():\n set_standard_digital_out(3, True)\nend\n")
    machine.load_script("sec bad():\n stopj(1)\nend\n")
    machine.step()
    assert machine.digital_output("standard", 3)
    assert machine.program_name == "first" and machine.program_state == "PLAYING"
    assert "must not move" in failure(machine)[0]
    machine.stop_program()


def test_what_costs_more_leaves_less_for_the_rest_of_the_cycle(machine):
    cheap = play(machine, "n = 0\nwhile n < 400:\n n = n + 1\nend")
    dear = play(machine, "n = 0\nwhile n < 400:\n n = n + 1\n f = get_forward_kin()\nend")
    dearer = play(machine, "n = 0\nwhile n < 400:\n n = n + 1\n set_tcp(p[0,0,0,0,0,0])\nend")
    assert cheap < dear < dearer


def test_many_busy_threads_share_the_cycle_and_all_get_on(machine):
    body = "d = 0\nthread t():\n k = 0\n while k < 3000:\n  k = k + 1\n end\n d = d + 1\nend\n"
    body += (
        "n = 0\nwhile n < 20:\n run t()\n n = n + 1\nend\nwhile d < 20:\n sync()\nend\ntextmsg(d)"
    )
    play(machine, body)
    assert said(machine) == ["20"]


def test_nobody_runs_while_a_thread_computes_in_a_critical_section(machine):
    body = "n = 0\nthread t():\n while True:\n  n = n + 1\n  sync()\n end\nend\nrun t()\nsync()\n"
    body += "enter_critical\nm = n\nk = 0\nwhile k < 3000:\n k = k + 1\nend\nsame = n == m\n"
    cycles = play(machine, f"{body}exit_critical\ntextmsg(same)")
    assert said(machine) == ["True"] and cycles > 3
