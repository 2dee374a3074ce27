"""The report of a recording: a page with plots for the browser, and one screen for the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ur_admittance.config.field import FRAMES
from ur_admittance.faults import StopReason
from ur_admittance.report.html import plots, png, save
from ur_admittance.report.page import page
from ur_admittance.report.rendering import CAUSES, Rendering, rendering
from ur_admittance.report.summary import duration_words, gain_words, number, percent, summary_of

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.console import Console

    from ur_admittance.telemetry.recording import Recording

FEWEST = 3  # ticks that can be drawn
_EVENTS = 2  # that fit on the screen: the most serious
_CHANGES = 2  # likewise: the first


def summarise(recording: Recording) -> dict[str, Any]:
    """A recording in plain numbers and words, fit for JSON; SI units."""
    return summary_of(recording, rendering(recording))


def write_report(
    recording: Recording,
    folder: str | Path,
    title: str | None = None,
    findings: Sequence[tuple[str, bool, str]] = (),
) -> Path:
    """Write a page with everything in it, and its pictures beside it; returns the page's path.

    Args:
        recording: see `recording.read`.
        folder: made if it does not exist; an older page in it is replaced.
        title: of the page; default: the name of the recording's file.
        findings: (what, whether it is so, in words), shown at the top.

    Raises:
        RobotError: matplotlib is not installed, or the folder cannot be written to.
    """
    rendered = rendering(recording)
    pictures = {name: png(figure) for name, figure in _figures(recording, rendered)}
    summary = summary_of(recording, rendered)
    text = page(recording, summary, title or recording.path.stem, findings, pictures)
    return save(folder, text, pictures)


def show_summary(summary: Mapping[str, Any], console: Console) -> None:
    """Print what `summarise` gave on one screen of 80 x 24."""
    from rich.table import Table
    from rich.text import Text

    s = summary

    def say(name: str, words: str) -> None:
        console.print(
            Text(f"{name:<10}", "bold").append(words, "not bold"), no_wrap=True, overflow="ellipsis"
        )

    cut = "" if s["finished"] else ", cut off"
    console.print(Text(f"{s['file']}: {s['robot']}, {s['seconds']:.1f} s, {s['ticks']} ticks{cut}"))
    if s["damage"]:
        console.print(Text(s["damage"], "yellow"))
    force, torque = s["force"], s["torque"]
    pushed = f"{force['peak']:.1f} N, mean {force['mean']:.1f} N"
    say("force", f"{pushed}; torque {torque['peak']:.2f} Nm, mean {torque['mean']:.2f} Nm")
    way, speed = 1e3 * s["distance"], 1e3 * s["speed"]["peak"]
    work = f"{s['energy']['put_in']:.2f} J put in, {s['energy']['given']:.2f} J given beyond that"
    say("motion", f"{way:.0f} mm at up to {speed:.0f} mm/s; {work}; ended {s['mode']}")
    if s["reason"]:
        console.print(f"ended     {StopReason(**s['reason'])}", soft_wrap=True)
    limits = ", ".join(f"{name} {percent(share)}" for name, share in s["limits"].items())
    say("limits", limits or "none was active")
    say("loop", f"{s['late']} late, {s['missed']} missed, {s['lost']} lost")
    serious = sorted(s["events"], key=lambda e: ("stop", "hold", "warn").index(e["reaction"]))
    for n, event in enumerate(serious[:_EVENTS], start=1):
        more = s["event_count"] - n
        also = f" (and {more} more)" if n == _EVENTS and more else ""
        say(event["reaction"], f"{event['time']:.2f} s {event['name']}{also}: {event['words']}")

    for n, change in enumerate(s["changes"][:_CHANGES], start=1):
        more = len(s["changes"]) - n
        also = f" (and {more} more)" if n == _CHANGES and more else ""
        now = _short(change["now"])
        say("changed", f"{change['time']:.2f} s {change['name']}{also}: now {now}")

    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("time", min_width=9)
    for name in ("p50", "p99", "p99.9", "max"):
        table.add_column(name, justify="right")
    for name, found in s["timing"].items():
        if found:
            table.add_row(name, *(duration_words(seconds) for seconds in found.values()))
    console.print(table)

    if s["admittance"]:
        table = Table(box=None, pad_edge=False, header_style="bold")
        table.add_column("axis", min_width=9)
        for name in ("mass", "damping", "stiffness", "differs", *CAUSES):
            table.add_column(name, justify="right", no_wrap=True)
        for fit in s["admittance"]:
            gains = (gain_words(fit["configured"][g], fit["rendered"][g]) for g in "MDK")
            causes = (percent(fit["causes"][name]) for name in CAUSES)
            table.add_row(fit["axis"], *gains, percent(fit["difference"]), *causes)
        console.print(table)
        console.print(_which(s), style="dim")
    console.print(Text(s["cause"]))


def _short(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " ".join(map(_short, value))
    return number(value) if isinstance(value, float) else str(value)


def _which(summary: Mapping[str, Any]) -> str:
    """Whose axes these are, and of which stretch the gains."""
    words = f"axes of {FRAMES[summary['frame']]}"
    if summary["stretch"] is None:
        return words
    first, last = summary["stretch"]
    return f"{words}; gains of {first:.2f} to {last:.2f} s, the longest without a change"


def _figures(recording: Recording, rendered: Rendering) -> Iterator[tuple[str, Figure]]:
    """One at a time, so that only one is in memory."""
    pictures = plots()
    if len(recording.records) < FEWEST:
        return
    names = ("force_and_motion", "commanded_and_measured", "limits_and_modes", "timing")
    for name in names:
        yield name, getattr(pictures, name)(recording)
    if rendered.axes:
        yield "rendered_and_ideal", pictures.rendered_and_ideal(recording, rendered)
