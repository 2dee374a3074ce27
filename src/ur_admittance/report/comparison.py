"""Two recordings side by side: what was set differently, and what came of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ur_admittance.errors import RobotError
from ur_admittance.report.html import document, figure, plots, png, save, table
from ur_admittance.report.rendering import configurations
from ur_admittance.report.summary import number, percent
from ur_admittance.report.write import FEWEST, summarise

if TYPE_CHECKING:
    from ur_admittance.telemetry.recording import Recording


def write_comparison(one: Recording, other: Recording, folder: str | Path) -> Path:
    """Write a page that holds two recordings against each other; returns its path.

    Args:
        one, other: see `recording.read`.
        folder: made if it does not exist; an older page in it is replaced.

    Raises:
        RobotError: matplotlib is not installed, or the folder cannot be written to.
    """
    both = (one, other)
    for recording in both:
        if len(recording.records) < FEWEST:
            raise RobotError(f"{recording.path}: there are too few ticks to draw")
    names = [recording.path.stem for recording in both]
    different = differences(one, other)
    text = document(
        f"{names[0]} against {names[1]}",
        table(("", *names), numbers(*map(summarise, both))),
        figure(
            "force, speed and way of both",
            png(plots().side_by_side(one, other)),
            "Sizes of the force that the law felt, of the tool's speed, and of its way from where "
            "it began; each recording from its own first tick. "
            f"Pale: {names[0]}; bold: {names[1]}.",
        ),
        "<h2>What was set differently</h2>",
        table(("parameter", *names), different) if different else "<p>Nothing.</p>",
    )
    return save(folder, text)


def differences(one: Recording, other: Recording) -> list[tuple[str, str, str]]:
    """Parameter, its value in the one and in the other, of all that differ at the last tick."""
    a, b = (configurations(recording)[-1][1].flat() for recording in (one, other))
    return [(name, str(a[name]), str(b[name])) for name in a if a[name] != b[name]]


def numbers(one: dict[str, Any], other: dict[str, Any]) -> list[tuple[str, str, str]]:
    """What, and its value in each of two summaries."""

    def row(name: str, say: Any) -> tuple[str, str, str]:
        return name, say(one), say(other)

    tick = lambda s: s["timing"]["tick"].get("p99.9")  # noqa: E731
    rows = [
        row("robot", lambda s: s["robot"]),
        row("lasted", lambda s: f"{s['seconds']:.1f} s"),
        row("force, peak", lambda s: f"{s['force']['peak']:.1f} N"),
        row("force, mean", lambda s: f"{s['force']['mean']:.1f} N"),
        row("torque, peak", lambda s: f"{s['torque']['peak']:.2f} Nm"),
        row("speed, peak", lambda s: f"{1e3 * s['speed']['peak']:.0f} mm/s"),
        row("moved", lambda s: f"{1e3 * s['distance']:.0f} mm"),
        row("work put in", lambda s: f"{s['energy']['put_in']:.2f} J"),
        row("limits active", lambda s: percent(s["limited"])),
        row("late, missed", lambda s: f"{s['late']}, {s['missed']}"),
        row("tick, 99.9 %", lambda s: f"{1e6 * tick(s):.0f} us" if tick(s) else "not measured"),
        row("warnings, holds, stops", lambda s: str(s["event_count"])),
        row("ended", lambda s: str(s["mode"])),
    ]
    found = [{fit["axis"]: fit for fit in s["admittance"]} for s in (one, other)]
    for axis in (axis for axis in found[0] if axis in found[1]):
        for gain, name in zip("MDK", ("mass", "damping", "stiffness"), strict=True):
            felt = [each[axis]["rendered"][gain] for each in found]
            if any(felt):
                a, b = ("?" if value is None else number(value) for value in felt)
                rows.append((f"{name} {axis}, as the motion shows it", a, b))
    return rows
