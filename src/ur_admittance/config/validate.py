"""Numbers, names and transforms that come from outside: checked and put into shape."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ur_admittance.errors import AdmittanceError, ModelError, RobotError
from ur_admittance.kernel.bounds import FARTHEST, NEARLY

_COUNT = {(): "a number", (2,): "two numbers", (3,): "three numbers", (4,): "four numbers"}
_COUNT |= {(6,): "six numbers"}


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


def pose_of(six: ArrayLike) -> np.ndarray:
    """(4, 4) from m and a rotation vector, rad, as a UR writes poses."""
    values = np.asarray(six, dtype=float)
    X, turn = np.eye(4), values[3:6]
    angle = float(np.linalg.norm(turn))
    x, y, z = turn / angle if angle > 1e-12 else turn
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    X[:3, :3] += math.sin(angle) * K + (1.0 - math.cos(angle)) * K @ K
    X[:3, 3] = values[:3]
    return X


def as_numbers(
    value: Any,
    name: str,
    shape: tuple[int, ...] | None,
    *,
    unit: str = "",
    finite: bool = True,
    nan: bool = False,
    error: type[AdmittanceError] = ModelError,
) -> np.ndarray:
    """`value` as a read-only float array of a shape (None: any), or an error that calls it `name`.

    Infinities are refused unless `finite` is false; with `nan` anything that is a number at all is
    taken, and somebody else judges it.
    """
    count = "numbers" if shape is None else _COUNT.get(shape)
    expected = f"{name}: must be {count or ' x '.join(map(str, shape or ())) + ' numbers'}"
    expected += f" [{unit}]" if unit else ""
    try:
        array = np.asarray(value)
    except (TypeError, ValueError):  # ragged
        array = np.asarray(None)
    if array.dtype.kind not in "iuf":
        raise error(f"{expected}, got {value!r:.200}")
    if shape is not None and array.shape != shape:
        raise error(f"{expected}, got an array of shape {array.shape}")
    if not nan and (np.isnan(array).any() or (finite and not np.isfinite(array).all())):
        raise error(f"{expected}: every number must be finite, got {array.tolist()}")
    return frozen(array)


def within(
    name: str,
    value: Any,
    low: float,
    high: float,
    unit: str = "",
    *,
    above: bool = False,
    error: type[AdmittanceError] = RobotError,
) -> float:
    """`value` as a float from `low` (`above`: beyond it) to `high`, or an error that calls it
    `name`.
    """
    number = float(value) if _is_number(value) else math.nan
    if not ((low < number if above else low <= number) and number <= high):
        allowed = f"above {low:g} and at most {high:g}" if above else f"{low:g} to {high:g}"
        raise error(f"{name}: must be {allowed} {unit}".rstrip() + f", got {value!r:.100}")
    return number


def as_sign(owner: str, value: Any) -> int:
    """`value`, the sign with which `owner` takes its sensor's readings, as 1 or -1."""
    if _is_number(value) and value in (1, -1):
        return int(value)
    raise RobotError(f"{owner}: sign: must be 1 or -1, got {value!r:.100}")


def as_time_from_start(value: Any) -> float:
    """`value`, the time that `send_trajectory` leaves for the way to its point, s."""
    return within("send_trajectory: time_from_start", value, 0.0, 3600.0, "s", above=True)


def six(method: str, name: str, unit: str, value: Any) -> np.ndarray:
    """`value`, which a method of a robot was given as `name`, as six finite numbers."""
    return as_numbers(value, f"{method}: {name}", (6,), unit=unit, error=RobotError)


def sample(name: str, value: Any) -> np.ndarray:
    """`value`, which was measured, as six numbers; NaN and infinities are for the tick to judge."""
    return as_numbers(value, f"update: {name}", (6,), nan=True, error=RobotError)


def seconds(name: str, value: Any) -> float:
    """`value`, a time or an age, as a float; what it may be is for the tick to judge."""
    if _is_number(value):
        return float(value)
    raise RobotError(f"update: {name} must be a number of seconds, got {value!r:.100}")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def desired_pose(X_WD: ArrayLike) -> np.ndarray:
    """A pose that a planner asks for, (4, 4) in W, checked."""
    X = as_transform(X_WD, "X_WD")
    if np.abs(X[:3, 3]).max() > FARTHEST:
        raise ModelError(f"X_WD: at most {FARTHEST:g} m from the base, got {X[:3, 3].tolist()}")
    return X


def suggest(name: str, known: Iterable[str]) -> str:
    """'; did you mean ...?' for the known names closest to a wrong one, or nothing.

    In dotted names the last part counts most: it is what one remembers.
    """
    names, (head, _, tail) = list(known), name.lower().rpartition(".")
    close = [k for k in names if k.rpartition(".")[2] == tail][:3]
    close = [k for k in close if k.rpartition(".")[0] == head] or close
    if not head:
        close = close or difflib.get_close_matches(tail, names, n=1, cutoff=0.8)
    for family in ([k for k in names if k.rpartition(".")[0] == head], names):
        tails = {k.rpartition(".")[2]: k for k in family}
        close = close or [tails[k] for k in difflib.get_close_matches(tail, tails, n=1)]
    return f"; did you mean {' or '.join(close)}?" if close else ""


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


def quaternion_of(X: np.ndarray) -> tuple[float, float, float, float]:
    """The unit quaternion of a pose's rotation, from its largest component on."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = X[:3, :3].tolist()
    squares = (1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz, 1 - xx - yy + zz)
    k = squares.index(max(squares))
    rows = (
        (squares[0], zy - yz, xz - zx, yx - xy),
        (zy - yz, squares[1], xy + yx, xz + zx),
        (xz - zx, xy + yx, squares[2], yz + zy),
        (yx - xy, xz + zx, yz + zy, squares[3]),
    )
    w, x, y, z = rows[k]
    scale = math.copysign(1 / math.sqrt(w * w + x * x + y * y + z * z), w)
    return w * scale, x * scale, y * scale, z * scale


def quaternions_of(R: np.ndarray) -> np.ndarray:
    """The unit quaternions wxyz (n, 4) of rotations (n, 3, 3), either sign.

    From 4 q q^T, whose elements are sums of those of R: its row with the greatest diagonal.
    """
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.moveaxis(R, 0, -1)
    outer = np.array(
        [
            [1 + xx + yy + zz, zy - yz, xz - zx, yx - xy],
            [zy - yz, 1 + xx - yy - zz, xy + yx, xz + zx],
            [xz - zx, xy + yx, 1 - xx + yy - zz, yz + zy],
            [yx - xy, xz + zx, yz + zy, 1 - xx - yy + zz],
        ]
    )
    largest = np.argmax(np.einsum("iin->ni", outer), axis=1)
    rows = outer[largest, :, np.arange(len(R))]
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def listed(values: np.ndarray, digits: int = 3) -> str:
    """Numbers in a sentence, of so many digits each."""
    return "[" + ", ".join(f"{value:.{digits}g}" for value in values) + "]"
