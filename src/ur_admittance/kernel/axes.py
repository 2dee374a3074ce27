"""The axes L of the law: those of D or of W, turned by an orientation of their own."""

from __future__ import annotations

from ur_admittance.kernel import bits
from ur_admittance.kernel.compile import jit
from ur_admittance.kernel.spatial import multiply, quaternion, rotate, rotate_back


@jit
def law_axes(p, s):
    """wxyz_WL."""
    if p.frame == bits.PROBE:
        return multiply(quaternion(s.wxyz_WD), quaternion(s.wxyz_task))
    return quaternion(s.wxyz_task)


@jit
def to_law(p, s, a):
    """A vector in W axes, in the axes of the law."""
    return rotate_back(law_axes(p, s), a)


@jit
def to_world(p, s, a):
    """A vector in the axes of the law, in W axes."""
    return rotate(law_axes(p, s), a)
