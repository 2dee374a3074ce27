"""A page about a payload calibration: what was found, what is left in each pose, and the poses."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path

import numpy as np

from ur_admittance.calibration.measured import AXES, UNITS, Measured, part_names
from ur_admittance.calibration.payload import Estimate
from ur_admittance.errors import RobotError
from ur_admittance.report.page import STYLE


def write_page(
    folder: str | Path, found: Estimate, measured: Sequence[Measured], robot: str
) -> Path:
    """Write index.html and its pictures into a folder, which is made if it is not there.

    Raises:
        RobotError: matplotlib is not installed, or the folder cannot be written to.
    """
    try:
        pictures = {
            "residuals": _residuals(found),
            "poses": _directions(found),
        }
    except ImportError as error:
        raise RobotError(
            f"report: needs matplotlib, which cannot be imported here ({error}): "
            'pip install "ur-admittance[record]"'
        ) from error
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, png in pictures.items():
            (folder / f"{name}.png").write_bytes(png)
        (folder / "index.html").write_text(_page(found, measured, robot, pictures), "utf-8")
    except OSError as error:
        raise RobotError(f"report: {folder} cannot be written to: {error.strerror}") from None
    return folder / "index.html"


def _page(
    found: Estimate, measured: Sequence[Measured], robot: str, pictures: dict[str, bytes]
) -> str:
    center = ", ".join(f"{1e3 * x:.2f}" for x in found.center_of_mass)
    numbers = {
        "mass": f"{found.mass:.4f} kg <small>± {1e3 * found.errors['mass']:.2g} g</small>",
        "centre of mass": f"{center} mm",
        "deadband needed": f"{found.deadband_force:.2f} N, {found.deadband_torque:.3f} Nm",
        "left at most": f"{found.left_force:.3f} N, {found.left_torque:.4f} Nm",
        "left, rms": f"{found.residual_force:.3f} N, {found.residual_torque:.4f} Nm",
        "condition": f"{found.condition:.1f}",
    }
    cards = "".join(f"<div><dt>{k}</dt><dd>{v}</dd></div>" for k, v in numbers.items())
    errors = "".join(
        f"<tr><td>{escape(name)}</td><td>{value:.3g}</td></tr>"
        for name, value in found.errors.items()
    )
    rows = []
    for n, pose in enumerate(found.poses):
        q = measured[pose].q if pose < len(measured) else None
        where = "" if q is None else ", ".join(f"{angle:.2f}" for angle in q)
        cells = "".join(f"<td>{value:+.3f}</td>" for value in found.residuals[n])
        rows.append(f"<tr><td>{pose + 1}</td><td>{where}</td>{cells}</tr>")
    heads = "".join(f"<th>{a} [{u}]</th>" for a, u in zip(AXES, UNITS, strict=True))
    images = {name: base64.b64encode(png).decode() for name, png in pictures.items()}
    mark = "good" if found.verdict == "good" else "bad"
    unseen = f"<p>Not told apart: {escape('; '.join(found.unseen))}.</p>" if found.unseen else ""
    out = f"<p>Left out, not still: {[n + 1 for n in found.left_out]}.</p>"
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Payload of {escape(robot)}</title><style>{STYLE}</style></head><body>
<h1>Payload of {escape(robot)}</h1>
<p class="lead"><span class="{mark}">{escape(found.verdict)}</span>: {len(found.poses)} poses</p>
<dl>{cards}</dl>{unseen}{out if found.left_out else ""}
<h2>What is left in each pose</h2>
<figure><img alt="residuals" src="data:image/png;base64,{images["residuals"]}">
<figcaption>Reading less model. Dots: the fit; crosses: each pose foretold from all others. The grey
band is the noise of one reading. One pose far out was touched; a slope from left to right is a
sensor that drifts.</figcaption></figure>
<h2>Where gravity pulled</h2>
<figure><img alt="poses" src="data:image/png;base64,{images["poses"]}">
<figcaption>The direction of gravity in sensor axes, pose by pose. The more sides, the better the
centre of mass is known.</figcaption></figure>
<h2>Poses</h2><div class="wide"><table><tr><th>pose</th><th>joints [rad]</th>{heads}</tr>
{"".join(rows)}</table></div>
<h2>Standard errors</h2>
<div class="wide"><table><tr><th>parameter</th><th>kg, m, N, Nm, rad</th></tr>
{errors}</table></div></body></html>
"""


def _residuals(found: Estimate) -> bytes:
    from matplotlib.figure import Figure

    from ur_admittance.report.plots import XYZ

    figure = Figure(figsize=(11, 4.6), layout="constrained")
    numbers = np.array(found.poses) + 1
    for axes, (part, name, unit) in zip(figure.subplots(1, 2), part_names(), strict=True):
        noise = float(found.noise[part].max())
        axes.axhspan(-noise, noise, color="#dddddd")
        values, held = found.residuals[:, part], found.held_out[:, part]
        for n, (letter, colour) in enumerate(XYZ.items()):
            axes.plot(numbers, values[:, n], "o", color=colour, label=letter)
            axes.plot(numbers, held[:, n], "x", color=colour, alpha=0.6)
        axes.set(xlabel="pose", ylabel=f"{name} left [{unit}]")
        axes.axhline(0, color="#888888", lw=0.6)
        axes.legend(ncols=3, frameon=False)
    return _png(figure)


def _directions(found: Estimate) -> bytes:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    down = np.einsum("nji,j->ni", found.R_WS, found.gravity / np.linalg.norm(found.gravity))
    for axes, (a, b) in zip(figure.subplots(1, 3), ((0, 1), (0, 2), (1, 2)), strict=True):
        axes.add_patch(_circle())
        axes.plot(down[:, a], down[:, b], "o", color="#2f6fd0")
        for number, row in zip(found.poses, down, strict=True):
            axes.annotate(
                str(number + 1),
                (row[a], row[b]),
                xytext=(4, 4),
                textcoords="offset points",
                fontsize=8,
            )
        axes.set(xlabel=f"sensor {'xyz'[a]}", ylabel=f"sensor {'xyz'[b]}", aspect="equal")
        axes.set(xlim=(-1.15, 1.15), ylim=(-1.15, 1.15))
    return _png(figure)


def _circle():
    from matplotlib.patches import Circle

    return Circle((0, 0), 1, fill=False, color="#aaaaaa")


def _png(figure) -> bytes:
    data = io.BytesIO()
    figure.savefig(data, format="png", dpi=110)
    return data.getvalue()
