"""The newest state in a stream: whole ones are believed, and nothing that comes in is raised at."""

from __future__ import annotations

import random
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.robots.rtde.fuzz import FRAME, LAYOUT, SIZE, frame, judged, mutated, stream_of
from ur_admittance.robots.rtde import protocol
from ur_admittance.robots.rtde.stream import Stream


def fed(stream: Stream, data: bytes, pieces: int = 1 << 20) -> int:
    """How many states a stream finds in bytes that come in pieces."""
    good = 0
    for at in range(0, len(data), pieces):
        part = data[at : at + pieces]
        stream.space[: len(part)] = part
        good += stream.took(len(part))
    return good


def time_of(stream: Stream) -> float:
    return struct.unpack_from(">d", stream.newest)[0]


@pytest.mark.parametrize("pieces", [1, 3, 4, 7, FRAME - 1, FRAME, FRAME + 1, 10_000])
def test_states_are_found_however_they_are_cut(pieces):
    stream = stream_of()
    assert fed(stream, b"".join(frame(n) for n in range(1, 21)), pieces) == 20
    assert time_of(stream) == 20
    assert stream.bad == 0


def test_of_many_states_the_newest_counts():
    stream = stream_of()
    assert fed(stream, frame(1) + frame(2) + frame(3)) == 3
    assert time_of(stream) == 3


def test_a_text_between_states_is_heard():
    words = b"\x05hello\x02UR\x03"
    stream = stream_of()
    assert fed(stream, frame(1) + protocol.frame(protocol.TEXT, words) + frame(2)) == 2
    assert stream.said == "UR: hello" and stream.bad == 0


@pytest.mark.parametrize("cut", [1, 2, 3, 4, 5, 8, 50, SIZE, FRAME - 1])
def test_a_state_cut_short_costs_itself_alone(cut):
    stream = stream_of()
    assert fed(stream, frame(1) + frame(2)[:-cut] + frame(3) + frame(4), FRAME) == 3
    assert time_of(stream) == 4
    assert stream.bad >= 1


@pytest.mark.parametrize("cut", [1, 4, 8, 100])
def test_a_state_cut_short_is_not_completed_with_the_next_one(cut):
    """Not even where its contents could be true: what follows it must look like a frame."""
    shown: list[float] = []

    def believe(contents: memoryview) -> bool:
        shown.append(struct.unpack_from(">d", contents)[0])
        return True

    stream = Stream(1, SIZE, believe)
    fed(stream, frame(1) + frame(2)[:-cut] + frame(3) + frame(4))
    assert shown == [1, 3, 4]


@pytest.mark.parametrize("bit", range(32))
def test_a_flipped_bit_in_a_header_costs_no_more_than_two_states(bit):
    broken = bytearray(frame(2))
    broken[bit // 8] ^= 1 << bit % 8
    stream = stream_of()
    following = b"".join(frame(n) for n in range(3, 9))
    assert fed(stream, frame(1) + bytes(broken) + following, FRAME) >= 5
    assert time_of(stream) == 8
    assert stream.bad >= 1


def test_contents_that_are_not_believed_are_counted():
    stream = stream_of()
    assert fed(stream, frame(1) + frame(float("nan")) + frame(2)) == 2
    assert stream.bad == 1


@given(st.binary(max_size=3000), st.integers(1, 400))
def test_any_bytes_are_survived_and_a_good_state_is_found_after_them(noise, pieces):
    stream = stream_of()
    fed(stream, noise, pieces)
    fed(stream, frame(1) + frame(2) + frame(3) + frame(4) + frame(5), FRAME)
    assert time_of(stream) == 5


def test_twenty_thousand_mutated_states_are_survived():
    """`python -m benchmarks.rtde_soak` sends a million."""
    rng, stream = random.Random(0), stream_of()
    for n in range(20_000):
        fed(stream, mutated(rng, n + 1))
    stream.bad = 0
    assert fed(stream, b"".join(frame(30_000 + n) for n in range(10)), FRAME) >= 8
    assert time_of(stream) == 30_009


INF = float("inf")


@pytest.mark.parametrize("odd", [(INF, -INF), (1.7e308, 1.7e308), (float("nan"), 0.0)])
def test_numbers_that_cannot_be_added_up_are_not_believed(odd: tuple[float, float]):
    stream, states = judged()
    assert fed(stream, frame(1.0)) == 1
    values = [2.0, *odd, *[0.1] * 17, 7, 1, 1, 2, 3, 1, 9, 0, 4]
    assert fed(stream, protocol.frame(protocol.DATA, b"\x01" + LAYOUT.pack(*values))) == 0
    assert stream.bad == 1 and states.time == 1.0
    assert fed(stream, frame(3.0)) == 1


def test_what_the_robot_s_judge_takes_from_broken_states_are_numbers():
    """`benchmarks.rtde_soak` does it a million times."""
    rng, (stream, states) = random.Random(1), judged()
    for n in range(3000):
        if fed(stream, mutated(rng, n + 1), FRAME) and states.fresh:
            states.take()
            assert np.isfinite([*states.q, *states.qd, *states.wrench]).all()
            assert states.status.plausible and 0.0 <= states.scaling <= 1.0
