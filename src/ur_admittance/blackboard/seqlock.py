"""How records pass from one process to another without anyone waiting: the compiled copies.

Every record of the ring has a sequence number: odd while the record is being written, even and
known to the reader once it is complete. A reader copies between two looks at the number and keeps
the copy only if both show what it expects, so the writer never waits and a torn copy never passes.
Changes of parameters are numbered, too, and kept in a ring of their own: see `slot`.

Memory order. The writer's stores must be seen in program order (odd number, record, even number,
count) and the reader's loads be done in program order. x86-64 does both in hardware (total store
order), so there only the compiler must be kept from reordering; arm64 does neither. The numbers are
therefore read with acquire and written with release order, and fences of the same kind stand
between number and record. They cost no instruction on x86-64 and become `dmb ishld` and `dmb ish`
on arm64. Aligned words of eight bytes are read and written whole on both.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import extending, types
from numba.core import cgutils
from numba.np import arrayobj

from ur_admittance.kernel.compile import jit

PUBLISHED = 0  # word that counts the records
CHANGES = 0  # word that counts the changes of parameters
DEPTH = 128  # changes that are kept

_intrinsic: Any = extending.intrinsic
_overload: Any = extending.overload


# --- memory order; in plain Python (NUMBA_DISABLE_JIT=1) the interpreter keeps it on x86-64 ---


def _load(words: np.ndarray, i: int) -> int:
    return int(words[i])


def _store(words: np.ndarray, i: int, value: int) -> None:
    words[i] = value


def _fence_acquire() -> None:
    pass


def _fence_release() -> None:
    pass


def _pointer(context, builder, signature, args):
    array = arrayobj.make_array(signature.args[0])(context, builder, args[0])
    return cgutils.get_item_pointer(context, builder, signature.args[0], array, [args[1]])


@_intrinsic
def _load_word(typing, words, i):
    def code(context, builder, signature, args):
        return builder.load_atomic(_pointer(context, builder, signature, args), "acquire", 8)

    return types.int64(words, types.intp), code


@_intrinsic
def _store_word(typing, words, i, value):
    def code(context, builder, signature, args):
        pointer = _pointer(context, builder, signature, args)
        builder.store_atomic(args[2], pointer, "release", 8)
        return context.get_dummy_value()

    return types.void(words, types.intp, types.int64), code


def _fence(order: str):
    @_intrinsic
    def fence(typing):
        def code(context, builder, signature, args):
            builder.fence(order)
            return context.get_dummy_value()

        return types.void(), code

    return fence


_ACQUIRE, _RELEASE = _fence("acquire"), _fence("release")


@_overload(_load, inline="always")
def _compiled_load(words, i):
    return lambda words, i: _load_word(words, i)


@_overload(_store, inline="always")
def _compiled_store(words, i, value):
    return lambda words, i, value: _store_word(words, i, value)


@_overload(_fence_acquire, inline="always")
def _compiled_acquire():
    return lambda: _ACQUIRE()


@_overload(_fence_release, inline="always")
def _compiled_release():
    return lambda: _RELEASE()


# --- the copies ---


@jit(entry=True)
def load(words, i):
    """A word, before anything that is read after it."""
    return _load(words, i)


@jit(entry=True)
def still(words, i, value):
    """Whether a word is what it was, after everything that was read before."""
    _fence_acquire()
    return _load(words, i) == value


@jit(entry=True)
def store(words, i, value):
    """Set a word, after everything that was written before it."""
    _store(words, i, value)


@jit(entry=True)
def publish(counters, numbers, ring, outputs):
    """Append one record to the ring. One writer; it waits for nobody."""
    k = counters[PUBLISHED]
    place = k % len(ring)
    _store(numbers, place, 2 * k + 1)
    _fence_release()
    ring[place] = outputs[0]
    _store(numbers, place, 2 * k + 2)
    _store(counters, PUBLISHED, k + 1)


@jit(entry=True)
def collect(numbers, ring, first, out):
    """Copy records first, first + 1, ... into out, leaving out those that were overwritten before
    or during the copy. Returns how many there are.
    """
    kept = 0
    for k in range(first, first + len(out)):
        place = k % len(ring)
        if _load(numbers, place) == 2 * k + 2:
            out[kept] = ring[place]
            _fence_acquire()
            if _load(numbers, place) == 2 * k + 2:
                kept += 1
    return kept


@jit(entry=True)
def newest(words):
    """The number of the newest change, after everything that was read before."""
    _fence_acquire()
    return _load(words, CHANGES)


@jit(entry=True)
def take(words, records, spare, params):
    """Copy the params record of the newest change, by way of a spare one. Returns its number, or
    -1 if so many came meanwhile that its place was used again, and nothing was taken.
    """
    count = _load(words, CHANGES)
    spare[0] = records[count % len(records)]
    _fence_acquire()
    if _load(words, CHANGES) - count > len(records) - 2:
        return -1
    params[0] = spare[0]
    return count
