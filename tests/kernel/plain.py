"""The kernel as plain Python: its steps one by one, on records, without a compiler's minute.

That compiled and plain code do the same is what `tests/test_plain_python.py` shows.
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np

import ur_admittance
from tests.support import arm, free_config
from ur_admittance import Config, RobotModel
from ur_admittance.controller.packing import pack
from ur_admittance.kernel import bits, layout

PACKAGE = "ur_admittance.kernel"


@cache
def _modules() -> dict[str, ModuleType]:
    """A second copy of the kernel's modules, made while Numba is switched off."""
    kept = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(PACKAGE)}
    numba.config.DISABLE_JIT = True  # type: ignore[attr-defined]
    try:
        importlib.import_module(f"{PACKAGE}.tick")
        return {name: sys.modules.pop(name) for name in list(sys.modules) if PACKAGE in name}
    finally:
        numba.config.DISABLE_JIT = False  # type: ignore[attr-defined]
        sys.modules.update(kept)
        ur_admittance.kernel = kept[PACKAGE]  # pyright: ignore[reportAttributeAccessIssue]


def plain(step: str) -> Any:
    """The module of a step, not compiled."""
    return _modules()[f"{PACKAGE}.{step}"]


class Records(NamedTuple):
    """What a step reads and writes."""

    p: Any
    s: Any
    i: Any
    o: Any


@cache
def _free() -> Config:
    return free_config()


@cache
def _packed(config: Config, model: RobotModel) -> np.ndarray:
    return pack(config, model)


def records(
    config: Config | None = None, q: Any = None, model: RobotModel | None = None, **state: Any
) -> Records:
    """The four records of an arm that is active at `q`, with its kinematics; `state` on top."""
    model = model or arm()
    p = _packed(config or _free(), model).copy()[0]  # pyright: ignore[reportArgumentType]
    s, i, o = layout.new_state()[0], layout.new_inputs()[0], layout.new_outputs()[0]
    s.q[:] = s.q_ref[:] = model.home if q is None else q
    s.mode, s.dt, s.dt_prev, s.hold = bits.ACTIVE, p.period, p.period, 5 * p.period
    s.wxyz_WD[0] = s.wxyz_WC[0] = s.wxyz_WG[0] = s.wxyz_offset[0] = 1.0
    s.v_cap, s.w_cap = p.v_max, p.w_max
    s.wall_low[:], s.wall_high[:] = -1e9, 1e9
    i.q[:], i.wrench[:], i.dt = s.q, 0.0, p.period
    i.stop = i.goal_count = 0
    plain("kinematics").kinematics(p, s)
    plain("spatial").set_quaternion(s.wxyz_WP, plain("spatial").quaternion_of(s.R_WP))
    for name, value in state.items():
        setattr(s, name, value)
    return Records(p, s, i, o)
