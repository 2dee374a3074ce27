"""No script harms the machine: each runs, fails with a message, or does not compile."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.ur_fake.scripting import machine_at_rest, play, said, steps
from tests.ur_fake.urscript.random_scripts import broken_script, script

CYCLES = 50
seeds = st.integers(0, 2**32)


def survive(machine, text: str) -> None:
    """Play a script for a while; after it the machine must be as good as before."""
    machine.messages.clear()
    loaded = machine.load_script(text)
    steps(machine, CYCLES)
    assert loaded or len(said(machine, "exception")) == 1
    assert np.isfinite(machine.actual_q).all() and np.isfinite(machine.target_TCP_pose).all()
    assert (abs(machine.target_qd) <= 1.07 * machine.safety.limits.joint_speed).all()
    machine.stop_program()
    machine.close_popup()
    machine.unlock_protective_stop()
    steps(machine, 5)
    play(machine, 'textmsg("alive")')
    assert said(machine) == ["alive"]


@settings(max_examples=60)
@given(seeds)
def test_a_random_script_leaves_the_machine_alive(seed):
    survive(machine_at_rest(), script(seed))


@settings(max_examples=40)
@given(seeds)
def test_a_broken_script_leaves_the_machine_alive(seed):
    survive(machine_at_rest(), broken_script(seed))
