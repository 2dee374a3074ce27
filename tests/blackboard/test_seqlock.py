"""A writer and a reader on the same few places of memory, both at full speed."""

from __future__ import annotations

import threading

import numba
import numpy as np
import pytest

from ur_admittance.blackboard import seqlock
from ur_admittance.kernel import layout

KINDS = 64


@numba.njit(nogil=True)
def storm(counters, numbers, ring, pool, count):
    """Publish record k as kind k % KINDS, without a pause."""
    for k in range(count):
        kind = k % len(pool)
        seqlock.publish(counters, numbers, ring, pool[kind : kind + 1])


@numba.njit(nogil=True)
def gather(counters, numbers, ring, out, words, count, tally):
    """Copy the newest record until the last; count copies that are kept, refused and wrong."""
    newest = -1
    while newest < count - 1:
        newest = seqlock.load(counters, seqlock.PUBLISHED) - 1
        if newest < 0:
            continue
        if seqlock.collect(numbers, ring, newest, out) == 0:
            tally[1] += 1
            continue
        tally[0] += 1
        for word in words:
            if word != newest % KINDS:
                tally[2] += 1
                break


@pytest.mark.parametrize("places", [1, 2])
def test_a_copy_holds_one_whole_record_however_fast_the_writer_laps_the_ring(places):
    plain = numba.config.DISABLE_JIT  # type: ignore[attr-defined]
    count = 200 if plain else 5_000_000
    pool = np.zeros(KINDS, layout.OUTPUTS)
    pool.view(np.int64).reshape(KINDS, -1)[:] = np.arange(KINDS)[:, np.newaxis]
    counters, numbers, tally = (np.zeros(n, np.int64) for n in (16, places, 3))
    ring, out = np.zeros(places, layout.OUTPUTS), np.zeros(1, layout.OUTPUTS)
    writing, reading = (counters, numbers, ring), (counters, numbers, ring, out, out.view(np.int64))
    storm(*writing, pool, 0)  # compiled before the race
    gather(*reading, 0, tally)
    reader = threading.Thread(target=gather, args=(*reading, count, tally))
    reader.start()
    storm(*writing, pool, count)
    reader.join()
    kept, refused, wrong = tally
    print(f"{kept} copies kept, {refused} refused")
    assert wrong == 0
    assert kept > 0 and counters[seqlock.PUBLISHED] == count


def test_an_unfinished_record_is_not_copied():
    numbers, ring = np.array([2, 3]), np.zeros(2, layout.OUTPUTS)  # record 1 is being written
    assert seqlock.collect(numbers, ring, 0, np.zeros(2, layout.OUTPUTS)) == 1
    assert seqlock.collect(numbers, ring, 1, np.zeros(1, layout.OUTPUTS)) == 0


def test_a_place_that_was_used_again_does_not_pass_for_the_older_record():
    numbers, ring = np.array([6, 4]), np.zeros(2, layout.OUTPUTS)  # records 2 and 1
    assert seqlock.collect(numbers, ring, 0, np.zeros(1, layout.OUTPUTS)) == 0
    assert seqlock.collect(numbers, ring, 1, np.zeros(2, layout.OUTPUTS)) == 2
