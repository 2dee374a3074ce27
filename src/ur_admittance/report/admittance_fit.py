"""What a recording tells of the arm and of the law it rendered: two fits, by least squares.

`arm_response`: how late the joints follow their commands. `identify`: mass, damping and stiffness
of the motion that was measured under the force that was felt.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

_BLOCK = 4.0  # s, of the spectra between command and measurement
_HIGHEST = 40.0  # Hz, up to which they are fitted
_REACH = 0.1, 0.2  # s, the longest delay and lag that are looked for
_WINDOW = 0.1  # s, over which the law is integrated
_UNCERTAIN = 0.1  # of a gain's own size: one that is less certain is not told
_NO_PART = 0.1  # of the force: what takes less of it cannot be told from other things
_NO_FORCE = 0.02  # N or Nm, root mean square


def passed(records: np.ndarray) -> np.ndarray:
    """(ticks - 1,) s from each record to the next, by the robot's clock where the loop noted it:
    the law's own time passes more slowly where the arm is slowed down.
    """
    clock = np.diff(records["timing"]["arrived"])
    return clock if (clock > 0).all() else records["dt"][1:]


@dataclass(frozen=True)
class ArmResponse:
    """How joints follow: a delay, then a first-order lag, then a gain."""

    delay: float  # s
    lag: float  # likewise
    gain: float  # 1 for an arm that moves as fast as it is told
    explained: float  # share of the measured accelerations that this accounts for, 0 to 1

    @property
    def late(self) -> float:
        """How late a slow motion is, s."""
        return self.delay + self.lag


def arm_response(records: np.ndarray, rate: float) -> ArmResponse | None:
    """Fit `y = gain exp(-i w delay) / (1 + i w lag) u` to the joints' accelerations, commanded `u`
    and measured `y`; None if they moved too little to tell.

    Spectra are summed over joints and blocks of four seconds. Accelerations, because a steady speed
    says nothing of a delay. The best gain is known in closed form; delay and lag are searched on a
    grid that narrows around the best.
    """
    follows = np.diff(records["tick"]) == 1
    measured = np.diff(records["q"], axis=0) / passed(records)[:, None]
    both = np.stack([records["qd"][:-1], measured])
    good = follows & np.isfinite(both).all(axis=(0, 2))
    size = min(_longest_run(good), round(_BLOCK * rate))
    if size < 0.2 * rate:
        return None
    f = np.fft.rfftfreq(size, 1 / rate)
    f = f[f <= _HIGHEST]
    window = np.hanning(size)[:, None]
    S_uu, S_uy, S_yy = np.zeros(len(f)), np.zeros(len(f), complex), np.zeros(len(f))
    k = 0
    while k + size <= len(good):
        if not good[k : k + size].all():
            k += size - int(np.argmin(good[k : k + size][::-1]))  # past the last bad one
            continue
        change = np.diff(both[:, k : k + size], axis=1, prepend=0.0)
        u, y = np.fft.rfft(window * change, axis=1)[:, : len(f)]
        S_uu += (np.abs(u) ** 2).sum(1)
        S_uy += (np.conj(u) * y).sum(1)
        S_yy += (np.abs(y) ** 2).sum(1)
        k += size // 2
    if not (S_uu.sum() > 0 and S_yy.sum() > 0):
        return None
    return _best(2 * np.pi * f, S_uu, S_uy, float(S_yy.sum()))


def _best(w: np.ndarray, S_uu: np.ndarray, S_uy: np.ndarray, S_yy: float) -> ArmResponse:
    best = ArmResponse(0.0, 0.0, 1.0, -1.0)
    reach, points = np.array(_REACH), np.linspace(-1, 1, 41)
    for _ in range(8):
        delays = np.maximum(0.0, best.delay + reach[0] * points)
        lags = np.maximum(0.0, best.lag + reach[1] * points)
        H = np.exp(-1j * w * delays[:, None, None]) / (1 + 1j * w * lags[:, None])
        agreed = (np.conj(H) * S_uy).real.sum(2).clip(min=0)
        power = (np.abs(H) ** 2 * S_uu).sum(2)
        i, j = np.unravel_index(np.argmax(agreed**2 / power), power.shape)
        found = agreed[i, j] / power[i, j], agreed[i, j] ** 2 / power[i, j] / S_yy
        best = ArmResponse(float(delays[i]), float(lags[j]), float(found[0]), float(found[1]))
        reach = reach / 3
    return best


def identify(
    usable: np.ndarray,
    h: np.ndarray,
    rate: np.ndarray,
    force: np.ndarray,
    spring: np.ndarray | None,
) -> tuple[float | None, float | None, float | None]:
    """Mass, damping, stiffness of one axis; None for each that the motion does not tell.

    The law, integrated over windows of 0.1 s, is linear in them:
    `M (v_end - v_start) + D (x_end - x_start) + K integral(s x) = integral(F)`.

    Args:
        usable: (ticks,) intervals that count; interval k goes from record k to record k + 1.
        h: their lengths, s.
        rate: the measured mean velocity in each, m/s or rad/s.
        force: N or Nm.
        spring: `s x`, m or rad; None for an axis without stiffness.
    """
    nothing = (None, None, None)
    n = len(h)
    w = max(1, round(_WINDOW / float(np.median(h)))) if n else 1
    if n < 4 * w:
        return nothing
    speed = np.empty(n)  # at the start of each interval
    speed[0], speed[1:] = np.nan, (rate[1:] + rate[:-1]) / 2
    good = usable & np.isfinite(speed) & np.isfinite(force)

    def over_windows(values: np.ndarray) -> np.ndarray:
        sums = np.concatenate([[0.0], np.cumsum(np.where(good, values, 0.0))])
        return sums[w:-1] - sums[: -w - 1]

    whole = (over_windows(np.ones(n)) == w) & good[w:]
    if whole.sum() < 4 * w:
        return nothing
    columns = [speed[w:] - speed[:-w], over_windows(rate * h)]
    if spring is not None:
        columns.append(over_windows(spring * h))
    A, b = np.stack([c[whole] for c in columns], axis=1), over_windows(force * h)[whole]
    scale = np.sqrt((A**2).sum(0))
    if not ((scale > 0).all() and np.sqrt((force[good] ** 2).mean()) > _NO_FORCE):
        return nothing
    A = A / scale
    gains, _, rank, _ = np.linalg.lstsq(A, b, rcond=1e-3)
    left = ((b - A @ gains) ** 2).sum()
    if rank < len(gains) or not left < _UNCERTAIN * (b**2).sum():
        return nothing
    # Windows overlap: of w rows only one is new.
    deviation = np.sqrt(left / (len(b) / w) * np.diag(np.linalg.inv(A.T @ A)))
    told = (deviation < _UNCERTAIN * gains) & (gains > _NO_PART * np.linalg.norm(b))
    found = [
        float(gain) if tells else None for gain, tells in zip(gains / scale, told, strict=True)
    ]
    return found[0], found[1], found[2] if spring is not None else 0.0


def _longest_run(good: np.ndarray) -> int:
    """How many True there are in a row, at most."""
    ends = np.flatnonzero(np.diff(np.concatenate([[False], good, [False]]).astype(int)))
    return int((ends[1::2] - ends[::2]).max(initial=0))
