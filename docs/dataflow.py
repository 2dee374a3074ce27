"""The picture of the data flow: robot, loop, tick, command; the blackboard and its readers.

python docs/dataflow.py docs/images/dataflow.png
"""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
from matplotlib.transforms import Bbox

INK, FAINT = "#1f2933", "#66727f"
ROBOT, LOOP, TICK, BOARD, OTHERS = "#fde7cf", "#e3e9f7", "#f7f9fd", "#dff0e3", "#f1e6f5"

# What each step does, what it hands on, and its files in kernel/.
STEPS = (
    ("1  check", "fit to use? else hold or stop", "q, F_S", "check.py, wrench.py"),
    ("2  kinematics", "one pass over six joints", "X_WP, J", "kinematics.py"),
    (
        "3  wrench",
        "bias, weight, low-pass, to P; watched",
        "F_P",
        "wrench.py, drift.py, monitor.py",
    ),
    (
        "4  law",
        "M a + D v + s K x = F; contact, force",
        "v, x",
        "desired.py, law.py, axes.py, stream.py, contact.py, force.py",
    ),
    ("5  rate", "of D moved by the offset", "rate", "law.py"),
    ("6  track", "V_WD + rate + Kp error; lead", "V", "track.py, contact_motion.py"),
    ("7  limit", "acceleration, walls, speed", "V inside", "limiter.py"),
    (
        "8  joints",
        "min |J qd - V|² in bounds; can it stop?",
        "qd",
        "ik.py, jacobian.py, box.py, viability.py, windup.py",
    ),
    ("9  stop", "or hold: brake inside the limits", "qd, q_ref", "tick.py"),
    ("10  write", "command, poses, wrenches, status", "outputs", "tick.py"),
)


def box(ax: Axes, x: float, y: float, width: float, height: float, colour: str, **style) -> None:
    """A rounded box; x and y are its lower left corner."""
    style = {"edgecolor": INK, "linewidth": 1.0, **style}
    shape = "round,pad=0,rounding_size=0.08"
    ax.add_patch(FancyBboxPatch((x, y), width, height, shape, facecolor=colour, **style))


def arrow(ax: Axes, start: tuple[float, float], end: tuple[float, float], words: str = "") -> None:
    """An arrow, its words above its middle."""
    ax.add_patch(
        FancyArrowPatch(
            start, end, arrowstyle="-|>", mutation_scale=13, linewidth=1.4, color=INK, zorder=3
        )
    )
    if words:
        x, y = 0.5 * (start[0] + end[0]), 0.5 * (start[1] + end[1])
        ax.text(x, y + 0.07, words, ha="center", va="bottom", fontsize=8.2, color=INK)


def label(ax: Axes, x: float, y: float, head: str, lines: str = "", **style) -> None:
    """A heading, and lines below it."""
    style = {"ha": "center", **style}
    ax.text(x, y, head, va="top", fontsize=10.5, fontweight="bold", color=INK, **style)
    ax.text(x, y - 0.3, lines, va="top", fontsize=8.2, color=INK, linespacing=1.45, **style)


def draw(file: Path) -> list[Bbox]:
    """Write the picture. Returns where its words are, in pixels."""
    figure = plt.figure(figsize=(11.0, 6.26), facecolor="white", dpi=150)
    ax = figure.add_axes((0, 0, 1, 1))
    ax.set(xlim=(0, 13), ylim=(0, 7.4))
    ax.axis("off")

    box(ax, 0.2, 0.75, 1.75, 5.9, ROBOT)
    label(
        ax,
        1.075,
        6.45,
        "robot",
        "sim, a UR controller\nover RTDE, or an arm\non a ROS 2 graph\n\n"
        "It is the clock:\n500 states a second",
    )
    ax.text(
        1.075,
        1.05,
        "one command\nfor each state",
        ha="center",
        va="center",
        fontsize=8.2,
        color=INK,
    )

    box(ax, 3.2, 0.3, 5.1, 6.8, LOOP)
    ax.text(
        3.3,
        7.17,
        "control process: one thread, no lock, no file, no log",
        fontsize=8.2,
        color=FAINT,
    )
    label(
        ax,
        3.4,
        7.0,
        "loop",
        "waits for a state, takes new parameters if a counter says so",
        ha="left",
    )
    top, step = 6.1, 0.505
    box(ax, 3.4, top - 10 * step - 0.05, 4.7, 10 * step + 0.45, TICK)
    for n, (name, what, gives, files) in enumerate(STEPS):
        y = top - (n + 0.5) * step
        if n:
            ax.plot([3.5, 8.0], [y + 0.5 * step] * 2, color="#d5dbe6", linewidth=0.7)
        ax.text(3.52, y + 0.1, name, va="center", fontsize=9.2, fontweight="bold", color=INK)
        ax.text(4.82, y + 0.1, what, va="center", fontsize=8.2, color=INK)
        ax.text(4.82, y - 0.13, files, va="center", fontsize=6.4, color=FAINT)
        ax.text(
            8.0,
            y + 0.1,
            gives,
            va="center",
            ha="right",
            fontsize=8.2,
            color="#2f4fa8",
            style="italic",
        )
    ax.text(3.4, 0.62, "sends the command, publishes, measures itself", fontsize=8.2, color=INK)
    ax.text(3.52, 6.22, "tick", fontsize=10.5, fontweight="bold", color=INK)
    ax.text(
        4.02,
        6.22,
        "compiled: no clock, no allocation, no exception",
        fontsize=7.6,
        color=FAINT,
    )

    arrow(ax, (1.95, 5.75), (3.4, 5.75), "q, wrench,\ntheir ages")
    arrow(ax, (3.2, 1.05), (1.95, 1.05), "qd or q_ref")

    box(ax, 9.35, 0.75, 1.75, 5.9, BOARD)
    label(ax, 10.225, 6.45, "blackboard", "shared memory")
    box(ax, 9.5, 4.85, 1.45, 0.95, "white")
    label(ax, 10.225, 5.72, "parameters", "a ready record,\nand a counter")
    box(ax, 9.5, 3.55, 1.45, 0.95, "white")
    label(ax, 10.225, 4.42, "request", "stop, and why;\na counter")
    box(ax, 9.5, 1.0, 1.45, 2.0, "white")
    label(
        ax,
        10.225,
        2.9,
        "outputs",
        "the newest, and a\nring of 16 s; each\nwith a number, odd\nwhile it is written",
    )
    arrow(ax, (9.35, 5.3), (8.3, 5.3), "between\ntwo ticks")
    arrow(ax, (9.35, 4.0), (8.3, 4.0), "likewise")
    arrow(ax, (8.3, 1.75), (9.35, 1.75), "one copy,\nnever waits")

    # what, at which height, how high; where it sends to, and where it reads
    others = (
        ("set", "a change, checked\nwhole, then sent", 4.85, 0.95, 5.3, None),
        ("cockpit, stop", "shows, tunes,\ntares, stops,\nrecords", 2.65, 1.65, 4.0, 2.85),
        ("watch, recorder", "live line; MCAP,\nreplay, report", 1.7, 0.8, None, 2.1),
        ("your own", "Blackboard\n.attach()", 0.75, 0.8, None, 1.15),
    )
    for head, words, y, height, sends, reads in others:
        box(ax, 11.6, y, 1.3, height, OTHERS)
        style = {"ha": "center", "color": INK}
        ax.text(12.25, y + height - 0.14, head, va="top", fontsize=7.8, fontweight="bold", **style)
        ax.text(12.25, y + height - 0.38, words, va="top", fontsize=6.8, linespacing=1.15, **style)
        if sends:
            arrow(ax, (11.6, sends), (11.1, sends))
        if reads:
            arrow(ax, (11.1, reads), (11.6, reads))
    ax.text(12.25, 6.45, "other processes", ha="center", fontsize=8.2, color=FAINT)
    words = "killed or hung,\nthey cost the\nloop nothing"
    ax.text(12.25, 5.92, words, ha="center", fontsize=7.2, color=FAINT)
    figure.savefig(file)
    places = [text.get_window_extent() for text in ax.texts]
    plt.close(figure)
    return places


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python docs/dataflow.py FILE.png")
    draw(Path(sys.argv[1]))
