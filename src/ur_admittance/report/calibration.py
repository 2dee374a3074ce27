"""A page about a payload calibration: what was found, what is left in each pose, and the poses."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ur_admittance.calibration.measured import AXES, PARTS, UNITS, Measured
from ur_admittance.calibration.payload import Estimate
from ur_admittance.errors import needs
from ur_admittance.report.html import cards, document, figure, png, save, table

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_page(
    folder: str | Path, found: Estimate, measured: Sequence[Measured], robot: str
) -> Path:
    """Write index.html and its pictures into a folder, which is made if it is not there.

    Raises:
        RobotError: matplotlib is not installed, or the folder cannot be written to.
    """
    with needs("report: needs matplotlib", "record"):
        pictures = {"residuals": png(_residuals(found)), "poses": png(_directions(found))}
    return save(folder, _page(found, measured, robot, pictures), pictures)


def _page(
    found: Estimate, measured: Sequence[Measured], robot: str, pictures: dict[str, bytes]
) -> str:
    center = ", ".join(f"{1e3 * x:.2f}" for x in found.center_of_mass)
    numbers = cards(
        ("mass", f"{found.mass:.4f} kg", f"± {1e3 * found.errors['mass']:.2g} g"),
        ("centre of mass", f"{center} mm"),
        ("deadband needed", f"{found.deadband_force:.2f} N, {found.deadband_torque:.3f} Nm"),
        ("left at most", f"{found.left_force:.3f} N, {found.left_torque:.4f} Nm"),
        ("left, rms", f"{found.residual_force:.3f} N, {found.residual_torque:.4f} Nm"),
        ("condition", f"{found.condition:.1f}"),
    )
    rows = []
    for pose, left in zip(found.poses, found.residuals, strict=True):
        q = measured[pose].q if pose < len(measured) else None
        where = "" if q is None else ", ".join(f"{angle:.2f}" for angle in q)
        rows.append((str(pose + 1), where, *(f"{value:+.3f}" for value in left)))
    heads = (f"{a} [{u}]" for a, u in zip(AXES, UNITS, strict=True))
    mark = "good" if found.verdict == "good" else "bad"
    out = f"<p>Left out, not still: {[n + 1 for n in found.left_out]}.</p>"
    return document(
        f"Payload of {robot}",
        f'<p class="lead"><span class="{mark}">{escape(found.verdict)}</span>: '
        f"{len(found.poses)} poses</p>",
        numbers,
        f"<p>Not told apart: {escape('; '.join(found.unseen))}.</p>" if found.unseen else "",
        out if found.left_out else "",
        "<h2>What is left in each pose</h2>",
        figure(
            "residuals",
            pictures["residuals"],
            "Reading less model. Dots: the fit; crosses: each pose foretold from all others. The "
            "grey band is the noise of one reading. One pose far out was touched; a slope from "
            "left to right is a sensor that drifts.",
        ),
        "<h2>Where gravity pulled</h2>",
        figure(
            "poses",
            pictures["poses"],
            "The direction of gravity in sensor axes, pose by pose. The more sides, the better the "
            "centre of mass is known.",
        ),
        "<h2>Poses</h2>",
        table(("pose", "joints [rad]", *heads), rows),
        "<h2>Standard errors</h2>",
        table(
            ("parameter", "kg, m, N, Nm, rad"),
            [(name, f"{value:.3g}") for name, value in found.errors.items()],
        ),
    )


def _residuals(found: Estimate) -> Figure:
    from matplotlib.figure import Figure

    from ur_admittance.report.plots import XYZ

    drawn = Figure(figsize=(11, 4.6), layout="constrained")
    numbers = np.array(found.poses) + 1
    for axes, (part, name, unit) in zip(drawn.subplots(1, 2), PARTS, strict=True):
        noise = float(found.noise[part].max())
        axes.axhspan(-noise, noise, color="#dddddd")
        values, held = found.residuals[:, part], found.held_out[:, part]
        for n, (letter, colour) in enumerate(XYZ.items()):
            axes.plot(numbers, values[:, n], "o", color=colour, label=letter)
            axes.plot(numbers, held[:, n], "x", color=colour, alpha=0.6)
        axes.set(xlabel="pose", ylabel=f"{name} left [{unit}]")
        axes.axhline(0, color="#888888", lw=0.6)
        axes.legend(ncols=3, frameon=False)
    return drawn


def _directions(found: Estimate) -> Figure:
    from matplotlib.figure import Figure
    from matplotlib.patches import Circle

    drawn = Figure(figsize=(11, 3.8), layout="constrained")
    down = np.einsum("nji,j->ni", found.R_WS, found.gravity / np.linalg.norm(found.gravity))
    for axes, (a, b) in zip(drawn.subplots(1, 3), ((0, 1), (0, 2), (1, 2)), strict=True):
        axes.add_patch(Circle((0, 0), 1, fill=False, color="#aaaaaa"))
        axes.plot(down[:, a], down[:, b], "o", color="#2f6fd0")
        for number, row in zip(found.poses, down, strict=True):
            place = {"xytext": (4, 4), "textcoords": "offset points"}
            axes.annotate(str(number + 1), (row[a], row[b]), fontsize=8, **place)
        axes.set(xlabel=f"sensor {'xyz'[a]}", ylabel=f"sensor {'xyz'[b]}", aspect="equal")
        axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
    return drawn
