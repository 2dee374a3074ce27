"""Numbers and transforms that come from outside, checked and put into shape."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.errors import ModelError

NEARLY = 1e-3  # how far a rotation, quaternion or axis may be from exact and still be put right


def as_transform(value: ArrayLike, name: str) -> np.ndarray:
    """`value` as a read-only rigid transform (4, 4), or a ModelError that calls it `name`.

    A rotation that is off by no more than 1e-3 (rounded in a file, say) becomes the nearest one.
    """
    X = as_numbers(value, name, (4, 4))
    if X[3].tolist() != [0, 0, 0, 1]:
        raise ModelError(f"{name}: the last row is {X[3].tolist()}; it must be [0, 0, 0, 1]")
    R = X[:3, :3]
    if _is_rotation(R.tolist()):  # as planners send it every cycle: nothing to put right
        return X
    U, _, Vt = np.linalg.svd(R)
    mirrors = np.linalg.det(U @ Vt) < 0
    R_nearest = (U * (1, 1, -1 if mirrors else 1)) @ Vt
    off = float(np.abs(R - R_nearest).max())
    if not off <= NEARLY:
        hint = "it mirrors: its determinant is below 0" if mirrors else "are its rows of length 1?"
        raise ModelError(
            f"{name}: its upper left 3x3 block is {off:.3g} from the nearest rotation; at most "
            f"{NEARLY} is put right ({hint})"
        )
    if off > 1e-12:
        X = X.copy()
        X[:3, :3] = R_nearest
    return frozen(X)


def _is_rotation(R: list[list[float]]) -> bool:
    """Whether the rows are of length 1, square to each other and right-handed, to rounding."""
    (a, b, c), (d, e, f), (g, h, i) = R
    return (
        abs(a * a + b * b + c * c - 1) < 1e-13
        and abs(d * d + e * e + f * f - 1) < 1e-13
        and abs(g * g + h * h + i * i - 1) < 1e-13
        and abs(b * f - c * e - g) < 1e-13
        and abs(c * d - a * f - h) < 1e-13
        and abs(a * e - b * d - i) < 1e-13
    )


def transform(position: ArrayLike = (0, 0, 0), wxyz: ArrayLike = (1, 0, 0, 0)) -> np.ndarray:
    """The transform (4, 4) with origin `position` (3,) m and the unit quaternion `wxyz`."""
    p = as_numbers(position, "position", (3,))
    quaternion = as_numbers(wxyz, "orientation (w, x, y, z)", (4,))
    norm = float(np.linalg.norm(quaternion))
    if not abs(norm - 1) <= NEARLY:
        raise ModelError(
            f"orientation (w, x, y, z): {quaternion.tolist()} has length {norm:.6g}; it must be a "
            "quaternion of length 1, such as [1, 0, 0, 0] for no rotation"
        )
    w, x, y, z = quaternion / norm
    X = np.eye(4)
    X[:3, 3] = p
    X[0, :3] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    X[1, :3] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    X[2, :3] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)
    return X


def as_numbers(value: Any, name: str, shape: tuple[int, ...], *, finite: bool = True) -> np.ndarray:
    """`value` as a read-only float array without NaN, or a ModelError that calls it `name`."""
    expected = "a number" if shape == () else f"{' x '.join(map(str, shape))} numbers"
    try:
        array = np.asarray(value)
    except ValueError:
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise ModelError(f"{name}: expected {expected}, got {value!r:.200}")
    if array.shape != shape:
        raise ModelError(f"{name}: expected {expected}, got an array of shape {array.shape}")
    if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
        raise ModelError(f"{name}: every number must be finite, got {array.tolist()}")
    return frozen(array)


def did_you_mean(word: str, words: Iterable[str]) -> str:
    """A question to end a message with; nothing if no word is close."""
    close = difflib.get_close_matches(word, list(words), n=1)
    return f" Did you mean {close[0]!r}?" if close else ""


def frozen(value: ArrayLike) -> np.ndarray:
    """A read-only float copy."""
    array = np.array(value, dtype=np.float64, order="C")
    array.flags.writeable = False
    return array


def pose(xyz: Sequence[float], roll: float = 0, pitch: float = 0, yaw: float = 0) -> np.ndarray:
    """URDF's origin (4, 4): `xyz` m, and turns [rad] about the fixed x, then y, then z axis."""
    half = (roll / 2, pitch / 2, yaw / 2)
    (cr, cp, cy), (sr, sp, sy) = map(math.cos, half), map(math.sin, half)
    return transform(
        xyz,
        (
            cr * cp * cy + sr * sp * sy,
            sr * cp * cy - cr * sp * sy,
            cr * sp * cy + sr * cp * sy,
            cr * cp * sy - sr * sp * cy,
        ),
    )
