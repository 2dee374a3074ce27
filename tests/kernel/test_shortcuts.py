"""What Numba works out once, while our kernel is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numba import types
from numba.core import errors, ir
from numba.core.compiler import run_frontend
from numba.core.registry import cpu_target
from numba.np.numpy_support import from_dtype

from ur_admittance.kernel.shortcuts import shortcuts


def _some(a, b, c):
    total = 0.0
    for k in range(3):
        pair = (a[k] * b, c.x)
        total += max(pair) if k > 1 else -pair[0]
    c.x = total
    return [total, b], {"b": b}


def _listed() -> list[list[str]]:
    blocks = run_frontend(_some).blocks
    return [[v.name for v in stmt.list_vars()] for b in blocks.values() for stmt in b.body]


def _originals() -> tuple:
    context: Any = cpu_target.typing_context
    return (
        "resolve_function_type" in vars(context),
        "resolve_value_type" in vars(context),
        types.Record.__repr__,
        ir.Inst._rec_list_vars,
        errors.termcolor,
    )


def test_variables_of_statements_are_those_that_numba_lists_in_its_order():
    expected = _listed()
    with shortcuts(cpu_target.typing_context):
        listed = _listed()
    assert listed == expected
    assert any(len(names) > 2 for names in listed)


def test_records_and_values_are_the_same_at_the_second_asking():
    context: Any = cpu_target.typing_context
    record = from_dtype(np.dtype([("a", "f8"), ("b", "i8", (3,))]))
    written, typed = repr(record), context.resolve_value_type(1.5)
    with shortcuts(context):
        for _ in range(2):
            assert repr(record) == written
            assert context.resolve_value_type(1.5) == typed


def test_afterwards_numba_is_as_it_was_whatever_happened():
    before = _originals()
    meanwhile: list[tuple] = []

    def fail() -> None:
        with shortcuts(cpu_target.typing_context):
            meanwhile.append(_originals())
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert meanwhile != [before]
    assert _originals() == before


def test_a_numba_that_lacks_such_a_place_is_left_alone(monkeypatch):
    monkeypatch.delattr(ir.Inst, "_rec_list_vars")
    with shortcuts(cpu_target.typing_context):
        assert not hasattr(ir.Inst, "_rec_list_vars")
    assert not hasattr(ir.Inst, "_rec_list_vars")
