"""The pictures of a report: force and motion, following, limits, timing, and the law rendered.

Each function returns a figure of its own; nothing global is touched. Long recordings are drawn as
the least and the greatest value of every pixel or so, hence nothing short gets lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backend_bases import FigureCanvasBase
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import LogLocator

from ur_admittance.controller import MODES
from ur_admittance.faults import FAULTS
from ur_admittance.kernel import bits
from ur_admittance.kernel.spatial import ANGULAR, LINEAR
from ur_admittance.report.rendering import (
    AXES,
    CAUSES,
    AxisFit,
    Rendering,
    force_at_probe,
    measured_twist,
    pose_difference,
)
from ur_admittance.report.summary import (
    duration_words,
    durations,
    gain_units,
    gain_words,
    percent,
    quantiles,
    timeline,
)

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording

XYZ = dict(zip("xyz", ("#d1413a", "#2f9e44", "#2f6fd0"), strict=True))
_JOINTS = ("#2f6fd0", "#d1413a", "#2f9e44", "#8a4fc0", "#d98a1f", "#5a5a5a")
_CAUSE = {"arm": "#8a4fc0", "limits": "#d98a1f", "tracking": "#1a9c9c"}
_REACTION = {"limit": "#5b8fd9", "warn": "#e0b422", "hold": "#e07b22", "stop": "#cc2f2f"}
_MODE = dict(zip(MODES, ("#c9c9c9", "#59b36b", "#e07b22", "#cc2f2f", "#9a9a9a"), strict=True))
_SERIOUS = (bits.STOPPED, bits.HOLDING, bits.LEAVING, bits.ACTIVE, bits.INACTIVE)
_PARTS = (LINEAR, 1e3, "mm", "mm/s"), (ANGULAR, np.rad2deg(1), "deg", "deg/s")
_BINS = 1400  # on the time axis
_WIDTH = 11.0  # inches


def formats() -> tuple[str, ...]:
    """Endings of the files that a figure can be saved to."""
    return tuple(sorted(FigureCanvasBase.get_supported_filetypes()))


def envelope(t: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Two points a bin, its least and its greatest value; short series as they are."""
    if len(t) <= 2 * _BINS:
        return t, y
    starts = _starts(len(t))
    ends = np.append(starts[1:], len(t))
    low, high = np.fmin.reduceat(y, starts), np.fmax.reduceat(y, starts)
    rising = y[starts] < y[ends - 1]
    points = np.where(rising, low, high), np.where(rising, high, low)
    return np.stack([t[starts], t[(starts + ends) // 2]], 1).ravel(), np.stack(points, 1).ravel()


def force_and_motion(recording: Recording) -> Figure:
    """Force and torque at the probe, and what the probe did, all in the axes of the base."""
    r = recording.records
    t, R_WP = timeline(r), r["X_WP"][:, :3, :3]
    whole = force_at_probe(recording)
    moved = pose_difference(r["X_WP"], np.broadcast_to(r["X_WP"][:1], (len(r), 4, 4)))
    speed = measured_twist(r)
    figure, axes = _figure(recording, 3, 2)
    for column, (part, scale, unit, rate_unit) in enumerate(_PARTS):
        pushed, position, velocity = axes[:, column]
        given, felt = (np.einsum("nij,nj->ni", R_WP, F[:, part]) for F in (whole, r["F_P"]))
        for a, color in enumerate(XYZ.values()):
            _line(pushed, t, given[:, a], color, pale=True)
            _line(pushed, t, felt[:, a], color)
            _line(position, t, scale * moved[:, part][:, a], color)
            _line(velocity, t, scale * speed[:, part][:, a], color)
        pushed.set_ylabel(("force, N", "torque, Nm")[column])
        position.set_ylabel(f"{('moved', 'turned')[column]}, {unit}")
        velocity.set_ylabel(f"speed, {rate_unit}")
    _legend(axes[0, 0], {**XYZ, "before filter and deadband": "pale"})
    return figure


def commanded_and_measured(recording: Recording) -> Figure:
    """The commanded pose C and the measured pose P, the error between them, and the joints."""
    r = recording.records
    t, start = timeline(r), np.broadcast_to(r["X_WP"][:1], (len(r), 4, 4))
    commanded, measured = (pose_difference(r[X], start) for X in ("X_WC", "X_WP"))
    figure, axes = _figure(recording, 3, 2)
    for column, (part, scale, unit, _) in enumerate(_PARTS):
        pose, error = axes[:2, column]
        for a, color in enumerate(XYZ.values()):
            _line(pose, t, scale * commanded[:, part][:, a], color, pale=True)
            _line(pose, t, scale * measured[:, part][:, a], color)
            _line(error, t, scale * r["error"][:, part][:, a], color)
        pose.set_ylabel(f"{('moved', 'turned')[column]}, {unit}")
        error.set_ylabel(f"error, {unit}")
    joints, behind = axes[2]
    for n, color in enumerate(_JOINTS):
        _line(joints, t, np.rad2deg(r["q_ref"][:, n] - r["q"][0, n]), color, pale=True)
        _line(joints, t, np.rad2deg(r["q"][:, n] - r["q"][0, n]), color)
        _line(behind, t, np.rad2deg(r["q_ref"][:, n] - r["q"][:, n]), color)
    joints.set_ylabel("joints, deg")
    behind.set_ylabel("q_ref - q, deg")
    _legend(axes[0, 0], {**XYZ, "commanded": "pale"})
    _legend(behind, {f"joint {n + 1}": color for n, color in enumerate(_JOINTS)})
    return figure


def limits_and_modes(recording: Recording) -> Figure:
    """A strip for the mode and for every limit, warning, hold and stop that occurred."""
    r = recording.records
    seen = int(np.bitwise_or.reduce(r["status"]))
    faults = [fault for fault in FAULTS if seen & fault.mask]
    figure = Figure(figsize=(_WIDTH, 0.9 + 0.27 * (1 + len(faults))), layout="constrained")
    axes = figure.subplots()
    t, starts = timeline(r), _starts(len(r))
    edges = np.append(t[starts], t[-1])
    modes = np.bitwise_or.reduceat(1 << r["mode"], starts)
    for mode in reversed(_SERIOUS):  # of several in one bin the most serious is drawn last
        _bars(axes, 0, edges, (modes & (1 << mode)) != 0, _MODE[MODES[mode]])
    status = np.bitwise_or.reduceat(r["status"], starts)
    shares = [f"{percent((r['mode'] == bits.ACTIVE).mean())} active"]
    for row, fault in enumerate(faults, start=1):
        _bars(axes, row, edges, (status & fault.mask) != 0, _REACTION[fault.reaction])
        shares.append(_share((r["status"] & fault.mask) != 0))
    rows = range(1 + len(faults))
    axes.set_yticks(rows, ["mode", *(fault.name for fault in faults)])
    axes.set_ylim(len(faults) + 0.6, -0.6)
    _style(axes, t)
    axes.grid(axis="y", visible=False)
    axes.set_xlabel("time, s")
    right = axes.secondary_yaxis("right")
    right.set_yticks(rows, shares)
    right.tick_params(length=0, labelsize=8, labelcolor="0.35")
    right.spines["right"].set_visible(False)
    present = {MODES[m]: _MODE[MODES[m]] for m in _SERIOUS if (r["mode"] == m).any()}
    kinds = {fault.reaction: _REACTION[fault.reaction] for fault in faults}
    figure.legend(
        handles=[
            Line2D([], [], color=c, lw=6, label=name) for name, c in (present | kinds).items()
        ],
        loc="outside upper center",
        ncols=8,
        frameon=False,
        fontsize=8,
    )
    return figure


def timing(recording: Recording) -> Figure:
    """Histograms of the period, the tick and the reaction, with their quantiles written in."""
    figure = Figure(figsize=(_WIDTH, 2.9), layout="constrained")
    measured = {name: s for name, s in durations(recording.records).items() if len(s)}
    panels = figure.subplots(1, 3, squeeze=False)[0]
    for axes, (name, seconds) in zip(panels, measured.items(), strict=False):
        scale, unit = (1e3, "ms") if np.median(seconds) > 1e-3 else (1e6, "µs")
        edges, log = _edges(scale * seconds)
        axes.hist(scale * seconds, bins=edges, color="#5b8fd9")
        if log:
            axes.set_xscale("log")
            axes.xaxis.set_major_locator(LogLocator(subs=(1, 3)))
            axes.xaxis.set_major_formatter("{x:g}")
        found = quantiles(seconds)
        for level in found.values():
            axes.axvline(scale * level, color="0.25", lw=0.8, ls=(0, (4, 3)))
        axes.text(
            0.98,
            0.97,
            "\n".join(f"{label:>5} {duration_words(level):>8}" for label, level in found.items()),
            transform=axes.transAxes,
            ha="right",
            va="top",
            family="monospace",
            fontsize=8,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.85, "pad": 1},
        )
        axes.set_yscale("log", nonpositive="clip")
        axes.set_ylim(0.7, None)
        axes.minorticks_off()
        _style(axes, None)
        axes.set_title(name, fontsize=9, color="0.25")
        axes.set_xlabel(unit)
        axes.set_ylabel("ticks")
    for axes in panels[len(measured) :]:
        axes.remove()
    return figure


def rendered_and_ideal(recording: Recording, rendered: Rendering) -> Figure:
    """For each axis that moved: its ideal and its measured speed, and their difference by cause."""
    t = timeline(recording.records)
    figure, axes = _figure(recording, max(1, len(rendered.axes)), 2)
    for (speed, difference), fit in zip(axes, rendered.axes, strict=False):
        a, color = AXES.index(fit.name), XYZ[fit.name[-1]]
        scale, unit = (1e3, "mm/s") if a < 3 else (np.rad2deg(1), "deg/s")
        _line(speed, t, scale * rendered.ideal[:, a], "0.1", pale=True)
        _line(speed, t, scale * rendered.measured[:, a], color)
        for name in CAUSES:
            _line(difference, t, scale * rendered.parts[name][:, a], _CAUSE[name])
        speed.set_ylabel(f"{fit.name}, {unit}")
        difference.set_ylabel(unit)
        _title(speed, _gains(fit))
        _title(difference, f"{fit.name}: differs by {percent(fit.difference)}")
    _legend(axes[0, 0], {"ideal": "pale", "measured": "0.25"})
    _legend(axes[0, 1], _CAUSE)
    return figure


def compare(recorded: np.ndarray, replayed: np.ndarray, title: str) -> Figure:
    """Two runs of the same ticks: what each commanded, and how far its C stands from its D."""
    t = timeline(recorded)
    figure = Figure(figsize=(_WIDTH, 5.6), layout="constrained")
    figure.suptitle(title, fontsize=10, color="0.25")
    axes = figure.subplots(2, 2, sharex=True)
    for column, (part, scale, unit, rate_unit) in enumerate(_PARTS):
        for records, pale in ((recorded, True), (replayed, False)):
            for a, color in enumerate(XYZ.values()):
                speed, offset = (records[f][:, part][:, a] for f in ("V_WP_cmd", "offset"))
                _line(axes[0, column], t, scale * speed, color, pale=pale)
                _line(axes[1, column], t, scale * offset, color, pale=pale)
        axes[0, column].set_ylabel(f"commanded, {rate_unit}")
        axes[1, column].set_ylabel(f"offset of C from D, {unit}")
        axes[1, column].set_xlabel("time, s")
    for each in axes.flat:
        _style(each, t)
    _legend(axes[0, 0], {**XYZ, "recorded": "pale", "replayed": "0.25"})
    return figure


def side_by_side(one: Recording, other: Recording) -> Figure:
    """Two recordings, each from its own first tick: force felt, speed, and way of the tool."""
    figure = Figure(figsize=(_WIDTH, 6.2), layout="constrained")
    axes = figure.subplots(3, 1, sharex=True)
    for recording, pale in ((one, True), (other, False)):
        r = recording.records
        way = r["X_WP"][:, :3, 3] - r["X_WP"][0, :3, 3]
        rows = r["F_P"][:, LINEAR], 1e3 * measured_twist(r)[:, LINEAR], 1e3 * way
        for each, vectors, color in zip(axes, rows, XYZ.values(), strict=True):
            _line(each, timeline(r), np.linalg.norm(vectors, axis=1), color, pale=pale)
    for each, words in zip(axes, ("force, N", "speed, mm/s", "moved, mm"), strict=True):
        each.set_ylabel(words)
        _style(each, max((timeline(r.records) for r in (one, other)), key=lambda t: t[-1]))
    axes[-1].set_xlabel("time, s")
    _legend(axes[0], {one.path.stem: "pale", other.path.stem: "0.25"})
    return figure


# --- drawing ---


def _starts(n: int) -> np.ndarray:
    """Where each of at most _BINS bins of n ticks begins."""
    return np.unique(np.linspace(0, n, min(n, _BINS) + 1, dtype=int)[:-1])


def _figure(recording: Recording, rows: int, columns: int) -> tuple[Figure, np.ndarray]:
    """Plots over the same time, with holds and stops shaded."""
    figure = Figure(figsize=(_WIDTH, 0.6 + 1.85 * rows), layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False)
    r = recording.records
    t, starts = timeline(r), _starts(len(r))
    edges, mode = np.append(t[starts], t[-1]), r["mode"][starts]
    for each in axes.flat:
        _style(each, t)
        for halted in (bits.HOLDING, bits.STOPPED):
            for first, last in _runs(mode == halted):
                each.axvspan(
                    edges[first], edges[last], color=_MODE[MODES[halted]], alpha=0.12, lw=0
                )
    for each in axes[-1]:
        each.set_xlabel("time, s")
    return figure, axes


def _style(axes: Axes, t: np.ndarray | None) -> None:
    axes.spines[["top", "right"]].set_visible(False)
    axes.spines[["left", "bottom"]].set_color("0.6")
    axes.grid(color="0.92", linewidth=0.7)
    axes.set_axisbelow(True)
    axes.tick_params(labelsize=8, color="0.6", labelcolor="0.25")
    axes.xaxis.label.set(fontsize=8.5, color="0.25")
    axes.yaxis.label.set(fontsize=8.5, color="0.25")
    if t is not None and len(t) and t[-1] > 0:
        axes.set_xlim(0, t[-1])


def _line(axes: Axes, t: np.ndarray, y: np.ndarray, color: str, *, pale: bool = False) -> None:
    width, alpha = (2.8, 0.28) if pale else (1.1, 1.0)
    axes.plot(*envelope(t, y), color=color, linewidth=width, alpha=alpha, solid_capstyle="butt")


def _legend(axes: Axes, names: dict[str, str]) -> None:
    """Names and colours; the colour 'pale' is a wide pale line."""
    handles = [
        Line2D([], [], color="0.3", lw=4, alpha=0.3, label=name)
        if color == "pale"
        else Line2D([], [], color=color, lw=1.6, label=name)
        for name, color in names.items()
    ]
    axes.legend(
        handles=handles,
        ncols=len(handles),
        frameon=False,
        fontsize=7.5,
        loc="upper right",
        borderaxespad=0,
        handlelength=1.4,
        columnspacing=1.0,
        bbox_to_anchor=(1.0, 1.14),
    )


def _title(axes: Axes, text: str) -> None:
    axes.set_title(text, fontsize=8, color="0.25", loc="left")


def _runs(flags: np.ndarray) -> np.ndarray:
    """(runs, 2) first and one past the last of every stretch of True."""
    return np.flatnonzero(np.diff(flags.astype(int), prepend=0, append=0)).reshape(-1, 2)


def _bars(axes: Axes, row: int, edges: np.ndarray, flags: np.ndarray, color: str) -> None:
    spans = [(float(edges[i]), float(edges[j] - edges[i])) for i, j in _runs(flags)]
    axes.broken_barh(spans, (row - 0.36, 0.72), facecolor=color, edgecolor=color, linewidth=0.6)


def _share(flags: np.ndarray) -> str:
    return percent(flags.mean()) if flags.mean() >= 0.001 else f"{flags.sum()} ticks"


def _edges(values: np.ndarray) -> tuple[np.ndarray, bool]:
    """Bins from the least to the greatest value, logarithmic (True) if they are far apart."""
    low, high = float(values.min()), float(values.max())
    if low > 0 and high > 8 * low:
        return np.geomspace(low, high, 80), True
    room = max(0.05 * (high - low), 0.02 * abs(high), 1e-9)
    return np.linspace(low - room, high + room, 80), False


def _gains(fit: AxisFit) -> str:
    """Such as 'M 8 → 9.7 kg, D 80 → 78 N s/m'."""
    rows = zip("MDK", fit.configured, fit.rendered, gain_units(fit.name), strict=True)
    return ", ".join(f"{g} {gain_words(was, now, unit)}" for g, was, now, unit in rows if was > 0)
